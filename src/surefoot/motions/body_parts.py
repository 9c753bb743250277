"""Finds out which joints of any skeleton are the hips, knees, shoulders …: by name, else by shape.

Names are those of common programs. Where they say nothing, the two similar chains that reach lowest are the legs, the
two longest similar chains above the pelvis are the arms, and the highest end is the head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions.forward_kinematics import chain_from_root, world_poses
from surefoot.motions.motion import Motion, Skeleton

LEG_ALIASES = (
    ("upleg", "thigh", "femur", "upperleg", "hip"),
    ("leg", "knee", "shin", "tibia", "calf", "lowerleg", "lowleg", "shank"),
    ("ankle", "foot"),
    ("toebase", "toe", "toes", "ball", "foot"),
)
ARM_ALIASES = (
    ("collar", "clavicle", "clav", "shoulder"),
    ("arm", "upperarm", "uparm", "humerus", "shoulder"),
    ("forearm", "elbow", "radius", "lowerarm", "lowarm"),
    ("wrist", "hand"),
)
_SIDED = {alias for role in LEG_ALIASES + ARM_ALIASES for alias in role} | {"hipjoint", "thumb", "finger", "fingers"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
_LONG = 0.6  # of a limb's longest bone: least length of its two long bones
_LIKE = 0.75  # least ratio of the lengths of two similar limbs
_ASIDE = 0.02  # [m] that feet must point ahead to show where a body faces
_MOST_JOINTS = 2000  # of a skeleton whose parts are looked for
_STRETCH = 0.15  # of a leg: how much longer the other one may be without being mentioned

Chain = list[int | None]  # joints of a limb from the trunk on; None is missing


class SkeletonError(SurefootError):
    """A skeleton lacks a part that is needed."""


@dataclass(frozen=True)
class LegJoints:
    """The joints of a leg; a skeleton may have no toe joint."""

    hip: int
    knee: int
    ankle: int
    toe: int | None

    @property
    def tip(self) -> int:
        """The foremost joint of the foot: the toe joint, or the ankle if there is none."""
        return self.ankle if self.toe is None else self.toe


@dataclass(frozen=True)
class ArmJoints:
    """The joints of an arm; a skeleton may have no collar bone."""

    collar: int | None
    shoulder: int
    elbow: int
    wrist: int


@dataclass(frozen=True)
class BodyParts:
    """Joint indices of a skeleton.

    The trunk's joints are those above the pelvis, up to the one that neck and arms hang from; the neck's are those
    between the trunk and the head.
    """

    pelvis: int
    left: LegJoints
    right: LegJoints
    trunk: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None
    left_arm: ArmJoints | None
    right_arm: ArmJoints | None


def find_body_parts(motion: Motion) -> tuple[BodyParts, list[str]]:
    """Find the parts of a motion's body.

    Args:
        motion: its skeleton may come from any program.

    Returns:
        The parts, and sentences about what is unsure.

    Raises:
        SkeletonError: the skeleton has no two legs of thigh and shank.
    """
    skeleton, unsure = motion.skeleton, list[str]()
    if not len(motion) or len(skeleton.names) > _MOST_JOINTS:
        raise SkeletonError(
            f"the parts of a body can be found in a motion with frames and at most {_MOST_JOINTS} joints, "
            f"this one has {len(motion)} frames and {len(skeleton.names)} joints"
        )
    shape = SkeletonShape(motion.select(slice(None, None, max(len(motion) // 200, 1))))  # enough for medians
    left, right = _legs(shape, unsure)
    pelvis = shape.common_ancestor(left.hip, right.hip)
    arms = _arms(shape, pelvis, left, right, unsure)
    trunk, neck, head = _upper(shape, pelvis, left, right, arms, unsure)
    return BodyParts(pelvis, left, right, trunk, neck, head, *arms), unsure


def side_and_part(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each joint's side (left, right or nothing) and the rest of its name, in small letters without numbers.

    Prefixes that all names share (mixamorig:, Bip01) are ignored.
    """
    words = [[w.lower() for w in _WORD.findall(name.rsplit(":", 1)[-1])] for name in names]
    while len(words) > 1 and all(len(w) > 1 and w[0] == words[1][0] and w[0] not in _SIDES for w in words[1:]):
        words = [w[1:] if len(w) > 1 else w for w in words]
    return [_sided([w for w in own if not w.isdigit()]) for own in words]


def side_signs(names: tuple[str, ...]) -> list[int]:
    """For each joint 1 if its name says left, −1 if it says right, else 0."""
    return [{"left": 1, "right": -1}.get(side, 0) for side, _ in side_and_part(names)]


def limb_joints(skeleton: Skeleton, side: str, roles: tuple[tuple[str, ...], ...], optional: int) -> Chain | None:
    """The joints of a limb by name, each below the one before; the one of the `optional` role may be missing."""
    names = side_and_part(skeleton.names)
    choices: list[Chain] = [
        [j for alias in role for j, own in enumerate(names) if own == (side, alias)] for role in roles
    ]
    choices[optional].append(None)
    for found in product(*choices):
        there = [j for j in found if j is not None]
        if all(a != b and a in chain_from_root(skeleton, b) for a, b in pairwise(there)):
            return list(found)
    return None


def _sided(words: list[str]) -> tuple[str, str]:
    for i, word in enumerate(words):
        if word in _SIDES:
            return _SIDES[word], "".join(words[:i] + words[i + 1 :])
    whole = "".join(words)
    for start, side in _SIDES.items():
        if whole.startswith(start) and whole[len(start) :] in _SIDED:
            return side, whole[len(start) :]
    return "", whole


class SkeletonShape:
    """The chains of a motion's skeleton, and how high their joints mostly are."""

    def __init__(self, motion: Motion) -> None:
        self.skeleton = motion.skeleton
        self.places, _ = world_poses(motion)
        self.heights = np.median(self.places[..., 2], axis=0)  # (joints,)
        self.lengths = np.linalg.norm(motion.skeleton.offsets, axis=1)
        parents = set(motion.skeleton.parents.tolist())
        self.leaves = [j for j in range(len(self.lengths)) if j not in parents]

    def joints_below(self, top: int, joint: int) -> list[int]:
        """The joints below `top` down to `joint`."""
        whole = chain_from_root(self.skeleton, joint)
        return whole[whole.index(top) + 1 :]

    def common_ancestor(self, a: int, b: int) -> int:
        """The last joint that lies on the chains from the root to both joints."""
        one, other = chain_from_root(self.skeleton, a), chain_from_root(self.skeleton, b)
        return [x for x, y in zip(one, other, strict=False) if x == y][-1]

    def legs(self) -> list[Chain] | None:
        """Hip, knee, ankle and toe of the two chains that reach lowest, in any order."""
        low = sorted(self.leaves, key=lambda j: self.heights[j])
        for second in low[1:]:
            top = self.common_ancestor(low[0], second)
            own, other = (self.lengths[self.joints_below(top, j)].sum() for j in (low[0], second))
            if min(own, other) < _LIKE * max(own, other):
                continue
            found = [self._jointed(top, j) for j in (low[0], second)]
            high = self.heights[top] - self.heights[[low[0], second]].max()
            if all(found) and high > 0.5 * self.lengths[self.joints_below(top, second)].sum():
                return [f for f in found if f]
        return None

    def arms(self, used: set[int], chest_above: int) -> list[Chain] | None:
        """Collar, shoulder, elbow and wrist of the two longest similar chains that begin above the pelvis."""
        best: tuple[float, list[Chain]] | None = None
        free = [j for j in self.leaves if not used & set(chain_from_root(self.skeleton, j)[1:]) and j not in used]
        for i, a in enumerate(free):
            for b in free[i + 1 :]:
                top = self.common_ancestor(a, b)
                own, other = (float(self.lengths[self.joints_below(top, j)].sum()) for j in (a, b))
                if top == chest_above or min(own, other) < _LIKE * max(own, other):
                    continue
                found = [self._jointed(top, j) for j in (a, b)]
                if all(found) and (best is None or own + other > best[0]):
                    best = (own + other, [self._with_collar(top, f) for f in found if f])
        return None if best is None else best[1]

    def left_first(self, one: Chain, other: Chain, forward: np.ndarray) -> bool:
        """Whether `one` is the left limb of a body that faces `forward` (n, 2)."""
        across = self.places[:, one[0], :2] - self.places[:, other[0], :2]
        return bool(np.median(forward[:, 0] * across[:, 1] - forward[:, 1] * across[:, 0]) > 0.0)

    def forward(self, legs: list[Chain]) -> tuple[np.ndarray, str]:
        """(n, 2) where the feet point, else where the knees bend, the body travels or x points; and which it was."""
        feet = [self.places[:, leg[3], :2] - self.places[:, leg[2], :2] for leg in legs if leg[3] is not None]
        if feet and np.median(np.linalg.norm(sum(feet), axis=1)) > _ASIDE:
            return np.asarray(sum(feet)), "the feet point"
        knees = [self._bend(leg) for leg in legs]
        if np.median(np.linalg.norm(sum(knees), axis=1)) > _ASIDE:
            return np.asarray(sum(knees)), "the knees bend"
        gone = self.places[-1, 0, :2] - self.places[0, 0, :2]
        if np.linalg.norm(gone) > 1.0:
            return np.tile(gone, (len(self.places), 1)), "it travels"
        return np.tile([1.0, 0.0], (len(self.places), 1)), "the file's forward axis points"

    def _bend(self, leg: Chain) -> np.ndarray:
        """(n, 2) how far a knee is off the line from hip to ankle, seen from above."""
        hip, knee, ankle = (self.places[:, int(joint or 0)] for joint in leg[:3])
        line = ankle - hip
        share = ((knee - hip) * line).sum(axis=1) / np.maximum((line**2).sum(axis=1), 1e-12)
        return np.asarray((knee - hip - share[:, None] * line)[:, :2])

    def _jointed(self, top: int, leaf: int) -> Chain | None:
        """The joints at the ends of the last two long bones below `top`, and the next joint."""
        joints = self.joints_below(top, leaf)
        lengths = self.lengths[joints]
        if len(joints) < 3:
            return None
        long = [i for i in range(1, len(joints)) if lengths[i] > _LONG * lengths[1:].max()]
        if len(long) < 2:
            return None
        first, second = long[-2:]  # a collar bone may be as long, a hand or a foot is not
        after = [j for i, j in enumerate(joints) if i > second and lengths[i] > 0.0]
        return [joints[first - 1], joints[first], joints[second], after[0] if after else None]

    def _with_collar(self, top: int, joints: Chain) -> Chain:
        shoulder = joints[0]
        before = [j for j in self.joints_below(top, int(shoulder or 0)) if j != shoulder]
        return [before[-1] if before else None, *joints[:3]]


def _legs(shape: SkeletonShape, unsure: list[str]) -> tuple[LegJoints, LegJoints]:
    skeleton = shape.skeleton
    named = [limb_joints(skeleton, side, LEG_ALIASES, optional=3) for side in ("left", "right")]
    legs = [leg for leg in named if leg is not None]
    forward, told = np.zeros((0, 2)), ""
    if len(legs) == 2:
        forward, told = shape.forward(legs)
        if not shape.left_first(legs[0], legs[1], forward):
            unsure.append(
                f"the leg that is called left is on the right, judged by where {told}: the clip may be mirrored"
            )
    else:
        found = shape.legs()
        if found is None:
            missing = [side for side, leg in zip(("left", "right"), named, strict=True) if leg is None]
            raise SkeletonError(
                f"the skeleton has no {' and no '.join(missing)} leg: neither joints with names like LeftUpLeg, "
                "LeftLeg, LeftFoot nor two similar chains that hang down; two legs of hip, knee and ankle are needed"
            )
        legs = found
        forward, told = shape.forward(legs)
        if not shape.left_first(legs[0], legs[1], forward):
            legs = legs[::-1]
        unsure.append(
            f"the joints' names do not show the legs: by shape and by where {told}, {_list(skeleton, legs[0])} are the "
            f"left one and {_list(skeleton, legs[1])} the right one"
        )
    for side, leg in zip(("left", "right"), legs, strict=True):
        if leg[3] is None:
            unsure.append(f"the {side} foot has no toe joint")
    limbs = [LegJoints(int(hip or 0), int(knee or 0), int(ankle or 0), toe) for hip, knee, ankle, toe in legs]
    long = [shape.lengths[shape.joints_below(limb.hip, limb.ankle)].sum() for limb in limbs]
    if min(long) <= 0.0:
        raise SkeletonError("the skeleton's legs have no length; thighs and shanks of some length are needed")
    if max(long) > (1.0 + _STRETCH) * min(long):
        unsure.append(f"the left leg is {long[0]:.3g} m long and the right one {long[1]:.3g} m")
    return limbs[0], limbs[1]


def _arms(
    shape: SkeletonShape, pelvis: int, left: LegJoints, right: LegJoints, unsure: list[str]
) -> tuple[ArmJoints | None, ArmJoints | None]:
    skeleton = shape.skeleton
    named = [limb_joints(skeleton, side, ARM_ALIASES, optional=0) for side in ("left", "right")]
    if not any(named):
        used = {joint for limb in (left, right) for joint in shape.joints_below(pelvis, limb.ankle)}
        found = shape.arms(used, pelvis)
        if found is not None:
            across = shape.places[:, left.hip, :2] - shape.places[:, right.hip, :2]
            forward = np.column_stack([across[:, 1], -across[:, 0]])
            named = list(found if shape.left_first([found[0][1]], [found[1][1]], forward) else found[::-1])
            unsure.append("the joints' names do not show the arms: they were found by shape")
    for side, arm in zip(("left", "right"), named, strict=True):
        if arm is None:
            unsure.append(f"no {side} arm was found")
    return _arm(named[0]), _arm(named[1])


def _upper(
    shape: SkeletonShape,
    pelvis: int,
    left: LegJoints,
    right: LegJoints,
    arms: tuple[ArmJoints | None, ArmJoints | None],
    unsure: list[str],
) -> tuple[tuple[int, ...], tuple[int, ...], int | None]:
    """Trunk, neck and head: the chain to the joint called head, else to the highest end that is no arm's."""
    skeleton = shape.skeleton
    shoulders = [arm.shoulder for arm in arms if arm is not None]
    limbs = {left.hip, right.hip, *shoulders}
    heads = [j for j, own in enumerate(side_and_part(skeleton.names)) if own == ("", "head")]
    if not heads:
        ends = [j for j in shape.leaves if not limbs & set(chain_from_root(skeleton, j))]
        heads = [j for j in sorted(ends, key=lambda j: -shape.heights[j]) if shape.heights[j] > shape.heights[pelvis]]
        unsure.append(f"{skeleton.names[heads[0]]} is assumed to be the head" if heads else "no head was found")
    if not heads and not shoulders:
        return (), (), None
    ends = [*heads[:1], *shoulders]
    chest = ends[0] if len(ends) > 1 else int(skeleton.parents[ends[0]])
    for end in ends[1:]:
        chest = shape.common_ancestor(chest, end)
    trunk = tuple(shape.joints_below(shape.common_ancestor(pelvis, chest), chest))
    if not heads:
        return trunk, (), None
    return (
        trunk,
        tuple(j for j in shape.joints_below(shape.common_ancestor(chest, heads[0]), heads[0]) if j != heads[0]),
        heads[0],
    )


def _arm(joints: Chain | None) -> ArmJoints | None:
    return None if joints is None else ArmJoints(joints[0], *(int(joint or 0) for joint in joints[1:]))


def _list(skeleton: Skeleton, joints: Chain) -> str:
    return ", ".join(skeleton.names[j] for j in joints if j is not None)
