"""The compiled stepping law against its plain-Python self."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stepping_oracle_run

HERE = Path(__file__).parent
Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Arrays, Arrays]:
    folder = tmp_path_factory.mktemp("oracle")
    begun, out = str(folder / "begun.npz"), str(folder / "plain.npz")
    stepping_oracle_run.states(begun)
    done = subprocess.run(
        [sys.executable, str(HERE / "stepping_oracle_run.py"), begun, out],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, cwd=HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]  # an error in a callback is only printed
    with np.load(out) as archive:
        return stepping_oracle_run.collect(begun), dict(archive)


@pytest.mark.parametrize("name", stepping_oracle_run.CASES)
def test_compiled_law_equals_its_plain_python_self_step_by_step(name: str, both: tuple[Arrays, Arrays]) -> None:
    compiled, plain = both
    for key in ("ctrl", "userdata"):
        assert np.allclose(compiled[f"{name}/{key}"], plain[f"{name}/{key}"], rtol=1e-9, atol=1e-7), key


def test_the_cases_reach_standing_shifting_and_stepping(both: tuple[Arrays, Arrays]) -> None:
    torques = [both[0][f"{name}/ctrl"][-1] for name in stepping_oracle_run.CASES]
    assert all(np.abs(a - b).max() > 1.0 for i, a in enumerate(torques) for b in torques[:i])
