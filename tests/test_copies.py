"""Copies of simulations: by `copy`, by pickle, into other processes."""

from __future__ import annotations

import base64
import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import surefoot as sf

SKILLS = ["planar/walk", "human/fast-walk", "biped/walk", "human19/march", "stepper/walk", "human/stylized-stand"]


def pushed(sim: sf.Simulation) -> np.ndarray:
    """The state a little after a push."""
    sim.push((2000.0, 0.0 if sim.scene.table.root == "planar" else 300.0, 0.0), duration=0.1)
    sim.step(250)
    return sim.snapshot().state


@pytest.mark.parametrize("make", [copy.deepcopy, copy.copy, lambda sim: pickle.loads(pickle.dumps(sim))])
@pytest.mark.parametrize("skill", SKILLS)
def test_a_copy_goes_on_like_the_original_and_leaves_it_alone(skill: str, make: Any) -> None:
    sim = sf.Simulation(skill=skill, seed=5)
    sim.step(300)
    before = sim.snapshot().state
    copied = make(sim)
    assert copied.model is not sim.model
    assert np.array_equal(copied.snapshot().state, before)
    after = pushed(copied)
    assert np.array_equal(sim.snapshot().state, before)
    assert not np.array_equal(after, before)
    assert np.array_equal(pushed(sim), after)


def test_a_copy_has_tasks_of_its_own() -> None:
    sim = sf.Simulation(skill="biped/walk")
    task = sim.add(sf.tasks.FollowPath([(2.0, 0.0)]))
    sim.step(200)
    copied = copy.deepcopy(sim)
    assert [type(one) for one in copied.tasks] == [sf.tasks.FollowPath]
    assert copied.tasks[0] is not task
    assert copied.tasks[0].status == "running"


def test_a_copy_keeps_a_waiting_switch_and_a_changed_model() -> None:
    sim = sf.Simulation(skill="human/fast-walk")
    sim.model.opt.gravity[2] = -9.0
    sim.step(50)
    sim.switch("skip")
    copied = copy.deepcopy(sim)
    assert copied.requested is not None
    assert copied.requested.name == "skip"
    assert copied.model.opt.gravity[2] == -9.0
    copied.model.opt.gravity[2] = -5.0
    assert sim.model.opt.gravity[2] == -9.0


def _stepped(sim: sf.Simulation, answers: Any) -> None:
    sim.step(300)
    answers.put(sim.snapshot().state)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_limit_cycle_simulation_that_has_stepped_goes_on_in_another_process(start: str) -> None:
    sim = sf.Simulation(skill="human19/march")
    sim.step(800)  # trial steps were taken: there are threads
    context = multiprocessing.get_context(start)
    answers = context.Queue()
    process = context.Process(target=_stepped, args=(sim, answers))
    process.start()
    state = answers.get()
    process.join()
    sim.step(300)
    assert np.array_equal(state, sim.snapshot().state)


def _refused(population: sf.Population, answers: Any) -> None:
    try:
        population.step(1)
    except sf.SurefootError as error:
        answers.put(str(error))
    else:
        answers.put("it ran")


def test_a_population_in_a_forked_process_is_refused_in_place_of_hanging() -> None:
    population = sf.Population(2, skill="walk")
    population.step(10)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_refused, args=(population, answers))
    process.start()
    assert "runs in the process that made it" in answers.get()
    process.join()


def test_a_notebook_shows_a_motion_as_a_strip_and_what_cannot_be_drawn_in_words() -> None:
    motion = sf.Simulation("planar").run(0.5)
    shown = motion._repr_html_()
    png = base64.b64decode(shown.partition("base64,")[2].partition('"')[0])
    assert png.startswith(b"\x89PNG")
    assert "&lt;Motion: 0.5 s" in shown
    nothing = motion.select(slice(0, 0))._repr_html_()
    assert nothing.startswith("<pre>&lt;Motion: 0 s")


def test_what_it_is_and_how_it_goes_is_in_its_representation() -> None:
    sim = sf.Simulation(skill="human/fast-walk", terrain="slope:2")
    where = sim.scene.terrain.description
    assert repr(sim) == f"<Simulation: human/fast-walk of human on {where}, 0 s, upright>"
    assert repr(sf.Population(3, "planar")) == "<Population: 3 rows of planar, planar/walk; 0 fell>"
    assert repr(sim.run(0.1, fps=20)) == "<Motion: 0.1 s, 3 frames, 15 joints>"


def test_motions_are_compared_by_their_numbers() -> None:
    one, other = (sf.Simulation("planar").run(0.2) for _ in range(2))
    assert one == other
    assert one != sf.Simulation("planar").run(0.3)
    assert one != sf.Simulation(skill="planar/run").run(0.2)
    assert one != "a motion"


def test_modules_of_names_are_modules_and_can_be_called() -> None:
    import surefoot.terrains as terrains

    assert terrains.flat().description == "flat"
    assert sf.terrains() == terrains.names()
    assert sf.skills("human") == sf.skills.names("human")
    assert sf.characters() == sf.characters.names()


def test_a_table_is_accepted_as_character() -> None:
    table = sf.characters.load("human")
    one, other = sf.Simulation(table, "fast-walk"), sf.Simulation("human", "fast-walk")
    one.step(50)
    other.step(50)
    assert np.array_equal(one.data.qpos, other.data.qpos)


def test_old_names_still_work_and_say_how_they_are_called_now() -> None:
    with pytest.deprecated_call(match="with_parameters"):
        sf.varied  # noqa: B018
    with pytest.deprecated_call(match="Simulation.with_proportions"):
        assert sf.Simulation("human", "fast-walk").reshaped({"thigh_length": 1.1}).time == 0.0
    population = sf.Population(2, "planar")
    with pytest.deprecated_call(match=r"\(count, rows\)"):
        population.step([0], 3)
    assert population.time[0] > population.time[1] == 0.0
