"""What a skill file says of itself under `measured`: how it moves, once settled.

Start states taken from a gait's own cycle, so that it begins where it is going to stay.
"""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.gait_measures import measure_gait
from surefoot.skills.schema import Measured, Skill, Start
from surefoot.terrains.terrain import Terrain

_SETTLE, _JUDGED, _FPS = 15.0, 5.0, 200.0  # [s], [s], frames per second


def measure_skill(skill: Skill, terrain: str | Terrain = "flat") -> Measured | None:
    """Speed along the heading, cadence and cost of transport of a skill simulated from its start; None if it falls.

    `terrain` is the ground it is made for.
    """
    sim = Simulation(skill.character, skill, terrain)
    sim.step(round(_SETTLE / sim.model.opt.timestep))
    gait = measure_gait(sim.run(_JUDGED, fps=_FPS))
    if sim.fallen:
        return None
    moves = math.hypot(gait.speed, gait.sideways) > 0.05  # a cost per metre says nothing of what stays where it is
    return Measured(
        speed=round(gait.speed, 2) + 0.0,  # no negative zero
        cadence=round(gait.cadence, 2),
        cost_of_transport=round(gait.cost_of_transport, 2) if moves else None,
    )


def start_on_limit_cycle(
    skill: Skill, seconds: float = 20.0, terrain: str | Terrain = "flat", digits: int = 3, state: int = 0
) -> Start:
    """The moment after `seconds` at which a state is next entered with the left leg, as a start of a skill in space.

    Args:
        skill: a gait that goes on from its present start.
        seconds: how long it may settle.
        terrain: what it goes on.
        digits: decimals that are kept.
        state: which state; of limit cycle control the first that takes time.
    """
    from surefoot.engine.simulation import Simulation

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
    numbers = _root(sim) | {"joints": _by_role(sim, sim.data.qpos, "qposadr")}
    numbers["rates"] = _by_role(sim, sim.data.qvel, "dofadr")
    rounded: Any = {k: _round(v, digits) for k, v in numbers.items()}
    return Start(state=state, swing="left", lift=_round(sim.scene.clearance(sim.data.qpos), 4), **rounded)


def _round(value: Any, digits: int) -> Any:
    if isinstance(value, dict):
        return {k: _round(v, digits) for k, v in value.items()}
    return round(float(value), digits) + 0.0


def _by_role(sim: Any, values: np.ndarray, address: str) -> dict[str, float]:
    anatomy = sim.scene.table.anatomy
    return {
        role: float(values[getattr(sim.model.joint(joint), address)[0]])
        for role, joint in zip(anatomy.roles, anatomy.joints(0), strict=True)
    }


def _root(sim: Any) -> dict[str, float]:
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
