"""What a body does in the course of a clip: when it turns, when it stands, and when it is in the air."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from surefoot.motions.body_parts import BodyParts
from surefoot.motions.findings import Findings
from surefoot.motions.floor_fit import leg_length
from surefoot.motions.foot_contacts import Contacts
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span, fill_short, frame_time, true_spans

_AVERAGED = 0.8  # [s] over which a heading counts, so that the pelvis's twist in a step does not
_TURNING, _TURNED = np.radians(12.0), np.radians(30.0)  # [rad/s] and [rad] of a turn that is worth a word
_LEVEL = 0.5  # least share of the hips' distance that is horizontal: lying on its side, a body faces nowhere
_STILL, _FOOT_STILL = 0.2, 0.3  # [leg lengths/s] of the pelvis and of both feet of a body that stands
_SETTLING = 0.5  # [leg lengths/s] of a pelvis that comes to rest at an end of the clip, over feet that stand
_PAUSE, _AT_END, _BREAK = 0.7, 0.4, 0.15  # [s] of the shortest pause, also at an end; of a movement that ends none
_APART = 1.0  # [s] between flights that belong to one gait
_WHOLE = 0.1  # [s] from an end of the clip that count as the end


@dataclass(frozen=True)
class Turn:
    """A turn of the whole body: from when to when [s], and by how much, positive to the left [rad]."""

    start: float
    end: float
    angle: float

    def __str__(self) -> str:
        """In words."""
        side = "left" if self.angle > 0.0 else "right"
        return f"turns {abs(np.degrees(self.angle)):.0f}° to the {side} between {self.start:.1f} and {self.end:.1f} s"


def find_turns(motion: Motion, parts: BodyParts) -> list[Turn]:
    """The turns of a motion, by where its pelvis faces."""
    places, _ = world_poses(motion)
    across = places[:, parts.left.hip] - places[:, parts.right.hip]
    level = np.linalg.norm(across[:, :2], axis=1) > _LEVEL * np.maximum(np.linalg.norm(across, axis=1), 1e-9)
    if level.sum() < 3:
        return []
    heading = np.interp(motion.time, motion.time[level], np.unwrap(np.arctan2(-across[level, 0], across[level, 1])))
    frame = frame_time(motion.time)
    window = min(2 * round(0.5 * _AVERAGED / frame) + 1, len(heading) - 1 + len(heading) % 2)
    if window < 5:
        return []
    smooth = savgol_filter(heading, window, 1)
    rate = savgol_filter(heading, window, 1, deriv=1, delta=frame)
    found = []
    for sign in (1.0, -1.0):
        turning = fill_short(sign * rate > _TURNING, True, motion.time, _AVERAGED) & (sign * rate > -_TURNING)
        for first, stop in true_spans(turning):
            angle = float(smooth[stop - 1] - smooth[first])
            if sign * angle > _TURNED:
                found.append(Turn(float(motion.time[first]), float(motion.time[stop - 1]), angle))
    return sorted(found, key=lambda turn: turn.start)


def find_pauses(motion: Motion, parts: BodyParts, contacts: Contacts) -> list[tuple[float, float]]:
    """From when to when [s] a body stands: on its feet, of which none takes a step, with its pelvis nearly still."""
    places, _ = world_poses(motion)
    limbs, time = (parts.left, parts.right), motion.time
    leg = float(np.mean([leg_length(places, limb) for limb in limbs]))

    def speed(joint: int) -> np.ndarray:
        window = min(2 * round(0.1 / frame_time(time)) + 1, len(time) - 1 + len(time) % 2)
        path = savgol_filter(places[:, joint], window, 1, axis=0) if window >= 3 else places[:, joint]
        return np.asarray(np.linalg.norm(np.gradient(path, time, axis=0), axis=1) / leg)

    moves = speed(parts.pelvis)
    planted = np.ones(len(time), dtype=bool)
    for limb, foot in zip(limbs, (contacts.left, contacts.right), strict=True):
        planted &= (speed(limb.tip) < _FOOT_STILL) & foot.mask(len(motion))
    still = planted & (moves < _STILL)
    for first, stop in true_spans(planted & (moves < _SETTLING)):  # about to go, or coming to rest
        if (first == 0 and still[0]) or (stop == len(time) and still[-1]):
            still[first:stop] = True
    still = fill_short(still, True, time, _BREAK)
    found = []
    for first, stop in true_spans(still):
        begin, end = float(time[first]), float(time[stop - 1])
        if end - begin > (_AT_END if first == 0 or stop == len(time) else _PAUSE):
            found.append((begin, end))
    return found


def describe_events(
    motion: Motion, parts: BodyParts, contacts: Contacts, flights: list[Span], findings: Findings
) -> None:
    """Say when a body turns, stands and is in the air.

    Args:
        motion: cleaned.
        parts: which of its joints is which.
        contacts: of its feet.
        flights: first frame and the frame after the last of each.
        findings: where to say it.
    """
    for turn in find_turns(motion, parts):
        findings.add(f"it {turn}")
    begin, end = float(motion.time[0]), float(motion.time[-1])
    for first, last in find_pauses(motion, parts, contacts):
        if first < begin + _WHOLE and last > end - _WHOLE:
            findings.add("it stands all the time")
        elif last > end - _WHOLE:
            findings.add(f"it stands from {first:.1f} s on")
        elif first < begin + _WHOLE:
            findings.add(f"it stands until {last:.1f} s")
        else:
            findings.add(f"it stands between {first:.1f} and {last:.1f} s")
    for own in _runs(motion.time, flights):
        lasts = float(np.mean([motion.time[stop - 1] - motion.time[first] for first, stop in own]))
        first, last = float(motion.time[own[0][0]]), float(motion.time[own[-1][1] - 1])
        if len(own) == 1:
            findings.add(f"it is in the air for {lasts:.2f} s at {first:.2f} s")
        else:
            findings.add(f"it is in the air {len(own)} times between {first:.1f} and {last:.1f} s, {lasts:.2f} s each")


def _runs(time: np.ndarray, flights: list[Span]) -> list[list[Span]]:
    """Flights that follow each other soon."""
    found = list[list[Span]]()
    for flight in flights:
        if found and time[flight[0]] - time[found[-1][-1][1] - 1] < _APART:
            found[-1].append(flight)
        else:
            found.append([flight])
    return found
