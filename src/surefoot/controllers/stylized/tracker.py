"""What follows the reference of a stylized skill: it solves the quadratic program every few milliseconds (§4).

The paper (da Silva 2008) does not say where a reference is placed in the world. Placed once and for all, it runs away
from a body that is pushed, or pulls it back. Here it is by default placed anew at every tick where the feet are
(`anchoring`), so that only its root's place over the bearing feet and its rotation are followed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path

import mujoco
import numpy as np

from surefoot.controllers.base import ControlledScene
from surefoot.controllers.stylized import qp
from surefoot.controllers.stylized.balance_policy import BalancePolicy, balance_policy
from surefoot.controllers.stylized.contact_patches import (
    FREE,
    TILTED,
    contact_modes,
    foot_patches,
    rolling_contact_modes,
)
from surefoot.controllers.stylized.law import TRACKER_STATE, TrackerState, tracker_state
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, patch_arrays
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame, held_pose, load_reference
from surefoot.controllers.stylized.reference_balancing import LegKinematics, sole_ends
from surefoot.controllers.stylized.reference_sources import reference_from_skill
from surefoot.controllers.stylized.skill_switching import SkillSwitching
from surefoot.controllers.stylized.step_adaptation import StepAdaptation, speed_up_step
from surefoot.controllers.stylized.terrain_adaptation import GroundQuery, TerrainAdaptation
from surefoot.controllers.stylized.three_link import three_link_groups, yaw_rotation
from surefoot.errors import SurefootError
from surefoot.native.userdata import Row
from surefoot.skills.schema import Skill

_RECORD = TRACKER_STATE.itemsize // 8
_state_values = attrgetter(*(TRACKER_STATE.names or ()))


class Tracker:
    """Follows one skill's reference on one scene; what it knows of a row is kept in the row's memory.

    If the quadratic program has no solution, the row keeps its last torques with the servo's on top, and counts it.

    Attributes:
        body: equations of motion of the scene's character, at the state of the last tick.
        period: physics steps from one solution to the next.
    """

    def __init__(self, scene: ControlledScene, skill: Skill) -> None:
        """Prepare everything that does not depend on a row's state."""
        self._scene, self._skill, self._parameters = scene, skill, skill.parameters
        self.period = max(1, round(1.0 / (skill.parameters.rate * scene.timestep)))
        self._seconds = self.period * scene.timestep
        roll = skill.parameters.roll_pitch
        self._tilted = TILTED if roll is None else math.sin(roll)
        self.body = body = BodyDynamics(scene.model, scene.table)
        self._groups = [three_link_groups(scene.model, scene.table, side) for side in (0, 1)]
        self._masses = [links.mass for links in self._groups]
        self._com_axes = (body.root_axes + 3 * np.arange(3)[:, None]).ravel()  # of the links' centers of mass
        self._weights = np.full(body.count, skill.parameters.style_weight)
        self._weights[: 3 if body.planar else 6] *= skill.parameters.root_weight
        nothing = np.zeros(0)
        self._no_balance = (np.zeros((0, body.count)), nothing, nothing, 0.0)
        left, right = (foot_patches(scene.model, scene.table, side) for side in (0, 1))
        modes = list(itertools.product(range(len(left)), range(len(right))))
        self._patches = {(i, j): patch_arrays(left[i] + right[j]) for i, j in modes}
        self._sides = {(i, j): body.left_right_signs(left[i], right[j]) for i, j in modes}
        self._on_left = {modes: signs > 0.0 for modes, signs in self._sides.items()}
        ground = GroundQuery(scene, body.data)
        self._terrain = None if ground.is_level else TerrainAdaptation(ground, body)
        self._soles = None if roll is None else sole_ends(LegKinematics(scene.model, scene.table))
        self._goal, self._error = scene.model.qpos0.copy(), np.zeros(scene.model.nv)
        self._steps = StepAdaptation(
            body, self._parameters.stepping, self._parameters.leading, self._parameters.softness, self._parameters.lift
        )

    @cached_property
    def reference(self) -> Reference:
        """What is followed."""
        name, scene = self._parameters.reference, self._scene
        if name.endswith(".npz"):
            return self._with_rolling_feet(self._check_fits(load_reference(Path(name))))
        if name != "start":
            return self._with_rolling_feet(reference_from_skill(scene, name, self._parameters.harmonics))
        model = scene.model
        qpos, qvel, userdata = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
        scene.begin(qpos, qvel, userdata, self._skill, 0)
        return held_pose(model, scene.table, qpos)

    def _with_rolling_feet(self, found: Reference) -> Reference:
        """A reference whose bearing feet roll from the skill's `roll_pitch` on, if it has one."""
        if self._parameters.roll_pitch is None:
            return found
        return replace(found, bearing=rolling_contact_modes(found.axes, found.bearing != FREE, self._tilted))

    def _check_fits(self, found: Reference) -> Reference:
        """Refuse a reference of another body."""
        own = len(self.body.qpos) + (3 if self.body.planar else 7)
        if found.poses.shape[1] != own:
            raise SurefootError(
                f"{self._parameters.reference} has {found.poses.shape[1]} coordinates, {self._scene.table.name} has "
                f"{own}: it is another body's reference"
            )
        return found

    @cached_property
    def policy(self) -> BalancePolicy:
        """How the reference is balanced in single support; cached beside its file."""
        name, table = self._parameters.reference, self._scene.table
        cache = None if not name.endswith(".npz") else Path(name).with_suffix(f".{table.name}.policy.npz")
        return balance_policy(BodyDynamics(self._scene.model, table), self._groups, self.reference, cache)

    @cached_property
    def switching(self) -> SkillSwitching:
        """How the skill is left and entered."""
        return SkillSwitching(self._scene, self.body, self.reference)

    def request_switch(self, row: Row, wanted: Skill) -> None:
        """Note in a row that another skill is requested."""
        self.switching.request(row, tracker_state(row.memory), wanted)

    def set_start_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Put a row where the reference begins."""
        if self._parameters.reference != "start":
            frame = self.reference.at(0.0)
            qpos[: len(frame.pose)], qvel[: len(frame.rates)] = frame.pose, frame.rates

    def tick(self, qpos: np.ndarray, qvel: np.ndarray, row: Row, time: float) -> None:
        """Solve the quadratic program at a row's state and write what the law needs into the row's memory."""
        nu = len(self.body.qpos)
        record, tracked = row.memory[:_RECORD], row.memory[_RECORD : _RECORD + 3 * nu].reshape(3, nu)
        state = TrackerState(*record.tolist())
        if state.ticked == time and state.began:
            return
        if state.began:
            before = state.clock
            self._advance_clock(state, time - state.ticked, row.touch)
            if self.switching.leave_if_due(row, state, before):
                record[:] = _state_values(state)
                return
        else:
            self.switching.enter(row, state, qpos, qvel, time)
        state.began, state.ticked = 1.0, time
        frame = self.reference.at(state.clock, state.heading)
        self.switching.add_fading_offset(row, frame, state, time)
        self.body.set(qpos, qvel)
        found = qp.solve_qp(self.build_problem(qpos, qvel, frame, state, row.touch), nu)
        state.solves += 1.0
        if found.good:
            tracked[0] = found.torque
        else:
            state.failures += 1.0
        tracked[1], tracked[2] = frame.pose[self.body.qpos], frame.rates[self.body.dofs]
        wanted = frame.bearing.tolist()
        state.stance = 2.0 if all(wanted) else float(wanted.index(max(wanted)))
        state.phase = state.clock / self.reference.duration
        record[:] = _state_values(state)

    def _advance_clock(self, state: TrackerState, seconds: float, touch: np.ndarray) -> None:
        """Move the reference's clock on; a loop begins again turned, and where the last one ended.

        A foot that strikes a little before the reference's moves the clock on to that strike (`early`).
        """
        reference, clock = self.reference, state.clock + seconds * (1.0 + state.pace)
        swing = reference.swing(state.clock)
        if clock < swing.strikes <= clock + self._parameters.early and touch[swing.foot] > 0.0:
            clock = swing.strikes
        now, after = (reference.bearing[reference.index(at)].tolist() for at in (state.clock, clock))
        state.steps += any(a != FREE and b == FREE for a, b in zip(after, now, strict=True))
        if reference.loops and clock >= reference.duration - 0.5 * reference.timestep:
            clock -= reference.duration
            end = reference.com[-1] + reference.timestep * reference.com_velocity[-1]
            way = yaw_rotation(state.heading) @ end - yaw_rotation(state.heading + reference.turn) @ reference.com[0]
            state.x, state.y, state.z = state.x + float(way[0]), state.y + float(way[1]), state.z + float(way[2])
            state.heading += reference.turn
        state.clock = clock

    def _place(self, frame: ReferenceFrame, state: TrackerState, left: float) -> np.ndarray:
        """(3,) from the reference's places to the world's [m]: where the feet are, or where they first were."""
        share = self._parameters.anchoring
        one, two = (self._foot_shift(frame, side) for side in (0, 1))
        feet = left * one + (1.0 - left) * two
        if not state.anchored:
            state.anchored, (state.x, state.y, state.z) = 1.0, feet.tolist()
        return np.asarray(share * feet + (1.0 - share) * np.array((state.x, state.y, state.z)))

    def _foot_shift(self, frame: ReferenceFrame, side: int) -> np.ndarray:
        """(3,) from a foot of the reference to where it is [m]: its ankle, or the edge over which it rolls.

        A rolling foot turns about its edge. Placed by the ankle, which rises as the heel does, the reference would
        come down with a heel that is late, and nothing would lift the body.
        """
        foot = self.body.legs.feet[side]
        shift = self.body.xpos[foot] - frame.ankles[side]
        if self._soles is not None:
            over = min(max(float(frame.axes[side, 2, 0]) / self._tilted, -1.0), 1.0)
            edge = self._soles.rear if over > 0.0 else self._soles.front
            shift += abs(over) * (self.body.xmat[foot] - frame.axes[side]) @ edge
        return np.asarray(shift)

    def build_problem(
        self, qpos: np.ndarray, qvel: np.ndarray, frame: ReferenceFrame, state: TrackerState, touch: np.ndarray
    ) -> qp.QuadraticProgram:
        """Build the program at the state that `body` is in, with `touch` (2,) for feet that touch the ground.

        The frame of the reference becomes what is followed, and the row's state is brought up to date, in place.
        """
        body, reference, parameters = self.body, self.reference, self._parameters
        wanted, touches, clock = frame.bearing.tolist(), touch.tolist(), state.clock
        state.left, state.right = landed = [
            mode != FREE and (now or before) > 0.0
            for mode, now, before in zip(wanted, touches, (state.left, state.right), strict=True)
        ]
        left, right = body.legs.feet
        share, swing, axes = (
            reference.left_support_share(clock),
            reference.swing(clock),
            (body.xmat[left], body.xmat[right]),
        )
        terrain = self._terrain if reference.is_level else None
        if terrain is not None:
            axes = terrain.adapt_frame(frame, state, share, swing, reference, self._seconds)
        modes = contact_modes(wanted, landed, axes, self._tilted)
        shift = self._place(frame, state, share)
        frame.pose[: len(body.root_axes)] += shift[body.root_axes]
        (rows, bias, centers, balance), state.pace = self._no_balance, 0.0
        if swing.foot >= 0 and modes[swing.foot] == FREE:
            stance = 1 - swing.foot
            mass, stride = self._masses[stance], reference.stride(swing, state.heading)
            coms, all_rows, all_bias = body.link_coms(self._groups[stance])
            state.pace = speed_up_step(frame, swing, clock, stride, coms, mass, parameters.pacing)
            elsewhere = terrain.foothold_search(swing, stride) if terrain is not None else None
            self._steps.adapt_swing_foot(qpos, frame, swing, clock, shift, coms, mass, elsewhere)
            which = self.policy.find(reference.index(clock)) if parameters.balance_weight else None
            if which is not None:
                rows, bias, balance = all_rows[self._com_axes], all_bias[self._com_axes], parameters.balance_weight
                centers = self.policy.com_accelerations(which, coms, state.heading)[self._com_axes]
        late = [side for side in (0, 1) if wanted[side] != FREE and modes[side] == FREE]
        state.late = state.late + self._seconds if late else 0.0
        for side in late:
            self._steps.reach_down(qpos, frame, side, shift, state.late)
        style = self._style(qpos, qvel, frame)[: body.count]
        contacts = body.contact_constraints(self._patches[modes])
        objective = qp.Objective(style, self._weights, rows, bias, centers, balance)
        problem = qp.build_qp(body, objective, contacts, parameters.settle)
        if parameters.handover and FREE not in modes:
            loads = np.where(self._on_left[modes], 1.0 - share, -share)
            qp.penalize_internal_forces(problem, loads[None, :], parameters.handover)
        if parameters.calm and FREE not in modes:
            against = contacts.forces[: len(body.root_axes) - 1] * self._sides[modes]
            qp.penalize_internal_forces(problem, against, parameters.calm)
        return problem

    def _style(self, qpos: np.ndarray, qvel: np.ndarray, frame: ReferenceFrame) -> np.ndarray:
        """(nv,) a_s of eq. 8."""
        nq, nv, k = len(frame.pose), len(frame.rates), self._parameters.style
        self._goal[:nq] = frame.pose
        mujoco.mj_differentiatePos(self.body.model, self._error, 1.0, qpos, self._goal)
        return np.asarray(frame.accelerations + k * self._error[:nv] + 2.0 * math.sqrt(k) * (frame.rates - qvel[:nv]))
