"""Where references come from: a walk that another skill does, or a clip of motion capture.

A reference of a planar body on a slope: a walk that another skill does there, recorded once it is on its cycle.

Several motions in one reference: cycles of one, cycles of the next, and after the last the first again.

Cycles are laid over each other by their phase, which begins where the left foot comes to stand. Over one cycle between
two motions their angles, heights, speeds and periods go over from one to the other; feet stand as in the one that is
more there, and are planted afterwards.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from surefoot.characters import load as load_character
from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import ControlledScene, RecordedWalk
from surefoot.controllers.stylized.foot_planting import LegExtension, LegKinematics, make_balanced
from surefoot.controllers.stylized.reference import Reference, reference_from_poses
from surefoot.errors import SurefootError
from surefoot.motions import clips, retargeting
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.gait_search import PeriodicSpan, find_gait_cycle, find_periodic_span
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills import load as load_skill

REFERENCE_RATE = 200.0  # [1/s] of references
_PASSED = 10.0  # [Hz] what is faster in a clip is noise
_SETTLED, _LONG = 8.0, 8.0  # [s] after which a walk is on its cycle, and of what is recorded of it
_BORE = 0.05  # of a body's weight: what a foot bears that touches
_SLACK, _AHEAD = 0.06, 0.1  # of a period, and [s] over which rates count, in the search for a seam
_ACCURACY = np.radians(0.5)  # of the series that a simulated walk becomes


def retarget_file(clip: Path, table: CharacterTable) -> RetargetedClip:
    """A clip, cleaned and on a character."""
    return retarget_clip(clips.read_clip(clip), table)


def retarget_clip(clip: clips.Clip, table: CharacterTable) -> RetargetedClip:
    """A clip that has been read, cleaned and on a character."""
    parts, _ = find_body_parts(clip.motion)
    return retargeting.retarget(clean(clip.motion, parts).motion, parts, table)


def motion_as_retargeted(motion: Motion, table: CharacterTable) -> RetargetedClip:
    """A simulated motion as if it had been retargeted."""
    hinges = retargeting.hinge_order(table)
    first = motion.qpos.shape[1] - len(hinges)
    weight = 9.81 * sum(segment.mass for segment in table.segments)
    return RetargetedClip(
        motion.time - motion.time[0], {name: motion.qpos[:, first + i] for i, name in enumerate(hinges)},
        motion.root_position, quat.make_continuous(motion.rotations[:, 0]),
        motion.contact_force[:, :, 2] > _BORE * weight, 1.0, (),
    )  # fmt: skip


def reference_from_cycle(model: mujoco.MjModel, table: CharacterTable, cycle: GaitCycle) -> Reference:
    """An averaged cycle, looped: its feet are where the average has them."""
    n = round(cycle.period * REFERENCE_RATE)
    played = cycle.sampled(3.0, n / cycle.period)
    poses = retargeting.qpos_of(table, _turned(played, -cycle.turn, n))
    return reference_from_poses(model, table, poses, played.contacts, cycle.period / n, slice(n, 2 * n), cycle.turn)


def reference_from_walk(model: mujoco.MjModel, table: CharacterTable, motion: Motion) -> Reference:
    """A simulated walk that is on its cycle, averaged over its steps and looped."""
    return reference_from_cycle(model, table, find_gait_cycle(motion_as_retargeted(motion, table), table, _ACCURACY))


def reference_from_skill(scene: ControlledScene, skill: str) -> Reference:
    """A walk that another skill of a scene's body does on level ground, once it is on its cycle.

    Args:
        scene: where it will be followed.
        skill: a skill's name.

    Raises:
        SurefootError: the skill falls.
    """
    if scene.table.root == "planar":
        return reference_on_slope(scene, skill, 0.0)
    walk = scene.record_walk(skill, "flat", _SETTLED, _LONG, REFERENCE_RATE)
    if walk.fallen:
        raise SurefootError(f"{skill} falls: it cannot be followed")
    return _averaged(walk)


@functools.cache
def _averaged(walk: RecordedWalk) -> Reference:
    return reference_from_walk(walk.scene.model, walk.scene.table, walk.motion)


class Cycle(NamedTuple):
    """Poses (n + 1, nq) whose ends fit but for travel and turn, when feet stand (n, 2), and the turn [rad].

    `clip` (n, nq) is what the retargeted clip has there, neither smoothed nor closed.
    """

    poses: np.ndarray
    stands: np.ndarray
    turn: float
    clip: np.ndarray


def best_cycle(model: mujoco.MjModel, table: CharacterTable, found: RetargetedClip) -> Cycle:
    """The cycle of a retargeted clip that fits itself best, `RATE` poses a second."""
    steady = find_periodic_span(found, table)
    if steady is None:
        raise SurefootError("nothing in this clip repeats itself")
    even = _smooth(found)
    poses = retargeting.qpos_of(table, even)
    first, n = _best_seam(poses, steady, table)
    closed, turn = _close_cycle(model, table, poses[first : first + n + 1])
    clip = retargeting.qpos_of(table, _smooth(found, None))[first : first + n]
    return Cycle(closed, even.contacts[first : first + n], turn, clip)


def looping_reference(
    model: mujoco.MjModel, table: CharacterTable, found: RetargetedClip, stretch: LegExtension | None = None
) -> Reference:
    """The cycle of a retargeted clip that fits itself best, looped."""
    cycle = best_cycle(model, table, found)
    three, n = three_cycles(table, cycle), len(cycle.stands)
    three, bears = make_balanced(
        LegKinematics(model, table, stretch), three, np.tile(cycle.stands, (3, 1)), 1.0 / REFERENCE_RATE
    )
    return replace(
        reference_from_poses(model, table, three, bears, 1.0 / REFERENCE_RATE, slice(n, 2 * n), cycle.turn),
        clip=cycle.clip,
    )


def one_shot_reference(
    model: mujoco.MjModel, table: CharacterTable, found: RetargetedClip, stretch: LegExtension | None = None
) -> Reference:
    """A retargeted clip from its beginning, over the origin and facing ahead, to its end."""
    even = _smooth(found)
    poses, bears = make_balanced(
        LegKinematics(model, table, stretch), _ahead(table, even), even.contacts, 1.0 / REFERENCE_RATE
    )
    clip = retargeting.qpos_of(table, _smooth(found, None))
    return replace(reference_from_poses(model, table, poses, bears, 1.0 / REFERENCE_RATE), clip=clip)


def _ahead(table: CharacterTable, found: RetargetedClip) -> np.ndarray:
    """(n, nq) poses whose first one is over the origin and faces ahead."""
    poses = retargeting.qpos_of(table, found)
    if table.root == "planar":
        poses[:, 0] -= poses[0, 0]
        return poses
    return _moved(poses, -poses[0, :3] * [1.0, 1.0, 0.0], -float(quat.yaw(poses[:1, 3:7])[0]))


def _smooth(found: RetargetedClip, passed: float | None = _PASSED) -> RetargetedClip:
    """At even times, without what is faster than a frequency [Hz], or with all of it."""
    time = np.arange(found.time[0], found.time[-1], 1.0 / REFERENCE_RATE)
    fps = 1.0 / float(np.median(np.diff(found.time)))

    def resampled(values: np.ndarray) -> np.ndarray:
        if passed is not None:
            values = sosfiltfilt(butter(2, passed, fs=fps, output="sos"), values, axis=0)
        return np.asarray(CubicSpline(found.time, values.reshape(len(values), -1))(time))

    turns = resampled(quat.make_continuous(found.root_rotation))
    return RetargetedClip(
        time, {name: resampled(angle)[:, 0] for name, angle in found.angles.items()}, resampled(found.root_position),
        turns / np.linalg.norm(turns, axis=1, keepdims=True),
        found.contacts[np.searchsorted(found.time, time).clip(0, len(found.time) - 1)], found.scale, found.notes,
    )  # fmt: skip


def _inner(poses: np.ndarray, table: CharacterTable) -> np.ndarray:
    """(n, m) what has to be the same after a cycle: height, tilt and joints."""
    if table.root == "planar":
        return poses[:, 1:]
    yaw = quat.yaw(poses[:, 3:7])
    level = quat.multiply(quat.about_vertical(-yaw), poses[:, 3:7])
    return np.column_stack([poses[:, 2], 2.0 * level[:, 1:3], poses[:, 7:]])


def _best_seam(poses: np.ndarray, steady: PeriodicSpan, table: CharacterTable) -> tuple[int, int]:
    """First frame and length of the cycle that fits itself best."""
    inner, guess = _inner(poses, table), steady.period * REFERENCE_RATE
    values = np.hstack([inner, _AHEAD * np.gradient(inner, 1.0 / REFERENCE_RATE, axis=0)])
    best = (np.inf, 0, 0)
    for n in range(round((1.0 - _SLACK) * guess), round((1.0 + _SLACK) * guess) + 1):
        firsts = np.arange(
            round(steady.start * REFERENCE_RATE), min(round(steady.end * REFERENCE_RATE), len(poses) - 1) - n
        )
        if len(firsts):
            off = ((values[firsts + n] - values[firsts]) ** 2).sum(axis=1)
            best = min(best, (float(off.min()), int(firsts[off.argmin()]), n))
    if not best[2]:
        raise SurefootError("this clip is shorter than its cycle")
    return best[1], best[2]


def _close_cycle(model: mujoco.MjModel, table: CharacterTable, poses: np.ndarray) -> tuple[np.ndarray, float]:
    """(n, nq) a cycle of n + 1 poses whose ends fit but for travel and turn, and the turn [rad]."""
    poses, n = poses.copy(), len(poses) - 1
    share = (np.arange(n + 1) / n - 0.5)[:, None]
    if table.root == "planar":
        poses[:, 1:] += share * (poses[0, 1:] - poses[-1, 1:])
        return poses, 0.0
    yaw = quat.yaw(quat.make_continuous(poses[:, 3:7]))
    turn = float((yaw[-1] - yaw[0] + np.pi) % (2.0 * np.pi) - np.pi)
    level = quat.multiply(quat.about_vertical(-yaw), poses[:, 3:7])
    off = quat.log(quat.multiply(quat.inverse(level[-1]), level[0]))
    poses[:, 3:7] = quat.multiply(poses[:, 3:7], quat.exp(share * off[None]))
    poses[:, 2:3] += share * (poses[0, 2] - poses[-1, 2])
    poses[:, 7:] += share * (poses[0, 7:] - poses[-1, 7:])
    return poses, turn


def three_cycles(table: CharacterTable, one: Cycle) -> np.ndarray:
    """(3n, nq) a cycle before itself, there and after itself, from over the origin ahead."""
    cycle, turn, n = one.poses, one.turn, len(one.stands)
    if table.root == "planar":
        far = cycle[-1, 0] - cycle[0, 0]
        return np.concatenate([cycle[:n] - [cycle[0, 0] - k * far, *np.zeros(cycle.shape[1] - 1)] for k in (-1, 0, 1)])
    ahead = -float(quat.yaw(cycle[: n + 1, 3:7]).mean()) + 0.5 * turn if abs(turn) < 1.0 else 0.0
    first = _moved(cycle, -cycle[0, :3] * [1.0, 1.0, 0.0], ahead)
    far = first[-1, :3] * [1.0, 1.0, 0.0]
    back = quat.rotate(quat.about_vertical(np.array(-turn)), -far)
    before, after = _moved(first, np.zeros(3), -turn), _moved(first, np.zeros(3), turn)
    before[:, :3] += back
    after[:, :3] += far
    return np.concatenate([before[:n], first[:n], after[:n]])


def _moved(poses: np.ndarray, by: np.ndarray, turn: float) -> np.ndarray:
    """Moved, then turned about the vertical through the origin."""
    found, about = poses.copy(), quat.about_vertical(np.array(turn))
    found[:, :3] = quat.rotate(np.tile(about, (len(poses), 1)), poses[:, :3] + by)
    found[:, 3:7] = quat.multiply(np.tile(about, (len(poses), 1)), poses[:, 3:7])
    return found


def _turned(found: RetargetedClip, by: float, origin: int) -> RetargetedClip:
    """Turned about the vertical, with the root of one frame over the origin."""
    place = found.root_position * [1.0, 1.0, 1.0]
    place[:, :2] -= place[origin, :2]
    turn = quat.about_vertical(np.full(len(place), by))
    return RetargetedClip(
        found.time, found.angles, quat.rotate(turn, place), quat.multiply(turn, found.root_rotation), found.contacts,
        found.scale, found.notes,
    )  # fmt: skip


_SLOPE_SETTLED, _SLOPE_LONG = 12.0, 8.0  # [s] after which a walk is on its cycle, and of what is recorded of it


def reference_on_slope(scene: ControlledScene, skill: str, degrees: float) -> Reference:
    """The walk of a planar body's skill on an endless slope through the origin, looped; it rises as it goes.

    It can be followed on the same slope, `incline:DEGREES`, from its beginning. Feet are planted and weight is
    carried as for clips, all seen from the slope.
    """
    return _on_slope(_walk_on(scene, skill, degrees), degrees)


@functools.cache
def _on_slope(walk: RecordedWalk, degrees: float) -> Reference:
    slope, cycle, model, table = np.radians(degrees), _cycle_seen(walk, degrees), walk.scene.model, walk.scene.table
    three, n = three_cycles(table, cycle), len(cycle.stands)
    three, bears = make_balanced(
        LegKinematics(model, table), three, np.tile(cycle.stands, (3, 1)), 1.0 / REFERENCE_RATE, slope=slope
    )
    three[:, :2] = three[:, :2] @ _turn(slope).T
    three[:, 2] += slope
    return reference_from_poses(model, table, three, bears, 1.0 / REFERENCE_RATE, slice(n, 2 * n))


def cycle_on_slope(scene: ControlledScene, skill: str, degrees: float) -> Cycle:
    """What a planar body's skill does on a slope, as simulated there, seen by one for whom the slope is level."""
    return _cycle_seen(_walk_on(scene, skill, degrees), degrees)


def _walk_on(scene: ControlledScene, skill: str, degrees: float) -> RecordedWalk:
    if load_character(load_skill(skill).character).root != "planar":
        raise SurefootError(f"{skill} is not of a planar body; only those are recorded on slopes")
    terrain = f"incline:{degrees:g}" if degrees else "flat"
    walk = scene.record_walk(skill, terrain, _SLOPE_SETTLED, _SLOPE_LONG, REFERENCE_RATE)
    if walk.fallen:
        raise SurefootError(f"{skill} falls at {degrees:g}°: it cannot be followed there")
    return walk


@functools.cache
def _cycle_seen(walk: RecordedWalk, degrees: float) -> Cycle:
    told = _seen_from(motion_as_retargeted(walk.motion, walk.scene.table), np.radians(degrees))
    return best_cycle(walk.scene.model, walk.scene.table, told)


def _turn(angle: float) -> np.ndarray:
    """(2, 2) turns x towards z."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _seen_from(found: RetargetedClip, slope: float) -> RetargetedClip:
    """A motion as it is seen by one for whom the slope [rad] is level."""
    place, back = found.root_position.copy(), np.array([np.cos(0.5 * slope), 0.0, np.sin(0.5 * slope), 0.0])
    place[:, [0, 2]] = place[:, [0, 2]] @ _turn(slope)
    turned = quat.multiply(np.tile(back, (len(place), 1)), found.root_rotation)
    return replace(found, root_position=place, root_rotation=turned)


class _PhaseCycle(NamedTuple):
    """A planar cycle over n even phases: height, pitch and joints (n, nq − 1), speeds (n,), stands (n, 2), period."""

    inner: np.ndarray
    speed: np.ndarray
    stands: np.ndarray
    period: float

    def at(self, phase: float) -> tuple[np.ndarray, float, np.ndarray]:
        """Coordinates but the first, speed [m/s] and which feet stand."""
        place, n = phase % 1.0 * len(self.inner), len(self.inner)
        i, share = int(place) % n, place % 1.0
        inner = (1.0 - share) * self.inner[i] + share * self.inner[(i + 1) % n]
        return inner, float((1.0 - share) * self.speed[i] + share * self.speed[(i + 1) % n]), self.stands[i]


def clip_sequence(
    model: mujoco.MjModel, table: CharacterTable, parts: Sequence[tuple[RetargetedClip, int]]
) -> Reference:
    """A planar body's motions, each with how many of its cycles, one after the other, looped."""
    if table.root != "planar":
        raise SurefootError(f"{table.name} turns in space; motions are put together for planar bodies only")
    if len(parts) < 2 or min(count for _, count in parts) < 1:
        raise SurefootError("a medley takes two motions or more, each with at least one cycle")
    strides = [_stride(best_cycle(model, table, found)) for found, _ in parts]
    whole, stands = _blend_sequence(strides, [count for _, count in parts])
    n, pad = len(stands), round(REFERENCE_RATE * max(stride.period for stride in strides))
    long = np.arange(-pad, n + pad)
    poses = whole[long % n]
    poses[:, 0] += (long // n) * (whole[n, 0] - whole[0, 0])
    poses, bears = make_balanced(LegKinematics(model, table), poses, stands[long % n], 1.0 / REFERENCE_RATE)
    return reference_from_poses(model, table, poses, bears, 1.0 / REFERENCE_RATE, slice(pad, pad + n))


def _stride(cycle: Cycle) -> _PhaseCycle:
    """A cycle from where its left foot comes to stand."""
    n, left = len(cycle.stands), cycle.stands[:, 0]
    strikes = np.flatnonzero(left & ~np.roll(left, 1))
    first = int(strikes[0]) if len(strikes) else 0
    speed = np.diff(cycle.poses[:, 0]) * REFERENCE_RATE
    moved = [np.roll(values, -first, axis=0) for values in (cycle.poses[:n, 1:], speed, cycle.stands)]
    return _PhaseCycle(moved[0], moved[1], moved[2], n / REFERENCE_RATE)


def _blend_sequence(strides: list[_PhaseCycle], counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """(n + 1, nq) poses of all once, the last as the first but for the way, and (n, 2) when feet stand."""
    ends = np.cumsum([count + 1 for count in counts])  # cycles, the one of going over included
    rows, stands, cycles, way = [], [], 0.0, 0.0
    while cycles < ends[-1]:
        k = int(np.searchsorted(ends, cycles, side="right"))
        over = min(max(cycles - (ends[k] - 1.0), 0.0), 1.0)
        share = over * over * (3.0 - 2.0 * over)
        here, there = strides[k], strides[(k + 1) % len(strides)]
        one, other = here.at(cycles), there.at(cycles)
        rows.append(np.concatenate([[way], (1.0 - share) * one[0] + share * other[0]]))
        stands.append((one if share < 0.5 else other)[2])
        way += ((1.0 - share) * one[1] + share * other[1]) / REFERENCE_RATE
        cycles += 1.0 / (REFERENCE_RATE * ((1.0 - share) * here.period + share * there.period))
    rows.append(np.concatenate([[way], rows[0][1:]]))
    return np.array(rows), np.array(stands)
