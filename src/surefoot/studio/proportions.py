"""Lengths and masses as one turns them by hand: a number for every part and side, and what it comes to in cm and kg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.scene import Scene

LENGTH, MASS = "length", "mass"
WHOLE = "mass"  # the name of the whole body's multiplier
_SIDES = ("left", "right")
_CONSISTS_OF = {"leg": ("thigh", "shin"), "arm": ("upper_arm", "lower_arm"), "torso": ("pelvis", "trunk")}
_LENGTHS = tuple(f"{part}_{LENGTH}" for part in ("leg", "foot", "toes", "torso", "arm", "hand"))
PRESETS: dict[str, dict[str, float]] = {
    "Child": {**dict.fromkeys(_LENGTHS, 0.8), "head_length": 0.95, WHOLE: 0.5},
    "Giant": {**dict.fromkeys((*_LENGTHS, "head_length"), 1.25), WHOLE: 1.95},
    "Long legs": {"leg_length": 1.3},
    "Short legs": {"leg_length": 0.7},
    "Long arms": {"arm_length": 1.5},
    "One long arm": {"right_arm_length": 1.6},
    "One short leg": {"left_thigh_length": 0.95},  # more would be too uneven to begin from standing
    "One heavy leg": {"right_leg_mass": 2.0},
    "Heavy torso": {"torso_mass": 2.0},
    "Big head": {"head_length": 1.6, "head_mass": 2.0},
}
"""Multipliers by part; a body takes what it consists of where it has no such part, and leaves out the rest."""


@dataclass(frozen=True)
class Part:
    """What a multiplier is of; `sides` are those it can be told apart for, or one without a name."""

    name: str
    sides: tuple[str, ...]
    segments: tuple[str, ...]

    def knob(self, side: str, what: str) -> str:
        """Name of the multiplier of one side."""
        return f"{side}_{self.name}_{what}" if side else f"{self.name}_{what}"

    def title(self, side: str = "") -> str:
        """What people call it."""
        return f"{side} {self.name}".replace("_", " ").strip().capitalize()

    def label(self, side: str = "") -> str:
        """The same, short: L and R for the sides."""
        return f"{side[:1].upper()} {self.title().lower()}" if side else self.title()


def parts(table: CharacterTable) -> tuple[Part, ...]:
    """All parts of a body with multipliers of their own, those of several segments first."""
    known = table.multipliers
    paired = {name for name in known if all(f"{side}_{name}" in known for side in _SIDES)}
    sided = {f"{side}_{name}" for name in paired for side in _SIDES}
    found = [Part(n, _SIDES if n in paired else ("",), s) for n, s in known.items() if n not in sided]
    return tuple(sorted(found, key=lambda part: len(part.segments) <= len(part.sides)))


def spread(table: CharacterTable, proportions: Mapping[str, float]) -> dict[str, float]:
    """A number for every knob: what is said of a pair holds for each of its sides."""
    values = {WHOLE: float(proportions.get(WHOLE, 1.0))}
    for part in parts(table):
        for what in (LENGTH, MASS):
            both = float(proportions.get(f"{part.name}_{what}", 1.0))
            for side in part.sides:
                values[part.knob(side, what)] = both * float(
                    proportions.get(part.knob(side, what), 1.0) if side else 1.0
                )
    return values


def gathered(table: CharacterTable, values: Mapping[str, float]) -> dict[str, float]:
    """The shortest proportions that say the same as a number for every knob."""
    found = {WHOLE: values[WHOLE]}
    for part in parts(table):
        for what in (LENGTH, MASS):
            each = {part.knob(side, what): values[part.knob(side, what)] for side in part.sides}
            equal = len(set(each.values())) == 1
            found |= {f"{part.name}_{what}": next(iter(each.values()))} if equal else each
    return {name: value for name, value in found.items() if value != 1.0}


def evened(table: CharacterTable, values: Mapping[str, float]) -> dict[str, float]:
    """The same with both sides alike: each gets their mean."""
    found = dict(values)
    for part in parts(table):
        for what in (LENGTH, MASS):
            knobs = [part.knob(side, what) for side in part.sides]
            mean = round(sum(values[knob] for knob in knobs) / len(knobs), 2)
            found |= dict.fromkeys(knobs, values[knobs[0]] if len({values[k] for k in knobs}) == 1 else mean)
    return found


def preset(table: CharacterTable, name: str) -> dict[str, float]:
    """A preset's multipliers, as far as a body has such parts."""
    found: dict[str, float] = {}
    for knob, value in PRESETS[name].items():
        part, _, what = knob.rpartition("_")
        side = next((f"{side}_" for side in _SIDES if part.startswith(f"{side}_")), "")
        single = [side + piece for piece in _CONSISTS_OF.get(part.removeprefix(side), ())]
        for one in [part] if part in ("", *table.multipliers) else single:
            if not one or one in table.multipliers:
                found[f"{one}_{what}" if one else what] = value
    return found


def size(table: CharacterTable, part: Part, side: str, what: str) -> float:
    """Length [m] or mass [kg] of a part, of one side; of a part without sides all of it."""
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
class Facts:
    """A whole body: mass [kg], height [m] when it stands straight, length of left and right leg [m]."""

    mass: float
    height: float
    legs: tuple[float, float]


def facts(scene: Scene) -> Facts:
    """Measure the body of a scene."""
    model, data, table = scene.model, mujoco.MjData(scene.model), scene.table
    mujoco.mj_kinematics(model, data)
    own = {model.body(segment.name).id for segment in table.segments}
    geoms = np.array([g for g in range(model.ngeom) if int(model.geom_bodyid[g]) in own])
    axes = data.geom_xmat[geoms].reshape(-1, 3, 3)[:, 2]  # how much each of a shape's own axes points up
    middle = data.geom_xpos[geoms, 2] + (axes * model.geom_aabb[geoms, :3]).sum(axis=1)
    reach = (np.abs(axes) * model.geom_aabb[geoms, 3:]).sum(axis=1)
    root = model.body_rootid[model.body(table.anatomy.pelvis).id]
    offsets = {segment.name: float(np.linalg.norm(segment.offset)) for segment in table.segments}
    legs = [
        table.sole_depth + offsets[leg.foot] + offsets[leg.shin] for leg in (table.anatomy.left, table.anatomy.right)
    ]
    return Facts(
        float(model.body_subtreemass[root]), float((middle + reach).max() - (middle - reach).min()),
        (legs[0], legs[1]) if table.height is None else (table.height, table.height),
    )  # fmt: skip
