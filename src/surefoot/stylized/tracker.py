"""The intention of a stylized skill: style and the programme, once every few milliseconds (da Silva 2008, §4)."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from surefoot.controllers.stylized import tracked_of
from surefoot.native import memory
from surefoot.native.pointers import plain
from surefoot.stylized import programme
from surefoot.stylized.balance import Policy, policy, seen
from surefoot.stylized.bearing import bearing
from surefoot.stylized.body_dynamics import BodyDynamics
from surefoot.stylized.limbs_of_three import groups
from surefoot.stylized.patches import FREE, footings
from surefoot.stylized.reference import Moment, Reference, held, read
from surefoot.stylized.sources import recorded
from surefoot.stylized.stepping import Stepping
from surefoot.stylized.switching import Switching

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
        self.model, self._table, self._scene, self._skill = scene.model, scene.table, scene, skill
        self._parameters = skill.parameters
        self.period = max(1, round(1.0 / (skill.parameters.rate * scene.timestep)))
        self.body = BodyDynamics(scene.model, scene.table)
        self._footings = [footings(scene.model, scene.table, side) for side in (0, 1)]
        self._groups = [groups(scene.model, scene.table, side) for side in (0, 1)]
        legs = (scene.table.anatomy.left, scene.table.anatomy.right)
        self._feet = [int(scene.model.body(leg.foot).id) for leg in legs]
        joints = [scene.model.joint(name) for name in scene.table.gains]
        self._places = np.array([int(joint.qposadr[0]) for joint in joints])
        self._root = 3 if scene.table.root == "planar" else 6
        self._slides = [0, 2] if scene.table.root == "planar" else [0, 1, 2]  # the world's axes its root moves along
        self._axes = [3 * link + k for link in range(3) for k in self._slides]  # of the links' centres
        self._error = np.zeros(scene.model.nv)
        self._stepping = Stepping(
            self.body, self._parameters.stepping, self._parameters.leading, self._parameters.softness
        )

    @cached_property
    def reference(self) -> Reference:
        """What is followed."""
        name = self._parameters.reference
        if name.endswith(".npz"):
            return read(Path(name))
        if name != "start":
            return recorded(self._scene.character, name)
        model = self.model
        qpos, qvel, userdata = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
        self._scene.begin(qpos, qvel, userdata, self._skill, 0)
        return held(model, self._table, qpos)

    @cached_property
    def policy(self) -> Policy:
        """How the reference is balanced in single support; kept beside its file."""
        name = self._parameters.reference
        cache = None if not name.endswith(".npz") else Path(name).with_suffix(f".{self._table.name}.policy.npz")
        return policy(BodyDynamics(self.model, self._table), self._groups, self.reference, cache)

    @cached_property
    def switching(self) -> Switching:
        """How it is left and entered."""
        return Switching(self._scene, self.body, self.reference)

    def ask(self, row: memory.Row, goal: Skill) -> None:
        """Note that another skill is asked for."""
        self.switching.ask(row, plain(tracked_of)(row.memory, len(self._places)).tracker[0], goal)

    def begin(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Put a row where the reference begins."""
        if self._parameters.reference != "start":
            moment = self.reference.at(0.0)
            qpos[: len(moment.pose)], qvel[: len(moment.rates)] = moment.pose, moment.rates

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float) -> None:
        """Solve the programme at a row's state and write what the law needs."""
        tracked = plain(tracked_of)(row.memory, len(self._places))
        tracker = tracked.tracker[0]
        if tracker.ticked == time and tracker.began:
            return
        if tracker.began:
            before = float(tracker.clock)
            self._go_on(tracker, time - tracker.ticked)
            if self.switching.leaves(row, tracker, before):
                return
        else:
            self.switching.enters(row, tracked, qpos, qvel, time)
        tracker.began, tracker.ticked = 1.0, time
        moment = self.reference.at(float(tracker.clock), float(tracker.heading))
        self.switching.fade(moment, tracked, time)
        self.body.set(qpos, qvel)
        found = programme.solve(self.problem(qpos, qvel, moment, tracker, row.touch), len(self._places))
        tracker.solves += 1.0
        if found.good:
            tracked.torque[:] = found.torque
        else:
            tracker.failures += 1.0
        tracked.targets[:] = moment.pose[self._places]
        tracked.rates[:] = moment.rates[self.body.dofs]
        tracker.stance = 2 if moment.bearing.all() else int(moment.bearing.argmax())
        tracker.phase = tracker.clock / self.reference.duration

    def _go_on(self, tracker: Any, seconds: float) -> None:
        """Move the reference's clock on."""
        reference, clock = self.reference, float(tracker.clock) + seconds
        now, after = (reference.bearing[reference.index(at)] != FREE for at in (float(tracker.clock), clock))
        tracker.steps += (after & ~now).any()
        if reference.loops and clock >= reference.duration - 0.5 * reference.timestep:
            clock -= reference.duration
            tracker.heading += reference.turn
        tracker.clock = clock

    def problem(
        self, qpos: np.ndarray, qvel: np.ndarray, moment: Moment, tracker: Any, touch: np.ndarray
    ) -> programme.Problem:
        """The programme at the state that `body` is in; the moment is changed to what is followed."""
        data, clock = self.body.data, float(tracker.clock)
        axes, ankles = data.xmat[self._feet].reshape(2, 3, 3), data.xpos[self._feet]
        swing = self.reference.swing(clock)
        landed = (moment.bearing != FREE) & ((touch + np.array([tracker.left, tracker.right])) > 0.0)
        tracker.left, tracker.right = landed
        bears = bearing(moment.bearing, landed, axes)
        soles = [self.body.held(patch) for side in (0, 1) for patch in self._footings[side][bears[side]]]
        left = self.reference.leaning(clock)
        shift = np.array([left, 1.0 - left]) @ (ankles - moment.ankles)
        moment.pose[: len(self._slides)] += shift[self._slides]
        n, weight = self.body.count, self._parameters.style_weight
        rows, bias, centers, balance = np.zeros((0, n)), _NOTHING, _NOTHING, 0.0
        if swing.foot >= 0 and bears[swing.foot] == FREE:
            stance = self._groups[1 - swing.foot]
            points, rows, bias = seen(self.body, stance)
            self._stepping.adapt(qpos, moment, swing, clock, shift, points, stance.mass)
            which = self.policy.find(self.reference.index(clock)) if self._parameters.balance_weight else None
            if which is not None:
                centers = self.policy.accelerations(which, points, float(tracker.heading))
                rows, bias, centers = rows[self._axes], bias[self._axes], centers[self._axes]
                balance = self._parameters.balance_weight
        late = [side for side in (0, 1) if moment.bearing[side] != FREE and bears[side] == FREE]
        tracker.late = (tracker.late + self.period * self.model.opt.timestep) if late else 0.0
        for side in late:
            self._stepping.reach_down(qpos, moment, side, shift, float(tracker.late))
        weights = np.full(n, weight)
        weights[: self._root] *= self._parameters.root_weight
        wish = programme.Wish(self._style(qpos, qvel, moment)[:n], weights, rows, bias, centers, balance)
        return programme.build(self.body, wish, soles, self._parameters.settle)

    def _style(self, qpos: np.ndarray, qvel: np.ndarray, moment: Moment) -> np.ndarray:
        """(nv,) a_s of eq. 8."""
        nq, nv = len(moment.pose), len(moment.rates)
        k = self._parameters.style
        goal = qpos.copy()
        goal[:nq] = moment.pose
        mujoco.mj_differentiatePos(self.model, self._error, 1.0, qpos, goal)
        return np.asarray(moment.accelerations + k * self._error[:nv] + 2.0 * math.sqrt(k) * (moment.rates - qvel[:nv]))
