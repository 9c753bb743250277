"""The pose-graph editor (SIMBICON figure 4): states, their numbers as controls, and stick figures to drag.

The controls are generated from the schema of a state and from the joints of the body.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import viser

from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.controllers.simbicon.parameters import PoseState, SimbiconParameters
from surefoot.errors import SurefootError
from surefoot.skills.schema import Skill
from surefoot.studio.boards import PoseBoard, active_figure, end_condition, has_poses
from surefoot.studio.panels.document_controls import DocumentControls
from surefoot.studio.panels.panel import Panel, PanelContext, on_user_change, set_if_changed
from surefoot.studio.skill_document import field_bounds
from surefoot.studio.stick_figure import Handle, target_limits

BALANCE, BENDING, SIDEWAYS, UPPER_BODY = "Time and balance", "Pose (°)", "Sideways and twist (°)", "Arms and spine (°)"
_SCALARS: dict[str, tuple[str, str, str]] = {
    "duration": ("Duration (s)", BALANCE, "How long the state lasts"),
    "cd": ("cd", BALANCE, "How far the swing hip answers the distance of the hips from the stance foot [rad/m]"),
    "cv": ("cv", BALANCE, "How far the swing hip answers the speed of the hips [rad·s/m]"),
    "cd_lateral": ("cd lateral", BALANCE, "The same as cd, sideways"),
    "cv_lateral": ("cv lateral", BALANCE, "The same as cv, sideways"),
    "torso": ("Torso", BENDING, "Against upright; forward is negative"),
    "torso_roll": ("Torso roll", SIDEWAYS, "Left side up is positive while the left leg swings"),
    "torso_yaw": ("Torso twist", SIDEWAYS, "To the left is positive while the left leg swings"),
}
_ANSWER = "How far this joint answers where the hips are over the foot (cd) and how fast they are (cv)"
_UPRIGHT = math.pi / 2  # [rad] least range of a torso slider, either way


@dataclass(frozen=True)
class PoseField:
    """One number of a state: its path within the state, and how it is shown."""

    path: str
    label: str
    folder: str
    low: float
    high: float
    step: float
    degrees: bool
    hint: str = ""

    def read(self, state: PoseState) -> float | None:
        """The number as it is shown; None if the state has none."""
        value: Any = state
        for key in self.path.split("."):
            if isinstance(value, dict):
                value = value.get(key, (0.0, 0.0) if self.path.startswith("feedback") else 0.0)
            else:
                value = value[int(key)] if isinstance(value, tuple) else getattr(value, key)
        if value is None:
            return None
        return round(math.degrees(value), 1) if self.degrees else round(float(value), 4)

    def write(self, shown: float) -> float:
        """The number as the file holds it."""
        return round(math.radians(shown), 4) if self.degrees else round(float(shown), 4)


def pose_fields(table: CharacterTable, parameters: SimbiconParameters) -> list[PoseField]:
    """All numbers of a graph's states that can be set on a body, folder by folder."""
    found, schema = [], type(parameters.states[0])
    for name, (label, folder, hint) in _SCALARS.items():
        if table.root == "planar" and (folder == SIDEWAYS or name.endswith("_lateral")):
            continue
        if name.startswith("torso"):
            reach = max(_UPRIGHT, *(abs(getattr(state, name)) for state in parameters.states))
            found.append(_angle(name, label, folder, (-reach, reach), hint))
        else:
            found.append(PoseField(name, label, folder, *field_bounds(schema, name), 0.005, False, hint))
    carried = {f"stance_{role}" for role in table.anatomy.side_roles[: table.anatomy.hip_hinges]}  # hold the torso
    for role, joint in zip(table.anatomy.roles, table.anatomy.joints(0), strict=True):
        if role in carried:
            continue
        values = [state.targets.get(role, 0.0) for state in parameters.states]
        limits = (target_limits(table, role, min(values))[0], target_limits(table, role, max(values))[1])
        sagittal, upper = table.hinges[joint].plane == SAGITTAL, table.anatomy.kind(role) in table.anatomy.upper
        folder = UPPER_BODY if upper else BENDING if sagittal else SIDEWAYS
        hint = "In the world, not against the torso" if role == "swing_hip" else ""
        found.append(_angle(f"targets.{role}", role_label(role), folder, limits, hint))
    for role in dict.fromkeys(role for state in parameters.states for role in state.feedback):
        for i, gain in enumerate(("cd", "cv")):
            path, bounds = f"feedback.{role}.{i}", field_bounds(schema, gain)
            found.append(PoseField(path, f"{role_label(role)} {gain}", BALANCE, *bounds, 0.005, False, _ANSWER))
    order = (BALANCE, BENDING, SIDEWAYS, UPPER_BODY)
    return sorted(found, key=lambda entry: order.index(entry.folder))


def role_label(role: str) -> str:
    """A role in words: `Swing hip`."""
    return role.replace("_yaw", " twist").replace("_", " ").capitalize()


def _angle(path: str, label: str, folder: str, limits: tuple[float, float], hint: str) -> PoseField:
    low, high = (round(math.degrees(value), 1) for value in limits)
    return PoseField(path, label, folder, low, high, 0.5, True, hint)


class PoseControls:
    """The controls of one state at a time."""

    def __init__(self, desk: PanelContext, changed: Callable[[PoseField, float], object]) -> None:
        """Add a folder; the session's thread calls `changed` with a number, as shown, that a person sets."""
        self._desk, self._gui, self._changed = desk, desk.server.gui, changed
        self._box = self._gui.add_folder(None)
        self._entries: list[PoseField] = []
        self._inputs: list[Any] = []
        self._folders: list[viser.GuiFolderHandle] = []

    def reload(self, wanted: list[PoseField]) -> None:
        """Make the controls for these numbers; they stay if they are the same."""
        if wanted == self._entries:
            return
        for folder in self._folders:
            folder.remove()
        self._entries, self._inputs, self._folders = wanted, [], []
        with self._box:
            for title in dict.fromkeys(entry.folder for entry in wanted):
                folder = self._gui.add_folder(title, expand_by_default=title in (BALANCE, BENDING))
                self._folders.append(folder)
                with folder:
                    self._inputs += [self._control(entry) for entry in wanted if entry.folder == title]

    def _control(self, entry: PoseField) -> Any:
        make = self._gui.add_slider if entry.degrees else self._gui.add_number
        start = min(max(0.0, entry.low), entry.high)
        bounds = {"min": entry.low, "max": entry.high, "step": entry.step, "initial_value": start}
        control = make(entry.label, **bounds, hint=entry.hint or None)  # type: ignore[arg-type]
        on_user_change(self._desk, control, lambda value: self._changed(entry, float(value)))
        return control

    def fill(self, state: PoseState) -> None:
        """Show a state's numbers."""
        for entry, control in zip(self._entries, self._inputs, strict=True):
            value = entry.read(state)
            set_if_changed(control, value is not None, "visible")
            if value is not None:
                set_if_changed(control, min(max(value, entry.low), entry.high))

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of it."""
        set_if_changed(self._box, visible, "visible")


_PAUSE = 1.0  # [s] after which moving the same control again counts as another change to undo
_ENDINGS: dict[str, str | None] = {
    "after a time": None, "when the swing foot touches": "contact", "when any foot lands": "landing",
    "when another skill is asked for": "request",
}  # fmt: skip
_DURATION = 0.3  # [s] of a state that ends after a time for the first time
_NOT_ONE = "This skill is not made of poses; choose a walk or a run of `planar` or `human` to edit one."


class PoseTab(Panel):
    """The editor of skills whose parameters are a pose graph."""

    title = "Poses"

    def build(self, desk: PanelContext) -> None:
        """Add the controls and the board."""
        self._desk, gui = desk, desk.server.gui
        self._chosen, self._gesture, self._touched = 0, 0, 0.0
        self._seen: Skill | None = None
        self._note = gui.add_markdown(_NOT_ONE, visible=False)
        self._shown = gui.add_checkbox("Show the poses", False, hint="Stick figures on the stage, with dots to drag")
        self._state = gui.add_dropdown("State", ("0",), hint="Or drag a dot of its figure.")
        self._until = gui.add_dropdown("It ends", tuple(_ENDINGS))
        self._form = PoseControls(desk, self.set)
        self._keeping = DocumentControls()
        self._keeping.build(desk, self.reload)
        self._board = PoseBoard(desk.stage.scene, desk.post, self._dragged)
        on_user_change(desk, self._state, lambda name: self.choose(int(name.split()[0])))
        on_user_change(desk, self._until, lambda name: self.set_end_condition(_ENDINGS[name]))
        on_user_change(desk, self._shown, lambda _: self.reload())

    @property
    def graph(self) -> SimbiconParameters | None:
        """The pose graph that is being edited; None if the skill has none."""
        skill = self._desk.editing.document.skill
        return skill.parameters if has_poses(skill) else None

    def choose(self, state: int) -> None:
        """Show the numbers of a state."""
        self._chosen = state
        self.reload()

    def set(self, entry: PoseField, shown: float) -> None:
        """Set one number of the chosen state, given as it is shown."""
        now = time.monotonic()
        self._gesture += now - self._touched > _PAUSE
        self._touched = now
        self.change(self._chosen, {entry.path: entry.write(shown)}, (entry.path, self._chosen, self._gesture))

    def set_end_condition(self, until: str | None) -> None:
        """Have the chosen state end on contact, landing or request, or (None) after a time."""
        if self.graph is not None:
            duration = self.graph.states[self._chosen].duration
            self.change(self._chosen, {"duration": None if until else duration or _DURATION, "until": until})

    def change(self, state: int, values: dict[str, Any], key: object = None) -> None:
        """Set numbers of a state by path; the simulation follows at once. Changes of the same key are undone as one."""
        document = self._desk.editing.document
        try:
            self._keeping.run(document.change({f"states.{state}.{path}": value for path, value in values.items()}, key))
        except SurefootError:
            self.reload()  # the page shows a value that was refused
            raise

    def _dragged(self, state: int, handle: Handle, angle: float, phase: str) -> None:
        if phase == "start":
            self._gesture += 1
            self._chosen = state
        self.change(state, {handle.path: round(angle, 4)}, (handle.path, state, self._gesture))

    def reload(self) -> None:
        """Show the running skill."""
        session = self._desk.session
        self._desk.editing.follow_session(session)
        self._seen, graph = session.sim.skill, self.graph
        for control in (self._state, self._until, self._shown):
            set_if_changed(control, graph is not None, "visible")
        set_if_changed(self._note, graph is None, "visible")
        self._form.set_visible(graph is not None)
        self._keeping.set_visible(graph is not None)
        self._board.visible = graph is not None and self._shown.value
        self._desk.stage.show_boards(self._board.visible, self.title)
        if graph is not None:
            self._chosen = min(self._chosen, len(graph.states) - 1)
            state = graph.states[self._chosen]
            self._form.reload(pose_fields(session.sim.scene.table, graph))
            names = tuple(f"{i} · {end_condition(state)}" for i, state in enumerate(graph.states))
            set_if_changed(self._state, names, "options")
            set_if_changed(self._state, names[self._chosen])
            set_if_changed(self._until, next(k for k, v in _ENDINGS.items() if v == state.until))
            self._form.fill(state)
            self._board.show(session.sim.scene.table, graph)
            self.refresh()

    def refresh(self) -> None:
        """Highlight the active state."""
        session = self._desk.session
        if session.shown is None and session.sim.skill is not self._seen:
            self.reload()
            return
        graph = self.graph
        if graph is not None:  # its numbers are not written again: a page may just have sent another
            if self._board.visible:
                self._board.highlight(active_figure(graph, int(session.row.report[0].state)), self._chosen)
            self._keeping.refresh()
