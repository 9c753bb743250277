"""What others do to us: damaged rows, callbacks of other libraries, threads, and no folder for compiled code."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import surefoot as sf
from surefoot.engine import callback
from surefoot.native import compiling, userdata
from surefoot.native.kernels import python_impl

_ROOT = Path(sf.__file__).parents[1]


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, which may crash."""
    kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    given = kept | {"PYTHONPATH": str(_ROOT), "HOME": os.environ.get("HOME", "/")} | environment
    return subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=300)


# ------------------------------------------------------------------------------------------- damaged rows

_DAMAGE = """
import mujoco
import numpy as np
import surefoot as sf
from surefoot.native import userdata
sim = sf.Simulation(skill={skill!r})
sim.step(20)
header = sim.memory.header[0]
before = {{name: float(header[name]) for name in userdata.HEADER.names}}
for name, value in {damages!r}:
    header[name] = float(value)
    sim.data.ctrl[:] = 0.25
    mujoco.mj_step(sim.model, sim.data, 3)
    assert (sim.data.ctrl == 0.25).all(), name
    assert header[name] == float(value) or np.isnan(header[name]), name
    header[name] = before[name]
mujoco.mj_step(sim.model, sim.data, 3)
assert (sim.data.ctrl != 0.25).any()
print("alive")
"""
_FIELDS = (
    "anatomy", "actuators", "feet", "pushes", "slot_size", "memory_size", "table_size", "active", "limbs", "ground",
)  # fmt: skip


@pytest.mark.parametrize("value", ["1e9", "-1e9", "inf", "nan", "1e300", "7.0"])
@pytest.mark.parametrize("skill", ["planar/walk", "biped/walk"])
def test_a_row_whose_header_was_overwritten_is_left_alone(skill: str, value: str) -> None:
    names = [name for name in _FIELDS if value != "7.0" or name not in ("limbs", "ground")]  # 7 can be right for these
    done = _run(_DAMAGE.format(skill=skill, damages=[(name, value) for name in names]))
    assert done.returncode == 0, done.stderr
    assert "alive" in done.stdout


def test_a_row_is_one_only_if_its_sections_fill_it() -> None:
    sizes = userdata.Sizes(5, 2, 3, 40, 11, 7)
    row = np.zeros(sizes.total)
    userdata.format_row(row, sizes, anatomy=0)
    is_row = python_impl(userdata.is_row)
    assert is_row(row, 100)
    assert not is_row(row[:-1], 100)
    assert not is_row(np.append(row, 0.0), 100)
    assert not is_row(row[:3], 100)
    row[0] = 1.0
    assert not is_row(row, 100)


# ------------------------------------------------------------------------------------ callbacks of others


@pytest.fixture
def bare() -> Iterator[None]:
    """Nobody's callbacks before, ours after."""
    callback.uninstall()
    mujoco.set_mjcb_control(None)
    mujoco.set_mjcb_sensor(None)
    yield
    mujoco.set_mjcb_control(None)
    mujoco.set_mjcb_sensor(None)
    callback.install()


def test_a_sensor_callback_that_was_taken_out_is_put_back_by_the_next_step() -> None:
    sim = sf.Simulation("planar")
    mujoco.set_mjcb_sensor(None)
    sim.step(300)
    assert sim.memory.contact_force.any()
    assert sim.memory.clock[0].sensed > 0.0


_FOREIGN: dict[str, Callable[..., Any]] = {
    "python": lambda *args: None,
    "c": ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda model, data: None),
}


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("kind", list(_FOREIGN))
def test_another_control_callback_is_set_aside_with_one_warning_and_comes_back(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    mujoco.set_mjcb_control(_FOREIGN[kind])
    with caplog.at_level(logging.WARNING):
        callback.install()
        callback.install()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "control" in caplog.text
    callback.uninstall()
    assert mujoco.get_mjcb_control() is _FOREIGN[kind]
    assert mujoco.get_mjcb_sensor() is None


@pytest.mark.usefixtures("bare")
def test_another_sensor_callback_is_set_aside_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    def sense(model: Any, data: Any, stage: int) -> None:
        """Measure nothing."""

    mujoco.set_mjcb_sensor(sense)
    callback.install()
    assert "sensor" in caplog.text
    callback.uninstall()
    assert mujoco.get_mjcb_sensor() is sense
    assert mujoco.get_mjcb_control() is None


@pytest.mark.usefixtures("bare")
def test_uninstall_leaves_what_another_library_has_put_in_our_place() -> None:
    callback.install()
    mujoco.set_mjcb_control(_FOREIGN["python"])
    callback.uninstall()
    assert mujoco.get_mjcb_control() is _FOREIGN["python"]
    assert mujoco.get_mjcb_sensor() is None


@pytest.mark.usefixtures("bare")
def test_eight_threads_at_first_use_install_one_pair_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    callback._callbacks.cache_clear()
    together = threading.Barrier(8)
    usual = sys.getswitchinterval()

    def install() -> None:
        together.wait()
        callback.install()

    threads = [threading.Thread(target=install) for _ in range(8)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert callback._callbacks.cache_info().misses == 1
    assert callback._is_installed()


# -------------------------------------------------------------------------------- where compiled code goes

_UNCACHED = """
import logging
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
from numba.core import caching
for locator in caching.CacheImpl._locator_classes:  # nowhere to write, even for root
    locator.from_function = classmethod(lambda cls, function, path: None)
import surefoot as sf
import surefoot.controllers.stylized.multibody_dynamics
sim = sf.Simulation(skill="planar/walk")
sim.step(50)
assert sim.data.ctrl.any()
"""


def test_without_a_folder_to_write_to_it_compiles_in_memory_with_one_warning() -> None:
    done = _run(_UNCACHED)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("WARNING") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_a_law_that_is_really_compiled_is_announced_once_and_one_from_the_cache_is_not(tmp_path: Path) -> None:
    code = "\n".join(line for line in _UNCACHED.splitlines() if "locator" not in line)
    line = "compiling the simbicon controller; this happens once and takes a few seconds"
    first = _run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stderr.count(line) == 1, first.stderr
    again = _run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert again.returncode == 0
    assert "compiling" not in again.stderr


def test_garbage_collection_is_put_off_only_while_compiling() -> None:
    with compiling.compiling("nothing"):
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with compiling.compiling("nothing"):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
