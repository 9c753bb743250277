"""A crate in the hands of a body that steps: it hangs on them, weighs what it is told to, and a snapshot knows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import surefoot as sf
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.terrains import Crate, flat, with_props

HANDLES = ((0.0, 0.19, 0.1), (0.0, -0.19, 0.1))
WEIGHED = ("body_mass", "body_inertia", "body_subtreemass", "body_invweight0", "dof_M0", "dof_invweight0")


def crate(mass: float, x: float = 3.0) -> Crate:
    return Crate((0.3, 0.28, 0.26), mass, (x, 0.0, 0.0), 0.6, HANDLES)


def carrying(mass: float, skill: str = "carry", character: str = "stepper") -> Simulation:
    return Simulation(character, skill, with_props(flat(), [crate(mass)]))


@pytest.fixture(scope="module")
def held() -> Simulation:
    sim = carrying(4.0)
    sim.hold()
    sim.step(2000)
    return sim


def apart(sim: Simulation) -> list[float]:
    """Of the hands from the handles [m]."""
    pairs = ((sim.data.site(f"hand_{s}").xpos, sim.data.site(f"crate_{s}").xpos) for s in ("left", "right"))
    return [float(np.linalg.norm(hand - handle)) for hand, handle in pairs]


def test_a_crate_that_is_held_is_at_the_hands_at_once_and_stays_there(held: Simulation) -> None:
    sim = carrying(4.0)
    sim.hold()
    sim.step()
    assert max(apart(sim)) < 0.02
    assert max(apart(held)) < 0.005
    assert not held.fallen
    assert held.memory.report[0].steps == 0.0


def test_one_that_walks_and_faces_elsewhere_is_given_it_too() -> None:
    sim = carrying(3.0)
    sim.command(speed=0.5, heading=0.9)
    sim.step(4000)
    sim.hold()
    sim.step(20)
    assert max(apart(sim)) < 0.03
    sim.step(2000)
    assert max(apart(sim)) < 0.02
    assert not sim.fallen


@pytest.mark.parametrize("mass", [0.7, 17.0])
def test_weighing_makes_the_model_that_is_built_with_that_mass(mass: float) -> None:
    changed, built = carrying(5.0), carrying(mass)
    changed.set_mass(mass)
    for name in WEIGHED:
        assert getattr(changed.model, name) == pytest.approx(getattr(built.model, name), rel=1e-12), name


def test_the_pendulum_counts_what_the_hands_hold_and_what_it_weighs_now(held: Simulation) -> None:
    here = held.snapshot()
    held.set_mass(20.0)
    held.step(3000)
    feet = np.mean([held.data.body(f"{side}_foot").xipos for side in ("left", "right")], axis=0)
    own = float(held.model.body_subtreemass[held.model.body("pelvis").id])
    both = (own * held.memory.com + 20.0 * held.data.body("crate").xipos) / (own + 20.0)
    assert abs(both[0] - feet[0]) < 0.02
    assert held.memory.com[0] < feet[0] - 0.03
    held.restore(here)


def test_knees_bend_under_a_heavier_crate_unless_the_springs_know_it(held: Simulation) -> None:
    here, knee = held.snapshot(), held.model.joint("left_knee").qposadr[0]
    bend = {}
    for share in (0.0, 1.0):
        for mass in (4.0, 25.0):
            held.restore(here)
            held.set_parameters({"spring_load": share})
            for k in range(1, 21):
                held.set_mass(4.0 + (mass - 4.0) * k / 20)
                held.step(100)
            held.step(2000)
            bend[share, mass] = -math.degrees(held.data.qpos[knee])
    held.restore(here)
    held.set_parameters({"spring_load": 0.0})
    assert bend[0.0, 25.0] > bend[0.0, 4.0] + 2.0
    assert bend[1.0, 25.0] == pytest.approx(bend[1.0, 4.0], abs=0.5)


def test_a_snapshot_takes_masses_back_to_the_last_bit(held: Simulation) -> None:
    here = held.snapshot()
    held.step(300)
    once = held.data.qpos.copy()
    held.set_mass(22.0)
    held.step(500)
    held.restore(here)
    assert held.model.body("crate").mass[0] == 4.0
    held.step(300)
    assert np.array_equal(held.data.qpos, once)
    held.restore(here)


def test_what_is_let_go_falls_to_the_ground() -> None:
    sim = carrying(2.0)
    sim.hold()
    sim.step(500)
    high = float(sim.data.body("crate").xpos[2])
    sim.hold(None)
    sim.step(1500)
    assert high > 0.8
    assert sim.data.body("crate").xpos[2] == pytest.approx(0.13, abs=0.01)
    assert not sim.fallen


def test_of_two_crates_it_holds_the_one_that_is_named() -> None:
    sim = Simulation("stepper", "carry", with_props(flat(), [crate(2.0), crate(3.0, 5.0)]))
    sim.hold("crate_1")
    sim.set_mass(6.0, "crate_1")
    sim.step(500)
    assert [float(sim.model.body(name).mass[0]) for name in ("crate", "crate_1")] == [2.0, 6.0]
    assert np.linalg.norm(sim.data.body("crate_1").xpos - sim.data.body("trunk").xpos) < 0.7
    assert sim.data.body("crate").xpos[0] == pytest.approx(3.0, abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Simulation("stepper", "carry").hold(), "a crate with handles"),
        (lambda: Simulation("stepper", "carry", with_props(flat(), [Crate()])).hold(), "a crate with handles"),
        (lambda: carrying(2.0).hold("crate_1"), "valid: crate"),
        (lambda: carrying(2.0, "zero-walk", "humanoid").hold(), "controller stepping"),
        (lambda: carrying(2.0).set_mass(3.0, "barrel"), "valid: crate"),
        (lambda: Simulation("stepper", "carry").set_mass(3.0), "unknown crate"),
        *((lambda mass=mass: carrying(2.0).set_mass(mass), "up to 1000 kg") for mass in (0.0, -1.0, 2e3, math.nan)),
    ],
)
def test_what_cannot_be_held_or_weighed_is_refused_in_one_line(wrong: Callable[[], None], said: str) -> None:
    with pytest.raises(SurefootError) as caught:
        wrong()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_any_skill_may_have_a_crate_weighed() -> None:
    sim = sf.Simulation("humanoid", "zero-walk", with_props(flat(), [crate(2.0)]))
    sim.set_mass(9.0)
    assert sim.model.body("crate").mass[0] == 9.0
