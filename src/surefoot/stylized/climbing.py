"""A reference of a planar body on a slope: a walk that another skill does there, recorded once it is on its cycle."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.retargeting import Retargeted
from surefoot.stylized.carrying import carried
from surefoot.stylized.legs import Legs
from surefoot.stylized.reference import Reference, of_poses
from surefoot.stylized.sources import RATE, Cycle, best_cycle, thrice, told_by

if TYPE_CHECKING:
    from surefoot.scene import Scene

_SETTLED, _LONG = 12.0, 8.0  # [s] after which a walk is on its cycle, and of what is recorded of it


@functools.cache
def climbed(skill: str, degrees: float) -> Reference:
    """The walk of a planar body's skill on an endless slope through the origin, looped; it rises as it goes.

    It can be followed on the same slope, `incline:DEGREES`, from its beginning. Feet are planted and weight is
    carried as for clips, all seen from the slope.
    """
    (scene, cycle), slope = cycle_on(skill, degrees), np.radians(degrees)
    model, table = scene.model, scene.table
    three, n = thrice(table, cycle), len(cycle.stands)
    three, bears = carried(Legs(model, table), three, np.tile(cycle.stands, (3, 1)), 1.0 / RATE, slope=slope)
    three[:, :2] = three[:, :2] @ _turn(slope).T
    three[:, 2] += slope
    return of_poses(model, table, three, bears, 1.0 / RATE, slice(n, 2 * n))


@functools.cache
def cycle_on(skill: str, degrees: float) -> tuple[Scene, Cycle]:
    """What a planar body's skill does on a slope, as simulated there, seen by one for whom the slope is level."""
    from surefoot.simulation import Simulation  # which itself follows references

    sim = Simulation(skill=skill, terrain=f"incline:{degrees:g}" if degrees else "flat")
    if sim.scene.table.root != "planar":
        raise SurefootError(f"{skill} is not of a planar body; only those are recorded on slopes")
    sim.run(_SETTLED, fps=10.0)
    motion = sim.run(_LONG, fps=RATE)
    if sim.fallen:
        raise SurefootError(f"{skill} falls at {degrees:g}°: it cannot be followed there")
    told = _seen_from(told_by(motion, sim.scene.table), np.radians(degrees))
    return sim.scene, best_cycle(sim.model, sim.scene.table, told)


def _turn(angle: float) -> np.ndarray:
    """(2, 2) turns x towards z."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _seen_from(found: Retargeted, slope: float) -> Retargeted:
    """A motion as it is seen by one for whom the slope [rad] is level."""
    place, back = found.root_position.copy(), np.array([np.cos(0.5 * slope), 0.0, np.sin(0.5 * slope), 0.0])
    place[:, [0, 2]] = place[:, [0, 2]] @ _turn(slope)
    turned = quat.multiply(np.tile(back, (len(place), 1)), found.root_rotation)
    return replace(found, root_position=place, root_rotation=turned)
