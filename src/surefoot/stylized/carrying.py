"""A motion whose weight its feet can carry: the centre of mass moved until the ground's force comes from a sole.

Over level ground a body's centre of mass c obeys c − c̈/λ = p, λ = g/h, where p is the centre of pressure, but for what
limbs that turn add to it. A retargeted clip is another body's: its p leaves the soles. Here p is put back into them, c
follows by solving the equation in both directions of time, and the root moves along with c while the feet stay.
"""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from surefoot.stylized.legs import Feet, Legs
from surefoot.stylized.patches import FLAT, FREE, HEEL, TOE, footings
from surefoot.stylized.planting import contacts, planted

_TILTED = np.radians(7.0)  # of a sole, from which on it bears on an edge
_INSIDE = 0.25  # of a sole's extents: how far inside its edges pressure is wanted
_TURNED = 0.15  # [m] at most for limbs that turn
_SMOOTH = 0.04  # [s] of the wanted centre of mass
_BOB = 0.05  # [s] of the centre of mass up and down
_CALM = 0.015  # [s] of the joints
_EVEN = {"free": 0.08, "planar": 0.04}  # [s] over which a root comes down
_ROUNDS, _PASSES = 25, 2


def kinds(feet: Feet, bears: np.ndarray) -> np.ndarray:
    """(n, 2) FREE, FLAT, TOE or HEEL."""
    tilts = np.arcsin(np.clip(feet.axes[:, :, 2, 0], -1.0, 1.0))
    return np.where(bears, np.where(tilts < -_TILTED, TOE, np.where(tilts > _TILTED, HEEL, FLAT)), FREE)


def carried(
    legs: Legs, poses: np.ndarray, stands: np.ndarray, timestep: float, moves: bool = True, slope: float = 0.0
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
    bears = contacts(legs, feet, timestep, stands)
    ankles, axes = planted(legs, feet, bears)
    found = poses.copy()
    slides, height = ([0], 1) if legs.table.root == "planar" else ([0, 1], 2)
    found[:, height] += gaussian_filter1d(feet.com[:, 2], _BOB / timestep, mode="nearest") - feet.com[:, 2]
    for turn in range(_PASSES + 1 if moves else 1):
        found[:, height] -= _lower(legs, found, ankles, bears, timestep)
        flat = bears & (np.arcsin(np.clip(axes[:, :, 2, 0], -1.0, 1.0)) < _TILTED)
        found = np.array([legs.reach(p, a, x, f) for p, a, x, f in zip(found, ankles, axes, flat, strict=True)])
        if turn < _PASSES and moves:
            now = legs.feet_of(found)
            turned = _turned(legs, found, timestep) - np.outer(now.com[:, 2], [np.tan(slope), 0.0])
            found[:, slides] += _pressed(legs, now, kinds(now, bears), turned, timestep)[:, slides]
    first = found.shape[1] - len(legs.model.jnt_qposadr[legs.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE])
    found[:, max(first, 3) :] = gaussian_filter1d(found[:, max(first, 3) :], _CALM / timestep, axis=0, mode="nearest")
    return found, bears


def _lower(legs: Legs, poses: np.ndarray, ankles: np.ndarray, bears: np.ndarray, timestep: float) -> np.ndarray:
    """(n,) by how much the root has to come down for bearing legs to reach their feet [m], evenly."""
    away = legs.feet_of(poses).hips - ankles
    room = np.sqrt(np.maximum(legs.length**2 - (away[:, :, :2] ** 2).sum(axis=2), 0.0))
    short = np.where(bears, np.maximum(away[:, :, 2] - room, 0.0), 0.0).max(axis=1)
    width = round(_EVEN[legs.table.root] / timestep)
    return np.asarray(gaussian_filter1d(maximum_filter1d(short, 4 * width + 1), width, mode="nearest"))


def _turned(legs: Legs, poses: np.ndarray, timestep: float) -> np.ndarray:
    """(n, 2) by how much the centre of pressure is elsewhere for limbs that turn [m]: −L̇y/mg, L̇x/mg."""
    smooth = gaussian_filter1d(legs.momentum(poses, timestep), _SMOOTH / timestep, axis=0, mode="nearest")
    change = np.gradient(smooth, timestep, axis=0)
    weight = 9.81 * sum(segment.mass for segment in legs.table.segments)
    return np.clip(np.column_stack([-change[:, 1], change[:, 0]]) / weight, -_TURNED, _TURNED)


def _pressed(legs: Legs, feet: Feet, bearing: np.ndarray, turned: np.ndarray, timestep: float) -> np.ndarray:
    """(n, 2) by how much the centre of mass has to move [m]."""
    low, high = (edge - turned for edge in _extents(legs, feet, bearing))
    wanted = gaussian_filter1d(feet.com[:, :2], _SMOOTH / timestep, axis=0, mode="nearest")
    stiffness = 9.81 / float(np.mean(feet.com[:, 2]))
    acceleration = np.gradient(np.gradient(wanted, timestep, axis=0), timestep, axis=0)
    pressure = np.clip(wanted - acceleration / stiffness, low, high)
    found = wanted
    for _ in range(_ROUNDS):
        found = _followed(pressure, wanted, 1.0 / (stiffness * timestep**2))
        pressure = np.clip(pressure + 0.5 * (wanted - found), low, high)
    return np.asarray(_followed(pressure, wanted, 1.0 / (stiffness * timestep**2)) - feet.com[:, :2])


def _followed(pressure: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """(n, 2) c with c − share·(second difference of c) = p, and the ends' first and last places."""
    bands = np.zeros((3, len(pressure)))
    bands[0, 2:], bands[1], bands[2, :-2] = -share, 1.0 + 2.0 * share, -share
    bands[1, [0, -1]] = 1.0
    right = pressure.copy()
    right[[0, -1]] = ends[[0, -1]]
    return np.asarray(solve_banded((1, 1), bands, right))


def _extents(legs: Legs, feet: Feet, bearing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) lowest and highest x and y of where pressure is wanted; of the last frame where nothing bears."""
    patches = [footings(legs.model, legs.table, side) for side in (0, 1)]
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
