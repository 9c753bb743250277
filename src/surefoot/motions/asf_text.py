"""The text of ASF skeletons, read strictly, each error with its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions.bvh_text import LARGEST, MAX_JOINTS, content

_TURNS = ("rx", "ry", "rz")
_ROOT = (*_TURNS, "tx", "ty", "tz")


@dataclass
class Bone:
    """A bone as it stands in the file; the root is a bone without length. Angles in the file's unit."""

    name: str
    direction: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) of length 1, in the skeleton's axes
    length: float = 0.0
    axis: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) turns of its own axes about x, y, z
    order: str = "xyz"  # of turns about fixed axes, the first one first
    channels: tuple[str, ...] = ()
    parent: int = -1
    column: int = 0  # where its channels begin in a frame


@dataclass(frozen=True)
class Skeleton:
    """Bones, parents before children and the root first, and the file's units."""

    bones: list[Bone]
    length: float  # what `:units` says: the file's lengths are inches times this
    degrees: bool


class Lines:
    """The lines that are neither blank nor remarks, each as its words, with the number of the last one."""

    def __init__(self, path: Path, kind: str) -> None:
        self._label, self.number = str(path), 0
        self._text = content(path, kind).splitlines()

    def __iter__(self) -> Iterator[list[str]]:
        for number, line in enumerate(self._text, 1):
            self.number = number
            words = line.split()
            if words and words[0][0] != "#":
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
        if not (np.abs(found) <= LARGEST).all():
            self.fail(f"a number that is not finite or beyond ±{LARGEST:g}")
        return found

    def order(self, word: str) -> str:
        """The letters x, y and z in the order of a word."""
        if sorted(word.lower()) != ["x", "y", "z"]:
            self.fail(f"an order of axes is XYZ or another order of these letters, got {word[:40]!r}")
        return word.lower()


def read(path: Path) -> Skeleton:
    """Read a skeleton; what is wrong with it is an `OutputError` with the line."""
    lines = Lines(path, "an ASF file")
    root, units = Bone("root"), {"length": 1.0, "degrees": 1.0}
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
    return Skeleton(_sorted(lines, bones), units["length"], bool(units["degrees"]))


def _unit(lines: Lines, units: dict[str, float], key: str, words: list[str]) -> None:
    if key == "angle":
        if len(words) != 2 or words[1].lower() not in ("deg", "rad"):
            lines.fail(f"the unit of angles is deg or rad, got {' '.join(words[1:])[:40]!r}")
        units["degrees"] = float(words[1].lower() == "deg")
    elif key == "length":
        units["length"] = float(lines.floats(words[1:], 1)[0])
        if units["length"] < 1.0 / LARGEST:
            lines.fail("the unit of lengths must be positive")


def _root(lines: Lines, root: Bone, key: str, words: list[str]) -> None:
    if key == "order":
        root.channels = _channels(lines, words, _ROOT)
    elif key == "axis":
        root.order = lines.order(" ".join(words))
    elif key in ("position", "orientation") and lines.floats(words, 3).any():
        lines.fail(f"only a root whose {key} is 0 0 0 can be read, since programs do not agree on what others mean")


def _channels(lines: Lines, words: list[str], valid: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(word.lower() for word in words)
    if not set(found) <= set(valid) or len(set(found)) < len(found):
        lines.fail(f"valid are {', '.join(valid)}, each at most once, got {' '.join(words)[:40]!r}")
    return found


def _bone(lines: Lines, bones: dict[str, Bone], block: dict[str, tuple[int, list[str]]]) -> None:
    """Add the bone of a block that has just ended."""

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
    bones[name] = Bone(
        name,
        direction / size if size else direction,
        length,
        lines.floats(line("axis")[:3], 3),
        lines.order(" ".join(line("axis")[3:])),
        _channels(lines, line("dof") if "dof" in block else [], _TURNS),
    )


def _hang(lines: Lines, bones: dict[str, Bone], words: list[str]) -> None:
    """A line of the hierarchy: a bone and what hangs from it."""
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


def _sorted(lines: Lines, bones: dict[str, Bone]) -> list[Bone]:
    """Parents before children, with parents and columns counted anew."""
    old, order = list(bones.values()), [0]
    children: dict[int, list[int]] = {}
    for i, bone in enumerate(old):
        children.setdefault(bone.parent, []).append(i)
    for i in order:  # grows while it is gone through
        order += children.get(i, [])
    lost = sorted(set(range(len(old))) - set(order))
    if lost:
        lines.fail(f"bone {old[lost[0]].name[:40]!r} does not hang from the root")
    place, column = {i: k for k, i in enumerate(order)}, 0
    for i in order:
        old[i].parent, old[i].column = place.get(old[i].parent, -1), column
        column += len(old[i].channels)
    return [old[i] for i in order]
