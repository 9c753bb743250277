"""Limit cycle control: the compiled law against its plain-Python self, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import cycle_oracle_run
from oracles import run_plainly

SKILLS = list(cycle_oracle_run.skills())


@pytest.fixture(scope="module")
def compiled() -> dict[str, np.ndarray]:
    return cycle_oracle_run.collect()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return run_plainly("cycle_oracle_run.py", tmp_path_factory.mktemp("oracle"))


@pytest.mark.parametrize("name", SKILLS)
def test_compiled_law_equals_its_plain_python_self_bit_for_bit_in_random_states(
    name: str, compiled: dict[str, np.ndarray], plain: dict[str, np.ndarray]
) -> None:
    for key in ("ctrl", "userdata", "again"):
        assert np.array_equal(compiled[f"{name}/{key}"], plain[f"{name}/{key}"]), key


def test_compiled_walk_by_a_learned_model_equals_its_plain_python_self_step_by_step(
    compiled: dict[str, np.ndarray], plain: dict[str, np.ndarray]
) -> None:
    assert np.array_equal(compiled["walk along"], plain["walk along"])
    assert compiled["steps"][0] >= 1  # so that a perturbation was chosen


@pytest.mark.parametrize("name", SKILLS)
def test_random_states_of_the_oracle_reach_different_parts_of_the_law(
    name: str, compiled: dict[str, np.ndarray]
) -> None:
    ctrl = compiled[f"{name}/ctrl"]
    assert np.isfinite(ctrl).all()
    assert (np.abs(ctrl).max(axis=1) > 1.0).all()
    assert len(np.unique(ctrl, axis=0)) == len(ctrl)


@pytest.mark.parametrize("name", SKILLS)
def test_second_evaluation_of_a_moment_changes_neither_controls_nor_memory(
    name: str, compiled: dict[str, np.ndarray]
) -> None:
    first = np.concatenate([compiled[f"{name}/ctrl"], compiled[f"{name}/userdata"]], axis=1)
    assert np.array_equal(first, compiled[f"{name}/again"])
