"""The law of tracking: servos follow targets that a linear feedback displaces anew in every window.

The motion is a table (`tracking.table`) in the model's numeric data. It is placed in the world where the body is when
it begins, and turned with the commanded heading. At the beginning of every window the law compares the body with the
window's state and sets the displacements of the servos' targets for as long as the window lasts: a control fragment
(Liu, van de Panne, Yin 2016, §3). Displacements come within a hundredth of a second, so that torques do not jump.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.tracking.table import FRAMES, ROOT, Table, has_table, table_of
from surefoot.native.kernels import kernel, noinline, records
from surefoot.native.physics import World
from surefoot.native.userdata import COMMAND_GIVEN, FALL_CAUSES, SLOT, Row
from surefoot.native.vectors import rotation_between, to_heading_frame
from surefoot.reflexes.displacement import steer
from surefoot.reflexes.handover import switch_skill, take_over
from surefoot.reflexes.pose_graph import GAIN
from surefoot.reflexes.servo import actuate, clamp

COMMANDS = {
    "speed": Command("m/s", -10.0, 10.0),  # along the heading, by the pace of the motion
    "heading": Command(DEGREES, -1000.0, 1000.0),  # world yaw
}
SPEED, HEADING = range(2)

PLAN = np.dtype([(n, "f8") for n in (
    *(SLOT.names or ()),
    "number", "table", "feedback", "most", "leash", "homing", "lost", "turn_rate", "speed", "slowest", "fastest",
    "softness")])  # fmt: skip
"""`table` is where it begins in the numeric data, `slowest` and `fastest` the paces that may be commanded. `softness`
is the factor of all gains: a displacement exerts the same torque whatever it is."""
TRACKER = np.dtype([(n, "f8") for n in (
    "began", "clock", "window", "x", "y", "heading", "pace", "loops", "steps", "swing",
    "left_aloft", "right_aloft", "asked", "leave", "enter", "goal", "entered", "entered_at")])  # fmt: skip
"""`began` is 0 at first, and 1 once the motion goes on; 2 leaves the reference where it is said to be. `clock` counts
windows. (`x`, `y`) is where the reference's origin is in the world, and `heading` by how much the
reference is turned. `left_aloft` is for how long the left foot has been in the air [s]. `leave` and `enter` are shares
of the running and of the requested motion at which to switch, −1 if unspecified; `goal` is 1 + the index of the action
graph's node that it goes to, 0 for none. The running motion began in window `entered`, at the time `entered_at`."""
_PLAN, _TRACKER, _GAIN = PLAN.itemsize // 8, TRACKER.itemsize // 8, GAIN.itemsize // 8
_ALMOST = 1e-9  # of a window: the clock is a sum of time steps
_FAR = float(FALL_CAUSES.index("far from its motion"))
_BLEND = 0.01  # [s] in which displacements come
_SWUNG = 0.08  # [s] in the air after which a touch is a footstrike
UNSPECIFIED = -1.0  # share at which to leave or enter
_PATIENCE = 1.0  # [s] after which a requested skill of this controller begins without a footstrike


class Memory(NamedTuple):
    """Views of a row's memory."""

    tracker: Any  # (1,) TRACKER
    wanted: Any  # (actuators,) [rad] displacement of the targets in this window
    applied: Any  # (actuators,) [rad] displacement now
    explore: Any  # (actuators,) [rad] added to the displacements of every window that begins, from outside
    error: Any  # (ROOT + 2 · actuators,) from the window's state, when it began


def slot_size(actuators: int) -> int:
    """Numbers of a parameter slot: the plan, and the servos' gains by actuator."""
    return _PLAN + _GAIN * actuators


def memory_size(actuators: int) -> int:
    """Numbers of a row's memory."""
    return _TRACKER + 5 * actuators + ROOT


@kernel
def memory_of(memory: Any, actuators: int) -> Memory:
    """Lay the views over a row's memory."""
    at = _TRACKER
    return Memory(
        records(memory, 0, 1, TRACKER),
        memory[at : at + actuators],
        memory[at + actuators : at + 2 * actuators],
        memory[at + 2 * actuators : at + 3 * actuators],
        memory[at + 3 * actuators : at + 5 * actuators + ROOT],
    )


@kernel
def law(world: World, row: Row, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    actuators = int(world.anatomy[0].actuators)
    own = memory_of(row.memory, actuators)
    tracker = own.tracker[0]
    if not _knows_its_motion(world, row, actuators):
        _go_limp(world)
        return
    if is_new:
        if take_over(row, tracker, HEADING):
            tracker.leave = tracker.enter = UNSPECIFIED
            _enter(world, row, own, 0.0, actuators)
        _count_steps(world, row, tracker)
        if row.header[0].pending != 0.0 and _may_switch(world, row, tracker, actuators):
            facing = _facing(world, row, tracker, actuators)
            switch_skill(row)
            if not _knows_its_motion(world, row, actuators):
                _go_limp(world)
                return
            _enter(world, row, own, facing, actuators)
            tracker.leave = tracker.enter = UNSPECIFIED
    slot = row.slots[int(row.header[0].active)]
    plan = records(slot, 0, 1, PLAN)[0]
    table = table_of(world.numeric, int(plan.table), actuators)
    if is_new:
        _advance(world, row, own, plan, table, actuators)
    squares = _drive(world, row, own, table, records(slot, _PLAN, actuators, GAIN), plan.softness, actuators)
    report = row.report[0]
    window = _within(tracker.window, table.head[0])
    report.state, report.swing, report.steps = tracker.window, tracker.swing, tracker.steps
    report.phase = clamp(tracker.clock / table.head[0].windows, 0.0, 1.0 - _ALMOST)
    report.heading = tracker.heading + table.states[window, 13]
    report.velocity, report.lateral_velocity = to_heading_frame(report.heading, world.qvel[0], world.qvel[1])
    report.feedback = math.sqrt(squares)


@kernel
def _knows_its_motion(world: World, row: Row, actuators: int) -> bool:
    """Whether the active skill's table is where its parameters say; a row that was overwritten by hand may not."""
    plan = records(row.slots[int(row.header[0].active)], 0, 1, PLAN)[0]
    return has_table(world.numeric, plan.table, actuators)  # type: ignore[no-any-return]


@kernel
def _go_limp(world: World) -> None:
    """Exert no torque."""
    for joint in range(len(world.ctrl)):
        world.ctrl[joint] = 0.0


@kernel
def _within(clock: float, head: Any) -> int:
    """The window that a clock, in windows, is in; the nearest one if it is beyond the motion's ends."""
    return int(clamp(clock + _ALMOST, 0.0, head.windows - 1.0))


@kernel
def _count_steps(world: World, row: Row, tracker: Any) -> None:
    """A foot that touches after a while in the air makes a step; the other leg is the one that swings next."""
    before = tracker.steps
    if row.touch[0] != 0.0 and tracker.left_aloft >= _SWUNG:
        tracker.steps, tracker.swing = tracker.steps + 1.0, 1.0
    if row.touch[1] != 0.0 and tracker.right_aloft >= _SWUNG:
        tracker.steps, tracker.swing = tracker.steps + 1.0, 0.0
    tracker.left_aloft = 0.0 if row.touch[0] != 0.0 else tracker.left_aloft + world.dt
    tracker.right_aloft = 0.0 if row.touch[1] != 0.0 else tracker.right_aloft + world.dt
    tracker.asked = tracker.asked + world.dt if row.header[0].pending != 0.0 and tracker.steps == before else 0.0


@kernel
def _may_switch(world: World, row: Row, tracker: Any, actuators: int) -> bool:
    """Whether the motion is left now for the one that is requested.

    That is where the edge of an action graph says; without an edge, where a step begins, or after a while.
    """
    if tracker.leave < 0.0:
        return tracker.asked == 0.0 or tracker.asked >= _PATIENCE  # type: ignore[no-any-return]
    plan = records(row.slots[int(row.header[0].active)], 0, 1, PLAN)[0]
    head = table_of(world.numeric, int(plan.table), actuators).head[0]
    step = tracker.pace * world.dt / head.window
    ahead = math.floor(tracker.leave * head.windows + 0.5) - tracker.clock
    if head.back_to == 0.0:
        ahead -= head.windows * math.floor((ahead - _ALMOST) / head.windows)
        return ahead <= step + _ALMOST  # type: ignore[no-any-return]
    return ahead <= step + _ALMOST or tracker.clock >= head.windows - 1.0  # type: ignore[no-any-return]


@kernel
def _advance(world: World, row: Row, own: Memory, plan: Any, table: Table, actuators: int) -> None:
    """Move the clock on; at the beginning of a window, compare and displace."""
    tracker, head = own.tracker[0], table.head[0]
    if tracker.began != 1.0:
        if tracker.began == 0.0:
            _place(world, tracker, table, _within(tracker.clock, head))
        tracker.began, tracker.window = 1.0, -1.0
    else:
        tracker.clock += tracker.pace * world.dt / head.window
        if tracker.clock >= head.windows - _ALMOST:
            _go_on(tracker, head)
        _turn(world, row, tracker, plan, table)
    window = _within(tracker.clock, head)
    step = tracker.pace * world.dt / head.window
    if window != int(tracker.window) or tracker.clock - window < (1.0 - 1e-6) * step:  # a held window begins anew
        tracker.window = float(window)
        tracker.pace = 1.0
        if row.commands[COMMAND_GIVEN + SPEED] != 0.0 and plan.speed != 0.0:
            tracker.pace = clamp(row.commands[SPEED] / plan.speed, plan.slowest, plan.fastest)
        _compare(world, own, plan, table, window, actuators)
        if plan.lost > 0.0 and abs(own.error[2]) > plan.lost and row.clock[0].fallen_at > world.time:
            row.clock[0].fallen_at, row.clock[0].fall_cause = world.time, _FAR
        _displace(own, plan, table, window, actuators)
    share = min(world.dt / _BLEND, 1.0)
    for joint in range(actuators):
        own.applied[joint] += share * (own.wanted[joint] - own.applied[joint])


@kernel
def _place(world: World, tracker: Any, table: Table, window: int) -> None:
    """Place the reference in the world so that a window begins where the body is."""
    c, s = math.cos(tracker.heading), math.sin(tracker.heading)
    x, y = table.states[window, 0], table.states[window, 1]
    tracker.x, tracker.y = world.qpos[0] - (c * x - s * y), world.qpos[1] - (s * x + c * y)


@kernel
def _go_on(tracker: Any, head: Any) -> None:
    """After the last window comes `back_to`, moved by the way and turned by the turn of what lies between."""
    tracker.clock -= head.windows - head.back_to
    tracker.loops += 1.0
    c, s = math.cos(tracker.heading), math.sin(tracker.heading)
    tracker.x += c * head.travel_x - s * head.travel_y
    tracker.y += s * head.travel_x + c * head.travel_y
    tracker.heading += head.turn


@kernel
def _turn(world: World, row: Row, tracker: Any, plan: Any, table: Table) -> None:
    """Turn the reference to the commanded heading, about where its root is now."""
    if row.commands[COMMAND_GIVEN + HEADING] == 0.0:
        return
    window = min(max(int(tracker.window), 0), int(table.head[0].windows) - 1)
    before = tracker.heading
    steer(tracker, row.commands[HEADING], plan.turn_rate, world.dt)
    x, y = table.states[window, 0], table.states[window, 1]
    c, s = math.cos(before), math.sin(before)
    tracker.x, tracker.y = tracker.x + c * x - s * y, tracker.y + s * x + c * y
    c, s = math.cos(tracker.heading), math.sin(tracker.heading)
    tracker.x, tracker.y = tracker.x - c * x + s * y, tracker.y - s * x - c * y


@kernel
def _compare(world: World, own: Memory, plan: Any, table: Table, window: int, actuators: int) -> None:
    """Write the difference of the body from a window's state, along the window's heading.

    A body that is beside the path is taken for one that goes too fast away from it, so that feedback brings it back.
    """
    tracker, state, error = own.tracker[0], table.states[window], own.error
    heading = tracker.heading + state[13]
    c, s = math.cos(tracker.heading), math.sin(tracker.heading)
    x, y = tracker.x + c * state[0] - s * state[1], tracker.y + s * state[0] + c * state[1]
    x, y = to_heading_frame(heading, world.qpos[0] - x, world.qpos[1] - y)
    error[0], error[1] = clamp(x, -plan.leash, plan.leash), clamp(y, -plan.leash, plan.leash)
    error[2] = world.qpos[2] - state[2]
    c, s = math.cos(0.5 * tracker.heading), math.sin(0.5 * tracker.heading)
    turned = (
        c * state[3] - s * state[6], c * state[4] - s * state[5], c * state[5] + s * state[4],
        c * state[6] + s * state[3])  # fmt: skip
    off = rotation_between(turned, world.qpos[3:7])  # takes the body to the window's rotation
    x, y = to_heading_frame(heading, off[0], off[1])
    error[3], error[4], error[5] = -x, -y, -off[2]
    c, s = math.cos(tracker.heading), math.sin(tracker.heading)
    x, y = c * state[7] - s * state[8], s * state[7] + c * state[8]
    error[6], error[7] = to_heading_frame(heading, world.qvel[0] - x, world.qvel[1] - y)
    error[6], error[7] = error[6] + plan.homing * error[0], error[7] + plan.homing * error[1]
    error[8] = world.qvel[2] - state[9]
    for k in range(3):
        error[9 + k] = world.qvel[3 + k] - state[10 + k]
    for joint in range(actuators):
        error[ROOT + joint] = world.qpos[int(world.qadr[joint])] - state[15 + joint]
        rate = world.qvel[int(world.dof[joint])]
        error[ROOT + actuators + joint] = rate - tracker.pace * state[15 + actuators + joint]


@kernel
def _displace(own: Memory, plan: Any, table: Table, window: int, actuators: int) -> None:
    """Set the displacements of a window: its offsets, and what its feedback answers."""
    error, count = own.error, ROOT + 2 * actuators
    for joint in range(actuators):
        answer, row = 0.0, table.gains[window, joint]
        for k in range(count):
            answer += row[k] * error[k]
        moved = clamp(plan.feedback * answer + own.explore[joint], -plan.most, plan.most)
        own.wanted[joint] = table.offsets[window, joint] + moved


@kernel
def _drive(
    world: World, row: Row, own: Memory, table: Table, gains: Any, softness: float, actuators: int
) -> float:  # fmt: skip
    """Servo all joints to the reference and their displacements; return √Σ torque² [N·m].

    Softer servos exert the torques of the learned motion all the same: they feed them forward, and are soft only
    against what departs from it.
    """
    tracker, head, squares = own.tracker[0], table.head[0], 0.0
    clock = clamp(tracker.clock, 0.0, head.windows)
    place = clock * FRAMES
    frame = min(int(place), int(head.windows) * FRAMES - 1)
    share = place - frame
    window = min(int(clock), int(head.windows) - 1)
    after = window + 1 if window + 1 < head.windows else int(head.back_to)
    here, there, between = table.states[window], table.states[after], clock - window
    forward = 1.0 / softness - 1.0
    for joint in range(actuators):
        angle = table.angles[frame, joint] + share * (table.angles[frame + 1, joint] - table.angles[frame, joint])
        rate = table.rates[frame, joint] + share * (table.rates[frame + 1, joint] - table.rates[frame, joint])
        target, moves = angle + own.applied[joint] / softness, rate
        if forward != 0.0:
            i = 15 + joint
            target += forward * (angle - (here[i] + between * (there[i] - here[i])))
            i += actuators
            moves += forward * (rate - (here[i] + between * (there[i] - here[i])))
        torque = gains[joint].kp * (target - world.qpos[int(world.qadr[joint])])
        torque += gains[joint].kd * (tracker.pace * moves - world.qvel[int(world.dof[joint])])
        torque = actuate(world, row, joint, torque, gains[joint])
        squares += torque * torque
    return squares


@kernel
def _yaw(state: Any) -> float:
    """Rotation about the vertical of the root in a window's state [rad]."""
    sign = -1.0 if state[3] < 0.0 else 1.0
    return 2.0 * math.atan2(sign * state[6], sign * state[3])


@kernel
def _facing(world: World, row: Row, tracker: Any, actuators: int) -> float:
    """Direction in the world in which the root of the motion faces that is left, where its next window begins [rad]."""
    plan = records(row.slots[int(row.header[0].active)], 0, 1, PLAN)[0]
    table = table_of(world.numeric, int(plan.table), actuators)
    head = table.head[0]
    window, turned = int(tracker.clock + tracker.pace * world.dt / head.window + _ALMOST), 0.0
    if window >= int(head.windows):
        window, turned = int(head.back_to), head.turn
    return tracker.heading + turned + _yaw(table.states[window])  # type: ignore[no-any-return]


@noinline
def _enter(world: World, row: Row, own: Memory, facing: float, actuators: int) -> None:
    """Begin the active skill.

    Along the edge of an action graph it begins where the edge says, and its root faces as that of the motion did that
    was left. Without an edge it begins where it is most like the body, or if it is followed once at its beginning,
    and faces as the last report said.
    """
    tracker = own.tracker[0]
    plan = records(row.slots[int(row.header[0].active)], 0, 1, PLAN)[0]
    table = table_of(world.numeric, int(plan.table), actuators)
    best, least, heading = 0, np.inf, row.report[0].heading
    windows = int(table.head[0].windows) if table.head[0].back_to == 0.0 else 1
    if tracker.enter >= 0.0:
        best, windows = int(tracker.enter * table.head[0].windows + 0.5) % int(table.head[0].windows), 0
    forward, left = to_heading_frame(heading, world.qvel[0], world.qvel[1])
    for window in range(windows):
        state, off = table.states[window], 0.0
        for joint in range(actuators):
            angle = world.qpos[int(world.qadr[joint])] - state[15 + joint]
            rate = world.qvel[int(world.dof[joint])] - state[15 + actuators + joint]
            off += angle * angle + _RATES * rate * rate
        x, y = to_heading_frame(state[13], state[7], state[8])
        off += (forward - x) ** 2 + (left - y) ** 2 + _HEIGHT * (world.qpos[2] - state[2]) ** 2
        if off < least:
            best, least = window, off
    tracker.began, tracker.clock, tracker.pace, tracker.asked = 0.0, float(best), 1.0, 0.0
    tracker.entered, tracker.entered_at = float(best), world.time
    tracker.heading = heading - table.states[best, 13] if tracker.enter < 0.0 else facing - _yaw(table.states[best])
    if row.header[0].family == 0.0:
        row.commands[HEADING] = tracker.heading


_RATES, _HEIGHT = 0.01, 10.0  # [s²], [1/m²] weights of rates and of the height in the search for a window to begin in
