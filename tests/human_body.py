"""What the tests of the 3D human share: the mirror image, a generic pose in the air, targets read back from torques."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import conftest
from surefoot.characters import load as load_character
from surefoot.characters.table import SAGITTAL
from surefoot.engine.simulation import Simulation
from surefoot.skills import files, load, with_parameters
from surefoot.skills.schema import Skill

TABLE = load_character("human")
ROLES = len(TABLE.anatomy.roles)
SIDE = len(TABLE.anatomy.side_roles)
LEFT, RIGHT = 0, 1
ENDLESS = 1e9  # [N·m] a limit that does not limit


def walk(**changes: Any) -> Skill:
    """The human's walk with other values; a double underscore is a dot of the path."""
    return with_parameters(load("human/walk-as-printed"), {k.replace("__", "."): v for k, v in changes.items()})


def made_human(states: list[dict[str, Any]], start: dict[str, Any] | None = None, **parameters: Any) -> Skill:
    """A human's skill with a pose graph of one's own and the walk's start."""
    document = load("human/walk-as-printed").model_dump(by_alias=True)
    document["name"], document["measured"] = "made", {}
    document["parameters"] = {"states": [{"targets": {}} | state for state in states]} | parameters
    document["start"] = document["start"] | (start or {})
    return files.validate(document, "made")


def graph_of(sim: Simulation) -> Any:
    """Views of the active graph."""
    return conftest.graph_of(sim.memory, roles=ROLES)


def role(name: str) -> int:
    return TABLE.anatomy.roles.index(name)


def other_side(name: str) -> str:
    """The name of the same thing on the other side of the body."""
    if name.startswith("left_"):
        return "right_" + name[5:]
    return "left_" + name[6:] if name.startswith("right_") else name


def mirrored(model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The left-right mirror image of a state: reflected at the plane of x and z."""
    q, v = qpos.copy(), qvel.copy()
    q[:7] *= (1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0)
    v[:6] *= (1.0, -1.0, 1.0, -1.0, 1.0, -1.0)
    for name, hinge in TABLE.hinges.items():
        sign = -1.0 if name in TABLE.anatomy.middle and hinge.plane != SAGITTAL else 1.0
        here, there = model.joint(name), model.joint(other_side(name))
        q[here.qposadr[0]] = sign * qpos[there.qposadr[0]]
        v[here.dofadr[0]] = sign * qvel[there.dofadr[0]]
    return q, v


def image_of(skill: Skill) -> Skill:
    """The skill that starts with the left-right mirror image of this one's start."""
    start, aside = skill.start, [n for n in TABLE.anatomy.middle if TABLE.hinges[n].plane != SAGITTAL]
    changes: dict[str, Any] = {"start.swing": "right" if start.swing == "left" else "left"}
    for name in ("heading", "roll", "roll_rate", "sideways", "yaw", "yaw_rate"):
        changes[f"start.{name}"] = -getattr(start, name)
    for kind, values in (("joints", start.joints), ("rates", start.rates)):
        changes |= {f"start.{kind}.{name}": -values[name] for name in aside if name in values}
    return with_parameters(skill, changes)


def hovering(skill: Skill, seed: int, tilt: float = 0.25) -> Simulation:
    """The human in the air in a generic pose, moving; no torque is limited."""
    sim = Simulation(skill=skill)
    rng = np.random.default_rng(seed)
    q, v = sim.data.qpos, sim.data.qvel
    q[:3] += (*rng.uniform(-1.0, 1.0, 2), 5.0)
    turn = Rotation.from_rotvec(rng.uniform(-tilt, tilt, 3)) * Rotation.from_euler("z", skill.start.heading)
    q[3:7] = turn.as_quat(scalar_first=True)
    for name, hinge in TABLE.hinges.items():
        middle, reach = 0.5 * (max(hinge.low, -0.6) + min(hinge.high, 0.6)), 0.25
        q[sim.model.joint(name).qposadr[0]] = middle + rng.uniform(-reach, reach)
    v[:] = rng.uniform(-0.4, 0.4, sim.model.nv)
    unlimited(sim)
    look(sim)
    return sim


def unlimited(sim: Simulation) -> None:
    """Take the limits of all torques away: of what the law asks for, not of what the motors give."""
    graph = graph_of(sim)
    for gain in graph.gains:
        gain.limit = ENDLESS
    graph.head[0].torso_limit = ENDLESS


def look(sim: Simulation) -> np.ndarray:
    """Evaluate this moment as a new one; (actuators,) net torques the law asks for."""
    sim.memory.clock[0].advanced = sim.data.time - sim.model.opt.timestep
    return conftest.torques(sim)


def hip_torque(sim: Simulation, leg: int, torques: np.ndarray) -> np.ndarray:
    """(3,) the torque vector a hip exerts on its thigh, from the torques of its three hinges."""
    names = (TABLE.anatomy.left, TABLE.anatomy.right)[leg].joints[:3]
    axes = np.array([sim.data.joint(name).xaxis for name in names])
    return np.linalg.solve(axes, [torques[sim.model.actuator(name).id] for name in names])


def _spin(sim: Simulation, body: str) -> np.ndarray:
    return np.array(sim.data.body(body).cvel[:3])


def _turn(sim: Simulation, body: str) -> Rotation:
    return Rotation.from_quat(sim.data.body(body).xquat, scalar_first=True)


def angles(turn: Rotation) -> np.ndarray:
    """(yaw, roll, pitch) [rad]; pitch turns x towards z, roll y towards z, yaw x towards y."""
    return np.asarray(turn.as_euler("ZXY") * (1.0, 1.0, -1.0))


def wanted_thigh(sim: Simulation, leg: int, first: int = 0) -> np.ndarray:
    """(yaw, roll, pitch) at which the law wants a swinging thigh, read back from the torques."""
    torques = look(sim)
    gain, thigh = graph_of(sim).gains[first], ("left_thigh", "right_thigh")[leg]
    error = (hip_torque(sim, leg, torques) + gain.kd * _spin(sim, thigh)) / gain.kp
    return angles(Rotation.from_rotvec(error) * _turn(sim, thigh))


def torso_torque(sim: Simulation) -> np.ndarray:
    """(3,) the torque vector that both hips together exert on the pelvis."""
    torques = look(sim)
    return -hip_torque(sim, LEFT, torques) - hip_torque(sim, RIGHT, torques)


def torso_servo(sim: Simulation, yaw: float, roll: float, pitch: float) -> np.ndarray:
    """(3,) the torque vector of a servo that turns the torso to an orientation in the world."""
    head, torso = graph_of(sim).head[0], TABLE.anatomy.torso
    error = Rotation.from_euler("ZXY", [yaw, roll, -pitch]) * _turn(sim, torso).inv()
    return np.asarray(head.torso_kp * error.as_rotvec() - head.torso_kd * _spin(sim, torso))


def wanted_torso(sim: Simulation) -> np.ndarray:
    """(yaw, roll, pitch) at which the law wants the torso, read back from the torques."""
    head, torso = graph_of(sim).head[0], TABLE.anatomy.torso
    error = (torso_torque(sim) + head.torso_kd * _spin(sim, torso)) / head.torso_kp
    return angles(Rotation.from_rotvec(error) * _turn(sim, torso))
