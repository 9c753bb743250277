"""Tasks: what they see and tell, when they are ticked, how they end; props they meet; walking along a path."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import mujoco
import numpy as np
import pytest

import surefoot as sf
from conftest import bits
from surefoot.cli.main import main
from surefoot.errors import CommandError, SurefootError, TerrainError, UnknownNameError
from surefoot.tasks import LEFT, RIGHT, Actor, FollowPath, Task
from surefoot.tasks.follow_path import Polyline
from surefoot.terrains import flat
from surefoot.terrains import load as load_terrain
from surefoot.terrains.props import Bar, Crate, Obstacle, Prop, Table, with_props

HANDLES = ((-0.25, 0.2, 0.1), (-0.25, -0.2, 0.1))
PROPS = (Crate(mass=80.0, position=(3.0, 0.4, 0.0), handles=HANDLES), Obstacle(6.0, 0.1), Bar(7.0, 1.5), Table((0, 3)))


class Weave(Task):
    """Heads where its own measurements say, so that any difference in them grows."""

    def __init__(self, until: float = 1.5, period: float = 0.01) -> None:
        super().__init__(30.0, period)
        self.until = until
        self.ticks: list[float] = []
        self.ended = 0

    def tick(self, actor: Actor) -> None:
        self.ticks.append(actor.time)
        sway = actor.in_heading_frame(actor.hand(LEFT))[1] - actor.feet[RIGHT][1]
        actor.command(heading=0.3 * math.sin(3.0 * actor.time) + 0.2 * sway, speed=0.5 + 0.1 * actor.com_velocity[0])
        actor.intent.bend = 0.05 * sway
        if actor.time >= self.until:
            self.finish("wove")

    def end(self, actor: Actor) -> None:
        self.ended += 1
        actor.intent.bend = 0.0


class Idle(Task):
    def tick(self, actor: Actor) -> None:
        pass

    def progress(self) -> str:
        return "idling"


def walker(props: Sequence[Prop] = (), terrain: str = "flat", seed: int = 0) -> sf.Simulation:
    return sf.Simulation("humanoid", "zero-walk", with_props(load_terrain(terrain), props), seed)


# ----------------------------------------------------------------------------------------------- life of a task


def test_a_task_waits_runs_and_is_done_with_a_reason() -> None:
    sim = walker()
    task = sim.add(Weave(0.3))
    assert (task.status, task.reason) == ("waiting", "")
    assert sim.tasks == (task,)
    sim.step(1)
    assert task.status == "running"
    sim.step(400)
    assert (task.status, task.reason, task.ended) == ("done", "wove", 1)
    assert sim.actor.intent.bend == 0.0
    assert task.ticks == pytest.approx(np.arange(31) * 0.01, abs=1e-9)


def test_a_task_that_takes_too_long_fails_and_says_what_it_was_doing() -> None:
    sim = walker()
    task = sim.add(Idle(timeout=0.25))
    sim.step(250)
    assert task.status == "running"
    sim.step(20)
    assert task.status == "failed"
    assert task.reason == "not done within 0.25 s, idling"


def test_a_task_fails_when_the_character_falls_and_says_when() -> None:
    sim = walker()
    task = sim.add(Idle())
    sim.push((0.0, 3000.0, 0.0), 0.3, "chest")
    sim.step(3000)
    assert sim.fallen
    assert task.status == "failed"
    assert task.reason.startswith(f"it fell at {sim.fallen_at:.2f} s: ")


def test_a_task_whose_command_is_refused_fails_with_the_refusal() -> None:
    class Rush(Task):
        def tick(self, actor: Actor) -> None:
            actor.command(speed=99.0)

    sim = walker()
    task = sim.add(Rush())
    sim.step(1)
    assert task.status == "failed"
    assert "speed must be within" in task.reason


def test_a_task_without_a_period_of_its_own_is_ticked_at_whole_physics_steps() -> None:
    sim = walker()
    task = sim.add(Weave(1.0, period=0.0274))
    sim.step(300)
    assert task.ticks == pytest.approx(0.027 * np.arange(12), abs=1e-9)


def test_a_skill_that_takes_no_tasks_refuses_them_and_names_those_that_do() -> None:
    with pytest.raises(CommandError, match=r"planar/walk.*simbicon.*biped/zero-walk"):
        sf.Simulation("planar").add(Idle())
    with pytest.raises(CommandError, match="biped/zero-walk"):
        sf.Population(2, tasks=[Idle()])


def test_a_task_can_be_added_only_once_and_has_to_be_a_task() -> None:
    sim = walker()
    task = sim.add(Idle(timeout=0.01))
    with pytest.raises(CommandError, match="make a new one"):
        sim.add(task)
    sim.step(30)
    with pytest.raises(CommandError, match="make a new one"):
        walker().add(task)
    with pytest.raises(CommandError, match="Task"):
        sim.add("follow-path")  # type: ignore[type-var]
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(CommandError, match="timeout"):
            Idle(timeout=bad)
        with pytest.raises(CommandError, match="period"):
            Idle(period=bad)


# ------------------------------------------------------------------------------------------------ bit for bit


def woven(chunks: Sequence[int]) -> np.ndarray:
    sim = walker(PROPS)
    sim.add(Weave(1.1))
    sim.add(Weave(0.9, period=0.013))
    for chunk in chunks:
        sim.step(chunk)
    assert [task.status for task in sim.tasks] == ["done", "done"]
    return bits(sim)


def test_results_do_not_depend_on_how_steps_are_chunked() -> None:
    whole = woven([1200])
    assert np.array_equal(whole, woven([1] * 37 + [300, 0, 5, 858]))
    assert np.array_equal(whole, woven([7] * 171 + [3]))


def test_rows_with_tasks_are_the_single_simulations() -> None:
    population = sf.Population(3, "humanoid", "zero-walk", with_props(flat(), PROPS), tasks=[Weave(1.1)], seed=4)
    population.run(0.7)
    population.run(0.5, fps=30, stop_fallen=True)
    for i in (0, 2):
        sim = walker(PROPS, seed=4 + i)
        task = sim.add(Weave(1.1))
        sim.step(1200)
        assert np.array_equal(population.states[i], bits(sim))
        mine = population.tasks[i][0]
        assert isinstance(mine, Weave)
        assert (mine.status, mine.ticks) == (task.status, task.ticks)


class Grab(Task):
    """Takes hold for a while; the spring pulls the hand to the handle."""

    def tick(self, actor: Actor) -> None:
        actor.grip("grip_left", 0.1 <= actor.time < 0.4)
        if actor.time > 0.5:
            self.finish("let go")


def test_a_row_grips_as_a_single_simulation_does() -> None:
    near = [Crate(size=(0.3, 0.5, 0.3), mass=5.0, position=(0.6, 0.0, 0.0), handles=HANDLES)]
    population = sf.Population(2, "humanoid", "zero-walk", with_props(flat(), near), tasks=[Grab()])
    sim, bare = walker(near, seed=1), walker(near, seed=1)
    sim.add(Grab())
    population.run(0.6)
    sim.step(600)
    bare.step(600)
    assert np.array_equal(population.states[1], bits(sim))
    assert not np.array_equal(bits(bare), bits(sim))


def test_tasks_may_differ_by_row_and_rows_without_run_on() -> None:
    def make(row: int) -> list[Task]:
        return [Weave(0.2 * row)] if row else []

    population = sf.Population(3, "humanoid", "zero-walk", tasks=make)
    population.advance([0.3, 0.3, 0.5])
    assert [len(tasks) for tasks in population.tasks] == [0, 1, 1]
    sim = walker(seed=2)
    sim.add(Weave(0.4))
    sim.step(500)
    assert np.array_equal(population.states[2], bits(sim))
    plain = walker()
    plain.step(300)
    assert np.array_equal(population.states[0], bits(plain))
    lists = sf.Population(2, "humanoid", "zero-walk", tasks=[[Weave()], []])
    assert [len(tasks) for tasks in lists.tasks] == [1, 0]
    with pytest.raises(SurefootError, match="2 lists of tasks for 3 rows"):
        sf.Population(3, "humanoid", "zero-walk", tasks=[[Weave()], []])
    with pytest.raises(SurefootError, match="tasks"):
        population.restore(population.states)


def test_a_restore_takes_tasks_back_and_runs_on_bit_for_bit() -> None:
    sim = walker(PROPS)
    before = sim.snapshot()
    task = sim.add(Weave(1.0))
    sim.step(333)
    kept, ticks = sim.snapshot(), list(task.ticks)
    sim.step(800)
    there, reason = bits(sim), task.reason
    sim.restore(kept)
    assert task is sim.tasks[0]
    assert (task.status, task.ticks, task.reason) == ("running", ticks, "")
    sim.step(800)
    assert np.array_equal(bits(sim), there)
    assert task.reason == reason
    other = walker(PROPS)
    other.restore(kept)
    assert other.tasks[0] is not task
    other.step(800)
    assert np.array_equal(bits(other), there)
    sim.restore(before)
    assert sim.tasks == ()


# ------------------------------------------------------------------------------------------------ measurements


def test_measurements_are_of_the_present_moment() -> None:
    sim = walker(PROPS)
    sim.command(speed=0.7, heading=0.4)
    sim.step(1537)
    actor, model = sim.actor, sim.model
    now = mujoco.MjData(model)
    now.qpos[:], now.qvel[:] = sim.data.qpos, sim.data.qvel
    mujoco.mj_forward(model, now)
    assert np.array_equal(actor.com, now.body("pelvis").subtree_com)
    assert np.array_equal(actor.position("left_foot"), now.body("left_foot").xpos)
    assert actor.feet == pytest.approx(np.array([now.body("left_foot").xpos, now.body("right_foot").xpos]))
    assert actor.hand(RIGHT) == pytest.approx(now.site("hand_right").xpos, abs=1e-12)
    assert actor.site("crate_left") == pytest.approx(np.array([2.75, 0.6, 0.35]), abs=1e-3)
    assert len(actor.contacts()) == now.ncon
    assert actor.mass("crate") == 80.0
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, now, mujoco.mjtObj.mjOBJ_SITE, model.site("hand_left").id, velocity, 0)
    assert actor.hand_velocity(LEFT) == pytest.approx(velocity[3:], abs=1e-12)
    masses = model.body_mass[1:17]
    mean = np.array([actor.velocity(i, now.xipos[i]) for i in range(1, 17)]).T @ masses / masses.sum()
    assert actor.com_velocity == pytest.approx(mean, abs=1e-9)


def test_a_point_is_seen_along_the_heading_from_the_centre_of_mass() -> None:
    sim = walker()
    sim.command(heading=0.5)
    sim.step(900)
    actor = sim.actor
    yaw = actor.heading
    ahead, left = np.array([math.cos(yaw), math.sin(yaw), 0.0]), np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    point = actor.com + 2.0 * ahead + 0.3 * left
    assert actor.in_heading_frame(point) == pytest.approx([2.0, 0.3, point[2]])
    assert actor.distance_to(point) == pytest.approx(math.hypot(2.0, 0.3))
    assert actor.yaw_to(point) == pytest.approx(yaw + math.atan2(0.3, 2.0))
    w, x, y, z = sim.data.qpos[3:7]
    assert actor.pelvis_yaw == pytest.approx(math.atan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z)))
    assert actor.pelvis_yaw > 0.05


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    actor = walker(PROPS).actor
    for ask, known in ((actor.body, "crate"), (actor.site, "crate_left"), (actor.gripping, "grip_left")):
        with pytest.raises(UnknownNameError, match=known):
            ask("nonsense")


# ------------------------------------------------------------------------------------------------------- props


def test_props_come_after_the_characters_bodies_and_are_not_its_own() -> None:
    bare, full = walker().model, walker(PROPS).model
    own = [bare.body(i).name for i in range(bare.nbody)]
    assert [full.body(i).name for i in range(full.nbody)] == [*own, "crate", "obstacle_0", "bar_0", "table"]
    assert np.array_equal(full.body_mass[: bare.nbody], bare.body_mass)
    two = walker([Obstacle(2.0, 0.1), Crate(), Obstacle(3.0, 0.1), Crate(position=(9.0, 0.0, 0.0))]).model
    assert [two.body(i).name for i in range(bare.nbody, two.nbody)] == ["obstacle_0", "crate", "obstacle_1", "crate_1"]


def test_props_elsewhere_do_not_change_how_it_walks() -> None:
    bare, full = walker(), walker(PROPS)
    n = bare.model.nq
    for sim in (bare, full):
        sim.step(1000)  # later, contacts amplify the rounding of a solve that has more rows
    assert full.data.qpos[:n] == pytest.approx(bare.data.qpos, abs=1e-9)


def test_touching_a_prop_is_no_fall_and_is_felt() -> None:
    sim = walker([Table((0.55, 0.0), (0.3, 2.0, 1.2))])
    felt = None
    while felt is None and sim.time < 5.0:
        sim.step(10)
        felt = sim.actor.touching("table")
    assert felt is not None
    assert sim.actor.is_own_body(felt)
    assert not sim.fallen
    assert sim.actor.touching("table", "world") is None


@pytest.mark.parametrize("degrees", [8.0, 11.0, 11.7, 20.0])
def test_a_crate_slides_only_on_slopes_steeper_than_its_friction(degrees: float) -> None:
    sim = walker([Crate(mass=80.0, position=(3.0, 0.0, 0.0), friction=0.2)], f"incline:{-degrees:g}")
    start = sim.actor.position("crate")
    sim.step(1000)
    angle = math.radians(degrees)
    pull = 9.81 * (math.sin(angle) - 0.2 * math.cos(angle))
    assert np.linalg.norm(sim.actor.position("crate") - start) == pytest.approx(max(0.0, 0.5 * pull), abs=0.01)


def test_a_sliding_crate_is_slowed_by_its_own_friction_not_by_the_grounds() -> None:
    sim = walker([Crate(position=(5.0, 0.0, 0.0), friction=0.2)])
    first = int(sim.model.joint("crate").dofadr[0])
    sim.step(50)
    sim.data.qvel[first] = 3.0
    sim.step(1000)
    assert sim.data.qvel[first] == pytest.approx(3.0 - 0.2 * 9.81, abs=0.01)


def test_grips_are_open_at_first_and_hold_the_hand_at_the_handle_once_closed() -> None:
    sim = walker([Crate(size=(0.3, 0.5, 0.3), mass=5.0, position=(0.4, 0.0, 0.55), handles=HANDLES)])
    assert not sim.model.eq_active0.any()
    assert not walker().model.neq
    sim.command(stop=1.0)
    actor = sim.actor
    sim.data.qpos[sim.model.joint("crate").qposadr[0] :][:3] += actor.hand(LEFT) - actor.site("crate_left")
    sim.actor.grip("grip_left", True)
    assert sim.actor.gripping("grip_left")
    kept = sim.snapshot()
    sim.step(300)
    held = sim.actor
    assert np.linalg.norm(held.hand(LEFT) - held.site("crate_left")) < 0.03
    held.grip("grip_left", False)
    sim.step(300)
    assert np.linalg.norm(sim.actor.hand(LEFT) - sim.actor.site("crate_left")) > 0.1
    sim.restore(kept)
    assert sim.actor.gripping("grip_left")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Crate(size=(0.0, 1.0, 1.0)),
        lambda: Crate(mass=-1.0),
        lambda: Crate(friction=math.nan),
        lambda: Crate(handles=((0.0, 0.0, math.inf), (0.0, 0.0, 0.0))),
        lambda: Obstacle(math.nan, 0.1),
        lambda: Obstacle(1.0, -0.1),
        lambda: Bar(1e9, 1.0),
        lambda: Table((0.0, 0.0), (1.0, 1.0, 1e3)),
        lambda: with_props(flat(), ["crate"]),  # type: ignore[list-item]
    ],
)
def test_props_that_cannot_be_built_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(TerrainError, match=r"takes|edges|within|points|Crate"):
        make()


# ------------------------------------------------------------------------------------------------------- paths


def test_a_path_is_measured_along_itself() -> None:
    path = Polyline(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 1.0]]))
    assert path.arc_lengths == pytest.approx([0.0, 5.0, 8.0])
    assert path.point_at(2.5) == pytest.approx([1.5, 2.0])
    assert path.point_at(9.0) == pytest.approx([3.0, 0.0])
    assert path.nearest(np.array([3.7, 2.2]), 0.0, 8.0) == pytest.approx(6.8)
    assert path.nearest(np.array([3.7, 2.2]), 0.0, 5.0) == pytest.approx(0.6 * 3.7 + 0.8 * 2.2)
    assert path.turns() == pytest.approx([0.0, math.pi / 2.0 + math.atan2(4.0, 3.0), 0.0])


def test_it_walks_through_the_points_of_a_course_with_turns_and_stands_at_the_last() -> None:
    points, tolerance = [(2.0, 0.0), (3.0, 1.5), (3.0, 3.0)], 0.3
    sim = walker()
    task = sim.add(FollowPath(points, speed=0.5, tolerance=tolerance))
    way = []
    while not task.is_over:
        sim.step(20)
        way.append(sim.actor.com[:2])
    assert task.status == "done", task.reason
    passed = [np.linalg.norm(np.array(way) - point, axis=1).min() for point in points]
    assert max(passed) <= tolerance + 0.02
    assert task.missed == pytest.approx(passed, abs=0.01)
    assert sim.actor.standing
    sim.step(3000)
    assert np.linalg.norm(sim.actor.com[:2] - points[-1]) <= tolerance + 0.05
    assert not sim.fallen


def test_a_path_that_leads_back_is_followed_by_turning_round() -> None:
    sim = walker()
    task = sim.add(FollowPath([(-1.5, 0.3)], speed=0.5))
    sim.step(20_000)
    assert task.status == "done", task.reason
    assert abs(abs(sim.actor.pelvis_yaw) - math.pi) < 0.6


def test_a_path_that_takes_too_long_says_where_it_was() -> None:
    sim = walker()
    task = sim.add(FollowPath([(1.0, 0.0), (50.0, 0.0)], speed=0.5, timeout=4.0))
    sim.step(5000)
    assert task.reason == "not done within 4 s, on the way to point 2 of 2"


@pytest.mark.parametrize(
    "make",
    [
        lambda: FollowPath([]),
        lambda: FollowPath([1.0, 2.0]),  # type: ignore[list-item]
        lambda: FollowPath([(1.0, 2.0, 3.0)]),
        lambda: FollowPath([(1.0, math.nan)]),
        lambda: FollowPath([(1.0, 2e3)]),
        lambda: FollowPath([(1.0, "two")]),  # type: ignore[list-item]
        lambda: FollowPath([(1.0, 2.0)], speed=9.0),
        lambda: FollowPath([(1.0, 2.0)], tolerance=0.0),
        lambda: FollowPath([(1.0, 2.0)], timeout=-1.0),
    ],
)
def test_paths_that_cannot_be_walked_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(CommandError, match=r"path|timeout"):
        make()


# ------------------------------------------------------------------------------------------------ command line


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fly:1,2", "valid: .*follow-path"),
        ("follow-path", "X,Y"),
        ("follow-path:1,2,3", "3 numbers"),
        ("follow-path:1,two", "two"),
        ("follow-path:1,2,pace=3", "speed="),
        ("follow-path:1,2,speed=0.5,speed=0.6", "speed="),
        ("follow-path:1,inf", "inf"),
    ],
)
def test_texts_that_are_no_tasks_are_refused_with_what_would_be(text: str, says: str) -> None:
    with pytest.raises(SurefootError, match=says):
        sf.tasks.load(text)


def test_the_text_of_a_path_gives_its_points_and_options() -> None:
    task = sf.tasks.load("follow-path:2,0,4,-2.5,speed=0.6,timeout=90")
    assert isinstance(task, FollowPath)
    assert task.points.tolist() == [[2.0, 0.0], [4.0, -2.5]]
    assert (task.speed, task.timeout) == (0.6, 90.0)


@pytest.mark.parametrize(("seconds", "status", "code"), [("9", "done", 0), ("2", "running", 1)])
def test_the_command_line_walks_a_path_and_says_how_it_went(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seconds: str, status: str, code: int
) -> None:
    words = ["simulate", "zero-walk", "--character", "humanoid", "--task", "follow-path:1.5,0.2,speed=0.5"]
    monkeypatch.setattr("sys.argv", ["surefoot", *words, "--seconds", seconds, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    summary = json.loads(capsys.readouterr().out)
    assert [task["status"] for task in summary["tasks"]] == [status]
    assert ended.value.code == code
