"""The body: which character, and how long and heavy its parts are, changed while it walks (GENBICON figure 13).

Every part has a multiplier of its length and one of its mass, for each side; `Part` names them, and the functions
convert between a multiplier for every side and the shorter proportions that a simulation takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import viser

from surefoot import characters, skills
from surefoot.characters.table import CharacterTable
from surefoot.engine.scene import AnyCharacter, Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.studio.panels.panel import Panel, PanelContext, checked_choice, on_user_change, safe_path, set_if_changed

LENGTH, MASS = "length", "mass"
TOTAL_MASS = "mass"  # the name of the whole body's multiplier
_SIDES = ("left", "right")
_CONSISTS_OF = {"leg": ("thigh", "shin"), "arm": ("upper_arm", "lower_arm"), "torso": ("pelvis", "trunk")}
_LENGTHS = tuple(f"{part}_{LENGTH}" for part in ("leg", "foot", "toes", "torso", "arm", "hand"))
PRESETS: dict[str, dict[str, float]] = {
    "Child": {**dict.fromkeys(_LENGTHS, 0.8), "head_length": 0.95, TOTAL_MASS: 0.5},
    "Giant": {**dict.fromkeys((*_LENGTHS, "head_length"), 1.25), TOTAL_MASS: 1.95},
    "Long legs": {"leg_length": 1.3},
    "Short legs": {"leg_length": 0.7},
    "Long arms": {"arm_length": 1.5},
    "One long arm": {"right_arm_length": 1.6},
    "One short leg": {"left_thigh_length": 0.95},  # more would be too uneven to begin from standing
    "One heavy leg": {"right_leg_mass": 2.0},
    "Heavy torso": {"torso_mass": 2.0},
    "Big head": {"head_length": 1.6, "head_mass": 2.0},
}
"""Multipliers by part. A body without such a part takes the parts it consists of, and leaves out the rest."""


@dataclass(frozen=True)
class Part:
    """A part of a body with multipliers of its own; a part without sides has one side without a name."""

    name: str
    sides: tuple[str, ...]
    segments: tuple[str, ...]

    def multiplier_name(self, side: str, what: str) -> str:
        """Name of the multiplier of one side."""
        return f"{side}_{self.name}_{what}" if side else f"{self.name}_{what}"

    def title(self, side: str = "") -> str:
        """The part in words."""
        return f"{side} {self.name}".replace("_", " ").strip().capitalize()

    def label(self, side: str = "") -> str:
        """The part in words, with L or R for the side."""
        return f"{side[:1].upper()} {self.title().lower()}" if side else self.title()


def body_parts(table: CharacterTable) -> tuple[Part, ...]:
    """All parts of a body that have multipliers, those of several segments first."""
    known = table.multipliers
    paired = {name for name in known if all(f"{side}_{name}" in known for side in _SIDES)}
    sided = {f"{side}_{name}" for name in paired for side in _SIDES}
    found = [Part(n, _SIDES if n in paired else ("",), s) for n, s in known.items() if n not in sided]
    return tuple(sorted(found, key=lambda part: len(part.segments) <= len(part.sides)))


def per_side_multipliers(table: CharacterTable, proportions: Mapping[str, float]) -> dict[str, float]:
    """A number for every multiplier; a pair's number holds for each of its sides."""
    values = {TOTAL_MASS: float(proportions.get(TOTAL_MASS, 1.0))}
    for part in body_parts(table):
        for what in (LENGTH, MASS):
            both = float(proportions.get(f"{part.name}_{what}", 1.0))
            for side in part.sides:
                name = part.multiplier_name(side, what)
                values[name] = both * float(proportions.get(name, 1.0) if side else 1.0)
    return values


def shortest_proportions(table: CharacterTable, values: Mapping[str, float]) -> dict[str, float]:
    """The fewest proportions that mean the same as a number for every multiplier."""
    found = {TOTAL_MASS: values[TOTAL_MASS]}
    for part in body_parts(table):
        for what in (LENGTH, MASS):
            each = {name: values[name] for name in (part.multiplier_name(side, what) for side in part.sides)}
            equal = len(set(each.values())) == 1
            found |= {f"{part.name}_{what}": next(iter(each.values()))} if equal else each
    return {name: value for name, value in found.items() if value != 1.0}


def symmetric(table: CharacterTable, values: Mapping[str, float]) -> dict[str, float]:
    """The same multipliers with both sides alike: each gets their mean."""
    found = dict(values)
    for part in body_parts(table):
        for what in (LENGTH, MASS):
            names = [part.multiplier_name(side, what) for side in part.sides]
            mean = round(sum(values[name] for name in names) / len(names), 2)
            found |= dict.fromkeys(names, values[names[0]] if len({values[n] for n in names}) == 1 else mean)
    return found


def preset_for(table: CharacterTable, name: str) -> dict[str, float]:
    """A preset's multipliers for the parts that a body has."""
    found: dict[str, float] = {}
    for multiplier, value in PRESETS[name].items():
        part, _, what = multiplier.rpartition("_")
        side = next((f"{side}_" for side in _SIDES if part.startswith(f"{side}_")), "")
        single = [side + piece for piece in _CONSISTS_OF.get(part.removeprefix(side), ())]
        for one in [part] if part in ("", *table.multipliers) else single:
            if not one or one in table.multipliers:
                found[f"{one}_{what}" if one else what] = value
    return found


def part_size(table: CharacterTable, part: Part, side: str, what: str) -> float:
    """Length [m] or mass [kg] of one side of a part, or of all of it if it has no sides."""
    names = {s for s in part.segments if not side or s.startswith(f"{side}_")}
    segments = [s for s in table.segments if s.name in names]
    if what == MASS:
        return sum(segment.mass for segment in segments)
    total = 0.0
    for segment in segments:
        points = [(0.0, 0.0, 0.0), *(child.offset for child in table.segments if child.parent == segment.name)]
        points += [end for shape in segment.shapes for end in (shape.start, shape.end)]
        total += float(np.ptp(np.array(points)[:, (0, 2)], axis=0).max())  # how far forward or up it reaches
    return total


@dataclass(frozen=True)
class BodyMeasures:
    """Mass of a body [kg], its height when it stands straight [m], lengths of its left and right leg [m]."""

    mass: float
    height: float
    legs: tuple[float, float]


def measure_body(scene: Scene) -> BodyMeasures:
    """Measure the body of a scene."""
    model, data, table = scene.model, mujoco.MjData(scene.model), scene.table
    mujoco.mj_kinematics(model, data)
    own = {model.body(segment.name).id for segment in table.segments}
    geoms = np.array([g for g in range(model.ngeom) if int(model.geom_bodyid[g]) in own])
    axes = data.geom_xmat[geoms].reshape(-1, 3, 3)[:, 2]  # the upward component of each of a geom's axes
    middle = data.geom_xpos[geoms, 2] + (axes * model.geom_aabb[geoms, :3]).sum(axis=1)
    reach = (np.abs(axes) * model.geom_aabb[geoms, 3:]).sum(axis=1)
    root = model.body_rootid[model.body(table.anatomy.pelvis).id]
    offsets = {segment.name: float(np.linalg.norm(segment.offset)) for segment in table.segments}
    legs = [
        table.sole_depth + offsets[leg.foot] + offsets[leg.shin] for leg in (table.anatomy.left, table.anatomy.right)
    ]
    return BodyMeasures(
        float(model.body_subtreemass[root]), float((middle + reach).max() - (middle - reach).min()),
        (legs[0], legs[1]) if table.height is None else (table.height, table.height),
    )  # fmt: skip


MIN_MULTIPLIER, MAX_MULTIPLIER = 0.5, 2.0  # times as long or heavy as designed
_OWN, _PLAIN = "Your own", "As designed"
_PAUSE = 1.0 / 30.0  # [s] between two changes of the body; of a burst of moves only the last one counts
_HANDS_OFF = 0.5  # [s] after a person moved a slider, in which the program does not move it
_ANY_BODY = "biped/zero-walk"  # walks with any two legs


class BodyTab(Panel):
    """Character, proportions and masses."""

    title = "Body"

    def build(self, desk: PanelContext) -> None:
        """Add the controls that every body has."""
        self._desk, gui = desk, desk.server.gui
        self._wanted: dict[str, float] | None = None  # a number for every multiplier, not applied yet
        self._changed = self._touched = 0.0
        self._sim: Simulation | None = None  # whose measures are shown
        self._shown: tuple[Simulation | None, float] = None, 0.0  # what the sliders show, and since which touch
        self._for: AnyCharacter | None = None
        self._sliders: list[tuple[Part, str, str, viser.GuiSliderHandle[float]]] = []  # part, side, what
        self._made: list[Any] = []  # controls that are removed when another body comes
        self._who = gui.add_dropdown("Character", characters.names())
        self._facts = gui.add_markdown("")
        self._preset = gui.add_dropdown("Proportions", (_PLAIN, *PRESETS, _OWN), hint="Bodies to start from.")
        self._reset = gui.add_button("Reset", icon=viser.Icon.REFRESH, hint="Back to the body as it was designed.")
        self._even = gui.add_checkbox(
            "Both sides alike", True, hint="Off: left and right limbs have their own sliders."
        )
        self._whole = self._slider("Mass of all", (TOTAL_MASS,), "All parts together; strength grows with the weight.")
        self._lengths = gui.add_folder("Lengths (times as long)")
        self._masses = gui.add_folder("Masses (times as heavy)", expand_by_default=False)
        with gui.add_folder("Your own body", expand_by_default=False):
            self._file = gui.add_text("MJCF file", "", hint="Name of an .xml file in the studio's folder.")
            load = gui.add_button("Let it walk", icon=viser.Icon.WALK)
        self._on_change(self._who, self._choose)
        self._on_change(self._preset, self._take)
        self._on_change(self._even, self._alike)
        self._reset.on_click(lambda _: desk.post(lambda: self._take(_PLAIN)))
        load.on_click(lambda _: desk.post(lambda: self._load(self._file.value)))

    def _on_change(self, handle: Any, act: Callable[[Any], object]) -> None:
        on_user_change(self._desk, handle, act, self._touch)

    def _touch(self) -> None:
        self._touched = time.perf_counter()

    def _slider(self, label: str, names: tuple[str, ...], hint: str) -> viser.GuiSliderHandle[float]:
        slider = self._desk.server.gui.add_slider(label, MIN_MULTIPLIER, MAX_MULTIPLIER, 0.01, 1.0, hint=hint)
        self._on_change(slider, lambda value: self._move(dict.fromkeys(names, value)))
        return slider

    @property
    def _table(self) -> CharacterTable:
        return self._desk.session.sim.scene.table

    def _choose(self, name: str) -> None:
        """Begin with another character, with the running skill if that character can do it."""
        session, own = self._desk.session, f"{checked_choice(characters.names(), name)}/walk"
        try:
            session.rebuild(character=name, skill=session.sim.skill, proportions={})
        except SurefootError:
            session.rebuild(character=name, skill=own if own in skills.names() else _ANY_BODY, proportions={})

    def _load(self, name: str) -> None:
        path = safe_path(self._desk.folder, name, (".xml",))
        self._desk.session.rebuild(character=str(path), skill=_ANY_BODY, proportions={})

    def _take(self, name: str) -> None:
        """Take the proportions of a preset, or those of the design."""
        if name == _OWN:
            return
        self._wanted, proportions = None, preset_for(self._table, name) if name in PRESETS else {}
        self._desk.session.reshape(proportions)
        values = per_side_multipliers(self._table, proportions)
        self._show_sides(values == symmetric(self._table, values))

    def _alike(self, alike: bool) -> None:
        if alike:
            self._move(symmetric(self._table, self._now()))
        self._show_sides(alike)

    def _now(self) -> dict[str, float]:
        """A number for every multiplier, as last chosen."""
        return self._wanted or per_side_multipliers(self._table, self._desk.session.sim.scene.setup.proportions)

    def _move(self, values: Mapping[str, float]) -> None:
        """Change some multipliers."""
        self._wanted = self._now() | dict(values)
        self._apply()

    def _apply(self) -> None:
        now = time.perf_counter()
        if self._wanted is None or now - self._changed < _PAUSE:
            return
        wanted, self._wanted = shortest_proportions(self._table, self._wanted), None
        if wanted != self._desk.session.sim.scene.setup.proportions:
            self._desk.session.reshape(wanted)
            self._changed = time.perf_counter()

    def reload(self) -> None:
        """Show the parts of another body; one that only changed its sizes keeps its sliders."""
        scene = self._desk.session.sim.scene
        if scene.character == self._for:
            return
        self._for, self._wanted, imported = scene.character, None, scene.table.imported is not None
        name = Path(str(scene.character)).name
        set_if_changed(self._who, (*characters.names(), *((name,) if imported else ())), "options")
        set_if_changed(self._who, name)
        for handle in self._made:
            handle.remove()
        self._sliders, self._made = [], []
        for handle in (self._preset, self._reset, self._even, self._whole, self._lengths, self._masses):
            set_if_changed(handle, not imported, "visible")
        if not imported:
            fitting = (name for name in PRESETS if preset_for(scene.table, name))
            set_if_changed(self._preset, (_PLAIN, *fitting, _OWN), "options")
            for folder, what in ((self._lengths, LENGTH), (self._masses, MASS)):
                with folder:
                    self._add_sliders(what)

    def _add_sliders(self, what: str) -> None:
        """Add whole limbs and the trunk first, their parts in a closed folder."""
        found = body_parts(self._table)
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
        """Add a slider for both sides, and one for each."""
        for side in ("", *part.sides) if part.sides[0] else ("",):
            names = tuple(part.multiplier_name(s, what) for s in ((side,) if side else part.sides))
            hint = f"{part.title(side)}: how many times as {'long' if what == LENGTH else 'heavy'} as designed."
            handle = self._slider(part.label(side), names, hint)
            self._sliders.append((part, side, what, handle))
            self._made.append(handle)

    def _show_sides(self, alike: bool) -> None:
        set_if_changed(self._even, alike)
        for part, side, _, handle in self._sliders:
            set_if_changed(handle, not part.sides[0] or bool(side) != alike, "visible")

    def refresh(self) -> None:
        """Apply the last of a burst of changes, and show the present body once nobody moves a slider."""
        self._apply()
        sim = self._desk.session.sim
        if sim is not self._sim:
            self._sim = sim
            self._measure(sim)
        if (sim, self._touched) != self._shown and time.perf_counter() - self._touched > _HANDS_OFF:
            self._shown = sim, self._touched
            self._show(sim)

    def _measure(self, sim: Simulation) -> None:
        """Show how tall and heavy the body and its parts are."""
        body = measure_body(sim.scene)
        legs = " / ".join(f"{100 * leg:.0f}" for leg in dict.fromkeys(body.legs))
        words = f"**{body.mass:.1f} kg** · **{body.height:.2f} m** tall · legs **{legs} cm**"
        if sim.scene.table.imported is not None:
            words += "\n\nThis body comes from a file: change its proportions there."
        set_if_changed(self._facts, words, "content")
        for part, side, what, handle in self._sliders:
            now = part_size(sim.scene.table, part, side or part.sides[0], what)
            unit = f"{100 * now:.0f}\u00a0cm" if what == LENGTH else f"{now:.1f}\u00a0kg"
            set_if_changed(handle, f"{part.label(side)} {unit}", "label")

    def _show(self, sim: Simulation) -> None:
        """Set every control to the present body."""
        table, own = sim.scene.table, sim.scene.setup.proportions
        set_if_changed(self._who, Path(str(sim.scene.character)).name)
        if table.imported is not None:
            return
        values = per_side_multipliers(table, own)
        self._show_sides(self._even.value and symmetric(table, values) == values)
        set_if_changed(self._whole, min(max(values[TOTAL_MASS], MIN_MULTIPLIER), MAX_MULTIPLIER))
        for part, side, what, handle in self._sliders:
            value = values[part.multiplier_name(side or part.sides[0], what)]
            set_if_changed(handle, min(max(value, MIN_MULTIPLIER), MAX_MULTIPLIER))
        known: dict[str, dict[str, float]] = {_PLAIN: {}} | {name: preset_for(table, name) for name in PRESETS}
        set_if_changed(self._preset, next((name for name, one in known.items() if one == own), _OWN))
