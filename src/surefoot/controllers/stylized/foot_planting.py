"""Legs that reach: a character's feet and toes put where they shall be, by the joints of each leg alone.

Feet that bear where they stand: contacts of retargeted motions, and feet held flush there (da Silva 2008, §5.4).

A motion whose weight its feet can carry: the centre of mass moved until the ground's force comes from a sole.

Over level ground a body's centre of mass c obeys c − c̈/λ = p, λ = g/h, where p is the centre of pressure, but for what
limbs that turn add to it. A retargeted clip is another body's: its p leaves the soles. Here p is put back into them, c
follows by solving the equation in both directions of time, and the root moves along with c while the feet stay.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized.foot_contacts import FLAT, FREE, HEEL, TOE, foot_patches
from surefoot.motions.signals import true_spans

_ITERATIONS, _GOOD = 8, 1e-5  # and [m, rad] at which it is there
_DAMPING, _MORE = 1e-5, 1e-2  # of the inverse, and more by what is still off: a stretched leg cannot come nearer
_STEP = 0.2  # [rad]
_PARTS = ("hip", "knee", "ankle")


class LegExtension(NamedTuple):
    """How straight legs may be: to which share of their length they reach, and over how long a root comes down [s]."""

    share: float
    evenly: float


BENT, STRAIGHT, PLANAR = LegExtension(0.985, 0.08), LegExtension(0.995, 0.04), LegExtension(0.999, 0.04)
"""Bent knees can still be led; straight ones are nearer to a recorded person's. In the plane nothing leads them."""


class FootTrajectories(NamedTuple):
    """Ankles (n, 2, 3) [m], axes of the feet (n, 2, 3, 3), hips (n, 2, 3) [m], centre of mass (n, 3)."""

    ankles: np.ndarray
    axes: np.ndarray
    hips: np.ndarray
    com: np.ndarray


class LegKinematics:
    """The legs of one character, with room to compute."""

    def __init__(self, model: mujoco.MjModel, table: CharacterTable, stretch: LegExtension | None = None) -> None:
        """Of a character's model; by default legs in space stay bent."""
        self.stretch = stretch or (PLANAR if table.root == "planar" else BENT)
        self.model, self.table, self._data = model, table, mujoco.MjData(model)
        self._rows = [0, 2, 4] if table.root == "planar" else list(range(6))
        self._root = int(model.body_rootid[model.body(table.anatomy.pelvis).id])
        self.feet, self.toes, self.dofs, self.places = [], [], [], []
        self._toe_places: list[int] = []
        self._ranges: list[tuple[np.ndarray, ...]] = []
        self.hips = [int(model.body(side.thigh).id) for side in (table.anatomy.left, table.anatomy.right)]
        chain = (table.anatomy.left.shin, table.anatomy.left.foot)
        self.length = self.stretch.share * sum(float(np.linalg.norm(model.body(part).pos)) for part in chain)
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

    def feet_of(self, poses: np.ndarray) -> FootTrajectories:
        """Where the feet of poses (n, nq) are."""
        n = len(poses)
        found = FootTrajectories(np.zeros((n, 2, 3)), np.zeros((n, 2, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 3)))
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
                    tilt = pitch_up(data.xmat[self.toes[side]].reshape(3, 3))
                    pose[place] = np.clip(pose[place] - sign * tilt, joint.low, joint.high)
        return pose

    def toe_offset(self, side: int) -> np.ndarray:
        """(3,) of the toes in their foot's frame [m]."""
        return np.asarray(self.model.body_pos[self.toes[side]])

    def _joint_at(self, place: int) -> int:
        return int(np.flatnonzero(self.model.jnt_qposadr == place)[0])


def pitch_up(axes: np.ndarray) -> float:
    """By how much a body's x points up [rad]."""
    return float(np.arcsin(np.clip(axes[2, 0], -1.0, 1.0)))


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    """(3,) of a rotation (3, 3) [rad]."""
    four, found = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(four, np.ascontiguousarray(matrix).ravel())
    mujoco.mju_quat2Vel(found, four, 1.0)
    return found


_NEAR, _SLOW = 0.02, (1.2, 0.7)  # [m], [m/s] of the sole's lowest end: it bears, when it comes and when it goes
_LEVEL = np.radians((8.0, 20.0))  # a bearing foot is level below the first tilt, and as it was above the second
_SHORT = 0.06  # [s] of gaps and of touches


class SoleEnds:
    """Where the ends of the soles are, in the feet's frames (2, 3): rear, front [m]."""

    def __init__(self, legs: LegKinematics) -> None:
        """Of one character."""
        patch = foot_patches(legs.model, legs.table, 0)[FLAT][0]
        corners = patch.corners * [1.0, 0.0, 1.0]
        self.rear, self.front = corners[corners[:, 0].argmin()], corners[corners[:, 0].argmax()]
        self.height = -float(corners[:, 2].min())


def extend_contacts(legs: LegKinematics, feet: FootTrajectories, timestep: float, stands: np.ndarray) -> np.ndarray:
    """(n, 2) when feet bear: where a clip's feet are said to stand (n, 2), and before and after while an end does."""
    soles, found = SoleEnds(legs), stands.copy()
    for side in (0, 1):
        for end, most, way in ((soles.rear, _SLOW[0], -1), (soles.front, _SLOW[1], 1)):
            place = feet.ankles[:, side] + feet.axes[:, side] @ end
            speed = np.linalg.norm(np.gradient(place[:, :2], timestep, axis=0), axis=1)
            bears = (place[:, 2] < _NEAR) & (speed < most)
            for first, last in true_spans(stands[:, side]):
                i = first - 1 if way < 0 else last
                while 0 <= i < len(bears) and bears[i]:
                    found[i, side] = True
                    i += way
        for value in (True, False):
            for first, last in true_spans(found[:, side] != value):
                if (last - first) * timestep < _SHORT and first > 0 and last < len(found):
                    found[first:last, side] = value
    return found


def plant_feet(legs: LegKinematics, feet: FootTrajectories, bears: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2, 3) and axes (n, 2, 3, 3) of feet that stay where they bear; swings lead from one to the next."""
    soles, n = SoleEnds(legs), len(bears)
    ankles, axes = feet.ankles.copy(), feet.axes.copy()
    for side in (0, 1):
        moves, turned, known = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), bears[:, side].copy()
        for first, last in true_spans(bears[:, side]):
            tilts = np.array([pitch_up(a) for a in feet.axes[first:last, side]])
            level = np.abs(tilts) < _LEVEL[0] if (np.abs(tilts) < _LEVEL[0]).any() else np.ones(len(tilts), bool)
            ahead = np.median(feet.axes[first:last, side][level][:, :, 0], axis=0)
            yaw = np.arctan2(ahead[1], ahead[0])
            place = np.median(feet.ankles[first:last, side][level], axis=0)
            place[2] = soles.height
            flat = _axes(yaw, 0.0)
            for i, tilt in zip(range(first, last), tilts, strict=True):
                share = np.clip((abs(tilt) - _LEVEL[0]) / (_LEVEL[1] - _LEVEL[0]), 0.0, 1.0)
                there, pivot = _axes(yaw, share * tilt), soles.front if tilt < 0.0 else soles.rear
                moves[i] = place + flat @ pivot - there @ pivot - feet.ankles[i, side]
                turned[i] = there @ feet.axes[i, side].T
        _led(moves, turned, known)
        ankles[:, side] += moves
        axes[:, side] = turned @ feet.axes[:, side]
        ends = [ankles[:, side] + axes[:, side] @ end for end in (soles.rear, soles.front)]
        ankles[:, side, 2] += np.maximum(0.0, -np.minimum(ends[0][:, 2], ends[1][:, 2]))
    return ankles, axes


def _axes(yaw: float, tilt: float) -> np.ndarray:
    """(3, 3) of a foot that points along a yaw and up by a tilt, without roll."""
    cy, sy, ct, st = np.cos(yaw), np.sin(yaw), np.cos(tilt), np.sin(tilt)
    return np.array([[cy * ct, -sy, -cy * st], [sy * ct, cy, -sy * st], [st, 0.0, ct]])


def _led(moves: np.ndarray, turned: np.ndarray, known: np.ndarray) -> None:
    """Between frames that are known let corrections go over from one to the other; only the shares of turns."""
    at = np.flatnonzero(known)
    if not len(at):
        return
    for i in np.flatnonzero(~known):
        after = int(np.searchsorted(at, i))
        a, b = at[max(after - 1, 0)], at[min(after, len(at) - 1)]
        s = (i - a) / (b - a) if b > a else 0.0
        s = s * s * (3.0 - 2.0 * s)
        moves[i] = (1.0 - s) * moves[a] + s * moves[b]
        u, _, v = np.linalg.svd((1.0 - s) * turned[a] + s * turned[b])
        turned[i] = u @ v


_TILTED = np.radians(7.0)  # of a sole, from which on it bears on an edge
_INSIDE = 0.25  # of a sole's extents: how far inside its edges pressure is wanted
_TURNED = 0.15  # [m] at most for limbs that turn
_SMOOTH = 0.04  # [s] of the wanted centre of mass
_BOB = 0.05  # [s] of the centre of mass up and down
_CALM = 0.015  # [s] of the joints
_ROUNDS, _PASSES = 25, 2


def contact_modes_over_time(feet: FootTrajectories, bears: np.ndarray) -> np.ndarray:
    """(n, 2) FREE, FLAT, TOE or HEEL."""
    tilts = np.arcsin(np.clip(feet.axes[:, :, 2, 0], -1.0, 1.0))
    return np.where(bears, np.where(tilts < -_TILTED, TOE, np.where(tilts > _TILTED, HEEL, FLAT)), FREE)


def make_balanced(
    legs: LegKinematics, poses: np.ndarray, stands: np.ndarray, timestep: float, moves: bool = True, slope: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (n, nq) whose feet stay where they bear and whose weight they can carry, and when they bear (n, 2).

    Args:
        legs: of the character.
        poses: of a retargeted motion, over level ground at height 0.
        stands: (n, 2) when the clip's feet stand.
        timestep: of the poses [s].
        moves: whether the root is moved.
        slope: that the ground really rises ahead [rad], where the poses are seen from it: weight pulls back.
    """
    feet = legs.feet_of(poses)
    bears = extend_contacts(legs, feet, timestep, stands)
    ankles, axes = plant_feet(legs, feet, bears)
    found = poses.copy()
    slides, height = ([0], 1) if legs.table.root == "planar" else ([0, 1], 2)
    found[:, height] += gaussian_filter1d(feet.com[:, 2], _BOB / timestep, mode="nearest") - feet.com[:, 2]
    for turn in range(_PASSES + 1 if moves else 1):
        found[:, height] -= _root_drop_to_reach(legs, found, ankles, bears, timestep)
        flat = bears & (np.arcsin(np.clip(axes[:, :, 2, 0], -1.0, 1.0)) < _TILTED)
        found = np.array([legs.reach(p, a, x, f) for p, a, x, f in zip(found, ankles, axes, flat, strict=True)])
        if turn < _PASSES and moves:
            now = legs.feet_of(found)
            turned = _turned(legs, found, timestep) - np.outer(now.com[:, 2], [np.tan(slope), 0.0])
            found[:, slides] += _com_shift_for_zmp(legs, now, contact_modes_over_time(now, bears), turned, timestep)[
                :, slides
            ]
    first = found.shape[1] - len(legs.model.jnt_qposadr[legs.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE])
    found[:, max(first, 3) :] = gaussian_filter1d(found[:, max(first, 3) :], _CALM / timestep, axis=0, mode="nearest")
    return found, bears


def _root_drop_to_reach(
    legs: LegKinematics, poses: np.ndarray, ankles: np.ndarray, bears: np.ndarray, timestep: float
) -> np.ndarray:
    """(n,) by how much the root has to come down for bearing legs to reach their feet [m], evenly."""
    away = legs.feet_of(poses).hips - ankles
    room = np.sqrt(np.maximum(legs.length**2 - (away[:, :, :2] ** 2).sum(axis=2), 0.0))
    short = np.where(bears, np.maximum(away[:, :, 2] - room, 0.0), 0.0).max(axis=1)
    width = round(legs.stretch.evenly / timestep)
    return np.asarray(gaussian_filter1d(maximum_filter1d(short, 4 * width + 1), width, mode="nearest"))


def _turned(legs: LegKinematics, poses: np.ndarray, timestep: float) -> np.ndarray:
    """(n, 2) by how much the centre of pressure is elsewhere for limbs that turn [m]: −L̇y/mg, L̇x/mg."""
    smooth = gaussian_filter1d(legs.momentum(poses, timestep), _SMOOTH / timestep, axis=0, mode="nearest")
    change = np.gradient(smooth, timestep, axis=0)
    weight = 9.81 * sum(segment.mass for segment in legs.table.segments)
    return np.clip(np.column_stack([-change[:, 1], change[:, 0]]) / weight, -_TURNED, _TURNED)


def _com_shift_for_zmp(
    legs: LegKinematics, feet: FootTrajectories, bearing: np.ndarray, turned: np.ndarray, timestep: float
) -> np.ndarray:
    """(n, 2) by how much the centre of mass has to move [m]."""
    low, high = (edge - turned for edge in _zmp_bounds(legs, feet, bearing))
    wanted = gaussian_filter1d(feet.com[:, :2], _SMOOTH / timestep, axis=0, mode="nearest")
    stiffness = 9.81 / float(np.mean(feet.com[:, 2]))
    acceleration = np.gradient(np.gradient(wanted, timestep, axis=0), timestep, axis=0)
    pressure = np.clip(wanted - acceleration / stiffness, low, high)
    found = wanted
    for _ in range(_ROUNDS):
        found = _com_from_zmp(pressure, wanted, 1.0 / (stiffness * timestep**2))
        pressure = np.clip(pressure + 0.5 * (wanted - found), low, high)
    return np.asarray(_com_from_zmp(pressure, wanted, 1.0 / (stiffness * timestep**2)) - feet.com[:, :2])


def _com_from_zmp(pressure: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """(n, 2) c with c − share·(second difference of c) = p, and the ends' first and last places."""
    bands = np.zeros((3, len(pressure)))
    bands[0, 2:], bands[1], bands[2, :-2] = -share, 1.0 + 2.0 * share, -share
    bands[1, [0, -1]] = 1.0
    right = pressure.copy()
    right[[0, -1]] = ends[[0, -1]]
    return np.asarray(solve_banded((1, 1), bands, right))


def _zmp_bounds(legs: LegKinematics, feet: FootTrajectories, bearing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) lowest and highest x and y of where pressure is wanted; of the last frame where nothing bears."""
    patches = [foot_patches(legs.model, legs.table, side) for side in (0, 1)]
    low, high = np.full((len(bearing), 2), np.inf), np.full((len(bearing), 2), -np.inf)
    for i in range(len(bearing)):
        for side in (0, 1):
            kind = int(bearing[i, side])
            for patch in patches[side][FLAT if kind == TOE else kind]:
                corners = patch.corners
                if patch.body != legs.feet[side]:
                    corners = corners + legs.toe_offset(side)
                elif kind == TOE:
                    corners = corners[corners[:, 0] > 0.0]
                places = feet.ankles[i, side] + corners @ feet.axes[i, side].T
                low[i] = np.minimum(low[i], places[:, :2].min(axis=0))
                high[i] = np.maximum(high[i], places[:, :2].max(axis=0))
        if not np.isfinite(low[i]).all():
            low[i], high[i] = (low[i - 1], high[i - 1]) if i else (feet.com[i, :2], feet.com[i, :2])
    room = _INSIDE * (high - low)
    return low + room, high - room
