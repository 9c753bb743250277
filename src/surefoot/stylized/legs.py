"""Legs that reach: a character's feet and toes put where they shall be, by the joints of each leg alone."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable

_ITERATIONS, _GOOD = 8, 1e-5  # and [m, rad] at which it is there
_DAMPING, _MORE = 1e-5, 1e-2  # of the inverse, and more by what is still off: a stretched leg cannot come nearer
_STEP = 0.2  # [rad]
_STRETCHED = {"free": 0.985, "planar": 0.999}  # of a leg's length: how far it reaches
_PARTS = ("hip", "knee", "ankle")


class Feet(NamedTuple):
    """Ankles (n, 2, 3) [m], axes of the feet (n, 2, 3, 3), hips (n, 2, 3) [m], centre of mass (n, 3)."""

    ankles: np.ndarray
    axes: np.ndarray
    hips: np.ndarray
    com: np.ndarray


class Legs:
    """The legs of one character, with room to compute."""

    def __init__(self, model: mujoco.MjModel, table: CharacterTable) -> None:
        """Of a character's model."""
        self.model, self.table, self._data = model, table, mujoco.MjData(model)
        self._rows = [0, 2, 4] if table.root == "planar" else list(range(6))
        self._root = int(model.body_rootid[model.body(table.anatomy.pelvis).id])
        self.feet, self.toes, self.dofs, self.places = [], [], [], []
        self._toe_places: list[int] = []
        self._ranges: list[tuple[np.ndarray, ...]] = []
        self.hips = [int(model.body(side.thigh).id) for side in (table.anatomy.left, table.anatomy.right)]
        chain = (table.anatomy.left.shin, table.anatomy.left.foot)
        self.length = _STRETCHED[table.root] * sum(float(np.linalg.norm(model.body(part).pos)) for part in chain)
        for side in (table.anatomy.left, table.anatomy.right):
            self.feet.append(int(model.body(side.foot).id))
            names = [j for j in side.joints if any(part in j for part in _PARTS)]
            self.dofs.append(np.array([int(model.joint(name).dofadr[0]) for name in names]))
            self.places.append(np.array([int(model.joint(name).qposadr[0]) for name in names]))
            self._ranges.append(tuple(np.array([(table.hinges[n].low, table.hinges[n].high) for n in names]).T))
            toes = [s for s in table.segments if s.parent == side.foot]
            self.toes.append(int(model.body(toes[0].name).id) if toes else -1)
            if toes:
                self._toe_places.append(int(model.joint(toes[0].hinges[0].name).qposadr[0]))

    def _set(self, pose: np.ndarray) -> mujoco.MjData:
        self._data.qpos[: len(pose)] = pose
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)
        return self._data

    def feet_of(self, poses: np.ndarray) -> Feet:
        """Where the feet of poses (n, nq) are."""
        n = len(poses)
        found = Feet(np.zeros((n, 2, 3)), np.zeros((n, 2, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 3)))
        for i, pose in enumerate(poses):
            data = self._set(pose)
            found.ankles[i], found.com[i] = data.xpos[self.feet], data.subtree_com[self._root]
            found.axes[i] = data.xmat[self.feet].reshape(2, 3, 3)
            found.hips[i] = data.xpos[self.hips]
        return found

    def momentum(self, poses: np.ndarray, timestep: float) -> np.ndarray:
        """(n, 3) angular momentum about the centre of mass [kg·m²/s] of poses (n, nq) at even times."""
        data, step, found = self._data, np.zeros(self.model.nv), np.zeros((len(poses), 3))
        whole = np.tile(self.model.qpos0, (len(poses), 1))
        whole[:, : poses.shape[1]] = poses
        for i in range(len(poses)):
            a, b = max(i - 1, 0), min(i + 1, len(poses) - 1)
            mujoco.mj_differentiatePos(self.model, step, (b - a) * timestep, whole[a], whole[b])
            self._set(poses[i])
            data.qvel[:] = step
            mujoco.mj_comVel(self.model, data)
            mujoco.mj_subtreeVel(self.model, data)
            found[i] = data.subtree_angmom[self._root]
        return found

    def reach(self, pose: np.ndarray, ankles: np.ndarray, axes: np.ndarray, flat: np.ndarray) -> np.ndarray:
        """(nq,) a pose whose feet are at ankles (2, 3) with axes (2, 3, 3); toes lie level where `flat` (2,) says."""
        pose = pose.copy()
        for _ in range(_ITERATIONS):
            data, jacobian, far = self._set(pose), np.zeros((6, self.model.nv)), 0.0
            for side, foot in enumerate(self.feet):
                mujoco.mj_jacBody(self.model, data, jacobian[:3], jacobian[3:], foot)
                now = data.xmat[foot].reshape(3, 3)
                off = np.concatenate([ankles[side] - data.xpos[foot], rotation_vector(axes[side] @ now.T)])[self._rows]
                size = float(np.abs(off).max())
                leg, far = jacobian[:, self.dofs[side]][self._rows], max(far, size)
                square = leg @ leg.T
                square.ravel()[:: len(off) + 1] += _DAMPING + _MORE * size
                step = leg.T @ np.linalg.solve(square, off)
                step *= min(1.0, _STEP / max(float(np.abs(step).max()), 1e-9))
                pose[self.places[side]] = np.clip(pose[self.places[side]] + step, *self._ranges[side])
            if far < _GOOD:
                break
        if self._toe_places:
            data = self._set(pose)
            for side, place in enumerate(self._toe_places):
                if flat[side]:
                    joint = self.table.hinges[self.model.joint(int(self._joint_at(place))).name]
                    sign = -1.0 if joint.axis[1] > 0.0 else 1.0
                    tilt = tilt_of(data.xmat[self.toes[side]].reshape(3, 3))
                    pose[place] = np.clip(pose[place] - sign * tilt, joint.low, joint.high)
        return pose

    def toe_offset(self, side: int) -> np.ndarray:
        """(3,) of the toes in their foot's frame [m]."""
        return np.asarray(self.model.body_pos[self.toes[side]])

    def _joint_at(self, place: int) -> int:
        return int(np.flatnonzero(self.model.jnt_qposadr == place)[0])


def tilt_of(axes: np.ndarray) -> float:
    """By how much a body's x points up [rad]."""
    return float(np.arcsin(np.clip(axes[2, 0], -1.0, 1.0)))


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    """(3,) of a rotation (3, 3) [rad]."""
    four, found = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(four, np.ascontiguousarray(matrix).ravel())
    mujoco.mju_quat2Vel(found, four, 1.0)
    return found
