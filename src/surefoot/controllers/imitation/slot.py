"""Writes an imitation skill into the parameter slot that its law reads, with the series of joints and body parts."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import write_header
from surefoot.controllers.imitation import trajectory
from surefoot.controllers.imitation.parameters import ROOT, Cycle
from surefoot.controllers.imitation.trajectory import EXTRA, HARMONICS, KNOTS, WIDTH, Plan
from surefoot.controllers.simbicon.slot import body_gains, write_head
from surefoot.motions import fourier
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import segment_poses
from surefoot.native.kernels import python_impl
from surefoot.skills.schema import Skill

_FRAMES = 96  # of a cycle, from which series are fitted
_HIP_TARGETS = (-1.6, 2.6)  # [rad] range of the swing thigh's pitch
_COPIED = (
    "earliest", "overrun", "handoff", "catch_up", "reach", "clearance", "tuck", "support", "torso", "torso_roll",
)  # fmt: skip
_PHASE = np.arange(_FRAMES) / _FRAMES


def slot_size(table: CharacterTable) -> int:
    """Numbers in a parameter slot of this character."""
    return trajectory.slot_size(len(table.anatomy.roles), len(table.gains))


def write_slot(slot: np.ndarray, skill: Skill, table: CharacterTable, timestep: float) -> None:
    """Write a skill's numbers into a slot (slot_size,), in place."""
    parameters, cycle, roles = skill.parameters, skill.parameters.cycle, table.anatomy.roles
    write_header(slot, skill)
    plan = view(slot, table)
    head = plan.head[0]
    write_head(head, skill, table, timestep, _HIP_TARGETS)
    head.rate, head.turn = parameters.tempo / cycle.period, cycle.turn * parameters.tempo / cycle.period
    head.left_lands, head.right_lands = cycle.lands
    head.left_stays, head.right_stays = cycle.stays
    head.mean_speed = cycle.travel[0] * head.rate
    for name in _COPIED:
        head[name] = getattr(parameters, name)
    if parameters.learning:
        head.displaces = parameters.displaces
    for i, (role, gain) in enumerate(zip(roles, body_gains(skill, table), strict=True)):
        plan.gains[i].kp, plan.gains[i].kd, plan.gains[i].limit = gain.kp, gain.kd, gain.limit
        plan.offsets[i] = parameters.offsets.get(role, 0.0)
        plan.feedback[i] = parameters.feedback.get(role, (0.0, 0.0))
        plan.feedforward[i] = table.strength * parameters.feedforward_share * _over_step(parameters.feedforward, role)
    plan.feedback[0] += (parameters.cd, parameters.cv)
    plan.feedback[1] += (parameters.cd_lateral, parameters.cv_lateral)
    _write_series(plan, parameters, table)


def _over_step(feedforward: dict[str, list[float]], role: str) -> np.ndarray:
    """(KNOTS,) torques of a role over a step [N·m]; 0 where a skill gives none."""
    given = feedforward.get(role, [0.0, 0.0])
    return np.interp(np.linspace(0.0, 1.0, KNOTS), np.linspace(0.0, 1.0, len(given)), given)


def _write_series(plan: Plan, parameters: Any, table: CharacterTable) -> None:
    cycle, joints = parameters.cycle, list(table.gains)
    for i, name in enumerate(joints):
        series = cycle.joints.get(name, [0.0])
        plan.series[i, : len(series)] = series
    parts, hips = _in_the_world(_OnBody(cycle, table))
    plan.series[len(joints) :] = parts
    pace = len(joints) + trajectory.PACE
    plan.series[pace : pace + 2] = hips * parameters.tempo / cycle.period
    plan.series[pace, 0] += parameters.speed
    plan.series[pace + 1, 0] += parameters.drift


class _OnBody:
    """A cycle on a body, as a cache key: it compares by its numbers and is quick to hash."""

    def __init__(self, cycle: Cycle, table: CharacterTable) -> None:
        self.cycle, self.table = cycle, table
        self._lengths = [part.offset for part in table.segments]

    def __hash__(self) -> int:
        return hash((self.table.name, self.cycle.period, self.cycle.travel, self.cycle.lands))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OnBody) and self._lengths == other._lengths and self.cycle == other.cycle


@functools.lru_cache(maxsize=64)
def _in_the_world(body: _OnBody) -> tuple[np.ndarray, np.ndarray]:
    """(EXTRA, WIDTH) series of torso, thighs and hips over the ankles; (2, WIDTH) of the hips' travel [m/cycle]."""
    cycle, table = body.cycle, body.table
    angles = {joint: _evaluated(cycle.joints.get(joint, [0.0])) for joint in table.gains}
    root = {axis: _evaluated(cycle.root.get(axis, [0.0])) for axis in ROOT}
    tilt = quat.multiply(quat.about_axis(1, root["pitch"]), quat.about_axis(0, root["roll"]))
    rotation = quat.multiply(quat.about_vertical(root["yaw"]), tilt)
    position = np.column_stack([root["surge"], root["sway"], root["height"]])
    at = segment_poses(table, angles, position, rotation)
    legs = (table.anatomy.left, table.anatomy.right)
    rows = [_angles(at[part][1]) for part in (table.anatomy.torso, legs[0].thigh, legs[1].thigh)]
    hips = 0.5 * (at[legs[0].thigh][0] + at[legs[1].thigh][0])
    rows += [hips - at[leg.foot][0] for leg in legs]
    series = np.zeros((EXTRA, WIDTH))
    series[: EXTRA - 2] = fourier.fit(_PHASE, np.column_stack(rows), HARMONICS).T
    pace = fourier.derivative(fourier.fit(_PHASE, hips[:, :2], HARMONICS)).T
    pace[:, 0] += cycle.travel
    return series, pace


def hips_over_ankles(cycle: Cycle, table: CharacterTable) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) where the hips' midpoint is over the left and the right ankle at even phases [m]."""
    series = _in_the_world(_OnBody(cycle, table))[0][trajectory.PLACES : trajectory.PACE]
    values = fourier.evaluate(series.T, _PHASE)
    return values[:, :3], values[:, 3:]


def torso_tilt(cycle: Cycle, table: CharacterTable, phase: np.ndarray) -> np.ndarray:
    """(n, 2) roll (left side up) and pitch (back) of the torso in the world at phases [rad]."""
    at = trajectory.TORSO + 1
    return fourier.evaluate(_in_the_world(_OnBody(cycle, table))[0][at : at + 2].T, phase)


def _evaluated(series: list[float]) -> np.ndarray:
    return fourier.evaluate(np.asarray(series), _PHASE)


def _angles(frame: np.ndarray) -> np.ndarray:
    """(n, 3) yaw, roll and pitch of axes (n, 3, 3), in the sense of `vectors.from_yaw_roll_pitch`, continuous."""
    yaw = np.arctan2(-frame[:, 0, 1], frame[:, 1, 1])
    roll = np.arcsin(np.clip(frame[:, 2, 1], -1.0, 1.0))
    pitch = np.arctan2(frame[:, 2, 0], frame[:, 2, 2])
    return np.unwrap(np.column_stack([yaw, roll, pitch]), axis=0)


def is_same_size(one: np.ndarray, other: np.ndarray, table: CharacterTable) -> bool:
    """Whether two plans measure and learn alike."""
    a, b = view(one, table).head[0], view(other, table).head[0]
    return all(a[f] == b[f] for f in ("bins", "true_com", "delay"))


def view(slot: np.ndarray, table: CharacterTable) -> Any:
    """The named views of a slot."""
    roles, actuators = len(table.anatomy.roles), len(table.gains)
    return python_impl(trajectory.plan_of)(slot[: trajectory.slot_size(roles, actuators)], roles, actuators)
