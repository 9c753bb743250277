"""Checks a clip's frame rate by free fall: in flight, the centre of mass accelerates at 9.81 m/s²."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.motions.body_parts import BodyParts
from surefoot.motions.findings import Findings
from surefoot.motions.floor_fit import GRAVITY, StanceHeights, leg_length
from surefoot.motions.foot_contacts import Contacts
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span, true_spans

_OFF = 0.02  # [leg lengths] above their stance: in flight all joints of both feet are higher
_FRAMES, _TRIM = 7, 1  # fewest frames of a flight; frames cut at both ends, in which the feet may still push
_FEWEST, _BODY_FALLS = 4, (0.4, 1.7)  # frames and acceleration [g] of a flight at the true frame rate
_SLOWEST = 0.15  # [g] least acceleration that may be a fall
_SEVERAL = 3  # flights needed to believe a slow fall: nobody falls faster than freely, but contacts are often misjudged
_SURE = 0.15  # of the acceleration: largest standard error of a flight that counts
_FACTORS = (2.0, 0.5, 4.0, 0.25, 3.0)  # by which recorded frame rates usually are wrong
_NEAR = 0.15  # of such a factor: how near the measured one must be
_RIGHT = (0.8, 1.25)  # a factor between these means that the frame rate is right
_SHARES = {"head": 0.07, "trunk": 0.435, "thigh": 0.142, "shank": 0.043, "foot": 0.014, "upper": 0.027, "fore": 0.022}


@dataclass(frozen=True)
class FallRate:
    """The vertical acceleration in each flight [m/s²], and by which factor the clip's clock is too fast."""

    accelerations: tuple[float, ...]
    factor: float | None  # √(mean acceleration / g)
    clear: float | None  # the usual factor that it clearly is

    @property
    def measured(self) -> str:
        """The measurement as a sentence."""
        if self.factor is None:
            return "no clear flight: the frame rate cannot be checked by free fall"
        count = len(self.accelerations)
        return (
            f"in {count} flight{'' if count == 1 else 's'} it falls at {GRAVITY * self.factor**2:.1f} m/s² on average"
        )

    @property
    def fits(self) -> bool:
        """Whether the body falls about freely."""
        return self.factor is not None and _RIGHT[0] <= self.factor <= _RIGHT[1]

    def describe(self, findings: Findings) -> None:
        """Say what the measurement means, supposing that a clear factor is corrected."""
        if self.factor is None:
            findings.add(self.measured)
        elif self.fits:
            findings.add(f"{self.measured}; free fall is 9.8: the frame rate fits")
        elif self.clear is not None:
            findings.add(
                f"{self.measured}: it is stamped {self.clear:g} times its true frame rate, which was corrected"
            )
        else:
            findings.add(f"{self.measured} instead of {GRAVITY}: the frame rate or the scale may be wrong", False)


def measure_fall_rate(
    motion: Motion, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights], contacts: Contacts
) -> FallRate:
    """Measure how fast a motion falls in its flights.

    In a flight both feet are above their stance heights and without contact. Heights alone would take a limp for a
    flight, and contacts alone are missed where the clock is too fast.
    """
    found, weights = [], []
    for fall in _falls(motion, parts, stances, contacts, _FRAMES + 2 * _TRIM):
        if fall.acceleration < -_SLOWEST * GRAVITY and fall.error < _SURE * -fall.acceleration:
            found.append(fall.acceleration)
            weights.append(fall.lasts**2)
    if not found:
        return FallRate((), None, None)
    mean = float(np.average(found, weights=weights))
    factor = float(np.sqrt(-mean / GRAVITY))
    if factor < _RIGHT[0] and len(found) < _SEVERAL:
        return FallRate((), None, None)
    alike = all(abs(a / mean - 1.0) < 0.5 for a in found)
    clear = [f for f in _FACTORS if alike and abs(factor / f - 1.0) < _NEAR]
    return FallRate(tuple(found), factor, clear[0] if clear else None)


def find_flights(
    motion: Motion, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights], contacts: Contacts
) -> list[Span]:
    """First frame and the frame after the last of each flight of a clip at its true frame rate.

    Even a short one counts, as in a run at 30 frames a second, if the body falls in it about as fast as a body does.
    """
    low, high = _BODY_FALLS
    return [
        fall.span
        for fall in _falls(motion, parts, stances, contacts, _FEWEST)
        if low * GRAVITY < -fall.acceleration < high * GRAVITY
    ]


@dataclass(frozen=True)
class _Fall:
    """A span in which no foot is on the ground, the vertical acceleration in it and its standard error [m/s²]."""

    span: Span
    lasts: float  # [s] without its first and last frames
    acceleration: float
    error: float


def _falls(
    motion: Motion, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights], contacts: Contacts, fewest: int
) -> list[_Fall]:
    """All spans of `fewest` frames or more in which no foot is on the ground."""
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
    found = []
    for first, stop in true_spans(air_borne):
        if stop - first < fewest:
            continue
        trim = _TRIM if stop - first - 2 * _TRIM >= _FEWEST else 0
        air = slice(first + trim, stop - trim)
        fall, error = _fall(motion.time[air], center[air])
        found.append(_Fall((first, stop), float(np.ptp(motion.time[air])), fall, error))
    return found


def slow_down(motion: Motion, factor: float) -> Motion:
    """The same frames over `factor` times the time."""
    return replace(motion, time=motion.time[0] + factor * (motion.time - motion.time[0]))


def center_of_mass(places: np.ndarray, parts: BodyParts) -> np.ndarray:
    """(n, 3) rough centre of mass [m]: the middles of the bones, weighted as in an average adult."""
    chest = parts.trunk[-1] if parts.trunk else parts.pelvis
    head = parts.head if parts.head is not None else chest
    rows = [(_SHARES["head"], head, head), (_SHARES["trunk"], parts.pelvis, chest)]
    for limb in (parts.left, parts.right):
        rows += [(_SHARES["thigh"], limb.hip, limb.knee), (_SHARES["shank"], limb.knee, limb.ankle)]
        rows += [(_SHARES["foot"], limb.ankle, limb.tip)]
    for arm in (parts.left_arm, parts.right_arm):
        if arm is not None:
            rows += [(_SHARES["upper"], arm.shoulder, arm.elbow), (_SHARES["fore"], arm.elbow, arm.wrist)]
    total = sum(share for share, _, _ in rows)
    return np.asarray(sum(share / total * 0.5 * (places[:, a] + places[:, b]) for share, a, b in rows))


def _fall(time: np.ndarray, height: np.ndarray) -> tuple[float, float]:
    """Acceleration of the parabola fitted to heights (n,), and its standard error [m/s²]."""
    since = time - time.mean()
    design = np.column_stack([np.ones_like(since), since, 0.5 * since**2])
    found = np.linalg.lstsq(design, height)[0]
    spread = float(((height - design @ found) ** 2).sum()) / max(len(time) - 3, 1)
    return float(found[2]), float(np.sqrt(spread * np.linalg.inv(design.T @ design)[2, 2]))
