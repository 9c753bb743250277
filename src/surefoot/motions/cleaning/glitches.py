"""Repairs what no body can do: a first frame in another pose, joints that jump or flip over, a root that teleports.

A joint that flips over is in another of two states from one frame to the next, mostly because two markers were taken
for each other. Only the frames in the wrong state are turned back. A flip must not hide other faults: where the whole
body is compared from frame to frame, the few joints that turn most do not count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts
from surefoot.motions.findings import Findings
from surefoot.motions.forward_kinematics import chain_from_root
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span, frame_time, span_mask, true_spans

_FIRST = 0.05  # [s] at the start in which a pose that does not belong to the motion is looked for
_POSE = (np.radians(4.0), 8.0)  # least mean step of all joints from it: [rad], and in largest later steps
_JUMP = (np.radians(1500.0), 4.0)  # least speed of a joint that jumps: [rad/s], and in median speeds before and after
_JOINT_AROUND = 0.15  # [s] before and after a jump: it is unlike both
_JOINT_SPIKE = 0.1  # [s] within which a joint that jumped comes back
_JOINT_BACK = 0.5  # of how far it strayed: how near it then comes
_FLIP, _FLIPPING = np.radians(110.0), 0.025  # within [s]: no joint does this at any usual frame rate
_CLOSER = np.radians(
    30.0
)  # by which the joint's right state is nearer to the rest pose, on average, than the wrong one
_NEARLY = 0.95  # of a flip's angle: a later beginning with as much is the better one
_SAME_TURN = np.radians(40.0)  # largest difference of a flip's turns there and back
_OUTLIERS = 0.15  # of the joints: those that turn most do not count where the whole body is compared
_WILD = np.radians(40.0)  # a jump that does not come back and is worth mentioning
_SUDDEN = 3.0  # [m/s] change of the root's velocity from one frame to the next that no body can do
_FASTEST = 13.0  # [m/s] of a root: no person has run as fast
_MOST_TELEPORTS, _LONGEST_TELEPORTS = 5, 0.5  # of a clip that can be mended: their number, and [s] in all
_ROOT_AROUND = 0.1  # [s] before and after whose median velocities are the usual ones
_ROOT_SPIKE = 0.1  # [s] within which a root that strayed comes back
_ROOT_BACK = 0.3  # of how far it strayed: how near it then comes
_SHORT = 0.15  # of the clip: a shorter piece before the first or after the last teleport is cut off
_OTHER = np.radians(10.0)  # mean step of all joints across a teleport: beyond, the pieces are different motions


class BrokenClipError(SurefootError):
    """A clip with more faults than can be repaired."""


def drop_first_pose(motion: Motion, findings: Findings) -> Motion:
    """Drop the frames at the start (mostly a T-pose) from which the whole body jumps into the motion."""
    steps = _steps(motion.rotations)
    mean = _mean_of_most(steps)
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


def _mean_of_most(steps: np.ndarray) -> np.ndarray:
    """(…) mean over the joints of their steps (…, joints), without those that turn most."""
    count = steps.shape[-1]
    kept = count - min(int(np.ceil(_OUTLIERS * count)), count - 1)
    return np.asarray(np.sort(steps, axis=-1)[..., :kept].mean(axis=-1))


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
        flips = _mend_flips(rotations, joint, frame)
        wild = [jump for jump in wild if not any(a < jump <= b for a, b in flips.edges)]
        if flips.edges:
            findings.add(f"{name} {flips.describe(motion.time)}", False)
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


@dataclass(frozen=True)
class _Flips:
    """The flips of a joint: the frames before and after each, and the spans that were turned back or eased over."""

    edges: tuple[Span, ...]
    turned: tuple[Span, ...] = ()
    eased: tuple[Span, ...] = ()

    def describe(self, time: np.ndarray) -> str:
        """What was found and done, given the times of the frames (n,)."""

        def lasts(spans: tuple[Span, ...]) -> str:
            return f"{sum(float(time[stop - 1] - time[first]) for first, stop in spans):.2f} s"

        shown = ", ".join(f"{time[after]:.2f}" for _, after in self.edges[:4])
        said = [f"flips over at {shown}{' …' if len(self.edges) > 4 else ''} s"]
        if self.turned:
            said.append(f"{lasts(self.turned)} in the wrong state were turned back")
        if self.eased:
            said.append(f"for {lasts(self.eased)} no single turn explains it: its own movement there is lost")
        return f"{said[0]}: {', '.join(said[1:])}"


def _mend_flips(rotations: np.ndarray, joint: int, frame: float) -> _Flips:
    """Turn a joint back in place in the frames in which it is flipped over; all others stay as they are.

    Every flip leads from one of two states to the other. The right one is nearer to the rest pose, or else the one of
    more frames. A flipped piece is turned by what makes its ends go on from the frames around it. Where that turn is
    not the same at both ends, the joint goes evenly from the frame before the piece to the one after it.
    """
    own = rotations[:, joint]
    edges = _flip_edges(own, max(round(_FLIPPING / frame), 1))
    if not edges:
        return _Flips(())
    starts, ends = [0, *(after for _, after in edges)], [*(before for before, _ in edges), len(own) - 1]
    pieces = [(first, last + 1) for first, last in zip(starts, ends, strict=True)]
    wrong = 1 - _right_state(own, pieces)
    turned, eased = [], []
    for k in range(wrong, len(pieces), 2):
        first, stop = pieces[k]
        turns = [
            quat.multiply(quat.inverse(own[inside]), own[outside])
            for inside, outside, there in (
                (first, edges[k - 1][0] if k else 0, k > 0),
                (stop - 1, edges[k][1] if k < len(edges) else 0, k < len(edges)),
            )
            if there
        ]
        if _angles(turns[0], turns[-1]) <= _SAME_TURN:
            share = np.linspace(0.0, 1.0, stop - first)
            fixed = quat.multiply(own[first:stop], quat.slerp(turns[0][None], turns[-1][None], share))
            own[first:stop] = fixed / np.linalg.norm(fixed, axis=-1, keepdims=True)
            turned.append(pieces[k])
        else:
            before, after = edges[k - 1][0], edges[k][1]
            share = np.arange(1, after - before) / (after - before)
            own[before + 1 : after] = quat.slerp(own[before][None], own[after][None], share)
            eased.append(pieces[k])
    for before, after in edges:  # frames on the way from one state to the other
        if after > before + 1:
            share = np.arange(1, after - before) / (after - before)
            own[before + 1 : after] = quat.slerp(own[before][None], own[after][None], share)
    return _Flips(tuple(edges), tuple(turned), tuple(eased))


def _flip_edges(own: np.ndarray, reach: int) -> list[Span]:
    """The last frame before and the first frame after each flip, which takes at most `reach` frames."""
    far = np.zeros((reach + 1, len(own)))  # [rad] from each frame to the one so many frames later
    for k in range(1, min(reach, len(own) - 1) + 1):
        far[k, :-k] = _angles(own[:-k], own[k:])
    found, i = list[Span](), 0
    while i < len(own) - 1:
        if far[:, i].max() <= max(_FLIP, _NEARLY * far[:, i + 1].max()):
            i += 1  # no flip, or most of one that begins later
            continue
        begin, end = i, i + int(far[:, i].argmax())
        while begin + 1 < end and far[end - begin - 1, begin + 1] >= _NEARLY * far[end - begin, begin]:
            begin += 1
        found.append((begin, end))
        i = end
    return found


def _right_state(own: np.ndarray, pieces: list[Span]) -> int:
    """Which pieces are not flipped over: 0 if the first, the third and so on, 1 if the others."""
    frames = [np.concatenate([np.arange(*piece) for piece in pieces[k::2]]) for k in (0, 1)]
    rest = np.array([1.0, 0.0, 0.0, 0.0])
    bent = [float(np.median(_angles(rest[None], own[inside]))) for inside in frames]
    if abs(bent[0] - bent[1]) > _CLOSER:
        return int(bent[1] < bent[0])
    return int(len(frames[1]) > len(frames[0]))


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

    Raises:
        BrokenClipError: there are so many that no piece can be trusted.
    """
    motion, strayed = _despike_root(motion)
    if strayed:
        findings.add(f"the root jumps and comes back at {', '.join(strayed)} s: interpolated")
    found = _teleports(motion)
    lasts = sum(float(motion.time[last + 1] - motion.time[first]) for first, last in found)
    if len(found) > _MOST_TELEPORTS or lasts > _LONGEST_TELEPORTS:
        often = f"{len(found)} times" if len(found) > 1 else "again and again"
        raise BrokenClipError(
            f"the root teleports {often}, first at {motion.time[found[0][0]]:.2f} s, for {lasts:.2f} s in all; clips "
            f"with up to {_MOST_TELEPORTS} teleports and {_LONGEST_TELEPORTS:g} s of them can be mended"
        )
    while found:
        first, last = found[0]
        far = float(np.linalg.norm(motion.root_position[last + 1] - motion.root_position[first]))
        at = f"the root teleports by {far:.2f} m at {motion.time[first]:.2f} s"
        before, after, whole = first + 1, len(motion) - last - 1, len(motion)
        turned = _mean_of_most(_angles(motion.rotations[first], motion.rotations[last + 1]))
        if min(before, after) < _SHORT * whole or turned > _OTHER:
            keep = slice(last + 1, None) if before < after else slice(None, first + 1)
            cut = "before" if before < after else "after"
            fewer = min(before, after)
            does = f"the {_count(fewer, 'frame')} {cut} it {'was' if fewer == 1 else 'were'} cut off"
            findings.add(f"{at}: {does}", fewer < _SHORT * whole)
            motion = motion.select(keep)
        else:
            motion = _bridged(motion, first, last)
            findings.add(f"{at}: bridged, the later part was moved to where the earlier one would have gone on", False)
        found = _teleports(motion)
    return motion


def _teleports(motion: Motion) -> list[Span]:
    """The first and the last step of each teleport."""
    return [
        (first, stop - 1)
        for first, stop in true_spans(span_mask([(i, i + 1) for i in _jumps(motion).tolist()], len(motion)))
    ]


def _usual(motion: Motion, now: np.ndarray, i: int) -> list[np.ndarray]:
    """Median velocities [m/s] before and after a step."""
    near = max(round(_ROOT_AROUND / frame_time(motion.time)), 3)
    return [np.median(own, axis=0) for own in steps_around(now, i, near)]


def _velocities(motion: Motion) -> np.ndarray:
    """(n − 1, 3) velocities of the root from frame to frame [m/s]."""
    return np.asarray(np.diff(motion.root_position, axis=0) / np.diff(motion.time)[:, None])


def _jumps(motion: Motion) -> np.ndarray:
    """Frames after which the root jumps: faster than anybody, or unlike the steps before it and those after it."""
    now = _velocities(motion)
    speed = np.linalg.norm(now, axis=1)
    found = [
        i
        for i in np.flatnonzero(speed > 0.5 * _SUDDEN).tolist()
        if speed[i] > _FASTEST or min(np.linalg.norm(now[i] - v) for v in _usual(motion, now, i)) > _SUDDEN
    ]
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
