"""A body that changes while it lives: the moment goes on, the strength follows, the walk survives."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest

from conftest import bits, learners_of
from surefoot import tasks
from surefoot.controllers.genbicon import law as genbicon
from surefoot.engine.simulation import Simulation
from surefoot.errors import CharacterError, CommandError, SurefootError
from surefoot.native.kernels import python_impl
from surefoot.skills import load, with_parameters
from surefoot.terrains import Crate, with_props
from surefoot.terrains import load as load_terrain

WALKS = (("humanoid", "biped/zero-walk"), ("human", "human/fast-walk"), ("planar", "planar/walk"))
LONG = {"thigh_length": 1.13, "left_shin_length": 0.94, "mass": 1.2}


def walking(character: str, skill: str, seconds: float = 2.345) -> Simulation:
    sim = Simulation(character, skill)
    run(sim, seconds)
    return sim


def run(sim: Simulation, seconds: float) -> None:
    sim.step(round(seconds / sim.model.opt.timestep))


def grown(sim: Simulation, steps: list[Mapping[str, float]], pause: float = 0.1) -> Simulation:
    """Change it step by step while it goes on."""
    for proportions in steps:
        sim = sim.with_proportions(proportions)
        run(sim, pause)
    return sim


def towards(goal: Mapping[str, float], step: float = 0.02) -> list[Mapping[str, float]]:
    """Proportions on the way from 1 to a goal, in steps of so much of each."""
    count = max(round(abs(value - 1.0) / step) for value in goal.values())
    return [{k: 1.0 + (v - 1.0) * (i + 1) / count for k, v in goal.items()} for i in range(count)]


@pytest.mark.parametrize(("character", "skill"), WALKS)
@pytest.mark.parametrize("same", [{}, {"thigh_length": 1.0, "mass": 1.0}])
def test_a_body_that_stays_the_same_goes_on_bit_for_bit(character: str, skill: str, same: dict[str, float]) -> None:
    sim = walking(character, skill)
    other = sim.with_proportions(same)
    assert np.array_equal(bits(other), bits(sim))
    run(sim, 1.0)
    run(other, 1.0)
    assert np.array_equal(bits(other), bits(sim))


def test_the_old_body_is_left_as_it_was_and_shares_nothing() -> None:
    sim = walking("humanoid", "biped/zero-walk")
    before = bits(sim)
    run(sim.with_proportions(LONG), 0.3)
    assert np.array_equal(bits(sim), before)


@pytest.mark.parametrize(("character", "skill"), WALKS)
@pytest.mark.parametrize("seconds", [1.0, 1.21, 2.345])
def test_the_lower_sole_keeps_its_height_and_everything_else_its_place(
    character: str, skill: str, seconds: float
) -> None:
    sim = walking(character, skill, seconds)
    other = sim.with_proportions({"thigh_length": 1.3, "shin_length": 0.8, "foot_length": 1.2})
    height = 1 if character == "planar" else 2
    assert other.scene.clearance(other.data.qpos) == pytest.approx(sim.scene.clearance(sim.data.qpos), abs=1e-12)
    assert abs(other.data.qpos[height] - sim.data.qpos[height]) > 0.02
    assert np.array_equal(np.delete(other.data.qpos, height), np.delete(sim.data.qpos, height))
    assert np.array_equal(other.data.qvel, sim.data.qvel)
    assert other.time == sim.time


def test_soles_keep_their_height_on_a_slope() -> None:
    sim = Simulation("humanoid", "biped/zero-walk", "slope:4")
    run(sim, 3.0)
    other = sim.with_proportions({"shin_length": 1.2})
    assert other.scene.clearance(other.data.qpos) == pytest.approx(sim.scene.clearance(sim.data.qpos), abs=1e-6)


@pytest.mark.parametrize(("character", "skill"), WALKS)
def test_body_and_gains_are_those_of_one_built_so(character: str, skill: str) -> None:
    other, fresh = walking(character, skill).with_proportions(LONG), Simulation(character, skill, proportions=LONG)
    for name in ("body_mass", "body_inertia", "body_pos", "geom_size", "actuator_biasprm", "actuator_forcerange",
                 "numeric_data", "dof_armature"):  # fmt: skip
        assert np.array_equal(getattr(other.model, name), getattr(fresh.model, name)), name
    active = int(other.memory.header[0].active)
    assert np.array_equal(other.memory.slots[active], fresh.memory.slots[0])
    assert other.scene.setup.proportions == LONG
    plainly = Simulation(character, skill)
    assert not np.array_equal(other.model.actuator_forcerange, plainly.model.actuator_forcerange)


def test_mass_is_really_scaled() -> None:
    sim = walking("humanoid", "biped/zero-walk", 1.0)
    other = sim.with_proportions({"mass": 1.5, "left_thigh_mass": 2.0})
    assert mujoco.mj_getTotalmass(other.model) == pytest.approx(1.5 * (mujoco.mj_getTotalmass(sim.model) + 7.6))


@pytest.mark.parametrize(
    "goal",
    [
        {"thigh_length": 1.2},
        {"thigh_length": 0.8, "shin_length": 0.8},
        {"left_thigh_length": 0.9, "left_shin_length": 0.9},
        {"arm_length": 1.5},
        {"torso_mass": 2.0},
    ],
    ids=lambda goal: next(iter(goal)),
)
def test_the_humanoid_walks_on_while_it_changes(goal: dict[str, float]) -> None:
    sim = grown(walking("humanoid", "biped/zero-walk", 3.0), towards(goal))
    start = sim.data.qpos[0]
    run(sim, 8.0)
    assert not sim.fallen, sim.fall_cause
    assert sim.data.qpos[0] - start > 2.0


def test_the_human_walks_on_while_its_thighs_grow() -> None:
    sim = grown(walking("human", "human/fast-walk", 3.0), towards({"thigh_length": 1.2}))
    start = sim.data.qpos[0]
    run(sim, 8.0)
    assert not sim.fallen, sim.fall_cause
    assert sim.data.qpos[0] - start > 4.0


@pytest.mark.parametrize("moment", [3.0, 3.17, 3.34, 3.51])
def test_a_change_at_once_is_survived_at_any_phase(moment: float) -> None:
    sim = walking("humanoid", "biped/zero-walk", moment).with_proportions({"leg_length": 1.2, "chest_mass": 1.5})
    run(sim, 6.0)
    assert not sim.fallen, sim.fall_cause


def test_going_there_and_back_gives_the_body_it_had() -> None:
    sim = walking("humanoid", "biped/zero-walk", 2.0)
    back = sim.with_proportions(LONG).with_proportions({})
    assert np.array_equal(back.model.body_mass, sim.model.body_mass)
    assert back.data.qpos[2] == pytest.approx(sim.data.qpos[2], abs=1e-12)
    assert np.array_equal(back.memory.slots, sim.memory.slots)


def test_commands_and_pending_pushes_survive() -> None:
    sim = walking("humanoid", "biped/zero-walk", 2.0)
    sim.command(speed=0.9, heading=0.4)
    sim.push((0.0, 80.0, 0.0), 0.1, body="chest", delay=0.5)
    other = sim.with_proportions({"arm_length": 1.2})
    assert np.array_equal(other.memory.commands, sim.memory.commands)
    assert np.array_equal(other.memory.pushes, sim.memory.pushes)
    plainly = walking("humanoid", "biped/zero-walk", 2.0)
    plainly.command(speed=0.9, heading=0.4)
    plainly = plainly.with_proportions({"arm_length": 1.2})
    for each in (other, plainly):
        run(each, 1.0)
    assert abs(other.data.qvel[1] - plainly.data.qvel[1]) > 0.05, "the push was felt"


def test_a_pending_switch_happens_in_the_new_body() -> None:
    sim = walking("human", "human/fast-walk", 2.0)
    sim.switch("human/walk-as-printed")
    other = sim.with_proportions({"thigh_length": 1.1})
    assert other.requested is not None
    run(other, 1.5)
    assert other.skill.full_name == "human/walk-as-printed"
    assert other.requested is None
    fresh = Simulation("human", "human/walk-as-printed", proportions={"thigh_length": 1.1})
    assert np.array_equal(other.memory.slots[int(other.memory.header[0].active)], fresh.memory.slots[0])


def test_a_changed_skill_and_a_blend_stay_what_they_are() -> None:
    sim = walking("human", "human/walk-as-printed", 1.0)
    sim.set_parameters({"states.0.cd": 0.31})
    assert sim.with_proportions({"mass": 1.3}).skill == sim.skill
    sim.blend("human/fast-walk", 0.4)
    other = sim.with_proportions({"mass": 1.3})
    expected = Simulation("human", sim.skill, proportions={"mass": 1.3})
    expected.blend("human/fast-walk", 0.4)
    assert np.allclose(other.memory.slots[0], expected.memory.slots[0], rtol=1e-12, atol=0.0)


def test_what_was_learned_grows_with_the_strength() -> None:
    sim = Simulation("planar", with_parameters(load("planar/walk"), {"learning.bins": 20, "learning.rate": 0.1}))
    run(sim, 3.0)
    other = sim.with_proportions({"mass": 1.5})
    assert np.abs(sim.memory.table).max() > 0.0
    assert np.allclose(other.memory.table, 1.5 * sim.memory.table, rtol=1e-12)
    assert np.allclose(learners_of(other.memory)["total"], 1.5 * learners_of(sim.memory)["total"], rtol=1e-12)


def test_the_usual_step_grows_with_the_legs() -> None:
    sim = walking("humanoid", "biped/zero-walk", 4.0)
    other = sim.with_proportions({"thigh_length": 1.2})
    usual = [python_impl(genbicon.walker_of)(each.memory.memory)[0].usual for each in (sim, other)]
    assert usual[1] == pytest.approx(usual[0] * (0.92 + 0.2 * 0.42) / 0.92)


def test_room_for_skills_named_when_building_is_kept() -> None:
    skill = with_parameters(load("human/walk-as-printed"), {"sensing.delay": 0.05})
    sim = Simulation("human", "human/fast-walk", skills=[skill], backpack=5.0, self_collision=True, timestep=0.0008)
    run(sim, 1.0)
    other = sim.with_proportions({"thigh_length": 1.05}).with_proportions({"thigh_length": 1.1})
    other.switch(skill)
    assert other.model.opt.timestep == 0.0008
    assert other.model.body("backpack").mass[0] == 5.0
    assert np.array_equal(other.model.geom_conaffinity, sim.model.geom_conaffinity)


def test_a_body_with_a_task_refuses_until_it_is_over() -> None:
    sim = walking("humanoid", "biped/walk", 1.0)
    sim.add(_Waits())
    with pytest.raises(CommandError, match="task"):
        sim.with_proportions({"mass": 1.1})
    run(sim, 0.5)
    assert not sim.with_proportions({"mass": 1.1}).fallen


class _Waits(tasks.Task):
    """Does nothing for a while."""

    def tick(self, actor: tasks.Actor) -> None:
        if actor.time - self.began > 0.2:
            self.finish("waited")


def test_things_stay_where_they_are() -> None:
    ground = with_props(load_terrain("flat"), [Crate((0.3, 0.3, 0.3), 5.0, (1.2, 0.0, 0.0))])
    sim = Simulation("humanoid", "biped/zero-walk", ground)
    run(sim, 4.0)
    other = sim.with_proportions({"thigh_length": 1.1})
    place = slice(*(int(sim.model.joint(sim.model.body("crate").jntadr[0]).qposadr[0]) + k for k in (0, 7)))
    assert sim.data.qpos[place][0] != 1.2, "it was kicked"
    assert np.array_equal(other.data.qpos[place], sim.data.qpos[place])


def test_wrong_proportions_are_refused() -> None:
    sim = Simulation("humanoid", "biped/zero-walk")
    with pytest.raises(SurefootError, match="thigh_length"):
        sim.with_proportions({"tail_length": 1.1})
    with pytest.raises(CharacterError, match=r"0\.2"):
        sim.with_proportions({"thigh_length": 9.0})
