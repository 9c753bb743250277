"""Data of skill files that is measured: `measured`, how a settled gait moves, and `start`, a state on its cycle."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.gait import gait_card
from surefoot.lab.gait_measures import measure_gait, record_for_measuring
from surefoot.motions.motion import Motion
from surefoot.skills.schema import Measured, Skill, Start
from surefoot.terrains.terrain import Terrain

_SETTLE, _JUDGED = 15.0, 5.0  # [s]
_CARD = {  # measures of the gait report card, and their digits
    "score": 1, "walk_ratio": 4, "double_support": 2, "flight": 2, "stance_knee": 0, "strike_pitch": 0,
    "toe_off_pitch": 0, "lean": 1, "first_peak": 2, "work": 2, "tremble": 3, "slip": 3,
}  # fmt: skip


def measure_skill(skill: Skill, terrain: str | Terrain = "flat") -> Measured | None:
    """Simulate a skill from its start and measure it once it has settled.

    Args:
        skill: the skill to measure.
        terrain: the ground it is made for.

    Returns:
        Speed along the heading, cadence, cost of transport and, of a walk or a run in space, measures of the gait
        report card; None if it falls.
    """
    sim = Simulation(skill.character, skill, terrain)
    sim.step(round(_SETTLE / sim.model.opt.timestep))
    motion = record_for_measuring(sim, _JUDGED)
    gait = measure_gait(motion)
    if sim.fallen:
        return None
    moves = math.hypot(gait.speed, gait.sideways) > 0.05  # a cost per metre says nothing about a gait in place
    return Measured(
        speed=round(gait.speed, 2) + 0.0,  # no negative zero
        cadence=round(gait.cadence, 2),
        cost_of_transport=round(gait.cost_of_transport, 2) if moves else None,
        **(_card_measures(motion) if moves else {}),
    )


def _card_measures(motion: Motion) -> dict[str, float]:
    """Measures of the gait report card that a skill file holds; none of what does not walk or run."""
    try:
        card = gait_card(motion)
    except SurefootError:
        return {}
    found = {name: round(getattr(card, name), digits) + 0.0 for name, digits in _CARD.items()}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def start_on_limit_cycle(
    skill: Skill, seconds: float = 20.0, terrain: str | Terrain = "flat", digits: int = 3, state: int = 0
) -> Start:
    """Find a start state on a gait's own cycle: the next entry into a state with the left leg swinging.

    Args:
        skill: a gait in space that goes on from its present start.
        seconds: how long it settles [s].
        terrain: the ground it walks on.
        digits: decimals to keep.
        state: number of the state; of limit cycle control the first that takes time.

    Raises:
        SurefootError: the gait falls, or does not enter the state within 5 s.
    """
    sim = Simulation(skill.character, skill, terrain)
    sim.run(seconds)
    report, before = sim.memory.report[0], float(state)
    while sim.time < seconds + 5.0:
        before = float(report.state)
        sim.step()
        if report.state == state != before:
            break
    if sim.fallen or before == state or report.state != state:
        raise SurefootError(
            f"{skill.full_name} has no cycle to start on: it fell, or never comes back to state {state}"
        )
    joints, rates = (
        {role: _rounded(angle, digits) for role, angle in _by_role(sim, values, address).items()}
        for values, address in ((sim.data.qpos, "qposadr"), (sim.data.qvel, "dofadr"))
    )
    root = {name: _rounded(value, digits) for name, value in _root(sim).items()}
    lift = _rounded(sim.scene.clearance(sim.data.qpos), 4)
    return Start.model_validate(
        {"state": state, "swing": "left", "lift": lift, "joints": joints, "rates": rates} | root
    )


def _rounded(value: float, digits: int) -> float:
    return round(float(value), digits) + 0.0  # no negative zero


def _by_role(sim: Simulation, values: np.ndarray, address: str) -> dict[str, float]:
    anatomy = sim.scene.table.anatomy
    return {
        role: float(values[getattr(sim.model.joint(joint), address)[0]])
        for role, joint in zip(anatomy.roles, anatomy.joints(0), strict=True)
    }


def _root(sim: Simulation) -> dict[str, float]:
    """The free root's pose and velocity, turned so that its heading is 0."""
    axes, spin = np.empty(9), np.empty(3)
    mujoco.mju_quat2Mat(axes, sim.data.qpos[3:7])
    mujoco.mju_rotVecQuat(spin, sim.data.qvel[3:6], sim.data.qpos[3:7])
    heading = float(sim.memory.report[0].heading)
    c, s = math.cos(heading), math.sin(heading)
    vx, vy, vz = sim.data.qvel[:3]
    yaw = math.atan2(-axes[1], axes[4])
    return {
        "speed": c * vx + s * vy, "sideways": c * vy - s * vx, "climb": vz,
        "torso": math.atan2(axes[6], axes[8]), "torso_rate": -(c * spin[1] - s * spin[0]),
        "roll": math.asin(max(-1.0, min(1.0, axes[7]))), "roll_rate": c * spin[0] + s * spin[1],
        "yaw": math.remainder(yaw - heading, 2.0 * math.pi), "yaw_rate": spin[2],
    }  # fmt: skip
