"""A start mirrored left to right gives the mirrored motion."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import MIRRORED, machine_of
from surefoot.engine.simulation import Simulation
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

GAITS = ["walk", "in-place-walk", "fast-walk", "skip", "fast-run", "run", "backwards-walk"]


def mirrored_pair(skill: Skill) -> tuple[Simulation, Simulation]:
    return tuple(Simulation(skill=with_parameters(skill, {"start.swing": side})) for side in ("right", "left"))  # type: ignore[return-value]


@pytest.mark.parametrize("name", GAITS)
def test_mirrored_start_gives_the_mirrored_motion(name: str) -> None:
    right, left = mirrored_pair(load(f"planar/{name}"))
    assert not np.array_equal(right.data.qpos, left.data.qpos)
    for _ in range(12):
        right.step(500)
        left.step(500)
        assert right.data.qpos == pytest.approx(left.data.qpos[MIRRORED], abs=1e-9)
        assert right.data.qvel == pytest.approx(left.data.qvel[MIRRORED], abs=1e-7)
        assert right.memory.report[0].swing == 1.0 - left.memory.report[0].swing
        assert right.memory.touch.tolist() == left.memory.touch[::-1].tolist()


def test_legs_exchanged_by_hand_in_mid_run_give_the_mirrored_motion() -> None:
    sim, other = Simulation("planar"), Simulation("planar")
    sim.step(1900)
    other.step(1900)
    other.data.qpos[:] = sim.data.qpos[MIRRORED]
    other.data.qvel[:] = sim.data.qvel[MIRRORED]
    other.data.qacc_warmstart[:] = sim.data.qacc_warmstart[MIRRORED]
    machine = machine_of(other.memory)
    machine.state = (machine.state + 2) % 4
    for _ in range(4):
        sim.step(1000)
        other.step(1000)
        assert sim.data.qpos == pytest.approx(other.data.qpos[MIRRORED], abs=1e-9)


@pytest.mark.parametrize("force", [(45.0, 0.0, 0.0), (-30.0, 0.0, 60.0)])
def test_mirrored_push_and_command_give_the_mirrored_motion(force: tuple[float, float, float]) -> None:
    right, left = mirrored_pair(with_parameters(load("planar/walk"), {"states.0.feedback.stance_ankle.1": 0.05}))
    for sim, side in ((right, "right"), (left, "left")):
        sim.command(speed=0.9, lean=-0.03)
        sim.push(force, 0.15, body=f"{side}_thigh", point=(0.0, 0.0, -0.3), delay=0.25)
        sim.step(5000)
    assert right.data.qpos == pytest.approx(left.data.qpos[MIRRORED], abs=1e-9)


def test_mirrored_learning_fills_the_other_legs_half_of_the_table() -> None:
    right, left = mirrored_pair(with_parameters(load("planar/walk"), {"learning.bins": 12}))
    right.step(5000)
    left.step(5000)
    halves = right.memory.table.reshape(2, 12), left.memory.table.reshape(2, 12)
    assert np.abs(halves[0]).min(axis=1).max() > 0.0
    assert halves[0] == pytest.approx(halves[1][::-1], abs=1e-7)
    assert right.data.qpos == pytest.approx(left.data.qpos[MIRRORED], abs=1e-9)


def test_unequal_legs_are_not_symmetric() -> None:
    """The comparison can fail: one longer shin breaks it."""
    right, left = (
        Simulation(
            skill=with_parameters(load("planar/walk"), {"start.swing": side}), proportions={"left_shin_length": 1.02}
        )
        for side in ("right", "left")
    )
    right.step(2000)
    left.step(2000)
    assert right.data.qpos != pytest.approx(left.data.qpos[MIRRORED], abs=1e-6)
