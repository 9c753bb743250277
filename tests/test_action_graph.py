"""Action graphs: stylized skills that go over into each other, at run time and in the search for transitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers.action_graph import ActionGraph, Edge, load_graph
from surefoot.controllers.stylized.controller import tracker_of
from surefoot.controllers.stylized.law import tracker_memory, tracker_state
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.tracker import Tracker
from surefoot.errors import CommandError, SurefootError
from surefoot.lab.action_graph_search import RandomWalk, SearchBudget, edges_to_drop, is_connected, search_transitions
from surefoot.lab.reproduce.stylized import action_graph_walks
from surefoot.native.kernels import python_impl
from surefoot.skills import load, with_parameters

WALK, SOFT = "human/stylized-robust-walk", {"softness": 0.1}


def drawn(*edges: dict[str, object]) -> ActionGraph:
    """Two walks that differ a little, and a stand."""
    return ActionGraph.model_validate({
        "nodes": {
            "walk": {"skill": WALK, "changes": SOFT},
            "firm": {"skill": WALK, "changes": {"softness": 0.05, "style": 200.0}},
            "stand": {"skill": "human/stylized-stand"},
        },
        "edges": tuple(Edge.model_validate(edge) for edge in edges),
    })  # fmt: skip


THERE = {"from": "walk", "to": "firm", "leave": 0.3, "enter": 0.3}
BACK = {"from": "firm", "to": "walk"}


def record(sim: sf.Simulation) -> np.record:
    return tracker_state(sim.memory.memory)  # type: ignore[no-any-return]


def reference(sim: sf.Simulation, skill: sf.Skill) -> Reference:
    tracker = tracker_of(sim.scene, skill)
    assert isinstance(tracker, Tracker)
    return tracker.reference


def test_it_goes_over_at_the_edges_phases_and_walks_on() -> None:
    sim = sf.Simulation(graph=drawn(THERE, BACK))
    sim.run(2.0, fps=5.0)
    sim.switch("firm")
    assert sim.skill.parameters.softness == 0.1
    duration, before = reference(sim, sim.skill).duration, np.nan
    while sim.requested is not None:
        before = float(record(sim).clock)
        sim.step()
    assert before / duration == pytest.approx(0.3, abs=0.02)
    assert record(sim).clock / duration == pytest.approx(0.3, abs=0.02)
    assert sim.skill.parameters.style == 200.0
    sim.run(4.0, fps=5.0)
    assert not sim.fallen


def test_what_is_followed_does_not_jump_and_goes_on_in_the_same_direction() -> None:
    sim = sf.Simulation(graph=drawn({"from": "walk", "to": "stand"}))
    sim.run(2.0, fps=5.0)
    sim.switch("stand")
    heading = float(record(sim).heading)
    places = [int(sim.model.joint(name).qposadr[0]) for name in sim.scene.table.gains]
    while sim.requested is not None:
        angles = sim.data.qpos[places].copy()
        sim.step()
    targets = python_impl(tracker_memory)(sim.memory.memory, sim.model.nu).targets
    off = np.abs(targets - angles)  # a leg that has yet to land looks for the ground
    assert np.quantile(off, 0.75) < 0.01  # where the body is, not where the stand is
    assert np.abs(targets - reference(sim, sim.skill).poses[0, places]).max() > 0.15
    assert record(sim).heading == pytest.approx(heading, abs=0.02)


def test_a_row_of_a_population_goes_over_as_a_simulation_does_bit_for_bit() -> None:
    graph = drawn(THERE, BACK)
    population = sf.Population(2, graph=graph)
    population.run(1.0)
    population.switch("firm", [1])
    population.run(2.0)
    sim = sf.Simulation(graph=graph)
    sim.step(round(1.0 / sim.model.opt.timestep))
    sim.switch("firm")
    sim.run(2.0)
    assert sim.requested is None
    assert np.array_equal(population.qpos[1], sim.data.qpos)
    assert not np.array_equal(population.qpos[0], population.qpos[1])


def test_a_restored_snapshot_goes_over_again_bit_for_bit() -> None:
    sim = sf.Simulation(graph=drawn(THERE, BACK))
    sim.run(1.0)
    sim.switch("firm")
    moment = sim.snapshot()
    sim.run(2.0)
    first = sim.data.qpos.copy()
    assert sim.skill.parameters.style == 200.0
    sim.restore(moment)
    assert sim.skill.parameters.style == 150.0
    sim.run(2.0)
    assert np.array_equal(sim.data.qpos, first)


def test_a_goal_is_gone_to_over_the_nodes_between() -> None:
    graph = drawn(THERE, {"from": "firm", "to": "stand"})
    assert graph.shortest_path("walk", "stand") == ("firm", "stand")
    sim = sf.Simulation(graph=graph)
    sim.run(0.5)
    sim.switch("stand")
    been = []
    while sim.requested is not None and sim.time < 6.0:
        been.append(graph.node_of_skill(sim.skill))
        sim.step(4)
    assert list(dict.fromkeys(been)) == ["walk", "firm"]
    assert graph.node_of_skill(sim.skill) == "stand"


def test_a_goal_without_a_way_is_refused_with_what_can_be_reached() -> None:
    sim = sf.Simulation(graph=drawn(THERE))
    with pytest.raises(CommandError, match="no path leads from 'walk' to 'stand'; it can go to: firm"):
        sim.switch("stand")


def test_what_follows_by_itself_follows_at_the_end(tmp_path: Path) -> None:
    once = sf.Simulation(skill=WALK)
    walk = reference(once, once.skill)
    cut = {**vars(walk), "loops": False}
    Reference(**{name: cut[name] for name in Reference.__dataclass_fields__}).save(tmp_path / "once.npz")
    graph = ActionGraph.model_validate({
        "nodes": {
            "once": {"skill": WALK, "changes": {**SOFT, "reference": str(tmp_path / "once.npz")}, "then": "walk"},
            "walk": {"skill": WALK, "changes": SOFT},
        },
        "edges": (Edge.model_validate({"from": "once", "to": "walk", "enter": 0.0}),),
    })  # fmt: skip
    sim = sf.Simulation(graph=graph)
    sim.run(walk.duration - 0.1)
    assert graph.node_of_skill(sim.skill) == "once"
    sim.run(0.2)
    assert graph.node_of_skill(sim.skill) == "walk"
    sim.run(3.0, fps=5.0)
    assert not sim.fallen


def test_without_a_graph_a_stylized_skill_begins_at_a_landing_where_it_is_most_like_the_body() -> None:
    sim = sf.Simulation(skill=WALK)
    sim.run(2.0, fps=5.0)
    sim.switch(with_parameters(load(WALK), {"style": 200.0}))
    steps = float(record(sim).steps)
    while sim.requested is not None:
        assert record(sim).steps == steps
        clock = float(record(sim).clock)
        sim.step()
    duration = reference(sim, sim.skill).duration
    off = (float(record(sim).clock) - clock + duration / 2) % duration - duration / 2
    assert abs(off) < 0.1
    sim.run(3.0, fps=5.0)
    assert not sim.fallen


def test_a_stylized_skill_goes_on_thinking_until_another_controller_has_the_body() -> None:
    sim = sf.Simulation("human", WALK)
    sim.run(2.0, fps=5.0)
    sim.switch("human/robust-walk")
    while sim.requested is not None:
        solves, time = float(record(sim).solves), sim.time
        sim.step(10)
        assert sim.requested is None or record(sim).solves > solves
        assert sim.time - time < 0.1
    sim.run(4.0, fps=5.0)
    assert sim.skill.full_name == "human/robust-walk"
    assert not sim.fallen


def test_a_population_that_is_left_goes_on_as_a_simulation_does() -> None:
    population = sf.Population(2, "human", WALK)
    population.run(1.0)
    population.switch("human/robust-walk")
    population.run(2.0)
    sim = sf.Simulation("human", WALK)
    sim.run(1.0)
    sim.switch("human/robust-walk")
    sim.run(2.0)
    assert np.array_equal(population.qpos[1], sim.data.qpos)


def test_a_stylized_skill_that_is_handed_a_body_begins_where_its_reference_is_most_like_it() -> None:
    sim = sf.Simulation("human", "human/robust-walk")
    sim.run(3.0, fps=5.0)
    sim.switch(with_parameters(load(WALK), SOFT))
    while sim.requested is not None:
        sim.step()
    torque = python_impl(tracker_memory)(sim.memory.memory, sim.model.nu).torque
    assert record(sim).solves == 1.0
    assert np.abs(torque).max() > 1.0  # it has thought before its law acts
    moment = reference(sim, sim.skill).at(float(record(sim).clock))
    assert np.abs(moment.pose[7:] - sim.data.qpos[7:]).mean() < 0.15
    sim.run(5.0, fps=5.0)
    assert not sim.fallen


def test_a_graph_is_read_as_it_was_written(tmp_path: Path) -> None:
    graph = drawn(THERE, {**BACK, "survival": 0.75})
    graph.save(tmp_path / "graph.yaml")
    assert load_graph(tmp_path / "graph.yaml") == graph


def test_the_graph_of_the_library_leads_from_every_node_to_every_other_and_starts_to_walk() -> None:
    graph = load_graph("human")
    assert is_connected(graph)
    assert not is_connected(graph.without_edges({("stand", "step")}))
    sim = sf.Simulation(graph=graph)
    sim.run(1.0, fps=5.0)
    sim.switch("walk")
    sim.run(6.0, fps=5.0)
    assert graph.node_of_skill(sim.skill) == "walk"
    assert not sim.fallen
    with pytest.raises(SurefootError, match="unknown action graph 'nobody'; valid: human"):
        load_graph("nobody")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nodes: {}", "at least one node"),
        (
            "nodes: {a: {skill: human/stylized-robust-walk}}\nedges: [{from: a, to: b}]",
            "'b', which is no node; nodes are: a",
        ),
        ("nodes: {a: {skill: human/stylized-robust-walk}}\nedges: [{from: a, to: a}]", "to itself"),
        ("nodes: {a: {skill: human/walk-as-printed}}", "skills of one character and one controller"),
        ("nodes: {a: {skill: human/stylized-robust-walk, then: a}}", "no edge leads from 'a' to 'a'"),
        ("nodes: {a: {skill: human/stylized-robust-walk, colour: red}}", "nodes.a.colour"),
    ],
)
def test_a_graph_that_cannot_be_says_why(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "graph.yaml").write_text(text)
    with pytest.raises(SurefootError, match=says):
        load_graph(tmp_path / "graph.yaml")


def test_the_search_finds_the_way_between_like_walks_and_repeats_itself(tmp_path: Path) -> None:
    plan = SearchBudget(phases=3, finalists=1, replicas=2, seconds=2.0, seed=3)
    graph, pairs = drawn(), [("walk", "firm")]
    found = list(search_transitions(graph, plan, pairs))
    assert found == list(search_transitions(graph, plan, pairs))
    assert (found[0].source, found[0].target, found[0].tried) == ("walk", "firm", 3)
    edge = found[0].edge
    assert edge is not None
    assert edge.leave is not None
    assert edge.enter is not None
    assert edge.survival == 1.0
    assert abs((edge.enter - edge.leave + 0.5) % 1.0 - 0.5) < 0.1  # the references are the same
    action_graph_walks.draw_action_graph(tmp_path / "graph.png", graph.with_edges([edge]))
    assert (tmp_path / "graph.png").stat().st_size > 1000


def test_a_wanderer_stays_a_while_and_asks_only_for_nodes_an_edge_leads_to() -> None:
    graph = load_graph("human")
    way = RandomWalk(graph, np.random.default_rng(1))
    assert way.next_request("stand", 0.0, waits=False) is None
    assert way.next_request("stand", 5.0, waits=True) is None
    assert way.next_request("stand", 5.0, waits=False) == "step"
    assert way.next_request("step", 6.0, waits=False) is None
    assert way.edges == [("stand", "step")]


def test_the_edge_that_falls_share_goes_but_none_that_would_cut_off_a_node() -> None:
    graph = load_graph("human")
    rng = np.random.default_rng(0)
    ways = [
        RandomWalk(graph, rng, been)
        for been in (["step", "walk", "stand"], ["walk", "stand", "step"], ["step", "walk"])
    ]
    assert edges_to_drop(graph, ways, [0, 1]) == {("walk", "stand")}
    assert edges_to_drop(graph, ways, [2]) == set()
    assert edges_to_drop(graph, ways, []) == set()
