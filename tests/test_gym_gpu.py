"""Vector environments on a GPU: the CPU's episodes within float32, torch tensors, and no host within a step.

Without a GPU they run on Warp's own CPU device, by the same code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch", reason="torch is not installed")
warp = pytest.importorskip("warp", reason="Warp is not installed")
pytest.importorskip("mujoco_warp", reason="mujoco_warp is not installed")

import surefoot.gym as sg  # noqa: E402
from surefoot.engine.scene import Push  # noqa: E402
from surefoot.errors import SurefootError  # noqa: E402
from surefoot.skills import load, with_parameters  # noqa: E402
from surefoot.terrains import load as load_terrain  # noqa: E402

DEVICE = "cuda" if warp.get_cuda_device_count() else "warp-cpu"
STILL = sg.StartNoise(0.0, 0.0, 0.0)
STRICT = {"fall.tilt": 0.05, "fall.tilt_time": 0.02}
FELLED = with_parameters(load("planar/walk"), STRICT)  # a lean counts as a fall, after 0.34 s
TOGETHER = (
    sg.Commands("lean", ranges={"lean": (-0.02, 0.02)}),
    sg.Parameters({"states.0.cv": (0.1, 0.3)}),
    sg.Residuals(0.02, ["left_knee"]),
)


def both(skill: Any, n: int = 2, starts: int = 4, **options: Any) -> tuple[sg.SurefootVectorEnv, sg.SurefootVectorEnv]:
    """The same environment on the CPU and on the device."""
    return (
        sg.SurefootVectorEnv(n, skill, **options),
        sg.SurefootVectorEnv(n, skill, device=DEVICE, starts=starts, **options),
    )


def on_device(env: sg.SurefootVectorEnv, numbers: np.ndarray) -> Any:
    return torch.as_tensor(numbers, dtype=torch.float32, device=env.device)


def by_kind(env: sg.SurefootVectorEnv, errors: np.ndarray) -> dict[str, np.ndarray]:
    """(…,) the largest error of each kind of observation."""
    kinds = np.array([name.split()[0] for name in env.observation_names])
    return {kind: errors[..., kinds == kind].max(axis=-1) for kind in dict.fromkeys(kinds)}


STEERED = (sg.Commands("speed", ranges={"speed": (0.9, 1.4)}), sg.Residuals(0.02))


@pytest.mark.parametrize(
    ("skill", "actions"), [("planar/walk", TOGETHER), pytest.param("human/walk", STEERED, marks=pytest.mark.slow)]
)
def test_it_is_the_environment_of_the_cpu_within_what_float32_leaves(skill: str, actions: Any) -> None:
    cpu, gpu = both(skill, actions=actions, observations=sg.OBSERVABLE)
    assert gpu.observation_space == cpu.observation_space
    assert gpu.action_space == cpu.action_space
    assert gpu.metadata == cpu.metadata
    seen, info = cpu.reset(seed=7)
    tensor, told = gpu.reset(seed=7)
    assert set(told) == set(info)
    errors, rewards, rng = [np.abs(seen - tensor.numpy(force=True))], [], np.random.default_rng(1)
    for _ in range(50):  # one second
        chosen = rng.uniform(-1.0, 1.0, cpu.action_space.shape).astype(np.float32)
        seen, earned, terminated, truncated, info = cpu.step(chosen)
        tensor, gained, fell, ended, told = gpu.step(on_device(gpu, chosen))
        errors.append(np.abs(seen - tensor.numpy(force=True)))
        rewards.append(np.abs(earned - gained.numpy(force=True)))
        assert np.array_equal(terminated, fell.numpy(force=True))
        assert np.array_equal(truncated, ended.numpy(force=True))
        assert told["time"].numpy(force=True) == pytest.approx(info["time"], abs=1e-9)
    found = by_kind(cpu, np.array(errors))
    # A start state is the same but for the rounding to float32.
    for kind in ("height", "up", "velocity", "spin", "angles", "rates", "com", "com_velocity", "commands"):
        assert found[kind][0].max() < 1e-5, kind
    # A foot that touches the ground one physics step (0.5 ms) sooner in one of them is stopped that much sooner. What
    # is continuous stays close. Rates, forces and torques jump with it for some steps, and are close in most.
    for kind, most in (("height", 2e-3), ("up", 5e-3), ("velocity", 0.05), ("angles", 0.05), ("com", 5e-3)):
        assert found[kind].max() < most, kind
    assert np.allclose(found["phase"], 0.0, atol=0.02)
    for kind, most in (("rates", 0.1), ("load", 0.02), ("torque", 3.0), ("spin", 0.02)):
        assert np.median(found[kind]) < most, kind
    assert np.median(rewards) < 0.005
    assert np.max(rewards) < 0.1


def test_before_a_foot_strikes_only_rounding_differs() -> None:
    cpu, gpu = both("human/walk", actions=sg.Residuals(0.02), observations=sg.OBSERVABLE)
    cpu.reset(seed=7)
    gpu.reset(seed=7)
    for step in range(3):
        chosen = np.random.default_rng(step).uniform(-1.0, 1.0, cpu.action_space.shape).astype(np.float32)
        seen, earned, *_ = cpu.step(chosen)
        tensor, gained, *_ = gpu.step(on_device(gpu, chosen))
        found = by_kind(cpu, np.abs(seen - tensor.numpy(force=True)))
        for kind, most in (("angles", 1e-5), ("rates", 1e-3), ("velocity", 1e-4), ("load", 1e-3), ("torque", 0.02)):
            assert found[kind].max() < most, kind
        assert gained.numpy(force=True) == pytest.approx(earned, abs=1e-4)


@contextmanager
def _host_forbidden(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing may be read from the device, nor brought to it."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a number went through the host")

    with monkeypatch.context() as patched:
        for name in ("cpu", "numpy", "item", "tolist", "__bool__", "__float__", "__int__", "__array__", "nonzero"):
            patched.setattr(torch.Tensor, name, refuse)
        for name in ("as_tensor", "tensor", "from_numpy"):
            patched.setattr(torch, name, refuse)
        for name in ("numpy", "assign", "list"):
            patched.setattr(warp.array, name, refuse)
        if DEVICE == "cuda":
            torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            if DEVICE == "cuda":
                torch.cuda.set_sync_debug_mode("default")


def test_no_number_of_a_step_goes_through_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    env = sg.SurefootVectorEnv(
        3, "planar/walk", device=DEVICE, starts=4, actions=TOGETHER, time_limit=0.1, observations=sg.OBSERVABLE,
        terrain="rough:7,0.01",
    )  # fmt: skip
    env.reset(seed=0)
    actions = torch.zeros(env.action_space.shape, device=env.device)
    env.step(actions)  # constants are brought to the device once
    with _host_forbidden(monkeypatch):
        for _ in range(12):  # with two episodes' ends
            seen, rewards, terminated, truncated, info = env.step(actions)
    for tensor in (seen, rewards, terminated, truncated, *info.values()):
        assert tensor.device == env.device
        assert len(tensor) == 3
    assert (seen.dtype, rewards.dtype, terminated.dtype) == (torch.float32, torch.float32, torch.bool)
    assert float(info["time"].max()) < 0.1


def test_tensors_lie_in_the_memory_of_the_physics() -> None:
    env = sg.SurefootVectorEnv(2, "planar/walk", device=DEVICE, starts=2)
    assert env._on_device is not None
    rows, worlds = env._on_device._rows, env.population.warp
    pairs = ((rows.qpos, worlds.data.qpos), (rows.userdata, worlds.rows), (rows.cvel, worlds.data.cvel))
    for tensor, array in (*pairs, (rows.xmat, worlds.data.xmat), (env._on_device._active, worlds.active)):
        assert tensor.data_ptr() == array.ptr
    env.reset(seed=1)
    *_, info = env.step(torch.ones(env.action_space.shape, device=env.device))
    limit = pytest.approx(0.2, abs=1e-6)
    assert [row.residual[0] for row in env.population.rows] == [limit, limit]
    assert env.population.time == pytest.approx(info["time"].numpy(force=True))


def test_an_episode_that_ended_begins_anew_in_the_next_step_as_on_the_cpu() -> None:
    for skill, limit in ((FELLED, 1.0), ("planar/walk", 0.16)):
        cpu, gpu = both(skill, starts=1, noise=STILL, time_limit=limit, observations=("angles",))
        cpu.reset(seed=0)
        gpu.reset(seed=0)
        none, ends, fallen = np.zeros(cpu.action_space.shape), [], False
        for step in range(20):
            seen, earned, terminated, truncated, info = cpu.step(none)
            tensor, gained, fell, ended, told = gpu.step(on_device(gpu, none))
            assert np.array_equal(terminated, fell.numpy(force=True))
            assert np.array_equal(truncated, ended.numpy(force=True))
            assert told["time"].numpy(force=True) == pytest.approx(info["time"], abs=1e-9)
            if ends and ends[-1] == step - 1:
                assert earned.tolist() == gained.tolist() == [0.0, 0.0]
                assert tensor.numpy(force=True) == pytest.approx(seen, abs=1e-6)
                assert not told["fallen"].any()
            fallen |= bool(terminated.any())
            if (terminated | truncated).any():
                ends.append(step)
        assert len(ends) == (1 if skill is FELLED else 2)
        assert fallen == (skill is FELLED)


def test_rows_begin_in_the_starts_of_their_seeds_and_later_in_any_of_those_kept() -> None:
    cpu, gpu = both("planar/walk", n=3, starts=5, observations=("angles", "velocity"), time_limit=0.04)
    seen, _ = cpu.reset(seed=20)
    tensor, _ = gpu.reset(seed=20)
    assert tensor.numpy(force=True) == pytest.approx(seen, abs=1e-5)
    kept = np.concatenate(
        [sg.SurefootVectorEnv(5, "planar/walk", observations=("angles", "velocity")).reset(seed=20)[0]]
    )
    begun, actions = [], torch.zeros(gpu.action_space.shape, device=gpu.device)
    for step in range(30):
        tensor, *_ = gpu.step(actions)
        if step % 3 == 2:
            begun.extend(tensor.numpy(force=True))
    which = {int(np.abs(kept - one).max(axis=1).argmin()) for one in begun}
    assert all(np.abs(kept - one).max(axis=1).min() < 1e-5 for one in begun)
    assert len(which) > 2
    again, _ = gpu.reset(seed=20)
    assert again.numpy(force=True) == pytest.approx(seen, abs=1e-5)
    commanded, _ = gpu.reset(options={"commands": {"lean": 0.05}})
    assert not torch.equal(commanded, again)
    assert {row.commands[0] for row in gpu.population.rows} == {0.05}


def test_a_reward_is_written_once_for_both() -> None:
    def earned(m: Any) -> Any:
        return m["speed"] - 0.1 * abs(m["com_velocity"][1]) - 10.0 * m["fallen"]

    cpu, gpu = both("planar/walk", reward=earned)
    cpu.reset(seed=3)
    gpu.reset(seed=3)
    none = np.zeros(cpu.action_space.shape)
    for _ in range(3):
        _, numbers, *_ = cpu.step(none)
        _, tensor, *_ = gpu.step(on_device(gpu, none))
        assert tensor.numpy(force=True) == pytest.approx(numbers, abs=0.03)


@pytest.mark.parametrize("terrain", ["flat", "slope:6", "stairs:0.1,0.3,8", "rough:7,0.02", "platform:10,15,1"])
def test_the_ground_is_as_high_as_on_the_cpu(terrain: str) -> None:
    env, ground = _plain(), load_terrain(terrain)
    assert env._on_device is not None
    x, y = np.random.default_rng(0).uniform(-6.0, 6.0, (2, 200))
    height = env._on_device._tensors.ground(ground)
    found = height(torch.as_tensor(x, device=env.device), torch.as_tensor(y, device=env.device))
    assert found.numpy(force=True) == pytest.approx(ground.height(x, y), abs=1e-12)


_kept: list[sg.SurefootVectorEnv] = []


def _plain() -> sg.SurefootVectorEnv:
    """An environment that several tests share."""
    if not _kept:
        _kept.append(sg.SurefootVectorEnv(2, "planar/walk", device=DEVICE, starts=2))
    return _kept[0]


def test_a_population_behind_it_can_be_pushed_and_read() -> None:
    env = _plain()
    env.reset(seed=0)
    actions = torch.zeros(env.action_space.shape, device=env.device)
    env.step(actions)
    env.population.push(Push((400.0, 0.0, 0.0), duration=0.1, start=float(env.population.time[1])), rows=[1])
    for _ in range(8):
        *_, info = env.step(actions)
    speeds = info["speed"].tolist()
    assert speeds[1] > speeds[0] + 0.2
    assert env.population.qpos[:, 0] == pytest.approx(info["position"][:, 0].numpy(force=True), abs=0.01)


def test_what_cannot_be_done_on_a_device_is_refused_in_one_line() -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("not drawn: use render_mode=None, or device='cpu'", {"render_mode": "rgb_array"}),
        ("do not grow in proportion to fall.tilt", {"actions": sg.Parameters({"fall.tilt": (0.2, 1.0)})}),
        ("arithmetic and functions of torch's", {"reward": lambda m: 1.0 if m["fallen"] else 0.0}),
        ("one number for each row", {"reward": lambda m: m["angles"]}),
        ("at least one start state", {"starts": 0}),
        ("unknown observation", {"observations": ("hight",)}),
    ]
    for words, wrong in cases:
        with pytest.raises(SurefootError, match=words) as refused:
            sg.SurefootVectorEnv(2, "planar/walk", device=DEVICE, **wrong)
        assert "\n" not in str(refused.value)
    with pytest.raises(SurefootError, match="valid: cpu, cuda, cuda:N"):
        sg.SurefootVectorEnv(2, "planar/walk", device="tpu")
    fresh = sg.SurefootVectorEnv(2, "planar/walk", device=DEVICE, starts=2)
    with pytest.raises(SurefootError, match="reset the environment"):
        fresh.step(torch.zeros(2, 6, device=fresh.device))
    env = _plain()
    env.reset(seed=0)
    with pytest.raises(SurefootError, match=r"a torch tensor on .*, got ndarray"):
        env.step(np.zeros((2, 6)))
    with pytest.raises(SurefootError, match=r"shape \(2, 6\), got \(2, 5\)"):
        env.step(torch.zeros(2, 5, device=env.device))
    with pytest.raises(SurefootError, match="a seed is an integer or None"):
        env.reset(seed=[1, 2])
    seen, *_ = env.step(torch.full((2, 6), torch.nan, device=env.device))
    assert bool(seen.isfinite().all())
