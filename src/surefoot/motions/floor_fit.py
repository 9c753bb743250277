"""The floor of a captured clip: its slope, and how high the joints of each planted foot are above it.

Two fits serve two steps. Cleaning has `floor_slope` and `stance_heights`, which tolerate feet that slide and glitches.
Retargeting fits the cleaned clip anew with `fit_floor`, a plane and one ankle height per foot by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts, LegJoints
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.signals import frame_time

GRAVITY = 9.81  # [m/s²]
BALL = 0.03  # [leg lengths] of the toe joint above the ground: the flesh under the ball of a foot
ANKLE = 0.1  # [leg lengths] of an ankle above the ground in a foot without toe joint

_LOW = 0.15, 0.05, 0.03, 0.03  # [leg lengths] above the floor of the previous pass: where a foot may stand
_SLOW = 0.25  # [leg lengths/s] of an ankle that stands
_FEWEST = 0.1  # of the low frames: this share is taken to stand, however fast it is
_STIFF = 0.3  # [m] over which stances must be spread for their slope to be believed

_STILL = 0.1  # [√(g · leg)] speed below which a joint may be on the ground
_ABOVE = 0.06  # [leg lengths] above the lowest still places: farther up a foot is held still in the air
_DENSE = 0.02  # [m] width of the layer in which a planted joint mostly is
_OVER = 0.025  # [s] to each side over which a speed is measured, so that noise of single frames does not count
_FEW = 0.05  # of all frames: fewer still ones are not enough
_AROUND = 0.75  # [s] to each side: a joint on the ground is nowhere lower within
_ROOM = 0.8  # [m] over which planted feet must be spread in a direction to measure a tilt along it
_TILTS = (np.radians(0.15), np.radians(6.0))  # a floor tilted by less counts as level, one by more is misjudged


@dataclass(frozen=True)
class FloorPlane:
    """A plane, how high each foot's ankle is above it while it stands [m], and in which frames it stands still."""

    slope: np.ndarray  # (2,) rise along x and y
    ankle_heights: tuple[float, float]
    still: tuple[np.ndarray, np.ndarray]

    def height_at(self, places: np.ndarray) -> np.ndarray:
        """(n,) height of the plane below world positions (n, 3) [m]."""
        return np.asarray(places[:, :2] @ self.slope)


def fit_floor(time: np.ndarray, ankles: Sequence[np.ndarray], balls: Sequence[np.ndarray], leg: float) -> FloorPlane:
    """Fit a floor to the paths of both feet.

    Each foot has its own height, as the feet of captured skeletons do. Both share the slope, which comes from a
    tilted camera frame.

    Args:
        time: (n,) [s].
        ankles: (n, 3) of the left and of the right foot [m].
        balls: (n, 3) the same for the balls of the feet [m].
        leg: length of a leg [m].
    """
    slope, heights = np.zeros(2), [float(np.quantile(ankle[:, 2], 0.03)) for ankle in ankles]
    speeds = [np.linalg.norm(np.gradient(ankle, time, axis=0), axis=1) for ankle in ankles]
    centre = np.mean([ankle[:, :2].mean(axis=0) for ankle in ankles], axis=0)
    still = [np.arange(len(time))] * 2
    for low in _LOW:
        rows, values = [], []
        for foot, (ankle, ball, speed) in enumerate(zip(ankles, balls, speeds, strict=True)):
            height = ankle[:, 2] - ankle[:, :2] @ slope - heights[foot]
            near = np.flatnonzero(height < low * leg)
            near = near if len(near) >= 3 else np.argsort(height)[:3]
            flat = ankle[near, 2] - ball[near, 2]  # least while the heel is down
            order = np.argsort(speed[near] + 2.0 / leg * np.maximum(flat - np.median(flat), 0.0))
            fewest = max(int(_FEWEST * len(near)), 3)
            still[foot] = near[order[: max(fewest, int((speed[near] < _SLOW * leg).sum()))]]
            here = ankle[still[foot]]
            rows.append(np.column_stack([here[:, :2] - centre, np.eye(2)[np.full(len(here), foot)]]) / len(here) ** 0.5)
            values.append(here[:, 2] / len(here) ** 0.5)
        table, wanted = np.vstack(rows), np.concatenate(values)
        ridge = np.diag([_STIFF, _STIFF, 0.0, 0.0])
        found = np.linalg.lstsq(np.vstack([table, ridge]), np.concatenate([wanted, np.zeros(4)]))[0]
        slope, heights = found[:2], [float(h - centre @ found[:2]) for h in found[2:]]
    return FloorPlane(slope, (heights[0], heights[1]), (still[0], still[1]))


@dataclass(frozen=True)
class StanceHeights:
    """World heights of a planted foot's joints [m]."""

    toe: float
    ankle: float


def horizontal_speeds(places: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n,) horizontal speed [m/s] of a joint at positions (n, 3), measured over 50 ms."""
    count = len(time)
    near = max(round(_OVER / frame_time(time)), 1)
    before, after = np.maximum(np.arange(count) - near, 0), np.minimum(np.arange(count) + near, count - 1)
    gone = np.linalg.norm(places[after, :2] - places[before, :2], axis=1)
    return np.asarray(gone / (time[after] - time[before]))


def leg_length(places: np.ndarray, limb: LegJoints) -> float:
    """Length of thigh and shank together [m]."""
    thigh = np.linalg.norm(places[:, limb.knee] - places[:, limb.hip], axis=1)
    shank = np.linalg.norm(places[:, limb.ankle] - places[:, limb.knee], axis=1)
    return float(np.median(thigh + shank))


def stance_heights(places: np.ndarray, time: np.ndarray, limb: LegJoints) -> StanceHeights:
    """The heights of a planted foot; without a toe joint both are the ankle's."""
    leg = leg_length(places, limb)
    ankle = _height(places[:, limb.ankle], time, leg)
    return StanceHeights(ankle if limb.toe is None else _height(places[:, limb.toe], time, leg), ankle)


def floor_slope(places: np.ndarray, time: np.ndarray, parts: BodyParts) -> np.ndarray:
    """(2,) rise of the floor per metre along x and y, measured on planted feet; zero where they cannot tell.

    Each foot may have its own height above the plane.
    """
    rows, limbs = [], (parts.left, parts.right)
    for foot, limb in enumerate(limbs):
        leg, there = leg_length(places, limb), places[:, limb.tip]
        window = 2 * round(_AROUND / frame_time(time)) + 1
        low = there[:, 2] < ndimage.minimum_filter1d(there[:, 2], window, mode="nearest") + _DENSE
        low &= there[:, 2] < places[:, limbs[1 - foot].tip, 2] + _ABOVE * leg
        low &= horizontal_speeds(there, time) < _STILL * np.sqrt(GRAVITY * leg)
        own = np.zeros((int(low.sum()), 2))
        own[:, foot] = 1.0
        rows.append(np.column_stack([there[low, :2], own, there[low, 2]]))
    table = np.concatenate(rows)
    if min(len(own) for own in rows) < 5:
        return np.zeros(2)
    middle = table[:, :2].mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov((table[:, :2] - middle).T))
    axes = axes[:, 2.0 * np.sqrt(np.maximum(spread, 0.0)) > 0.5 * _ROOM]
    design = np.column_stack([(table[:, :2] - middle) @ axes, table[:, 2:4]])
    weights = np.ones(len(table))
    for _ in range(20):  # reweighted so that frames in the air hardly count
        found = np.linalg.lstsq(weights[:, None] * design, weights * table[:, 4])[0]
        weights = 1.0 / (1.0 + ((table[:, 4] - design @ found) / (0.5 * _DENSE)) ** 2)
    rise = axes @ found[:-2]
    return np.asarray(rise if _TILTS[0] < np.linalg.norm(rise) < np.tan(_TILTS[1]) else np.zeros(2))


def level_floor(motion: Motion, rise: np.ndarray) -> Motion:
    """Rotate a motion so that a floor that rises by (2,) per metre along x and y becomes level."""
    normal = np.array([-rise[0], -rise[1], 1.0]) / np.sqrt(1.0 + rise @ rise)
    axis = np.cross(normal, [0.0, 0.0, 1.0])
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        return motion
    turn = quat.exp(np.arcsin(sine) / sine * axis)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn[None], rotations[:, 0])
    return replace(motion, root_position=quat.rotate(turn[None], motion.root_position), rotations=rotations)


def put_on_ground(motion: Motion, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights]) -> Motion:
    """Shift a motion vertically so that the ground is at height 0."""
    height, usual = wanted_and_actual_height(motion, parts, stances)
    return replace(motion, root_position=motion.root_position - [0.0, 0.0, usual - height])


def wanted_and_actual_height(
    motion: Motion, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights]
) -> tuple[float, float]:
    """Wanted and actual mean height of the toes of planted feet, or of the ankles if a foot has no toe joint [m]."""
    limbs = (parts.left, parts.right)
    places, _ = world_poses(motion)
    leg = float(np.mean([leg_length(places, limb) for limb in limbs]))
    toes = all(limb.toe is not None for limb in limbs)
    usual = float(np.mean([own.toe if toes else own.ankle for own in stances]))
    return (BALL if toes else ANKLE) * leg, usual


def _height(places: np.ndarray, time: np.ndarray, leg: float) -> float:
    """Height of the densest layer among the lowest places where a joint is nearly still."""
    speed, limit = horizontal_speeds(places, time), _STILL * np.sqrt(GRAVITY * leg)
    still = speed < limit
    while still.sum() < max(_FEW * len(time), 5) and not still.all():
        limit *= 1.5
        still = speed < limit
    heights = np.sort(places[still, 2])
    heights = heights[heights < np.quantile(heights, 0.05) + _ABOVE * leg]
    ends = np.searchsorted(heights, heights + _DENSE, side="right")
    first = int(np.argmax(ends - np.arange(len(heights))))
    return float(np.median(heights[first : ends[first]]))
