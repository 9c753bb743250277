"""Clips of motion capture: any BVH file, or AMC with its ASF, as a motion in metres with z up.

What the file does not say is told from the body in it, and in words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import asf as asf_files
from surefoot.motions import bvh
from surefoot.motions.clip_senses import Senses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.resample import MAX_FPS, rate

_FORWARD = {"x": "y", "y": "z", "z": "x"}  # the axis called forward, by the axis that is up
_WHOLE = 5e-4  # how far from a whole number of frames a second a printed frame time may be
_USUAL = (20.0, 250.0)  # frames per second of motion capture


@dataclass(frozen=True)
class Clip:
    """A motion of its own skeleton, and what was understood of the file and what is unsure.

    The motion is in metres with z up and faces where it was recorded to face: the file's axes are only exchanged.
    """

    motion: Motion
    understood: tuple[str, ...]
    unsure: tuple[str, ...]
    scale: float  # metres per unit of the file
    up: str  # the file's axis that points up
    fps: float


def read(
    path: str | Path,
    *,
    asf: str | Path | None = None,
    scale: float | None = None,
    up: str | None = None,
    fps: float | None = None,
) -> Clip:
    """Read a .bvh or .amc file.

    Args:
        path: of the file.
        asf: the skeleton of an .amc file.
        scale: metres per unit; by default what makes a person of the body.
        up: the file's axis that points up: x, y, z, -x, -y or -z; by default the one the body stands along.
        fps: frames per second; by default what the file says, and 120 for .amc, which says nothing.
    """
    path, unit, understood, unsure = Path(path), None, list[str](), list[str]()
    if scale is not None and not 0.0 < scale < np.inf:
        raise OutputError(f"the scale must be a positive number of metres per unit, got {scale}")
    if fps is not None and not 0.0 < fps <= MAX_FPS:
        raise OutputError(f"frames per second must be within 0 … {MAX_FPS:g}, got {fps}")
    if up is not None:
        bvh.axes(up, _FORWARD.get(up[-1:], ""))
    if path.suffix.lower() == ".bvh":
        if asf is not None:
            raise OutputError("only an .amc file needs an .asf, a .bvh file holds its skeleton")
        raw = bvh.load(path, up="z", forward="x")
        pace = fps or _pace(raw, unsure)
    elif path.suffix.lower() == ".amc":
        if asf is None:
            raise OutputError(f"{path}: an .amc file holds no skeleton; its .asf file is needed")
        raw = asf_files.load(path, asf, up="z", forward="x", fps=fps or 120.0)
        pace, unit = fps or 120.0, asf_files.unit(asf)
        if fps is None:
            unsure.append("an .amc file has no frame rate: 120 frames per second are taken")
    else:
        raise OutputError(f"cannot read {path} as a clip: unknown format {path.suffix!r}; valid: .bvh, .amc")
    understood.append(
        f"{len(raw.skeleton.names)} joints, {len(raw)} frames at {pace:g} frames per second "
        f"({len(raw) / pace:.2f} s){'' if fps is None else ', as told'}"
    )
    senses = Senses(raw, understood, unsure)
    above, metres = up or senses.up(), scale or senses.scale(unit)
    if up is not None:
        understood.append(f"{up} is up, as told")
    if scale is not None:
        understood.append(f"a unit is {scale:g} m, as told")
    senses.stature(above, metres)
    understood.append("where it is and where it faces are kept as recorded")
    return Clip(_converted(raw, above, metres, pace), tuple(understood), tuple(unsure), metres, above, pace)


def _pace(raw: Motion, unsure: list[str]) -> float:
    """Frames per second; whole ones where the frame time is one that was rounded."""
    found = rate(raw)
    if not found <= MAX_FPS:
        raise OutputError(f"a clip has at most {MAX_FPS:g} frames per second, this one has {found:g}")
    if abs(found - round(found)) <= _WHOLE * found:
        found = float(round(found))
    if not _USUAL[0] <= found <= _USUAL[1]:
        unsure.append(f"the file says {found:g} frames per second, unusual for motion capture")
    return found


def _converted(raw: Motion, up: str, scale: float, fps: float) -> Motion:
    """In metres, with z up."""
    frame = bvh.axes(up, _FORWARD[up[-1]])
    rotations = raw.rotations.copy()
    rotations[..., 1:] = rotations[..., 1:] @ frame
    skeleton = raw.skeleton
    return replace(
        raw,
        time=np.arange(len(raw)) / fps,
        skeleton=Skeleton(skeleton.names, skeleton.parents, scale * skeleton.offsets @ frame),
        root_position=scale * raw.root_position @ frame,
        rotations=rotations,
    )
