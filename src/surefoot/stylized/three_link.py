"""The three-link model of a character that stands on one leg (da Silva 2008, §3.1, figure 2), as a MuJoCo model.

The base link stands on the stance ankle and is not actuated there; upper body and swing leg hang on it at the hips and
are. Masses and inertias are summed from the character's parts, centres of mass agree in the pose it is built in. The
paper's ball joints leave turning about the vertical uncontrollable (`joints="ball"` is there to show it): here each
link has two hinges, pitch about y and roll about x, and a planar character's one. Axes are those of a heading: x
ahead, y left, z up; the origin is the stance ankle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from surefoot.stylized.limbs_of_three import LINKS, STANCE, SWING, UPPER, Groups

Joints = Literal["hinges", "planar", "ball"]
GRAVITY = 9.81
UP = (1.0, 1.0, -1.0)  # links' axes point from the joint to the centre of mass: up, up and down


@dataclass(frozen=True)
class ThreeLink:
    """A compiled three-link model and what its mapping needs.

    States are (qpos, qvel) of its hinges: pitch and roll of base, upper body, swing leg [rad], each in its parent's
    frame, then their rates. Controls are torques of the hip hinges in the same order [N·m].
    """

    model: mujoco.MjModel
    hip: np.ndarray  # (3,) [m] in the base link's frame
    joints: Joints

    @property
    def axes(self) -> int:
        """Hinges of a link."""
        return 1 if self.joints == "planar" else 2 if self.joints == "hinges" else 3


def direction_angles(direction: np.ndarray) -> tuple[float, float]:
    """Pitch and roll [rad] of the axis Ry(pitch)·Rx(roll)·z that points along a vector (3,)."""
    x, y, z = direction / np.linalg.norm(direction)
    return float(np.arctan2(x, z)), float(-np.arcsin(np.clip(y, -1.0, 1.0)))


def frame_of(pitch: float, roll: float) -> np.ndarray:
    """(3, 3) Ry(pitch)·Rx(roll)."""
    cp, sp, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    return np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])


def turn_by(heading: float) -> np.ndarray:
    """(3, 3) from a heading's axes to the world's."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def build(
    groups: Groups,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    heading: float = 0.0,
    joints: Joints = "hinges",
    timestep: float = 0.005,
) -> ThreeLink:
    """The three-link model of a character in a pose.

    Args:
        groups: which part belongs to which link.
        model: the character's.
        data: the pose, with kinematics and centres of mass up to date.
        heading: where the character goes [rad].
        joints: two hinges a link, one for a planar character, or the paper's ball joints.
        timestep: of its dynamics [s], G of eq. 3.
    """
    view = turn_by(heading).T
    ankle = data.xpos[groups.ankle]
    centers = (groups.com(data) - ankle) @ view.T
    inertias = view @ groups.inertia(data, model) @ view.T
    hip_place = view @ (0.5 * (data.xpos[groups.hips[0]] + data.xpos[groups.hips[1]]) - ankle)
    if joints == "planar":
        centers, hip_place = centers * [1.0, 0.0, 1.0], hip_place * [1.0, 0.0, 1.0]
    base = frame_of(*direction_angles(centers[STANCE]))
    hip = base.T @ hip_place
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity = timestep, [0.0, 0.0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    frames = [base]
    for i in (UPPER, SWING):
        frames.append(base @ frame_of(*direction_angles(base.T @ (UP[i] * (centers[i] - hip_place)))))
    first = spec.worldbody
    for i, name in enumerate(LINKS):
        body = first.add_body(name=name, pos=[0.0, 0.0, 0.0] if i == STANCE else hip.tolist())
        reach = np.linalg.norm(centers[i] - (0.0 if i == STANCE else hip_place))
        body.mass, body.ipos = float(groups.mass[i]), [0.0, 0.0, UP[i] * float(reach)]
        body.fullinertia = _six(frames[i].T @ inertias[i] @ frames[i])
        body.explicitinertial = True
        _add_joints(spec, body, name, joints, actuated=i != STANCE)
        first = body if i == STANCE else first
    return ThreeLink(spec.compile(), hip, joints)


def _six(inertia: np.ndarray) -> list[float]:
    return [float(inertia[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _add_joints(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, joints: Joints, actuated: bool) -> None:
    if joints == "ball":
        body.add_joint(name=f"{name}_ball", type=mujoco.mjtJoint.mjJNT_BALL)
        for axis in range(3) if actuated else ():
            motor = spec.add_actuator(
                name=f"{name}_{'xyz'[axis]}", target=f"{name}_ball", trntype=mujoco.mjtTrn.mjTRN_JOINT
            )
            motor.gear[axis], motor.gear[0] = 1.0, float(axis == 0)
        return
    for label, about in (("pitch", (0, 1, 0)), ("roll", (1, 0, 0)))[: 1 if joints == "planar" else 2]:
        hinge = f"{name}_{label}"
        body.add_joint(name=hinge, type=mujoco.mjtJoint.mjJNT_HINGE, axis=about)
        if actuated:
            spec.add_actuator(name=hinge, target=hinge, trntype=mujoco.mjtTrn.mjTRN_JOINT)
