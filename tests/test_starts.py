"""Start states taken from a gait's own cycle."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.skill_metadata import start_on_limit_cycle
from surefoot.skills import load, with_parameters


def speeds(skill: object, seconds: float) -> np.ndarray:
    """Forward speed of the pelvis at every tenth of a second."""
    sim = Simulation("human", skill)  # type: ignore[arg-type]
    found = []
    for _ in range(round(10 * seconds)):
        sim.step(100)
        found.append(sim.data.qvel[0])
    return np.array(found)


def test_from_a_start_on_the_cycle_the_first_strides_are_already_those_of_the_cycle() -> None:
    walk = load("human/walk-as-printed")
    on_cycle = walk.model_copy(update={"start": start_on_limit_cycle(walk, 8.0)})
    settled, own = speeds(on_cycle, 10.0)[-20:].mean(), speeds(on_cycle, 2.0).mean()
    from_rest = speeds(walk, 2.0).mean()
    assert own == pytest.approx(settled, abs=0.02)
    assert abs(from_rest - settled) > 0.05


def test_the_heading_it_walked_with_is_taken_out() -> None:
    walk = load("human/walk-as-printed")
    straight = start_on_limit_cycle(walk, 3.0)
    turned = start_on_limit_cycle(with_parameters(walk, {"start.heading": 0.9}), 3.0)
    assert turned.heading == 0.0
    for name in ("speed", "sideways", "climb", "torso", "roll", "yaw", "torso_rate", "roll_rate", "yaw_rate"):
        assert getattr(turned, name) == pytest.approx(getattr(straight, name), abs=2e-3), name
    assert turned.joints == pytest.approx(straight.joints, abs=2e-3)


def test_feet_and_joints_begin_where_they_were() -> None:
    start = start_on_limit_cycle(load("human/walk-as-printed"), 3.0, digits=6)
    sim = Simulation("human", load("human/walk-as-printed").model_copy(update={"start": start}))
    assert sim.scene.clearance(sim.data.qpos) == pytest.approx(start.lift, abs=1e-6)
    assert sim.data.joint("left_knee").qpos[0] == pytest.approx(start.joints["swing_knee"], abs=1e-6)
    assert sim.data.joint("right_knee").qvel[0] == pytest.approx(start.rates["stance_knee"], abs=1e-6)


@pytest.mark.parametrize("values", [{"torso_gain.kp": 5.0, "torso_gain.kd": 0.5}, {"states.0.duration": 20.0}])
def test_a_gait_that_falls_or_never_comes_round_has_no_cycle_to_start_on(values: dict[str, float]) -> None:
    with pytest.raises(SurefootError, match="no cycle"):
        start_on_limit_cycle(with_parameters(load("human/walk-as-printed"), values), 3.0)
