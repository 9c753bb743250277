"""Which parts of a body make up each link of its three-link model (da Silva 2008, figure 2)."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable

LINKS = ("stance_leg", "upper_body", "swing_leg")
STANCE, UPPER, SWING = range(3)


@dataclass(frozen=True)
class Groups:
    """Bodies of a compiled model by link, for one stance leg, and where the links meet.

    `bodies` holds one array of body numbers a link, in the order of `LINKS`; `ankle` is the stance foot's body, whose
    origin is the ankle; `hips` are the thighs' bodies, whose origins are the hips.
    """

    bodies: tuple[np.ndarray, np.ndarray, np.ndarray]
    masses: tuple[np.ndarray, np.ndarray, np.ndarray]  # [kg] of those bodies
    ankle: int
    hips: tuple[int, int]

    @property
    def mass(self) -> np.ndarray:
        """(3,) [kg]."""
        return np.array([masses.sum() for masses in self.masses])

    def com(self, data: mujoco.MjData) -> np.ndarray:
        """(3, 3) centre of mass of each link [m], a row a link."""
        pairs = zip(self.bodies, self.masses, strict=True)
        return np.array([m @ data.xipos[b] / m.sum() for b, m in pairs])

    def jacobian(self, model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
        """(9, nv) of the three centres of mass: J_c of eq. 9a."""
        found, one = np.zeros((9, model.nv)), np.empty((3, model.nv))
        for link, (bodies, masses) in enumerate(zip(self.bodies, self.masses, strict=True)):
            for body, mass in zip(bodies, masses, strict=True):
                mujoco.mj_jacBodyCom(model, data, one, None, int(body))
                found[3 * link : 3 * link + 3] += mass / masses.sum() * one
        return found

    def inertia(self, data: mujoco.MjData, model: mujoco.MjModel) -> np.ndarray:
        """(3, 3, 3) inertia of each link about its own centre of mass, world axes [kg·m²]: its parts' sums."""
        found, centers = np.zeros((3, 3, 3)), self.com(data)
        for link, (bodies, masses) in enumerate(zip(self.bodies, self.masses, strict=True)):
            for body, mass in zip(bodies, masses, strict=True):
                axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - centers[link]
                found[link] += axes @ np.diag(model.body_inertia[body]) @ axes.T
                found[link] += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return found


def groups(model: mujoco.MjModel, table: CharacterTable, stance: int) -> Groups:
    """The links of a character that stands on its left (0) or right (1) leg."""
    legs = (table.anatomy.left, table.anatomy.right)
    by_parent = {segment.name: segment.parent for segment in table.segments}

    def hangs_on(name: str, thigh: str) -> bool:
        while name in by_parent:
            if name == thigh:
                return True
            name = by_parent[name]
        return False

    limbs = [[s.name for s in table.segments if hangs_on(s.name, leg.thigh)] for leg in legs]
    rest = [s.name for s in table.segments if s.name not in (*limbs[0], *limbs[1])]
    bodies = [np.array([model.body(n).id for n in names]) for names in (limbs[stance], rest, limbs[1 - stance])]
    masses = [model.body_mass[b].copy() for b in bodies]
    hips = (int(model.body(legs[0].thigh).id), int(model.body(legs[1].thigh).id))
    return Groups(
        (bodies[0], bodies[1], bodies[2]),
        (masses[0], masses[1], masses[2]),
        int(model.body(legs[stance].foot).id),
        hips,
    )
