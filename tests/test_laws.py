"""Laws are compiled, cached and called one by one."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers import base as controllers
from surefoot.engine import callback
from surefoot.native import userdata


def _sources(controller: str) -> set[str]:
    found: dict[str, bytes] = {}
    callback.gather_sources(f"surefoot.controllers.{controller}.law", found, {"surefoot"})
    return set(found)


def test_cache_key_of_a_law_sees_the_parts_it_imports_however_deep_and_not_those_of_another() -> None:
    ours, others = _sources("simbicon"), _sources("genbicon")
    assert {"surefoot.reflexes.pose_graph", "surefoot.native.userdata"} <= ours
    assert {
        "surefoot.controllers.genbicon.stance",
        "surefoot.controllers.genbicon.style",
    } <= others  # a module by name, a part of a part
    assert "surefoot.controllers.simbicon.law" not in others
    assert "surefoot.controllers.genbicon.stance" not in ours


def test_keys_of_different_laws_differ() -> None:
    keys = {callback.fingerprint(f"surefoot.controllers.{name}.law") for name in controllers.names()}
    assert len(keys) == len(controllers.names())


def test_law_that_was_not_prepared_prepares_itself_and_acts_in_the_same_step() -> None:
    prepared, waiting = sf.Simulation("planar", "walk"), sf.Simulation("planar", "walk")
    prepared.step(40)
    number = controllers.names().index("simbicon")
    stand_in = ctypes.cast(callback._waiting[number], ctypes.c_void_p).value
    callback._table[number] = stand_in
    waiting.step(40)
    assert callback._table[number] != stand_in
    assert np.array_equal(prepared.data.qpos, waiting.data.qpos)


@pytest.mark.parametrize("number", [-1.0, float(len(controllers.names()))])
def test_number_of_no_law_leaves_the_controls_alone(number: float) -> None:
    sim = sf.Simulation("planar", "walk")
    row = userdata.view(sim.data.userdata)
    row.slots[int(row.header[0].active), 0] = number
    sim.data.ctrl[:] = 0.25
    sim.step()
    assert (sim.data.ctrl == 0.25).all()
