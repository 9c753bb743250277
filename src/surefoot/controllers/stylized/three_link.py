"""The three-link model of a character that stands on one leg (da Silva 2008, §3.1, figure 2), as a MuJoCo model.

The base link stands on the stance ankle and is not actuated there; upper body and swing leg are attached to it at the
hips and are. Masses and inertias are summed over the character's parts (`ThreeLinkGroups`), and centers of mass agree
in the pose it is built in. The paper's ball joints leave turning about the vertical uncontrollable (`joints="ball"` is
there to show it): here each link has two hinges, pitch about y and roll about x, and one in a plane. Axes are those of
a heading: x ahead, y left, z up; the origin is the stance ankle.

The character's state maps to the model's by directions (§3.2, figure 3): the stance leg's center of mass seen from the
ankle tells where the model's hip is, the other two are seen from there. Rates come from the relative velocities of the
same points. `ThreeLinkDynamics` steps the model, linearizes it (eq. 3) and maps back (§4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import mujoco
import numpy as np
from scipy.optimize import root

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized import multibody_dynamics
from surefoot.controllers.stylized.multibody_dynamics import LinkComs
from surefoot.reflexes.pendulum import GRAVITY

LINKS = ("stance_leg", "upper_body", "swing_leg")
STANCE, UPPER, SWING = range(3)
Joints = Literal["hinges", "planar", "ball"]
_UP = (1.0, 1.0, -1.0)  # links' axes point from the joint to the center of mass: up, up and down
_STEP = 1e-6  # of the centered differences


@dataclass(frozen=True)
class ThreeLinkGroups:
    """Which bodies of a character's model make up each link, for one stance leg, and where the links meet."""

    bodies: tuple[np.ndarray, np.ndarray, np.ndarray]  # an array of body ids a link, in the order of `LINKS`
    masses: tuple[np.ndarray, np.ndarray, np.ndarray]  # [kg] of those bodies
    ankle: int  # the stance foot's body, whose origin is the ankle
    hips: tuple[int, int]  # the thighs' bodies, whose origins are the hips

    @property
    def mass(self) -> np.ndarray:
        """(3,) [kg]."""
        return np.array([masses.sum() for masses in self.masses])

    def com(self, data: mujoco.MjData) -> np.ndarray:
        """(3, 3) center of mass of each link [m], a row a link."""
        return np.array([m @ data.xipos[b] / m.sum() for b, m in zip(self.bodies, self.masses, strict=True)])

    def inertia(self, data: mujoco.MjData, model: mujoco.MjModel) -> np.ndarray:
        """(3, 3, 3) inertia of each link about its own center of mass, in world axes [kg·m²]."""
        found, centers = np.zeros((3, 3, 3)), self.com(data)
        for link, (bodies, masses) in enumerate(zip(self.bodies, self.masses, strict=True)):
            for body, mass in zip(bodies, masses, strict=True):
                axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - centers[link]
                found[link] += axes @ np.diag(model.body_inertia[body]) @ axes.T
                found[link] += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return found


def three_link_groups(model: mujoco.MjModel, table: CharacterTable, stance: int) -> ThreeLinkGroups:
    """Group the bodies of a character that stands on its left (0) or right (1) leg."""
    legs = (table.anatomy.left, table.anatomy.right)
    limbs: list[list[str]] = [[leg.thigh] for leg in legs]
    for segment in table.segments:  # parents come before their children
        for limb in limbs:
            if segment.parent in limb:
                limb.append(segment.name)
    limbs = [[s.name for s in table.segments if s.name in limb] for limb in limbs]
    rest = [s.name for s in table.segments if s.name not in (*limbs[0], *limbs[1])]
    one, two, three = (
        np.array([model.body(n).id for n in names]) for names in (limbs[stance], rest, limbs[1 - stance])
    )
    masses = (model.body_mass[one].copy(), model.body_mass[two].copy(), model.body_mass[three].copy())
    hips = (int(model.body(legs[0].thigh).id), int(model.body(legs[1].thigh).id))
    return ThreeLinkGroups((one, two, three), masses, int(model.body(legs[stance].foot).id), hips)


@dataclass(frozen=True)
class ThreeLink:
    """A compiled three-link model and what the mapping to it needs.

    States are (qpos, qvel) of its hinges: pitch and roll of base, upper body, swing leg [rad], each in its parent's
    frame, then their rates. Controls are torques of the hip hinges in the same order [N·m].
    """

    model: mujoco.MjModel
    hip: np.ndarray  # (3,) [m] in the base link's frame
    joints: Joints

    @property
    def axes(self) -> int:
        """Hinges of a link."""
        return {"planar": 1, "hinges": 2, "ball": 3}[self.joints]


def pitch_roll_of(direction: np.ndarray) -> tuple[float, float]:
    """Pitch and roll [rad] of the axis Ry(pitch)·Rx(roll)·z that points along a vector (3,)."""
    x, y, z = direction / np.linalg.norm(direction)
    return float(np.arctan2(x, z)), float(-np.arcsin(np.clip(y, -1.0, 1.0)))


def pitch_roll_rotation(pitch: float, roll: float) -> np.ndarray:
    """(3, 3) Ry(pitch)·Rx(roll)."""
    cp, sp, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    return np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])


def yaw_rotation(heading: float) -> np.ndarray:
    """(3, 3) from a heading's axes to the world's."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def build_three_link(
    groups: ThreeLinkGroups, model: mujoco.MjModel, data: mujoco.MjData, heading: float = 0.0,
    joints: Joints = "hinges", timestep: float = 0.005,
) -> ThreeLink:  # fmt: skip
    """Build the three-link model of a character in a pose.

    Args:
        groups: which body belongs to which link.
        model: the character's.
        data: the pose, with kinematics and centers of mass up to date.
        heading: where the character goes [rad].
        joints: two hinges a link, one for a planar character, or the paper's ball joints.
        timestep: of its dynamics [s], G of eq. 3.
    """
    view = yaw_rotation(heading).T
    ankle = data.xpos[groups.ankle]
    centers = (groups.com(data) - ankle) @ view.T
    inertias = view @ groups.inertia(data, model) @ view.T
    hip_place = view @ (0.5 * (data.xpos[groups.hips[0]] + data.xpos[groups.hips[1]]) - ankle)
    if joints == "planar":
        centers, hip_place = centers * [1.0, 0.0, 1.0], hip_place * [1.0, 0.0, 1.0]
    base = pitch_roll_rotation(*pitch_roll_of(centers[STANCE]))
    hip = base.T @ hip_place
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity = timestep, [0.0, 0.0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    parent = spec.worldbody
    for i, name in enumerate(LINKS):
        joint, frame, at = np.zeros(3), base, np.zeros(3)
        if i != STANCE:
            joint, at = hip_place, hip
            frame = base @ pitch_roll_rotation(*pitch_roll_of(base.T @ (_UP[i] * (centers[i] - hip_place))))
        body = parent.add_body(name=name, pos=at.tolist())
        body.mass = float(groups.mass[i])
        body.ipos = [0.0, 0.0, _UP[i] * float(np.linalg.norm(centers[i] - joint))]
        full = frame.T @ inertias[i] @ frame
        body.fullinertia = [float(full[at]) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        body.explicitinertial = True
        _add_joints(spec, body, name, joints, actuated=i != STANCE)
        parent = body if i == STANCE else parent
    return ThreeLink(spec.compile(), hip, joints)


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


class LinearSystem(NamedTuple):
    """A step to first order, Δx' = A Δx + B Δu (eq. 3), or the steps (t, …) of a linear time-varying system."""

    A: np.ndarray  # (n, n)
    B: np.ndarray  # (n, m)


class ThreeLinkDynamics:
    """A three-link model at work.

    In all methods `state` is (n,), `control` holds the hip torques (m,) [N·m], and `ankle` torques of the ankle (axes,)
    [N·m] that no control decides on; both are zero by default.
    """

    def __init__(self, link: ThreeLink) -> None:
        """Prepare one model."""
        self.link, self._data = link, mujoco.MjData(link.model)
        data = self._data  # its arrays never move, and asking MuJoCo for them takes longer than using them
        self._inputs = (data.qpos, data.qvel, data.qfrc_applied, data.ctrl)
        self._spatial = (data.cvel, data.cacc, data.xipos, data.subtree_com[1], link.model.opt.gravity)

    def _set(self, state: np.ndarray, control: np.ndarray | None, ankle: np.ndarray | None) -> mujoco.MjData:
        qpos, qvel, applied, ctrl = self._inputs
        qpos[:], qvel[:], ctrl[:] = state[: len(qpos)], state[len(qpos) :], 0.0 if control is None else control
        applied[: self.link.axes] = 0.0 if ankle is None else ankle
        return self._data

    def forward(
        self, state: np.ndarray, control: np.ndarray | None = None, ankle: np.ndarray | None = None
    ) -> mujoco.MjData:
        """MuJoCo's data at a state, forward dynamics included; valid until the next call."""
        data = self._set(state, control, ankle)
        mujoco.mj_forward(self.link.model, data)
        return data

    def step(self, state: np.ndarray, control: np.ndarray, ankle: np.ndarray | None = None) -> np.ndarray:
        """(n,) the next state x' = G(x, u)."""
        data = self._set(state, control, ankle)
        mujoco.mj_step(self.link.model, data)
        return np.concatenate([data.qpos, data.qvel])

    def linearize(self, state: np.ndarray, control: np.ndarray, ankle: np.ndarray | None = None) -> LinearSystem:
        """A = D₁G and B = D₂G at a state and a control."""
        data, model = self._set(state, control, ankle), self.link.model
        found = LinearSystem(np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu)))
        mujoco.mjd_transitionFD(model, data, _STEP, True, found.A, found.B, None, None)
        return found

    def inverse_dynamics(self, state: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """(nv,) torques of all hinges, the ankle's first, that give an acceleration (nv,) [N·m]."""
        data = self._set(state, None, None)
        data.qacc[:] = acceleration
        mujoco.mj_inverse(self.link.model, data)
        return np.array(data.qfrc_inverse)

    def com(self, state: np.ndarray) -> np.ndarray:
        """(3,) center of mass of the whole model, seen from the ankle [m]."""
        return np.array(self.forward(state).subtree_com[0])

    def link_coms(self, state: np.ndarray) -> LinkComs:
        """The links' centers of mass: the inverse of `three_link_state`, up to the links' fixed lengths."""
        data, velocity, six = self.forward(state), np.empty((3, 3)), np.empty(6)
        for i in range(3):
            mujoco.mj_objectVelocity(self.link.model, data, mujoco.mjtObj.mjOBJ_BODY, 1 + i, six, 0)
            velocity[i] = six[3:]
        return LinkComs(data.xipos[1:4].copy(), velocity)

    def com_accelerations(
        self, state: np.ndarray, control: np.ndarray, ankle: np.ndarray | None = None, heading: float = 0.0
    ) -> np.ndarray:
        """(3, 3) accelerations of the links' centers of mass in the world [m/s²]: a_b of eq. 9a."""
        data = self.forward(state, control, ankle)
        mujoco.mj_rnePostConstraint(self.link.model, data)
        return multibody_dynamics.com_accelerations(*self._spatial, heading)


def three_link_state(link: ThreeLink, coms: LinkComs, heading: float = 0.0) -> np.ndarray:
    """(6·axes,) the model's state of centers of mass seen in the world: angles, then rates, along a heading [rad]."""
    return multibody_dynamics.three_link_coordinates(*coms, heading, link.hip, link.axes)


def equilibrium(link: ThreeLink) -> tuple[np.ndarray, np.ndarray]:
    """State and hip torques [N·m] of standing on the ankle with upper body and swing leg upright."""
    axes, dynamics, n = link.axes, ThreeLinkDynamics(link), link.model.nv

    def pose(lean: np.ndarray) -> np.ndarray:
        base = pitch_roll_rotation(lean[0], lean[1] if axes == 2 else 0.0)
        angles = np.zeros((3, 2))
        angles[STANCE, :axes] = lean
        angles[UPPER:] = pitch_roll_of(base.T @ np.array([0.0, 0.0, 1.0]))
        return np.concatenate([angles[:, :axes].ravel(), np.zeros(n)])

    solved = root(lambda lean: dynamics.com(pose(lean))[:axes], np.zeros(axes), tol=1e-12)
    state = pose(solved.x)
    return state, dynamics.inverse_dynamics(state, np.zeros(n))[axes:]
