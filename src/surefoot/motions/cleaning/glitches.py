"""Repairs what no body can do: a first frame in another pose, joints that jump or flip over, a root that teleports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts
from surefoot.motions.findings import Findings
from surefoot.motions.forward_kinematics import chain_from_root
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span, frame_time

_FIRST = 0.05  # [s] at the start in which a pose that does not belong to the motion is looked for
_POSE = (np.radians(4.0), 8.0)  # least mean step of all joints from it: [rad], and in largest later steps
_JUMP = (np.radians(1500.0), 4.0)  # least speed of a joint that jumps: [rad/s], and in median speeds before and after
_JOINT_AROUND = 0.15  # [s] before and after a jump: it is unlike both
_JOINT_SPIKE = 0.1  # [s] within which a joint that jumped comes back
_JOINT_BACK = 0.5  # of how far it strayed: how near it then comes
_FLIP = np.radians(110.0)  # from one frame to the next: no joint does this at any usual frame rate
_WILD = np.radians(40.0)  # a jump that does not come back and is worth mentioning
_SUDDEN = 3.0  # [m/s] change of the root's velocity from one frame to the next that no body can do
_ROOT_AROUND = 0.1  # [s] before and after whose median velocities are the usual ones
_ROOT_SPIKE = 0.1  # [s] within which a root that strayed comes back
_ROOT_BACK = 0.3  # of how far it strayed: how near it then comes
_SHORT = 0.15  # of the clip: a shorter piece before the first or after the last teleport is cut off
_OTHER = np.radians(10.0)  # mean step of all joints across a teleport: beyond, the pieces are different motions


def drop_first_pose(motion: Motion, findings: Findings) -> Motion:
    """Drop the frames at the start (mostly a T-pose) from which the whole body jumps into the motion."""
    steps = _steps(motion.rotations)
    mean = steps.mean(axis=1)
    first = min(max(int(_FIRST / frame_time(motion.time)), 1), len(mean) // 2)
    if not first:
        return motion
    jump = int(np.argmax(mean[:first]))
    later = float(np.quantile(mean[first:], 0.99)) if first < len(mean) else 0.0
    if mean[jump] < max(_POSE[0], _POSE[1] * later):
        return motion
    straight = float(np.degrees(np.median(np.linalg.norm(quat.log(motion.rotations[0, 1:]), axis=-1))))
    kind = "the rest pose" if straight < 10.0 else "another pose"
    which = "first frame" if jump == 0 else f"first {jump + 1} frames"
    findings.add(f"the {which} showed {kind} (joints jump by {np.degrees(mean[jump]):.0f}° on average): dropped")
    return motion.select(slice(jump + 1, None))


def repair_joints(motion: Motion, parts: BodyParts, findings: Findings) -> Motion:
    """Interpolate where joints jump for a moment, and turn joints back that flip over.

    Joints beyond the wrists stay as they are: they carry no data in most clips.
    """
    rotations, frame = motion.rotations.copy(), frame_time(motion.time)
    wrists = {arm.wrist for arm in (parts.left_arm, parts.right_arm) if arm is not None}
    for joint, name in enumerate(motion.skeleton.names):
        if wrists & set(chain_from_root(motion.skeleton, joint)[:-1]):
            continue
        mended, wild = _despike_joint(rotations, joint, frame)
        turned = _unflip(rotations, joint)
        wild = [jump for jump in wild if jump not in turned]
        if turned:
            at = _times(motion, turned)
            findings.add(f"{name} flips over at {at} and does not come back: it was turned back from there on", False)
        if mended:
            at = _times(motion, [a for a, _ in mended])
            total = _count(sum(stop - first for first, stop in mended), "frame")
            findings.add(f"{name} jumps for a moment at {at}: {total} interpolated")
        if wild:
            findings.add(f"{name} jumps at {_times(motion, wild)} and does not come back: left as it is", False)
    return replace(motion, rotations=quat.make_continuous(rotations))


def _despike_joint(rotations: np.ndarray, joint: int, frame: float) -> tuple[list[Span], list[int]]:
    """Interpolate in place where a joint strays for a moment.

    A jump near an end of the clip cannot come back: the joint is held still in the few frames beyond it.

    Returns:
        The spans that were repaired, and the frames of jumps that do not come back.
    """
    steps = _steps(rotations[:, joint])
    near = max(round(_JOINT_AROUND / frame), 3)
    fast = np.flatnonzero(steps > _JUMP[0] * frame)
    jumps = np.array(
        [i for i in fast.tolist() if steps[i] > _JUMP[1] * max(map(np.median, steps_around(steps, i, near)))], dtype=int
    )
    longest, mended, wild, done = max(round(_JOINT_SPIKE / frame), 2), list[Span](), list[int](), -1
    for jump in jumps:
        if jump <= done:
            continue
        ends = [b for b in jumps[np.searchsorted(jumps, jump, side="right") :] if b - jump <= longest]
        for end in ends:
            inside = rotations[jump + 1 : end + 1, joint]
            before, after = rotations[jump, joint], rotations[end + 1, joint]
            strayed = max(_angles(before[None], inside).max(), _angles(after[None], inside).max())
            if _angles(before, after) < _JOINT_BACK * strayed:
                share = np.arange(1, end - jump + 1) / (end + 1 - jump)
                rotations[jump + 1 : end + 1, joint] = quat.slerp(before[None], after[None], share)
                mended.append((int(jump) + 1, int(end) + 1))
                done = int(end)
                break
        else:
            if jump < longest:  # nothing before it can be trusted
                rotations[: jump + 1, joint] = rotations[jump + 1, joint]
                mended.append((0, int(jump) + 1))
            elif jump >= len(steps) - longest:
                rotations[jump + 1 :, joint] = rotations[jump, joint]
                mended.append((int(jump) + 1, len(rotations)))
                break
            elif steps[jump] > _WILD:
                wild.append(int(jump) + 1)
    return mended, wild


def _unflip(rotations: np.ndarray, joint: int) -> list[int]:
    """Turn a joint back in place from each flip on; returns the frames of the flips."""
    turned = []
    for jump in np.flatnonzero(_steps(rotations[:, joint]) > _FLIP):
        before, after = rotations[jump, joint], rotations[jump + 1 :, joint]
        if _angles(before, after[0]) > _FLIP:  # not undone with the flip before
            turned.append(int(jump) + 1)
            fixed = quat.multiply(after, quat.multiply(quat.inverse(after[0]), before)[None])
            rotations[jump + 1 :, joint] = fixed / np.linalg.norm(fixed, axis=-1, keepdims=True)
    return turned


def steps_around(steps: np.ndarray, i: int, near: int) -> list[np.ndarray]:
    """Up to `near` steps before step `i`, and as many after it; a side without steps is left out.

    A sudden change that lasts is like what follows it: only a jump is unlike both sides.
    """
    return [own for own in (steps[max(i - near, 0) : i], steps[i + 1 : i + 1 + near]) if len(own)]


def _steps(rotations: np.ndarray) -> np.ndarray:
    """(n − 1, …) angles from frame to frame [rad]."""
    return _angles(rotations[:-1], rotations[1:])


def _angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(quat.log(quat.multiply(quat.inverse(a), b)), axis=-1))


def _times(motion: Motion, found: list[int]) -> str:
    shown = ", ".join(f"{motion.time[i]:.2f}" for i in found[:4])
    return f"{shown}{' …' if len(found) > 4 else ''} s"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def repair_root(motion: Motion, findings: Findings) -> Motion:
    """Remove teleports of the root.

    A short piece at either end is cut off, and so is the shorter one of two pieces in different poses. Otherwise the
    later piece is moved to where the earlier one would have gone on.
    """
    motion, strayed = _despike_root(motion)
    if strayed:
        findings.add(f"the root jumps and comes back at {', '.join(strayed)} s: interpolated")
    for _ in range(20):
        jumps = _jumps(motion)
        if not len(jumps):
            break
        first = int(jumps[0])
        last = first
        while last + 1 in jumps:
            last += 1
        far = float(np.linalg.norm(motion.root_position[last + 1] - motion.root_position[first]))
        at = f"the root teleports by {far:.2f} m at {motion.time[first]:.2f} s"
        before, after, whole = first + 1, len(motion) - last - 1, len(motion)
        turned = _angles(motion.rotations[first], motion.rotations[last + 1])
        if min(before, after) < _SHORT * whole or turned.mean() > _OTHER:
            keep = slice(last + 1, None) if before < after else slice(None, first + 1)
            cut = "before" if before < after else "after"
            findings.add(f"{at}: the {min(before, after)} frames {cut} it were cut off")
            motion = motion.select(keep)
        else:
            motion = _bridged(motion, first, last)
            findings.add(f"{at}: bridged, the later part was moved to where the earlier one would have gone on", False)
    return motion


def _usual(motion: Motion, now: np.ndarray, i: int) -> list[np.ndarray]:
    """Median velocities [m/s] before and after a step."""
    near = max(round(_ROOT_AROUND / frame_time(motion.time)), 3)
    return [np.median(own, axis=0) for own in steps_around(now, i, near)]


def _velocities(motion: Motion) -> np.ndarray:
    """(n − 1, 3) velocities of the root from frame to frame [m/s]."""
    return np.asarray(np.diff(motion.root_position, axis=0) / np.diff(motion.time)[:, None])


def _jumps(motion: Motion) -> np.ndarray:
    """Frames after which the root jumps: the step is unlike those before it and unlike those after it."""
    now = _velocities(motion)
    fast = np.flatnonzero(np.linalg.norm(now, axis=1) > 0.5 * _SUDDEN)
    found = [i for i in fast.tolist() if min(np.linalg.norm(now[i] - v) for v in _usual(motion, now, i)) > _SUDDEN]
    return np.array(found, dtype=int)


def _despike_root(motion: Motion) -> tuple[Motion, list[str]]:
    """Interpolate where the root strays for a moment; also returns the times at which it does."""
    places, jumps, times = motion.root_position.copy(), _jumps(motion), list[str]()
    longest, done = max(round(_ROOT_SPIKE / frame_time(motion.time)), 2), -1
    rotations = motion.rotations.copy()
    for jump in jumps:
        for end in jumps[(jumps > jump) & (jumps <= jump + longest)]:
            if jump <= done:
                break
            share = np.arange(1, end - jump + 1)[:, None] / (end + 1 - jump)
            straight = (1.0 - share) * places[jump] + share * places[end + 1]
            strayed = np.linalg.norm(places[jump + 1 : end + 1] - straight, axis=1).max()
            usual = _usual(motion, _velocities(motion), jump)[0]
            gone = places[end + 1] - places[jump] - usual * (motion.time[end + 1] - motion.time[jump])
            if np.linalg.norm(gone) < _ROOT_BACK * strayed:
                places[jump + 1 : end + 1] = straight
                turn = quat.slerp(rotations[None, jump, 0], rotations[None, end + 1, 0], share[:, 0])
                rotations[jump + 1 : end + 1, 0] = turn
                times.append(f"{motion.time[jump + 1]:.2f}")
                done = int(end)
    return replace(motion, root_position=places, rotations=rotations), times


def _bridged(motion: Motion, first: int, last: int) -> Motion:
    """Continue the velocity before a teleport, from frame `first` to the frame after `last`."""
    ahead = _usual(motion, _velocities(motion), first)[0] * (motion.time[last + 1] - motion.time[first])
    places = motion.root_position.copy()
    places[last + 1 :] += places[first] + ahead - places[last + 1]
    share = np.arange(1, last - first + 1)[:, None] / (last + 1 - first)
    places[first + 1 : last + 1] = places[first] + share * ahead
    return replace(motion, root_position=places)
