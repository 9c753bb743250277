"""The compiled laws of GENBICON, imitation and stylized locomotion against plain Python, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import laws_oracle_run
from oracles import run_plainly
from surefoot.controllers.genbicon.memory import SHIFT, STAND, STEP

Arrays = dict[str, np.ndarray]
CASES = list(laws_oracle_run.CASES)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Arrays, Arrays]:
    folder = tmp_path_factory.mktemp("oracle")
    begun = str(folder / "begun.npz")
    laws_oracle_run.states(begun)
    return laws_oracle_run.collect(begun), run_plainly("laws_oracle_run.py", folder, begun)


@pytest.mark.parametrize("name", CASES)
def test_compiled_law_equals_its_plain_python_self_bit_for_bit(name: str, both: tuple[Arrays, Arrays]) -> None:
    compiled, plain = both
    for key in ("ctrl", "userdata"):
        assert np.array_equal(compiled[f"{name}/{key}"], plain[f"{name}/{key}"]), key


@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_the_oracle_are_finite_and_do_something(name: str, both: tuple[Arrays, Arrays]) -> None:
    ctrl = both[0][f"{name}/ctrl"]
    assert np.isfinite(ctrl).all()
    assert (np.abs(ctrl).max(axis=1) > 1.0).all()
    assert len(np.unique(ctrl, axis=0)) == len(ctrl)


def test_the_cases_of_genbicon_reach_standing_shifting_and_stepping(both: tuple[Arrays, Arrays]) -> None:
    modes = np.concatenate([both[0][f"{name}/reports"][:, 0] for name in CASES if name.startswith("genbicon")])
    assert set(modes) == {STAND, SHIFT, STEP}
