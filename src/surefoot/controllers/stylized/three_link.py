"""Which parts of a body make up each link of its three-link model (da Silva 2008, figure 2).

The three-link model of a character that stands on one leg (da Silva 2008, §3.1, figure 2), as a MuJoCo model.

The base link stands on the stance ankle and is not actuated there; upper body and swing leg hang on it at the hips and
are. Masses and inertias are summed from the character's parts, centres of mass agree in the pose it is built in. The
paper's ball joints leave turning about the vertical uncontrollable (`joints="ball"` is there to show it): here each
link has two hinges, pitch about y and roll about x, and a planar character's one. Axes are those of a heading: x
ahead, y left, z up; the origin is the stance ankle.

The three-link model to first order (da Silva 2008, eq. 3): Δx' = A Δx + B Δu, from the engine's own derivatives.

From the character's state to the three-link model's and back (da Silva 2008, §3.2, figure 3; §4.2).

Angles come from directions: of the stance leg's centre of mass seen from the ankle, which tells where the model's hip
is, then of the other two centres of mass seen from there. Rates come from the relative velocities of the same points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import mujoco
import numpy as np
from scipy.optimize import root

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized import multibody_dynamics
from surefoot.controllers.stylized.multibody_dynamics import Points

LINKS = ("stance_leg", "upper_body", "swing_leg")
STANCE, UPPER, SWING = range(3)


@dataclass(frozen=True)
class ThreeLinkGroups:
    """Bodies of a compiled model by link, for one stance leg, and where the links meet.

    `bodies` holds one array of body numbers a link, in the order of `LINKS`; `ankle` is the stance foot's body, whose
    origin is the ankle; `hips` are the thighs' bodies, whose origins are the hips.
    """

    bodies: tuple[np.ndarray, np.ndarray, np.ndarray]
    masses: tuple[np.ndarray, np.ndarray, np.ndarray]  # [kg] of those bodies
    ankle: int
    hips: tuple[int, int]

    @property
    def mass(self) -> np.ndarray:
        """(3,) [kg]."""
        return np.array([masses.sum() for masses in self.masses])

    def com(self, data: mujoco.MjData) -> np.ndarray:
        """(3, 3) centre of mass of each link [m], a row a link."""
        pairs = zip(self.bodies, self.masses, strict=True)
        return np.array([m @ data.xipos[b] / m.sum() for b, m in pairs])

    def jacobian(self, model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
        """(9, nv) of the three centres of mass: J_c of eq. 9a."""
        found, one = np.zeros((9, model.nv)), np.empty((3, model.nv))
        for link, (bodies, masses) in enumerate(zip(self.bodies, self.masses, strict=True)):
            for body, mass in zip(bodies, masses, strict=True):
                mujoco.mj_jacBodyCom(model, data, one, None, int(body))
                found[3 * link : 3 * link + 3] += mass / masses.sum() * one
        return found

    def inertia(self, data: mujoco.MjData, model: mujoco.MjModel) -> np.ndarray:
        """(3, 3, 3) inertia of each link about its own centre of mass, world axes [kg·m²]: its parts' sums."""
        found, centers = np.zeros((3, 3, 3)), self.com(data)
        for link, (bodies, masses) in enumerate(zip(self.bodies, self.masses, strict=True)):
            for body, mass in zip(bodies, masses, strict=True):
                axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - centers[link]
                found[link] += axes @ np.diag(model.body_inertia[body]) @ axes.T
                found[link] += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return found


def three_link_groups(model: mujoco.MjModel, table: CharacterTable, stance: int) -> ThreeLinkGroups:
    """The links of a character that stands on its left (0) or right (1) leg."""
    legs = (table.anatomy.left, table.anatomy.right)
    by_parent = {segment.name: segment.parent for segment in table.segments}

    def hangs_on(name: str, thigh: str) -> bool:
        while name in by_parent:
            if name == thigh:
                return True
            name = by_parent[name]
        return False

    limbs = [[s.name for s in table.segments if hangs_on(s.name, leg.thigh)] for leg in legs]
    rest = [s.name for s in table.segments if s.name not in (*limbs[0], *limbs[1])]
    bodies = [np.array([model.body(n).id for n in names]) for names in (limbs[stance], rest, limbs[1 - stance])]
    masses = [model.body_mass[b].copy() for b in bodies]
    hips = (int(model.body(legs[0].thigh).id), int(model.body(legs[1].thigh).id))
    return ThreeLinkGroups(
        (bodies[0], bodies[1], bodies[2]),
        (masses[0], masses[1], masses[2]),
        int(model.body(legs[stance].foot).id),
        hips,
    )


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
    groups: ThreeLinkGroups,
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
    frames = [base]
    for i in (UPPER, SWING):
        frames.append(base @ pitch_roll_rotation(*pitch_roll_of(base.T @ (UP[i] * (centers[i] - hip_place)))))
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


_STEP = 1e-6  # of the centred differences
_RATE = 4.0  # [1/s] about √(g / h): scales powers of A in the test of rank
_TOLERANCE = 1e-7  # of singular values, relative to the largest


class LinearSystem(NamedTuple):
    """A step to first order, or steps (t, …) of an LTV system."""

    A: np.ndarray  # (n, n)
    B: np.ndarray  # (n, m)


class ThreeLinkDynamics:
    """The three-link model's steps x' = G(x, u) and their derivatives."""

    def __init__(self, link: ThreeLink) -> None:
        """Of one model, with room to compute."""
        self.link, self._data = link, mujoco.MjData(link.model)

    def step(self, state: np.ndarray, control: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
        """X' = G(x, u); `known` are torques of the ankle (axes,) [N·m] that no control decides on."""
        data = self._set(state, control, known)
        mujoco.mj_step(self.link.model, data)
        return np.concatenate([data.qpos, data.qvel])

    def linear(self, state: np.ndarray, control: np.ndarray, known: np.ndarray | None = None) -> LinearSystem:
        """A = D₁G and B = D₂G there."""
        data, model = self._set(state, control, known), self.link.model
        found = LinearSystem(np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu)))
        mujoco.mjd_transitionFD(model, data, _STEP, True, found.A, found.B, None, None)
        return found

    def needed(self, state: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """(nv,) torques of all hinges, the ankle's first, that accelerate it so [N·m]."""
        data = self._set(state, np.zeros(self.link.model.nu), None)
        data.qacc[:] = acceleration
        mujoco.mj_inverse(self.link.model, data)
        return np.array(data.qfrc_inverse)

    def com(self, state: np.ndarray) -> np.ndarray:
        """(3,) of the whole model, seen from the ankle [m]."""
        data = self._set(state, np.zeros(self.link.model.nu), None)
        mujoco.mj_kinematics(self.link.model, data)
        mujoco.mj_comPos(self.link.model, data)
        return np.array(data.subtree_com[0])

    def at_rest(self, state: np.ndarray) -> mujoco.MjData:
        """Data with positions, centres of mass and inertias of a state."""
        data = self._set(state, np.zeros(self.link.model.nu), None)
        mujoco.mj_fwdPosition(self.link.model, data)
        return data

    def inertia(self, out: np.ndarray) -> None:
        """Write the mass matrix (nv, nv) of the state last given to `at_rest`."""
        mujoco.mj_fullM(self.link.model, self._data, out)

    def _set(self, state: np.ndarray, control: np.ndarray, known: np.ndarray | None) -> mujoco.MjData:
        data, model = self._data, self.link.model
        nq = model.nq
        data.qpos[:], data.qvel[:], data.ctrl[:] = state[:nq], state[nq:], control
        data.qfrc_applied[:] = 0.0
        if known is not None:
            data.qfrc_applied[: self.link.axes] = known
        data.qacc_warmstart[:] = 0.0
        return data


def controllable_dimension(link: ThreeLink, state: np.ndarray, control: np.ndarray) -> int:
    """How many dimensions of the state the controls reach at an equilibrium: the rank of [B, AB, A²B, …]."""
    A, B = ThreeLinkDynamics(link).linear(state, control)
    dt, n = link.model.opt.timestep, len(A)
    rates, block = (A - np.eye(n)) / (dt * _RATE), B / dt
    blocks = [block]
    for _ in range(n - 1):
        block = rates @ block
        blocks.append(block)
    values = np.linalg.svd(np.hstack([b / np.linalg.norm(b) for b in blocks]), compute_uv=False)
    return int((values > _TOLERANCE * values[0]).sum())


def equilibrium(link: ThreeLink) -> tuple[np.ndarray, np.ndarray]:
    """State and hip torques [N·m] of standing on the ankle with upper body and swing leg upright."""
    axes, steps, n = link.axes, ThreeLinkDynamics(link), link.model.nv

    def pose(lean: np.ndarray) -> np.ndarray:
        base = pitch_roll_rotation(lean[0], lean[1] if axes == 2 else 0.0)
        angles = np.zeros((3, 2))
        angles[STANCE, :axes] = lean
        for i in (UPPER, SWING):
            angles[i] = pitch_roll_of(base.T @ np.array([0.0, 0.0, 1.0]))
        return np.concatenate([angles[:, :axes].ravel(), np.zeros(n)])

    solved = root(lambda lean: steps.com(pose(lean))[:axes], np.zeros(axes), tol=1e-12)
    state = pose(solved.x)
    return state, steps.needed(state, np.zeros(n))[axes:]


def three_link_state(link: ThreeLink, points: Points, heading: float = 0.0) -> np.ndarray:
    """(6·axes,) the state x of points seen in the world: angles, then rates, along a heading [rad]."""
    return np.asarray(multibody_dynamics.three_link_coordinates(*points, heading, link.hip, link.axes))


class ThreeLinkForwardModel:
    """The three-link model at work: its points in a state, and how a control accelerates them."""

    def __init__(self, link: ThreeLink) -> None:
        """Of one model, with room to compute."""
        self.link = link
        self._data = mujoco.MjData(link.model)
        self._bodies = np.arange(1, 4)
        data = self._data
        self._inputs = (data.qpos, data.qvel, data.qfrc_applied, data.ctrl)
        self._spatial = (data.cvel, data.cacc, data.xipos, data.subtree_com[1], link.model.opt.gravity)

    def set(
        self, state: np.ndarray, control: np.ndarray | None = None, ankle: np.ndarray | None = None
    ) -> mujoco.MjData:
        """Its data at a state, a control and torques of the ankle (axes,) [N·m], forward dynamics included."""
        qpos, qvel, applied, ctrl = self._inputs
        qpos[:], qvel[:], ctrl[:] = state[: len(qpos)], state[len(qpos) :], 0.0 if control is None else control
        applied[: self.link.axes] = 0.0 if ankle is None else ankle
        mujoco.mj_forward(self.link.model, self._data)
        return self._data

    def points(self, state: np.ndarray) -> Points:
        """The inverse of `state_of`, up to the links' fixed lengths."""
        data, model = self.set(state), self.link.model
        velocity, six = np.empty((3, 3)), np.empty(6)
        for i, body in enumerate(self._bodies):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, six, 0)
            velocity[i] = six[3:]
        return Points(data.xipos[self._bodies].copy(), velocity)

    def accelerations(
        self, state: np.ndarray, control: np.ndarray, ankle: np.ndarray | None = None, heading: float = 0.0
    ) -> np.ndarray:
        """(3, 3) of the links' centres of mass in the world [m/s²] under a control: a_b of eq. 9a."""
        data = self.set(state, control, ankle)
        mujoco.mj_rnePostConstraint(self.link.model, data)
        return np.asarray(multibody_dynamics.com_accelerations(*self._spatial, heading))
