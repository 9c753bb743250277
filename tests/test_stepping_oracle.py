"""The compiled stepping law against its plain-Python self, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import stepping_oracle_run
from oracles import run_plainly
from surefoot.controllers.stepping.plan import SHIFT, STAND, STEP

Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Arrays, Arrays]:
    folder = tmp_path_factory.mktemp("oracle")
    begun = str(folder / "begun.npz")
    stepping_oracle_run.states(begun)
    return stepping_oracle_run.collect(begun), run_plainly("stepping_oracle_run.py", folder, begun)


@pytest.mark.parametrize("name", stepping_oracle_run.CASES)
def test_compiled_law_equals_its_plain_python_self_bit_for_bit(name: str, both: tuple[Arrays, Arrays]) -> None:
    compiled, plain = both
    for key in ("ctrl", "userdata"):
        assert np.array_equal(compiled[f"{name}/{key}"], plain[f"{name}/{key}"]), key


def test_the_cases_reach_standing_shifting_and_stepping(both: tuple[Arrays, Arrays]) -> None:
    modes = np.concatenate([both[0][f"{name}/modes"] for name in stepping_oracle_run.CASES])
    assert set(modes) == {STAND, SHIFT, STEP}
    torques = [both[0][f"{name}/ctrl"][-1] for name in stepping_oracle_run.CASES]
    assert all(np.abs(a - b).max() > 1.0 for i, a in enumerate(torques) for b in torques[:i])
