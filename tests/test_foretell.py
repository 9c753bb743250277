"""Learning the local model of a step: what it recovers, what it leaves out, and that the law says the same."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.controllers.limit_cycle import law as limit_cycle
from surefoot.controllers.limit_cycle.parameters import Model
from surefoot.controllers.limit_cycle.regulation import FARTHEST, feature_count
from surefoot.engine.simulation import Simulation
from surefoot.lab import learned_step_model
from surefoot.native.kernels import python_impl
from surefoot.skills import load, with_parameters

MARCH = load("human19/march")
FEATURES = feature_count(19)


def made_steps(count: int, seed: int = 0, noise: float = 0.0) -> tuple[learned_step_model.StepRecord, np.ndarray]:
    """Steps whose outcomes are linear in how they begin, and by which weights."""
    rng = np.random.default_rng(seed)
    begins = rng.uniform(-1.0, 1.0, (count, FEATURES)) + 0.5
    weights = np.random.default_rng(99).normal(0.0, 0.1, (6, FEATURES))
    outcomes = begins @ weights.T + 0.3 + noise * rng.normal(size=(count, 6))
    return learned_step_model.StepRecord(begins, outcomes), weights


def test_a_linear_truth_is_learned_and_told_of_steps_not_seen() -> None:
    steps, weights = made_steps(400)
    model = learned_step_model.fit_step_model(steps, ridge=1e-6, ridge_derivatives=1e-6)
    found = np.array(model.weights)[:, :-1] / np.array(model.scale)
    assert found == pytest.approx(weights, abs=2e-3)
    assert learned_step_model.r_squared(model, made_steps(100, seed=1)[0]).min() > 0.99


def test_a_larger_ridge_makes_smaller_weights_of_what_it_is_for() -> None:
    steps, _ = made_steps(200, noise=0.05)
    loose, tight = (
        learned_step_model.fit_step_model(steps, 1.0, 1.0),
        learned_step_model.fit_step_model(steps, 1.0, 1000.0),
    )
    sizes = [np.abs(np.array(model.weights)[:, :-1]).sum(axis=1) for model in (loose, tight)]
    assert sizes[0][:2] == pytest.approx(sizes[1][:2])
    assert (sizes[1][2:] < 0.5 * sizes[0][2:]).all()


def test_steps_with_outlying_outcomes_teach_nothing() -> None:
    steps, _ = made_steps(200)
    spoilt = learned_step_model.concatenate(
        steps, learned_step_model.StepRecord(steps.begins[:3], np.full((3, 6), 50.0))
    )
    assert len(spoilt.begins) == len(spoilt.outcomes) == 203
    assert len(learned_step_model.without_outliers(spoilt).begins) == len(
        learned_step_model.without_outliers(steps).begins
    )
    assert learned_step_model.fit_step_model(spoilt) == learned_step_model.fit_step_model(steps)


def test_begins_far_from_all_that_was_recorded_are_told_as_the_farthest_known() -> None:
    model = learned_step_model.fit_step_model(made_steps(200)[0])
    mean, scale = np.array(model.mean), np.array(model.scale)
    far, farther = (learned_step_model.predict(model, (mean + k * scale)[None]) for k in (FARTHEST, 10.0 * FARTHEST))
    assert far == pytest.approx(farther)


def test_the_law_says_what_the_lab_says_of_a_model() -> None:
    skill = load("human19/march-predicted")
    sim = Simulation(skill=skill)
    cycle = python_impl(limit_cycle.cycle_of)(sim.memory.memory)[0]
    for _ in range(3):
        begun = float(cycle.begun)
        while cycle.begun == begun:
            sim.step()
        begin = python_impl(limit_cycle.features_of)(sim.memory.memory, FEATURES)
        told = learned_step_model.predict(skill.parameters.model, begin[None])[0]
        told[:2] += cycle.bias_forward, cycle.bias_lateral
        assert [cycle[name] for name in learned_step_model.OUTPUTS] == pytest.approx(told, abs=1e-9)
    assert abs(cycle.bias_forward) > 1e-6


def test_recorded_steps_are_those_that_were_walked_and_the_same_seed_records_the_same() -> None:
    one, again = (learned_step_model.record_steps(MARCH, seed=3, rows=2, seconds=2.5) for _ in range(2))
    assert np.array_equal(one.begins, again.begins)
    assert np.array_equal(one.outcomes, again.outcomes)
    assert 4 <= len(one.begins) <= 10  # of two rows, in 2.5 s
    assert (one.outcomes[:, 2] > 0.3).all()  # forward by pitch
    assert (one.outcomes[:, 5] < -0.3).all()  # lateral by roll


def test_a_walk_by_a_model_takes_its_perturbations_and_records_what_trials_say() -> None:
    told = 0.07  # [rad] pitch of every step, by a model that knows nothing else
    weights = np.zeros((6, FEATURES + 1))
    weights[:, -1] = (MARCH.parameters.regulation.forward - told, 0.0, 1.0, 0.0, 0.0, -1.0)
    model = Model(mean=[0.0] * FEATURES, scale=[1.0] * FEATURES, weights=weights.tolist())
    still = with_parameters(MARCH, {"regulation.recentre": 1.0})
    by_model = learned_step_model.record_steps(still, seed=3, rows=1, seconds=2.5, force=0.0, model=model)
    by_trials = learned_step_model.record_steps(still, seed=3, rows=1, seconds=2.5, force=0.0)
    assert by_model.outcomes[0] == pytest.approx(by_trials.outcomes[0])  # the first step begins the same
    assert by_model.outcomes[1, 0] != pytest.approx(by_trials.outcomes[1, 0], abs=1e-3)
    assert (by_model.outcomes[:, 5] < -0.2).all()  # what trials say, not the model's −1
    assert (by_model.outcomes[:, 5] != -1.0).all()
