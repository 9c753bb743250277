"""Which joints of a stranger's skeleton are the hips, knees, shoulders …: by name, else by shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import part_names
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.part_shapes import Shape
from surefoot.motions.places import chain

_MOST_JOINTS = 2000  # of a skeleton whose parts are looked for
_STRETCH = 0.15  # of a leg: how much longer the other one may be without being mentioned


class SkeletonError(SurefootError):
    """A skeleton that lacks what is needed of it."""


@dataclass(frozen=True)
class Limb:
    """The joints of a leg; a skeleton may have no toe joint."""

    hip: int
    knee: int
    ankle: int
    toe: int | None


@dataclass(frozen=True)
class Arm:
    """The joints of an arm; a skeleton may have no collar bone."""

    collar: int | None
    shoulder: int
    elbow: int
    wrist: int


@dataclass(frozen=True)
class Parts:
    """Joint indices of a skeleton.

    The trunk's joints are those above the pelvis, up to and including the one that neck and arms hang from; the
    neck's are those between the trunk and the head.
    """

    pelvis: int
    left: Limb
    right: Limb
    trunk: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None
    left_arm: Arm | None
    right_arm: Arm | None


def parts_of(motion: Motion) -> tuple[Parts, list[str]]:
    """The parts of a motion's body, and in words what is unsure about them.

    Raises:
        SkeletonError: if there are no two legs of thigh and shank.
    """
    skeleton, unsure = motion.skeleton, list[str]()
    if not len(motion) or len(skeleton.names) > _MOST_JOINTS:
        raise SkeletonError(
            f"the parts of a body can be told of a motion with frames and at most {_MOST_JOINTS} joints, "
            f"this one has {len(motion)} frames and {len(skeleton.names)} joints"
        )
    every = slice(None, None, max(len(motion) // 200, 1))  # of the frames: enough to know where things mostly are
    shape = Shape(Motion(motion.time[every], skeleton, motion.root_position[every], motion.rotations[every]))
    left, right = _legs(shape, unsure)
    pelvis = shape.meeting(left.hip, right.hip)
    arms = _arms(shape, pelvis, left, right, unsure)
    trunk, neck, head = _upper(shape, pelvis, left, right, arms, unsure)
    return Parts(pelvis, left, right, trunk, neck, head, *arms), unsure


def _legs(shape: Shape, unsure: list[str]) -> tuple[Limb, Limb]:
    skeleton = shape.skeleton
    named = [part_names.limb(skeleton, side, part_names.LEG, optional=3) for side in ("left", "right")]
    legs = [leg for leg in named if leg is not None]
    forward, told = np.zeros((0, 2)), ""
    if len(legs) == 2:
        forward, told = shape.forward(legs)
        if not shape.left_first(legs[0], legs[1], forward):
            unsure.append(f"the leg that is called left is on the right of where {told}: the clip may be mirrored")
    else:
        found = shape.legs()
        if found is None:
            missing = [side for side, leg in zip(("left", "right"), named, strict=True) if leg is None]
            raise SkeletonError(
                f"the skeleton has no {' and no '.join(missing)} leg: neither joints with names like LeftUpLeg, "
                "LeftLeg, LeftFoot nor two like chains that hang down; two legs of hip, knee and ankle are needed"
            )
        legs = found
        forward, told = shape.forward(legs)
        if not shape.left_first(legs[0], legs[1], forward):
            legs = legs[::-1]
        unsure.append(
            f"the joints' names do not tell the legs: {_list(skeleton, legs[0])} are taken for the left one and "
            f"{_list(skeleton, legs[1])} for the right one, by their shape and by where {told}"
        )
    for side, leg in zip(("left", "right"), legs, strict=True):
        if leg[3] is None:
            unsure.append(f"the {side} foot has no toe joint")
    limbs = [Limb(int(hip or 0), int(knee or 0), int(ankle or 0), toe) for hip, knee, ankle, toe in legs]
    long = [shape.lengths[shape.below(limb.hip, limb.ankle)].sum() for limb in limbs]
    if min(long) <= 0.0:
        raise SkeletonError("the skeleton's legs have no length; thighs and shanks of some length are needed")
    if max(long) > (1.0 + _STRETCH) * min(long):
        unsure.append(f"the left leg is {long[0]:.3g} m long and the right one {long[1]:.3g} m")
    return limbs[0], limbs[1]


def _arms(shape: Shape, pelvis: int, left: Limb, right: Limb, unsure: list[str]) -> tuple[Arm | None, Arm | None]:
    skeleton = shape.skeleton
    named = [part_names.limb(skeleton, side, part_names.ARM, optional=0) for side in ("left", "right")]
    if not any(named):
        used = {joint for limb in (left, right) for joint in shape.below(pelvis, limb.ankle)}
        found = shape.arms(used, pelvis)
        if found is not None:
            across = shape.places[:, left.hip, :2] - shape.places[:, right.hip, :2]
            forward = np.column_stack([across[:, 1], -across[:, 0]])
            named = list(found if shape.left_first([found[0][1]], [found[1][1]], forward) else found[::-1])
            unsure.append("the joints' names do not tell the arms: they were found by their shape")
    for side, arm in zip(("left", "right"), named, strict=True):
        if arm is None:
            unsure.append(f"no {side} arm was found")
    return _arm(named[0]), _arm(named[1])


def _upper(
    shape: Shape, pelvis: int, left: Limb, right: Limb, arms: tuple[Arm | None, Arm | None], unsure: list[str]
) -> tuple[tuple[int, ...], tuple[int, ...], int | None]:
    """Trunk, neck and head: the chain to what is called head, else to the highest end that is no arm's."""
    skeleton = shape.skeleton
    shoulders = [arm.shoulder for arm in arms if arm is not None]
    limbs = {left.hip, right.hip, *shoulders}
    heads = [j for j, own in enumerate(part_names.said(skeleton.names)) if own == ("", "head")]
    if not heads:
        ends = [j for j in shape.leaves if not limbs & set(chain(skeleton, j))]
        heads = [j for j in sorted(ends, key=lambda j: -shape.heights[j]) if shape.heights[j] > shape.heights[pelvis]]
        unsure.append(f"{skeleton.names[heads[0]]} is taken for the head" if heads else "no head was found")
    if not heads and not shoulders:
        return (), (), None
    ends = [*heads[:1], *shoulders]
    chest = ends[0] if len(ends) > 1 else int(skeleton.parents[ends[0]])
    for end in ends[1:]:
        chest = shape.meeting(chest, end)
    trunk = tuple(shape.below(shape.meeting(pelvis, chest), chest))
    if not heads:
        return trunk, (), None
    return trunk, tuple(j for j in shape.below(shape.meeting(chest, heads[0]), heads[0]) if j != heads[0]), heads[0]


def _arm(joints: list[int | None] | None) -> Arm | None:
    return None if joints is None else Arm(joints[0], int(joints[1] or 0), int(joints[2] or 0), int(joints[3] or 0))


def _list(skeleton: Skeleton, joints: list[int | None]) -> str:
    return ", ".join(skeleton.names[j] for j in joints if j is not None)
