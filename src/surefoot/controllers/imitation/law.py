"""SIMBICON from motion capture (Yin, Loken, van de Panne 2007, §5): target trajectories Θ(φ) in place of poses.

Steps. There are two states, one for each swing leg. The phase advances evenly; a footstrike exchanges the legs and
resets the phase (§5).

Tracking. Swing thigh and torso follow the clip in the world frame, and the stance hip exerts their torques; every other
joint follows its own trajectory with τ = kp (θd − θ) − kd (θ̇ − θ̇d). Balance feedback (eq. 1) acts on the differences
of d and v from their values in the clip: with d and v themselves, as printed, it would treat the clip's own swing of
the hips as a disturbance. Beyond the paper, the stance knee straightens if the hips sink below their clip height.

Learning. Every tracked joint learns feed-forward torques (§7.2). Bins begin at a step's footstrike and not at a phase
of the clip, because a leg bears from its footstrike on, whenever that is. Beyond the paper, a skill may bring
feed-forward torques over a step of its own: what it took to follow the clip, push-off of the ankle above all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.imitation.trajectory import (
    EXTRA,
    PACE,
    PLACES,
    THIGHS,
    TORSO,
    Plan,
    evaluate_series,
    plan_of,
    step_span,
    torque_at,
)
from surefoot.controllers.simbicon import law as simbicon
from surefoot.controllers.simbicon.law import HEADING, LEAN, LIFT, SIDEWAYS, SLOPE, SPEED, WIDTH
from surefoot.native.kernels import kernel, noinline, records
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Quaternion, Vector, from_yaw_roll_pitch, limit_norm, norm, rotation_between
from surefoot.reflexes.balance import (
    SAMPLE,
    hip_midpoint,
    lean_for_speed,
    over_stance_ankle,
    random_state,
    reaction_stiffness,
    sense_balance,
)
from surefoot.reflexes.displacement import SLOPE_LEAN, displace_leg, steer
from surefoot.reflexes.feedback_error import learn_from_step, lesson_of, slope_at, visits_of
from surefoot.reflexes.handover import switch_skill, take_over
from surefoot.reflexes.report import report_measured
from surefoot.reflexes.servo import actuate, along_axis, clamp

_LONGEST_STEP = 1.2  # [step of the clip] that the bins cover


@noinline
def track(
    world: World, row: Row, imitator: Any, plan: Plan, channel: int, kp: float, kd: float, limit: float, error: float,
    rate: float, is_new: bool,
) -> tuple[float, float]:  # fmt: skip
    """§7.2: feedback towards the displaced trajectory, and the torque learned from it [N·m].

    A channel learns no more torque than the joint's `limit`.
    """
    head, channels = plan.head[0], int(world.anatomy[0].actuators) + 3
    bins, here = int(head.bins), int(imitator.bin)
    lesson = lesson_of(row.table, channels, bins, int(imitator.swing), channel)
    shift, slope = lesson.shift[here], slope_at(lesson.shift, here) * imitator.bins_per_second
    feedback = kp * (error + shift) + kd * (rate + slope)
    if is_new and head.learning_rate > 0.0:
        lesson.feedback[here] += clamp(feedback, -limit, limit)
        lesson.error[here] -= error
    return feedback, lesson.torque[here]


@noinline
def learn(world: World, row: Row, imitator: Any, plan: Plan) -> None:
    """Find the present bin, counted from the step's footstrike; when a step begins, learn from the one before."""
    head, channels = plan.head[0], int(world.anatomy[0].actuators) + 3
    bins, side = int(head.bins), int(imitator.swing)
    if imitator.steps != imitator.learned and head.learning_rate > 0.0:
        visits = visits_of(row.table, channels, bins, 1 - side)
        for channel in range(channels):
            kp = head.torso_kp if channel >= channels - 3 else _kp_of(world, plan, channel)
            lesson = lesson_of(row.table, channels, bins, 1 - side, channel)
            learn_from_step(lesson, visits, head.learning_rate, head.learning_limit * kp, head.displaces)
        for n in range(bins):
            visits[n] = 0.0
    imitator.learned = imitator.steps
    imitator.bins_per_second = bins * head.rate / (_LONGEST_STEP * step_span(plan, side)[1])
    imitator.bin = float(min(int((world.time - imitator.step_start) * imitator.bins_per_second), bins - 1))
    if head.learning_rate > 0.0:
        visits_of(row.table, channels, bins, side)[int(imitator.bin)] += 1.0


@kernel
def _kp_of(world: World, plan: Plan, actuator: int) -> float:
    """Stiffness of a joint; the roles of both sides have the same [N·m/rad]."""
    for role in range(int(world.anatomy[0].roles)):
        if int(world.role[0, role]) == actuator:
            return plan.gains[role].kp  # type: ignore[no-any-return]
    return 0.0


IMITATOR = np.dtype([(n, "f8") for n in (
    "swing", "done", "phase", "pace", "step_start", "period", "steps", "late", "landed", "wait",
    "heading", "alarmed", "random", "measured",
    "d", "v", "lateral_d", "lateral_v", "sunk", "speed_step", "speed_time", "speed_x", "speed_y", "lean",
    "learned", "bin", "bins_per_second")])  # fmt: skip
"""`done` is the share of a cycle since the step began, `pace` the rate of the phase [cycles/s]. d and v are the body's
differences from the clip, `sunk` is how much lower its hips are [m], `late` how long it has been waiting for a
footstrike [s]. Once the foot has `landed`, the legs are exchanged after `wait` [cycles]."""


@kernel
def advance(world: World, row: Row, imitator: Any, roles: int, actuators: int) -> None:
    """Advance the phase; a footstrike that is not too early begins the other leg's step and resets the phase (§5).

    The printed law resets the phase at once; here it runs faster for a while, so that targets do not jump. A late step
    waits for its footstrike a little after the clip's. The stance leg may go on bearing for a share `handoff` of the
    time that both feet stand in the clip; in the paper it is 0.
    """
    plan = plan_of(row.slots[int(row.header[0].active)], roles, actuators)
    head, swing = plan.head[0], int(imitator.swing)
    begin, span = step_span(plan, swing)
    before, is_up = imitator.done, imitator.landed == 0.0
    hurries = before < 0.0 or (not is_up and before < span)
    pace = head.rate * (head.catch_up if hurries else 1.0)
    imitator.done = before + pace * world.dt
    if is_up:
        imitator.done = min(imitator.done, span + head.overrun)
    imitator.pace = pace if imitator.done != before else 0.0
    imitator.late = imitator.late + world.dt if imitator.done == before else 0.0
    if is_up and row.touch[swing] != 0.0 and imitator.done >= head.earliest * span:
        imitator.landed, imitator.late = 1.0, 0.0
        imitator.wait = head.handoff * (head.left_stays if swing == 1 else head.right_stays)
    if imitator.landed != 0.0:
        imitator.wait -= pace * world.dt
        if imitator.wait <= 0.0:
            begin = _exchange_legs(row, imitator, span, roles, actuators, world.time)
    imitator.phase = (begin + imitator.done) % 1.0


@kernel
def _exchange_legs(row: Row, imitator: Any, span: float, roles: int, actuators: int, time: float) -> float:
    """Exchange the legs and activate a requested skill; return the phase at which the new step begins."""
    imitator.period = time - imitator.step_start
    imitator.step_start, imitator.steps = time, imitator.steps + 1.0
    imitator.done, imitator.landed = imitator.done - span, 0.0
    imitator.swing = 1.0 - imitator.swing
    switch_skill(row)
    plan = plan_of(row.slots[int(row.header[0].active)], roles, actuators)
    return step_span(plan, int(imitator.swing))[0]


COMMANDS = simbicon.COMMANDS | {
    "ahead": Command(DEGREES, -0.4, 0.4)  # of the swing leg, away from the way to go: positive is forward
}
AHEAD, SPEED_GIVEN = 7, 8  # places behind SIMBICON's commands

# The memory: an IMITATOR, displacements by role, values and rates of all series, samples.
_IMITATOR, _SAMPLE = IMITATOR.itemsize // 8, SAMPLE.itemsize // 8
_MOST_SUNK = 0.2  # [m] sinking of the hips that the stance knee answers
_LOOKAHEAD = 1e-3  # [s] over which the spin of a target is measured


def memory_size(roles: int, actuators: int, samples: int) -> int:
    """Numbers of memory."""
    count = actuators + EXTRA
    return _IMITATOR + roles + 2 * count + _SAMPLE * samples


@kernel
def law(world: World, row: Row, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    anatomy = world.anatomy[0]
    roles, actuators = int(anatomy.roles), int(anatomy.actuators)
    imitator = records(row.memory, 0, 1, IMITATOR)[0]
    if is_new and take_over(row, imitator, HEADING):
        imitator.random = random_state(row.header[0].seed)
        imitator.swing, imitator.step_start = row.report[0].swing, world.time
    plan = plan_of(row.slots[int(row.header[0].active)], roles, actuators)
    at = _IMITATOR + roles
    count = actuators + EXTRA
    values, rates = row.memory[at : at + count], row.memory[at + count : at + 2 * count]
    if is_new:
        advance(world, row, imitator, roles, actuators)
        plan = plan_of(row.slots[int(row.header[0].active)], roles, actuators)
        evaluate_series(plan.series, imitator.phase, imitator.pace, values, rates)
        _sense(world, row, imitator, plan, values, roles, actuators)
        _displace(world, row, imitator, plan, roles)
        if plan.head[0].bins > 0.0:
            learn(world, row, imitator, plan)
    feedback, feedforward = _drive(world, row, imitator, plan, values, rates, is_new)
    row.report[0].state = imitator.swing + 2.0 * imitator.landed  # 2 and 3: the foot of leg 0 or 1 has just landed
    row.report[0].phase = imitator.phase
    report_measured(row, imitator, imitator.swing, feedback, feedforward)


@noinline
def _sense(world: World, row: Row, imitator: Any, plan: Plan, values: np.ndarray, roles: int, actuators: int) -> None:
    """Follow the commanded heading, and measure how d and v differ from the clip at this phase."""
    head, stance = plan.head[0], 1 - int(imitator.swing)
    turn = head.turn * world.dt
    row.commands[HEADING] += turn
    imitator.heading += turn
    steer(imitator, row.commands[HEADING], head.turn_rate, world.dt)
    at = _IMITATOR + roles + 2 * (actuators + EXTRA)
    ring = records(row.memory, at, (len(row.memory) - at) // _SAMPLE, SAMPLE)
    d, v, lateral_d, lateral_v = over_stance_ankle(world, stance, imitator.heading, head.true_com != 0.0)
    place, pace = actuators + PLACES + 3 * stance, actuators + PACE
    wanted = values[pace]
    if row.commands[SPEED_GIVEN] != 0.0:
        wanted += row.commands[SPEED] - head.mean_speed
        lean_for_speed(imitator, hip_midpoint(world, 0), hip_midpoint(world, 1), world.time, row.commands[SPEED])
    sample = (d - values[place], v - wanted, lateral_d - values[place + 1], lateral_v - values[pace + 1])
    sense_balance(imitator, ring, head, sample)
    height = hip_midpoint(world, 2) - world.xpos[int(world.leg[stance, 2]), 2]
    imitator.sunk = clamp(values[place + 2] - height, -_MOST_SUNK, _MOST_SUNK)


@kernel
def _displace(world: World, row: Row, imitator: Any, plan: Plan, roles: int) -> None:
    """Write the displacements of the targets: the skill's offsets, its clearance and the commands."""
    displaced, commands, anatomy = row.memory[_IMITATOR : _IMITATOR + roles], row.commands, world.anatomy[0]
    for role in range(roles):
        displaced[role] = plan.offsets[role]
    swing = int(imitator.swing)
    span = step_span(plan, swing)[1]
    middle = math.sin(math.pi * clamp(imitator.done / span, 0.0, 1.0))
    middle *= middle
    outward = world.outward[swing, 1]
    displace_leg(anatomy, displaced, 0, outward, commands[SIDEWAYS], commands[WIDTH], commands[SLOPE], commands[LIFT])
    displaced[0] += plan.head[0].clearance * middle - commands[AHEAD]
    displaced[int(anatomy.knee)] -= plan.head[0].tuck * middle
    displaced[int(anatomy.side_roles) + int(anatomy.ankle)] += commands[SLOPE]
    reach = plan.head[0].reach * imitator.late  # a late foot reaches for the ground
    displaced[int(anatomy.knee)] += reach
    displaced[int(anatomy.side_roles) + int(anatomy.knee)] -= reach


@kernel
def _balance_feedback(world: World, imitator: Any, plan: Plan, role: int) -> float:
    """Balance feedback of a role in the plane it moves in (eq. 1) [rad]."""
    cd, cv = plan.feedback[role, 0], plan.feedback[role, 1]
    if imitator.landed != 0.0 and role < int(world.anatomy[0].side_roles):
        return 0.0  # after footstrike, feedback would push instead of placing the foot
    if world.plane[role] == 0.0:
        return cd * imitator.d + cv * imitator.v  # type: ignore[no-any-return]
    sign = world.outward[int(imitator.swing), role]
    return sign * (cd * imitator.lateral_d + cv * imitator.lateral_v)  # type: ignore[no-any-return]


@kernel
def _drive(
    world: World, row: Row, imitator: Any, plan: Plan, values: np.ndarray, rates: np.ndarray, is_new: bool
) -> tuple[float, float]:
    """Drive all joints; return √Σ feedback² and √Σ learned² [N·m]."""
    head, anatomy = plan.head[0], world.anatomy[0]
    swing, side, actuators = int(imitator.swing), int(anatomy.side_roles), int(anatomy.actuators)
    torso = int(anatomy.torso)
    at = actuators + TORSO
    lean = head.torso + row.commands[LEAN] + SLOPE_LEAN * row.commands[SLOPE] + head.load_lean
    if row.commands[SPEED_GIVEN] != 0.0:
        lean += imitator.lean
    yaw, roll, pitch = imitator.heading + values[at], values[at + 1] + head.torso_roll, values[at + 2] + lean
    wanted = from_yaw_roll_pitch(yaw, roll, pitch)
    error = rotation_between(wanted, world.xquat[torso])
    soft = reaction_stiffness(imitator, head, norm(error), world.time)
    spin = _target_spin(wanted, yaw, roll, pitch, rates[at : at + 3], head.turn)
    upright, squares, learned = _orientation_torque(
        world, row, imitator, plan, torso, actuators, soft, head.torso_kp, head.torso_kd, head.torso_limit, error,
        spin, is_new,
    )  # fmt: skip
    upright = limit_norm(upright, head.torso_limit)
    moved, fb, ff = _thigh_torque(world, row, imitator, plan, values, rates, soft, is_new)
    squares, learned = squares + fb, learned + ff
    for hinge in range(int(anatomy.hip_hinges)):
        joint = int(world.role[swing, hinge])
        actuate(world, row, joint, along_axis(world, joint, moved), plan.gains[hinge])
        joint = int(world.role[swing, side + hinge])
        reaction = (-upright[0] - moved[0], -upright[1] - moved[1], -upright[2] - moved[2])
        actuate(world, row, joint, along_axis(world, joint, reaction), plan.gains[side + hinge])
    fb, ff = _drive_joints(world, row, imitator, plan, values, rates, soft, is_new)
    return (squares + fb) ** 0.5, (learned + ff) ** 0.5


@kernel
def _target_spin(wanted: Quaternion, yaw: float, roll: float, pitch: float, rates: np.ndarray, turn: float) -> Vector:
    """Angular velocity of a target orientation with its angles' rates (3,) and a turn of the heading [rad/s]."""
    dt = _LOOKAHEAD
    later = from_yaw_roll_pitch(yaw + dt * (rates[0] + turn), roll + dt * rates[1], pitch + dt * rates[2])
    x, y, z = rotation_between(later, wanted)
    return x / dt, y / dt, z / dt


@kernel
def _thigh_torque(
    world: World, row: Row, imitator: Any, plan: Plan, values: np.ndarray, rates: np.ndarray, soft: float, is_new: bool
) -> tuple[Vector, float, float]:
    """Torque vector that turns the swing thigh to its target in the world = heading ∘ lateral ∘ sagittal."""
    head, gain, swing = plan.head[0], plan.gains[0], int(imitator.swing)
    displaced, outward = row.memory[_IMITATOR : _IMITATOR + int(world.anatomy[0].roles)], world.outward[swing, 1]
    at = int(world.anatomy[0].actuators) + THIGHS + 3 * swing
    heading, thigh = imitator.heading, int(world.leg[swing, 0])
    yaw, roll, pitch = heading + values[at], values[at + 1], values[at + 2]
    plain = from_yaw_roll_pitch(yaw, roll, pitch)
    spin = _target_spin(plain, yaw, roll, pitch, rates[at : at + 3], head.turn)
    moved = (
        yaw + outward * displaced[2], roll + outward * displaced[1],
        clamp(pitch + displaced[0], head.hip_low, head.hip_high))  # fmt: skip
    wanted, extra = from_yaw_roll_pitch(moved[0], moved[1], moved[2]), (0.0, 0.0, 0.0)
    followed = wanted
    if head.bins > 0.0:  # a displacement of the target acts as a torque of its own, which is not learned
        followed = plain
        extra = rotation_between(wanted, followed)
    torque, squares, learned = _orientation_torque(
        world, row, imitator, plan, thigh, int(world.role[swing, 0]), soft, gain.kp, gain.kd, gain.limit,
        rotation_between(followed, world.xquat[thigh]), spin, is_new,
    )  # fmt: skip
    balanced = clamp(moved[2] + _balance_feedback(world, imitator, plan, 0), head.hip_low, head.hip_high)
    roll = moved[1] + outward * _balance_feedback(world, imitator, plan, 1)
    answer = rotation_between(from_yaw_roll_pitch(moved[0], roll, balanced), wanted)
    kp, full = soft * gain.kp, gain.kp
    torque = (
        torque[0] + full * extra[0] + kp * answer[0], torque[1] + full * extra[1] + kp * answer[1],
        torque[2] + full * extra[2] + kp * answer[2])  # fmt: skip
    return limit_norm(torque, gain.limit), squares, learned


@kernel
def _orientation_torque(
    world: World, row: Row, imitator: Any, plan: Plan, body: int, channel: int, soft: float, kp: float, kd: float,
    limit: float, error: Vector, spin: Vector, is_new: bool,
) -> tuple[Vector, float, float]:  # fmt: skip
    """Torque vector of a world servo and its learned torque, which has three channels along the heading's axes."""
    is_spin, head = world.cvel[body], plan.head[0]
    kp, kd = soft * kp, soft * kd
    wx, wy, wz = spin[0] - is_spin[0], spin[1] - is_spin[1], spin[2] - is_spin[2]
    if head.bins == 0.0:
        fx, fy, fz = kp * error[0] + kd * wx, kp * error[1] + kd * wy, kp * error[2] + kd * wz
        return (fx, fy, fz), fx * fx + fy * fy + fz * fz, 0.0
    c, s = math.cos(imitator.heading), math.sin(imitator.heading)
    ex, ey = c * error[0] + s * error[1], c * error[1] - s * error[0]
    ux, uy = c * wx + s * wy, c * wy - s * wx
    fx, lx = track(world, row, imitator, plan, channel, kp, kd, limit, ex, ux, is_new)
    fy, ly = track(world, row, imitator, plan, channel + 1, kp, kd, limit, ey, uy, is_new)
    fz, lz = track(world, row, imitator, plan, channel + 2, kp, kd, limit, error[2], wz, is_new)
    tx, ty = fx + lx, fy + ly
    return (c * tx - s * ty, s * tx + c * ty, fz + lz), fx * fx + fy * fy + fz * fz, lx * lx + ly * ly + lz * lz


@kernel
def _drive_joints(
    world: World, row: Row, imitator: Any, plan: Plan, values: np.ndarray, rates: np.ndarray, soft: float, is_new: bool
) -> tuple[float, float]:
    """Servo the joints in their parents' frames; return Σ feedback² and Σ (learned + given feed-forward)²."""
    anatomy, gains, learns = world.anatomy[0], plan.gains, plan.head[0].bins > 0.0
    hinges, side, roles = int(anatomy.hip_hinges), int(anatomy.side_roles), int(anatomy.roles)
    squares, learned_squares, stance_knee = 0.0, 0.0, side + int(anatomy.knee)
    share = imitator.done / step_span(plan, int(imitator.swing))[1]
    for role in range(roles):
        if role < hinges or side <= role < side + hinges:
            continue
        joint = int(world.role[int(imitator.swing), role])
        error, moved = values[joint] - world.qpos[int(world.qadr[joint])], row.memory[_IMITATOR + role]
        rate = rates[joint] - world.qvel[int(world.dof[joint])]
        kp, kd = soft * gains[role].kp, soft * gains[role].kd
        if learns:  # a displacement of the target acts as a torque of its own, which is not learned
            limit, displaced = gains[role].limit, gains[role].kp * moved
            feedback, learned = track(world, row, imitator, plan, joint, kp, kd, limit, error, rate, is_new)
        else:
            feedback, learned, displaced = kp * (error + moved) + kd * rate, 0.0, 0.0
        learned += torque_at(plan.feedforward[role], share)
        squares += feedback * feedback
        learned_squares += learned * learned
        answer = _balance_feedback(world, imitator, plan, role)
        if role == stance_knee:
            answer += plan.head[0].support * imitator.sunk
        actuate(world, row, joint, feedback + learned + displaced + gains[role].kp * answer, gains[role])
    return squares, learned_squares
