"""What it walks on: a kind of ground and its numbers."""

from __future__ import annotations

from typing import Any

import viser

from surefoot.errors import TerrainError
from surefoot.studio.panels.panel import Desk, one_of, put
from surefoot.terrains import Parameter, parameters
from surefoot.terrains import names as terrain_names

_EXAMPLES = {  # where a number has no default: something one can walk on
    "angle": "4", "rise": "0.06", "run": "0.4", "count": "8", "seed": "7", "amplitude": "0.02",
    "places and rises": "2, 0.05, 4, -0.05", "path": "hills.png", "size": "20", "height": "0.3", "width": "0.2",
}  # fmt: skip
_HINTS = {
    "places and rises": "Pairs: where along the way, and how far the ground rises there (m).",
    "path": "A grey PNG picture in the studio's folder: white is high.",
    "seed": "Another number, another ground.", "direction": "Where it rises to: 0 is straight ahead.",
}  # fmt: skip


class GroundChoice:
    """A part of the walk tab."""

    title = "Ground"

    def build(self, desk: Desk) -> None:
        """Add the list of kinds, the place for their numbers, and the button."""
        self._desk, gui = desk, desk.server.gui
        self._fields: dict[str, Any] = {}
        self._shown = ""  # the description whose numbers were last put into the fields
        self._folder = gui.add_folder("Ground")
        with self._folder:
            self._kind = gui.add_dropdown("Kind", terrain_names(), initial_value="flat")
            self._put = gui.add_button(
                "Put it there",
                icon=viser.Icon.STAIRS_UP,
                order=1e9,
                hint="Begins again from the start, on this ground.",
            )

        @self._kind.on_update
        def _(event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
            if event.client is not None:  # chosen by a person, not by us
                kind = event.target.value
                desk.post(lambda: self.choose(kind))

        self._put.on_click(lambda _: desk.post(self.put_there))

    def choose(self, kind: str) -> None:
        """Show the numbers of a kind."""
        put(self._kind, one_of(terrain_names(), kind))
        for field in self._fields.values():
            field.remove()
        with self._folder:
            self._fields = {p.name: self._added(p) for p in parameters(kind)}

    def _added(self, parameter: Parameter) -> Any:
        gui, hint = self._desk.server.gui, _HINTS.get(parameter.name)
        label = parameter.name + (f" ({parameter.unit})" if parameter.unit else "")
        first = _EXAMPLES.get(parameter.name, "1") if parameter.default is None else parameter.default
        if parameter.kind is str:
            return gui.add_text(label, str(first), hint=hint)
        if parameter.kind is int:
            return gui.add_number(label, int(first), step=1, hint=hint)
        return gui.add_number(label, float(first), step=0.5 if parameter.unit == "°" else 0.01, hint=hint)

    def put_there(self) -> None:
        """Begin again on the chosen ground, with the skill that runs."""
        session = self._desk.session
        values = [self._checked(name, field.value) for name, field in self._fields.items()]
        text = one_of(terrain_names(), self._kind.value) + (":" + ",".join(values) if values else "")
        session.rebuild(terrain=text, skill=session.sim.skill, character=self._character())

    def _character(self) -> str:
        session = self._desk.session
        return session.setup.character or session.sim.scene.table.name

    def _checked(self, name: str, value: object) -> str:
        """A field's text; files are read from the studio's folder alone."""
        if name != "path":
            return f"{value:.10g}" if isinstance(value, float) else str(value).replace(" ", "")
        folder = self._desk.folder.resolve()
        path = (folder / str(value)).resolve()
        if not path.is_relative_to(folder):
            raise TerrainError(f"a picture lies in {folder}, got {str(value)!r}")
        return str(path)

    def renew(self) -> None:
        """Show the ground it walks on."""
        description = self._desk.session.sim.scene.terrain.description
        kind = description.partition(":")[0]
        if kind in terrain_names() and description != self._shown:
            self._shown = description
            self.choose(kind)
            for name, value in values_of(description).items():
                put(self._fields[name], value)

    def refresh(self) -> None:
        """Nothing here changes by itself."""


def values_of(description: str) -> dict[str, float | int | str]:
    """The values in a terrain's description, by the names of what it takes; those left out are not there."""
    kind, _, rest = description.partition(":")
    taken = parameters(kind)
    if len(taken) == 1:
        return {taken[0].name: rest.replace(",", ", ")}
    words = rest.split(",") if rest else []
    if taken and taken[0].kind is str:  # a path, which may have commas of its own
        words = rest.rsplit(",", len(taken) - 1)
    return {p.name: p.kind(float(word) if p.kind is int else word) for p, word in zip(taken, words, strict=False)}
