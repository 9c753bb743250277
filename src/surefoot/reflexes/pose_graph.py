"""The finite state machine of SIMBICON §3.1: states that end by time or by contact, and switching.

A graph lies in a parameter slot as one `GRAPH` record, the gains of every role, and for each state a
`STATE` record, a target angle, two feedback gains and factors of the servo gains for every role.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import block, kernel, records
from surefoot.native.userdata import SLOT, Row

TIMED, CONTACT, LANDING, HOLD, BEARING = 0.0, 1.0, 2.0, 3.0, 4.0
"""How a state ends: by time, when the swing foot touches, when any does, by a request, when the stance foot does."""
CAPACITY = 16  # states a slot has room for; what lies behind them is the controller's own

GRAPH = np.dtype([(n, "f8") for n in (
    *(SLOT.names or ()), "states", "entry_order", "entry_phase", "exit_order", "exit_phase",
    "torso_kp", "torso_kd", "torso_limit", "hip_low", "hip_high",
    "learning_rate", "learning_limit", "bins", "softness", "alarm", "reaction_delay", "reaction_time",
    "true_com", "delay", "noise_distance", "noise_velocity", "turn_rate",
    "arm_swing", "arm_circle", "load_lean", "ease", "level_head", "uneven_lift",
    "knots", "entries", "usual_speed", "gap_low", "gap_high", "slope_angle",
    "recovery", "alarm_ahead", "alarm_behind", "alarm_stance", "alarm_swing", "calm_steps")])  # fmt: skip
STATE = np.dtype([(n, "f8") for n in (
    "ending", "duration", "next", "swing", "both", "order", "torso", "torso_roll", "torso_yaw",
    "push_off", "trailing_push_off", "feedback_speed")])  # fmt: skip
GAIN = np.dtype([(n, "f8") for n in ("kp", "kd", "limit")])
MACHINE = np.dtype([(n, "f8") for n in (
    "state", "previous", "entered", "step_start", "period", "steps", "phase", "usual_period",
    "speed_step", "speed_time", "speed_x", "speed_y", "lean", "gait_speed", "mean_speed",
    "speed_trim", "alarm_step", "swing_load", "stance_load",
    "uneven", "strike_x", "strike_y", "strike_z", "slope", "foothold_step", "foothold_x", "foothold_y", "foothold_z",
    "heading", "alarmed", "random", "measured", "d", "v", "lateral_d", "lateral_v")])  # fmt: skip

_PERIOD_RATE = 0.05  # share of the last step's duration in the estimate of the usual one

_GRAPH, _STATE, _GAIN = GRAPH.itemsize // 8, STATE.itemsize // 8, GAIN.itemsize // 8


class Graph(NamedTuple):
    """Views of one compiled pose graph."""

    head: Any  # (1,) GRAPH
    gains: Any  # (roles,) GAIN
    states: Any  # (capacity,) STATE
    targets: Any  # (capacity, roles) [rad]
    feedback: Any  # (capacity, roles, 2) [rad/m], [rad·s/m]
    stiffness: Any  # (capacity, roles) factor of kp
    damping: Any  # (capacity, roles) factor of kd


def slot_size(capacity: int, roles: int) -> int:
    """Numbers in a slot for at most `capacity` states."""
    return _GRAPH + roles * _GAIN + capacity * (_STATE + 5 * roles)


@kernel
def graph_of(slot: np.ndarray, roles: int) -> Graph:
    """Lay the views of a graph over a slot."""
    capacity = min(CAPACITY, (len(slot) - _GRAPH - _GAIN * roles) // (_STATE + 5 * roles))
    at = _GRAPH
    gains = records(slot, at, roles, GAIN)
    at += _GAIN * roles
    states = records(slot, at, capacity, STATE)
    at += _STATE * capacity
    targets = block(slot, at, (capacity, roles))
    at += capacity * roles
    feedback = block(slot, at, (capacity, roles, 2))
    at += 2 * capacity * roles
    stiffness = block(slot, at, (capacity, roles))
    at += capacity * roles
    damping = block(slot, at, (capacity, roles))
    return Graph(records(slot, 0, 1, GRAPH), gains, states, targets, feedback, stiffness, damping)


@kernel
def balanced_target(graph: Graph, at: int, role: int, d: float, v: float) -> float:
    """Target angle of a role in a state, answering d [m] and v [m/s] of its plane: θd = θd0 + F [d, v] (eq. 1)."""
    return graph.targets[at, role] + graph.feedback[at, role, 0] * d + graph.feedback[at, role, 1] * v  # type: ignore[no-any-return]


@kernel
def advance(row: Row, machine: Any, roles: int, time: float, dt: float) -> None:
    """Leave every state whose end has come; a contact state whose contact is there takes no time."""
    for _ in range(32):  # more than any graph's states in one cycle: no graph can spin for ever
        graph = graph_of(row.slots[int(row.header[0].active)], roles)
        state = graph.states[int(machine.state)]
        if row.header[0].pending != 0.0 and _may_switch_now(row, machine, state, roles, time):
            _change_skill(row, machine, state.swing, state.order, roles, time)
            continue
        if not _is_over(state, machine, row.touch, time, dt):
            break
        following = graph.states[int(state.next)]
        if row.header[0].pending != 0.0 and _waited_for(row, roles)[0] < 0.0:
            _change_skill(row, machine, following.swing, following.order, roles, time)
        else:
            enter_state(machine, state.next, following.swing != state.swing, time)
    _keep_phase(machine, time)


@kernel
def _is_over(state: Any, machine: Any, touch: np.ndarray, time: float, dt: float) -> bool:
    if state.ending == TIMED:
        return time - machine.entered >= state.duration - 0.5 * dt  # type: ignore[no-any-return]
    if state.ending == CONTACT:
        return touch[int(state.swing)] != 0.0  # type: ignore[no-any-return]
    if state.ending == LANDING:
        return touch[0] != 0.0 or touch[1] != 0.0  # type: ignore[no-any-return]
    if state.ending == BEARING:
        return touch[1 - int(state.swing)] != 0.0  # type: ignore[no-any-return]
    return False


@kernel
def enter_state(machine: Any, state: float, exchanges_legs: bool, time: float) -> None:
    """Enter a state; an exchange of legs begins a new step and renews the estimate of its period."""
    machine.previous = machine.state
    machine.state = state
    machine.entered = time
    if exchanges_legs:
        machine.period = time - machine.step_start
        known = machine.usual_period > 0.0
        machine.usual_period += (_PERIOD_RATE if known else 1.0) * (machine.period - machine.usual_period)
        machine.step_start = time
        machine.steps += 1.0


@kernel
def _requested(row: Row, roles: int) -> Graph:
    return graph_of(row.slots[1 - int(row.header[0].active)], roles)


@kernel
def _waited_for(row: Row, roles: int) -> tuple[float, float]:
    """Phase a pending request waits for and the order it enters at; phase −1 if it waits for none.

    The phase the requested skill wants to be entered at comes first, then the one this skill is best left at.
    """
    wanted = _requested(row, roles).head[0]
    if wanted.entry_phase >= 0.0:
        return wanted.entry_phase, wanted.entry_order
    left = graph_of(row.slots[int(row.header[0].active)], roles).head[0]
    return left.exit_phase, left.exit_order


@kernel
def _may_switch_now(row: Row, machine: Any, state: Any, roles: int, time: float) -> bool:
    """A held state can be left at any time, any other at the phase the request waits for."""
    if state.ending == HOLD:
        return True
    phase = _waited_for(row, roles)[0]
    before = row.clock[0].advanced - machine.step_start  # at the physics step before this one
    return phase >= 0.0 and before < phase * machine.period <= time - machine.step_start  # type: ignore[no-any-return]


@kernel
def _change_skill(row: Row, machine: Any, swing: float, order: float, roles: int, time: float) -> None:
    """Activate the requested graph at the state of the same leg and order (n → n + 1 of §4)."""
    graph = _requested(row, roles)
    old = graph_of(row.slots[int(row.header[0].active)], roles).states[int(machine.state)]
    if old.ending == HOLD:
        order = 0.0
    else:
        phase, wanted_order = _waited_for(row, roles)
        if phase >= 0.0:
            order = wanted_order
    best = _state_of(graph, swing, order)
    row.header[0].active = 1.0 - row.header[0].active
    row.header[0].pending = 0.0
    enter_state(machine, best, old.swing != swing, time)


@kernel
def begin_at(machine: Any, graph: Graph, swing: float, time: float) -> None:
    """Begin with the first state in which a leg swings."""
    machine.state = machine.previous = _state_of(graph, swing, 0.0)
    machine.entered = machine.step_start = time


@kernel
def _state_of(graph: Graph, swing: float, order: float) -> float:
    """The state of a leg whose order is nearest."""
    best, least = 0.0, np.inf
    for i in range(int(graph.head[0].states)):
        candidate = graph.states[i]
        miss = abs(candidate.order - order) + (1000.0 if candidate.swing != swing else 0.0)
        if miss < least:
            best, least = float(i), miss
    return best


@kernel
def _keep_phase(machine: Any, time: float) -> None:
    """Phase of the present step in [0, 1), from the duration of the last one (§6: φ = t/T̂)."""
    machine.phase = 0.0
    if machine.period > 0.0:
        machine.phase = min((time - machine.step_start) / machine.period, 1.0 - 1e-9)
