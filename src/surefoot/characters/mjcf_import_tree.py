"""A body to import as rigid parts joined by hinges, seen from any of its parts; no name and no axis matters here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from surefoot.characters.link_geometry import geom_points

Array = np.ndarray[Any, np.dtype[np.float64]]

_CLOUD = 300  # number of points of a geom above which only the corners of its hull are used
_DIFFERENT = (1.5, 1.3, 2)  # how far a pair's limbs may differ: ratio of masses, ratio of reaches, number of hinges


@dataclass(frozen=True)
class LimbPair:
    """Two similar branches that leave the same part; the strongest pairs are legs and arms."""

    stem: int
    first: int
    second: int
    strength: float


def unit(v: Array) -> Array:
    """The vector at length 1; a vector of almost no length stays so."""
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))


class KinematicTree:
    """The parts of a compiled body: a part is a jointed body, or the root, with all that is welded to it.

    Parts are numbered by the id of that body, hinges by their joint's id. `data` holds the pose; `set_angles` changes
    it.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Start at zero angles, or as near to them as the ranges allow."""
        self.model, self.data = model, mujoco.MjData(model)
        self.part_of = [int(w) for w in model.body_weldid]
        self.parts = sorted({p for p in self.part_of if p != 0})
        self.root = self.parts[0]
        self.hinges = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE]
        self._held: tuple[int, Array] = (self.root, np.eye(3))
        self.set_angles({j: float(np.clip(0.0, *self.joint_range(j))) for j in self.hinges})
        self._clouds = {p: self._cloud(p) for p in self.parts}

    def joint_range(self, joint: int, margin: float = 0.0) -> tuple[float, float]:
        """The range of a hinge [rad], narrowed by a margin at both ends if it is wide enough."""
        if not self.model.jnt_limited[joint]:
            return -np.pi, np.pi
        low, high = (float(v) for v in self.model.jnt_range[joint])
        inset = min(margin, 0.25 * (high - low))
        return low + inset, high - inset

    def set_angles(self, angles: dict[int, float]) -> None:
        """Set the angles of hinges [rad]; the others stay as they are."""
        for joint, angle in angles.items():
            self.data.qpos[self.model.jnt_qposadr[joint]] = angle
        mujoco.mj_kinematics(self.model, self.data)
        part, orientation = self._held
        turn = orientation @ self.data.xmat[part].reshape(3, 3).T
        place = turn @ (self.data.xpos[self.root] - self.data.xpos[part])
        mujoco.mju_mat2Quat(self.data.qpos[3:7], (turn @ self.data.xmat[self.root].reshape(3, 3)).ravel())
        self.data.qpos[:3] = place
        mujoco.mj_kinematics(self.model, self.data)

    def hold(self, part: int, orientation: Array) -> None:
        """Keep a part at the world's origin with this orientation (3, 3) whatever the angles; at first the root is."""
        self._held = (part, orientation)
        self.set_angles({})

    @property
    def angles(self) -> dict[int, float]:
        """The present angles of all hinges [rad]."""
        return {j: float(self.data.qpos[self.model.jnt_qposadr[j]]) for j in self.hinges}

    @cached_property
    def neighbours(self) -> dict[int, list[int]]:
        """The parts that a part is joined to, in either direction of MuJoCo's tree."""
        found: dict[int, list[int]] = {p: [] for p in self.parts}
        for p in self.parts:
            if p != self.root:
                above = self.part_of[self.model.body_parentid[p]]
                found[p].append(above)
                found[above].append(p)
        return found

    def hinges_between(self, one: int, other: int) -> tuple[int, ...]:
        """The hinges between two neighbours, in MuJoCo's order."""
        child = max(one, other)  # a body's id is larger than its parent's
        at = self.model.body_jntadr[child]
        return tuple(range(at, at + self.model.body_jntnum[child]))

    def anchor(self, one: int, other: int) -> Array:
        """(3,) where two neighbours meet: the middle of their hinges."""
        return np.asarray(np.mean([self.data.xanchor[j] for j in self.hinges_between(one, other)], axis=0))

    def branch(self, start: int, stem: int) -> list[int]:
        """All parts from `start` away from `stem`, the nearest first."""
        found = [(start, stem)]
        for part, came in found:
            found += [(n, part) for n in self.neighbours[part] if n != came]
        return [part for part, _ in found]

    def bodies(self, part: int) -> list[int]:
        """The bodies of a part, the jointed one first."""
        return [b for b in range(1, self.model.nbody) if self.part_of[b] == part]

    def mass(self, parts: list[int]) -> float:
        """Of several parts together [kg]."""
        return float(sum(self.model.body_mass[b] for p in parts for b in self.bodies(p)))

    def com(self, parts: list[int]) -> Array:
        """(3,) centre of mass of several parts in the present pose."""
        bodies = [b for p in parts for b in self.bodies(p)]
        weights = np.maximum(self.model.body_mass[bodies], 1e-9)
        return np.asarray(np.average(self.data.xipos[bodies], axis=0, weights=weights))

    def bounding_balls(self, parts: list[int]) -> tuple[Array, Array]:
        """Balls whose hull is the shape of some parts: centres (n, 3) in the present pose and radii (n,)."""
        centres, radii = [np.zeros((0, 3))], [np.zeros(0)]
        for part in parts:
            for body, points, sizes in self._clouds[part]:
                centres.append(self.data.xpos[body] + points @ self.data.xmat[body].reshape(3, 3).T)
                radii.append(sizes)
        return np.concatenate(centres), np.concatenate(radii)

    def farthest_point(self, parts: list[int], origin: Array) -> Array:
        """(3,) the point of some parts that is farthest from an origin; parts without geoms count by their frame."""
        centres, radii = self.bounding_balls(parts)
        if not len(centres):
            return np.array(self.data.xpos[parts[-1]])
        away = centres - origin
        length = np.linalg.norm(away, axis=1)
        i = int(np.argmax(length + radii))
        return np.asarray(centres[i] + radii[i] * away[i] / max(length[i], 1e-9))

    def reach(self, start: int, stem: int) -> float:
        """Length of the longest path from a branch's hinges to the end of its geoms [m]."""
        here = self.anchor(start, stem)
        ways = [float(np.linalg.norm(self.farthest_point([start], here) - here))]
        for part in self.neighbours[start]:
            if part != stem:
                ways.append(float(np.linalg.norm(self.anchor(part, start) - here)) + self.reach(part, start))
        return max(ways)

    def chain(self, start: int, stem: int) -> list[int]:
        """The parts along a branch; where it forks, along the longer and heavier fork."""
        found, came = [start], stem
        while ahead := [n for n in self.neighbours[found[-1]] if n != came]:
            here = found[-1]
            came = here
            found.append(max(ahead, key=lambda n: self.reach(n, here) * self.mass(self.branch(n, here))))
        return found

    def limb_pairs(self, parts: list[int]) -> list[LimbPair]:
        """Pairs of similar branches that leave any of the parts and lie within them, the strongest first."""
        found = []
        for stem in parts:
            ends = []
            for start in self.neighbours[stem]:
                branch = self.branch(start, stem)
                if set(branch) <= set(parts):
                    ends.append((start, self.mass(branch), self.reach(start, stem), self._hinges(branch)))
            for i, (a, mass_a, reach_a, hinges_a) in enumerate(ends):
                for b, mass_b, reach_b, hinges_b in ends[i + 1 :]:
                    masses, reaches = sorted((mass_a, mass_b)), sorted((reach_a, reach_b))
                    alike = (
                        masses[1] <= _DIFFERENT[0] * masses[0]
                        and reaches[1] <= _DIFFERENT[1] * reaches[0]
                        and abs(hinges_a - hinges_b) <= _DIFFERENT[2]
                    )
                    if alike and reaches[1] > 0.0:
                        likeness = (masses[0] / masses[1]) * (reaches[0] / reaches[1])
                        found.append(LimbPair(stem, a, b, masses[0] * reaches[0] * likeness**2))
        return sorted(found, key=lambda pair: -pair.strength)

    def _hinges(self, parts: list[int]) -> int:
        return sum(int(self.model.body_jntnum[p]) for p in parts if p != self.root)

    def _cloud(self, part: int) -> list[tuple[int, Array, Array]]:
        """Balls of a part by body, in the body's frame; geoms that do not collide count where there are no others."""
        geoms = [g for b in self.bodies(part) for g in range(self.model.ngeom) if self.model.geom_bodyid[g] == b]
        solid = [g for g in geoms if self.model.geom_contype[g]]
        found = []
        for g in solid or geoms:
            body = int(self.model.geom_bodyid[g])
            points, radius = geom_points(self.model, self.data, g)
            local = _hull((points - self.data.xpos[body]) @ self.data.xmat[body].reshape(3, 3))
            found.append((body, local, np.full(len(local), radius)))
        return found


def _hull(points: Array) -> Array:
    """The corners of a cloud of points, or all of them where they are few or flat."""
    if len(points) <= _CLOUD:
        return points
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return points
