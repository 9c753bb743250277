"""A character's equations of motion at one state: M q̈ + h = Sᵀ τ + Jᵀ f, with the Jacobians the programme needs.

All of it comes from the engine's recursive quantities (motion axes `cdof`, spatial velocities and accelerations), in
whole-array operations. The mass matrix includes what the integrator adds for joints that are damped implicitly.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.stylized.limbs_of_three import Groups
from surefoot.stylized.patches import Patch, cone
from surefoot.stylized.three_link_state import Points


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(…, 3) vector products; `np.cross` takes ten times as long for so few."""
    ax, ay, az, bx, by, bz = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


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
        spin, slide = self.data.cdof[: self.count, :3], self.data.cdof[: self.count, 3:]
        moves = self._moves[body][: self.count, None]
        return np.concatenate([moves * (slide + cross(spin, point - self._center)), moves * spin], axis=1).T

    def drift(self, bodies: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities (n, 3) [m/s] and accelerations J̇ q̇ (n, 3) [m/s²] of points (n, 3) of bodies (n,)."""
        velocity, acceleration = self.data.cvel[bodies], self.data.cacc[bodies]
        arm, spin = points - self._center, velocity[:, :3]
        speed = velocity[:, 3:] + cross(spin, arm)
        turned = acceleration[:, 3:] + cross(acceleration[:, :3], arm) + cross(spin, speed)
        return speed, turned + self.model.opt.gravity

    def held(self, patch: Patch) -> Held:
        """A patch as rows of the programme."""
        data, body = self.data, patch.body
        axes = data.xmat[body].reshape(3, 3)
        corners = data.xpos[body] + patch.corners @ axes.T
        middle = corners.mean(axis=0)
        six = self.jacobian(body, middle)
        speed, drift = self.drift(np.array([body]), middle[None])
        bias = np.concatenate([drift[0], data.cacc[body][:3]])
        rates = np.concatenate([speed[0], data.cvel[body][:3]])
        wrench = [np.concatenate([v, cross(c - middle, v)]) for c in corners for v in self._edges @ axes.T]
        if self.planar:
            keep = np.eye(6)[[0, 2, 4] if patch.face else [0, 2]]
        elif patch.face:
            keep = np.eye(6)
        else:  # it may roll over its edge, about the body's y
            keep = np.zeros((5, 6))
            keep[:3, :3], keep[3, 3:], keep[4, 3:] = np.eye(3), axes[:, 0], axes[:, 2]
        return Held(keep @ six, keep @ bias, keep @ rates, six.T @ np.array(wrench).T)

    def centers(self, groups: Groups) -> tuple[Points, np.ndarray, np.ndarray]:
        """World places and velocities of the links' centres of mass, J_c (9, nv) and J̇_c q̇ (9,)."""
        data, n = self.data, self.count
        spin, slide = data.cdof[:n, :3], data.cdof[:n, 3:]
        place, velocity, rows, bias = np.empty((3, 3)), np.empty((3, 3)), [], []
        for link, (bodies, masses) in enumerate(zip(groups.bodies, groups.masses, strict=True)):
            share = masses / masses.sum()
            points = data.xipos[bodies]
            speed, drift = self.drift(bodies, points)
            place[link], velocity[link] = share @ points, share @ speed
            bias.append(share @ drift)
            borne = self._moves[bodies][:, :n] * share[:, None]  # (n, nv) what a motion axis moves of the link
            rows.append((borne.sum(axis=0)[:, None] * slide + cross(spin, borne.T @ (points - self._center))).T)
        return Points(place, velocity), np.concatenate(rows), np.concatenate(bias)


def _ancestors(model: mujoco.MjModel) -> np.ndarray:
    """(nbody, nv) 1 where a degree of freedom moves a body."""
    moves = np.zeros((model.nbody, model.nv))
    for body in range(1, model.nbody):
        moves[body] = moves[model.body_parentid[body]]
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        if count:
            moves[body, first : first + count] = 1.0
    return moves
