"""A character's equations of motion, M q̈ + h = Sᵀ τ + Jᵀ f, with the Jacobians that the quadratic program needs.

The compiled functions compute Jacobians of contact patches and of the three links' centers of mass from MuJoCo's
recursive quantities: motion axes `cdof`, and spatial velocities and accelerations about `center`. They call only each
other, because the compiler's cache notices edits of their own file alone. `BodyDynamics` calls them at one state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import mujoco
import numpy as np
from numba import njit
from numpy import ndarray

from surefoot.characters.table import CharacterTable
from surefoot.controllers.stylized.contact_patches import EDGE, FACE, HINGE, Patch, friction_cone_edges
from surefoot.native.compiling import can_cache

if TYPE_CHECKING:
    from surefoot.controllers.stylized.three_link import ThreeLinkGroups

F = TypeVar("F", bound=Callable[..., Any])


class LinkComs(NamedTuple):
    """Where the three links' centers of mass are and how they move, seen from the stance ankle along a heading."""

    place: ndarray  # (3, 3) [m], a row a link
    velocity: ndarray  # (3, 3) [m/s]


def compiled(function: F) -> F:
    """Compile a function for calls from Python, and cache the machine code."""
    return njit(cache=can_cache(function), error_model="numpy")(function)  # type: ignore[no-any-return]


@compiled
def cross(a: ndarray, b: ndarray, out: ndarray) -> None:
    """Write a × b, (3,)."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def rotate(axes: ndarray, vector: ndarray, out: ndarray) -> None:
    """Write a vector (3,) of a body's frame in world axes."""
    for k in range(3):
        out[k] = axes[k, 0] * vector[0] + axes[k, 1] * vector[1] + axes[k, 2] * vector[2]


@compiled
def jacobian(cdof: ndarray, moves: ndarray, center: ndarray, point: ndarray, count: int) -> ndarray:
    """(6, count) of a body's point: velocity, then spin, in world axes; `moves` (nv,) is 1 for what moves the body."""
    out, arm, turned = np.zeros((6, count)), point - center, np.empty(3)
    for j in range(count):
        if moves[j] != 0.0:
            cross(cdof[j, :3], arm, turned)
            for k in range(3):
                out[k, j], out[3 + k, j] = cdof[j, 3 + k] + turned[k], cdof[j, k]
    return out


@compiled
def point_velocity_and_bias(
    cvel: ndarray, cacc: ndarray, center: ndarray, point: ndarray, gravity: ndarray, speed: ndarray, turned: ndarray
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
def contact_constraint_axes(rows: int, planar: bool, axes: ndarray, keep: ndarray) -> int:
    """Write the motions of a patch that are held into the rows of `keep` (6, 6); returns how many there are."""
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
    xpos: ndarray, xmat: ndarray, cdof: ndarray, cvel: ndarray, cacc: ndarray, moves: ndarray, center: ndarray,
    gravity: ndarray, bodies: ndarray, kinds: ndarray, ends: ndarray, corners: ndarray, edges: ndarray, planar: bool,
    count: int,
) -> tuple[ndarray, ndarray, ndarray, ndarray]:  # fmt: skip
    """The fields of `ContactConstraints` for the patches of a `PatchArrays`.

    `xpos`, `xmat` (nbody, 3, 3), `cdof`, `cvel` and, with q̈ = 0, `cacc` are MuJoCo's. `moves` (nbody, nv) is 1 where a
    degree of freedom moves a body, spatial quantities are about `center` (3,) [m], `gravity` is (3,) [m/s²], and the
    `edges` (e, 3) of the friction cone are in the bodies' frames.
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
    cdof: ndarray, cvel: ndarray, cacc: ndarray, xpos: ndarray, xipos: ndarray, moves: ndarray, center: ndarray,
    gravity: ndarray, bodies: Sequence[ndarray], masses: Sequence[ndarray], origin: int, count: int,
) -> tuple[ndarray, ndarray, ndarray, ndarray]:  # fmt: skip
    """Places and velocities (links, 3) of the links' centers of mass, J_c (3 · links, count) and J̇_c q̇ (3 · links,).

    `bodies` and `masses` hold an array a link; places and velocities are seen from the origin of a body, without its
    spin; the other arguments are those of `contact_constraints`.
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
def com_accelerations(
    cvel: ndarray, cacc: ndarray, xipos: ndarray, center: ndarray, gravity: ndarray, heading: float
) -> ndarray:
    """(bodies, 3) accelerations of all bodies' centers of mass but the world's [m/s²], turned to a heading [rad]."""
    found, speed, turned = np.empty((len(xipos) - 1, 3)), np.empty(3), np.empty(3)
    for i in range(len(found)):
        point_velocity_and_bias(cvel[1 + i], cacc[1 + i], center, xipos[1 + i], gravity, speed, turned)
        into_heading_frame(turned, -heading, found[i])
    return found


@compiled
def into_heading_frame(vector: ndarray, heading: float, out: ndarray) -> None:
    """Write a vector (3,) of the world in the axes of a heading [rad]."""
    c, s = np.cos(heading), np.sin(heading)
    out[0], out[1], out[2] = c * vector[0] + s * vector[1], c * vector[1] - s * vector[0], vector[2]


@compiled
def three_link_coordinates(place: ndarray, velocity: ndarray, heading: float, hip: ndarray, axes: int) -> ndarray:
    """(6 · axes,) pitch, and roll with two axes, of base, upper body, swing leg in their parents' frames, then rates.

    `place`, `velocity` (3, 3) are those of a `LinkComs`, seen in the axes of a heading [rad]. `hip` (3,) is where upper
    body and swing leg are attached, in the base's frame [m], and `axes` the number of hinges a link.
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
    """Patches side by side, as the compiled functions take them."""

    bodies: ndarray  # (patches,)
    kinds: ndarray  # (patches,) FACE, EDGE or HINGE
    ends: ndarray  # (patches,) number of corners of this patch and those before it
    corners: ndarray  # (corners, 3) in the bodies' frames [m]


def patch_arrays(patches: Sequence[Patch]) -> PatchArrays:
    """Put patches side by side."""
    corners = [patch.corners for patch in patches]
    return PatchArrays(
        np.array([patch.body for patch in patches], dtype=int),
        np.array([patch.rows for patch in patches], dtype=int),
        np.cumsum([len(one) for one in corners], dtype=int),
        np.concatenate([*corners, np.zeros((0, 3))]),
    )


class ContactConstraints(NamedTuple):
    """Patches at a state: the rows that hold them still and the generalized forces of their friction cones (eq. 9)."""

    rows: ndarray  # (k, nv) J
    bias: ndarray  # (k,) J̇ q̇ [m/s², rad/s²]
    speed: ndarray  # (k,) J q̇
    forces: ndarray  # (nv, corners · edges) Jᵀ V


class LegIndices(NamedTuple):
    """Where the left and the right leg lie in a model; a leg's joints are hip, knee and ankle, not the toes'."""

    feet: list[int]  # bodies; their origins are the ankles
    joints: list[list[str]]
    dofs: list[ndarray]
    qpos: list[ndarray]
    twist_rows: ndarray  # rows of a foot's twist (velocity, spin) that the leg can change: all six, or three in a plane


def leg_indices(model: mujoco.MjModel, table: CharacterTable) -> LegIndices:
    """Find the legs of a character in its model."""
    legs = (table.anatomy.left, table.anatomy.right)
    joints = [[j for j in leg.joints if any(part in j for part in ("hip", "knee", "ankle"))] for leg in legs]
    return LegIndices(
        [int(model.body(leg.foot).id) for leg in legs],
        joints,
        [np.array([int(model.joint(name).dofadr[0]) for name in leg]) for leg in joints],
        [np.array([int(model.joint(name).qposadr[0]) for name in leg]) for leg in joints],
        np.array([0, 2, 4] if table.root == "planar" else range(6)),
    )


class BodyDynamics:
    """The equations of motion of one character's model, at the state last given to `set`.

    The mass matrix includes what the integrator adds for joints that are damped implicitly.
    """

    def __init__(self, model: mujoco.MjModel, table: CharacterTable) -> None:
        """Prepare what does not depend on the state."""
        self.model, self.table, self.planar = model, table, table.root == "planar"
        self.data = mujoco.MjData(model)
        self.legs = leg_indices(model, table)
        self.root_axes = np.array([0, 2] if self.planar else [0, 1, 2])  # world axes that the root slides along
        self._root = int(model.body_rootid[model.body(table.anatomy.pelvis).id])
        self._moves = _ancestors(model)  # (nbody, nv)
        self.dofs = np.array([int(model.joint(name).dofadr[0]) for name in table.gains])
        self.qpos = np.array([int(model.joint(name).qposadr[0]) for name in table.gains])
        self.limits = np.array([gain.limit for gain in table.gains.values()])
        self._implicit = np.zeros(model.nv)
        self._implicit[self.dofs] = [model.opt.timestep * gain.kd for gain in table.gains.values()]
        self._edges = friction_cone_edges(table.friction, self.planar)
        self.count = int((model.body_rootid[model.dof_bodyid] == self._root).sum())  # objects of the world come after
        self.parents = model.dof_parentid[: self.count].copy()
        self._M, self._h = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        self.M, self.h = self._M[: self.count, : self.count], self._h[: self.count]
        self._diagonal = self._M.ravel()[:: model.nv + 1]
        data = self.data  # its arrays never move, and asking MuJoCo for them takes longer than using them
        self._state = (data.qpos, data.qvel)
        self.xpos, self.xmat, self.velocity = data.xpos, data.xmat.reshape(-1, 3, 3), data.qvel[: self.count]
        self._spatial = (data.cdof, data.cvel, data.cacc)
        self._rest = (self._moves, data.subtree_com[self._root], model.opt.gravity)
        self._xipos = data.xipos

    def set(self, qpos: ndarray, qvel: ndarray) -> None:
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
        mujoco.mj_rnePostConstraint(model, data)  # q̈ is always 0 here: accelerations are J̇ q̇ minus gravity

    def left_right_signs(self, left: Sequence[Patch], right: Sequence[Patch]) -> ndarray:
        """(edges,) 1 for the cones of the left foot's patches, −1 for the right's, as `ContactConstraints.forces`."""
        counts = [sum(len(patch.corners) for patch in side) * len(self._edges) for side in (left, right)]
        return np.repeat([1.0, -1.0], counts)

    def jacobian(self, body: int) -> ndarray:
        """(6, nv) of a body's origin: velocity, then spin, in world axes."""
        return jacobian(self._spatial[0], self._moves[body], self._rest[1], self.xpos[body], self.count)

    def contact_constraints(self, on: PatchArrays) -> ContactConstraints:
        """What holds some patches, and the forces they can give."""
        return ContactConstraints(
            *contact_constraints(
                self.xpos, self.xmat, *self._spatial, *self._rest, *on, self._edges, self.planar, self.count
            )
        )

    def link_coms(self, groups: ThreeLinkGroups, origin: int | None = None) -> tuple[LinkComs, ndarray, ndarray]:
        """The three links' centers of mass, J_c (9, nv) and J̇_c q̇ (9,).

        Places and velocities are in world axes, seen from the origin of a body: by default the stance ankle.
        """
        place, velocity, rows, bias = link_com_jacobians(
            *self._spatial, self.xpos, self._xipos, *self._rest, groups.bodies, groups.masses,
            groups.ankle if origin is None else origin, self.count,
        )  # fmt: skip
        return LinkComs(place, velocity), rows, bias


def _ancestors(model: mujoco.MjModel) -> ndarray:
    """(nbody, nv) 1 where a degree of freedom moves a body."""
    moves = np.zeros((model.nbody, model.nv))
    for body in range(1, model.nbody):
        moves[body] = moves[model.body_parentid[body]]
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        if count:
            moves[body, first : first + count] = 1.0
    return moves
