"""Where a reference is set down in the world: anew at every tick where the feet are, or once and for all.

The paper does not say. Set down once, the reference runs away from a body that is pushed, or pulls it back.

The intention of a stylized skill: style and the programme, once every few milliseconds (da Silva 2008, §4).
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot.controllers.stylized import qp
from surefoot.controllers.stylized.balance_policy import BalancePolicy, balance_policy, link_coms_from_ankle
from surefoot.controllers.stylized.foot_contacts import FREE, contact_modes, foot_patches
from surefoot.controllers.stylized.law import TRACKER_STATE, tracker_memory
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, patch_arrays
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame, held_pose, load_reference
from surefoot.controllers.stylized.reference_sources import reference_from_skill
from surefoot.controllers.stylized.skill_switching import SkillSwitching
from surefoot.controllers.stylized.step_adaptation import StepAdaptation, speed_up_step
from surefoot.controllers.stylized.terrain_adaptation import terrain_adaptation
from surefoot.controllers.stylized.three_link import three_link_groups, yaw_rotation
from surefoot.errors import SurefootError
from surefoot.native import userdata as memory
from surefoot.native.kernels import python_impl

if TYPE_CHECKING:
    from surefoot.controllers.base import ControlledScene
    from surefoot.skills.schema import Skill


def anchor_offset(state: SimpleNamespace, feet: np.ndarray, share: float) -> np.ndarray:
    """(3,) from the reference's places to the world's [m].

    Args:
        state: of the tracker; it remembers where the reference was first set down.
        feet: (3,) by which the feet that bear are elsewhere than the reference's [m].
        share: 1 is where the feet are, 0 where it was first.
    """
    if not state.anchored:
        state.anchored, (state.x, state.y, state.z) = 1.0, feet.tolist()
    return share * feet + (1.0 - share) * np.array((state.x, state.y, state.z))


def advance_anchor_by_cycle(state: SimpleNamespace, reference: Reference) -> None:
    """Begin another round of a reference that loops, turned and where the last one ended."""
    end = reference.com[-1] + reference.timestep * reference.com_velocity[-1]
    way = yaw_rotation(state.heading) @ end - yaw_rotation(state.heading + reference.turn) @ reference.com[0]
    state.x, state.y, state.z = state.x + float(way[0]), state.y + float(way[1]), state.z + float(way[2])
    state.heading += reference.turn


_RECORD = TRACKER_STATE.itemsize // 8


class Tracker:
    """Follows one skill's reference on one scene; what it knows of a row lies in the row's memory.

    The reference's root is set down anew at every tick where the bearing feet are: only its place over them and its
    turn in the world are followed. Where the programme has no solution the last torques stay, with the servo's on
    top, and the row counts it.
    """

    def __init__(self, scene: ControlledScene, skill: Skill) -> None:
        """Prepare everything that no row's state changes."""
        self.model, self._table, self._scene, self._skill = scene.model, scene.table, scene, skill
        self._parameters = skill.parameters
        self.period = max(1, round(1.0 / (skill.parameters.rate * scene.timestep)))
        self._seconds = self.period * scene.timestep
        self.body = BodyDynamics(scene.model, scene.table)
        self._groups = [three_link_groups(scene.model, scene.table, side) for side in (0, 1)]
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
        left, right = (foot_patches(scene.model, scene.table, side) for side in (0, 1))
        ways = list(itertools.product(range(len(left)), range(len(right))))
        self._soles = {(i, j): patch_arrays(left[i] + right[j]) for i, j in ways}
        self._sides = {(i, j): self.body.signs(left[i], right[j]) for i, j in ways}
        self._ground = terrain_adaptation(scene, self.body, self._feet)
        self._goal, self._error = scene.model.qpos0.copy(), np.zeros(scene.model.nv)
        self._stepping = StepAdaptation(
            self.body, self._parameters.stepping, self._parameters.leading, self._parameters.softness
        )

    @cached_property
    def reference(self) -> Reference:
        """What is followed."""
        name = self._parameters.reference
        if name.endswith(".npz"):
            return self._fitting(load_reference(Path(name)))
        if name != "start":
            return reference_from_skill(self._scene, name)
        model = self.model
        qpos, qvel, userdata = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
        self._scene.begin(qpos, qvel, userdata, self._skill, 0)
        return held_pose(model, self._table, qpos)

    def _fitting(self, found: Reference) -> Reference:
        """A reference of this body; another's is refused."""
        own = len(self._places) + (3 if self._table.root == "planar" else 7)
        if found.poses.shape[1] != own:
            raise SurefootError(
                f"{self._parameters.reference} has {found.poses.shape[1]} coordinates, {self._table.name} has {own}: "
                "it is another body's reference"
            )
        return found

    @cached_property
    def policy(self) -> BalancePolicy:
        """How the reference is balanced in single support; kept beside its file."""
        name = self._parameters.reference
        cache = None if not name.endswith(".npz") else Path(name).with_suffix(f".{self._table.name}.policy.npz")
        return balance_policy(BodyDynamics(self.model, self._table), self._groups, self.reference, cache)

    @cached_property
    def switching(self) -> SkillSwitching:
        """How it is left and entered."""
        return SkillSwitching(self._scene, self.body, self.reference)

    def ask(self, row: memory.Row, goal: Skill) -> None:
        """Note that another skill is asked for."""
        self.switching.ask(row, python_impl(tracker_memory)(row.memory, len(self._places)).tracker[0], goal)

    def begin(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Put a row where the reference begins."""
        if self._parameters.reference != "start":
            moment = self.reference.at(0.0)
            qpos[: len(moment.pose)], qvel[: len(moment.rates)] = moment.pose, moment.rates

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: memory.Row, time: float) -> None:
        """Solve the programme at a row's state and write what the law needs."""
        nu = len(self._places)
        record, tracked = row.memory[:_RECORD], row.memory[_RECORD : _RECORD + 3 * nu].reshape(3, nu)
        state = SimpleNamespace(**dict(zip(TRACKER_STATE.names or (), record.tolist(), strict=True)))
        if state.ticked == time and state.began:
            return
        if state.began:
            before = state.clock
            self._go_on(state, time - state.ticked)
            if self.switching.leaves(row, state, before):
                record[:] = list(vars(state).values())
                return
        else:
            self.switching.enters(row, state, qpos, qvel, time)
        state.began, state.ticked = 1.0, time
        moment = self.reference.at(state.clock, state.heading)
        self.switching.fade(row, moment, state, time)
        self.body.set(qpos, qvel)
        found = qp.solve_qp(self.problem(qpos, qvel, moment, state, row.touch), nu)
        state.solves += 1.0
        if found.good:
            tracked[0] = found.torque
        else:
            state.failures += 1.0
        tracked[1], tracked[2] = moment.pose[self._places], moment.rates[self.body.dofs]
        wanted = moment.bearing.tolist()
        state.stance = 2.0 if all(wanted) else float(wanted.index(max(wanted)))
        state.phase = state.clock / self.reference.duration
        record[:] = list(vars(state).values())

    def _go_on(self, state: SimpleNamespace, seconds: float) -> None:
        """Move the reference's clock on."""
        reference, clock = self.reference, state.clock + seconds * (1.0 + state.pace)
        now, after = (reference.bearing[reference.index(at)].tolist() for at in (state.clock, clock))
        state.steps += any(a != FREE and b == FREE for a, b in zip(after, now, strict=True))
        if reference.loops and clock >= reference.duration - 0.5 * reference.timestep:
            clock -= reference.duration
            advance_anchor_by_cycle(state, reference)
        state.clock = clock

    def problem(
        self, qpos: np.ndarray, qvel: np.ndarray, moment: ReferenceFrame, state: SimpleNamespace, touch: np.ndarray
    ) -> qp.QuadraticProgram:
        """The programme at the state that `body` is in; the moment is changed to what is followed."""
        body, reference, weight = self.body, self.reference, self._parameters.balance_weight
        wanted, touches, clock = moment.bearing.tolist(), touch.tolist(), state.clock
        state.left, state.right = landed = [
            kind != FREE and (now or before) > 0.0
            for kind, now, before in zip(wanted, touches, (state.left, state.right), strict=True)
        ]
        left, right = self._feet
        leaning, swing, axes = reference.leaning(clock), reference.swing(clock), (body.xmat[left], body.xmat[right])
        ground = self._ground if reference.is_level else None
        if ground is not None:
            axes = ground.lay(moment, state, leaning, swing, reference, self._seconds)
        bears, away = contact_modes(wanted, landed, axes), moment.ankles
        feet = leaning * (body.xpos[left] - away[0]) + (1.0 - leaning) * (body.xpos[right] - away[1])
        shift = anchor_offset(state, feet, self._parameters.anchoring)
        moment.pose[: self._freedoms] += shift[self._slides]
        (rows, bias, centers, balance), state.pace = self._nothing, 0.0
        if swing.foot >= 0 and bears[swing.foot] == FREE:
            stance = 1 - swing.foot
            points, all_rows, all_bias = link_coms_from_ankle(body, self._groups[stance])
            stride = reference.stride(swing, state.heading)
            state.pace = speed_up_step(
                moment, swing, clock, stride, points, self._masses[stance], self._parameters.pacing
            )
            elsewhere = ground.footholds(swing, stride) if ground is not None else None
            self._stepping.adapt(qpos, moment, swing, clock, shift, points, self._masses[stance], elsewhere)
            which = self.policy.find(reference.index(clock)) if weight else None
            if which is not None:
                rows, bias, balance = all_rows[self._axes], all_bias[self._axes], weight
                centers = self.policy.accelerations(which, points, state.heading)[self._axes]
        late = [side for side in (0, 1) if wanted[side] != FREE and bears[side] == FREE]
        state.late = state.late + self._seconds if late else 0.0
        for side in late:
            self._stepping.reach_down(qpos, moment, side, shift, state.late)
        style = self._style(qpos, qvel, moment)[: body.count]
        wish = qp.Objective(style, self._weights, rows, bias, centers, balance)
        held = body.held(self._soles[bears])
        problem = qp.build_qp(body, wish, held, self._parameters.settle)
        if self._parameters.calm and FREE not in bears:
            against = held.forces[: self._freedoms - 1] * self._sides[bears]
            qp.penalize_internal_forces(problem, against, self._parameters.calm)
        return problem

    def _style(self, qpos: np.ndarray, qvel: np.ndarray, moment: ReferenceFrame) -> np.ndarray:
        """(nv,) a_s of eq. 8."""
        nq, nv, k = len(moment.pose), len(moment.rates), self._parameters.style
        self._goal[:nq] = moment.pose
        mujoco.mj_differentiatePos(self.model, self._error, 1.0, qpos, self._goal)
        return np.asarray(moment.accelerations + k * self._error[:nv] + 2.0 * math.sqrt(k) * (moment.rates - qvel[:nv]))
