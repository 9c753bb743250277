"""Acclaim files: a skeleton (.asf) and a motion of it (.amc), read strictly, and motions written back as .amc.

A bone begins where its parent ends and turns about its beginning, which is its joint. At rest all joints have the
skeleton's axes. The turns M of a bone are about axes C of its own, so its rotation is C M C⁻¹. An order XYZ means turns
about fixed axes, x first: R = Rz Ry Rx. An AMC file has no frame rate.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import bvh
from surefoot.motions import quaternions as quat
from surefoot.motions.bvh import LARGEST_NUMBER, MAX_JOINTS, LineReader
from surefoot.motions.motion import Motion, Skeleton

_TURNS = ("rx", "ry", "rz")
_ROOT = (*_TURNS, "tx", "ty", "tz")


@dataclass
class AsfBone:
    """A bone as it stands in the file, angles in the file's unit; the root is a bone without length."""

    name: str
    direction: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) of length 1, in the skeleton's axes
    length: float = 0.0
    axis: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) turns of its own axes about x, y, z
    order: str = "xyz"  # of turns about fixed axes, the first one first
    channels: tuple[str, ...] = ()
    parent: int = -1
    column: int = 0  # where its channels begin in a frame


@dataclass(frozen=True)
class AsfSkeleton:
    """The bones, parents before children, and the file's units."""

    bones: list[AsfBone]
    length: float  # what `:units` says: the file's lengths are inches times this
    degrees: bool


def read_asf(path: Path) -> AsfSkeleton:
    """Read a skeleton; errors are an `OutputError` with the line."""
    lines = LineReader(path, "an ASF file")
    root, units = AsfBone("root"), {"length": 1.0, "degrees": 1.0}
    bones, section, seen = {"root": root}, "", set[str]()
    block: dict[str, tuple[int, list[str]]] | None = None  # lines by their first words, with their numbers
    for words in lines:
        key = words[0].lower()
        if key.startswith(":"):
            if block is not None:
                lines.fail(f"{words[0][:40]!r} inside a block that has no 'end'")
            section = key
            seen.add(key)
        elif not section:
            lines.fail(f"expected a section like ':units', got {' '.join(words)[:40]!r}")
        elif section == ":units":
            _unit(lines, units, key, words)
        elif section == ":root":
            _root(lines, root, key, words[1:])
        elif section in (":bonedata", ":hierarchy"):
            if (key == "begin") != (block is None):
                lines.fail(f"expected 'begin' or 'end' of a block, got {' '.join(words)[:40]!r}")
            if key == "begin":
                block = {}
            elif key == "end":
                if section == ":bonedata":
                    _bone(lines, bones, block or {})
                block = None
            elif section == ":hierarchy":
                _hang(lines, bones, words)
            elif block is not None:
                block[key] = lines.number, words[1:]
    missing = [name for name in (":root", ":bonedata", ":hierarchy") if name not in seen]
    if missing or block is not None:
        lines.fail(f"the file ends without {', '.join(missing) or 'the end of a block'}")
    return AsfSkeleton(_sorted(lines, bones), units["length"], bool(units["degrees"]))


def _unit(lines: LineReader, units: dict[str, float], key: str, words: list[str]) -> None:
    if key == "angle":
        if len(words) != 2 or words[1].lower() not in ("deg", "rad"):
            lines.fail(f"the unit of angles is deg or rad, got {' '.join(words[1:])[:40]!r}")
        units["degrees"] = float(words[1].lower() == "deg")
    elif key == "length":
        units["length"] = float(lines.floats(words[1:], 1)[0])
        if units["length"] < 1.0 / LARGEST_NUMBER:
            lines.fail("the unit of lengths must be positive")


def _root(lines: LineReader, root: AsfBone, key: str, words: list[str]) -> None:
    if key == "order":
        root.channels = _channels(lines, words, _ROOT)
    elif key == "axis":
        root.order = _order(lines, " ".join(words))
    elif key in ("position", "orientation") and lines.floats(words, 3).any():
        lines.fail(f"only a root whose {key} is 0 0 0 can be read, since programs do not agree on what others mean")


def _order(lines: LineReader, word: str) -> str:
    """The letters x, y and z in the order of a word."""
    if sorted(word.lower()) != ["x", "y", "z"]:
        lines.fail(f"an order of axes is XYZ or another order of these letters, got {word[:40]!r}")
    return word.lower()


def _channels(lines: LineReader, words: list[str], valid: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(word.lower() for word in words)
    if not set(found) <= set(valid) or len(set(found)) < len(found):
        lines.fail(f"valid are {', '.join(valid)}, each at most once, got {' '.join(words)[:40]!r}")
    return found


def _bone(lines: LineReader, bones: dict[str, AsfBone], block: dict[str, tuple[int, list[str]]]) -> None:
    """Add the bone of a block that has ended."""

    def line(key: str) -> list[str]:
        lines.number, words = block[key]
        return words

    missing = [key for key in ("name", "direction", "length", "axis") if key not in block]
    if missing:
        lines.fail(f"a bone without {', '.join(missing)}")
    name = " ".join(line("name"))
    if name in bones:
        lines.fail(f"a second bone of the name {name[:40]!r}")
    if len(bones) > MAX_JOINTS:
        lines.fail(f"a skeleton has at most {MAX_JOINTS} bones")
    direction, length = lines.floats(line("direction"), 3), float(lines.floats(line("length"), 1)[0])
    size = float(np.linalg.norm(direction))
    if length < 0.0 or (length and size < 1e-6):
        lines.fail(f"bone {name[:40]!r} needs a direction and a length that is not negative")
    bones[name] = AsfBone(
        name,
        direction / size if size else direction,
        length,
        lines.floats(line("axis")[:3], 3),
        _order(lines, " ".join(line("axis")[3:])),
        _channels(lines, line("dof") if "dof" in block else [], _TURNS),
    )


def _hang(lines: LineReader, bones: dict[str, AsfBone], words: list[str]) -> None:
    """Read a line of the hierarchy: a bone and its children."""
    unknown = [word for word in words if word not in bones]
    if unknown:
        lines.fail(f"there is no bone {unknown[0][:40]!r}")
    names = list(bones)
    for word in words[1:]:
        if word == "root" or bones[word].parent >= 0:
            lines.fail(f"bone {word!r} hangs from two bones" if word != "root" else "the root hangs from a bone")
        bones[word].parent = names.index(words[0])
        above = words[0]
        while above != "root" and bones[above].parent >= 0:
            above = names[bones[above].parent]
            if above == words[0]:
                lines.fail(f"bone {word!r} hangs from itself")


def _sorted(lines: LineReader, bones: dict[str, AsfBone]) -> list[AsfBone]:
    """The bones, parents before children, with parents and columns numbered accordingly."""
    old, order = list(bones.values()), [0]
    children: dict[int, list[int]] = {}
    for i, bone in enumerate(old):
        children.setdefault(bone.parent, []).append(i)
    for i in order:  # the list grows while it is traversed
        order += children.get(i, [])
    lost = sorted(set(range(len(old))) - set(order))
    if lost:
        lines.fail(f"bone {old[lost[0]].name[:40]!r} does not hang from the root")
    place, column = {i: k for k, i in enumerate(order)}, 0
    for i in order:
        old[i].parent, old[i].column = place.get(old[i].parent, -1), column
        column += len(old[i].channels)
    return [old[i] for i in order]


def read_amc(path: Path, skeleton: AsfSkeleton) -> tuple[np.ndarray, bool]:
    """(frames, channels) in the skeleton's order and the file's units, and whether angles are degrees."""
    lines, degrees = LineReader(path, "an AMC file"), skeleton.degrees
    wanted = {b.name: (b.column, len(b.channels)) for b in skeleton.bones if b.channels}
    width = sum(count for _, count in wanted.values())
    flat, starts, frame = array("d"), array("q"), 0
    row: list[float] = []
    done: set[str] = set()

    def close() -> None:
        if starts and len(done) < len(wanted):
            lines.fail(f"frame {frame} ends without {', '.join(sorted(set(wanted) - done))[:80]}")
        flat.extend(row)

    for words in lines:
        name = words[0]
        spot = wanted.get(name) if starts else None
        if spot is not None:
            column, count = spot
            if len(words) != count + 1:
                lines.fail(f"bone {name[:40]!r} has {count} channels, got {len(words) - 1} numbers")
            try:
                row[column : column + count] = map(float, words[1:])
            except ValueError as error:
                lines.fail(str(error)[:120])
            if name in done:
                lines.fail(f"bone {name[:40]!r} a second time in frame {frame}")
            done.add(name)
        elif len(words) == 1 and name.isdecimal() and len(name) < 10:
            close()
            if starts and int(name) != frame + 1:
                lines.fail(f"expected frame {frame + 1}, got {name}")
            frame, row = int(name), [0.0] * width
            done.clear()
            starts.append(lines.number)
        elif starts:
            lines.fail(f"expected the number of a frame or a bone with channels, got {' '.join(words)[:40]!r}")
        elif name.startswith(":"):
            degrees = {":degrees": True, ":radians": False}.get(name.lower(), degrees)
        else:
            lines.fail(f"expected ':DEGREES' or the first frame's number, got {' '.join(words)[:40]!r}")
    if not starts:
        lines.fail("a motion needs at least one frame")
    close()
    return lines.table(flat, starts, width), degrees


def load(
    amc_path: str | Path,
    asf_path: str | Path,
    *,
    fps: float = 120.0,
    scale: float = 1.0,
    up: str = "y",
    forward: str = "z",
) -> Motion:
    """Read a motion and its skeleton.

    Args:
        amc_path: the file of the motion.
        asf_path: the file of its skeleton.
        fps: frames per second, which the files do not say.
        scale: units of the files per metre.
        up: the files' axis that points up: x, y, z, -x, -y or -z.
        forward: the files' axis that points forward.

    Raises:
        OutputError: an option is not valid, or a file cannot be read; the message names the line.
    """
    bvh.axis_change(up, forward)  # before the work, not after
    bvh.check_scale(scale)
    if not 0.0 < fps < np.inf:
        raise OutputError(f"frames per second must be a positive number, got {fps}")
    body = read_asf(Path(asf_path))
    values, degrees = read_amc(Path(amc_path), body)
    bones, unit = body.bones, np.pi / 180.0 if degrees else 1.0
    rotations, root = np.zeros((len(values), len(bones), 4)), np.zeros((len(values), 3))
    for i, bone in enumerate(bones):
        own = _own_axes(bone, body.degrees)
        turn = np.tile(own, (len(values), 1))
        for axis in reversed(bone.order):
            if f"r{axis}" in bone.channels:
                turn = quat.rotate_about_own_axis(turn, "xyz".index(axis), unit * _channel(values, bone, f"r{axis}"))
        rotations[:, i] = quat.multiply(turn, quat.inverse(own))
        for axis in "xyz":
            if f"t{axis}" in bone.channels:
                root[:, "xyz".index(axis)] = _channel(values, bone, f"t{axis}")
    parents = np.array([bone.parent for bone in bones])
    ends = np.array([bone.length * bone.direction for bone in bones])
    offsets = np.where(parents[:, None] < 0, 0.0, ends[parents])
    skeleton = Skeleton(tuple(bone.name for bone in bones), parents, offsets)
    return bvh.convert_axes(Motion(np.arange(len(values)) / fps, skeleton, root, rotations), up, forward, scale)


def amc_channels(
    motion: Motion, asf_path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z"
) -> dict[str, np.ndarray]:
    """The channels of a motion in an AMC file: (frames, channels) by bone, in the file's units and in degrees.

    Rotations that a bone's channels cannot express are left out. Angles are continuous; of the two solutions, the one
    that leaves out less is taken, and then the one with smaller angles.

    Args:
        motion: of the skeleton in `asf_path`.
        asf_path: the file of the skeleton.
        scale: units of the files per metre.
        up: the files' axis that points up.
        forward: the files' axis that points forward.

    Raises:
        OutputError: the motion has another skeleton, or an option is not valid.
    """
    frame, scale = bvh.axis_change(up, forward), bvh.check_scale(scale)
    skeleton = read_asf(Path(asf_path))
    if tuple(bone.name for bone in skeleton.bones) != motion.skeleton.names:
        raise OutputError(f"{asf_path}: not the skeleton of this motion, whose bones are the same in the same order")
    root, found = scale * motion.root_position @ frame.T, {}
    for i, bone in enumerate(skeleton.bones):
        if not bone.channels:
            continue
        own = _own_axes(bone, skeleton.degrees)
        turn = motion.rotations[:, i]
        turn = np.concatenate([turn[:, :1], turn[:, 1:] @ frame.T], axis=1)
        turn = quat.multiply(quat.multiply(quat.inverse(own), turn), own)
        angles = np.degrees(_angles(turn, bone))
        found[bone.name] = np.column_stack(
            [(angles if name[0] == "r" else root)[:, "xyz".index(name[1])] for name in bone.channels]
        )
    return found


def amc_text(motion: Motion, asf_path: str | Path, *, scale: float = 1.0, up: str = "y", forward: str = "z") -> str:
    """The text of an AMC file of a motion, with the arguments of `amc_channels`; the frame rate is lost."""
    table = amc_channels(motion, asf_path, scale=scale, up=up, forward=forward)
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for now in range(len(motion)):
        lines.append(str(now + 1))
        lines += [f"{name} " + " ".join(f"{v:.9f}" for v in rows[now].tolist()) for name, rows in table.items()]
    return "\n".join(lines) + "\n"


def metres_per_unit(asf_path: str | Path) -> float:
    """Metres per unit of a skeleton's file, if its `:units length` means units per inch, as in CMU's files."""
    return 0.0254 / read_asf(Path(asf_path)).length


def _own_axes(bone: AsfBone, degrees: bool) -> np.ndarray:
    """(4,) rotation C from the skeleton's axes to the bone's own."""
    found = np.array([1.0, 0.0, 0.0, 0.0])
    for axis in reversed(bone.order):
        i = "xyz".index(axis)
        found = quat.rotate_about_own_axis(found, i, np.asarray(bone.axis[i] * (np.pi / 180.0 if degrees else 1.0)))
    return found


def _channel(values: np.ndarray, bone: AsfBone, name: str) -> np.ndarray:
    return np.asarray(values[:, bone.column + bone.channels.index(name)])


def _angles(turns: np.ndarray, bone: AsfBone) -> np.ndarray:
    """(n, 3) angles [rad] about x, y and z that make rotations (n, 4) in the bone's order."""
    axes = ["xyz".index(axis) for axis in reversed(bone.order)]
    one = quat.euler_angles(turns, axes)
    ways = np.stack([one, quat.other_euler_solution(one)])
    ways -= 2.0 * np.pi * np.round(ways[:, :1] / (2.0 * np.pi))
    left_out = [f"r{'xyz'[axis]}" not in bone.channels for axis in axes]
    least = (1.0 - np.cos(ways)).sum(axis=1) @ np.where(left_out, 1.0, 1e-6)  # (2,)
    return np.asarray(ways[int(np.argmin(least))][:, np.argsort(axes)])
