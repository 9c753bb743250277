"""What a task sees of a character and its world, and what it may tell it: the same in a simulation and a population.

All measurements are of the present moment, in world axes and SI units, and copies. Sides are 0 for left, 1 for right.

After a physics step MuJoCo's derived fields describe the moment before it, and the rows of a population share the
fields of a few threads. `RowKinematics` computes what tasks measure instead, from positions and velocities alone, so
that a row of a population sees the same bits as a simulation of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from surefoot.controllers.genbicon import law as genbicon
from surefoot.engine.commands import running_part
from surefoot.errors import CommandError, UnknownNameError
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.native.limb_records import limbs_of

if TYPE_CHECKING:
    from surefoot.engine.scene import Scene
    from surefoot.skills.schema import Skill


class RowKinematics:
    """A MuJoCo state into which one row at a time is copied and measured."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Prepare for rows of this model."""
        self._model, self._data = model, mujoco.MjData(model)
        self._key: tuple[object, int] | None = None
        self._collided = False

    def at(self, who: object, moment: int, qpos: np.ndarray, qvel: np.ndarray) -> mujoco.MjData:
        """The state of a row with current positions and velocities of bodies, joints and sites.

        Args:
            who: tells one row from another.
            moment: tells one moment from another; the same row and moment are computed once.
            qpos: positions of the row.
            qvel: velocities of the row.
        """
        if self._key is None or self._key[0] is not who or self._key[1] != moment:
            model, data = self._model, self._data
            data.qpos[:], data.qvel[:] = qpos, qvel
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_subtreeVel(model, data)
            self._key, self._collided = (who, moment), False
        return self._data

    def with_contacts(self, who: object, moment: int, qpos: np.ndarray, qvel: np.ndarray) -> mujoco.MjData:
        """The same state, with the contacts of this moment."""
        data = self.at(who, moment, qpos, qvel)
        if not self._collided:
            mujoco.mj_collision(self._model, data)
            self._collided = True
        return data


class WorldView:
    """Bodies by name or number, of the character and of props; all measurements are copies."""

    def __init__(self, scene: Scene, qpos: np.ndarray, qvel: np.ndarray, eq_active: np.ndarray, root: int) -> None:
        """Look at live arrays of one row; `root` is the body at which the character's tree begins."""
        self.scene, self.model = scene, scene.model
        self._qpos, self._qvel, self._eq_active, self._root = qpos, qvel, eq_active, root
        self._moment = 0

    def refresh(self) -> None:
        """Measure anew from now on: time has moved on, or the state has changed."""
        self._moment += 1

    @property
    def state(self) -> mujoco.MjData:
        """Positions and velocities of bodies, joints and sites now, computed from `qpos` and `qvel`; not to be kept."""
        return self.scene.posture.at(self, self._moment, self._qpos, self._qvel)

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
        """Mass of one body [kg]."""
        return float(self.model.body_mass[self._number(body)])

    def position(self, body: int | str) -> np.ndarray:
        """(3,) position of a body's origin, which is the middle of a prop [m]."""
        return np.array(self.state.xpos[self._number(body)])

    def rotation(self, body: int | str) -> np.ndarray:
        """(3, 3) a body's axes as columns."""
        return np.array(self.state.xmat[self._number(body)]).reshape(3, 3)

    def velocity(self, body: int | str, point: Any = None) -> np.ndarray:
        """(3,) velocity of a body's material point at a place of the world, by default at its origin [m/s]."""
        number, data = self._number(body), self.state
        at = data.xpos[number] if point is None else np.asarray(point, float)
        spin, linear = data.cvel[number, :3], data.cvel[number, 3:]
        return np.array(linear + np.cross(spin, at - data.subtree_com[self.model.body_rootid[number]]))

    def site(self, name: str) -> np.ndarray:
        """(3,) position of a site [m], such as `hand_left` or `crate_left` (a handle)."""
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
            thing: beginning of the name: `obstacle` is any obstacle, `obstacle_1` one of them.
            other: beginning of the name of what touches it; by default any part of the character.
        """
        for one, two in self.contacts():
            for it, what in ((one, two), (two, one)):
                if it.startswith(thing) and (self.is_own_body(what) if other is None else what.startswith(other)):
                    return what
        return None

    def is_own_body(self, name: str) -> bool:
        """Whether a body is a part of the character."""
        return bool(self.model.body_rootid[self.body(name)] == self._root)


LEFT, RIGHT = 0, 1
SIDES = ("left", "right")


class Actor(WorldView):
    """A walking character: named measurements, and the fields that tasks write.

    Attributes:
        scene: what it was built from; `scene.terrain` holds the props.
        model: MuJoCo's.
        row: named views of its memory.
        walker: WALKER record of `controllers.genbicon.memory`, to read.
        intent: INTENT record, to write.
        hands: (2,) HAND records, to write.
        limbs: numbers of its links: `biped`, `legs`, `arms`, `links` of `native.links`.
        pelvis: number of the pelvis's body.
    """

    def __init__(
        self,
        scene: Scene,
        row: userdata.Row,
        qpos: np.ndarray,
        qvel: np.ndarray,
        eq_active: np.ndarray,
        clock: Callable[[], float],
        skill: Callable[[], Skill],
    ) -> None:
        """Look at live arrays of one row; `clock` returns its time [s], `skill` the skill it runs."""
        self.limbs = python_impl(limbs_of)(scene.model.numeric_data, scene.build.limbs_at)
        self.pelvis = int(self.limbs.biped[0].pelvis)
        super().__init__(scene, qpos, qvel, eq_active, int(scene.model.body_rootid[self.pelvis]))
        self.row, self._clock, self._skill = row, clock, skill
        self.walker = python_impl(genbicon.walker_of)(row.memory)[0]
        self.intent = python_impl(genbicon.intent_of)(row.memory)[0]
        self.hands = python_impl(genbicon.hands_of)(row.memory)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._clock()

    @property
    def skill(self) -> Skill:
        """The skill it runs."""
        return self._skill()

    def command(self, **values: float) -> None:
        """Give commands to the running skill, as `Simulation.command` does."""
        self.scene.command(self.row, self.skill, values)

    @property
    def fallen(self) -> bool:
        """Whether it has fallen."""
        return bool(self.row.clock[0].fallen_at < np.inf)

    @property
    def standing(self) -> bool:
        """Whether it stands on two feet and is not about to walk."""
        return self.scene.controller(running_part(self.scene, self.row, self.skill)).is_standing(self.row)

    @property
    def steps(self) -> int:
        """Steps begun since the start; a task that acts once per step acts when this changes."""
        return int(self.row.report[0].steps)

    @property
    def heading(self) -> float:
        """World yaw of the character frame, on its way to the commanded one [rad]."""
        return float(self.row.report[0].heading)

    @property
    def pelvis_yaw(self) -> float:
        """World yaw of the pelvis [rad]."""
        biped, forward = self.limbs.biped[0], np.empty(3)
        inverse = np.array([biped.w, -biped.x, -biped.y, -biped.z])
        mujoco.mju_rotVecQuat(forward, np.array([1.0, 0.0, 0.0]), inverse)
        x, y, _ = self.rotation(self.pelvis) @ forward
        return math.atan2(y, x)

    @property
    def com(self) -> np.ndarray:
        """(3,) its centre of mass, without what it carries [m]."""
        return np.array(self.state.subtree_com[self._root])

    @property
    def com_velocity(self) -> np.ndarray:
        """(3,) velocity of its centre of mass [m/s]."""
        return np.array(self.state.subtree_linvel[self._root])

    def ankle(self, side: int) -> np.ndarray:
        """(3,) position of an ankle [m]."""
        return np.array(self.state.xanchor[int(self.limbs.links[int(self.limbs.legs[side].end)].joint)])

    @property
    def feet(self) -> np.ndarray:
        """(2, 3) positions of the left and the right ankle [m]."""
        return np.array([self.ankle(LEFT), self.ankle(RIGHT)])

    def has_arm(self, side: int) -> bool:
        """Whether it has an arm that can reach on a side."""
        return bool(self.limbs.arms[side].upper >= 0.0)

    def hand(self, side: int) -> np.ndarray:
        """(3,) position of the point of a hand that reaches [m]."""
        return self._hand(side)[0]

    def hand_velocity(self, side: int) -> np.ndarray:
        """(3,) velocity of that point [m/s]."""
        point, body = self._hand(side)
        return self.velocity(body, point)

    def shoulder(self, side: int) -> np.ndarray:
        """(3,) position of a shoulder [m]; the arm reaches `limbs.arms[side].reach` far."""
        self._hand(side)
        return np.array(self.state.xanchor[int(self.limbs.links[int(self.limbs.arms[side].upper)].joint)])

    def _hand(self, side: int) -> tuple[np.ndarray, int]:
        if not self.has_arm(side):
            raise CommandError(f"{self.scene.table.name} has no {SIDES[side]} arm to reach with")
        arm = self.limbs.arms[side]
        body = int(arm.body)
        return self.position(body) + self.rotation(body) @ (arm.px, arm.py, arm.pz), body

    def along_heading(self, vector: Any) -> float:
        """The component of a world vector along the heading."""
        return math.cos(self.heading) * float(vector[0]) + math.sin(self.heading) * float(vector[1])

    def in_heading_frame(self, point: Any) -> np.ndarray:
        """(3,) a world point in the character's frame: ahead and left of its COM along its heading, up from z = 0."""
        x, y, z = np.asarray(point, float)
        c, s = math.cos(self.heading), math.sin(self.heading)
        dx, dy = x - self.com[0], y - self.com[1]
        return np.array([c * dx + s * dy, c * dy - s * dx, z])

    def yaw_to(self, point: Any) -> float:
        """World yaw from the COM to a point [rad]."""
        return math.atan2(point[1] - self.com[1], point[0] - self.com[0])

    def distance_to(self, point: Any) -> float:
        """Horizontal distance from the COM to a point [m]."""
        return math.hypot(point[0] - self.com[0], point[1] - self.com[1])
