"""When feet are on the ground.

`footstrikes` reads the contact forces of a simulated motion. A captured clip has none, so contacts are found by
height and speed with hysteresis: `find_contacts` looks at the joints of a clip, `foot_stands` at a sole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.motions.body_parts import BodyParts, LegJoints
from surefoot.motions.floor_fit import GRAVITY, StanceHeights, horizontal_speeds, leg_length
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span, fill_short, frame_time, span_mask, true_spans

LOADED_FORCE = 20.0  # [N] vertical force that counts as standing on a foot
SHORTEST_SWING = 0.05  # [s] a foot unloaded for less has not left the ground
SHORTEST_STANCE = 0.02  # [s] a foot loaded for less has only scuffed it

_HIGH = 0.03, 0.05  # [leg lengths] a sole stands below the first height until it is above the second
_FAST = 0.45, 0.75  # [leg lengths/s] the same for its speed
_SHORT = 0.05  # [s] shorter contacts and shorter gaps do not count

_HEIGHTS = (0.015, 0.06)  # [leg lengths] limits of the height above its stance at which a joint leaves the ground
_SPEEDS = (0.05, 0.18)  # [√(g · leg)] limits of the horizontal speed at which it does
_SHARE = 0.3  # of the joint's largest height and speed: where it leaves, within these limits
_COME = 0.6  # of these: a contact begins and ends below, and goes on between
_HOPS = 0.4  # of the other foot's contacts: a foot with fewer does not step
_SHORTEST, _GAP = 0.06, 0.08  # [s] shortest contact, and shortest gap between two
_RISE, _MOVE = 0.015, 0.1  # [leg lengths] a foot that neither rises nor moves more between two contacts took no step


def footstrikes(motion: Motion) -> list[tuple[int, int]]:
    """(frame, foot) of every footstrike of a simulated motion, in order."""
    time, found = motion.time, list[tuple[int, int]]()
    for foot in range(motion.contact_force.shape[1]):
        loaded = motion.contact_force[:, foot, 2] > LOADED_FORCE
        stands = loaded.copy()
        for first, stop in true_spans(~loaded):
            if stop < len(time) and time[stop] - time[first] < SHORTEST_SWING:
                stands[first:stop] = True
        for first, stop in true_spans(stands):
            frames = np.flatnonzero(loaded[first:stop])
            lasts = stop == len(time) or np.diff(time)[first + frames].sum() >= SHORTEST_STANCE
            if first > 0 and lasts:
                found.append((first, foot))
    return sorted(found)


def foot_stands(time: np.ndarray, clearance: np.ndarray, speed: np.ndarray, leg: float) -> np.ndarray:
    """(n,) whether a foot stands.

    Args:
        time: (n,) [s].
        clearance: (n,) height of the sole's lowest point above the ground [m].
        speed: (n,) speed of the slower end of the foot [m/s].
        leg: length of the leg [m].
    """
    on = (clearance < _HIGH[0] * leg) & (speed < _FAST[0] * leg)
    off = (clearance > _HIGH[1] * leg) | (speed > _FAST[1] * leg)
    stands, found = False, np.zeros(len(time), bool)
    for i in range(len(time)):
        stands = bool(on[i]) or (stands and not off[i])
        found[i] = stands
    return fill_short(fill_short(found, True, time, _SHORT), False, time, _SHORT)


@dataclass(frozen=True)
class FootContacts:
    """Spans of frames in which a foot's toes, its heel, or either of them are on the ground."""

    toe: tuple[Span, ...]
    heel: tuple[Span, ...]
    any: tuple[Span, ...]

    def mask(self, count: int) -> np.ndarray:
        """(count,) whether the foot is on the ground in each frame."""
        return span_mask(self.any, count)


@dataclass(frozen=True)
class Contacts:
    """The contacts of both feet."""

    left: FootContacts
    right: FootContacts

    def cadence(self, time: np.ndarray, start: float = -np.inf, end: float = np.inf) -> float | None:
        """Steps of both feet per minute.

        Args:
            time: (n,) of the frames [s].
            start: footstrikes and lift-offs count from here on [s].
            end: and up to here [s].

        Returns:
            None if there is no whole stride.
        """
        events, strides = [], []
        for foot in (self.left, self.right):
            comes = [float(time[a]) for a, _ in foot.any if a > 0 and start <= time[a] <= end]
            leaves = [float(time[b]) for _, b in foot.any if b < len(time) and start <= time[b] <= end]
            events.append(len(comes) + len(leaves))
            strides.append(np.concatenate([np.diff(comes), np.diff(leaves)]))
        hops = min(events) < _HOPS * max(events)
        every = max(strides, key=len) if hops else np.concatenate(strides)
        return (60.0 if hops else 120.0) / float(np.median(every)) if len(every) else None


def find_contacts(
    places: np.ndarray, time: np.ndarray, parts: BodyParts, stances: tuple[StanceHeights, StanceHeights]
) -> Contacts:
    """The contacts of a body.

    Args:
        places: (n, joints, 3) world positions of the joints [m].
        time: (n,) [s].
        parts: which joint is which.
        stances: heights of the joints of the planted left and right foot.
    """
    limbs = (parts.left, parts.right)
    return Contacts(*(_foot(places, time, limb, own) for limb, own in zip(limbs, stances, strict=True)))


def _foot(places: np.ndarray, time: np.ndarray, limb: LegJoints, own: StanceHeights) -> FootContacts:
    leg, count = leg_length(places, limb), len(time)
    heel = _contacts_of_joint(places[:, limb.ankle], time, own.ankle, leg)
    toe = heel if limb.toe is None else _contacts_of_joint(places[:, limb.toe], time, own.toe, leg)
    either = _lasting(span_mask(heel, count) | span_mask(toe, count), time)
    rise = np.minimum(places[:, limb.ankle, 2] - own.ankle, places[:, limb.tip, 2] - own.toe) / leg
    steps = _without_pauses(either, rise, places[:, limb.tip, :2] / leg)
    return FootContacts(tuple(toe), tuple(heel), tuple(steps))


def _without_pauses(spans: list[Span], rise: np.ndarray, place: np.ndarray) -> list[Span]:
    """Contacts joined where the foot is neither lifted nor set elsewhere: it slid or trembled, and took no step."""
    found = spans[:1]
    for first, stop in spans[1:]:
        begun, ended = found[-1]
        gap = slice(ended - 1, first + 1)
        moved = np.linalg.norm(place[gap] - place[ended - 1], axis=1).max()
        if rise[gap].max() < _RISE and moved < _MOVE:
            found[-1] = (begun, stop)
        else:
            found.append((first, stop))
    return found


def _contacts_of_joint(places: np.ndarray, time: np.ndarray, height: float, leg: float) -> list[Span]:
    """Spans that stay low and slow, each from the first to the last frame that is surely in contact."""
    above, speed = (places[:, 2] - height) / leg, horizontal_speeds(places, time) / np.sqrt(GRAVITY * leg)
    high, fast = (
        float(np.clip(_SHARE * np.quantile(values, 0.995), *limits))
        for values, limits in ((above, _HEIGHTS), (speed, _SPEEDS))
    )
    come = (above < _COME * high) & (speed < _COME * fast)
    on = np.zeros(len(time), dtype=bool)
    for first, stop in true_spans((above < high) & (speed < fast)):
        sure = np.flatnonzero(come[first:stop])
        if len(sure):
            on[first + sure[0] : first + sure[-1] + 1] = True
    return _lasting(on, time)


def _lasting(on: np.ndarray, time: np.ndarray) -> list[Span]:
    """Spans of contact: short gaps are closed first, then short contacts are dropped."""
    frame, count = frame_time(time), np.arange(len(time) + 1)
    closed = fill_short(on, True, count, _GAP / frame)
    return true_spans(fill_short(closed, False, count, _SHORTEST / frame, at_ends=True))
