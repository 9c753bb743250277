"""A skill with a slow part: one set of commands, two skills that hand the body to each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from surefoot.engine import commands
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SkillError
from surefoot.gym import Residuals, SurefootEnv
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.reflexes.handover import ASKED, NONE
from surefoot.skills import load
from surefoot.skills.files import check
from surefoot.studio.telemetry import JointTargets

WALK, SLOW = "walk", "stepping-walk"


def told(seconds: float, sim: Simulation, **values: float) -> np.ndarray:
    """Tell it something, wait, and give the mean velocity of what followed (x, y) [m/s]."""
    sim.command(**values)
    before = sim.data.qpos[:2].copy()
    sim.run(seconds)
    assert not sim.fallen, f"fell at {sim.fallen_at:.2f} s after {values}"
    return np.asarray((sim.data.qpos[:2] - before) / seconds)


def yaw(sim: Simulation) -> float:
    w, x, y, z = sim.data.qpos[3:7]
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@pytest.fixture(scope="module")
def slow() -> Simulation:
    """It walks at 0.4 m/s; tests take copies."""
    sim = Simulation("human", WALK)
    told(2.0, sim)
    told(6.0, sim, speed=0.4)
    return sim


@pytest.fixture
def strolling(slow: Simulation) -> Simulation:
    return slow.__copy__()


def test_it_goes_slowly_by_its_slow_part_and_fast_by_itself_and_is_one_skill(
    strolling: Simulation,
) -> None:
    assert (strolling.skill.name, strolling.running.name) == (WALK, SLOW)
    assert told(8.0, strolling)[0] == pytest.approx(0.4, abs=0.04)
    told(6.0, strolling, speed=1.3)
    assert told(4.0, strolling)[0] == pytest.approx(1.3, abs=0.06)
    assert (strolling.skill.name, strolling.running.name) == (WALK, WALK)


def test_it_stands_turns_on_the_spot_and_goes_aside_and_backwards(strolling: Simulation) -> None:
    told(5.0, strolling, speed=0.0)
    assert np.abs(told(3.0, strolling)).max() < 0.02
    assert np.abs(told(7.0, strolling, heading=1.2)).max() < 0.06
    assert yaw(strolling) == pytest.approx(1.2, abs=0.1)
    told(7.0, strolling, heading=0.0)
    assert yaw(strolling) == pytest.approx(0.0, abs=0.1)
    assert told(6.0, strolling, sideways=0.25)[1] > 0.1
    told(3.0, strolling, sideways=0.0)
    assert told(6.0, strolling, speed=-0.3)[0] < -0.2


def test_what_it_is_told_while_one_has_the_body_holds_for_the_other(strolling: Simulation) -> None:
    told(6.0, strolling, heading=0.6, lean=-0.05)
    told(8.0, strolling, speed=1.2)
    assert strolling.running.name == WALK
    assert yaw(strolling) == pytest.approx(0.6, abs=0.12)
    assert strolling.memory.commands[0] == -0.05  # lean, the first command of SIMBICON
    told(6.0, strolling, heading=0.1)
    told(10.0, strolling, speed=0.3)  # a forward lean keeps it fast: it waits
    assert strolling.running.name == SLOW
    assert yaw(strolling) == pytest.approx(0.1, abs=0.12)


def test_a_slower_speed_that_is_taken_back_changes_nothing() -> None:
    sim = Simulation("human", WALK)
    told(3.0, sim, speed=1.3)
    sim.command(speed=0.3)
    assert sim.memory.header[0].handover == ASKED
    sim.command(speed=1.3)
    assert sim.memory.header[0].handover == NONE
    told(3.0, sim)
    assert sim.running.name == WALK


def test_between_its_two_limits_whoever_has_the_body_keeps_it(strolling: Simulation) -> None:
    part = strolling.skill.slow
    assert part is not None
    between = 0.5 * (part.below + part.above)
    told(3.0, strolling, speed=between)
    assert strolling.running.name == SLOW
    told(5.0, strolling, speed=part.above)
    assert strolling.running.name == WALK
    told(3.0, strolling, speed=between)
    assert strolling.running.name == WALK


def test_a_row_of_a_population_does_the_same_bit_for_bit() -> None:
    sim, rows = Simulation("human", WALK, seed=4), Population(2, "human", WALK, seed=4)
    for values in ({"speed": 0.4}, {"heading": 0.3}, {"speed": 1.1}):
        sim.command(**values)
        rows.command(None, **values)
        sim.run(2.5)
        rows.run(2.5)
    np.testing.assert_array_equal(sim.data.qpos, rows.qpos[0])
    np.testing.assert_array_equal(rows.qpos[0], rows.qpos[1])


def test_a_snapshot_from_before_a_hand_over_repeats_the_same_bits(strolling: Simulation) -> None:
    strolling.command(speed=1.2)
    before = strolling.snapshot()
    strolling.run(2.0)
    after = strolling.data.qpos.copy()
    assert strolling.running.name == WALK
    strolling.restore(before)
    assert strolling.running.name == SLOW
    strolling.run(2.0)
    np.testing.assert_array_equal(strolling.data.qpos, after)


def test_another_skill_can_be_asked_for_while_the_slow_part_has_the_body(strolling: Simulation) -> None:
    strolling.switch("biped/zero-walk")
    strolling.command(speed=0.5)  # the slow part's, until the other one has the body
    strolling.run(4.0)
    assert strolling.running.name == "zero-walk"
    strolling.command(speed=0.5)  # which has no slow part
    strolling.run(3.0)
    assert strolling.running.name == "zero-walk"
    strolling.switch(WALK)
    strolling.run(4.0)
    assert strolling.running.name == WALK
    told(8.0, strolling, speed=0.3)
    assert strolling.running.name == SLOW


def test_numbers_of_the_skill_can_be_changed_while_its_slow_part_has_the_body(strolling: Simulation) -> None:
    slot = int(strolling.memory.header[0].active)
    before = strolling.memory.slots[slot].copy()
    strolling.set_parameters({"arms.swing": 0.5})
    np.testing.assert_array_equal(strolling.memory.slots[slot], before)
    told(6.0, strolling, speed=1.2)
    assert strolling.skill.parameters.arms.swing == 0.5
    assert strolling.running is strolling.skill


def test_the_body_can_change_while_the_slow_part_has_it(strolling: Simulation) -> None:
    longer = strolling.with_proportions({"thigh_length": 1.03})
    told(4.0, longer)
    assert longer.running.name == SLOW


def test_a_speed_that_is_let_go_is_the_skills_own_again(strolling: Simulation) -> None:
    known = strolling.scene, strolling.memory, strolling.skill
    assert commands.told(*known, "speed") == 0.4
    commands.clear(*known, "speed")
    assert commands.told(*known, "speed") is None
    strolling.run(12.0)
    assert strolling.running.name == WALK
    assert told(4.0, strolling)[0] == pytest.approx(1.3, abs=0.06)


def test_commands_have_the_limits_of_both_and_others_are_refused() -> None:
    sim = Simulation("human", WALK)
    known = commands.known(sim.scene, sim.skill)
    assert known["sideways"].unit == "m/s"
    assert known["speed"].low <= -1.5
    assert known["speed"].high >= 4.0
    with pytest.raises(CommandError, match=r"unknown command 'stop'; human/walk knows: .*speed.*sideways"):
        sim.command(stop=1.0)
    with pytest.raises(CommandError, match="sideways must be within"):
        sim.command(sideways=5.0)


def test_an_environment_observes_what_was_told_whoever_has_the_body() -> None:
    env = SurefootEnv("human/walk", actions=Residuals(), observations=("commands",), commands={"speed": 0.4})
    at = env.observation_names.index("commands speed")
    seen, _ = env.reset(seed=0)
    assert seen[at] == pytest.approx(0.4)
    seconds = 0.0
    while seconds < 6.0:
        seen, _, _, _, info = env.step(np.zeros(env.action_space.shape or (), np.float32))
        seconds = info["time"]
        assert seen[at] == pytest.approx(0.4)
    assert info["velocity"][0] < 0.65


def test_a_plot_shows_no_targets_of_a_pose_graph_while_the_slow_part_has_the_body(strolling: Simulation) -> None:
    targets, limits = JointTargets(strolling.scene, strolling.memory, strolling.data).read(strolling.skill)
    assert np.isnan(targets).all()
    assert (limits > 0.0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"skill": "no-such-walk"}, "unknown skill 'no-such-walk' of human; valid: .*stepping-walk"),
        ({"skill": "fast-walk"}, "same controller, simbicon"),
        ({"above": 0.5}, "at least `below`"),
        ({"commands": ["speed"]}, "'speed' is not one of human/stepping-walk alone; valid: .*crouch"),
    ],
)
def test_a_slow_part_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    walk = load("human/walk")
    assert walk.slow is not None
    with pytest.raises(SkillError, match=message):
        check(walk.model_copy(update={"slow": walk.slow.model_copy(update=change)}))


@pytest.mark.parametrize("lean", [0.0, -0.1])
def test_a_walk_that_is_told_to_stop_stands_even_if_it_leans_forward(lean: float) -> None:
    sim = Simulation("human", WALK)
    told(4.0, sim, speed=1.2, lean=lean)
    told(10.0, sim, speed=0.0)
    assert sim.running.name == SLOW
    told(4.0, sim, lean=0.0)
    assert np.abs(told(2.0, sim)).max() < 0.05


def test_a_run_slows_down_to_a_walk_without_falling() -> None:
    count = 32
    rows = Population(count, skill=["human/walk"] * count)
    rngs = [seeded_generator(31, "c", 2.5, 0.0, k) for k in range(count)]
    perturb_population(rows, rngs)
    rows.command(None, speed=2.5)
    rows.run(8.0, stop_fallen=True)
    rows.advance([rng.uniform(0.0, 1.1) for rng in rngs])
    rows.command(None, speed=1.3)
    rows.run(6.0, stop_fallen=True)
    assert np.isinf(rows.fallen_at).sum() >= count - 1
