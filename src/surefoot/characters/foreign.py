"""A stranger's body as a table, so that scenes treat it like one of ours; it walks by GENBICON alone."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from surefoot.characters import stranger
from surefoot.characters.limb_block import stand_neutral
from surefoot.characters.limbs import LEFT, RIGHT, Limbs
from surefoot.characters.shapes import points_of, solid_geoms
from surefoot.characters.table import Anatomy, CharacterTable, Segment, Side

_GREY = (0.6, 0.6, 0.6)


@functools.cache
def _read(path: Path, changed: float) -> stranger.Stranger:
    return stranger.read(path)


def table_of(path: Path) -> CharacterTable:
    """The body of an MJCF file; one that cannot walk is refused with what it has not."""
    found = _read(path, path.stat().st_mtime if path.is_file() else 0.0)
    limbs, model = found.limbs, found.spec.compile()
    data = stand_neutral(model, limbs)
    feet = [model.body(name).id for soles in limbs.soles for name in soles]
    clouds = [points_of(model, data, geom) for geom in solid_geoms(model, feet)]
    ground = min(float(points[:, 2].min()) - radius for points, radius in clouds)
    ankles = [_bodies(limbs, side)[2] for side in (LEFT, RIGHT)]
    segments = tuple(
        Segment(
            model.body(b).name, "world" if model.body_parentid[b] == 0 else model.body(model.body_parentid[b]).name,
            _three(model.body_pos[b]), (), float(model.body_mass[b]), _three(model.body_ipos[b]),
            _three(model.body_inertia[b]), (), _GREY,
        )
        for b in range(1, model.nbody)
    )  # fmt: skip
    trunk = next((link.body for link in limbs.links if link.kind in ("upper_back", "lower_back")), limbs.pelvis)
    sides = [Side(*_bodies(limbs, side), joints=()) for side in (LEFT, RIGHT)]
    return CharacterTable(
        name=found.name, summary=f"{path.name}: {found.notes[-1] if found.notes else ''}", root="free",
        segments=segments, anatomy=Anatomy(limbs.pelvis, trunk, sides[0], sides[1], ()),
        gains={joint: link.gain for link in limbs.links for joint in link.joints}, torso_gain=limbs.root_gain,
        hip_targets=(-1.5, 2.8), friction=found.friction, timestep=0.001, source=path.name,
        sole_depth=float(np.mean([data.body(name).xpos[2] for name in ankles]) - ground),
        height=float(data.body(limbs.pelvis).xpos[2] - ground), foreign=found,
    )  # fmt: skip


def _bodies(limbs: Limbs, side: int) -> tuple[str, str, str]:
    """Bodies of thigh, shin and foot."""
    thigh, shin, foot = (next(k.body for k in limbs.links if k.kind == kind and k.side == side)
                         for kind in ("hip", "knee", "ankle"))  # fmt: skip
    return thigh, shin, foot


def _three(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return (x, y, z)
