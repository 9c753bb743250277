from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from strangers_walk import NAMES, walk
from surefoot.errors import SurefootError
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import ArmJoints, LegJoints, find_body_parts
from surefoot.motions.motion import Motion, Skeleton

MOTION, _ = walk(seconds=2.0)
ORDER = (1, 2, 3, 4, 12, 13, 14)  # left leg and arm in NAMES
RENAMED = {
    "100STYLE": ("Hip", "Knee", "Ankle", "Toe", "Shoulder", "Elbow", "Wrist"),
    "Mixamo": ("UpLeg", "Leg", "Foot", "ToeBase", "Arm", "ForeArm", "Hand"),
    "SMPL": ("_Hip", "_Knee", "_Ankle", "_Foot", "_Shoulder", "_Elbow", "_Wrist"),
    "ASF": ("femur", "tibia", "foot", "toes", "humerus", "radius", "wrist"),
    "Unreal": ("thigh_", "calf_", "foot_", "ball_", "upperarm_", "lowerarm_", "hand_"),
}
SIDES = {"100STYLE": ("Left", "Right"), "Mixamo": ("Left", "Right"), "SMPL": ("L", "R"), "ASF": ("l", "r")}


def named(style: str) -> Motion:
    names = list(NAMES)
    for i, own in zip(ORDER, RENAMED[style], strict=True):
        for joint, side in ((i, 0), (i + (4 if i < 9 else 3), 1)):
            names[joint] = own + "lr"[side] if style == "Unreal" else SIDES[style][side] + own
    if style == "Mixamo":
        names = ["mixamorig:" + name for name in names]
    return replace(MOTION, skeleton=replace(MOTION.skeleton, names=tuple(names)))


@pytest.mark.parametrize("style", RENAMED)
def test_names_of_many_makers_tell_the_same_parts(style: str) -> None:
    parts, unsure = find_body_parts(named(style))
    assert parts.pelvis == 0
    assert parts.left == LegJoints(1, 2, 3, 4)
    assert parts.right == LegJoints(5, 6, 7, 8)
    assert parts.left_arm == ArmJoints(None, 12, 13, 14)
    assert parts.right_arm == ArmJoints(None, 15, 16, 17)
    assert (parts.trunk, parts.neck, parts.head) == ((9,), (10,), 11)
    assert unsure == []


@pytest.mark.parametrize("yaw", [0.0, 2.2])
def test_shape_tells_the_parts_of_nameless_joints_whichever_way_it_walks(yaw: float) -> None:
    nameless = tuple(f"bone{i}" for i in range(len(NAMES)))
    turn = quat.about_vertical(np.full(len(MOTION), yaw))
    rotations = MOTION.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    motion = Motion(
        MOTION.time,
        replace(MOTION.skeleton, names=nameless),
        quat.rotate(turn, MOTION.root_position),
        rotations,
    )
    parts, unsure = find_body_parts(motion)
    expected, _ = find_body_parts(MOTION)
    assert parts == expected
    assert any("legs" in text for text in unsure)
    assert any("arms" in text for text in unsure)


def test_swapped_names_are_mentioned() -> None:
    names = tuple(n.replace("Left", "X").replace("Right", "Left").replace("X", "Right") for n in MOTION.skeleton.names)
    parts, unsure = find_body_parts(replace(MOTION, skeleton=replace(MOTION.skeleton, names=names)))
    assert parts.left == LegJoints(5, 6, 7, 8)
    assert any("mirrored" in text for text in unsure)


def test_a_body_without_legs_is_refused_and_told_what_is_missing() -> None:
    keep = [0, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    parents = np.array([-1 if p < 0 else keep.index(p) for p in MOTION.skeleton.parents[keep]])
    skeleton = Skeleton(tuple(NAMES[i] for i in keep), parents, MOTION.skeleton.offsets[keep])
    with pytest.raises(SurefootError, match="no left and no right leg"):
        find_body_parts(Motion(MOTION.time, skeleton, MOTION.root_position, MOTION.rotations[:, keep]))


def test_legs_alone_are_enough() -> None:
    keep = list(range(9))
    skeleton = Skeleton(NAMES[:9], MOTION.skeleton.parents[keep], MOTION.skeleton.offsets[keep])
    parts, unsure = find_body_parts(Motion(MOTION.time, skeleton, MOTION.root_position, MOTION.rotations[:, keep]))
    assert (parts.left_arm, parts.right_arm, parts.head, parts.trunk) == (None, None, None, ())
    assert len(unsure) == 3
