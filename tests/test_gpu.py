"""Populations on a GPU, without one: the laws compile for it, and the same code runs on Warp's CPU device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.controllers import base
from surefoot.engine.devices import present_device
from surefoot.engine.gpu import physics
from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.lab import gpu_benchmarks
from surefoot.lab.parameter_tuning import Objective, tune
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.native import cuda
from surefoot.skills import load, with_parameters

HERE = Path(__file__).parent
DEVICE = physics.CPU  # the same code, without a GPU
needs_warp = pytest.mark.skipif(bool(cuda.missing()), reason=f"needs {cuda.missing()}")


# ------------------------------------------------------------------------------------------------ compiling


@needs_warp
@pytest.mark.parametrize("name", base.names())
def test_every_law_compiles_for_a_gpu(name: str) -> None:
    text = cuda.ptx_of(physics.kernel_entries((name,))["control"](), (9, 0))
    assert ".target sm_90" in text
    assert ".visible .entry" in text
    assert ".f64" in text  # a law computes with the row's 64-bit numbers
    assert re.findall(r"\.extern \.func[^;]*", text) == []  # a driver refuses what calls functions of the host


@needs_warp
@pytest.mark.parametrize("name", ["gather", "finish"])
def test_what_surrounds_the_laws_compiles_for_a_gpu(name: str) -> None:
    assert ".visible .entry" in cuda.ptx_of(physics.kernel_entries(())[name](), (9, 0))


@needs_warp
def test_in_the_cuda_simulator_a_law_walks_as_on_the_cpu(tmp_path: Path) -> None:
    steps, timestep = 200, 0.002
    alone = Population(1, "planar", "planar/walk", timestep=timestep)
    alone.step(steps)
    simulated = tmp_path / "row.npz"
    switches = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    subprocess.run(
        [sys.executable, HERE / "cuda_simulator_run.py", simulated, str(steps), str(timestep)],
        check=True, env=os.environ | switches, timeout=600,
    )  # fmt: skip
    with np.load(simulated) as found:
        assert found["steps"] == alone.reports["steps"][0] >= 1  # it took a step
        assert found["qpos"] == pytest.approx(alone.qpos[0], abs=1e-6)
        assert found["qvel"] == pytest.approx(alone.qvel[0], abs=1e-6)
        assert found["torque"] == pytest.approx(alone.outputs("torque")[0], abs=1e-6)
        assert found["contact_force"] == pytest.approx(alone.outputs("contact_force")[0], abs=1e-4)


# ------------------------------------------------------------------------------------------------- running


def disturbed(n: int, device: str, **setup: object) -> Population:
    population = Population(n, "planar", "planar/walk", device=device, **setup)  # type: ignore[arg-type]
    perturb_population(population, [seeded_generator(3, "gpu", i) for i in range(n)])
    return population


@needs_warp
def test_rows_on_a_device_do_what_they_do_on_the_cpu() -> None:
    here, there = disturbed(3, "cpu"), disturbed(3, DEVICE)
    for population in (here, there):
        population.push(sf.Push((300.0, 0.0, 0.0), 0.05, 0.02), [1])
        recorded = population.run(0.15, fps=100.0, record=[2])
        assert [len(motion) for motion in recorded] == [16]
    assert there.time == pytest.approx(here.time, abs=1e-9)
    assert there.qpos == pytest.approx(here.qpos, abs=2e-3)  # 32-bit contacts
    assert there.qvel == pytest.approx(here.qvel, abs=0.1)
    assert there.qvel[1, 0] > there.qvel[0, 0] + 0.05  # pushed
    assert there.outputs("com") == pytest.approx(here.outputs("com"), abs=2e-3)
    assert there.physics("xpos") == pytest.approx(here.physics("xpos"), abs=2e-3)
    for population in (here, there):
        assert np.array_equal(population.physics("xmat", [4, 2]), population.physics("xmat")[:, [4, 2]])
    assert np.array_equal(there.reports["state"], here.reports["state"])
    assert there.rows[0].torque == pytest.approx(here.rows[0].torque, abs=1.0)


@needs_warp
def test_rows_that_are_not_stepped_stay_where_they_are() -> None:
    population = disturbed(3, DEVICE)
    before, time = population.qpos.copy(), population.time
    population.step(10, [1])
    assert np.array_equal(population.qpos[[0, 2]], before.astype(np.float32)[[0, 2]])
    assert not np.array_equal(population.qpos[1], before[1])
    assert population.time == pytest.approx(time + np.array([0.0, 10 * 0.0005, 0.0]))


@needs_warp
def test_measuring_the_speed_leaves_the_rows_where_they_are() -> None:
    population = disturbed(2, DEVICE)
    population.step(5)
    before = population.states
    times = gpu_benchmarks._times_from_here(population.leave_to_device(), 1)
    assert min(*times[True], *times[False]) > 0.0
    assert np.array_equal(population.states, before)


@needs_warp
def test_a_state_is_kept_and_gone_back_to() -> None:
    population = disturbed(2, DEVICE)
    population.step(5)
    kept = population.states
    population.step(20)
    once = population.qpos.copy()
    population.restore(kept)
    population.step(20)
    assert population.qpos == pytest.approx(once, abs=1e-6)
    with pytest.raises(SurefootError, match="do not fit"):
        population.restore(kept[:, :-1])


@needs_warp
def test_parameters_of_many_rows_are_written_as_those_of_one_skill_each() -> None:
    n, rng = 40, np.random.default_rng(5)
    values = {"states.*.cd": rng.uniform(0.0, 0.4, n), "states.0.duration": rng.uniform(0.25, 0.35, n)}
    population = Population(n, skill="planar/walk", parameters=values, device=DEVICE)
    assert population._linear is not None  # the short way was taken
    for i in (0, 17, 39):
        own = with_parameters(load("planar/walk"), {path: float(column[i]) for path, column in values.items()})
        slots = Population(1, skill=own, seed=i).rows[0].slots
        assert population.rows[i].slots == pytest.approx(slots, abs=1e-12)
        assert population.rows[i].header[0].seed == i
    population.step(10)
    population.restart({path: column[::-1] for path, column in values.items()})
    assert population.time.max() == 0.0
    assert population.rows[0].clock[0].fallen_at == np.inf
    other = Population(n, skill="planar/walk", parameters={p: c[::-1] for p, c in values.items()}, device=DEVICE)
    assert all(np.array_equal(one.slots, two.slots) for one, two in zip(population.rows, other.rows, strict=True))
    assert np.array_equal(population.qpos, other.qpos)


@needs_warp
def test_a_parameter_that_is_not_linear_is_written_row_by_row() -> None:
    n = 33
    values = {"start.joints.swing_knee": np.linspace(-0.4, -0.1, n), "states.*.cv": np.linspace(0.1, 0.3, n)}
    population = Population(n, skill="human/walk-as-printed", parameters=values, device=DEVICE)
    for i in (0, 32):
        own = with_parameters(load("human/walk-as-printed"), {path: float(own[i]) for path, own in values.items()})
        assert population.qpos[i] == pytest.approx(Population(1, skill=own).qpos[0], abs=1e-12)
    assert population._linear is None  # the feet are set on the ground, which is no linear function of the knee


@needs_warp
def test_rows_may_have_bodies_of_their_own() -> None:
    proportions = [{}, {"thigh_length": 1.1}, {"mass": 1.3}]
    here = Population(3, skill="planar/walk", proportions=proportions)
    there = Population(3, skill="planar/walk", proportions=proportions, device=DEVICE)
    for population in (here, there):
        population.run(0.1)
    assert there.qpos == pytest.approx(here.qpos, abs=2e-3)
    assert len({round(float(height), 4) for height in there.qpos[:, 1]}) > 1


def test_a_compiler_that_asks_numpy_for_what_it_took_away_is_given_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba_cuda")
    monkeypatch.delattr(np, "row_stack", raising=False)
    cuda.numba_cuda()
    assert np.row_stack is np.vstack  # type: ignore[attr-defined]


@needs_warp
def test_an_objective_costs_the_same_on_a_device() -> None:
    skill, bounds = load("planar/walk"), {"states.*.cd": (0.0, 0.4), "states.0.targets.swing_hip": (0.2, 0.6)}

    def first_costs(device: str) -> float:
        with sf.using_device(device):
            found = tune(skill, bounds, [Objective(0.2, 1, speed=0.5)], generations=1, popsize=4, keep_mean=True)
        return found.cost

    assert first_costs(DEVICE) == pytest.approx(first_costs("cpu"), abs=2e-3)
    assert present_device() == "cpu"


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", "CUDA", ""])
def test_a_device_that_is_none_is_refused_with_the_valid_ones(device: str) -> None:
    with pytest.raises(SurefootError, match="cpu, cuda, cuda:N"):
        Population(1, skill="planar/walk", device=device)


def test_without_the_packages_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "missing", lambda: "mujoco-warp")
    with pytest.raises(SurefootError, match=r"needs mujoco-warp: pip install 'surefoot\[cuda\]'"):
        Population(1, skill="planar/walk", device="cuda")


@needs_warp
@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"skill": "human/stylized-walk"}, "human/stylized-walk decides in Python"),
        ({"skill": "human19/march"}, "human19/march decides in Python"),
        ({"skill": "biped/walk", "tasks": [sf.tasks.Reach((0.4, 0.2, 1.2))]}, "tasks decide in Python"),
    ],
)
def test_what_needs_python_between_steps_is_refused(setup: dict[str, object], message: str) -> None:
    with pytest.raises(SurefootError, match=f"{message}.*device='cpu'"):
        Population(1, device=DEVICE, **setup)  # type: ignore[arg-type]


@needs_warp
def test_a_skill_of_a_controller_that_was_not_built_in_is_refused() -> None:
    population = Population(1, skill="human/walk-as-printed", device=DEVICE)
    with pytest.raises(SurefootError, match="name the skill in `skills`"):
        population.switch("human/captured-walk")


def test_recording_some_rows_takes_a_frame_rate() -> None:
    with pytest.raises(SurefootError, match="fps"):
        Population(2, skill="planar/walk").run(0.1, record=[0])


def test_arrays_of_bodies_are_of_the_last_step_whenever_they_are_asked_for() -> None:
    early, late = (Population(3, skill="human/walk-as-printed") for _ in range(2))
    early.physics("xpos")
    for population in (early, late):
        population.step(7)
        population.step(5, [1])
    seen = late.physics("xpos")
    assert seen[1] == pytest.approx(early.physics("xpos")[1], abs=0.005)  # a step apart at most
    assert seen[0] == pytest.approx(early.physics("xpos")[0], abs=0.005)
    late.step(1)
    early.step(1)
    for name in ("xpos", "xmat", "cvel", "subtree_com"):
        assert np.array_equal(late.physics(name), early.physics(name))


def test_outputs_and_arrays_of_bodies_name_what_there_is() -> None:
    population = Population(1, skill="planar/walk")
    with pytest.raises(SurefootError, match="contact_force"):
        population.outputs("force")
    with pytest.raises(SurefootError, match="xpos"):
        population.physics("qpos")
