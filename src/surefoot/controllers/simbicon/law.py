"""SIMBICON: simple biped locomotion control (Yin, Loken, van de Panne 2007), §3 and §6, planar and in 3D.

Roles are ordered alike in every table: the joints of the swing leg's side, hip first, those of the stance leg's side,
then those of neither side. Flexion is positive counter-clockwise with x to the right: hip forward, torso back, toes up;
a bent knee is negative. Roll and yaw of limbs are positive outward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.controllers.command import DEGREES, Command
from surefoot.native.kernels import array_kernel, kernel, noinline, records
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, from_yaw_roll_pitch, limit_norm, norm, rotation_between, to_heading_frame
from surefoot.reflexes.balance import (
    SAMPLE,
    distance_to_stance_ankle,
    hip_midpoint,
    hip_velocity,
    lean_for_speed,
    over_stance_ankle,
    pitch,
    pitch_rate,
    random_state,
    reaction_stiffness,
    sense_balance,
)
from surefoot.reflexes.displacement import SLOPE_LEAN, displace_arm, displace_leg, steer
from surefoot.reflexes.feedback_error import LEARNER, bin_of, feed_forward
from surefoot.reflexes.handover import ASKED, take_over
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.pose_graph import (
    CAPACITY,
    MACHINE,
    Graph,
    advance,
    balanced_target,
    begin_at,
    graph_of,
    slot_size,
)
from surefoot.reflexes.recovery import begin_recovery, recover_balance, recover_from_trip
from surefoot.reflexes.report import cycle_phase, report_measured
from surefoot.reflexes.servo import actuate, along_axis, clamp, nearest_turn, servo, world_servo
from surefoot.reflexes.speed_schedule import (
    MOST_SLOPE,
    find_slope,
    find_unevenness,
    follow_speed,
    schedule_of,
    set_gait_speed,
)

SWING_HIP = 0
_TRIM_ROOM = 0.03  # [m/s] above the slowest gait of a table: what is missing has to be made up for both ways
_SLOW_ENOUGH, _SLOW_STEPS = 0.05, 0.2  # [m/s] above its slowest gait, to hand the body over to another controller
_LEVEL, _PATIENCE = 0.03, 7.5  # [rad] of slope, [s]

COMMANDS = {
    "lean": Command(DEGREES, -1.0, 1.0),  # of the torso, forward negative
    "speed": Command("m/s", -3.0, 5.0),  # along the heading
    "heading": Command(DEGREES, -1000.0, 1000.0),  # world yaw
    "sideways": Command(DEGREES, -0.4, 0.4),  # of the swing leg, away from the way to go: positive walks to the left
    "width": Command(DEGREES, -0.2, 0.4),  # of the swing leg outward: widens the stance
    "slope": Command(DEGREES, -0.6, 0.6),  # of the ground ahead
    "lift": Command(DEGREES, -0.3, 1.0),  # by which the swing thigh is lifted further, for steps
}
PLANAR_COMMANDS = ("lean", "speed")
LEAN, SPEED, HEADING, SIDEWAYS, WIDTH, SLOPE, LIFT, SPEED_GIVEN = range(8)

# The memory: a MACHINE, displacements of the targets, a LEARNER for every learned torque, delayed samples.
_MACHINE, _LEARNER, _SAMPLE = MACHINE.itemsize // 8, LEARNER.itemsize // 8, SAMPLE.itemsize // 8
_graph_size = kernel(slot_size)


def memory_size(roles: int, channels: int, samples: int) -> int:
    """Numbers of memory for so many roles, learned torques and delayed samples."""
    return _MACHINE + roles + _LEARNER * channels + _SAMPLE * samples


@array_kernel
def learners_of(memory: np.ndarray, roles: int, channels: int) -> Any:
    """The LEARNER records of a memory."""
    return records(memory, _MACHINE + roles, channels, LEARNER)


@kernel
def law(world: World, row: Row, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    roles, planar = int(world.anatomy[0].roles), world.anatomy[0].planar != 0.0
    machine = records(row.memory, 0, 1, MACHINE)[0]
    if is_new and take_over(row, machine, HEADING):
        _begin(world, row, machine, roles)
    if is_new:
        advance(row, machine, roles, world.time, world.dt)
    graph = graph_of(row.slots[int(row.header[0].active)], roles)
    state = graph.states[int(machine.state)]
    stance = 1 - int(state.swing)
    if planar:
        machine.d, machine.v = distance_to_stance_ankle(world, stance), hip_velocity(world)
    elif is_new:
        _sense(world, row, machine, graph.head[0], stance, roles)
        _displace(world, row, machine, graph.head[0], int(state.swing), roles)
    if is_new:  # a moment that is evaluated again has the same loads
        machine.swing_load, machine.stance_load = row.contact_force[1 - stance, 2], row.contact_force[stance, 2]
    if is_new and graph.head[0].recovery > 0.0:
        _recover(world, row, machine, graph, 1 - stance, roles)
    if is_new and graph.head[0].knots > 0.0:
        _set_speed(world, row, machine, graph, roles)
    elif is_new and row.commands[SPEED_GIVEN] != 0.0:
        lean_for_speed(machine, hip_midpoint(world, 0), hip_midpoint(world, 1), world.time, row.commands[SPEED])
    if planar:
        feedback, feedforward = _planar_hips(world, row, machine, graph, is_new)
        _drive_joints(world, row, machine, graph, 1.0, is_new)
    else:
        feedback, feedforward = _spatial_hips(world, row, machine, graph, is_new)

    state = graph.states[int(machine.state)]
    row.report[0].state, row.report[0].phase = machine.state, cycle_phase(machine.phase, state.swing)
    report_measured(row, machine, state.swing, feedback, feedforward)


@noinline
def _begin(world: World, row: Row, machine: Any, roles: int) -> None:
    """Go on from the step that another controller has just begun."""
    machine.random = random_state(row.header[0].seed)
    learners = learners_of(row.memory, roles, 3 + int(world.anatomy[0].channels))
    for i in range(len(learners)):
        learners[i].bin = -1.0
    graph = graph_of(row.slots[int(row.header[0].active)], roles)
    begin_at(machine, graph, row.report[0].swing, world.time)
    if graph.head[0].recovery > 0.0:  # a sturdier gait starts from any posture
        begin_recovery(graph, machine, world.time)


@noinline
def _recover(world: World, row: Row, machine: Any, graph: Graph, swing: int, roles: int) -> None:
    """Catch a disturbed gait with the steps of a sturdier one; go on at the speed that the body then has."""
    slowest, fastest, knots = -np.inf, np.inf, int(graph.head[0].knots)
    if knots > 0:
        speeds = schedule_of(row.slots[int(row.header[0].active)], _graph_size(CAPACITY, roles)).speeds
        slowest, fastest = speeds[0], speeds[knots - 1]
    if row.touch[swing] != 0.0 and world.anatomy[0].planar == 0.0:
        weight, force = world.anatomy[0].mass * GRAVITY, row.contact_force[swing]
        ahead, _ = to_heading_frame(machine.heading, force[0], force[1])
        recover_from_trip(graph, machine, ahead / weight, force[2] / weight, world.time)
    if recover_balance(graph, machine, world.time, slowest, fastest):
        machine.gait_speed, machine.speed_trim = machine.mean_speed, 0.0


@noinline
def _set_speed(world: World, row: Row, machine: Any, graph: Graph, roles: int) -> None:
    """Once a step, write the numbers of the gait's speed and of the slope that its feet have found."""
    head, state = graph.head[0], graph.states[int(machine.state)]
    wanted = row.commands[SPEED] if row.commands[SPEED_GIVEN] != 0.0 else head.usual_speed
    slot = row.slots[int(row.header[0].active)]
    schedule, knots = schedule_of(slot, _graph_size(CAPACITY, roles)), int(head.knots)
    wanted = clamp(wanted, schedule.speeds[0] + _TRIM_ROOM, schedule.speeds[knots - 1])
    if head.gap_low < wanted < head.gap_high:
        wanted = head.gap_low if wanted < 0.5 * (head.gap_low + head.gap_high) else head.gap_high
    row.header[0].hold = 0.0
    if row.header[0].handover == ASKED:  # another controller waits for the body: hand it over slowly
        wanted = schedule.speeds[0]
        row.header[0].hold = 0.0 if _is_slow(machine, wanted, world.time - row.header[0].asked) else 1.0
    changed = follow_speed(machine, hip_midpoint(world, 0), hip_midpoint(world, 1), world.time, wanted)
    slope, ankle = 0.0, world.xpos[int(world.leg[1 - int(state.swing), 2])]
    if changed and wanted <= head.gap_low < min(machine.gait_speed, machine.mean_speed) < head.gap_high:
        machine.gait_speed = head.gap_low  # from a run to a walk in one step: gaits between the two fall
    if changed:
        find_unevenness(machine, ankle[0], ankle[1], ankle[2])
    if head.slope_angle > 0.0:
        changed |= find_slope(machine, ankle[0], ankle[1], ankle[2], state.order)
        slope = clamp(machine.slope / head.slope_angle, -MOST_SLOPE, MOST_SLOPE)
    if changed:
        set_gait_speed(slot, schedule, knots, int(head.entries), machine.gait_speed, slope)


@kernel
def _is_slow(machine: Any, slowest: float, waited: float) -> bool:
    """Whether a walk can be handed over: it has come to its slowest gait [m/s], and its steps have too.

    Steps that gravity drives downhill, or a forward lean, may stay faster for ever: it waits [s] only so long.
    """
    hurried = abs(machine.slope) > _LEVEL or waited > _PATIENCE
    follows = machine.mean_speed <= slowest + _SLOW_STEPS or hurried
    return follows and machine.gait_speed <= slowest + _SLOW_ENOUGH  # type: ignore[no-any-return]


@noinline
def _sense(world: World, row: Row, machine: Any, head: Any, stance: int, roles: int) -> None:
    """Follow the commanded heading and measure d and v."""
    steer(machine, row.commands[HEADING], head.turn_rate, world.dt)
    at = _MACHINE + roles + _LEARNER * (3 + int(world.anatomy[0].channels))
    ring = records(row.memory, at, (len(row.memory) - at) // _SAMPLE, SAMPLE)
    sense_balance(machine, ring, head, over_stance_ankle(world, stance, machine.heading, head.true_com != 0.0))


@noinline
def _displace(world: World, row: Row, machine: Any, head: Any, swing: int, roles: int) -> None:
    """Write the displacements that commands and arm styles add to the targets."""
    displaced, commands, anatomy = row.memory[_MACHINE : _MACHINE + roles], row.commands, world.anatomy[0]
    for role in range(roles):
        displaced[role] = 0.0
    side = int(anatomy.side_roles)
    outward = world.outward[swing, SWING_HIP + 1]
    slope = _slope_ahead(row, machine, head)
    lift = commands[LIFT] + head.uneven_lift * machine.uneven  # over an edge that the other foot has found
    displace_leg(anatomy, displaced, 0, outward, commands[SIDEWAYS], commands[WIDTH], slope, lift)
    displaced[side + int(anatomy.ankle)] += slope
    if anatomy.shoulder >= 0.0 and (head.arm_swing != 0.0 or head.arm_circle != 0.0):
        displace_arm(anatomy, displaced, 0, head.arm_swing, head.arm_circle, 0.5 * machine.phase)
        displace_arm(anatomy, displaced, side, head.arm_swing, head.arm_circle, 0.5 * machine.phase + 0.5)


@kernel
def _slope_ahead(row: Row, machine: Any, head: Any) -> float:
    """Slope for which targets are displaced: the commanded one, and while it recovers that which the feet found [rad].

    A gait that knows slopes (`by_slope`) has numbers of its own for what its feet find; its recovering steps do not.
    """
    recovers = head.recovery > 0.0 and machine.state >= head.recovery
    return row.commands[SLOPE] + (machine.slope if recovers else 0.0)  # type: ignore[no-any-return]


@kernel
def _target(world: World, row: Row, machine: Any, graph: Graph, role: int) -> float:
    """Displaced target of a role, with balance feedback from d and v of its plane (§3.3, eq. 1)."""
    at = int(machine.state)
    if world.anatomy[0].planar != 0.0:
        return balanced_target(graph, at, role, machine.d, machine.v)  # type: ignore[no-any-return]
    displacement = row.memory[_MACHINE + role] - _yet_to_ease(world, machine, graph, role)
    if world.plane[role] == 0.0:
        return displacement + balanced_target(graph, at, role, machine.d, machine.v - graph.states[at].feedback_speed)  # type: ignore[no-any-return]
    sign = world.outward[int(graph.states[at].swing), role]
    return displacement + balanced_target(graph, at, role, sign * machine.lateral_d, sign * machine.lateral_v)  # type: ignore[no-any-return]


@kernel
def _yet_to_ease(world: World, machine: Any, graph: Graph, role: int) -> float:
    """What is left of the change of a role's target from the last state to this one [rad]; 0 without `ease`.

    When legs are exchanged, what was the target of a swing joint is that of a stance joint. Hips have none in stance.
    """
    ease, at, before = graph.head[0].ease, int(machine.state), int(machine.previous)
    since = world.time - machine.entered
    if ease <= 0.0 or since >= ease or before == at:
        return 0.0
    side, hinges = int(world.anatomy[0].side_roles), int(world.anatomy[0].hip_hinges)
    was = role
    if graph.states[before].swing != graph.states[at].swing and role < 2 * side:
        if role < hinges or side <= role < side + hinges:
            return 0.0
        was = role + side if role < side else role - side
    return (1.0 - since / ease) * (graph.targets[at, role] - graph.targets[before, was])  # type: ignore[no-any-return]


@kernel
def _to_level_head(world: World, machine: Any, joint: int) -> float:
    """Angle of a hinge of the neck that undoes the trunk's rotation from upright and straight ahead [rad]."""
    upright = from_yaw_roll_pitch(machine.heading, 0.0, 0.0)
    return along_axis(world, joint, rotation_between(upright, world.xquat[int(world.anatomy[0].torso)]))  # type: ignore[no-any-return]


@kernel
def _drive_joints(world: World, row: Row, machine: Any, graph: Graph, soft: float, is_new: bool) -> tuple[float, float]:
    """Servo the joints in their parents' frames; return Σ feedback² and Σ feed-forward² of those that learn."""
    anatomy, gains, head = world.anatomy[0], graph.gains, graph.head[0]
    at, hinges, side, roles = int(machine.state), int(anatomy.hip_hinges), int(anatomy.side_roles), int(anatomy.roles)
    swing, planar, learns = int(graph.states[at].swing), anatomy.planar != 0.0, head.bins > 0.0
    d, v, state, ankle, neck = machine.d, machine.v, graph.states[at], int(anatomy.ankle), int(anatomy.neck)
    levels = head.level_head != 0.0 and neck >= 0
    squares, learned_squares = 0.0, 0.0
    for role in range(roles):
        if role < hinges or side <= role < side + hinges:
            continue
        joint = int(world.role[swing, role])
        target = balanced_target(graph, at, role, d, v) if planar else _target(world, row, machine, graph, role)
        if levels and role >= neck:
            target += _to_level_head(world, machine, joint)
        error = target - world.qpos[int(world.qadr[joint])]
        kp, kd = graph.stiffness[at, role] * gains[role].kp, graph.damping[at, role] * gains[role].kd
        torque = kp * error - kd * world.qvel[int(world.dof[joint])]
        if role == ankle:  # the load times a lever: push-off grows with what the leg bears
            torque -= state.trailing_push_off * machine.swing_load
        elif role == side + ankle:
            torque -= state.push_off * machine.stance_load
        if learns and world.channel[role] >= 0.0:
            torque *= soft
            learned = _learned_torque(
                world, row, machine, graph, 3 + int(world.channel[role]), gains[role].kp, torque, is_new
            )
            squares += torque * torque
            learned_squares += learned * learned
            torque += learned
        actuate(world, row, joint, torque, gains[role])
    return squares, learned_squares


@noinline
def _learned_torque(
    world: World, row: Row, machine: Any, graph: Graph, channel: int, kp: float, feedback: float, is_new: bool
) -> float:
    """§6: the feed-forward torque of a channel at this phase, learned from its feedback [N·m]."""
    head, anatomy = graph.head[0], world.anatomy[0]
    bins, swing = int(head.bins), int(graph.states[int(machine.state)].swing)
    table = row.table[2 * bins * channel : 2 * bins * (channel + 1)]
    learner = learners_of(row.memory, int(anatomy.roles), channel + 1)[channel]
    if machine.usual_period <= 0.0:  # the first step: its phase is not known yet
        return 0.0
    here = bin_of(swing, bins, (world.time - machine.step_start) / machine.usual_period)
    rate = head.learning_rate if is_new else 0.0
    return feed_forward(table, learner, here, rate, head.learning_limit * kp, feedback)  # type: ignore[no-any-return]


@kernel
def _planar_hips(world: World, row: Row, machine: Any, graph: Graph, is_new: bool) -> tuple[float, float]:
    """§3.2 in the sagittal plane; returns the torso's feedback and feed-forward torque [N·m]."""
    head, gains, state = graph.head[0], graph.gains, graph.states[int(machine.state)]
    swing, stance_hip = int(state.swing), int(world.anatomy[0].side_roles)
    # §3.3, eq. 1: the swing hip's target, in the world frame, has feedback from d and v
    target = clamp(_target(world, row, machine, graph, SWING_HIP), head.hip_low, head.hip_high)
    thigh = int(world.leg[swing, 0])
    torque_b = servo(gains[SWING_HIP], nearest_turn(target - pitch(world, thigh)), pitch_rate(world, thigh))
    torque_b = actuate(world, row, int(world.role[swing, SWING_HIP]), torque_b, gains[SWING_HIP])

    # a virtual servo holds the torso in the world frame; the stance hip exerts its torque
    torso = int(world.anatomy[0].torso)
    lean = row.commands[LEAN]
    if row.commands[SPEED_GIVEN] != 0.0:
        lean += machine.lean
    error = nearest_turn(state.torso + lean - pitch(world, torso))
    feedback = head.torso_kp * error - head.torso_kd * pitch_rate(world, torso)
    feedforward = 0.0
    if head.bins > 0.0:  # §6: the learned torque is added to the feedback from which it is learned
        feedforward = _learned_torque(world, row, machine, graph, 0, head.torso_kp, feedback, is_new)
    torque_torso = clamp(feedback + feedforward, -head.torso_limit, head.torso_limit)
    actuate(world, row, int(world.role[swing, stance_hip]), -torque_torso - torque_b, gains[stance_hip])
    return feedback, feedforward


@noinline
def _spatial_hips(world: World, row: Row, machine: Any, graph: Graph, is_new: bool) -> tuple[float, float]:
    """§3.2 with rotations and torque vectors, then all other joints; returns ‖feedback‖ and ‖feed-forward‖ [N·m]."""
    head, state = graph.head[0], graph.states[int(machine.state)]
    swing, side = int(state.swing), int(world.anatomy[0].side_roles)
    # a virtual servo holds the torso in the world frame
    torso = int(world.anatomy[0].torso)
    lean = row.commands[LEAN] + SLOPE_LEAN * _slope_ahead(row, machine, head) + head.load_lean
    if row.commands[SPEED_GIVEN] != 0.0:
        lean += machine.lean
    wanted = from_yaw_roll_pitch(machine.heading + state.torso_yaw, state.torso_roll, state.torso + lean)
    error = rotation_between(wanted, world.xquat[torso])
    soft = reaction_stiffness(machine, head, norm(error), world.time)
    fx, fy, fz = world_servo(soft * head.torso_kp, soft * head.torso_kd, error, world.cvel[torso])
    lx, ly, lz = 0.0, 0.0, 0.0
    if head.bins > 0.0:  # §6
        lx = _learned_torque(world, row, machine, graph, 0, head.torso_kp, fx, is_new)
        ly = _learned_torque(world, row, machine, graph, 1, head.torso_kp, fy, is_new)
        lz = _learned_torque(world, row, machine, graph, 2, head.torso_kp, fz, is_new)
    torque = limit_norm((fx + lx, fy + ly, fz + lz), head.torso_limit)
    if state.both == 0.0:  # the stance hip exerts both: τA = −τtorso − τB, all three components
        moved = _thigh_torque(world, row, machine, graph, swing, 0)
        _drive_hip(world, row, graph, swing, 0, moved)
        _drive_hip(
            world, row, graph, swing, side, (-torque[0] - moved[0], -torque[1] - moved[1], -torque[2] - moved[2])
        )
    elif row.touch[0] == 0.0 and row.touch[1] == 0.0:  # both legs swing
        _drive_hip(world, row, graph, swing, 0, _thigh_torque(world, row, machine, graph, swing, 0))
        _drive_hip(world, row, graph, swing, side, _thigh_torque(world, row, machine, graph, 1 - swing, side))
    else:  # both legs bear
        half = (-0.5 * torque[0], -0.5 * torque[1], -0.5 * torque[2])
        _brace_hip(world, row, machine, graph, 0, half)
        _brace_hip(world, row, machine, graph, side, half)
    squares, learned = _drive_joints(world, row, machine, graph, soft, is_new)
    feedback = (squares + fx * fx + fy * fy + fz * fz) ** 0.5
    return feedback, (learned + lx * lx + ly * ly + lz * lz) ** 0.5


@kernel
def _thigh_torque(world: World, row: Row, machine: Any, graph: Graph, leg: int, first: int) -> Vector:
    """Torque vector that turns a thigh to its target in the world = heading ∘ lateral ∘ sagittal (§3.3).

    The targets are those of the swing hip, for a leg whose roles begin at `first`.
    """
    head, gain, at = graph.head[0], graph.gains[first], int(machine.state)
    outward = world.outward[int(graph.states[at].swing), SWING_HIP + 1]
    flexion = clamp(_target(world, row, machine, graph, SWING_HIP), head.hip_low, head.hip_high)
    lateral = outward * _target(world, row, machine, graph, SWING_HIP + 1)
    yaw = outward * _target(world, row, machine, graph, SWING_HIP + 2)
    if first != SWING_HIP:  # the outward direction of the other leg is the opposite one
        lateral -= 2.0 * outward * _hip_spread(row, graph, at)
        yaw -= 2.0 * outward * graph.targets[at, SWING_HIP + 2]
    thigh, kp, kd = int(world.leg[leg, 0]), graph.stiffness[at, first] * gain.kp, graph.damping[at, first] * gain.kd
    error = rotation_between(from_yaw_roll_pitch(machine.heading + yaw, lateral, flexion), world.xquat[thigh])
    torque = world_servo(kp, kd, error, world.cvel[thigh])
    return limit_norm(torque, gain.limit)


@kernel
def _brace_hip(world: World, row: Row, machine: Any, graph: Graph, first: int, torque: Vector) -> None:
    """Flex a hip by its part of a torque vector; roll and yaw hold the pose, so that two legs form a rigid frame."""
    at, swing = int(machine.state), int(graph.states[int(machine.state)].swing)
    for hinge in range(int(world.anatomy[0].hip_hinges)):
        joint, gain = int(world.role[swing, first + hinge]), graph.gains[first + hinge]
        if hinge == 0:
            exerted = along_axis(world, joint, torque)
        else:
            wanted = _hip_spread(row, graph, at) if hinge == 1 else graph.targets[at, SWING_HIP + hinge]
            error = wanted - world.qpos[int(world.qadr[joint])]
            exerted = servo(gain, error, world.qvel[int(world.dof[joint])])
        actuate(world, row, joint, exerted, gain)


@kernel
def _hip_spread(row: Row, graph: Graph, at: int) -> float:
    """Outward part of the swing hip's roll target: the pose's, plus the commanded width [rad]."""
    return graph.targets[at, SWING_HIP + 1] + row.commands[WIDTH]  # type: ignore[no-any-return]


@kernel
def _drive_hip(world: World, row: Row, graph: Graph, swing: int, first: int, torque: Vector) -> None:
    """Exert a torque vector with a hip's hinges, each its projection on its axis."""
    for hinge in range(int(world.anatomy[0].hip_hinges)):
        joint = int(world.role[swing, first + hinge])
        actuate(world, row, joint, along_axis(world, joint, torque), graph.gains[first + hinge])
