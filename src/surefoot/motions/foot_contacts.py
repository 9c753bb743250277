"""When feet come down, from the loads of a simulated motion.

When a foot stands, by how high it is and how fast it goes.

When each foot is on the ground: by the height and the speed of its joints, with hysteresis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.motions.body_parts import BodyParts, LegJoints
from surefoot.motions.floor_fit import GRAVITY, StanceHeights, horizontal_speeds, leg_length
from surefoot.motions.motion import Motion

LOADED_FORCE = 20.0  # [N] vertical force that counts as standing on a foot
SHORTEST_SWING = 0.05  # [s] a foot unloaded for less has not left the ground
SHORTEST_STANCE = 0.02  # [s] a foot loaded for less has only scuffed it


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


_HIGH = 0.03, 0.05  # [leg lengths] above its standing height: it stands below the first until it is above the second
_FAST = 0.45, 0.75  # [leg lengths/s] in the same way
_SHORT = 0.05  # [s] shorter touches and shorter gaps do not count


def foot_stands(time: np.ndarray, clearance: np.ndarray, speed: np.ndarray, leg: float) -> np.ndarray:
    """(n,) whether a foot stands.

    Args:
        time: (n,) [s].
        clearance: (n,) of the sole's lowest point [m].
        speed: (n,) of the slower end of the foot [m/s].
        leg: its length [m].
    """
    on = (clearance < _HIGH[0] * leg) & (speed < _FAST[0] * leg)
    off = (clearance > _HIGH[1] * leg) | (speed > _FAST[1] * leg)
    stands, found = False, np.zeros(len(time), bool)
    for i in range(len(time)):
        stands = bool(on[i]) or (stands and not off[i])
        found[i] = stands
    for value in (True, False):  # gaps first, then touches
        for first, last in true_spans(found != value):
            inside = first > 0 and last < len(time)
            if inside and time[last] - time[first] < _SHORT:
                found[first:last] = value
    return found


def true_spans(flags: np.ndarray) -> list[tuple[int, int]]:
    """First frame and frame after the last of every stretch of true frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


Span = tuple[int, int]  # first frame, and the frame after the last
_HEIGHTS = (
    0.015,
    0.06,
)  # [leg lengths] above its stance at which a joint has left the ground: in small steps, and at most
_SPEEDS = (0.05, 0.18)  # [√(g · leg)] the same for its horizontal speed
_SHARE = 0.3  # of how high and how fast the joint ever gets: where it leaves for certain, within these
_HOPS = 0.4  # of the other foot's comings and goings: a foot with fewer does not step
_COME = 0.6  # of these: a contact begins and ends below, and goes on as long as it does not certainly leave
_SHORTEST, _GAP = 0.06, 0.08  # [s] of a contact, and of the time between two that are not one


@dataclass(frozen=True)
class FootContacts:
    """Spans of frames in which a foot's toes, its heel, or any of them are on the ground."""

    toe: tuple[Span, ...]
    heel: tuple[Span, ...]
    any: tuple[Span, ...]

    def mask(self, count: int) -> np.ndarray:
        """(count,) whether the foot is on the ground in each frame."""
        return span_mask(self.any, count)


@dataclass(frozen=True)
class Contacts:
    """Of both feet."""

    left: FootContacts
    right: FootContacts

    def cadence(self, time: np.ndarray, start: float = -np.inf, end: float = np.inf) -> float | None:
        """Steps per minute of both feet together between two moments [s]; nothing without a whole stride."""
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
    """The contacts of a body whose joints are at (n, joints, 3) places."""
    return Contacts(
        *(_foot(places, time, limb, own) for limb, own in zip((parts.left, parts.right), stances, strict=True))
    )


def _foot(places: np.ndarray, time: np.ndarray, limb: LegJoints, own: StanceHeights) -> FootContacts:
    leg, count = leg_length(places, limb), len(time)
    heel = _spans(places[:, limb.ankle], time, own.ankle, leg)
    toe = heel if limb.toe is None else _spans(places[:, limb.toe], time, own.toe, leg)
    either = _lasting(span_mask(heel, count) | span_mask(toe, count), time)
    return FootContacts(tuple(toe), tuple(heel), tuple(either))


def _spans(places: np.ndarray, time: np.ndarray, height: float, leg: float) -> list[Span]:
    above, speed = (places[:, 2] - height) / leg, horizontal_speeds(places, time) / np.sqrt(GRAVITY * leg)
    high, fast = (
        float(np.clip(_SHARE * np.quantile(values, 0.995), *limits))
        for values, limits in ((above, _HEIGHTS), (speed, _SPEEDS))
    )
    come = (above < _COME * high) & (speed < _COME * fast)
    stay = (above < high) & (speed < fast)
    on = np.zeros(len(time), dtype=bool)
    for first, stop in runs(stay):
        sure = np.flatnonzero(come[first:stop])
        if len(sure):
            on[first + sure[0] : first + sure[-1] + 1] = True
    return _lasting(on, time)


def _lasting(on: np.ndarray, time: np.ndarray) -> list[Span]:
    """Runs of contact, short gaps closed first and short contacts left out then."""
    frame = float(np.median(np.diff(time)))
    on = on.copy()
    for first, stop in runs(~on):
        if first > 0 and stop < len(on) and (stop - first) * frame < _GAP:
            on[first:stop] = True
    return [(a, b) for a, b in runs(on) if (b - a) * frame >= _SHORTEST]


def runs(flags: np.ndarray) -> list[Span]:
    """Where flags (n,) are true, as spans."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def span_mask(spans: tuple[Span, ...] | list[Span], count: int) -> np.ndarray:
    """(count,) which frames are in any of the spans."""
    on = np.zeros(count, dtype=bool)
    for first, stop in spans:
        on[first:stop] = True
    return on
