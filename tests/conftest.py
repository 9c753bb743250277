"""What several test files share: plain views of a simulation's memory, and skills made for a purpose."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
import pytest

from surefoot.controllers.simbicon import law as simbicon
from surefoot.engine import callback
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes import pose_graph
from surefoot.skills import files, load
from surefoot.skills.schema import Skill

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background: what tests start would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

DT = 0.0005  # [s] the planar body's own step
GROUNDS = {"human/uphill-walk": "incline:20"}  # that a skill is made for, where it is not flat
MIRRORED = [0, 1, 2, 6, 7, 8, 3, 4, 5]  # planar qpos and qvel with the legs exchanged


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    """Every test begins and ends with the callbacks installed, whatever the one before did."""
    callback.install()
    yield
    callback.install()


def machine_of(row: Any) -> Any:
    """The finite state machine in a row's memory."""
    return records(row.memory, 0, 1, pose_graph.MACHINE)[0]


def learners_of(row: Any, roles: int = 6, channels: int = 1) -> Any:
    """What the servos gather for learning, in a row's memory; of the planar body's torso unless told otherwise."""
    return python_impl(simbicon.learners_of)(row.memory, roles, channels)


def graph_of(row: Any, slot: int | None = None, roles: int = 6) -> Any:
    """Views of the graph in one of a row's slots, by default the active one."""
    return python_impl(pose_graph.graph_of)(row.slots[int(row.header[0].active) if slot is None else slot], roles)


def bits(sim: Simulation) -> np.ndarray:
    """Everything there is to the present moment."""
    return sim.snapshot().state


def role_index(scene: Scene, role: str) -> int:
    return scene.table.anatomy.roles.index(role)


def actuator_of(scene: Scene, role: str, swing: int) -> int:
    """The actuator that plays a role while the left (0) or right (1) leg swings."""
    joint = scene.table.anatomy.joints(swing)[role_index(scene, role)]
    return int(scene.model.actuator(joint).id)


def torques(sim: Simulation) -> np.ndarray:
    """(actuators,) net torques the law asks for now: its controls without the damping it makes up for."""
    mujoco.mj_forward(sim.model, sim.data)
    model = sim.model
    dofs = [int(model.jnt_dofadr[model.actuator_trnid[a, 0]]) for a in range(model.nu)]
    return np.asarray(sim.data.ctrl + model.actuator_biasprm[:, 2] * sim.data.qvel[dofs])


def made_skill(states: list[dict[str, Any]], start: Mapping[str, Any] | None = None, **parameters: Any) -> Skill:
    """A planar skill with a pose graph of one's own and the walk's start."""
    document = load("planar/walk").model_dump(by_alias=True)
    document["name"] = "made"
    document["parameters"] = {"states": [{"targets": {}} | state for state in states]} | parameters
    document["start"] = document["start"] | dict(start or {})
    return files.validate(document, "made")


def in_the_air(sim: Simulation, height: float = 5.0) -> None:
    """Lift a simulation off the ground, where no foot can touch."""
    sim.data.qpos[1] += height
    mujoco.mj_forward(sim.model, sim.data)
