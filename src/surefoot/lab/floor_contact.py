"""Motions in which more than feet touch the ground: kneeling, hands on the ground, getting up."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.motions import quaternions as quat

_NEAR = 0.05  # [m] above the ground at which a part counts as touching it
_ANKLES = 0.15  # [m] above the ground, when standing, up to which parts are near it in any motion
_LOWER, _MORE_TILTED = 0.25, 0.7  # share of the standing height, [rad]: what is allowed beyond the motion's own
_LOST = 0.3  # [m] of the root's height from the motion's
Point = tuple[int, np.ndarray, float]
"""A body's number, a point in its frame [m], and the radius of the shape around it [m]."""


def contact_points(model: mujoco.MjModel, body: CharacterTable, soles: bool, others: bool) -> list[Point]:
    """Ends of the solid shapes: what touches the ground first.

    Args:
        model: of the body.
        body: whose shapes they are.
        soles: whether to give those of soles.
        others: whether to give all the others.
    """
    return [
        (model.body(segment.name).id, np.asarray(end), shape.radius)
        for segment in body.segments for shape in segment.shapes
        if shape.solid and (soles if shape.sole else others) for end in (shape.start, shape.end)
    ]  # fmt: skip


def uses_floor(model: mujoco.MjModel, body: CharacterTable, poses: np.ndarray) -> bool:
    """Whether parts other than the feet touch the ground in some poses (n, nq) of the model."""
    data = mujoco.MjData(model)
    standing = _heights(model, data, contact_points(model, body, False, True), model.qpos0)
    standing = standing - _heights(model, data, contact_points(model, body, True, False), model.qpos0).min()
    points = [
        point for point, height in zip(contact_points(model, body, False, True), standing, strict=True)
        if height > _ANKLES
    ]  # fmt: skip
    return any(bool((_heights(model, data, points, pose) < _NEAR).any()) for pose in poses)


def _heights(model: mujoco.MjModel, data: mujoco.MjData, points: list[Point], pose: np.ndarray) -> np.ndarray:
    """(points,) lowest heights of shapes at their ends in a pose [m]."""
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    return np.array([
        data.xpos[part, 2] + data.xmat[part].reshape(3, 3)[2] @ end - radius for part, end, radius in points
    ])  # fmt: skip


def fall_limits(model: mujoco.MjModel, body: CharacterTable, poses: np.ndarray) -> dict[str, Any]:
    """When a skill that does these poses (n, nq) has fallen, as its file says it; nothing if as usual."""
    if not uses_floor(model, body, poses):
        return {}
    data = mujoco.MjData(model)
    feet = [model.body(leg.foot).id for leg in (body.anatomy.left, body.anatomy.right)]
    pelvis = model.body(body.anatomy.pelvis).id
    data.qpos[:] = model.qpos0
    mujoco.mj_kinematics(model, data)
    standing = float(data.xpos[pelvis, 2] - data.xpos[feet, 2].min())
    heights, tilts = [], []
    for pose in poses:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        heights.append(float(data.xpos[pelvis, 2] - data.xpos[feet, 2].min()) / standing)
        up = quat.rotate(pose[None, 3:7], np.array([[0.0, 0.0, 1.0]]))[0, 2]
        tilts.append(float(np.arccos(np.clip(up, -1.0, 1.0))))
    return {
        "height": round(max(min(heights) - _LOWER, -1.0), 4), "tilt": round(min(max(tilts) + _MORE_TILTED, 3.2), 4),
        "touch": False,
    }  # fmt: skip


def lost_beyond(fall: dict[str, Any]) -> float:
    """How far the root's height may be from the motion's [m], where posture alone does not tell a fall; else 0."""
    return _LOST if fall else 0.0
