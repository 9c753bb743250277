"""Footstrikes and toe-offs of captured clips, and the stretch in which a clip walks or runs evenly.

A clip has no forces: where the feet are tells the events. A foot strikes about when its ankle is farthest ahead of the
pelvis, and leaves the ground about when its toes are farthest behind it (Zeni, Richards, Higginson 2008, "Two simple
methods for determining gait events during treadmill and overground walking using kinematic data"). On a treadmill that
is when the foot begins and ceases to go back with the belt. Over ground the foot goes forward as fast as the pelvis at
both extremes, so it has not landed yet and has already left: the stance is narrowed to the frames in which the foot has
lost half of that speed and is low, which also serves runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.signal import butter, find_peaks, sosfiltfilt

from surefoot.errors import SurefootError
from surefoot.motions.signals import frame_time

_SMOOTH = 7.0  # [Hz] of the paths of which the extremes are looked for
_REACH = 0.15  # [leg lengths] by which an extreme stands out
_APART = 0.4  # [s] between two footstrikes of a foot
_SLOWEST, _LONGEST = 0.25, 2.5  # [m/s], [s] of a gait that goes somewhere: its speed, and the time of a stride
_LOW = 0.04  # [leg lengths] above its place in a stance: a joint of a foot on the ground is lower
_SLOW = 0.5  # of the body's speed: a joint of a foot on the ground is slower
_EVEN = 0.15, 0.25  # a stride belongs to a stretch if its time and its speed differ by at most these shares
_STRAIGHT = np.radians(25.0)  # [rad/s] slower turns count as walking straight on
_FEWEST = 4  # strides of a straight stretch, a leg's counted twice; if there are fewer, turns count too


@dataclass(frozen=True)
class FootPaths:
    """Where the joints of the feet are: (n, 2) for left and right."""

    ankle_ahead: np.ndarray  # [m] of the pelvis, along the heading
    toe_ahead: np.ndarray
    ankle_height: np.ndarray  # [m] above where the ankle is while the foot is flat on the ground
    toe_height: np.ndarray
    ankle_speed: np.ndarray  # [m/s] over the ground, along the heading
    toe_speed: np.ndarray


@dataclass(frozen=True)
class FootEvents:
    """Frames of a foot's footstrikes and toe-offs."""

    strikes: tuple[int, ...]
    offs: tuple[int, ...]

    def stands(self, count: int) -> np.ndarray:
        """(count,) whether the foot is on the ground in each frame."""
        events = sorted([(frame, True) for frame in self.strikes] + [(frame, False) for frame in self.offs])
        stands = np.full(count, bool(events) and not events[0][1])
        for frame, down in events:
            stands[frame:] = down
        return stands


@dataclass(frozen=True)
class _Stride:
    first: int
    last: int
    duration: float  # [s]
    speed: float  # [m/s]
    turn: float  # [rad/s]


def find_events(time: np.ndarray, paths: FootPaths, leg: float) -> tuple[FootEvents, FootEvents]:
    """The events of both feet while the body goes forward.

    Args:
        time: (n,) [s].
        paths: of the feet.
        leg: length of a leg [m].
    """
    frame = frame_time(time)

    def peaks(values: np.ndarray) -> tuple[int, ...]:
        shaped = values
        if len(values) > 30:
            shaped = sosfiltfilt(butter(2, _SMOOTH, fs=1.0 / frame, output="sos"), values)
        return tuple(find_peaks(shaped, prominence=_REACH * leg, distance=max(1, round(_APART / frame)))[0].tolist())

    found = [FootEvents(peaks(paths.ankle_ahead[:, s]), peaks(-paths.toe_ahead[:, s])) for s in (0, 1)]
    return found[0], found[1]


def narrow_to_ground(events: FootEvents, paths: FootPaths, foot: int, leg: float, speed: float) -> FootEvents:
    """The events of a foot that strikes when its ankle is low and slow, and leaves when its toes are no longer so.

    Args:
        events: as `find_events` gives them.
        paths: of the feet.
        foot: 0 left, 1 right.
        leg: length of a leg [m].
        speed: of the body [m/s].
    """
    comes, stays = (
        (height[:, foot] < _LOW * leg) & (pace[:, foot] < _SLOW * speed)
        for height, pace in ((paths.ankle_height, paths.ankle_speed), (paths.toe_height, paths.toe_speed))
    )
    comes |= stays
    strikes, offs = list[int](), list[int]()
    for strike in events.strikes:
        end = min((off for off in events.offs if off > strike), default=len(comes))
        down = np.flatnonzero(comes[strike:end])
        strikes.append(strike + int(down[0]) if len(down) else strike)
    for off in events.offs:
        begin = max((strike for strike in strikes if strike < off), default=0)
        down = np.flatnonzero(stays[begin:off])
        offs.append(begin + int(down[-1]) + 1 if len(down) else off)
    return FootEvents(tuple(strikes), tuple(offs))


def steady_stretch(
    time: np.ndarray, events: tuple[FootEvents, FootEvents], ahead: np.ndarray, heading: np.ndarray
) -> tuple[int, int]:
    """First and last frame of the longest stretch of even strides.

    Strides are counted from footstrike to footstrike and from toe-off to toe-off of each leg.

    Args:
        time: (n,) [s].
        events: of both feet.
        ahead: (n,) way of the pelvis along its heading [m].
        heading: (n,) [rad], without jumps.

    Raises:
        SurefootError: there is no stride forward of both legs.
    """
    strides = sorted(
        (
            _stride(time, ahead, heading, a, b)
            for foot in events for frames in (foot.strikes, foot.offs) for a, b in pairwise(frames)
        ), key=lambda stride: stride.first,
    )  # fmt: skip
    strides = [stride for stride in strides if stride.speed > _SLOWEST and stride.duration < _LONGEST]
    straight = [stride for stride in strides if abs(stride.turn) < _STRAIGHT]
    for chosen, fewest in ((straight, _FEWEST), (strides, 1)):
        found = _longest(chosen)
        if len(found) >= fewest:
            return min(stride.first for stride in found), max(stride.last for stride in found)
    raise SurefootError(
        "no stride was found: the gait of a clip is measured where it walks or runs forward, faster than "
        f"{_SLOWEST:g} m/s, from one footstrike of a foot to its next within {_LONGEST:g} s"
    )


def _stride(time: np.ndarray, ahead: np.ndarray, heading: np.ndarray, a: int, b: int) -> _Stride:
    duration = float(time[b] - time[a])
    return _Stride(a, b, duration, float(ahead[b] - ahead[a]) / duration, float(heading[b] - heading[a]) / duration)


def _longest(strides: list[_Stride]) -> list[_Stride]:
    """The most strides one after another that are like one of them."""
    best: list[_Stride] = []
    for i, one in enumerate(strides):
        found = [one]
        for side in (strides[i + 1 :], strides[:i][::-1]):
            first, last = one.first, one.last
            for other in side:
                if other.first > last or other.last < first or not _alike(one, other):
                    break
                found.append(other)
                first, last = min(first, other.first), max(last, other.last)
        best = max(best, found, key=len)
    return best


def _alike(one: _Stride, other: _Stride) -> bool:
    return (
        abs(other.duration - one.duration) < _EVEN[0] * one.duration
        and abs(other.speed - one.speed) < _EVEN[1] * one.speed
    )
