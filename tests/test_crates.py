"""Crates: pushed, pulled, lifted, carried and put down; how such a task ends when it cannot be done."""

from __future__ import annotations

import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers.genbicon.memory import INTENT
from surefoot.errors import CommandError
from surefoot.native.kernels import python_impl
from surefoot.reflexes.limb_servo import balance_point
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.tasks import Carry, PullCrate, PushCrate, Task, carry_crate, load, push_pull_crate
from surefoot.tasks.crate_grasp import handle_positions
from surefoot.terrains import flat
from surefoot.terrains.props import Crate, Prop, with_props


def world(*props: Prop) -> sf.Simulation:
    return sf.Simulation("humanoid", "zero-walk", with_props(flat(), props))


def done(sim: sf.Simulation, task: Task, seconds: float = 90.0) -> None:
    sim.add(task)
    while not task.is_over and sim.time < seconds:
        sim.step(100)
    assert task.status == "done", task.reason


def is_free(sim: sf.Simulation) -> bool:
    """Whether nothing is held and nothing is told any more."""
    actor = sim.actor
    told = [float(actor.intent[name]) for name in INTENT.names] + [float(h.reach + h.fx + h.fz) for h in actor.hands]
    return not any(told) and not any(actor.gripping(name) for name in ("grip_left", "grip_right"))


@pytest.mark.parametrize("kind", [PushCrate, PullCrate])
def test_a_crate_of_80_kg_is_moved_and_let_go(kind: type[PushCrate] | type[PullCrate]) -> None:
    sim = world(push_pull_crate.heavy_crate_prop(2.2, 0.1))
    before = sim.actor.position("crate")
    task = kind(0.4)
    done(sim, task)
    moved = task.direction * float(sim.actor.position("crate")[0] - before[0])
    assert 0.4 <= moved < 0.8
    assert sim.actor.standing
    assert is_free(sim)


@pytest.mark.slow
def test_it_leans_against_the_crate_it_pushes_and_away_from_the_one_it_pulls() -> None:
    leans = []
    for kind in (PushCrate, PullCrate):
        sim = world(push_pull_crate.heavy_crate_prop(1.5))
        task = sim.add(kind(3.0))
        sampled: list[float] = []
        while task.moved < 1.0 and not task.is_over:
            sim.step(20)
            if task.moved > 0.3:
                sampled.append(float(sim.actor.com[0] - sim.actor.feet[:, 0].mean()))
        leans.append(np.mean(sampled))
    wanted = 0.2 * 80.0 * GRAVITY * 0.95 / (73.5 * GRAVITY)  # [m] F z_F / (m g)
    assert leans == pytest.approx([wanted, -wanted], abs=0.12)


@pytest.mark.slow
def test_a_crate_is_carried_and_put_down_where_it_was_asked_for() -> None:
    sim = world(carry_crate.carry_crate_prop(10.0, 1.2))
    task = Carry((4.0, 0.0))
    done(sim, task)
    place = sim.actor.position("crate")
    assert math.hypot(place[0] - 4.0, place[1]) < 0.4
    assert place[2] == pytest.approx(0.18, abs=0.01)  # it lies flat
    assert sim.actor.standing
    assert is_free(sim)
    assert sim.actor.com[2] > 0.95  # upright


def test_a_load_without_mass_is_no_load() -> None:
    ends = []
    for tells in (False, True):
        sim = world(carry_crate.carry_crate_prop(10.0, 6.0, 2.0))
        if tells:
            sim.actor.intent.load_body = sim.actor.body("crate")
        sim.step(1500)
        ends.append(np.concatenate([sim.data.qpos, sim.data.qvel]))
    np.testing.assert_array_equal(ends[0], ends[1])


def test_a_lasting_force_shifts_the_pendulum_along_the_heading() -> None:
    intent = np.zeros(1, INTENT).view(np.recarray)[0]
    intent.force, intent.force_height = -150.0, 0.9
    com = (1.3, -0.4, 0.97)
    x, y, z = python_impl(balance_point)(com, 70.0, 0.7, intent)
    off = -150.0 * 0.9 / (70.0 * GRAVITY)
    assert (x, y, z) == pytest.approx((1.3 + off * math.cos(0.7), -0.4 + off * math.sin(0.7), 0.97))
    intent.force = 0.0
    assert python_impl(balance_point)(com, 70.0, 0.7, intent) == com


@pytest.mark.parametrize("task", [PushCrate(timeout=1.0), PullCrate(timeout=1.0), Carry(timeout=1.0)])
def test_a_timeout_says_what_it_was_at(task: Task) -> None:
    sim = world(
        push_pull_crate.heavy_crate_prop() if not isinstance(task, Carry) else carry_crate.carry_crate_prop(5.0)
    )
    sim.add(task)
    sim.step(1200)
    assert task.status == "failed"
    assert task.reason.startswith("not done within 1 s, walking to the crate")
    assert is_free(sim)


def test_a_failed_push_lets_go() -> None:
    sim = world(push_pull_crate.heavy_crate_prop(1.5))
    task = sim.add(PushCrate(5.0, timeout=9.0))
    while not sim.actor.gripping("grip_left") and not task.is_over:
        sim.step(100)
    assert np.abs(handle_positions(sim.actor)[0] - sim.actor.hand(0)).max() < 0.05
    sim.step(9000)
    assert task.status == "failed"
    assert is_free(sim)


def test_without_a_crate_it_fails_at_once() -> None:
    for task in (PushCrate(), Carry()):
        sim = world()
        sim.add(task)
        sim.step(20)
        assert task.status == "failed"
        assert "crate_left" in task.reason


def test_a_crate_that_is_too_heavy_is_refused() -> None:
    sim = world(Crate((0.36, 0.36, 0.36), 30.0, handles=((0.0, 0.23, 0.18), (0.0, -0.23, 0.18))))
    task = sim.add(Carry())
    sim.step(20)
    assert task.status == "failed"
    assert "up to 25 kg" in task.reason


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: PushCrate(0.0), "more than 0"), (lambda: PullCrate(math.nan), "more than 0"),
        (lambda: PushCrate(5.0, speed=3.0), "0.1 … 0.8 m/s"), (lambda: PullCrate(timeout=-1.0), "timeout"),
        (lambda: Carry((1.0, 2.0, 3.0)), "(x, y)"), (lambda: Carry((math.inf, 0.0)), "(x, y)"),
        (lambda: Carry(height=2.0), "0 … 0.7 m"), (lambda: Carry(speed=0.0), "0.2 … 1 m/s"),
        (lambda: load("carry:1"), "carry:X,Y"), (lambda: load("push-crate:1,2"), "push-crate:DISTANCE"),
        (lambda: load("pull-crate:x"), "pull-crate:DISTANCE"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_what_can(make: object, told: str) -> None:
    with pytest.raises(CommandError) as caught:
        make()  # type: ignore[operator]
    assert told in str(caught.value)


def test_tasks_are_known_by_name() -> None:
    assert isinstance(load("push-crate:3,speed=0.3"), PushCrate)
    assert load("pull-crate").distance == 5.0  # type: ignore[attr-defined]
    assert load("carry:4,1,height=0.5").height == 0.5  # type: ignore[attr-defined]
