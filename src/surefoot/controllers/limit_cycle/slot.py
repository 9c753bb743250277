"""Writes a limit-cycle skill into the parameter slot that its law reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import write_header
from surefoot.controllers.limit_cycle import law as limit_cycle
from surefoot.controllers.limit_cycle import regulation as laws
from surefoot.controllers.simbicon import slot as graph
from surefoot.controllers.simbicon.parameters import PoseState
from surefoot.native.kernels import python_impl
from surefoot.reflexes import pose_graph
from surefoot.skills.schema import Skill

_MODES = {"open-loop": laws.OPEN_LOOP, "trials": laws.TRIALS, "predicted": laws.PREDICTED}
_VARIABLES = {"up-vector": laws.UP_VECTOR, "swing-com": laws.SWING_COM, "torso-up-vector": laws.TORSO_UP_VECTOR}


def features(table: CharacterTable) -> int:
    """Numbers that describe how a step of this body begins."""
    return laws.feature_count(len(table.gains))


def slot_size(table: CharacterTable) -> int:
    """Numbers in a parameter slot of this character."""
    return regulation_begin(table) + limit_cycle.regulation_size(features(table))


def regulation_begin(table: CharacterTable) -> int:
    """Where in a slot the numbers behind the graph begin."""
    return pose_graph.slot_size(pose_graph.CAPACITY, len(table.anatomy.roles))


def write_slot(slot: np.ndarray, skill: Skill, table: CharacterTable) -> None:
    """Write a skill's numbers into a slot (at least slot_size,), in place."""
    write_header(slot, skill)
    parameters = skill.parameters
    view = python_impl(pose_graph.graph_of)(slot, len(table.anatomy.roles))
    graph.write_gains(view, skill, table)
    states = [PoseState.model_construct(**dict(state)) for state in parameters.states]
    view.head[0].states = graph.write_states(view, states, 2, True, 0, table)
    _write_regulation(python_impl(limit_cycle.regulation_of)(slot, regulation_begin(table))[0], parameters, table)
    if parameters.model:
        model = python_impl(limit_cycle.model_of)(slot, regulation_begin(table), features(table))
        model[0, :-1], model[1, :-1] = parameters.model.mean, parameters.model.scale
        model[2:] = parameters.model.weights


def _write_regulation(record: Any, parameters: Any, table: CharacterTable) -> None:
    given, twist, speed = parameters.regulation, parameters.twist, parameters.speed
    record.mode, record.variable = _MODES[given.control], _VARIABLES[given.variable]
    record.full = given.jacobian == "full"
    record.first = len(table.anatomy.side_roles) if given.perturbed == "stance-hip" else 0
    for name in ("forward", "lateral", "least", "trial", "side_gain", "bias_rate", "recentre"):
        record[name] = getattr(given, name)
    record.most_pitch, record.most_roll = given.most
    record.servo, record.torso = parameters.torso_servo, parameters.torso
    record.twist_gain, record.most_twist, record.turn_rate = twist.gain, twist.most, twist.turn_rate
    if speed:
        for name in ("bias", "slope", "gain", "integral", "rise", "lean", "upright"):
            record[f"speed_{name}"] = getattr(speed, name)
        record.slowest, record.fastest = speed.range
        record.holds, record.usual = speed.usual is not None, speed.usual or 0.0
