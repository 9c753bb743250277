"""The compiled kernels against their plain-Python selves."""

from __future__ import annotations

import numpy as np
import pytest

import oracle_run
from oracles import run_plainly


@pytest.fixture(scope="module")
def compiled() -> dict[str, np.ndarray]:
    return oracle_run.collect()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return run_plainly("oracle_run.py", tmp_path_factory.mktemp("oracle"))


@pytest.mark.parametrize("name", oracle_run.skills())
def test_compiled_law_equals_its_plain_python_self_bit_for_bit_in_random_states(
    name: str, compiled: dict[str, np.ndarray], plain: dict[str, np.ndarray]
) -> None:
    for key in ("ctrl", "xfrc", "userdata", "again"):
        assert np.array_equal(compiled[f"{name}/{key}"], plain[f"{name}/{key}"]), key


def test_compiled_walk_equals_its_plain_python_self_step_by_step(
    compiled: dict[str, np.ndarray], plain: dict[str, np.ndarray]
) -> None:
    assert np.array_equal(compiled["walk along"], plain["walk along"])
    assert np.count_nonzero(compiled["learned"]) > 10


@pytest.mark.parametrize("name", oracle_run.skills())
def test_random_states_of_the_oracle_reach_different_parts_of_the_law(
    name: str, compiled: dict[str, np.ndarray]
) -> None:
    """The comparison would be empty if every case did the same, nothing, or nothing finite."""
    ctrl, xfrc = compiled[f"{name}/ctrl"], compiled[f"{name}/xfrc"]
    assert np.isfinite(ctrl).all()
    assert (np.abs(ctrl).max(axis=1) > 1.0).all()
    assert len(np.unique(ctrl, axis=0)) == len(ctrl)
    pushed = np.abs(xfrc).sum(axis=(1, 2)) > 0.0
    assert pushed.any()
    assert not pushed.all()


@pytest.mark.parametrize("name", oracle_run.skills())
def test_second_evaluation_of_a_moment_changes_neither_controls_nor_memory(
    name: str, compiled: dict[str, np.ndarray]
) -> None:
    first = np.concatenate([compiled[f"{name}/ctrl"], compiled[f"{name}/userdata"]], axis=1)
    second = compiled[f"{name}/again"]
    changed = np.flatnonzero((first != second).any(axis=0))
    assert not len(changed), f"userdata {changed - 6} differ"
