"""What a task sees of a character and may tell it: the same for a simulation and for a row of a population.

All measurements are of the present moment, in world axes and SI units, and copies. Sides are 0 for left, 1 for right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from surefoot.controllers import genbicon
from surefoot.errors import CommandError
from surefoot.native import memory
from surefoot.native.limbs import limbs_of
from surefoot.native.pointers import plain
from surefoot.reflexes.walker import STAND
from surefoot.tasks.surroundings import Surroundings

if TYPE_CHECKING:
    from surefoot.scene import Scene
    from surefoot.skills.schema import Skill

LEFT, RIGHT = 0, 1
SIDES = ("left", "right")


class Actor(Surroundings):
    """A walking character, with named measurements and the fields that tasks write.

    Attributes:
        scene: what it was built from; `scene.terrain` with its props.
        model: MuJoCo's.
        row: named views of its memory.
        walker: WALKER record of `reflexes.walker`, to read.
        intent: INTENT record, to write.
        hands: (2,) HAND records, to write.
        limbs: numbers of its links: `biped`, `legs`, `arms`, `links` of `native.limbs`.
        pelvis: number of the pelvis' body.
    """

    def __init__(
        self,
        scene: Scene,
        row: memory.Row,
        qpos: np.ndarray,
        qvel: np.ndarray,
        eq_active: np.ndarray,
        clock: Callable[[], float],
        skill: Callable[[], Skill],
    ) -> None:
        """Look at live arrays of one row; `clock` and `skill` tell its time [s] and the skill it runs."""
        self.limbs = plain(limbs_of)(scene.model.numeric_data, scene.build.limbs_at)
        self.pelvis = int(self.limbs.biped[0].pelvis)
        super().__init__(scene, qpos, qvel, eq_active, int(scene.model.body_rootid[self.pelvis]))
        self.row, self._clock, self._skill = row, clock, skill
        self.walker = plain(genbicon.walker_of)(row.memory)[0]
        self.intent = plain(genbicon.intent_of)(row.memory)[0]
        self.hands = plain(genbicon.hands_of)(row.memory)

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self._clock()

    @property
    def skill(self) -> Skill:
        """What it runs."""
        return self._skill()

    def command(self, **values: float) -> None:
        """Tell the running skill something it understands, as `Simulation.command` does."""
        self.scene.command(self.row, self.skill, values)

    @property
    def fallen(self) -> bool:
        """Whether it fell."""
        return bool(self.row.clock[0].fallen_at < np.inf)

    @property
    def standing(self) -> bool:
        """Whether it stands on two feet and is not about to go; only GENBICON stands."""
        return self.skill.controller == "genbicon" and bool(self.walker.mode == STAND)

    @property
    def steps(self) -> int:
        """Steps begun since the start; what is done once a step is done when this changes."""
        return int(self.row.report[0].steps)

    @property
    def heading(self) -> float:
        """World yaw of the character frame, on its way to the commanded one [rad]."""
        return float(self.row.report[0].heading)

    @property
    def pelvis_yaw(self) -> float:
        """World yaw the pelvis faces [rad]."""
        biped, forward = self.limbs.biped[0], np.empty(3)
        inverse = np.array([biped.w, -biped.x, -biped.y, -biped.z])
        mujoco.mju_rotVecQuat(forward, np.array([1.0, 0.0, 0.0]), inverse)
        x, y, _ = self.rotation(self.pelvis) @ forward
        return math.atan2(y, x)

    @property
    def com(self) -> np.ndarray:
        """(3,) its centre of mass without what it carries [m]."""
        return np.array(self.state.subtree_com[self._root])

    @property
    def com_velocity(self) -> np.ndarray:
        """(3,) [m/s]."""
        return np.array(self.state.subtree_linvel[self._root])

    def ankle(self, side: int) -> np.ndarray:
        """(3,) where an ankle is [m]."""
        return np.array(self.state.xanchor[int(self.limbs.links[int(self.limbs.legs[side].end)].joint)])

    @property
    def feet(self) -> np.ndarray:
        """(2, 3) where the ankles are, left and right [m]."""
        return np.array([self.ankle(LEFT), self.ankle(RIGHT)])

    def has_arm(self, side: int) -> bool:
        """Whether it has an arm that can reach on a side."""
        return bool(self.limbs.arms[side].upper >= 0.0)

    def hand(self, side: int) -> np.ndarray:
        """(3,) where the point of a hand that reaches is [m]."""
        return self._hand(side)[0]

    def hand_velocity(self, side: int) -> np.ndarray:
        """(3,) [m/s]."""
        point, body = self._hand(side)
        return self.velocity(body, point)

    def shoulder(self, side: int) -> np.ndarray:
        """(3,) where an arm begins [m]; it reaches `limbs.arms[side].reach` far."""
        self._hand(side)
        return np.array(self.state.xanchor[int(self.limbs.links[int(self.limbs.arms[side].upper)].joint)])

    def _hand(self, side: int) -> tuple[np.ndarray, int]:
        if not self.has_arm(side):
            raise CommandError(f"{self.scene.table.name} has no {SIDES[side]} arm to reach with")
        arm = self.limbs.arms[side]
        body = int(arm.body)
        return self.position(body) + self.rotation(body) @ (arm.px, arm.py, arm.pz), body

    def seen(self, point: Any) -> np.ndarray:
        """(3,) a world point as the character sees it: ahead and left of its COM along its heading, up from z = 0."""
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
