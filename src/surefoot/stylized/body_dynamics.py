"""A character's equations of motion at one state: M q̈ + h = Sᵀ τ + Jᵀ f, with the Jacobians the programme needs.

The mass matrix includes what the integrator adds for joints that are damped implicitly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.stylized import assembly
from surefoot.stylized.limbs_of_three import Groups
from surefoot.stylized.patches import Patch, cone
from surefoot.stylized.three_link_state import Points


class Soles(NamedTuple):
    """Patches as the compiled part takes them, see `assembly.held`."""

    bodies: np.ndarray
    kinds: np.ndarray
    ends: np.ndarray
    corners: np.ndarray


def soles(patches: Sequence[Patch]) -> Soles:
    """Patches side by side."""
    corners = [patch.corners for patch in patches]
    return Soles(
        np.array([patch.body for patch in patches], dtype=int),
        np.array([patch.rows for patch in patches], dtype=int),
        np.cumsum([len(one) for one in corners], dtype=int),
        np.concatenate([*corners, np.zeros((0, 3))]),
    )


class Held(NamedTuple):
    """Patches at a state: rows that hold them, what they are without acceleration, generalized forces of the cones."""

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
        self.parents = model.dof_parentid[: self.count].copy()
        self._M, self._h = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        self.M, self.h = self._M[: self.count, : self.count], self._h[: self.count]
        self._diagonal = self._M.ravel()[:: model.nv + 1]
        data = self.data  # its arrays stay where they are, and to ask for them takes longer than to use them
        self._state = (data.qpos, data.qvel)
        self.xpos, self.xmat, self.velocity = data.xpos, data.xmat.reshape(-1, 3, 3), data.qvel[: self.count]
        self._spatial = (data.cdof, data.cvel, data.cacc)
        self._rest = (self._moves, data.subtree_com[self._root], model.opt.gravity)
        self._xipos = data.xipos

    def set(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Compute everything at a state."""
        model, data = self.model, self.data
        self._state[0][:], self._state[1][:] = qpos, qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_fullM(model, data, self._M)
        self._diagonal += self._implicit
        mujoco.mj_rne(model, data, 0, self._h)
        mujoco.mj_rnePostConstraint(model, data)  # q̈ is always 0 here: accelerations J̇ q̇, and the negative of gravity

    def signs(self, left: Sequence[Patch], right: Sequence[Patch]) -> np.ndarray:
        """(edges,) 1 for the cones of one foot's patches, −1 for the other's, in the order of `Held.forces`."""
        counts = [sum(len(patch.corners) for patch in side) * len(self._edges) for side in (left, right)]
        return np.repeat([1.0, -1.0], counts)

    def jacobian(self, body: int) -> np.ndarray:
        """(6, nv) of a body's origin: velocity, then spin, in world axes."""
        _, center, _ = self._rest
        found = assembly.jacobian(self._spatial[0], self._moves[body], center, self.xpos[body], self.count)
        return np.asarray(found)

    def held(self, on: Soles) -> Held:
        """Patches as rows of the programme."""
        found = assembly.held(
            self.xpos, self.xmat, *self._spatial, *self._rest, *on, self._edges, self.planar, self.count
        )
        return Held(*found)

    def centers(self, groups: Groups, origin: int = 0) -> tuple[Points, np.ndarray, np.ndarray]:
        """Places and velocities of the links' centres of mass, J_c (9, nv) and J̇_c q̇ (9,).

        Places and velocities are those seen from the origin of a body, by default the world, in the world's axes.
        """
        place, velocity, rows, bias = assembly.centers(
            *self._spatial, self.xpos, self._xipos, *self._rest, groups.bodies, groups.masses, origin, self.count
        )
        return Points(place, velocity), rows, bias


def _ancestors(model: mujoco.MjModel) -> np.ndarray:
    """(nbody, nv) 1 where a degree of freedom moves a body."""
    moves = np.zeros((model.nbody, model.nv))
    for body in range(1, model.nbody):
        moves[body] = moves[model.body_parentid[body]]
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        if count:
            moves[body, first : first + count] = 1.0
    return moves
