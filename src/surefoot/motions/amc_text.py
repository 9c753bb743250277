"""The text of AMC motions, read strictly, each error with its line."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from surefoot.motions.asf_text import Lines, Skeleton
from surefoot.motions.bvh_text import LARGEST


def read(path: Path, skeleton: Skeleton) -> tuple[np.ndarray, bool]:
    """(frames, channels) in the skeleton's order and the file's units, and whether angles are degrees."""
    lines, degrees = Lines(path, "an AMC file"), skeleton.degrees
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
    values = np.frombuffer(flat).reshape(len(starts), width) if width else np.zeros((len(starts), 0))
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST).all(axis=1))
    if len(wrong):
        lines.number = starts[wrong[0]]
        lines.fail(f"frame with a number that is not finite or beyond ±{LARGEST:g}")
    return values, degrees
