"""Whether a clip runs at its true pace: whoever is in the air falls at 9.81 m/s²."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.motions.body_parts import BodyParts
from surefoot.motions.floor_fit import GRAVITY, StanceHeights, leg_length
from surefoot.motions.foot_contacts import Contacts, runs
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion

_OFF = 0.02  # [leg lengths] above their stance that all joints of both feet are in flight
_FRAMES, _TRIM = 7, 1  # frames of a flight at least; at both ends, frames left out in which the feet may still push
_SLOWEST = 0.15  # [g] of what may be a fall at all
_SEVERAL = 3  # flights at least that fall too slowly: nobody falls faster than freely, but feet are often misjudged
_SURE = 0.15  # of the acceleration: its largest standard error in a flight that is used
_FACTORS = (2.0, 0.5, 4.0, 0.25, 3.0)  # by which stamped frame rates are wrong
_NEAR = 0.15  # of such a factor: how near what was found must be
_RIGHT = (0.8, 1.25)  # a factor between these says that the pace is right
_SHARES = {"head": 0.07, "trunk": 0.435, "thigh": 0.142, "shank": 0.043, "foot": 0.014, "upper": 0.027, "fore": 0.022}


@dataclass(frozen=True)
class FallRate:
    """How fast it falls: the vertical acceleration in each flight [m/s²] and what its clock runs too fast by."""

    accelerations: tuple[float, ...]
    factor: float | None  # √(mean acceleration / g)
    clear: float | None  # the usual factor it clearly is

    def words(self) -> tuple[list[str], list[str]]:
        """What was understood, and what is unsure."""
        if self.factor is None:
            return ["no clear flight: the frame rate cannot be checked by free fall"], []
        count = len(self.accelerations)
        found = (
            f"in {count} flight{'' if count == 1 else 's'} it falls at {GRAVITY * self.factor**2:.1f} m/s² on average"
        )
        if _RIGHT[0] <= self.factor <= _RIGHT[1]:
            return [f"{found}; free fall is 9.8: the frame rate fits"], []
        if self.clear is not None:
            return [f"{found}: its frame rate is stamped {self.clear:g} times what it was, and was corrected"], []
        return [], [f"{found} instead of {GRAVITY}: the frame rate or the scale may be wrong"]


def measure_fall_rate(
    motion: Motion, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights], contacts: Contacts
) -> FallRate:
    """The pace of a motion whose feet are at these heights while planted.

    A flight has both feet above these and no contact: heights alone take a limp for a flight, and contacts alone
    are missed where the clock runs too fast.
    """
    places, _ = world_poses(motion)
    high = np.full(len(motion), np.inf)
    for limb, own in zip((parts.left, parts.right), stances, strict=True):
        leg = leg_length(places, limb)
        heights = [places[:, limb.ankle, 2] - own.ankle]
        if limb.toe is not None:
            heights.append(places[:, limb.toe, 2] - own.toe)
        high = np.minimum(high, np.minimum.reduce(heights) / leg)
    center = center_of_mass(places, parts)[:, 2]
    air_borne = (high > _OFF) & ~contacts.left.mask(len(motion)) & ~contacts.right.mask(len(motion))
    found, weights = [], []
    for first, stop in runs(air_borne):
        air = slice(first + _TRIM, stop - _TRIM)
        if stop - first - 2 * _TRIM < _FRAMES:
            continue
        fall, error = _fall(motion.time[air], center[air])
        if fall < -_SLOWEST * GRAVITY and error < _SURE * -fall:
            found.append(fall)
            weights.append(float(np.ptp(motion.time[air])) ** 2)
    if not found:
        return FallRate((), None, None)
    mean = float(np.average(found, weights=weights))
    factor = float(np.sqrt(-mean / GRAVITY))
    if factor < _RIGHT[0] and len(found) < _SEVERAL:
        return FallRate((), None, None)
    alike = all(abs(a / mean - 1.0) < 0.5 for a in found)
    clear = [f for f in _FACTORS if alike and abs(factor / f - 1.0) < _NEAR]
    return FallRate(tuple(found), factor, clear[0] if clear else None)


def slow_down(motion: Motion, factor: float) -> Motion:
    """The same frames, so many times slower."""
    return replace(motion, time=motion.time[0] + factor * (motion.time - motion.time[0]))


def center_of_mass(places: np.ndarray, parts: BodyParts) -> np.ndarray:
    """(n, 3) a crude one [m]: the middles of the bones, weighted as in an average adult."""
    chest = parts.trunk[-1] if parts.trunk else parts.pelvis
    head = parts.head if parts.head is not None else chest
    rows = [(_SHARES["head"], head, head), (_SHARES["trunk"], parts.pelvis, chest)]
    for limb in (parts.left, parts.right):
        toe = limb.ankle if limb.toe is None else limb.toe
        rows += [(_SHARES["thigh"], limb.hip, limb.knee), (_SHARES["shank"], limb.knee, limb.ankle)]
        rows += [(_SHARES["foot"], limb.ankle, toe)]
    for arm in (parts.left_arm, parts.right_arm):
        if arm is not None:
            rows += [(_SHARES["upper"], arm.shoulder, arm.elbow), (_SHARES["fore"], arm.elbow, arm.wrist)]
    total = sum(share for share, _, _ in rows)
    return np.asarray(sum(share / total * 0.5 * (places[:, a] + places[:, b]) for share, a, b in rows))


def _fall(time: np.ndarray, height: np.ndarray) -> tuple[float, float]:
    """Acceleration of the parabola through the heights, and its standard error [m/s²]."""
    since = time - time.mean()
    design = np.column_stack([np.ones_like(since), since, 0.5 * since**2])
    found = np.linalg.lstsq(design, height)[0]
    spread = float(((height - design @ found) ** 2).sum()) / max(len(time) - 3, 1)
    return float(found[2]), float(np.sqrt(spread * np.linalg.inv(design.T @ design)[2, 2]))
