"""What a clip does not say of itself, told from its body: which way is up, and how long a unit is."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from surefoot.motions import part_names
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.places import chain, downward, world

UNITS = {
    "metres": 1.0,
    "centimetres": 0.01,
    "millimetres": 0.001,
    "decimetres": 0.1,
    "inches": 0.0254,
    "feet": 0.3048,
    "the units of CMU's library": 0.0254 / 0.45,
}  # [m]
_LEG = 0.83  # [m] from hip to ankle of a grown person
_GROWN, _ANYBODY = (0.68, 1.0), (0.4, 1.1)  # [m] of people, of children and giants
_TALL = (1.0, 2.2)  # [m] from the lowest joint to the highest one
_LIKE = 0.2  # of a limb's length: how much its bones may differ from those of its twin
_LONG = 0.5  # of the longest pair of limbs: what legs have at least
_UPRIGHT = 0.6  # of all frames: from here on the posture tells what is up
_SAME_NAME = 4  # joints of a side with one name: from here on names tell nothing
_FRAMES = 200  # looked at
_WAYS = ("y", "z", "x", "-y", "-z", "-x")


@dataclass(frozen=True)
class Legs:
    """The joints from hip to ankle of two legs, and whether their names told which they are."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    named: bool


@dataclass
class Senses:
    """A clip in its own units and axes, and what is told of it in words."""

    motion: Motion
    understood: list[str]
    unsure: list[str]

    def __post_init__(self) -> None:
        """Look at some of the frames only."""
        few = slice(None, None, max(len(self.motion) // _FRAMES, 1))
        clip = self.motion
        self.skeleton = clip.skeleton
        self.places, _ = world(
            Motion(clip.time[few], clip.skeleton, clip.root_position[few], clip.rotations[few])
        )  # (n, joints, 3)
        self.legs = _named(self.skeleton) or _twins(self.skeleton)
        if self.legs is not None:
            both = [", ".join(self.skeleton.names[j] for j in leg) for leg in (self.legs.left, self.legs.right)]
            if self.legs.named:
                self.understood.append(f"the legs from hip to ankle are {both[0]} and {both[1]}")
            else:
                self.unsure.append(f"by their lengths, not by their names, {both[0]} and {both[1]} are the legs")

    def up(self) -> str:
        """The axis along which head and trunk are above the feet."""
        below = set(self.legs.left + self.legs.right) if self.legs else set[int]()
        upper = [j for j in range(len(self.skeleton.names)) if not below & set(chain(self.skeleton, j))]
        if self.legs is None or not upper:
            self.unsure.append("no two legs were found that would tell which axis is up: y is taken, as usual")
            return "y"
        feet = self.places[:, [self.legs.left[-1], self.legs.right[-1]]].mean(axis=1)
        hips = self.places[:, [self.legs.left[0], self.legs.right[0]]].mean(axis=1)
        top = self.places[:, upper].mean(axis=1)
        ways = np.vstack([np.eye(3), -np.eye(3)])[[1, 2, 0, 4, 5, 3]]
        rise = np.minimum((hips - feet) @ ways.T, (top - feet) @ ways.T)  # (n, 6)
        share = np.bincount(np.argmax(rise, axis=1), minlength=6) / len(rise)
        best = int(np.argmax(share))
        told = f"{_WAYS[best]} is up: along it the body stands above its feet in {share[best]:.0%} of the frames"
        (self.understood if share[best] >= _UPRIGHT else self.unsure).append(told)
        return _WAYS[best]

    def scale(self, known: float | None) -> float:
        """Metres per unit that make a person of the body; `known` is what the file says."""
        legs = (self.legs.left, self.legs.right) if self.legs else ()
        leg = float(np.mean([_length(self.skeleton, own) for own in legs])) if legs else 0.0
        if leg <= 1e-9:
            self.unsure.append("no two legs were found that would tell the unit: metres are taken")
            return known or 1.0
        if known is not None and _ANYBODY[0] <= known * leg <= _ANYBODY[1]:
            self.understood.append(f"a unit is {known:.6g} m, by the skeleton's file: the legs are {known * leg:.2f} m")
            return known
        if known is not None:
            self.unsure.append(f"by the skeleton's file a unit is {known:.6g} m and the legs {known * leg:.3g} m")
        likely = [unit for unit, size in UNITS.items() if _ANYBODY[0] <= size * leg <= _ANYBODY[1]]
        name = min(likely or UNITS, key=lambda unit: abs(math.log(UNITS[unit] * leg / _LEG)))
        metres = UNITS[name] * leg
        if not _ANYBODY[0] <= metres <= _ANYBODY[1]:
            self.unsure.append(
                f"no known unit makes a person of legs that are {leg:.3g} units from hip to ankle ({name}: "
                f"{metres:.3g} m): scaled to legs of {_LEG} m"
            )
            return _LEG / leg
        told = f"lengths are in {name} ({UNITS[name]:.6g} m): the legs are {metres:.2f} m from hip to ankle"
        if _GROWN[0] <= metres <= _GROWN[1]:
            self.understood.append(told)
        else:
            self.unsure.append(f"{told}, unusual for a grown person")
        if name not in ("metres", "centimetres", "millimetres"):
            self.unsure.append(f"that lengths are in {name} is told by the size of the body alone")
        return UNITS[name]

    def stature(self, up: str, scale: float) -> None:
        """Tell how tall the body stands, and whether people do."""
        heights = self.places[..., "xyz".index(up[-1])]
        tall = scale * float(np.median(np.ptp(heights, axis=1)))
        told = f"from the lowest joint to the highest one it is {tall:.2f} m tall"
        if _TALL[0] <= tall <= _TALL[1]:
            self.understood.append(told)
        else:
            self.unsure.append(f"{told}: it lies or crouches, or unit or up axis are not what was understood")


def _named(skeleton: Skeleton) -> Legs | None:
    said = Counter(name for name in part_names.said(skeleton.names) if name[0])
    if max(said.values(), default=0) > _SAME_NAME:
        return None
    legs = []
    for side in ("left", "right"):
        found = part_names.limb(skeleton, side, part_names.LEG, optional=3)
        if found is None or found[0] is None or found[2] is None:
            return None
        whole = chain(skeleton, found[2])
        legs.append(tuple(whole[whole.index(found[0]) :]))
    return Legs(legs[0], legs[1], named=True)


def _twins(skeleton: Skeleton) -> Legs | None:
    """Of all like chains that hang from one joint, the long ones that hang from nearest to the root."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    order, count = downward(skeleton), len(lengths)
    lengths[order[0]] = 0.0
    depth, reach = np.zeros(count), np.zeros(count)  # from the root; on to the farthest end
    onward, children = [-1] * count, [list[int]() for _ in range(count)]
    for joint in order[1:]:
        depth[joint] = depth[skeleton.parents[joint]] + lengths[joint]
        children[int(skeleton.parents[joint])].append(joint)
    whole = reach.copy()  # the same with the joint's own offset
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
    return Legs(legs[0], legs[1], named=False)


def _pair(joints: list[int], onward: list[int], lengths: np.ndarray, reach: np.ndarray) -> tuple[int, int] | None:
    """The two most alike of the chains from these joints on that have two bones or more."""
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
    """Hip, knee and ankle: the ends of the two bones in a row that are longest together."""
    both = [float(lengths[joints[i + 1]] + lengths[joints[i + 2]]) for i in range(len(joints) - 2)]
    first = int(np.argmax(both))
    return tuple(joints[first : first + 3])


def _length(skeleton: Skeleton, leg: tuple[int, ...]) -> float:
    return float(np.linalg.norm(skeleton.offsets[list(leg[1:])], axis=1).sum())
