"""The intention of a stylized skill: style and the programme, once every few milliseconds (da Silva 2008, §4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot import controllers
from surefoot.controllers.stylized import TRACKER, tracked_of
from surefoot.native import memory
from surefoot.native.pointers import plain
from surefoot.stylized import programme
from surefoot.stylized.anchoring import go_round, set_down
from surefoot.stylized.balance import Policy, policy, seen
from surefoot.stylized.bearing import bearing, stepped
from surefoot.stylized.body_dynamics import BodyDynamics, soles
from surefoot.stylized.grounding import Ground, lay, taken_over
from surefoot.stylized.limbs_of_three import groups
from surefoot.stylized.patches import FREE, footings
from surefoot.stylized.reference import Moment, Reference, Swing, held, read
from surefoot.stylized.sources import recorded
from surefoot.stylized.stepping import Stepping

if TYPE_CHECKING:
    from surefoot.scene import Scene
    from surefoot.skills.schema import Skill

_NAMES = TRACKER.names or ()


class Tracker:
    """Follows one skill's reference on one scene; what it knows of a row lies in the row's memory.

    The reference's root is set down anew at every tick where the bearing feet are: only its place over them and its
    turn in the world are followed. Where the programme has no solution the last torques stay, with the servo's on
    top, and the row counts it.
    """

    def __init__(self, scene: Scene, skill: Skill) -> None:
        """Prepare everything that no row's state changes."""
        self.model, self._table, self._scene, self._skill = scene.model, scene.table, scene, skill
        self._parameters, self._number = skill.parameters, controllers.names().index(skill.controller)
        self.period = max(1, round(1.0 / (skill.parameters.rate * scene.timestep)))
        self.body = BodyDynamics(scene.model, scene.table)
        self._groups = [groups(scene.model, scene.table, side) for side in (0, 1)]
        self._masses = [links.mass for links in self._groups]
        legs = (scene.table.anatomy.left, scene.table.anatomy.right)
        self._feet = [int(scene.model.body(leg.foot).id) for leg in legs]
        joints = [scene.model.joint(name) for name in scene.table.gains]
        self._places = np.array([int(joint.qposadr[0]) for joint in joints])
        planar = scene.table.root == "planar"
        self._slides = slice(0, 3, 2) if planar else slice(0, 3)  # the world's axes its root moves along
        self._freedoms = 2 if planar else 3
        self._axes = np.array([0, 2, 3, 5, 6, 8]) if planar else slice(None)  # of the links' centres
        self._weights = np.full(self.body.count, skill.parameters.style_weight)
        self._weights[: 3 if planar else 6] *= skill.parameters.root_weight
        nothing = np.zeros(0)
        self._nothing = (np.zeros((0, self.body.count)), nothing, nothing, 0.0)
        left, right = (footings(scene.model, scene.table, side) for side in (0, 1))
        self._soles = {(i, j): soles(left[i] + right[j]) for i in range(len(left)) for j in range(len(right))}
        self._goal, self._error = np.zeros(scene.model.nq), np.zeros(scene.model.nv)
        self._ground = Ground(scene)
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

    def begin(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Put a row where the reference begins."""
        if self._parameters.reference != "start":
            moment = self.reference.at(0.0)
            qpos[: len(moment.pose)], qvel[: len(moment.rates)] = moment.pose, moment.rates

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float) -> None:
        """Solve the programme at a row's state and write what the law needs."""
        if row.slots[int(row.header[0].active), 0] != self._number:
            return  # it waits for another controller to hand over the body, whose memory this still is
        record = row.memory[: len(_NAMES)]
        state = SimpleNamespace(**dict(zip(_NAMES, record.tolist(), strict=True)))  # a record's own are slow to reach
        if state.ticked == time and state.began:
            return
        if state.began:
            self._go_on(state, time - state.ticked)
        state.began, state.ticked = 1.0, time
        moment = self.reference.at(state.clock, state.heading)
        self.body.set(qpos, qvel)
        found = programme.solve(self.problem(qpos, qvel, moment, state, row.touch), len(self._places))
        tracked = plain(tracked_of)(row.memory, len(self._places))
        state.solves += 1.0
        if found.good:
            tracked.torque[:] = found.torque
        else:
            state.failures += 1.0
        tracked.targets[:] = moment.pose[self._places]
        tracked.rates[:] = moment.rates[self.body.dofs]
        state.stance = 2.0 if moment.bearing.all() else float(moment.bearing.argmax())
        state.phase = state.clock / self.reference.duration
        record[:] = list(vars(state).values())

    def _go_on(self, state: SimpleNamespace, seconds: float) -> None:
        """Move the reference's clock on."""
        reference, clock = self.reference, state.clock + seconds * (1.0 + state.pace)
        state.steps += stepped(reference.bearing, reference.index(state.clock), reference.index(clock))
        if reference.loops and clock >= reference.duration - 0.5 * reference.timestep:
            clock -= reference.duration
            go_round(state, reference)
        state.clock = clock

    def problem(
        self, qpos: np.ndarray, qvel: np.ndarray, moment: Moment, state: SimpleNamespace, touch: np.ndarray
    ) -> programme.Problem:
        """The programme at the state that `body` is in; the moment is changed to what is followed."""
        reference, weight = self.reference, self._parameters.balance_weight
        swing, left = reference.swing(state.clock), reference.leaning(state.clock)
        landed = (moment.bearing != FREE) & ((touch > 0.0) | (np.array((state.left, state.right)) > 0.0))
        state.left, state.right = landed.tolist()
        axes = self.body.xmat[self._feet]
        if not self._ground.is_level:
            lies = self._ground.lies(self.body.data, self.body.xpos[self._feet])
            moment.axes[:], axes = lies @ moment.axes, lies.transpose(0, 2, 1) @ axes
        bears = bearing(moment.bearing, landed, axes).tolist()
        import os
        late = [side for side in (0, 1) if moment.bearing[side] != FREE and bears[side] == FREE]
        if os.environ.get("SHARE") and len(late) == 1:
            left = float(late[0])
        if not self._ground.is_level:
            self._lay(moment, state, left, swing)
        away = self.body.xpos[self._feet] - moment.ankles
        shift = set_down(state, left * away[0] + (1.0 - left) * away[1], self._parameters.anchoring)
        moment.pose[: self._freedoms] += shift[self._slides]
        rows, bias, centers, balance = self._nothing
        state.pace = 0.0
        if swing.foot >= 0 and bears[swing.foot] == FREE:
            stance = 1 - swing.foot
            points, all_rows, all_bias = seen(self.body, self._groups[stance])
            self._pace(moment, swing, state, points, self._masses[stance], stance)
            self._stepping.adapt(qpos, moment, swing, state.clock, shift, points, self._masses[stance], self._sees(state, swing))
            which = self.policy.find(reference.index(state.clock)) if weight else None
            if which is not None:
                rows, bias, balance = all_rows[self._axes], all_bias[self._axes], weight
                centers = self.policy.accelerations(which, points, state.heading)[self._axes]
        late = [side for side in (0, 1) if moment.bearing[side] != FREE and bears[side] == FREE]
        state.late = (state.late + self.period * self.model.opt.timestep) if late else 0.0
        for side in late:
            self._stepping.reach_down(qpos, moment, side, shift, state.late)
        style = self._style(qpos, qvel, moment)[: self.body.count]
        wish = programme.Wish(style, self._weights, rows, bias, centers, balance)
        return programme.build(self.body, wish, self.body.held(self._soles[tuple(bears)]), self._parameters.settle)

    def _sees(self, state: SimpleNamespace, swing: Swing) -> Callable[[np.ndarray], np.ndarray] | None:
        """Where else a foot lands that would land on an edge."""
        if self._ground.is_level:
            return None
        way = self.reference.stride(swing, state.heading)
        there = self.body.xpos[self._feet[1 - swing.foot]] + way
        ahead = self.reference.points(swing, state.heading)

        def elsewhere(move: np.ndarray) -> np.ndarray:
            return self._ground.foothold(self.body.data, there + move, ahead, way[:2])

        return elsewhere

    def _lay(self, moment: Moment, state: SimpleNamespace, left: float, swing: Swing) -> None:
        """Lay the reference on ground that is not level, from the stance foot to where the other one lands or is."""
        here, there = self.body.xpos[self._feet]
        if swing.foot >= 0:
            here = (here, there)[1 - swing.foot]
            there = here + self.reference.stride(swing, state.heading)
        now = self._ground.rise(self.body.data, here, there)
        rise = taken_over(np.array([state.rise_x, state.rise_y]), now, self.period * self.model.opt.timestep)
        state.rise_x, state.rise_y = rise.tolist()
        lay(moment, rise, left, self._freedoms)
        if swing.foot >= 0:
            foot = self._feet[swing.foot]
            ahead = self.body.xmat[foot][:2, 0]
            moment.ankles[swing.foot, 2] += self._ground.above(self.body.data, self.body.xpos[foot], ahead, here, rise)

    def _pace(self, moment, swing, state, points, mass, stance) -> None:
        import os
        gain = float(os.environ.get("PACE", "0"))
        if not gain or not np.isfinite(swing.strikes): return
        share = mass / mass.sum()
        way = self.reference.stride(swing, state.heading)[:2]
        far = float(np.linalg.norm(way))
        if far < 0.1: return
        way = way / far
        com, velocity = share @ points.place, share @ points.velocity
        rate = float(np.sqrt(9.81 / max(com[2], 0.3)))
        ours = float((com[:2] + velocity[:2] / rate) @ way)
        theirs = float((moment.com[:2] - moment.ankles[stance][:2] + moment.com_velocity[:2] / rate) @ way)
        low = float(os.environ.get("PLOW", "0.08"))
        sooner = gain * (ours - theirs) / (rate * max(theirs, low))
        left = max(swing.strikes - state.clock, 0.02)
        lo, hi = float(os.environ.get("PMIN", "-0.3")), float(os.environ.get("PMAX", "0.6"))
        state.pace = float(np.clip(left / max(left - sooner, 0.02) - 1.0, lo, hi))
        moment.rates[:] *= 1.0 + state.pace
        moment.twists[:] *= 1.0 + state.pace
        moment.accelerations[:] *= (1.0 + state.pace) ** 2

    def _style(self, qpos: np.ndarray, qvel: np.ndarray, moment: Moment) -> np.ndarray:
        """(nv,) a_s of eq. 8."""
        nq, nv, k = len(moment.pose), len(moment.rates), self._parameters.style
        self._goal[:] = qpos
        self._goal[:nq] = moment.pose
        mujoco.mj_differentiatePos(self.model, self._error, 1.0, qpos, self._goal)
        return np.asarray(moment.accelerations + k * self._error[:nv] + 2.0 * math.sqrt(k) * (moment.rates - qvel[:nv]))
