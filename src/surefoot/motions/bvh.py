"""BVH files: written for Blender (metres, Y up, +Z forward unless told otherwise), read from any program.

Files are read strictly; every error names the line. `LineReader`, `axis_change` and `convert_axes` also serve the
readers of other formats.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions.leaf_bones import leaf_bone_ends
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.motion_editing import frame_rate, resample

MAX_BYTES = 256 * 1024 * 1024
MAX_JOINTS = 1000
LARGEST_NUMBER = 1e9  # a larger number is an error and not a length or an angle
_REMARKS = ("#", "//")  # begin lines that are not part of the format
_CHANNELS = tuple(f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ")
_ROOT_CHANNELS = "Xposition Yposition Zposition Zrotation Xrotation Yrotation"
_JOINT_CHANNELS = "Zrotation Xrotation Yrotation"
_STRETCH = 0.02  # of the skeleton's size: how far a joint may slide along its parent and still count as fixed
_AXES = {sign + name: (-1.0 if sign else 1.0) * np.eye(3)[i] for i, name in enumerate("xyz") for sign in ("", "-")}


@dataclass
class BvhJoint:
    """A joint as it stands in the file; `column` is where its channels (in lower case) begin in a frame."""

    name: str
    parent: int
    offset: np.ndarray
    channels: tuple[str, ...] = ()
    column: int = 0


@dataclass(frozen=True)
class BvhFile:
    """The joints in the file's order, and a row of values (frames, channels) for every frame."""

    joints: list[BvhJoint]
    values: np.ndarray
    frame_time: float  # [s]


class LineReader:
    """Reads a text file line by line, as words; blank lines and remarks are skipped."""

    def __init__(self, path: Path, kind: str) -> None:
        """Read the file; `kind` is what it should be, for the error.

        Raises:
            OutputError: the file cannot be read or is too large.
        """
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            raise OutputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        if len(raw) > MAX_BYTES:
            raise OutputError(f"{path}: {kind} has at most {MAX_BYTES // 1024**2} MB")
        self._label, self._text = str(path), raw.decode("utf-8-sig", errors="replace").splitlines()
        self.number = 0  # of the last line that was read

    def __iter__(self) -> Iterator[list[str]]:
        """The words of each line."""
        for number, line in enumerate(self._text, 1):
            words = line.split()
            if words and not words[0].startswith(_REMARKS):
                self.number = number
                yield words

    def fail(self, reason: str) -> NoReturn:
        """Refuse the file because of its last line."""
        raise OutputError(f"{self._label}:{max(self.number, 1)}: {reason}")

    def floats(self, words: list[str], count: int) -> np.ndarray:
        """(count,) numbers of some words of the last line."""
        if len(words) != count:
            self.fail(f"expected {count} numbers, got {len(words)}")
        try:
            found = np.array([float(word) for word in words])
        except ValueError as error:
            self.fail(str(error)[:120])
        self._check(found)
        return found

    def table(self, flat: array[float], lines: array[int], width: int) -> np.ndarray:
        """(rows, width) numbers that were read row by row; `lines` are the numbers of the rows' lines."""
        found = np.frombuffer(flat).reshape(len(lines), width) if width else np.zeros((len(lines), 0))
        wrong = np.flatnonzero(~(np.abs(found) <= LARGEST_NUMBER).all(axis=1))
        if len(wrong):
            self.number = lines[wrong[0]]
            self._check(found[wrong[0]])
        return found

    def _check(self, values: np.ndarray) -> None:
        if not np.isfinite(values).all():
            self.fail("a number that is not finite")
        if (np.abs(values) > LARGEST_NUMBER).any():
            self.fail(f"a number beyond ±{LARGEST_NUMBER:g}, too large for a length or an angle")


def parse_file(path: Path) -> BvhFile:
    """Read a file; errors are an `OutputError` with the line."""
    return _BvhReader(path, "a BVH file").file()


class _BvhReader(LineReader):
    def file(self) -> BvhFile:
        self._lines, self._width = iter(self), 0
        joints = self._joints()
        number = self._after("'Frames: COUNT'")
        if not number.isdecimal() or len(number) > 9:
            self._wrong([number], "'Frames: COUNT'")
        frame_time = float(self.floats([self._after("'Frame Time: SECONDS'")], 1)[0])
        if frame_time <= 0.0 or not int(number):
            self.fail("a motion needs at least one frame and a positive frame time")
        return BvhFile(joints, self._values(int(number)), frame_time)

    def _after(self, wanted: str) -> str:
        """The one word after the colon of a line that looks like `wanted`; blanks around the colon may be missing."""
        words = self._next(wanted)
        found = " ".join(words).replace(":", " ").split()
        labels = wanted.strip("'").lower().partition(":")[0].split()
        if [word.lower() for word in found[:-1]] != labels:
            self._wrong(words, wanted)
        return found[-1]

    def _joints(self) -> list[BvhJoint]:
        """Everything up to the word MOTION."""
        self._expect("HIERARCHY")
        joints: list[BvhJoint] = []
        path: list[int] = []  # the joints whose blocks are open; −1 for an end site
        while True:
            words = self._next("'MOTION'" if joints and not path else "a joint or '}'")
            key = words[0].lower()
            if key == "motion" and joints and not path:
                return joints
            if key == "}" and path:
                path.pop()
            elif key == ("joint" if path else "root") and len(words) > 1 and path[-1:] != [-1]:
                if joints and not path:
                    self.fail("a second skeleton; only files with one can be read")
                if len(joints) == MAX_JOINTS:
                    self.fail(f"a skeleton has at most {MAX_JOINTS} joints")
                joints.append(self._joint(words, path[-1] if path else -1))
                path.append(len(joints) - 1)
            elif key == "end" and path and path[-1] >= 0:
                self._block(words)
                path.append(-1)
            else:
                self._wrong(words, "JOINT, End Site or '}'" if path else "ROOT" if not joints else "MOTION")

    def _joint(self, words: list[str], parent: int) -> BvhJoint:
        name = " ".join(words[1:]).removesuffix("{").strip()
        joint = BvhJoint(name, parent, self._block(words))
        words = self._next("CHANNELS")
        if words[0].lower() != "channels" or len(words) < 2 or words[1] != str(len(words) - 2):
            self._wrong(words, "CHANNELS, their number and their names")
        joint.channels, joint.column = tuple(word.lower() for word in words[2:]), self._width
        unknown = [word for word in words[2:] if word.capitalize() not in _CHANNELS]
        if unknown or len(set(joint.channels)) < len(joint.channels):
            self.fail(f"channels are {', '.join(_CHANNELS)}, each at most once; got {' '.join(words[2:])}")
        self._width += len(joint.channels)
        return joint

    def _block(self, words: list[str]) -> np.ndarray:
        """(3,) the offset at the beginning of a block, whose brace may stand at the end of the line before."""
        if not words[-1].endswith("{"):
            self._expect("{")
        words = self._next("OFFSET")
        if words[0].lower() != "offset":
            self._wrong(words, "OFFSET")
        return self.floats(words[1:], 3)

    def _values(self, count: int) -> np.ndarray:
        """(count, width) as many rows as the file announced; nothing may follow them."""
        flat, lines = array("d"), array("q")
        for words in self._lines:
            lines.append(self.number)
            if len(lines) > count:
                self.fail(f"more rows than the {count} frames that were announced")
            if len(words) != self._width:
                self.fail(f"expected {self._width} numbers, got {len(words)}")
            try:
                flat.fromlist(list(map(float, words)))
            except ValueError as error:
                self.fail(str(error)[:120])
        if len(lines) < count:
            self.fail(f"the file ends after {len(lines)} of {count} frames")
        return self.table(flat, lines, self._width)

    def _next(self, wanted: str) -> list[str]:
        words = next(self._lines, None)
        if words is None:
            self.fail(f"the file ends where {wanted} was expected")
        return words

    def _expect(self, word: str) -> None:
        words = self._next(word)
        if words[0].lower() != word.lower() or len(words) > 1:
            self._wrong(words, word)

    def _wrong(self, words: list[str], wanted: str) -> NoReturn:
        self.fail(f"expected {wanted}, got {' '.join(words)[:40]!r}")


def axis_change(up: str, forward: str) -> np.ndarray:
    """(3, 3) rotation that takes our vectors (x forward, y left, z up) to the file's.

    Args:
        up: the file's axis that points up: x, y, z, -x, -y or -z.
        forward: the file's axis that points forward.

    Raises:
        OutputError: an axis is unknown, or both are the same.
    """
    for axis in (up, forward):
        if axis not in _AXES:
            raise OutputError(f"unknown axis {axis!r}; valid: {', '.join(_AXES)}")
    if up[-1] == forward[-1]:
        raise OutputError(f"up and forward must be different axes, got {up!r} and {forward!r}")
    return np.column_stack([_AXES[forward], np.cross(_AXES[up], _AXES[forward]), _AXES[up]])


def convert_axes(motion: Motion, up: str, forward: str, scale: float) -> Motion:
    """A motion in a file's axes and units, converted to ours: x forward, z up, metres.

    Args:
        motion: its rotations need not have length 1.
        up: the file's axis that points up.
        forward: the file's axis that points forward.
        scale: units of the file per metre.
    """
    frame, skeleton = axis_change(up, forward), motion.skeleton
    rotations = np.concatenate([motion.rotations[..., :1], motion.rotations[..., 1:] @ frame], axis=-1)
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    return replace(
        motion,
        skeleton=replace(skeleton, offsets=skeleton.offsets @ frame / scale),
        root_position=motion.root_position @ frame / scale,
        rotations=quat.make_continuous(rotations),
    )


def check_scale(scale: float) -> float:
    """The scale [units per metre] if it is a positive number."""
    if not 0.0 < scale < np.inf:
        raise OutputError(f"the scale must be a positive number of units per metre, got {scale}")
    return scale


def save(
    motion: Motion, path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z", fps: float | None = None
) -> None:
    """Write a motion; `load` with the same options gives it back.

    Args:
        motion: its joints are written depth first, which may change their order.
        path: of the file.
        scale: units of the file per metre; 100 for centimetres.
        up: the file's axis that points up: x, y, z, -x, -y or -z.
        forward: the file's axis that points forward.
        fps: frames per second; by default those of the motion.

    Raises:
        OutputError: an option or the motion is not valid, or the file cannot be written.
    """
    replace_file(Path(path), text(motion, scale=scale, up=up, forward=forward, fps=fps).encode())


def text(motion: Motion, *, scale: float = 1.0, up: str = "y", forward: str = "z", fps: float | None = None) -> str:
    """What `save` writes. The root's own offset is omitted: its position is in its channels."""
    frame, scale = axis_change(up, forward), check_scale(scale)
    if not motion.is_finite:
        raise OutputError("cannot write a BVH file of numbers that are not finite")
    pace = frame_rate(motion) if fps is None else fps
    even = resample(motion, pace, whole=fps is None)
    joints = [joint for joint, _ in _depth_first(even.skeleton.parents)]
    offsets = np.where(even.skeleton.parents[:, None] < 0, 0.0, even.skeleton.offsets)
    places = [scale * table @ frame.T for table in (offsets, leaf_bone_ends(motion), even.root_position)]
    turns = np.concatenate([even.rotations[..., :1], even.rotations[..., 1:] @ frame.T], axis=-1)
    angles = np.degrees(_zxy(quat.make_continuous(turns)))[:, joints].reshape(len(even), -1)
    lines = _hierarchy(even.skeleton.names, even.skeleton.parents, places[0], places[1])
    lines += ["MOTION", f"Frames: {len(even)}", f"Frame Time: {float(1.0 / pace)!r}"]
    lines += [_numbers(row) for row in np.hstack([places[2], angles])]
    return "\n".join(lines) + "\n"


def load(path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z") -> Motion:
    """Read a BVH file of any hierarchy and order of channels.

    Position channels replace offsets, as in Blender. Joints that move along their parents are refused: bones are rigid.

    Args:
        path: of the file.
        scale: units of the file per metre; 100 for centimetres.
        up: the file's axis that points up: x, y, z, -x, -y or -z.
        forward: the file's axis that points forward.

    Raises:
        OutputError: an option is not valid, or the file cannot be read; the message names the line.
    """
    axis_change(up, forward)  # before the work, not after
    check_scale(scale)
    file = parse_file(Path(path))
    count, offsets = len(file.values), np.array([joint.offset for joint in file.joints])
    size = float(np.abs(offsets).sum(axis=0).max())
    rotations, root = np.zeros((count, len(offsets), 4)), np.tile(offsets[0], (count, 1))
    for i, joint in enumerate(file.joints):
        place, turn = np.tile(joint.offset, (count, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        for column, channel in enumerate(joint.channels, start=joint.column):
            axis, values = "xyz".index(channel[0]), file.values[:, column]
            if channel.endswith("position"):
                place[:, axis] = values
            else:
                turn = quat.rotate_about_own_axis(turn, axis, np.radians(values))
        rotations[:, i] = turn
        if joint.parent < 0:
            root = place
        elif "position" in "".join(joint.channels) and np.abs(place).max() > 0.0:  # all zero: meant to be added
            offsets[i] = np.median(place, axis=0)
            slid = float(np.linalg.norm(place - offsets[i], axis=1).max())
            if slid > _STRETCH * size:
                raise OutputError(
                    f"{path}: joint {joint.name} slides by {slid:.3g} units from where it is fixed to its parent; "
                    "only files with rigid bones can be read"
                )
    names, parents = tuple(joint.name for joint in file.joints), np.array([joint.parent for joint in file.joints])
    raw = Motion(np.arange(count) * file.frame_time, Skeleton(names, parents, offsets), root, rotations)
    return convert_axes(raw, up, forward, scale)


def _depth_first(parents: np.ndarray) -> list[tuple[int, int]]:
    """(joint, depth) of all joints, each followed by its descendants."""
    roots = np.flatnonzero(parents < 0)
    if len(roots) != 1:
        raise OutputError(f"a BVH file holds one skeleton with one root, this one has {len(roots)}")
    found, waiting = [], [(int(roots[0]), 0)]
    while waiting:
        joint, depth = waiting.pop()
        found.append((joint, depth))
        waiting += [(int(child), depth + 1) for child in np.flatnonzero(parents == joint)[::-1]]
    if len(found) != len(parents):
        raise OutputError("a BVH file holds one skeleton, but some joints do not hang from its root")
    return found


def _hierarchy(names: Sequence[str], parents: np.ndarray, offsets: np.ndarray, ends: np.ndarray) -> list[str]:
    """The lines before the motion; `ends` (joints, 3) counts where a joint has no child."""
    lines, open_blocks = ["HIERARCHY"], 0
    for joint, depth in _depth_first(parents):
        while open_blocks > depth:
            open_blocks -= 1
            lines.append("\t" * open_blocks + "}")
        tabs, inner = "\t" * depth, "\t" * (depth + 1)
        name = "_".join(names[joint].split()) or "joint"  # blanks would end it
        lines += [f"{tabs}{'JOINT' if depth else 'ROOT'} {name}", tabs + "{"]
        lines.append(f"{inner}OFFSET {_numbers(offsets[joint])}")
        lines.append(f"{inner}CHANNELS " + (f"3 {_JOINT_CHANNELS}" if depth else f"6 {_ROOT_CHANNELS}"))
        open_blocks += 1
        if not (parents == joint).any():
            lines += [f"{inner}End Site", inner + "{", f"{inner}\tOFFSET {_numbers(ends[joint])}", inner + "}"]
    return lines + ["\t" * depth + "}" for depth in reversed(range(open_blocks))]


def _numbers(values: np.ndarray) -> str:
    return " ".join([f"{value:.9f}" for value in values.tolist()])


def _zxy(q: np.ndarray) -> np.ndarray:
    """(n, joints, 3) angles [rad] about Z, X, Y, in this order, of (n, joints, 4) rotations.

    Accurate at gimbal lock too, unlike `quat.euler_angles`. Of the two solutions, each frame takes the one nearest to
    the frame before, so that programs may interpolate the angles.
    """
    w, x, y, z = np.moveaxis(q, -1, 0)
    half_sum, half_difference = np.arctan2(y + z, w + x), np.arctan2(z - y, w - x)
    middle = 2.0 * np.arctan2(np.hypot(w + x, y + z), np.hypot(w - x, z - y)) - 0.5 * np.pi
    first, last = half_sum + half_difference, half_sum - half_difference
    one = np.stack([first, middle, last], axis=-1)
    ways = np.stack([one, quat.other_euler_solution(one)])
    angles: np.ndarray = _short(ways[0])
    for now in range(1, len(angles)):
        turned = _short(ways[:, now] - angles[now - 1])
        nearer = (turned[1] ** 2).sum(axis=-1) < (turned[0] ** 2).sum(axis=-1)
        angles[now] = angles[now - 1] + np.where(nearer[:, None], turned[1], turned[0])
    return angles


def _short(angles: np.ndarray) -> np.ndarray:
    """Angles [rad] shifted by whole turns to within half a turn of zero."""
    return np.asarray(angles - 2.0 * np.pi * np.round(angles / (2.0 * np.pi)))
