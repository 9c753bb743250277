"""SIMBICON: simple biped locomotion control (Yin, Loken, van de Panne 2007), §3 and §6.

Roles, in the order of every table: swing hip, knee, ankle, then stance hip, knee, ankle. Angles are
positive counter-clockwise with x to the right: hip forward, torso back, toes up, knee flexion negative.
"""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import kernel, records
from surefoot.reflexes.balance import distance_to_stance_ankle, hip_midpoint, hip_velocity, pitch, pitch_rate
from surefoot.reflexes.feedback_error import LEARNER, bin_of, learn
from surefoot.reflexes.pose_graph import MACHINE, advance, balanced_target, graph_of
from surefoot.reflexes.servo import actuate, clamp, nearest_turn, servo
from surefoot.reflexes.speed import lean_for_speed

SWING_HIP, STANCE_HIP = 0, 3

COMMANDS = ("lean", "speed")  # [rad] of the torso, forward negative; [m/s] along x
RANGES = {"lean": (-1.0, 1.0), "speed": (-3.0, 5.0)}
LEAN, SPEED, SPEED_GIVEN = 0, 1, 2

LEARNER_AT = MACHINE.itemsize // 8  # the memory holds a MACHINE, then the torso's LEARNER
MEMORY_SIZE = LEARNER_AT + LEARNER.itemsize // 8


@kernel
def law(world: Any, row: Any, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    roles = int(world.anatomy[0].roles)
    machine = records(row.memory, 0, 1, MACHINE)[0]
    if is_new:
        advance(row, machine, roles, world.time, world.dt)
    graph = graph_of(row.slots[int(row.header[0].active)], roles)
    at = int(machine.state)
    head, state, gains = graph.head[0], graph.states[at], graph.gains
    swing = int(state.swing)
    stance = 1 - swing

    d = distance_to_stance_ankle(world, stance)
    v = hip_velocity(world)
    for role in range(roles):
        if role != SWING_HIP and role != STANCE_HIP:  # joints that follow their parent's frame
            joint = int(world.role[swing, role])
            error = balanced_target(graph, at, role, d, v) - world.qpos[int(world.qadr[joint])]
            rate = world.qvel[int(world.dof[joint])]
            torque = servo(gains[role], error, rate)
            actuate(world, joint, torque, gains[role].limit)

    # §3.3, eq. 1: the swing hip's target, in the world frame, answers d and v
    target = clamp(balanced_target(graph, at, SWING_HIP, d, v), head.hip_low, head.hip_high)
    thigh = int(world.leg[swing, 0])
    torque_b = servo(gains[SWING_HIP], nearest_turn(target - pitch(world, thigh)), pitch_rate(world, thigh))
    torque_b = actuate(world, int(world.role[swing, SWING_HIP]), torque_b, gains[SWING_HIP].limit)

    # §3.2: a virtual servo holds the torso in the world frame; the stance hip makes it real
    trunk = int(world.anatomy[0].trunk)
    lean = row.commands[LEAN]
    if row.commands[SPEED_GIVEN] != 0.0:
        if is_new:
            lean_for_speed(machine, hip_midpoint(world, 0), world.time, row.commands[SPEED])
        lean += machine.lean
    error = nearest_turn(state.torso + lean - pitch(world, trunk))
    feedback = head.torso_kp * error - head.torso_kd * pitch_rate(world, trunk)
    feedforward = 0.0
    if head.bins > 0.0:  # §6: what has been learned is added to the feedback it is learned from
        here = bin_of(swing, int(head.bins), machine.phase)
        feedforward = row.table[here]
        if is_new and head.learning_rate > 0.0:
            learner = records(row.memory, LEARNER_AT, 1, LEARNER)[0]
            learn(row.table, learner, here, head.learning_rate, head.learning_limit * head.torso_kp, feedback)
    torque_torso = clamp(feedback + feedforward, -head.torso_limit, head.torso_limit)
    actuate(world, int(world.role[swing, STANCE_HIP]), -torque_torso - torque_b, gains[STANCE_HIP].limit)

    report = row.report[0]
    report.state, report.swing, report.steps = machine.state, state.swing, machine.steps
    report.phase = 0.5 * (machine.phase + (1.0 if state.swing == 0.0 else 0.0))
    report.distance, report.velocity = d, v
    report.feedback, report.feedforward = feedback, feedforward
