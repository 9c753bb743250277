"""Motion-capture clips: any BVH file, or an AMC file with its ASF skeleton, as a motion in metres with z up.

Files do not say which axis is up and how long a unit is. Both are inferred from the body: its legs tell the unit, and
its posture tells what is up. The clip lists what was understood and what is unsure.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import acclaim, body_parts, bvh
from surefoot.motions.findings import Findings
from surefoot.motions.forward_kinematics import chain_from_root, parents_first, world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.motion_editing import frame_rate

UNITS = {
    "metres": 1.0,
    "centimetres": 0.01,
    "millimetres": 0.001,
    "decimetres": 0.1,
    "inches": 0.0254,
    "feet": 0.3048,
    "the units of CMU's library": 0.0254 / 0.45,
}  # [m]
_LEG = 0.83  # [m] from hip to ankle of an adult
_GROWN, _ANYBODY = (0.68, 1.0), (0.4, 1.1)  # [m] the same of most adults, and of children and giants
_TALL = (1.0, 2.2)  # [m] from the lowest joint to the highest one
_LIKE = 0.2  # of a limb's length: how much its bones may differ from those of its twin
_LONG = 0.5  # least length of legs, as a share of the longest pair of limbs
_UPRIGHT = 0.6  # share of frames in which a body must stand for its posture to tell what is up
_SAME_NAME = 4  # more joints of one side with the same name: names tell nothing
_FRAMES = 200  # that are looked at
_WAYS = ("y", "z", "x", "-y", "-z", "-x")
_FORWARD = {"x": "y", "y": "z", "z": "x"}  # the axis called forward, by the axis that is up
_WHOLE = 5e-4  # how far from a whole number of frames a second a printed frame time may be
_USUAL = (20.0, 250.0)  # frames per second of motion capture
_POSSIBLE = (5.0, 1000.0)  # frames per second with which a body's motion can be read at all


@dataclass(frozen=True)
class LegChains:
    """The joints of two legs from hip to ankle, and whether they were found by name."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    named: bool


class ClipInference:
    """Infers what a clip's file does not say, from some of its frames in the file's units and axes."""

    def __init__(self, motion: Motion, findings: Findings) -> None:
        """Find the legs.

        Args:
            motion: the clip.
            findings: where to say what was understood.
        """
        self.skeleton, self._findings = motion.skeleton, findings
        self.places, _ = world_poses(motion.select(slice(None, None, max(len(motion) // _FRAMES, 1))))
        self.legs = _named(self.skeleton) or _twins(self.skeleton)
        if self.legs is not None:
            both = [", ".join(self.skeleton.names[j] for j in leg) for leg in (self.legs.left, self.legs.right)]
            if self.legs.named:
                findings.add(f"the legs from hip to ankle are {both[0]} and {both[1]}")
            else:
                findings.add(f"by their lengths, not by their names, {both[0]} and {both[1]} are the legs", False)

    def infer_up_axis(self) -> str:
        """The axis along which hips and trunk are above the feet in most frames."""
        below = set(self.legs.left + self.legs.right) if self.legs else set[int]()
        upper = [j for j in range(len(self.skeleton.names)) if not below & set(chain_from_root(self.skeleton, j))]
        if self.legs is None or not upper:
            self._findings.add("no two legs were found that show which axis is up: y is assumed, as usual", False)
            return "y"
        feet = self.places[:, [self.legs.left[-1], self.legs.right[-1]]].mean(axis=1)
        hips = self.places[:, [self.legs.left[0], self.legs.right[0]]].mean(axis=1)
        top = self.places[:, upper].mean(axis=1)
        ways = np.vstack([np.eye(3), -np.eye(3)])[[1, 2, 0, 4, 5, 3]]
        rise = np.minimum((hips - feet) @ ways.T, (top - feet) @ ways.T)  # (n, 6)
        share = np.bincount(np.argmax(rise, axis=1), minlength=6) / len(rise)
        best = int(np.argmax(share))
        told = f"{_WAYS[best]} is up: along it the body stands above its feet in {share[best]:.0%} of the frames"
        self._findings.add(told, share[best] >= _UPRIGHT)
        return _WAYS[best]

    def infer_scale(self, known: float | None) -> float:
        """Metres per unit with which the legs are as long as a person's; `known` is what the file says."""
        legs = (self.legs.left, self.legs.right) if self.legs else ()
        leg = float(np.mean([_length(self.skeleton, own) for own in legs])) if legs else 0.0
        if leg <= 1e-9:
            self._findings.add("no two legs were found that show the unit: metres are assumed", False)
            return known or 1.0
        if known is not None and _ANYBODY[0] <= known * leg <= _ANYBODY[1]:
            self._findings.add(f"a unit is {known:.6g} m, by the skeleton's file: the legs are {known * leg:.2f} m")
            return known
        if known is not None:
            self._findings.add(
                f"by the skeleton's file a unit is {known:.6g} m and the legs {known * leg:.3g} m", False
            )
        likely = [unit for unit, size in UNITS.items() if _ANYBODY[0] <= size * leg <= _ANYBODY[1]]
        name = min(likely or UNITS, key=lambda unit: abs(math.log(UNITS[unit] * leg / _LEG)))
        metres = UNITS[name] * leg
        if not _ANYBODY[0] <= metres <= _ANYBODY[1]:
            self._findings.add(
                f"no known unit gives legs of {leg:.3g} units a person's length ({name}: {metres:.3g} m): the clip was "
                f"scaled to legs of {_LEG} m",
                False,
            )
            return _LEG / leg
        told = f"lengths are in {name} ({UNITS[name]:.6g} m): the legs are {metres:.2f} m from hip to ankle"
        usual = _GROWN[0] <= metres <= _GROWN[1]
        self._findings.add(told if usual else f"{told}, unusual for a grown person", usual)
        if name not in ("metres", "centimetres", "millimetres"):
            self._findings.add(f"the size of the body alone shows that lengths are in {name}", False)
        return UNITS[name]

    def report_stature(self, up: str, scale: float) -> None:
        """Say how tall the body is, and whether that is usual."""
        heights = self.places[..., "xyz".index(up[-1])]
        tall = scale * float(np.median(np.ptp(heights, axis=1)))
        told = f"from the lowest joint to the highest one it is {tall:.2f} m tall"
        usual = _TALL[0] <= tall <= _TALL[1]
        doubt = ": it lies or crouches, or the unit or the up axis are not what was understood"
        self._findings.add(told if usual else told + doubt, usual)


def _named(skeleton: Skeleton) -> LegChains | None:
    said = Counter(name for name in body_parts.side_and_part(skeleton.names) if name[0])
    if max(said.values(), default=0) > _SAME_NAME:
        return None
    legs = []
    for side in ("left", "right"):
        found = body_parts.limb_joints(skeleton, side, body_parts.LEG_ALIASES, optional=3)
        if found is None or found[0] is None or found[2] is None:
            return None
        whole = chain_from_root(skeleton, found[2])
        legs.append(tuple(whole[whole.index(found[0]) :]))
    return LegChains(legs[0], legs[1], named=True)


def _twins(skeleton: Skeleton) -> LegChains | None:
    """The legs by shape: of all pairs of equal chains below one joint, the long ones nearest to the root."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    order, count = parents_first(skeleton), len(lengths)
    lengths[order[0]] = 0.0
    depth, reach = np.zeros(count), np.zeros(count)  # distance from the root, and on to the farthest end
    onward, children = [-1] * count, [list[int]() for _ in range(count)]
    for joint in order[1:]:
        depth[joint] = depth[skeleton.parents[joint]] + lengths[joint]
        children[int(skeleton.parents[joint])].append(joint)
    whole = reach.copy()  # with the joint's own offset
    for joint in reversed(order):
        if children[joint]:
            onward[joint] = max(children[joint], key=whole.__getitem__)
            reach[joint] = whole[onward[joint]]
        whole[joint] = reach[joint] + lengths[joint]
    pairs = [(top, *pair) for top in order if (pair := _pair(children[top], onward, lengths, reach)) is not None]
    longest = max((reach[a] for _, a, _ in pairs), default=0.0)
    long = [pair for pair in pairs if reach[pair[1]] >= _LONG * longest > 0.0]
    if not long:
        return None
    _, a, b = min(long, key=lambda pair: (depth[pair[0]], -reach[pair[1]]))
    legs = [_two_long(_chain_from(joint, onward), lengths) for joint in (a, b)]
    return LegChains(legs[0], legs[1], named=False)


def _pair(joints: list[int], onward: list[int], lengths: np.ndarray, reach: np.ndarray) -> tuple[int, int] | None:
    """The two most similar chains of two bones or more that begin at these joints."""
    chains = {j: _chain_from(j, onward) for j in sorted(joints, key=lambda j: -reach[j])[:12]}
    best, least = None, _LIKE
    for a, one in chains.items():
        for b, other in chains.items():
            if a < b and len(one) == len(other) > 2:
                apart = np.abs(lengths[one[1:]] - lengths[other[1:]]).sum() / max(lengths[one[1:]].sum(), 1e-12)
                if apart < least:
                    best, least = (a, b), float(apart)
    return best


def _chain_from(joint: int, onward: list[int]) -> list[int]:
    found = [joint]
    while onward[found[-1]] >= 0:
        found.append(onward[found[-1]])
    return found


def _two_long(joints: list[int], lengths: np.ndarray) -> tuple[int, ...]:
    """Hip, knee and ankle: the ends of the two consecutive bones that are longest together."""
    both = [float(lengths[joints[i + 1]] + lengths[joints[i + 2]]) for i in range(len(joints) - 2)]
    first = int(np.argmax(both))
    return tuple(joints[first : first + 3])


def _length(skeleton: Skeleton, leg: tuple[int, ...]) -> float:
    return float(np.linalg.norm(skeleton.offsets[list(leg[1:])], axis=1).sum())


@dataclass(frozen=True)
class Clip:
    """A clip, with what was understood of its file and what is unsure.

    The motion is in metres with z up. It keeps its skeleton, and its position and heading as recorded.
    """

    motion: Motion
    understood: tuple[str, ...]
    unsure: tuple[str, ...]
    scale: float  # metres per unit of the file
    up: str  # the file's axis that points up
    fps: float


def read_clip(
    path: str | Path,
    *,
    asf: str | Path | None = None,
    scale: float | None = None,
    up: str | None = None,
    fps: float | None = None,
    findings: Findings | None = None,
) -> Clip:
    """Read a .bvh or .amc file.

    Args:
        path: of the file.
        asf: the skeleton of an .amc file.
        scale: metres per unit; by default the unit with which the body has a person's size.
        up: the file's axis that points up: x, y, z, -x, -y or -z; by default the one along which the body stands.
        fps: frames per second; by default what the file says, and 120 for .amc files, which do not say it.
        findings: where to say what was understood, so that it is known even if the clip is refused.

    Raises:
        OutputError: an option is not valid, or the file cannot be read; the message names the line.
    """
    path, unit, findings = Path(path), None, Findings() if findings is None else findings
    if scale is not None and not 0.0 < scale < np.inf:
        raise OutputError(f"the scale must be a positive number of metres per unit, got {scale}")
    if fps is not None and not _POSSIBLE[0] <= fps <= _POSSIBLE[1]:
        raise OutputError(f"frames per second must be within {_POSSIBLE[0]:g} … {_POSSIBLE[1]:g}, got {fps}")
    if up is not None:
        bvh.axis_change(up, _FORWARD.get(up[-1:], ""))
    if path.suffix.lower() == ".bvh":
        if asf is not None:
            raise OutputError("only an .amc file needs an .asf, a .bvh file holds its skeleton")
        raw = bvh.load(path, up="z", forward="x")
        pace = fps or _pace(raw, path, findings)
    elif path.suffix.lower() == ".amc":
        if asf is None:
            raise OutputError(f"{path}: an .amc file holds no skeleton; its .asf file is needed")
        raw = acclaim.load(path, asf, up="z", forward="x", fps=fps or 120.0)
        pace, unit = fps or 120.0, acclaim.metres_per_unit(asf)
        if fps is None:
            findings.add("an .amc file has no frame rate: 120 frames per second are assumed", False)
    else:
        raise OutputError(f"cannot read {path} as a clip: unknown format {path.suffix!r}; valid: .bvh, .amc")
    findings.add(
        f"{len(raw.skeleton.names)} joints, {len(raw)} frames at {pace:g} frames per second "
        f"({len(raw) / pace:.2f} s){'' if fps is None else ', as told'}"
    )
    inference = ClipInference(raw, findings)
    above, metres = up or inference.infer_up_axis(), scale or inference.infer_scale(unit)
    if up is not None:
        findings.add(f"{up} is up, as told")
    if scale is not None:
        findings.add(f"a unit is {scale:g} m, as told")
    inference.report_stature(above, metres)
    findings.add("position and heading are kept as recorded")
    motion = bvh.convert_axes(raw, above, _FORWARD[above[-1]], 1.0 / metres)
    motion = replace(motion, time=np.arange(len(raw)) / pace)
    return Clip(motion, tuple(findings.understood), tuple(findings.unsure), metres, above, pace)


def _pace(raw: Motion, path: Path, findings: Findings) -> float:
    """Frames per second, rounded to a whole number if the file's frame time is one in print."""
    found, (least, most) = frame_rate(raw), _POSSIBLE
    if len(raw) > 1 and not least <= found <= most:
        meant = 1.0 / found  # the pace, if it was written in place of the time between frames
        hint = f"if it means {meant:g} frames per second, --fps {meant:g} says so" if least <= meant <= most else ""
        raise OutputError(
            f"{path}: frames {1.0 / found:g} s apart, which is {found:.3g} frames per second; a clip has "
            f"{least:g} … {most:g}; {hint or '--fps tells the true number'}"
        )
    if abs(found - round(found)) <= _WHOLE * found:
        found = float(round(found))
    if not _USUAL[0] <= found <= _USUAL[1]:
        findings.add(f"the file says {found:g} frames per second, unusual for motion capture", False)
    return found
