"""Another body: which one, and how long and heavy its parts are, while it walks (GENBICON figure 13)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import viser

from surefoot import characters, skills
from surefoot.characters.table import CharacterTable
from surefoot.errors import SurefootError
from surefoot.simulation import Simulation
from surefoot.studio import places
from surefoot.studio.panels.panel import Desk, one_of, put
from surefoot.studio.proportions import (
    LENGTH,
    MASS,
    PRESETS,
    WHOLE,
    Part,
    evened,
    facts,
    gathered,
    parts,
    preset,
    size,
    spread,
)

LEAST, MOST = 0.5, 2.0  # times as long or heavy as drawn
_OWN, _PLAIN = "Your own", "As designed"
_PAUSE = 1.0 / 30.0  # [s] between two changes of the body: of a burst of moves only the last one counts
_HANDS_OFF = 0.5  # [s] a slider is left alone after a person moved it
_ANY_BODY = "biped/zero-walk"  # walks with any two legs


class Body:
    """Character, proportions and masses."""

    title = "Body"

    def build(self, desk: Desk) -> None:
        """Add the controls that every body has."""
        self._desk, gui = desk, desk.server.gui
        self._wanted: dict[str, float] | None = None  # a number for every knob, not applied yet
        self._changed = self._touched = 0.0
        self._sim: Simulation | None = None  # which is written down
        self._shown: tuple[Simulation | None, float] = None, 0.0  # which the sliders show, since what touch
        self._for: str | None = None
        self._sliders: list[tuple[Part, str, str, viser.GuiSliderHandle[float]]] = []  # part, side, what
        self._made: list[Any] = []  # what goes when another body comes
        self._who = gui.add_dropdown("Character", characters())
        self._facts = gui.add_markdown("")
        self._preset = gui.add_dropdown("Proportions", (_PLAIN, *PRESETS, _OWN), hint="Bodies to start from.")
        self._reset = gui.add_button("Reset", icon=viser.Icon.REFRESH, hint="Back to the body as it was designed.")
        self._even = gui.add_checkbox(
            "Both sides alike", True, hint="Off: left and right limbs have their own sliders."
        )
        self._whole = self._slider("Mass of all", (WHOLE,), "All parts together; strength grows with the weight.")
        self._lengths = gui.add_folder("Lengths (times as long)")
        self._masses = gui.add_folder("Masses (times as heavy)", expand_by_default=False)
        with gui.add_folder("Your own body", expand_by_default=False):
            self._file = gui.add_text("MJCF file", "", hint="Name of an .xml file in the studio's folder.")
            load = gui.add_button("Let it walk", icon=viser.Icon.WALK)
        self._who.on_update(self._by_hand(lambda: self._choose(self._who.value)))
        self._preset.on_update(self._by_hand(lambda: self._take(self._preset.value)))
        self._even.on_update(self._by_hand(lambda: self._alike(self._even.value)))
        self._reset.on_click(lambda _: desk.post(lambda: self._take(_PLAIN)))
        load.on_click(lambda _: desk.post(lambda: self._load(self._file.value)))

    def _by_hand(self, action: Any) -> Any:
        """A callback for what a person, not this program, did to a control."""

        def called(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None:
                self._touched = time.perf_counter()
                self._desk.post(action)

        return called

    def _slider(self, label: str, knobs: tuple[str, ...], hint: str) -> viser.GuiSliderHandle[float]:
        slider = self._desk.server.gui.add_slider(label, LEAST, MOST, 0.01, 1.0, hint=hint)
        slider.on_update(self._by_hand(lambda: self._move(dict.fromkeys(knobs, slider.value))))
        return slider

    @property
    def _table(self) -> CharacterTable:
        return self._desk.session.sim.scene.table

    def _choose(self, name: str) -> None:
        """Begin with another character, with the present skill if that one can do it."""
        session, own = self._desk.session, f"{one_of(characters(), name)}/walk"
        try:
            session.rebuild(character=name, skill=session.sim.skill, proportions={})
        except SurefootError:
            session.rebuild(character=name, skill=own if own in skills() else _ANY_BODY, proportions={})

    def _load(self, name: str) -> None:
        path = places.inside(self._desk.folder, name, (".xml",))
        self._desk.session.rebuild(character=str(path), skill=_ANY_BODY, proportions={})

    def _take(self, name: str) -> None:
        """Be a preset, or again as designed."""
        if name == _OWN:
            return
        self._wanted, proportions = None, preset(self._table, name) if name in PRESETS else {}
        self._desk.session.reshape(proportions)
        values = spread(self._table, proportions)
        self._show_sides(values == evened(self._table, values))

    def _alike(self, alike: bool) -> None:
        if alike:
            self._move(evened(self._table, self._now()))
        self._show_sides(alike)

    def _now(self) -> dict[str, float]:
        """A number for every knob, as last wished."""
        return self._wanted or spread(self._table, self._desk.session.sim.scene.proportions)

    def _move(self, values: Mapping[str, float]) -> None:
        """Turn some knobs."""
        self._wanted = self._now() | dict(values)
        self._apply()

    def _apply(self) -> None:
        now = time.perf_counter()
        if self._wanted is None or now - self._changed < _PAUSE:
            return
        wanted, self._wanted = gathered(self._table, self._wanted), None
        if wanted != self._desk.session.sim.scene.proportions:
            self._desk.session.reshape(wanted)
            self._changed = time.perf_counter()

    def renew(self) -> None:
        """Another body has other parts; one that only grew keeps its sliders."""
        scene = self._desk.session.sim.scene
        if scene.character == self._for:
            return
        self._for, self._wanted, foreign = scene.character, None, scene.table.foreign is not None
        name = Path(scene.character).name
        put(self._who, (*characters(), *((name,) if foreign else ())), "options")
        put(self._who, name)
        for handle in self._made:
            handle.remove()
        self._sliders, self._made = [], []
        for handle in (self._preset, self._reset, self._even, self._whole, self._lengths, self._masses):
            put(handle, not foreign, "visible")
        if not foreign:
            fitting = (name for name in PRESETS if preset(scene.table, name))
            put(self._preset, (_PLAIN, *fitting, _OWN), "options")
            for folder, what in ((self._lengths, LENGTH), (self._masses, MASS)):
                with folder:
                    self._add_sliders(what)

    def _add_sliders(self, what: str) -> None:
        """Limbs and trunk as wholes first, what they consist of in a folder that is closed."""
        found = parts(self._table)
        wholes = {s for part in found if len(part.segments) > len(part.sides) for s in part.segments}
        single = [p for p in found if len(p.segments) == len(p.sides) and set(p.segments) <= wholes]
        for part in found:
            if part not in single:
                self._add_part(part, what)
        if single:
            folder = self._desk.server.gui.add_folder("Part by part", expand_by_default=False)
            with folder:
                for part in single:
                    self._add_part(part, what)
            self._made.append(folder)

    def _add_part(self, part: Part, what: str) -> None:
        """A slider for both sides, and one for each."""
        for side in ("", *part.sides) if part.sides[0] else ("",):
            knobs = tuple(part.knob(s, what) for s in ((side,) if side else part.sides))
            hint = f"{part.title(side)}: how many times as {'long' if what == LENGTH else 'heavy'} as designed."
            handle = self._slider(part.label(side), knobs, hint)
            self._sliders.append((part, side, what, handle))
            self._made.append(handle)

    def _show_sides(self, alike: bool) -> None:
        put(self._even, alike)
        for part, side, _, handle in self._sliders:
            put(handle, not part.sides[0] or bool(side) != alike, "visible")

    def refresh(self) -> None:
        """Apply the last of a burst; show the body there is now, its sliders only while no hand is on them."""
        self._apply()
        sim = self._desk.session.sim
        if sim is not self._sim:
            self._sim = sim
            self._measure(sim)
        if (sim, self._touched) != self._shown and time.perf_counter() - self._touched > _HANDS_OFF:
            self._shown = sim, self._touched
            self._show(sim)

    def _measure(self, sim: Simulation) -> None:
        """Write down how tall and heavy it is, and its parts."""
        body = facts(sim.scene)
        legs = " / ".join(f"{100 * leg:.0f}" for leg in dict.fromkeys(body.legs))
        words = f"**{body.mass:.1f} kg** · **{body.height:.2f} m** tall · legs **{legs} cm**"
        if sim.scene.table.foreign is not None:
            words += "\n\nThis body comes from a file: change its proportions there."
        put(self._facts, words, "content")
        for part, side, what, handle in self._sliders:
            now = size(sim.scene.table, part, side or part.sides[0], what)
            unit = f"{100 * now:.0f}\u00a0cm" if what == LENGTH else f"{now:.1f}\u00a0kg"
            put(handle, f"{part.label(side)} {unit}", "label")

    def _show(self, sim: Simulation) -> None:
        """Set every control to what there is."""
        table, own = sim.scene.table, sim.scene.proportions
        put(self._who, Path(sim.scene.character).name)
        if table.foreign is not None:
            return
        values = spread(table, own)
        self._show_sides(self._even.value and evened(table, values) == values)
        put(self._whole, min(max(values[WHOLE], LEAST), MOST))
        for part, side, what, handle in self._sliders:
            put(handle, min(max(values[part.knob(side or part.sides[0], what)], LEAST), MOST))
        known: dict[str, dict[str, float]] = {_PLAIN: {}} | {name: preset(table, name) for name in PRESETS}
        put(self._preset, next((name for name, one in known.items() if one == own), _OWN))
