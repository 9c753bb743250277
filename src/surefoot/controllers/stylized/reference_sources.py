"""Where references come from: a walk that another skill does, a clip of motion capture, or several clips in one loop.

A skill's walk is recorded once it is on its cycle; a planar body's also on a slope, where feet are planted and weight
is balanced as seen from the slope. Of a clip, the cycle that closes best is looped, or all of it is followed once.

In a sequence of clips, cycles are aligned by their phase, which begins where the left foot comes to stand. Over one
cycle between two motions, angles, heights, speeds and periods blend from one to the other; feet stand as in the one
that weighs more, and are planted afterwards.
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
from scipy.ndimage import gaussian_filter1d
from scipy.signal import butter, sosfiltfilt

from surefoot.characters import load as load_character
from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import ControlledScene, RecordedWalk
from surefoot.controllers.stylized.reference import Reference, reference_from_poses
from surefoot.controllers.stylized.reference_balancing import LegExtension, LegKinematics, make_balanced
from surefoot.errors import SurefootError
from surefoot.motions import clips, retargeting
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.gait_search import PeriodicSpan, find_gait_cycle, find_periodic_span
from surefoot.motions.motion import Motion
from surefoot.motions.retargeting import RetargetedClip
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.skills import load as load_skill

REFERENCE_RATE = 200.0  # [1/s] frames of a reference
_PASSED = 10.0  # [Hz] what is faster in a clip is noise
_SETTLED, _PLANAR_SETTLED, _RECORDED = 8.0, 12.0, 8.0  # [s] until a walk is on its cycle, and that are recorded then
_BORE, _TOUCHED = 0.05, 0.025  # share of a body's weight that a touching foot carries at least, in sharp steps too
_IMPACT = 0.012  # [s] over which the accelerations of sharp steps are smoothed
_SLACK, _AHEAD = 0.06, 0.1  # of a period, and [s] over which rates count, in the search for a seam
_ACCURACY = np.radians(0.5)  # of the series that a simulated walk becomes


def retarget_file(clip: Path, table: CharacterTable) -> RetargetedClip:
    """Read, clean and retarget a clip.

    Args:
        clip: a file of motion capture.
        table: the character to retarget it to.
    """
    return retarget_clip(clips.read_clip(clip), table)


def retarget_clip(clip: clips.Clip, table: CharacterTable) -> RetargetedClip:
    """Clean a clip that has been read and retarget it to a character."""
    parts, _ = find_body_parts(clip.motion)
    return retargeting.retarget(clean(clip.motion, parts).motion, parts, table)


def motion_as_retargeted(motion: Motion, table: CharacterTable, bore: float = _BORE) -> RetargetedClip:
    """A simulated motion as if it had been retargeted; feet stand that bear more than a share `bore` of the weight."""
    hinges = retargeting.hinge_order(table)
    first = motion.qpos.shape[1] - len(hinges)
    weight = GRAVITY * sum(segment.mass for segment in table.segments)
    return RetargetedClip(
        motion.time - motion.time[0], {name: motion.qpos[:, first + i] for i, name in enumerate(hinges)},
        motion.root_position, quat.make_continuous(motion.rotations[:, 0]),
        motion.contact_force[:, :, 2] > bore * weight, 1.0, (),
    )  # fmt: skip


def reference_from_skill(scene: ControlledScene, skill: str, harmonics: int | None = None) -> Reference:
    """Record a walk of another skill of a scene's body on level ground, and loop it.

    Args:
        scene: where the reference will be followed.
        skill: name of the skill that walks.
        harmonics: of its averaged steps; by default few, at most 8. A footstrike takes about 30: with 8 the feet of a
            walk with a rolling foot slide by 2 cm while they stand.

    Raises:
        SurefootError: the skill falls.
    """
    if scene.table.root == "planar":
        return reference_on_slope(scene, skill, 0.0)
    walk = scene.record_walk(skill, "flat", _SETTLED, _RECORDED, REFERENCE_RATE)
    if walk.fallen:
        raise SurefootError(f"{skill} falls: its walk cannot be followed")
    return _average_cycle(walk) if harmonics is None else _sharp_cycle(walk, harmonics)


@functools.cache
def _average_cycle(walk: RecordedWalk) -> Reference:
    """The steps of a walk averaged and looped."""
    table = walk.scene.table
    return _looped_cycle(walk, find_gait_cycle(motion_as_retargeted(walk.motion, table), table, _ACCURACY))


@functools.cache
def _sharp_cycle(walk: RecordedWalk, harmonics: int) -> Reference:
    """The same with footstrikes and toe-offs as sharp as harmonics allow; accelerations are without their impacts."""
    table = walk.scene.table
    steps = motion_as_retargeted(walk.motion, table, _TOUCHED)
    found = _looped_cycle(walk, find_gait_cycle(steps, table, 0.0, harmonics))
    smooth = gaussian_filter1d(found.accelerations, _IMPACT / found.timestep, axis=0, mode="wrap")
    return replace(found, accelerations=smooth)


def _looped_cycle(walk: RecordedWalk, cycle: GaitCycle) -> Reference:
    """A cycle of a walk, looped."""
    model, table = walk.scene.model, walk.scene.table
    n = round(cycle.period * REFERENCE_RATE)
    played = cycle.sampled(3.0, n / cycle.period)
    poses = retargeting.qpos_of(table, played)
    poses = _moved(poses, -poses[n, :3] * [1.0, 1.0, 0.0], -cycle.turn)
    return reference_from_poses(model, table, poses, played.contacts, cycle.period / n, slice(n, 2 * n), cycle.turn)


class Cycle(NamedTuple):
    """One cycle of a motion, whose ends agree but for travel and turn."""

    poses: np.ndarray  # (n + 1, nq)
    stands: np.ndarray  # (n, 2) when feet stand
    turn: float  # [rad]
    clip: np.ndarray  # (n, nq) the retargeted clip there, neither smoothed nor closed


def best_cycle(table: CharacterTable, found: RetargetedClip) -> Cycle:
    """The cycle of a retargeted clip that closes best, at `REFERENCE_RATE`.

    Raises:
        SurefootError: nothing in the clip repeats, or it is shorter than its cycle.
    """
    steady = find_periodic_span(found, table)
    if steady is None:
        raise SurefootError("nothing in this clip repeats")
    even = _resampled(found)
    poses = retargeting.qpos_of(table, even)
    first, n = _best_seam(poses, steady, table)
    closed, turn = _close_cycle(table, poses[first : first + n + 1])
    clip = retargeting.qpos_of(table, _resampled(found, None))[first : first + n]
    return Cycle(closed, even.contacts[first : first + n], turn, clip)


def looping_reference(
    model: mujoco.MjModel, table: CharacterTable, found: RetargetedClip, extension: LegExtension | None = None
) -> Reference:
    """Loop the cycle of a retargeted clip that closes best.

    Args:
        model: of the character.
        table: of the character.
        found: the clip.
        extension: how straight legs may get.

    Raises:
        SurefootError: nothing in the clip repeats, or it is shorter than its cycle.
    """
    cycle = best_cycle(table, found)
    return replace(_looped(model, table, cycle, extension), clip=cycle.clip)


def one_shot_reference(
    model: mujoco.MjModel, table: CharacterTable, found: RetargetedClip, extension: LegExtension | None = None
) -> Reference:
    """Follow a retargeted clip once, from over the origin and facing ahead; arguments as of `looping_reference`."""
    whole = whole_motion(table, found)
    made = _balanced(model, table, whole.poses, whole.stands, extension=extension)
    return replace(made, clip=whole.clip)


def whole_motion(table: CharacterTable, found: RetargetedClip) -> Cycle:
    """All of a retargeted clip at `REFERENCE_RATE`, from over the origin and facing ahead; its ends need not agree."""
    even = _resampled(found)
    poses, clip = (retargeting.qpos_of(table, own) for own in (even, _resampled(found, None)))
    first = poses[0].copy()
    for own in (poses, clip):
        if table.root == "planar":
            own[:, 0] -= first[0]
        else:
            own[:] = _moved(own, -first[:3] * [1.0, 1.0, 0.0], -float(quat.yaw(first[None, 3:7])[0]))
    return Cycle(poses, even.contacts, 0.0, clip)


def _looped(
    model: mujoco.MjModel, table: CharacterTable, cycle: Cycle, extension: LegExtension | None, slope: float = 0.0
) -> Reference:
    n, poses, stands = len(cycle.stands), _three_cycles(table, cycle), np.tile(cycle.stands, (3, 1))
    return _balanced(model, table, poses, stands, slice(n, 2 * n), cycle.turn, extension, slope)


def _balanced(
    model: mujoco.MjModel, table: CharacterTable, poses: np.ndarray, stands: np.ndarray, cycle: slice | None = None,
    turn: float = 0.0, extension: LegExtension | None = None, slope: float = 0.0,
) -> Reference:  # fmt: skip
    """A reference of poses at `REFERENCE_RATE` with planted feet; those of a slope [rad] are given as seen from it."""
    legs = LegKinematics(model, table, extension)
    poses, bears = make_balanced(legs, poses, stands, 1.0 / REFERENCE_RATE, slope)
    if slope:
        poses[:, :2] = poses[:, :2] @ _rotation(slope).T
        poses[:, 2] += slope
    return reference_from_poses(model, table, poses, bears, 1.0 / REFERENCE_RATE, cycle, turn)


def _resampled(found: RetargetedClip, passed: float | None = _PASSED) -> RetargetedClip:
    """A clip at even times, without what is faster than a frequency [Hz], or with all of it."""
    time = np.arange(found.time[0], found.time[-1], 1.0 / REFERENCE_RATE)
    fps = 1.0 / float(np.median(np.diff(found.time)))

    def resampled(values: np.ndarray) -> np.ndarray:
        if passed is not None:
            values = sosfiltfilt(butter(2, passed, fs=fps, output="sos"), values, axis=0)
        return np.asarray(CubicSpline(found.time, values.reshape(len(values), -1))(time))

    turns = resampled(quat.make_continuous(found.root_rotation))
    return replace(
        found, time=time, angles={name: resampled(angle)[:, 0] for name, angle in found.angles.items()},
        root_position=resampled(found.root_position),
        root_rotation=turns / np.linalg.norm(turns, axis=1, keepdims=True),
        contacts=found.contacts[np.searchsorted(found.time, time).clip(0, len(found.time) - 1)],
    )  # fmt: skip


def _inner(poses: np.ndarray, table: CharacterTable) -> np.ndarray:
    """(n, m) what has to be the same after a cycle: height, tilt and joints."""
    if table.root == "planar":
        return poses[:, 1:]
    yaw = quat.yaw(poses[:, 3:7])
    level = quat.multiply(quat.about_vertical(-yaw), poses[:, 3:7])
    return np.column_stack([poses[:, 2], 2.0 * level[:, 1:3], poses[:, 7:]])


def _best_seam(poses: np.ndarray, steady: PeriodicSpan, table: CharacterTable) -> tuple[int, int]:
    """First frame and length of the cycle that closes best."""
    inner, guess = _inner(poses, table), steady.period * REFERENCE_RATE
    values = np.hstack([inner, _AHEAD * np.gradient(inner, 1.0 / REFERENCE_RATE, axis=0)])
    best, start = (np.inf, 0, 0), round(steady.start * REFERENCE_RATE)
    end = min(round(steady.end * REFERENCE_RATE), len(poses) - 1)
    for n in range(round((1.0 - _SLACK) * guess), round((1.0 + _SLACK) * guess) + 1):
        firsts = np.arange(start, end - n)
        if len(firsts):
            off = ((values[firsts + n] - values[firsts]) ** 2).sum(axis=1)
            best = min(best, (float(off.min()), int(firsts[off.argmin()]), n))
    if not best[2]:
        raise SurefootError("this clip is shorter than its cycle")
    return best[1], best[2]


def _close_cycle(table: CharacterTable, poses: np.ndarray) -> tuple[np.ndarray, float]:
    """The n + 1 poses of a cycle, changed evenly so that its ends agree but for travel and turn, and the turn [rad]."""
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


def _three_cycles(table: CharacterTable, one: Cycle) -> np.ndarray:
    """(3n, nq) a cycle three times in a row; the one in the middle begins over the origin and goes ahead."""
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
    """Poses moved by (3,) [m], then turned about the vertical through the origin [rad]."""
    found, about = poses.copy(), quat.about_vertical(np.array(turn))
    found[:, :3] = quat.rotate(np.tile(about, (len(poses), 1)), poses[:, :3] + by)
    found[:, 3:7] = quat.multiply(np.tile(about, (len(poses), 1)), poses[:, 3:7])
    return found


def reference_on_slope(scene: ControlledScene, skill: str, degrees: float) -> Reference:
    """Record the walk of a planar body's skill on an endless slope through the origin, and loop it.

    The reference rises as it goes; follow it on the same slope, `incline:DEGREES`, from its beginning.

    Args:
        scene: of the same body.
        skill: name of the skill that walks.
        degrees: of the slope.

    Raises:
        SurefootError: the skill falls there, or its body is not planar.
    """
    return _on_slope(_walk_on_slope(scene, skill, degrees), degrees)


@functools.cache
def _on_slope(walk: RecordedWalk, degrees: float) -> Reference:
    cycle = _cycle_seen_from_slope(walk, degrees)
    return _looped(walk.scene.model, walk.scene.table, cycle, None, float(np.radians(degrees)))


def cycle_on_slope(scene: ControlledScene, skill: str, degrees: float) -> Cycle:
    """The cycle of a planar body's skill as simulated on a slope, seen from the slope; arguments as above."""
    return _cycle_seen_from_slope(_walk_on_slope(scene, skill, degrees), degrees)


def _walk_on_slope(scene: ControlledScene, skill: str, degrees: float) -> RecordedWalk:
    if load_character(load_skill(skill).character).root != "planar":
        raise SurefootError(f"{skill} is not for a planar body; only those can be recorded on slopes")
    terrain = f"incline:{degrees:g}" if degrees else "flat"
    walk = scene.record_walk(skill, terrain, _PLANAR_SETTLED, _RECORDED, REFERENCE_RATE)
    if walk.fallen:
        raise SurefootError(f"{skill} falls at {degrees:g}°: its walk cannot be followed there")
    return walk


@functools.cache
def _cycle_seen_from_slope(walk: RecordedWalk, degrees: float) -> Cycle:
    found, slope = motion_as_retargeted(walk.motion, walk.scene.table), np.radians(degrees)
    place, back = found.root_position.copy(), np.array([np.cos(0.5 * slope), 0.0, np.sin(0.5 * slope), 0.0])
    place[:, [0, 2]] = place[:, [0, 2]] @ _rotation(slope)
    turned = quat.multiply(np.tile(back, (len(place), 1)), found.root_rotation)
    return best_cycle(walk.scene.table, replace(found, root_position=place, root_rotation=turned))


def _rotation(angle: float) -> np.ndarray:
    """(2, 2) turns x towards z."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


class _PhaseCycle(NamedTuple):
    """A planar cycle over n even phases, from where its left foot comes to stand."""

    inner: np.ndarray  # (n, nq − 1) height, pitch and joints
    speed: np.ndarray  # (n,) [m/s]
    stands: np.ndarray  # (n, 2)
    period: float  # [s]

    def at(self, phase: float) -> tuple[np.ndarray, float, np.ndarray]:
        """Coordinates but the first, speed [m/s] and which feet stand."""
        place, n = phase % 1.0 * len(self.inner), len(self.inner)
        i, share = int(place) % n, place % 1.0
        inner = (1.0 - share) * self.inner[i] + share * self.inner[(i + 1) % n]
        return inner, float((1.0 - share) * self.speed[i] + share * self.speed[(i + 1) % n]), self.stands[i]


def clip_sequence(
    model: mujoco.MjModel, table: CharacterTable, parts: Sequence[tuple[RetargetedClip, int]]
) -> Reference:
    """Play cycles of several clips one after the other, on a planar body, and loop all of it.

    Args:
        model: of the character.
        table: of the character.
        parts: clips, each with the number of its cycles.

    Raises:
        SurefootError: the body is not planar, or there are fewer than two clips.
    """
    if table.root != "planar":
        raise SurefootError(f"{table.name} turns in space; sequences of clips are for planar bodies only")
    if len(parts) < 2 or min(count for _, count in parts) < 1:
        raise SurefootError("a sequence takes two clips or more, each with at least one cycle")
    strides = [_phase_cycle(best_cycle(table, found)) for found, _ in parts]
    whole, stands = _blend_sequence(strides, [count for _, count in parts])
    n, pad = len(stands), round(REFERENCE_RATE * max(stride.period for stride in strides))
    long = np.arange(-pad, n + pad)
    poses = whole[long % n]
    poses[:, 0] += (long // n) * (whole[n, 0] - whole[0, 0])
    return _balanced(model, table, poses, stands[long % n], slice(pad, pad + n))


def _phase_cycle(cycle: Cycle) -> _PhaseCycle:
    n, left = len(cycle.stands), cycle.stands[:, 0]
    strikes = np.flatnonzero(left & ~np.roll(left, 1))
    first = int(strikes[0]) if len(strikes) else 0
    speed = np.diff(cycle.poses[:, 0]) * REFERENCE_RATE
    inner, speed, stands = (np.roll(part, -first, axis=0) for part in (cycle.poses[:n, 1:], speed, cycle.stands))
    return _PhaseCycle(inner, speed, stands, n / REFERENCE_RATE)


def _blend_sequence(strides: list[_PhaseCycle], counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """(n + 1, nq) poses of all once, the last as the first but for travel, and (n, 2) when feet stand."""
    ends = np.cumsum([count + 1 for count in counts])  # cycles, with one in which each blends into the next
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
