"""Limit cycle control (Laszlo, van de Panne, Fiume 1996).

A pose graph whose joints are servoed in their parents' frames (§5.1), hip twists for turning (§6.3), a torso servo
(§5.3), and a perturbation of one hip's pitch and roll (§3.3), chosen once a step. With trial steps, the planner in
`limit_cycle.planner` writes the perturbation; with a learned model, the law computes it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.limit_cycle.regulation import (
    CYCLE,
    PREDICTED,
    REGULATION,
    TRIALS,
    feature_count,
    predict,
    regulation_variables,
    solve_perturbation,
    write_features,
    yaw_direction,
)
from surefoot.native.kernels import array_kernel, block, kernel, noinline, records
from surefoot.native.physics import World
from surefoot.native.userdata import COMMAND_GIVEN, Row
from surefoot.reflexes.displacement import steer
from surefoot.reflexes.handover import take_over
from surefoot.reflexes.pose_graph import CAPACITY, MACHINE, advance, begin_at, graph_of, slot_size
from surefoot.reflexes.servo import actuate, clamp, nearest_turn, servo

COMMANDS = {
    "speed": Command("m/s", -3.0, 3.0),  # where the pelvis faces; within what the skill can do
    "heading": Command(DEGREES, -1000.0, 1000.0),  # world yaw
    "turn": Command(DEGREES, -0.4, 0.4),  # of hip twist a step, to the left; in place of a heading
    "lean": Command("", -0.2, 0.2),  # added to the forward regulation variable
    "tilt": Command("", -0.2, 0.2),  # added to the lateral one, to the left
}
SPEED, HEADING, TURN, LEAN, TILT = range(5)
GIVEN = COMMAND_GIVEN

HIP_YAW = 2  # place among the hinges of a hip
OUTPUTS = 6  # outputs of a learned model: two outcomes and four derivatives
_MACHINE, _CYCLE, _REGULATION = MACHINE.itemsize // 8, CYCLE.itemsize // 8, REGULATION.itemsize // 8
# Constants beyond the paper; docs/limit_cycle.md gives the reason of each.
_MOST_INTEGRAL = 0.06  # [regulation variable]
_MOST_SURPRISE = 0.1  # [regulation variable]
_SPEED_FILTER = 0.5


def memory_size(features: int) -> int:
    """Numbers of memory for a body whose steps are described by so many features."""
    return _MACHINE + _CYCLE + features


def regulation_size(features: int) -> int:
    """Numbers behind the graph in a slot: REGULATION and the learned model."""
    return _REGULATION + (2 + OUTPUTS) * (features + 1)


@array_kernel
def machine_of(memory: np.ndarray) -> Any:
    """(1,) MACHINE of a memory."""
    return records(memory, 0, 1, MACHINE)


@array_kernel
def cycle_of(memory: np.ndarray) -> Any:
    """(1,) CYCLE of a memory."""
    return records(memory, _MACHINE, 1, CYCLE)


@array_kernel
def features_of(memory: np.ndarray, count: int) -> Any:
    """(count,) how the present step began."""
    return memory[_MACHINE + _CYCLE : _MACHINE + _CYCLE + count]


@array_kernel
def regulation_of(slot: np.ndarray, begin: int) -> Any:
    """(1,) REGULATION of a slot whose graph ends at `begin`."""
    return records(slot, begin, 1, REGULATION)


@array_kernel
def model_of(slot: np.ndarray, begin: int, features: int) -> Any:
    """(2 + OUTPUTS, features + 1) the learned model of a slot whose graph ends at `begin`."""
    at = begin + _REGULATION
    return block(slot, at, (2 + OUTPUTS, features + 1))


_graph_size, _feature_count = kernel(slot_size), kernel(feature_count)


@kernel
def law(world: World, row: Row, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    _control(world, row, is_new)


@noinline
def _control(world: World, row: Row, is_new: bool) -> None:
    roles = int(world.anatomy[0].roles)
    machine, cycle = machine_of(row.memory)[0], cycle_of(row.memory)[0]
    if is_new and take_over(row, machine, HEADING):
        cycle.fresh = 1.0
        begin_at(machine, graph_of(_active_slot(row), roles), row.report[0].swing, world.time)
    if is_new:
        before, swung = machine.steps, int(graph_of(_active_slot(row), roles).states[int(machine.state)].swing)
        advance(row, machine, roles, world.time, world.dt)
        if machine.steps != before or cycle.fresh != 0.0:
            _begin_step(world, row, machine, cycle, swung, roles)
    _drive_joints(world, row, machine, cycle, roles)
    report, swing = row.report[0], graph_of(_active_slot(row), roles).states[int(machine.state)].swing
    report.state, report.swing, report.steps = machine.state, swing, machine.steps
    report.phase = 0.5 * (machine.phase + (1.0 if swing == 0.0 else 0.0))
    report.distance, report.lateral_distance = regulation_variables(world, _regulation(row, roles), int(swing))
    report.velocity, report.lateral_velocity, report.heading = cycle.speed, cycle.sideways, machine.heading
    report.feedback, report.feedforward = cycle.pitch, cycle.roll


@array_kernel
def _active_slot(row: Row) -> Any:
    return row.slots[int(row.header[0].active)]


@kernel
def _regulation(row: Row, roles: int) -> Any:
    return regulation_of(_active_slot(row), _graph_size(CAPACITY, roles))[0]


@noinline
def _begin_step(world: World, row: Row, machine: Any, cycle: Any, swung: int, roles: int) -> None:
    """Measure how the last step ended, set the targets of this one, and choose its perturbation or ask for it."""
    regulation = _regulation(row, roles)
    swing = int(graph_of(_active_slot(row), roles).states[int(machine.state)].swing)
    pelvis = int(world.anatomy[0].pelvis)
    c, s = yaw_direction(world, pelvis)
    x, y = world.xpos[pelvis, 0], world.xpos[pelvis, 1]
    if cycle.fresh == 0.0:
        took = max(world.time - cycle.begun, world.dt)
        ahead, aside = (c * (x - cycle.x) + s * (y - cycle.y)) / took, (c * (y - cycle.y) - s * (x - cycle.x)) / took
        cycle.speed, cycle.sideways = _SPEED_FILTER * (cycle.speed + ahead), _SPEED_FILTER * (cycle.sideways + aside)
        cycle.forward, cycle.lateral = regulation_variables(world, regulation, swung)
        _learn_bias(regulation, cycle)
    else:
        cycle.speed, cycle.sideways = c * world.qvel[0] + s * world.qvel[1], c * world.qvel[1] - s * world.qvel[0]
    cycle.fresh, cycle.begun, cycle.x, cycle.y = 0.0, world.time, x, y
    _set_targets(row, regulation, machine, cycle, swing, math.atan2(s, c))
    count = _feature_count(roles)
    features = features_of(row.memory, count)
    write_features(world, cycle, swing, features)
    cycle.centre_pitch += regulation.recentre * (cycle.pitch - cycle.centre_pitch)
    cycle.centre_roll += regulation.recentre * (cycle.roll - cycle.centre_roll)
    cycle.pitch, cycle.roll, cycle.asked = 0.0, 0.0, 0.0
    if regulation.mode == TRIALS:
        cycle.asked = 1.0
    elif regulation.mode == PREDICTED:
        model = model_of(_active_slot(row), _graph_size(CAPACITY, roles), count)
        cycle.nominal_forward = predict(model, features, 0) + cycle.bias_forward
        cycle.nominal_lateral = predict(model, features, 1) + cycle.bias_lateral
        cycle.forward_by_pitch, cycle.forward_by_roll = predict(model, features, 2), predict(model, features, 3)
        cycle.lateral_by_pitch, cycle.lateral_by_roll = predict(model, features, 4), predict(model, features, 5)
        cycle.pitch, cycle.roll, singular = solve_perturbation(
            regulation, cycle.forward_by_pitch, cycle.forward_by_roll, cycle.lateral_by_pitch, cycle.lateral_by_roll,
            cycle.wanted_forward - cycle.nominal_forward, cycle.wanted_lateral - cycle.nominal_lateral,
        )  # fmt: skip
        cycle.singular += singular


@kernel
def _learn_bias(regulation: Any, cycle: Any) -> None:
    """Correct a model's predictions a little by the outcome of the last step."""
    if regulation.mode == PREDICTED:
        forward = cycle.nominal_forward + cycle.forward_by_pitch * cycle.pitch + cycle.forward_by_roll * cycle.roll
        lateral = cycle.nominal_lateral + cycle.lateral_by_pitch * cycle.pitch + cycle.lateral_by_roll * cycle.roll
        cycle.bias_forward += regulation.bias_rate * clamp(cycle.forward - forward, -_MOST_SURPRISE, _MOST_SURPRISE)
        cycle.bias_lateral += regulation.bias_rate * clamp(cycle.lateral - lateral, -_MOST_SURPRISE, _MOST_SURPRISE)


@kernel
def _set_targets(row: Row, regulation: Any, machine: Any, cycle: Any, swing: int, yaw: float) -> None:
    """Set the wanted regulation variables at the end of this step, and its hip twist (§6.2, §6.3)."""
    commands, side = row.commands, 1.0 if swing == 0 else -1.0
    cycle.wanted_forward = regulation.forward + commands[LEAN]
    is_told = commands[GIVEN + SPEED] != 0.0
    if is_told or regulation.holds != 0.0:
        wanted, rise = commands[SPEED] if is_told else regulation.usual, regulation.speed_rise
        wanted = clamp(wanted, regulation.slowest, regulation.fastest)
        cycle.pace += clamp(wanted - cycle.pace, -rise, rise)
        missed = cycle.pace - cycle.speed
        cycle.faster = clamp(cycle.faster + regulation.speed_integral * missed, -_MOST_INTEGRAL, _MOST_INTEGRAL)
        # RV_d = RV_d* + K (v_d − v)
        cycle.wanted_forward = regulation.speed_bias + regulation.speed_slope * cycle.pace + commands[LEAN]
        cycle.wanted_forward += regulation.speed_gain * missed + cycle.faster
        cycle.torso = regulation.speed_lean * (regulation.speed_upright - cycle.pace)
    else:
        cycle.pace, cycle.torso = cycle.speed, 0.0
    cycle.wanted_lateral = regulation.lateral + side * (commands[TILT] - regulation.side_gain * cycle.sideways)
    if commands[GIVEN + TURN] != 0.0:
        cycle.twist = commands[TURN]
        machine.heading = yaw
    else:
        steer(machine, commands[HEADING], regulation.turn_rate, machine.period)
        most = regulation.most_twist
        cycle.twist = clamp(regulation.twist_gain * nearest_turn(machine.heading - yaw), -most, most)


@kernel
def _drive_joints(world: World, row: Row, machine: Any, cycle: Any, roles: int) -> None:
    """Servo every joint to its target in its parent's frame; a torso servo holds the torso in the world (§5.3)."""
    graph, regulation, anatomy = graph_of(_active_slot(row), roles), _regulation(row, roles), world.anatomy[0]
    at, side, torso = int(machine.state), int(anatomy.side_roles), int(anatomy.torso)
    swing, first = int(graph.states[at].swing), int(regulation.first)
    left = 1.0 if swing == 0 else -1.0  # sign of an outward turn of the swing leg, seen from above
    for role in range(roles):
        joint = int(world.role[swing, role])
        target, rate = graph.targets[at, role], world.qvel[int(world.dof[joint])]
        if role == first:
            target += cycle.pitch
        elif role == first + 1:
            target += cycle.roll
        elif role in (HIP_YAW, side + HIP_YAW):  # figure 17: the swing foot lands turned, the pelvis turns
            target += left * cycle.twist  # over the other
        error = target - world.qpos[int(world.qadr[joint])]
        if role == 2 * side and regulation.servo != 0.0:
            axes, spin = world.xmat[torso], world.cvel[torso]
            c, s = yaw_direction(world, torso)
            error = nearest_turn(regulation.torso + cycle.torso + target - math.atan2(axes[6], axes[8]))
            rate = s * spin[0] - c * spin[1]
        actuate(world, row, joint, servo(graph.gains[role], error, rate), graph.gains[role])
