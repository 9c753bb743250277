"""The pose-graph editor of SIMBICON figure 4: states, their numbers, and stick figures to drag."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import viser

from surefoot.errors import SurefootError
from surefoot.skills.schema import Skill
from surefoot.skills.simbicon import PoseState, SimbiconParameters
from surefoot.studio.panels.keeping import Keeping
from surefoot.studio.panels.panel import Desk, put
from surefoot.studio.panels.pose_form import Entry, PoseForm, entries
from surefoot.studio.pose_board import PoseBoard, acting, ending
from surefoot.studio.stick import Handle

_PAUSE = 1.0  # [s] after which moving the same control again is another change to take back
_TIMED = "after a time"
_ENDINGS: dict[str, str | None] = {
    _TIMED: None,
    "when the swing foot touches": "contact",
    "when any foot lands": "landing",
    "when another skill is asked for": "request",
}
_DURATION = 0.3  # [s] of a state that is to end after a time for the first time
_NOT_ONE = "This skill is not made of poses; choose a walk or a run of `planar` or `human` to edit one."


class Poses:
    """The tab."""

    title = "Poses"

    def build(self, desk: Desk) -> None:
        """Add the controls and the board."""
        self._desk, gui = desk, desk.server.gui
        self._chosen, self._gesture, self._touched = 0, 0, 0.0
        self._seen: Skill | None = None
        self._note = gui.add_markdown(_NOT_ONE, visible=False)
        self._shown = gui.add_checkbox("Show the poses", False, hint="Stick figures on the stage, with dots to drag")
        self._state = gui.add_dropdown("State", ("0",), hint="Or drag a dot of its figure.")
        self._until = gui.add_dropdown("It ends", tuple(_ENDINGS))
        self._form = PoseForm(gui, lambda entry, value: desk.post(lambda: self.set(entry, value)))
        self._keeping = Keeping()
        self._keeping.build(desk, lambda: desk.editing.document, self._apply, self._load)
        self._board = PoseBoard(desk.stage.scene, desk.post, self._dragged)
        self._state.on_update(self._by_hand(lambda: self.choose(int(self._state.value.split()[0]))))
        self._until.on_update(self._by_hand(lambda: self.end(_ENDINGS[self._until.value])))
        self._shown.on_update(self._by_hand(self.renew))

    def _by_hand(self, action: Any) -> Any:
        """A callback that has something done when a person moved the control."""

        def moved(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None:
                self._desk.post(action)

        return moved

    @property
    def graph(self) -> SimbiconParameters | None:
        """The pose graph that is being edited; None: the skill has none."""
        parameters = self._desk.editing.document.skill.parameters
        return parameters if isinstance(parameters, SimbiconParameters) else None

    def choose(self, state: int) -> None:
        """Show the numbers of a state."""
        self._chosen = state
        self.renew()

    def set(self, entry: Entry, shown: float) -> None:
        """Set one number of the chosen state, given as it is shown."""
        now = time.monotonic()
        self._gesture += now - self._touched > _PAUSE
        self._touched = now
        self.change(self._chosen, {entry.path: entry.write(shown)}, (entry.path, self._chosen, self._gesture))

    def end(self, until: str | None) -> None:
        """Have the chosen state end on contact, landing or request, or (None) after a time."""
        graph = self.graph
        if graph is None:
            return
        duration = graph.states[self._chosen].duration
        self.change(self._chosen, {"duration": None if until else duration or _DURATION, "until": until})

    def change(self, state: int, values: dict[str, Any], key: object = None) -> None:
        """Set numbers of a state; the simulation follows at once."""
        document = self._desk.editing.document
        try:
            self._apply(document.change({f"states.{state}.{path}": value for path, value in values.items()}, key))
        except SurefootError:
            self.renew()  # the page shows what was not taken
            raise

    def _dragged(self, state: int, handle: Handle, angle: float, phase: str) -> None:
        if phase == "start":
            self._gesture += 1
            self._chosen = state
        self.change(state, {handle.path: round(angle, 4)}, (handle.path, state, self._gesture))

    def _apply(self, skill: Skill) -> None:
        self._desk.editing.apply(self._desk.session, skill)
        self.renew()

    def _load(self, skill: Skill, origin: Path | None) -> None:
        self._desk.editing.open(self._desk.session, skill, origin)
        self.renew()

    def renew(self) -> None:
        """Show the skill that runs."""
        session = self._desk.session
        self._desk.editing.watch(session)
        self._seen = session.sim.skill
        graph = self.graph
        for control in (self._state, self._until, self._shown):
            put(control, graph is not None, "visible")
        put(self._note, graph is None, "visible")
        self._form.show(graph is not None)
        self._keeping.show(graph is not None)
        self._board.visible = graph is not None and self._shown.value
        self._desk.stage.show_boards(self._board.visible, self.title)
        if graph is not None:
            self._chosen = min(self._chosen, len(graph.states) - 1)
            self._form.renew(entries(session.sim.scene.table, graph))
            self._fill(graph)
            self._board.show(session.sim.scene.table, graph)
            self.refresh()

    def _fill(self, graph: SimbiconParameters) -> None:
        names = tuple(_named(i, state) for i, state in enumerate(graph.states))
        if tuple(self._state.options) != names:
            self._state.options = names
        put(self._state, names[self._chosen])
        put(self._until, next(k for k, v in _ENDINGS.items() if v == graph.states[self._chosen].until))
        self._form.fill(graph.states[self._chosen])

    def refresh(self) -> None:
        """Light the state that acts."""
        session = self._desk.session
        if session.shown is None and session.sim.skill is not self._seen:
            self.renew()
            return
        graph = self.graph
        if graph is not None:  # its numbers are not written anew: a page may just have sent another
            if self._board.visible:
                self._board.light(acting(graph, int(session.row.report[0].state)), self._chosen)
            self._keeping.refresh()


def _named(i: int, state: PoseState) -> str:
    return f"{i} · {ending(state)}"
