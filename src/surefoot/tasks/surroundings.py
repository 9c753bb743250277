"""The world around a character as a task measures it: bodies, sites, the ground, grips and touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from surefoot.errors import UnknownNameError

if TYPE_CHECKING:
    from surefoot.scene import Scene


class Surroundings:
    """Bodies by name or number, of the character and of props; all measurements are copies."""

    def __init__(self, scene: Scene, qpos: np.ndarray, qvel: np.ndarray, eq_active: np.ndarray, root: int) -> None:
        """Look at live arrays of one row; `root` is the body the character's tree begins with."""
        self.scene, self.model = scene, scene.model
        self._qpos, self._qvel, self._eq_active, self._root = qpos, qvel, eq_active, root
        self._moment = 0

    def refresh(self) -> None:
        """Forget what was computed: time has moved on, or the state was changed."""
        self._moment += 1

    @property
    def state(self) -> mujoco.MjData:
        """Positions and velocities of bodies, joints and sites now, computed from `qpos` and `qvel`; not to be kept."""
        return self.scene.posture.of(self, self._moment, self._qpos, self._qvel)

    def body(self, name: str) -> int:
        """Number of a body, the character's or a prop's."""
        found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if found < 0:
            raise UnknownNameError("body", name, [self.model.body(i).name for i in range(1, self.model.nbody)])
        return int(found)

    def has_body(self, name: str) -> bool:
        """Whether there is such a body."""
        return bool(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0)

    def mass(self, body: int | str) -> float:
        """Of one body [kg]."""
        return float(self.model.body_mass[self._number(body)])

    def position(self, body: int | str) -> np.ndarray:
        """(3,) a body's origin [m]; of a prop its middle."""
        return np.array(self.state.xpos[self._number(body)])

    def rotation(self, body: int | str) -> np.ndarray:
        """(3, 3) a body's axes as columns."""
        return np.array(self.state.xmat[self._number(body)]).reshape(3, 3)

    def velocity(self, body: int | str, point: Any = None) -> np.ndarray:
        """(3,) of a body's material point at a place of the world, by default at its origin [m/s]."""
        number, data = self._number(body), self.state
        at = data.xpos[number] if point is None else np.asarray(point, float)
        spin, linear = data.cvel[number, :3], data.cvel[number, 3:]
        return np.array(linear + np.cross(spin, at - data.subtree_com[self.model.body_rootid[number]]))

    def site(self, name: str) -> np.ndarray:
        """(3,) where a site is [m]: `hand_left`, `crate_left` (a handle) and so on."""
        found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, name)
        if found < 0:
            raise UnknownNameError("site", name, [self.model.site(i).name for i in range(self.model.nsite)])
        return np.array(self.state.site_xpos[found])

    def ground(self, x: float, y: float) -> float:
        """Height of the terrain without its props [m]."""
        return float(self.scene.terrain.height(x, y))

    def _number(self, body: int | str) -> int:
        return self.body(body) if isinstance(body, str) else body

    def grip(self, name: str, on: bool) -> None:
        """Close or open a grip (`grip_left`, `grip_right`) between a hand and a handle."""
        self._eq_active[self._grip(name)] = 1 if on else 0

    def gripping(self, name: str) -> bool:
        """Whether a grip is closed."""
        return bool(self._eq_active[self._grip(name)])

    def _grip(self, name: str) -> int:
        found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_EQUALITY, name)
        if found < 0:
            raise UnknownNameError("grip", name, [self.model.eq(i).name for i in range(self.model.neq)])
        return int(found)

    def contacts(self) -> list[tuple[str, str]]:
        """Names of all pairs of bodies that touch now; the ground is `world`."""
        data = self.scene.posture.with_contacts(self, self._moment, self._qpos, self._qvel)
        bodies = self.model.geom_bodyid[np.array(data.contact.geom).reshape(-1, 2)]
        return [(self.model.body(one).name, self.model.body(two).name) for one, two in bodies]

    def touching(self, thing: str, other: str | None = None) -> str | None:
        """Name of a body that touches one whose name begins with `thing`; None if there is none.

        Args:
            thing: how the name begins: `obstacle` is any of them, `obstacle_1` one.
            other: how the name of what touches it begins; by default any part of the character.
        """
        for one, two in self.contacts():
            for it, what in ((one, two), (two, one)):
                if it.startswith(thing) and (self.is_own(what) if other is None else what.startswith(other)):
                    return what
        return None

    def is_own(self, name: str) -> bool:
        """Whether a body is a part of the character."""
        return bool(self.model.body_rootid[self.body(name)] == self._root)
