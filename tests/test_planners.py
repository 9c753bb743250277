"""What is decided in Python between native runs: whoever steps on without it is told so, once."""

from __future__ import annotations

import logging

import mujoco
import numpy as np
import pytest

import surefoot as sf

PLANNED = ["human19/march", "human/stylized-stand", "planar_arms/stylized-stand"]
NATIVE = ["planar/walk", "human/fast-walk", "biped/walk", "stepper/stand", "human19/march-predicted"]


def reports(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage() for record in caplog.records if "stepped without what it decides" in record.getMessage()
    ]


@pytest.mark.parametrize("skill", PLANNED)
def test_plain_physics_steps_beyond_a_decision_are_reported_once(skill: str, caplog: pytest.LogCaptureFixture) -> None:
    sim = sf.Simulation(skill=skill)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            mujoco.mj_step(sim.model, sim.data, 400)
    assert len(reports(caplog)) == 1
    assert sim.skill.controller in reports(caplog)[0]
    assert sim.memory.header[0].overdue == 1.0


@pytest.mark.parametrize("skill", [*PLANNED, *NATIVE])
def test_steps_of_ours_are_never_overdue(skill: str, caplog: pytest.LogCaptureFixture) -> None:
    sim, population = sf.Simulation(skill=skill), sf.Population(2, skill=skill)
    with caplog.at_level(logging.WARNING):
        for count in (1, 7, 250, 3, 300):
            sim.step(count)
            population.step(count)
    assert not reports(caplog)
    assert all(np.array_equal(sim.data.qpos, row) for row in population.qpos)


@pytest.mark.parametrize("skill", NATIVE)
def test_plain_physics_steps_are_all_that_a_skill_without_a_planner_needs(
    skill: str, caplog: pytest.LogCaptureFixture
) -> None:
    ours, plain = sf.Simulation(skill=skill), sf.Simulation(skill=skill)
    ours.step(500)
    with caplog.at_level(logging.WARNING):
        mujoco.mj_step(plain.model, plain.data, 500)
    assert not reports(caplog)
    assert np.array_equal(ours.data.qpos, plain.data.qpos)


def test_a_task_that_is_not_ticked_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    sim = sf.Simulation(skill="biped/walk")
    sim.add(sf.tasks.FollowPath([(2.0, 0.0)]))
    sim.step(10)
    with caplog.at_level(logging.WARNING):
        mujoco.mj_step(sim.model, sim.data, 200)
    assert len(reports(caplog)) == 1


def test_a_switch_between_planned_and_native_skills_is_never_overdue(caplog: pytest.LogCaptureFixture) -> None:
    sim = sf.Simulation("human", "biped/stand", skills=["human/stylized-stand"])
    with caplog.at_level(logging.WARNING):
        sim.run(0.5)
        sim.switch("human/stylized-stand")
        sim.run(1.5)
        assert sim.skill.name == "stylized-stand"
        sim.switch("biped/stand")
        sim.run(1.5)
    assert sim.skill.name == "stand"
    assert not reports(caplog)
