"""A gait made to step on the spot: the feet lose the travel that they had under the body, the legs follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.motions import fourier
from surefoot.motions.gait_cycle import GaitCycle, Span
from surefoot.motions.retarget_angles import angles_of
from surefoot.motions.retarget_legs import above_ground, bones_of, solved
from surefoot.motions.retarget_pose import places

_FRAMES, _HARMONICS = 120, 8


def treading(cycle: GaitCycle, table: CharacterTable) -> GaitCycle:
    """The cycle without travel and turn, with feet that stand still while they stand.

    `GaitCycle.in_place` only takes the travel out of the root, so that the feet slide as on a treadmill. Here each
    foot is brought back under the body by as much as it would slide, and comes down where it was lifted.

    Args:
        cycle: of a character.
        table: the character.
    """
    still = cycle.in_place()
    played = still.played(cycles=1.0, fps=_FRAMES / cycle.period)
    frames = slice(0, _FRAMES)
    angles = {name: values[frames] for name, values in played.angles.items()}
    phase, place, turn = np.arange(_FRAMES) / _FRAMES, played.root_position[frames], played.root_rotation[frames]
    at = places(table, angles, place, turn)
    wanted = {name: frame for name, (_, frame) in at.items()}
    for side, (spans, leg) in enumerate(zip(cycle.contacts, (table.anatomy.left, table.anatomy.right), strict=True)):
        bones = bones_of(table, side)
        goal = at[leg.foot][0] - slid(phase, spans)[:, None] * cycle.travel
        hip = at[leg.thigh][0]
        thigh, shank = solved(bones, at[leg.thigh][1], goal - hip)
        ankle = hip + thigh @ bones.knee + shank @ bones.ankle
        foot = above_ground(table, side, at[leg.foot][1], ankle[:, 2])
        wanted |= {leg.thigh: thigh, leg.shin: shank, leg.foot: foot}
    root = at[table.anatomy.pelvis][1]
    found, said = angles_of(table, root, wanted)
    legs = {h.name for part in table.segments for h in part.hinges if part.name in _legs(table)}
    joints = {
        name: fourier.fit(phase, found[name], _HARMONICS) if name in legs else c for name, c in cycle.joints.items()
    }
    return replace(still, joints=joints, notes=(*still.notes, "its feet step where they stand", *said))


def slid(phase: np.ndarray, spans: tuple[Span, ...]) -> np.ndarray:
    """(n,) how far a foot is ahead of the middle of its stance [cycles of travel], as the body goes on evenly.

    It falls evenly while the foot stands, and smoothly comes back while it does not; 0 throughout for a foot that
    never stands or always does.
    """
    if len(spans) != 1 or not 0.0 < spans[0][1] - spans[0][0] < 1.0:
        return np.zeros(len(phase))
    start, length = spans[0][0], spans[0][1] - spans[0][0]
    since = (phase - start) % 1.0
    back = np.clip((since - length) / (1.0 - length), 0.0, 1.0)
    return np.where(since < length, 0.5 * length - since, length * (back * back * (3.0 - 2.0 * back) - 0.5))


def _legs(table: CharacterTable) -> set[str]:
    return {name for leg in (table.anatomy.left, table.anatomy.right) for name in (leg.thigh, leg.shin, leg.foot)}
