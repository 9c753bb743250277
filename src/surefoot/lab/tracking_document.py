"""The skill file of a tracking skill: its start state is that of its table's first window."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.tracking.controller import STIFFNESS
from surefoot.controllers.tracking.law import COMMANDS
from surefoot.controllers.tracking.table import TrackingTable
from surefoot.engine.scene import Scene, Setup
from surefoot.lab.floor_contact import fall_limits, lost_beyond
from surefoot.motions import quaternions as quat
from surefoot.skills.schema import SCHEMA_VERSION

_DIGITS = 6


def tracking_document(
    table: TrackingTable, body: CharacterTable, name: str, reference: str, clip: str, credit: str = ""
) -> dict[str, Any]:
    """A valid skill document.

    Args:
        table: what it follows.
        body: whose skill it is.
        name: of the skill.
        reference: file of the table.
        clip: name of the clip's file, without its suffix.
        credit: line that the clip's licence asks for.
    """
    scene = Scene(Setup(character=body, skill="stand"))
    fall = fall_limits(scene.model, body, np.array([_placed(scene.model, body, pose) for pose in table.clip]))
    lost = lost_beyond(fall)
    return {
        "schema": SCHEMA_VERSION, "name": name, "character": body.name, "controller": "tracking",
        "summary": f"the clip {clip}, tracked", "credit": credit, "clip": clip,
        "provenance": {"source": f"made of the clip {clip} by surefoot track"},
        "commands": [command for command in COMMANDS if command != "speed"],
        "start": _start(scene, table, body), **({"fall": fall} if fall else {}),
        "parameters": {"reference": reference, "stiffness": dict(STIFFNESS), **({"lost": lost} if lost else {})},
    }  # fmt: skip


def _start(scene: Scene, table: TrackingTable, body: CharacterTable) -> dict[str, Any]:
    """The state of the first window."""
    qpos, qvel, names = table.qpos[0], table.qvel[0], list(body.gains)
    yaw, roll, forward = quat.euler_angles(qpos[None, 3:7], (2, 0, 1))[0]
    spin = quat.rotate(qpos[None, 3:7], qvel[None, 3:6])[0]
    roles = dict(zip(body.anatomy.roles, body.anatomy.joints(1), strict=True))
    joints, rates = (dict(zip(names, map(float, values), strict=True)) for values in (qpos[7:], qvel[6:]))
    values = {
        "speed": qvel[0], "sideways": qvel[1], "climb": qvel[2], "lift": lift_of(scene, table, body), "torso": -forward,
        "torso_rate": -spin[1], "roll": roll, "roll_rate": spin[0], "yaw": yaw, "yaw_rate": spin[2],
    }  # fmt: skip
    return {
        "swing": "right", **{key: _rounded(value) for key, value in values.items()},
        "joints": {role: _rounded(joints[joint]) for role, joint in roles.items()},
        "rates": {role: _rounded(rates[joint]) for role, joint in roles.items()},
    }  # fmt: skip


def lift_of(scene: Scene, table: TrackingTable, body: CharacterTable) -> float:
    """How high the lower foot of the first window is [m]; soles that are pressed into the ground count as on it."""
    return max(scene.clearance(_placed(scene.model, body, table.qpos[0])), -0.01)


def _placed(model: mujoco.MjModel, body: CharacterTable, pose: np.ndarray) -> np.ndarray:
    """A pose with joints in the order of the actuators (7 + actuators,) in coordinates of the model."""
    qpos: np.ndarray = model.qpos0.copy()
    qpos[:7] = pose[:7]
    for name, angle in zip(body.gains, pose[7:], strict=True):
        qpos[model.joint(name).qposadr[0]] = angle
    return qpos


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)
