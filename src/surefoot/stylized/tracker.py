"""The intention of a stylized skill: style and the programme, once every few milliseconds (da Silva 2008, §4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot import controllers
from surefoot.controllers.stylized import tracked_of
from surefoot.native import memory
from surefoot.native.pointers import plain
from surefoot.stylized import programme
from surefoot.stylized.body_dynamics import BodyDynamics
from surefoot.stylized.patches import patches
from surefoot.stylized.reference import BOTH, Moment, held

if TYPE_CHECKING:
    from surefoot.scene import Scene
    from surefoot.skills.schema import Skill

_NOTHING = np.zeros(0)


class Tracker:
    """Follows one skill's reference on one scene; what it knows of a row lies in the row's memory.

    The reference's root is set down anew at every tick where the bearing feet are: only its place over them and its
    turn in the world are followed. Where the programme has no solution the last torques stay, with the servo's on
    top, and the row counts it.
    """

    def __init__(self, scene: Scene, skill: Skill) -> None:
        """Prepare everything that no row's state changes."""
        self.model, self._table = scene.model, scene.table
        self._parameters, self._number = skill.parameters, controllers.names().index(skill.controller)
        self.period = max(1, round(1.0 / (skill.parameters.rate * scene.timestep)))
        self.body = BodyDynamics(scene.model, scene.table)
        self._patches = [patches(scene.model, scene.table, side) for side in (0, 1)]
        self.reference = held(scene, skill)
        legs = (scene.table.anatomy.left, scene.table.anatomy.right)
        self._feet = [int(scene.model.body(leg.foot).id) for leg in legs]
        joints = [scene.model.joint(name) for name in scene.table.gains]
        self._places = np.array([int(joint.qposadr[0]) for joint in joints])
        self._root = 3 if scene.table.root == "planar" else 6
        self._slides = [0, 2] if scene.table.root == "planar" else [0, 1, 2]  # the world's axes its root moves along
        self._error = np.zeros(scene.model.nv)

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float) -> None:
        """Solve the programme at a row's state and write what the law needs."""
        if row.slots[int(row.header[0].active), 0] != self._number:
            return  # it waits for another controller to hand over the body, whose memory this still is
        tracked = plain(tracked_of)(row.memory, len(self._places))
        tracker = tracked.tracker[0]
        if tracker.ticked == time and tracker.began:
            return
        if tracker.began:
            tracker.clock += time - tracker.ticked
        tracker.began, tracker.ticked = 1.0, time
        moment = self.reference.at(tracker.clock)
        self.body.set(qpos, qvel)
        found = programme.solve(self.problem(qpos, qvel, moment), len(self._places))
        tracker.solves += 1.0
        if found.good:
            tracked.torque[:] = found.torque
        else:
            tracker.failures += 1.0
        tracked.targets[:] = moment.pose[self._places]
        tracked.rates[:] = moment.rates[self.body.dofs]
        tracker.stance = moment.stance

    def problem(self, qpos: np.ndarray, qvel: np.ndarray, moment: Moment) -> programme.Problem:
        """The programme at the state that `body` is in."""
        bearing = [side for side in (0, 1) if moment.stance in (side, BOTH)]
        soles = [self.body.held(self._patches[side][0]) for side in bearing]
        n, weight = self.body.count, self._parameters.style_weight
        weights = np.full(n, weight)
        weights[: self._root] *= self._parameters.root_weight
        wish = programme.Wish(
            self._style(qpos, qvel, moment, bearing)[:n], weights, np.zeros((0, n)), _NOTHING, _NOTHING, 0.0
        )
        return programme.build(self.body, wish, soles, self._parameters.settle)

    def _style(self, qpos: np.ndarray, qvel: np.ndarray, moment: Moment, bearing: list[int]) -> np.ndarray:
        """(nv,) a_s of eq. 8."""
        pose, k = moment.pose, self._parameters.style
        shift = np.mean([self.body.data.xpos[self._feet[side]] - moment.ankles[side] for side in bearing], axis=0)
        pose[: len(self._slides)] += shift[self._slides]
        mujoco.mj_differentiatePos(self.model, self._error, 1.0, qpos, pose)
        return np.asarray(moment.accelerations + k * self._error + 2.0 * math.sqrt(k) * (moment.rates - qvel))
