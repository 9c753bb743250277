"""A retargeted motion made fit for its new body: feet stay where they bear, and can carry the weight above them.

`LegKinematics` places feet by the joints of each leg alone. `plant_feet` holds bearing feet flush with the ground (da
Silva 2008, §5.4). `make_balanced` moves the center of mass as well: over level ground it obeys c − c̈/λ = p, λ = g/h,
where p is the center of pressure, but for what turning limbs add. A retargeted clip was another body's, and its p
leaves the soles. Here p is put back into them, c follows by solving the equation in both directions of time, and the
root moves along with c while the feet stay.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized.contact_patches import FLAT, PITCHED, TOE, foot_patches, reference_contact_modes
from surefoot.controllers.stylized.multibody_dynamics import leg_indices
from surefoot.motions.signals import true_spans
from surefoot.reflexes.pendulum import GRAVITY

_ITERATIONS, _GOOD = 8, 1e-5  # of the inverse kinematics, and [m, rad] at which it stops
_DAMPING, _MORE = 1e-5, 1e-2  # of the inverse, and more of it by the error: a straight leg cannot come nearer
_STEP = 0.2  # [rad]
_NEAR, _SLOW = 0.02, (1.2, 0.7)  # [m], [m/s] of the sole's lowest end: it bears, before a stance and after it
_LEVEL = np.radians((8.0, 20.0))  # a bearing foot is leveled below the first pitch, and kept above the second
_SHORT = 0.06  # [s] of gaps and of touches that are ignored
_INSIDE = 0.25  # of a sole's extent: how far inside its edges the center of pressure is wanted
_TURNED = 0.15  # [m] at most that turning limbs move the center of pressure
_SMOOTH = 0.04  # [s] of the wanted center of mass
_BOB = 0.05  # [s] of its motion up and down
_CALM = 0.015  # [s] of the joints
_ROUNDS, _PASSES = 25, 2


class LegExtension(NamedTuple):
    """How straight legs may get: the share of their length they reach, and over how long the root comes down [s]."""

    share: float
    evenly: float


BENT, STRAIGHT, PLANAR = LegExtension(0.985, 0.08), LegExtension(0.995, 0.04), LegExtension(0.999, 0.04)
"""Bent knees can still be steered; straight ones are nearer to a recorded person's. In a plane nothing steers them."""


class FootTrajectories(NamedTuple):
    """Ankles, orientations of the feet, hips and center of mass of n poses."""

    ankles: np.ndarray  # (n, 2, 3) [m]
    axes: np.ndarray  # (n, 2, 3, 3)
    hips: np.ndarray  # (n, 2, 3) [m]
    com: np.ndarray  # (n, 3) [m]


def pose_rates(model: mujoco.MjModel, poses: np.ndarray, timestep: float) -> np.ndarray:
    """(n, model.nv) velocities of poses (n, nq) at even times [s]: centered differences; other objects rest."""
    whole = np.tile(model.qpos0, (len(poses), 1))
    whole[:, : poses.shape[1]] = poses
    rates = np.zeros((len(poses), model.nv))
    for i in range(len(poses)):
        a, b = max(i - 1, 0), min(i + 1, len(poses) - 1)
        mujoco.mj_differentiatePos(model, rates[i], (b - a) * timestep, whole[a], whole[b])
    return rates


class LegKinematics:
    """Forward and inverse kinematics of one character's legs."""

    def __init__(self, model: mujoco.MjModel, table: CharacterTable, extension: LegExtension | None = None) -> None:
        """Prepare a character's model; by default legs stay bent, but for those in a plane."""
        self.extension = extension or (PLANAR if table.root == "planar" else BENT)
        self.model, self.table, self.legs, self._data = model, table, leg_indices(model, table), mujoco.MjData(model)
        self._root = int(model.body_rootid[model.body(table.anatomy.pelvis).id])
        sides = (table.anatomy.left, table.anatomy.right)
        self._hips = [int(model.body(side.thigh).id) for side in sides]
        chain = (sides[0].shin, sides[0].foot)
        self.length = self.extension.share * sum(float(np.linalg.norm(model.body(part).pos)) for part in chain)
        self._ranges = [
            np.array([(table.hinges[name].low, table.hinges[name].high) for name in names]).T
            for names in self.legs.joints
        ]
        self._toes = [segment for side in sides for segment in table.segments if segment.parent == side.foot]

    def _set(self, pose: np.ndarray, rates: np.ndarray | None = None) -> mujoco.MjData:
        self._data.qpos[: len(pose)] = pose
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)
        if rates is not None:
            self._data.qvel[:] = rates
            mujoco.mj_comVel(self.model, self._data)
        return self._data

    def feet_over_time(self, poses: np.ndarray) -> FootTrajectories:
        """Where the feet, hips and center of mass of poses (n, nq) are."""
        n = len(poses)
        found = FootTrajectories(np.zeros((n, 2, 3)), np.zeros((n, 2, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 3)))
        for i, pose in enumerate(poses):
            data = self._set(pose)
            found.ankles[i], found.com[i] = data.xpos[self.legs.feet], data.subtree_com[self._root]
            found.axes[i] = data.xmat[self.legs.feet].reshape(2, 3, 3)
            found.hips[i] = data.xpos[self._hips]
        return found

    def foot_twists(self, poses: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """(n, 2, 6) velocities of the ankles [m/s] and spins of the feet [rad/s], of poses (n, nq) and their rates."""
        found, six = np.zeros((len(poses), 2, 6)), np.zeros(6)
        for i, pose in enumerate(poses):
            data = self._set(pose, rates[i])
            for side, foot in enumerate(self.legs.feet):
                mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_XBODY, foot, six, 0)
                found[i, side] = np.roll(six, 3)
        return found

    def angular_momentum(self, poses: np.ndarray, timestep: float) -> np.ndarray:
        """(n, 3) about the center of mass [kg·m²/s], of poses (n, nq) at even times."""
        found = np.zeros((len(poses), 3))
        for i, rates in enumerate(pose_rates(self.model, poses, timestep)):
            data = self._set(poses[i], rates)
            mujoco.mj_subtreeVel(self.model, data)
            found[i] = data.subtree_angmom[self._root]
        return found

    def solve_ik(self, pose: np.ndarray, ankles: np.ndarray, axes: np.ndarray, flat: np.ndarray) -> np.ndarray:
        """Move the legs of a pose by damped least squares.

        Args:
            pose: (nq,) to begin from.
            ankles: (2, 3) where the ankles have to be [m].
            axes: (2, 3, 3) how the feet have to be oriented.
            flat: (2,) which feet keep their toes level.

        Returns:
            The new pose (nq,).
        """
        pose, legs, jacobian = pose.copy(), self.legs, np.zeros((6, self.model.nv))
        for _ in range(_ITERATIONS):
            data, far = self._set(pose), 0.0
            for side, foot in enumerate(legs.feet):
                mujoco.mj_jacBody(self.model, data, jacobian[:3], jacobian[3:], foot)
                turn = rotation_vector(axes[side] @ data.xmat[foot].reshape(3, 3).T)
                off = np.concatenate([ankles[side] - data.xpos[foot], turn])[legs.twist_rows]
                size = float(np.abs(off).max())
                leg, far = jacobian[:, legs.dofs[side]][legs.twist_rows], max(far, size)
                square = leg @ leg.T
                square.ravel()[:: len(off) + 1] += _DAMPING + _MORE * size
                step = leg.T @ np.linalg.solve(square, off)
                step *= min(1.0, _STEP / max(float(np.abs(step).max()), 1e-9))
                pose[legs.qpos[side]] = np.clip(pose[legs.qpos[side]] + step, *self._ranges[side])
            if far < _GOOD:
                break
        if self._toes:
            data = self._set(pose)
            for toes, level in zip(self._toes, flat, strict=True):
                if level:
                    joint = toes.hinges[0]
                    at, sign = int(self.model.joint(joint.name).qposadr[0]), -1.0 if joint.axis[1] > 0.0 else 1.0
                    pitch = pitch_up(data.body(toes.name).xmat.reshape(3, 3))
                    pose[at] = np.clip(pose[at] - sign * pitch, joint.low, joint.high)
        return pose


def pitch_up(axes: np.ndarray) -> float:
    """By how much a body's x axis points up [rad]."""
    return float(np.arcsin(np.clip(axes[2, 0], -1.0, 1.0)))


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    """(3,) of a rotation (3, 3) [rad]."""
    four, found = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(four, np.ascontiguousarray(matrix).ravel())
    mujoco.mju_quat2Vel(found, four, 1.0)
    return found


class SoleEnds(NamedTuple):
    """The rear and the front end of a sole in its foot's frame, (3,) each, and its depth below the ankle [m]."""

    rear: np.ndarray
    front: np.ndarray
    depth: float


def sole_ends(legs: LegKinematics) -> SoleEnds:
    """Find the ends of a character's soles."""
    corners = foot_patches(legs.model, legs.table, 0)[FLAT][0].corners * [1.0, 0.0, 1.0]
    return SoleEnds(corners[corners[:, 0].argmin()], corners[corners[:, 0].argmax()], -float(corners[:, 2].min()))


def extend_contacts(legs: LegKinematics, feet: FootTrajectories, timestep: float, stands: np.ndarray) -> np.ndarray:
    """(n, 2) when feet bear: while a clip's feet stand (n, 2), and before and after while an end of the sole does."""
    soles, found = sole_ends(legs), stands.copy()
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
    """Ankles (n, 2, 3) and axes (n, 2, 3, 3) of feet that stay where they bear; swings go from place to place."""
    soles, n = sole_ends(legs), len(bears)
    ankles, axes = feet.ankles.copy(), feet.axes.copy()
    for side in (0, 1):
        moves, turned, known = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), bears[:, side].copy()
        for first, last in true_spans(bears[:, side]):
            pitches = np.array([pitch_up(a) for a in feet.axes[first:last, side]])
            level = np.abs(pitches) < _LEVEL[0]
            level |= not level.any()
            ahead = np.median(feet.axes[first:last, side][level][:, :, 0], axis=0)
            yaw = np.arctan2(ahead[1], ahead[0])
            place = np.median(feet.ankles[first:last, side][level], axis=0)
            place[2] = soles.depth
            flat = _axes(yaw, 0.0)
            for i, pitch in zip(range(first, last), pitches, strict=True):
                share = np.clip((abs(pitch) - _LEVEL[0]) / (_LEVEL[1] - _LEVEL[0]), 0.0, 1.0)
                there, pivot = _axes(yaw, share * pitch), soles.front if pitch < 0.0 else soles.rear
                moves[i] = place + flat @ pivot - there @ pivot - feet.ankles[i, side]
                turned[i] = there @ feet.axes[i, side].T
        _blend_between_stances(moves, turned, known)
        ankles[:, side] += moves
        axes[:, side] = turned @ feet.axes[:, side]
        ends = [ankles[:, side] + axes[:, side] @ end for end in (soles.rear, soles.front)]
        ankles[:, side, 2] += np.maximum(0.0, -np.minimum(ends[0][:, 2], ends[1][:, 2]))
    return ankles, axes


def _axes(yaw: float, pitch: float) -> np.ndarray:
    """(3, 3) orientation of a foot with a yaw and an upward pitch [rad], without roll."""
    cy, sy, ct, st = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    return np.array([[cy * ct, -sy, -cy * st], [sy * ct, cy, -sy * st], [st, 0.0, ct]])


def _blend_between_stances(moves: np.ndarray, turned: np.ndarray, known: np.ndarray) -> None:
    """Blend moves (n, 3) and turns (n, 3, 3) of frames that are not known between those of the nearest known ones."""
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


def make_balanced(
    legs: LegKinematics, poses: np.ndarray, stands: np.ndarray, timestep: float, slope: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Plant the feet of a retargeted motion and move its root until the feet can carry its weight.

    Args:
        legs: of the character.
        poses: (n, nq) over level ground at height 0.
        stands: (n, 2) when the clip's feet stand.
        timestep: of the poses [s].
        slope: by which the ground really rises ahead [rad], where the poses are seen from it: weight pulls back.

    Returns:
        The new poses (n, nq), and when their feet bear (n, 2).
    """
    feet = legs.feet_over_time(poses)
    bears = extend_contacts(legs, feet, timestep, stands)
    ankles, axes = plant_feet(legs, feet, bears)
    flat, found = bears & (axes[:, :, 2, 0] < PITCHED), poses.copy()
    slides, height, joints = ([0], 1, 3) if legs.table.root == "planar" else ([0, 1], 2, 7)
    found[:, height] += gaussian_filter1d(feet.com[:, 2], _BOB / timestep, mode="nearest") - feet.com[:, 2]
    for turn in range(_PASSES + 1):
        found[:, height] -= _root_drop_to_reach(legs, found, ankles, bears, timestep)
        found = np.array([legs.solve_ik(p, a, x, f) for p, a, x, f in zip(found, ankles, axes, flat, strict=True)])
        if turn < _PASSES:
            now = legs.feet_over_time(found)
            turned = _pressure_of_turning(legs, found, timestep) - np.outer(now.com[:, 2], [np.tan(slope), 0.0])
            found[:, slides] += _com_shift_for_zmp(legs, now, bears, turned, timestep)[:, slides]
    found[:, joints:] = gaussian_filter1d(found[:, joints:], _CALM / timestep, axis=0, mode="nearest")
    return found, bears


def _root_drop_to_reach(
    legs: LegKinematics, poses: np.ndarray, ankles: np.ndarray, bears: np.ndarray, timestep: float
) -> np.ndarray:
    """(n,) by how much the root has to come down for bearing legs to reach their feet [m], evenly."""
    away = legs.feet_over_time(poses).hips - ankles
    room = np.sqrt(np.maximum(legs.length**2 - (away[:, :, :2] ** 2).sum(axis=2), 0.0))
    short = np.where(bears, np.maximum(away[:, :, 2] - room, 0.0), 0.0).max(axis=1)
    width = round(legs.extension.evenly / timestep)
    return np.asarray(gaussian_filter1d(maximum_filter1d(short, 4 * width + 1), width, mode="nearest"))


def _pressure_of_turning(legs: LegKinematics, poses: np.ndarray, timestep: float) -> np.ndarray:
    """(n, 2) by how much turning limbs move the center of pressure [m]: −L̇y/mg, L̇x/mg."""
    smooth = gaussian_filter1d(legs.angular_momentum(poses, timestep), _SMOOTH / timestep, axis=0, mode="nearest")
    change = np.gradient(smooth, timestep, axis=0)
    weight = GRAVITY * sum(segment.mass for segment in legs.table.segments)
    return np.clip(np.column_stack([-change[:, 1], change[:, 0]]) / weight, -_TURNED, _TURNED)


def _com_shift_for_zmp(
    legs: LegKinematics, feet: FootTrajectories, bears: np.ndarray, turned: np.ndarray, timestep: float
) -> np.ndarray:
    """(n, 2) by how much the center of mass has to move [m]."""
    low, high = (edge - turned for edge in _zmp_bounds(legs, feet, reference_contact_modes(feet.axes, bears)))
    wanted = gaussian_filter1d(feet.com[:, :2], _SMOOTH / timestep, axis=0, mode="nearest")
    stiffness = GRAVITY / float(np.mean(feet.com[:, 2]))
    acceleration = np.gradient(np.gradient(wanted, timestep, axis=0), timestep, axis=0)
    pressure = np.clip(wanted - acceleration / stiffness, low, high)
    for _ in range(_ROUNDS):
        found = _com_from_zmp(pressure, wanted, 1.0 / (stiffness * timestep**2))
        pressure = np.clip(pressure + 0.5 * (wanted - found), low, high)
    return np.asarray(_com_from_zmp(pressure, wanted, 1.0 / (stiffness * timestep**2)) - feet.com[:, :2])


def _com_from_zmp(pressure: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """(n, 2) c with c − share·(second difference of c) = p, that begins and ends where `ends` (n, 2) does."""
    bands = np.zeros((3, len(pressure)))
    bands[0, 2:], bands[1], bands[2, :-2] = -share, 1.0 + 2.0 * share, -share
    bands[1, [0, -1]] = 1.0
    right = pressure.copy()
    right[[0, -1]] = ends[[0, -1]]
    return np.asarray(solve_banded((1, 1), bands, right))


def _zmp_bounds(legs: LegKinematics, feet: FootTrajectories, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) lowest and highest x and y of where pressure is wanted; those of the frame before where nothing bears."""
    patches = [foot_patches(legs.model, legs.table, side) for side in (0, 1)]
    low, high = np.full((len(modes), 2), np.inf), np.full((len(modes), 2), -np.inf)
    for i in range(len(modes)):
        for side in (0, 1):
            mode = int(modes[i, side])
            for patch in patches[side][FLAT if mode == TOE else mode]:
                corners = patch.corners
                if patch.body != legs.legs.feet[side]:
                    corners = corners + legs.model.body_pos[patch.body]
                elif mode == TOE:
                    corners = corners[corners[:, 0] > 0.0]
                places = feet.ankles[i, side] + corners @ feet.axes[i, side].T
                low[i] = np.minimum(low[i], places[:, :2].min(axis=0))
                high[i] = np.maximum(high[i], places[:, :2].max(axis=0))
        if not np.isfinite(low[i]).all():
            low[i], high[i] = (low[i - 1], high[i - 1]) if i else (feet.com[i, :2], feet.com[i, :2])
    room = _INSIDE * (high - low)
    return low + room, high - room
