"""Control graphs: where tracked motions are alike, bridges between them, and how the law goes over an edge."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from surefoot.characters import load as load_character
from surefoot.controllers.action_graph import ActionGraph, Edge, load_graph
from surefoot.controllers.tracking import law
from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.controllers.tracking.table import FRAMES, TrackingTable
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene, Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.lab.action_graph_search import SearchBudget, largest_component, search_transitions, wander
from surefoot.lab.clip_fragments import cut_clip, moving_span
from surefoot.lab.floor_contact import fall_limits
from surefoot.lab.state_likeness import alike_phases, unlikeness
from surefoot.lab.tracking_bridge import find_bridge
from surefoot.lab.tracking_feedback import difference_weights
from surefoot.lab.tracking_reference import velocities
from surefoot.lab.tracking_states import on_path, run_on
from surefoot.motions import quaternions as quat
from surefoot.motions.retargeting import RetargetedClip
from surefoot.native.kernels import python_impl
from surefoot.skills import load
from surefoot.skills.schema import Skill

WALK = "human/tracked-walk"
HUMAN = load_character("human")
WEIGHTS = difference_weights(HUMAN)


@pytest.fixture(scope="module")
def walk() -> Skill:
    return load(WALK)


@pytest.fixture(scope="module")
def table(walk: Skill) -> TrackingTable:
    return table_of_skill(walk)


def elsewhere(table: TrackingTable, turn: float) -> TrackingTable:
    """The same motion at another place, turned."""
    about = np.tile(quat.about_vertical(np.array([turn])), (table.windows, 1))
    qpos, qvel = table.qpos.copy(), table.qvel.copy()
    qpos[:, :3] = quat.rotate(about, table.qpos[:, :3]) + np.array([3.0, -2.0, 0.0])
    qpos[:, 3:7] = quat.multiply(about, table.qpos[:, 3:7])
    qvel[:, :3] = quat.rotate(about, table.qvel[:, :3])
    return replace(table, qpos=qpos, qvel=qvel)


def two_walks(**edge: float) -> ActionGraph:
    """A walk, and the same walk whose feedback is a little weaker."""
    return ActionGraph.model_validate({
        "nodes": {"one": {"skill": WALK}, "other": {"skill": WALK, "changes": {"feedback": 0.9}}},
        "edges": (
            Edge.model_validate({"from": "one", "to": "other", **edge}),
            Edge.model_validate({"from": "other", "to": "one", "leave": 0.5, "enter": 0.5}),
        ),
    })  # fmt: skip


def tracker(sim: Simulation) -> np.record:
    found: np.record = python_impl(law.memory_of)(sim.memory.memory, len(HUMAN.gains)).tracker[0]
    return found


# ------------------------------------------------------------------------------------------- likeness


def test_likeness_does_not_depend_on_where_a_motion_is_and_faces(table: TrackingTable) -> None:
    here, there = unlikeness(WEIGHTS, table, table), unlikeness(WEIGHTS, table, elsewhere(table, 1.1))
    assert there == pytest.approx(here, abs=1e-6)
    assert np.diag(here) == pytest.approx(0.0, abs=1e-6)
    assert (here + np.eye(len(here)) > 0.01).all()


def test_the_most_alike_phases_of_a_motion_and_itself_are_the_same(walk: Skill) -> None:
    pairs = alike_phases(walk, walk, 5)
    assert len(set(pairs)) == 5
    assert all(leave == enter for leave, enter in pairs)


def test_a_motion_done_once_is_left_towards_its_end_and_entered_near_its_beginning(
    walk: Skill, table: TrackingTable, tmp_path: Path
) -> None:
    replace(table, back_to=table.windows - 1, held=2).save(tmp_path / "once.npz")
    once = walk.model_copy(
        update={"parameters": walk.parameters.model_copy(update={"reference": str(tmp_path / "once.npz")})}
    )
    assert all(0.6 <= leave <= 1.0 - 1.0 / table.windows for leave, _ in alike_phases(once, walk, 4))
    assert all(enter <= 0.3 for _, enter in alike_phases(walk, once, 4))


# -------------------------------------------------------------------------------------------- bridges


def test_a_motion_runs_on_over_its_ends_without_a_jump(table: TrackingTable) -> None:
    qpos, qvel = run_on(table, table.windows - 3, 2 * table.windows)
    assert qpos[0, :2] == pytest.approx([0.0, 0.0])
    assert quat.yaw(qpos[:1, 3:7]) == pytest.approx(0.0, abs=1e-9)
    steps = np.diff(qpos[:, :3], axis=0) / table.window
    middle = 0.5 * (qvel[1:, :3] + qvel[:-1, :3])
    assert np.abs(steps - middle).max() < 0.25  # [m/s]; a jump of a centimetre is 0.2


@pytest.mark.parametrize("name", ["human/tracked-walk", "human/tracked-turn-on-the-spot"])
def test_a_loop_whose_states_drifted_is_closed_on_its_path(name: str) -> None:
    table = table_of_skill(load(name))
    qpos, share = table.qpos.copy(), np.arange(table.windows) / table.windows
    qpos[:, :2] += [0.3, 0.2] + share[:, None] * [0.08, -0.05]
    closed = on_path(replace(table, qpos=qpos))
    poses, moves = run_on(closed, table.windows - 3, 6)
    steps, middle = np.diff(poses[:, :2], axis=0) / table.window, 0.5 * (moves[1:, :2] + moves[:-1, :2])
    assert np.abs(steps - middle).max() < 0.25  # [m/s]
    assert np.abs(closed.qpos[:, :2] - closed.clip[:, :2]).mean() < 0.06  # [m]


def test_a_bridge_begins_as_the_one_motion_and_ends_as_the_other(walk: Skill, table: TrackingTable) -> None:
    bridge = find_bridge(walk, walk, 0.5)
    assert bridge.unlikeness == pytest.approx(0.0, abs=1e-6)  # of a motion and itself
    other = replace(bridge, leave=3, begin=11)
    motion, model = other.motion(0.002), Scene(Setup(character="human", skill="stand")).model
    joints = [int(model.joint(name).qposadr[0]) for name in HUMAN.gains]
    assert len(motion.poses) == other.windows * FRAMES + 1
    assert motion.poses[0, joints] == pytest.approx(table.qpos[3, 7:], abs=1e-9)
    assert motion.poses[0, 2] == pytest.approx(table.qpos[3, 2])
    blended = other.blend * FRAMES
    own = run_on(table, 11, other.windows)[0]
    assert motion.poses[blended::FRAMES, joints][:-1] == pytest.approx(own[other.blend :, 7:], abs=1e-9)
    way = motion.poses[-1, :2] - motion.poses[blended, :2]
    far = run_on(table, 11, other.windows + 1)[0]
    assert way == pytest.approx(far[-1, :2] - far[other.blend, :2], abs=1e-6)


def test_a_bridge_moves_at_its_beginning_as_the_motion_that_is_left(walk: Skill, table: TrackingTable) -> None:
    bridge = replace(find_bridge(walk, walk, 0.5), leave=5, begin=13)
    model = Scene(Setup(character="human", skill="stand")).model
    rates = velocities(model, bridge.motion(0.002))
    _, own = run_on(table, 5, 2)
    assert rates[0, :3] == pytest.approx(own[0, :3], abs=0.1)
    dofs = [int(model.joint(name).dofadr[0]) for name in HUMAN.gains]
    assert np.abs(rates[1, dofs] - own[0, 6:]).mean() < 0.5  # [rad/s]


# ------------------------------------------------------------------------------------- over an edge


def test_the_law_leaves_and_enters_where_the_edge_says_and_goes_on_the_same_way() -> None:
    sim = Simulation(graph=two_walks(leave=0.2, enter=0.6))
    windows = table_of_skill(sim.skill).windows
    sim.run(1.0)
    facing = float(tracker(sim).heading)
    sim.switch("other")
    before = 0.0
    while sim.requested is not None:
        before = float(tracker(sim).clock)
        sim.step()
        assert sim.time < 5.0
    assert before == pytest.approx(round(0.2 * windows), abs=0.1)
    assert float(tracker(sim).entered) == round(0.6 * windows)
    assert sim.skill.parameters.feedback == 0.9
    state = table_of_skill(sim.skill).qpos
    turned = quat.yaw(state[[round(0.2 * windows)], 3:7]) - quat.yaw(state[[round(0.6 * windows)], 3:7])
    assert float(tracker(sim).heading) - facing == pytest.approx(float(turned[0]), abs=1e-6)


def test_a_row_goes_over_an_edge_as_a_simulation_does_bit_for_bit() -> None:
    graph = two_walks(leave=0.3, enter=0.3)
    population = Population(2, graph=graph)
    population.run(0.5)
    population.switch("other", [1])
    population.run(2.0)
    sim = Simulation(graph=graph)
    sim.step(round(0.5 / sim.model.opt.timestep))
    sim.switch("other")
    sim.run(2.0)
    assert sim.requested is None
    assert np.array_equal(population.qpos[1], sim.data.qpos)
    assert not np.array_equal(population.qpos[0], population.qpos[1])


def test_transitions_between_motions_that_are_alike_are_found_and_walked() -> None:
    graph = ActionGraph.model_validate({"nodes": two_walks().nodes})
    plan = SearchBudget(phases=3, replicas=2, seconds=2.0)
    found = [one.edge for one in search_transitions(graph, plan, phases=alike_phases)]
    assert all(edge is not None for edge in found)
    fell, been, motion = wander(graph.with_edges([edge for edge in found if edge]), 12.0, 1)
    assert np.isinf(fell)
    assert len(been) >= 2
    assert float(motion.time[-1]) == pytest.approx(12.0, abs=0.1)


def test_a_graph_of_skills_in_files_is_saved_with_names_relative_to_it(walk: Skill, tmp_path: Path) -> None:
    from surefoot.skills import files

    files.write(walk.model_dump(by_alias=True, exclude_none=True, mode="json") | {"name": "mine"}, tmp_path / "a.yaml")
    graph = ActionGraph.model_validate({"nodes": {"a": {"skill": str(tmp_path / "a.yaml")}, "b": {"skill": WALK}}})
    graph.save(tmp_path / "graph.yaml")
    assert "skill: a.yaml" in (tmp_path / "graph.yaml").read_text()
    assert load_graph(tmp_path / "graph.yaml").skill("a").name == "mine"


def test_what_cannot_be_reached_both_ways_is_left_out() -> None:
    nodes = {name: {"skill": WALK, "changes": {"feedback": 1.0 - 0.01 * i}} for i, name in enumerate("abcd")}
    ends = (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"))
    graph = ActionGraph.model_validate(
        {"nodes": nodes, "edges": tuple(Edge.model_validate({"from": a, "to": b}) for a, b in ends)}
    )
    kept = largest_component(graph)
    assert set(kept.nodes) == {"a", "b", "c"}
    assert len(kept.edges) == 3


def test_nodes_of_different_controllers_are_refused() -> None:
    with pytest.raises(ValueError, match="one controller that follows references"):
        ActionGraph.model_validate({"nodes": {"a": {"skill": WALK}, "b": {"skill": "human/stylized-stand"}}})


# ------------------------------------------------------------------------------------ parts of clips


def made_up_clip() -> RetargetedClip:
    """Somebody stands for half a second, goes forward for two, and stands again."""
    time = np.arange(0.0, 3.5, 0.01)
    going = np.clip(time - 0.5, 0.0, 2.0)
    position = np.column_stack([going, np.zeros_like(time), np.full_like(time, 0.9)])
    rotation = np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1))
    angles = {hinge.name: np.zeros_like(time) for segment in HUMAN.segments for hinge in segment.hinges}
    return RetargetedClip(
        time=time, contacts=np.ones((len(time), 2)), angles=angles, root_position=position, root_rotation=rotation,
        scale=1.0, notes=(),
    )  # fmt: skip


def test_where_a_clip_begins_and_ends_to_move_is_found() -> None:
    begin, end = moving_span(made_up_clip())
    assert begin == pytest.approx(0.5, abs=0.06)
    assert end == pytest.approx(2.5, abs=0.06)


def test_a_part_of_a_clip_begins_at_zero() -> None:
    part = cut_clip(made_up_clip(), 1.0, 2.0)
    assert part.time[0] == 0.0
    assert part.time[-1] == pytest.approx(0.99)
    assert part.root_position[0, 0] == pytest.approx(0.5, abs=0.02)


# ---------------------------------------------------------------------------------------------- floor


def test_a_motion_on_feet_alone_has_fallen_as_usual_and_one_on_a_knee_has_not(table: TrackingTable) -> None:
    model = Scene(Setup(character="human", skill="stand")).model
    poses = np.tile(model.qpos0, (2, 1))
    poses[:, 2] = 0.95
    assert fall_limits(model, HUMAN, poses) == {}
    poses[1, 2] = 0.5
    poses[1, int(model.joint("right_knee").qposadr[0])] = -1.6
    poses[1, int(model.joint("left_knee").qposadr[0])] = -1.6
    poses[1, int(model.joint("left_hip").qposadr[0])] = 1.6
    found = fall_limits(model, HUMAN, poses)
    assert found["touch"] is False
    assert found["height"] < 0.35


def test_a_knee_on_the_ground_is_no_fall_where_a_skill_allows_it() -> None:
    causes = {}
    for touch in (True, False):
        skill = load("human/stand")
        changed = skill.model_copy(
            update={"fall": skill.fall.model_copy(update={"touch": touch, "height": -1.0, "tilt": 3.2})}
        )
        sim = Simulation(skill=changed)
        for name in ("left_knee", "right_knee"):
            sim.data.qpos[int(sim.model.joint(name).qposadr[0])] = -1.5
        sim.data.qpos[2] -= 0.45
        mujoco.mj_forward(sim.model, sim.data)
        sim.step(400)
        causes[touch] = sim.fall_cause
    assert causes == {True: "touched the ground", False: "none"}


# ------------------------------------------------------------------------------------------- command


def test_the_command_shows_a_graph_and_refuses_what_cannot_be_in_one_line(tmp_path: Path) -> None:
    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "surefoot", "graph", *words], capture_output=True, text=True, check=False
        )

    shown = run("human", "--picture", tmp_path / "graph.png")
    assert shown.returncode == 0
    assert "stand" in shown.stdout
    assert (tmp_path / "graph.png").stat().st_size > 1000
    for words, message in (
        (["human", "walk.bvh"], "either clips or one graph"),
        (["human", "--film", str(tmp_path / "a.mp4")], "--walk"),
        ([str(tmp_path / "none.bvh"), str(tmp_path / "none2.bvh")], "none.bvh"),
    ):
        refused = run(*words)
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert message in refused.stderr


def test_going_to_a_node_without_a_way_says_what_can_be_reached() -> None:
    graph = two_walks().without_edges([("other", "one")])
    sim = Simulation(graph=graph, skill="other")
    with pytest.raises(CommandError, match="no path leads from 'other' to 'one'"):
        sim.switch("one")
