"""The compiled part of a character's equations of motion: Jacobians of patches and of the links' centres of mass.

All of it comes from the engine's recursive quantities: motion axes `cdof`, spatial velocities and accelerations about
`center`. This module imports no kernels of others, so that the compiler's cache sees every edit.

A character's equations of motion at one state: M q̈ + h = Sᵀ τ + Jᵀ f, with the Jacobians the programme needs.

The mass matrix includes what the integrator adds for joints that are damped implicitly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import mujoco
import numpy as np
from numba import njit

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized.foot_contacts import EDGE, FACE, HINGE, Patch, friction_cone_edges

if TYPE_CHECKING:
    from surefoot.controllers.stylized.three_link import ThreeLinkGroups

F = TypeVar("F", bound=Callable[..., Any])


class Points(NamedTuple):
    """Where the links' centres of mass are and how they move, seen from the stance ankle along a heading."""

    place: np.ndarray  # (3, 3) [m], a row a link
    velocity: np.ndarray  # (3, 3) [m/s]


def compiled(function: F) -> F:
    """Compile for calls from Python, and keep the machine code."""
    return njit(cache=True, error_model="numpy")(function)  # type: ignore[no-any-return]


@compiled
def cross(a: Any, b: Any, out: Any) -> None:
    """Write a × b, (3,)."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def rotate(axes: Any, vector: Any, out: Any) -> None:
    """Write a vector (3,) of a body's frame in world axes."""
    for k in range(3):
        out[k] = axes[k, 0] * vector[0] + axes[k, 1] * vector[1] + axes[k, 2] * vector[2]


@compiled
def jacobian(cdof: Any, moves: Any, center: Any, point: Any, count: int) -> Any:
    """(6, count) of a body's point: velocity, then spin, in world axes; `moves` (nv,) tells what moves the body."""
    out, arm, turned = np.zeros((6, count)), point - center, np.empty(3)
    for j in range(count):
        if moves[j] != 0.0:
            cross(cdof[j, :3], arm, turned)
            for k in range(3):
                out[k, j], out[3 + k, j] = cdof[j, 3 + k] + turned[k], cdof[j, k]
    return out


@compiled
def point_velocity_and_bias(
    cvel: Any, cacc: Any, center: Any, point: Any, gravity: Any, speed: Any, turned: Any
) -> None:
    """Write a point's velocity [m/s] and its acceleration J̇ q̇ [m/s²], (3,) each."""
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        x, y = point[a] - center[a], point[b] - center[b]
        speed[k] = cvel[3 + k] + cvel[a] * y - cvel[b] * x
        turned[k] = cacc[3 + k] + cacc[a] * y - cacc[b] * x + gravity[k]
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        turned[k] += cvel[a] * speed[b] - cvel[b] * speed[a]


@compiled
def contact_constraint_axes(rows: int, planar: bool, axes: Any, keep: Any) -> int:
    """Write into (6, 6) which motions of a patch are held, and say how many: all, all but rolling about its y, that."""
    keep[:] = 0.0
    if planar:
        ways = (0, 2, 4)
        first, last = (0, 3) if rows == FACE else (0, 2) if rows == EDGE else (2, 3)
        for i in range(first, last):
            keep[i - first, ways[i]] = 1.0
        return last - first
    if rows == HINGE:
        keep[0, 3:] = axes[:, 1]
        return 1
    for i in range(3):
        keep[i, i] = 1.0
    if rows == EDGE:
        keep[3, 3:], keep[4, 3:] = axes[:, 0], axes[:, 2]
        return 5
    for i in range(3, 6):
        keep[i, i] = 1.0
    return 6


@compiled
def contact_constraints(
    xpos: Any, xmat: Any, cdof: Any, cvel: Any, cacc: Any, moves: Any, center: Any, gravity: Any, bodies: Any,
    kinds: Any, ends: Any, corners: Any, edges: Any, planar: bool, count: int,
) -> Any:  # fmt: skip
    """Of patches: rows (k, count) that hold them, J̇ q̇ (k,), J q̇ (k,) and Jᵀ V (count, corners · edges) of eq. 9.

    Args:
        xpos: the engine's.
        xmat: the engine's, (nbody, 3, 3).
        cdof: the engine's.
        cvel: the engine's.
        cacc: the engine's, with q̈ = 0.
        moves: (nbody, nv) what moves which body.
        center: (3,) that spatial quantities are about [m].
        gravity: (3,) [m/s²].
        bodies: (patches,) of the patches.
        kinds: (patches,) what holds them.
        ends: (patches,) how many of the corners belong to this patch or one before it.
        corners: (c, 3) in the bodies' frames [m].
        edges: (e, 3) of the friction cone, in the bodies' frames.
        planar: whether the character moves in a plane.
        count: degrees of freedom.
    """
    patches, e = len(bodies), len(edges)
    rows, bias, speed = np.zeros((6 * patches, count)), np.zeros(6 * patches), np.zeros(6 * patches)
    forces, places = np.zeros((count, len(corners) * e)), np.empty((len(corners), 3))
    keep, rates, drifts, wrench = np.empty((6, 6)), np.empty(6), np.empty(6), np.empty(6)
    wrenches = np.empty((6, len(corners) * e))
    k, first = 0, 0
    for p in range(patches):
        body, last, middle = bodies[p], ends[p], np.zeros(3)
        for i in range(first, last):
            rotate(xmat[body], corners[i], places[i])
            for a in range(3):
                places[i, a] += xpos[body, a]
                middle[a] += places[i, a] / (last - first)
        six = jacobian(cdof, moves[body], center, middle, count)
        point_velocity_and_bias(cvel[body], cacc[body], center, middle, gravity, rates[:3], drifts[:3])
        rates[3:], drifts[3:] = cvel[body, :3], cacc[body, :3]
        more = contact_constraint_axes(kinds[p], planar, xmat[body], keep)
        for i in range(more):
            for a in range(6):
                if keep[i, a] != 0.0:
                    bias[k + i] += keep[i, a] * drifts[a]
                    speed[k + i] += keep[i, a] * rates[a]
                    for j in range(count):
                        rows[k + i, j] += keep[i, a] * six[a, j]
        for i in range(first, last):
            for edge in range(e):
                rotate(xmat[body], edges[edge], wrench[:3])
                cross(places[i] - middle, wrench[:3], wrench[3:])
                wrenches[:, i * e + edge] = wrench
        for j in range(count):
            if moves[body, j] != 0.0:
                for a in range(6):
                    for edge in range(first * e, last * e):
                        forces[j, edge] += six[a, j] * wrenches[a, edge]
        k, first = k + more, last
    return rows[:k], bias[:k], speed[:k], forces


@compiled
def link_com_jacobians(
    cdof: Any, cvel: Any, cacc: Any, xpos: Any, xipos: Any, moves: Any, center: Any, gravity: Any, bodies: Any,
    masses: Any, origin: int, count: int,
) -> Any:  # fmt: skip
    """Of the links' centres of mass: places, velocities (links, 3), J_c (3 · links, count) and J̇_c q̇ (3 · links,).

    `bodies` and `masses` hold an array a link; places and velocities are seen from the origin of a body, without its
    spin; the rest is as in `held`.
    """
    links = len(bodies)
    place, velocity, bias = np.zeros((links, 3)), np.zeros((links, 3)), np.zeros(3 * links)
    rows, speed, turned, side = np.zeros((3 * links, count)), np.empty(3), np.empty(3), np.empty(3)
    borne, lever = np.empty(count), np.empty((count, 3))
    for link in range(links):
        borne[:], lever[:], total = 0.0, 0.0, masses[link].sum()
        for i in range(len(bodies[link])):
            body, share = bodies[link][i], masses[link][i] / total
            point_velocity_and_bias(cvel[body], cacc[body], center, xipos[body], gravity, speed, turned)
            for k in range(3):
                place[link, k] += share * xipos[body, k]
                velocity[link, k] += share * speed[k]
                bias[3 * link + k] += share * turned[k]
            for j in range(count):
                if moves[body, j] != 0.0:
                    borne[j] += share
                    for k in range(3):
                        lever[j, k] += share * (xipos[body, k] - center[k])
        for j in range(count):
            if borne[j] != 0.0:
                cross(cdof[j, :3], lever[j], side)
                for k in range(3):
                    rows[3 * link + k, j] = borne[j] * cdof[j, 3 + k] + side[k]
    point_velocity_and_bias(cvel[origin], cacc[origin], center, xpos[origin], gravity, speed, turned)
    for link in range(links):
        for k in range(3):
            place[link, k] -= xpos[origin, k]
            velocity[link, k] -= speed[k]
    return place, velocity, rows, bias


@compiled
def com_accelerations(cvel: Any, cacc: Any, xipos: Any, center: Any, gravity: Any, heading: float) -> Any:
    """(bodies, 3) of all bodies' centres of mass but the world's [m/s²], turned to a heading [rad]."""
    found, speed, turned = np.empty((len(xipos) - 1, 3)), np.empty(3), np.empty(3)
    for i in range(len(found)):
        point_velocity_and_bias(cvel[1 + i], cacc[1 + i], center, xipos[1 + i], gravity, speed, turned)
        into_heading_frame(turned, -heading, found[i])
    return found


@compiled
def into_heading_frame(vector: Any, heading: float, out: Any) -> None:
    """Write a vector (3,) of the world along a heading [rad]."""
    c, s = np.cos(heading), np.sin(heading)
    out[0], out[1], out[2] = c * vector[0] + s * vector[1], c * vector[1] - s * vector[0], vector[2]


@compiled
def three_link_coordinates(place: Any, velocity: Any, heading: float, hip: Any, axes: int) -> Any:
    """(6 · axes,) pitch, and roll if there are two axes, of base, upper body and swing leg in their parents' frames.

    Then their rates.

    Args:
        place: (3, 3) centres of mass of the links, seen from the ankle [m].
        velocity: (3, 3) of them [m/s].
        heading: along which they are looked at [rad].
        hip: (3,) where upper body and swing leg hang, in the base's frame [m].
        axes: hinges of a link.
    """
    out, frame, spin = np.empty(6 * axes), np.eye(3), np.zeros(3)
    joint, moved, arm, moves, seen, going = np.zeros((6, 3))
    for i in range(3):
        sign = -1.0 if i == 2 else 1.0  # the swing leg's axis points down
        into_heading_frame(place[i], heading, arm)
        into_heading_frame(velocity[i], heading, moves)
        arm -= joint
        cross(spin, arm, going)
        moves -= moved + going
        for k in range(3):
            seen[k] = sign * (frame[0, k] * arm[0] + frame[1, k] * arm[1] + frame[2, k] * arm[2])
            going[k] = sign * (frame[0, k] * moves[0] + frame[1, k] * moves[1] + frame[2, k] * moves[2])
        size = np.sqrt(seen[0] ** 2 + seen[1] ** 2 + seen[2] ** 2)
        along = (seen[0] * going[0] + seen[1] * going[1] + seen[2] * going[2]) / size**2
        x, y, z = seen[0] / size, seen[1] / size, seen[2] / size
        dx, dy, dz = going[0] / size - x * along, going[1] / size - y * along, going[2] / size - z * along
        pitch, roll = np.arctan2(x, z), -np.arcsin(min(max(y, -1.0), 1.0))
        pitching, rolling = (dx * z - x * dz) / (x * x + z * z), -dy / np.sqrt(1.0 - y * y)
        out[axes * i], out[axes * (3 + i)] = pitch, pitching
        if axes > 1:
            out[axes * i + 1], out[axes * (3 + i) + 1] = roll, rolling
        if i == 0:
            cp, sp, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
            frame[0, 0], frame[0, 1], frame[0, 2] = cp, sp * sr, sp * cr
            frame[1, 0], frame[1, 1], frame[1, 2] = 0.0, cr, -sr
            frame[2, 0], frame[2, 1], frame[2, 2] = -sp, cp * sr, cp * cr
            spin[0], spin[1], spin[2] = rolling * cp, pitching, -rolling * sp
            rotate(frame, hip, joint)
            cross(spin, joint, moved)
    return out


class PatchArrays(NamedTuple):
    """Patches as the compiled part takes them, see `assembly.held`."""

    bodies: np.ndarray
    kinds: np.ndarray
    ends: np.ndarray
    corners: np.ndarray


def patch_arrays(patches: Sequence[Patch]) -> PatchArrays:
    """Patches side by side."""
    corners = [patch.corners for patch in patches]
    return PatchArrays(
        np.array([patch.body for patch in patches], dtype=int),
        np.array([patch.rows for patch in patches], dtype=int),
        np.cumsum([len(one) for one in corners], dtype=int),
        np.concatenate([*corners, np.zeros((0, 3))]),
    )


class ContactConstraints(NamedTuple):
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
        self._edges = friction_cone_edges(table.friction, self.planar)
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
        found = jacobian(self._spatial[0], self._moves[body], center, self.xpos[body], self.count)
        return np.asarray(found)

    def held(self, on: PatchArrays) -> ContactConstraints:
        """Patches as rows of the programme."""
        found = contact_constraints(
            self.xpos, self.xmat, *self._spatial, *self._rest, *on, self._edges, self.planar, self.count
        )
        return ContactConstraints(*found)

    def centers(self, groups: ThreeLinkGroups, origin: int = 0) -> tuple[Points, np.ndarray, np.ndarray]:
        """Places and velocities of the links' centres of mass, J_c (9, nv) and J̇_c q̇ (9,).

        Places and velocities are those seen from the origin of a body, by default the world, in the world's axes.
        """
        place, velocity, rows, bias = link_com_jacobians(
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
