"""A character's equations of motion at one state: M q̈ + h = Sᵀ τ + Jᵀ f, with the Jacobians the programme needs.

The mass matrix includes what the integrator adds for joints that are damped implicitly.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.stylized import assembly
from surefoot.stylized.limbs_of_three import Groups
from surefoot.stylized.patches import EDGE, FACE, HINGE, Patch, cone
from surefoot.stylized.three_link_state import Points


class Held(NamedTuple):
    """A patch at this state: rows that hold it, what they are without acceleration, generalized forces of its cone."""

    rows: np.ndarray  # (k, nv)
    bias: np.ndarray  # (k,) J̇ q̇ [m/s², rad/s²]
    speed: np.ndarray  # (k,) J q̇
    forces: np.ndarray  # (nv, edges) Jᵀ V


class BodyDynamics:
    """One model's equations of motion, with room to compute; the state is the one last given to `set`."""

    def __init__(self, model: mujoco.MjModel, table: CharacterTable) -> None:
        """Of a character's model."""
        self.model, self.table, self.planar = model, table, table.root == "planar"
        self.data = mujoco.MjData(model)
        self._root = int(model.body_rootid[model.body(table.anatomy.pelvis).id])
        self._moves = _ancestors(model)  # (nbody, nv)
        self.dofs = np.array([int(model.joint(name).dofadr[0]) for name in table.gains])
        self.limits = np.array([gain.limit for gain in table.gains.values()])
        self._implicit = np.zeros(model.nv)
        self._implicit[self.dofs] = [model.opt.timestep * gain.kd for gain in table.gains.values()]
        self._edges = cone(table.friction, self.planar)
        self.count = int((model.body_rootid[model.dof_bodyid] == self._root).sum())  # things of the world come after
        self._M, self._h = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        self.M, self.h = self._M[: self.count, : self.count], self._h[: self.count]

    def set(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Compute everything at a state."""
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos, qvel, 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_fullM(model, data, self._M)
        self._M[np.diag_indices(model.nv)] += self._implicit
        mujoco.mj_rne(model, data, 0, self._h)
        mujoco.mj_rnePostConstraint(model, data)  # with q̈ = 0: accelerations J̇ q̇, and the negative of gravity
        self._center = data.subtree_com[self._root]

    def jacobian(self, body: int, point: np.ndarray) -> np.ndarray:
        """(6, nv) of a body's point: velocity, then spin, in world axes."""
        found = assembly.jacobian(self.data.cdof, self._moves[body], self._center, point, self.count)
        return np.asarray(found)

    def held(self, patch: Patch) -> Held:
        """A patch as rows of the programme."""
        data, body = self.data, patch.body
        axes = data.xmat[body].reshape(3, 3)
        corners = data.xpos[body] + patch.corners @ axes.T
        middle = corners.mean(axis=0)
        six = self.jacobian(body, middle)
        rates, bias = np.empty(6), np.empty(6)
        gravity = self.model.opt.gravity
        assembly.drift(data.cvel[body], data.cacc[body], self._center, middle, gravity, rates[:3], bias[:3])
        rates[3:], bias[3:] = data.cvel[body][:3], data.cacc[body][:3]
        forces = assembly.wrenches(six, axes, corners, middle, self._edges)
        if patch.rows == FACE and not self.planar:
            return Held(six, bias, rates, forces)
        keep = self._kept(patch.rows, axes)
        return Held(keep @ six, keep @ bias, keep @ rates, forces)

    def _kept(self, rows: int, axes: np.ndarray) -> np.ndarray:
        """(k, 6) which motions of a patch are held: all, all but rolling about the body's y, or only that."""
        if self.planar:
            return np.eye(6)[{FACE: [0, 2, 4], EDGE: [0, 2], HINGE: [4]}[rows]]
        if rows == FACE:
            return np.eye(6)
        keep = np.zeros((5, 6) if rows == EDGE else (1, 6))
        if rows == EDGE:
            keep[:3, :3], keep[3, 3:], keep[4, 3:] = np.eye(3), axes[:, 0], axes[:, 2]
        else:
            keep[0, 3:] = axes[:, 1]
        return keep

    def centers(self, groups: Groups) -> tuple[Points, np.ndarray, np.ndarray]:
        """World places and velocities of the links' centres of mass, J_c (9, nv) and J̇_c q̇ (9,)."""
        data, parts = self.data, zip(groups.bodies, groups.masses, strict=True)
        found = [
            assembly.link_center(
                data.cdof, data.cvel, data.cacc, data.xipos, self._moves, self._center, self.model.opt.gravity,
                bodies, masses, self.count,
            )
            for bodies, masses in parts
        ]  # fmt: skip
        place, velocity, rows, bias = zip(*found, strict=True)
        return Points(np.array(place), np.array(velocity)), np.concatenate(rows), np.concatenate(bias)


def _ancestors(model: mujoco.MjModel) -> np.ndarray:
    """(nbody, nv) 1 where a degree of freedom moves a body."""
    moves = np.zeros((model.nbody, model.nv))
    for body in range(1, model.nbody):
        moves[body] = moves[model.body_parentid[body]]
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        if count:
            moves[body, first : first + count] = 1.0
    return moves
