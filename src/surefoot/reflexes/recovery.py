"""Steps of another gait that catch a disturbed one: a stumble, and then on as before.

A natural gait bears little: its steps are long and slow. When the hips move much faster or slower than it lets them,
and than they did in the last step, the states of a sturdier gait take over with the leg that swings. They lie behind
the gait's own states in the same graph. After a few steps without a new alarm the gait goes on, at the speed the body
then has. A swing foot that hits something, such as the edge of a step that it did not know of, is an alarm too: its leg
is lifted anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.native.kernels import kernel
from surefoot.reflexes.pose_graph import Graph, enter_state

_RUNS = 2.2  # [m/s] above which no walk can catch a gait
_LATE = 0.22  # [s] after which a step is no longer begun anew: its foot is on its way down
_ENTRY = 1.0  # order of the state a gait goes on with: after short steps no foot trails that could push off
_NEARLY = 0.1  # [m/s] beyond its speeds at which a gait may go on
_LIFTED = 0.12  # [s] after which a swing foot has left the ground
_HIT = 0.1  # of the weight: force that holds a swing foot back when it hits something
_EARLY, _STUBS = 0.75, 2.0  # of a step, before which toes stub the ground; how much it may bear then, by its drag
_SETTLED = 0.6  # of the alarm: the lateral speed at which a gait may go on


@kernel
def recover_balance(graph: Graph, machine: Any, time: float, slowest: float, fastest: float) -> bool:
    """Change to the recovering states or back, when it is time; true when the gait goes on and needs a new speed.

    It goes on between its slowest and its fastest speed [m/s].
    """
    head, state = graph.head[0], graph.states[int(machine.state)]
    first, sideways = int(head.recovery), abs(machine.lateral_v)
    if machine.state < first:
        if machine.gait_speed > _RUNS:
            return False
        ahead = machine.v - max(state.feedback_speed, machine.mean_speed)
        behind = min(state.feedback_speed, machine.mean_speed) - machine.v
        to_stance = machine.lateral_v if state.swing != 0.0 else -machine.lateral_v
        aside = to_stance > head.alarm_stance or -to_stance > head.alarm_swing
        if ahead > head.alarm_ahead or behind > head.alarm_behind or aside:
            begin_recovery(graph, machine, time)
        return False
    if sideways > head.alarm_stance:
        machine.alarm_step = machine.steps
    if state.order != 0.0 or machine.entered != time or machine.steps - machine.alarm_step < head.calm_steps:
        return False
    if sideways > _SETTLED * head.alarm_stance or not slowest - _NEARLY < machine.mean_speed < fastest + _NEARLY:
        return False
    enter_state(machine, _state_from(graph, 0, first, state.swing, _ENTRY), False, time)
    return True


@kernel
def begin_recovery(graph: Graph, machine: Any, time: float) -> None:
    """Go on with the recovering states of the leg that swings, at the beginning of a step or on its way down."""
    _recover_from(graph, machine, 0.0 if time - machine.step_start < _LATE else 1.0, time)


@kernel
def recover_from_trip(graph: Graph, machine: Any, along: float, up: float, time: float) -> None:
    """Lift a leg anew whose foot hits something on its way, by the recovering states.

    `along` and `up` are the force on the swing foot [body weights], ahead and upwards: an edge holds it back.
    """
    head, state = graph.head[0], graph.states[int(machine.state)]
    since = time - machine.step_start
    bears = abs(up) > (_STUBS if since < _EARLY * machine.usual_period else 1.0) * abs(along)
    if along > -_HIT or bears or since < _LIFTED or machine.gait_speed > _RUNS:
        return
    if machine.state < head.recovery or state.order != 0.0:
        _recover_from(graph, machine, 0.0, time)


@kernel
def _recover_from(graph: Graph, machine: Any, order: float, time: float) -> None:
    """Enter the recovering state of the leg that swings whose order is nearest; the alarm is of this step."""
    head, swing = graph.head[0], graph.states[int(machine.state)].swing
    enter_state(machine, _state_from(graph, int(head.recovery), int(head.states), swing, order), False, time)
    machine.alarm_step = machine.steps


@kernel
def _state_from(graph: Graph, first: int, stop: int, swing: float, order: float) -> float:
    """Of the states from `first` to before `stop` that of a leg whose order is nearest."""
    best, least = float(first), np.inf
    for i in range(first, stop):
        miss = abs(graph.states[i].order - order) + (1000.0 if graph.states[i].swing != swing else 0.0)
        if miss < least:
            best, least = float(i), miss
    return best
