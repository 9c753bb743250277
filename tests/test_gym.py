"""Environments for agents: Gymnasium's own rules, the same bits for the same seed, and what actions do."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import surefoot.gym as sg  # noqa: E402
from conftest import graph_of  # noqa: E402
from surefoot.engine.simulation import Simulation  # noqa: E402
from surefoot.errors import SurefootError  # noqa: E402
from surefoot.gym.tensors import check_torch  # noqa: E402
from surefoot.skills import load, with_parameters  # noqa: E402

STILL = sg.StartNoise(0.0, 0.0, 0.0)
KINDS: dict[str, Any] = {
    "commands": sg.Commands("speed", ranges={"speed": (0.2, 1.2)}),
    "parameters": sg.Parameters({"states.0.cd": (0.0, 1.0), "states.1.targets.swing_knee": (-0.2, 0.0)}),
    "residuals": sg.Residuals(0.1),
    "together": (sg.Commands("lean"), sg.Parameters({"states.0.cv": (0.0, 0.4)}), sg.Residuals(0.1, ["left_knee"])),
}
FELLED = with_parameters(load("planar/walk"), {"states.0.cv": -0.5})  # a walk that falls by itself


def rollout(env: sg.SurefootEnv, steps: int, seed: int) -> list[np.ndarray]:
    """Everything seen and earned in an episode of random actions."""
    seen, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    record = [seen]
    for _ in range(steps):
        seen, reward, *_ = env.step(env.action_space.sample())
        record.append(np.append(seen, reward))
    return record


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
@pytest.mark.parametrize("kind", KINDS)
def test_gymnasium_finds_nothing_wrong(skill: str, kind: str) -> None:
    made = gymnasium.make("Surefoot/HumanWalk-v0", skill=skill, actions=KINDS[kind], observations=sg.OBSERVABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*infinity")  # a velocity has no largest value
        check_env(made.unwrapped)


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_the_same_seed_gives_the_same_bits_and_another_does_not(skill: str) -> None:
    env = sg.SurefootEnv(skill, actions=KINDS["together"])
    one, other = rollout(env, 15, 5), rollout(sg.SurefootEnv(skill, actions=KINDS["together"]), 15, 5)
    again, different = rollout(env, 15, 5), rollout(env, 15, 6)
    for a, b, c in zip(one, other, again, strict=True):
        assert np.array_equal(a, b)
        assert np.array_equal(a, c)
    assert not np.array_equal(one[0], different[0])


@pytest.mark.parametrize(("skill", "kind"), [("planar/walk", "together"), ("human/walk-as-printed", "residuals")])
def test_a_row_has_the_bits_of_the_single_environment(skill: str, kind: str) -> None:
    noisy = skill if skill.startswith("planar") else with_parameters(load(skill), {"sensing.noise_velocity": 0.05})
    options: dict[str, Any] = {"actions": KINDS[kind], "observations": sg.OBSERVABLE, "time_limit": 0.2}
    many = sg.SurefootVectorEnv(3, noisy, **options)
    single = [sg.SurefootEnv(noisy, **options) for _ in range(3)]
    seen, _ = many.reset(seed=40)
    for i, env in enumerate(single):
        assert np.array_equal(seen[i], env.reset(seed=40 + i)[0])
    many.action_space.seed(1)
    ended = np.zeros(3, bool)
    for _ in range(25):  # two episodes and a part of the third
        actions = many.action_space.sample()
        seen, rewards, terminated, truncated, info = many.step(actions)
        for i, env in enumerate(single):
            if ended[i]:
                alone, told = env.reset()
                expected: tuple[Any, ...] = (0.0, False, False)
            else:
                alone, *rest, told = env.step(actions[i])
                expected = tuple(rest)
            assert np.array_equal(seen[i], alone)
            assert (rewards[i], terminated[i], truncated[i]) == expected
            assert all(np.array_equal(info[name][i], told[name]) for name in sg.MEASUREMENTS)
        ended = terminated | truncated
    assert info["time"].max() < 0.2


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_a_row_does_not_depend_on_how_many_there_are(skill: str) -> None:
    ends = []
    for n in (1, 2, 9):
        env = sg.SurefootVectorEnv(n, skill, observations=sg.OBSERVABLE)
        env.reset(seed=21)
        for step in range(8):
            action = np.random.default_rng(step).uniform(-1.0, 1.0, env.single_action_space.shape)
            *_, info = env.step(np.tile(action, (n, 1)))
        ends.append({name: info[name][0] for name in sg.MEASUREMENTS})
    for name in sg.MEASUREMENTS:
        assert np.array_equal(ends[0][name], ends[1][name]), name
        assert np.array_equal(ends[0][name], ends[2][name]), name


def test_without_noise_and_offsets_it_is_the_plain_simulation() -> None:
    env, sim = sg.SurefootEnv("human/fast-walk", noise=STILL), Simulation(skill="human/fast-walk")
    env.reset(seed=9)
    for _ in range(30):
        env.step(np.zeros(env.action_space.shape))
    sim.step(round(0.6 / sim.model.opt.timestep))
    assert np.array_equal(env.simulation.data.qpos, sim.data.qpos)
    assert np.array_equal(env.simulation.data.qvel, sim.data.qvel)


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_start_noise_stays_within_its_widths_and_can_be_zero(skill: str) -> None:
    calm, noisy = sg.SurefootEnv(skill, noise=STILL), sg.SurefootEnv(skill, noise=sg.StartNoise(0.03, 0.2, 0.1))
    _, still = calm.reset(seed=1)
    assert np.array_equal(still["angles"], calm.reset(seed=2)[1]["angles"])
    clearance = calm.simulation.scene.clearance(calm.simulation.data.qpos)
    for seed in range(5):
        _, moved = noisy.reset(seed=seed)
        for name, width in (("angles", 0.03), ("rates", 0.2)):
            off = np.abs(moved[name] - still[name])
            assert 0.5 * width < off.max() <= width + 1e-12
        assert 0.0 < abs(moved["speed"] - still["speed"]) <= 0.1 * 2**0.5
        assert noisy.simulation.scene.clearance(noisy.simulation.data.qpos) == pytest.approx(clearance, abs=1e-12)


def test_noise_of_the_senses_depends_on_the_seed() -> None:
    noisy = with_parameters(load("human/walk-as-printed"), {"sensing.noise_velocity": 0.3})
    env, ends = sg.SurefootEnv(noisy, noise=STILL), []
    for seed in (3, 3, 4):
        env.reset(seed=seed)
        for _ in range(20):
            _, *_, info = env.step(np.zeros(env.action_space.shape))
        ends.append(info["angles"])
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


def test_what_is_seen_does_not_depend_on_where_it_goes() -> None:
    seen = []
    for heading in (0.0, 0.9):
        env = sg.SurefootEnv(
            with_parameters(load("human/walk-as-printed"), {"start.heading": heading}),
            noise=STILL,
            observations=sg.OBSERVABLE,
        )
        env.reset(seed=0)
        for _ in range(12):
            last, *_, info = env.step(np.zeros(env.action_space.shape))
        assert info["yaw"] == pytest.approx(heading, abs=0.1)
        seen.append(last)
    assert seen[0] == pytest.approx(seen[1], abs=1e-4)


@pytest.mark.parametrize("skill", ["planar/fast-walk", "human/fast-walk"])
def test_measurements_are_those_of_mujoco(skill: str) -> None:
    env = sg.SurefootEnv(skill, terrain="slope:3", observations=sg.OBSERVABLE)
    env.reset(seed=2)
    for _ in range(60):
        _, *_, info = env.step(np.zeros(env.action_space.shape))
    sim = env.simulation
    model, data = sim.model, sim.data  # what it derives is that of the last solved step
    mujoco.mj_subtreeVel(model, data)
    pelvis = model.body(sim.scene.table.anatomy.pelvis)
    axes, six = data.xmat[pelvis.id].reshape(3, 3), np.empty(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, pelvis.id, six, 0)
    planar = skill.startswith("planar")
    yaw = 0.0 if planar else np.arctan2(axes[1, 0], axes[0, 0])
    frame = np.array([[np.cos(yaw), np.sin(yaw), 0.0], [-np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    kept = [0, 2] if planar else [0, 1, 2]
    assert info["yaw"] == pytest.approx(yaw)
    assert info["position"] == pytest.approx(data.xpos[pelvis.id])
    assert info["up"] == pytest.approx((frame @ axes[:, 2])[kept])
    assert info["velocity"] == pytest.approx((frame @ six[3:])[kept])
    assert info["spin"] == pytest.approx((frame @ six[:3])[[1] if planar else kept])
    assert info["speed"] == info["velocity"][0]
    ground = float(sim.scene.terrain.height(data.xpos[pelvis.id, 0], data.xpos[pelvis.id, 1]))
    assert info["height"] == pytest.approx(data.xpos[pelvis.id, 2] - ground)
    anatomy, swing = sim.scene.table.anatomy, sim.memory.report[0].swing
    ankle = data.xpos[model.body((anatomy.right if swing == 0.0 else anatomy.left).foot).id]
    assert info["com_velocity"] == pytest.approx((frame @ data.subtree_linvel[pelvis.id])[kept])
    assert info["com"] == pytest.approx((frame @ (data.subtree_com[pelvis.id] - ankle))[kept])
    weight = model.body_subtreemass[pelvis.id] * 9.81
    assert info["effort"] == pytest.approx(((sim.memory.torque / weight) ** 2).sum())
    assert 0.0 < info["load"].sum() < 5.0
    phase = 2.0 * np.pi * sim.memory.report[0].phase
    assert info["phase"] == pytest.approx([np.sin(phase), np.cos(phase)])


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_every_element_has_a_name_of_its_own(skill: str) -> None:
    env = sg.SurefootEnv(skill, actions=KINDS["together"], observations=sg.OBSERVABLE)
    assert len(set(env.observation_names)) == len(env.observation_names) == env.observation_space.shape[0]
    assert len(set(env.action_names)) == len(env.action_names) == env.action_space.shape[0]
    seen, info = env.reset(seed=1)
    knee = env.observation_names.index("angles right_knee")
    hinge = env.simulation.data.joint("right_knee")
    assert seen[knee] == np.float32(hinge.qpos[0])
    assert seen[env.observation_names.index("rates right_knee")] == np.float32(hinge.qvel[0])
    assert set(info) == set(sg.MEASUREMENTS)
    assert env.action_names[0] == "command lean"


def test_actions_stand_for_values_between_their_bounds() -> None:
    kinds = (
        sg.Commands("speed", ranges={"speed": (0.5, 1.5)}),
        sg.Parameters({"states.0.cd": (0.0, 1.0), "gains.all.kp": (200.0, 400.0)}),
        sg.Residuals(0.3, ["left_knee", "right_ankle"]),
    )
    env = sg.SurefootEnv("planar/walk", actions=kinds, observations=("commands",), commands={"lean": -0.1})
    env.reset(seed=0)
    seen, *_ = env.step(np.array([0.4, -0.5, 0.5, 1.0, -7.0]))
    row, model = env.simulation.memory, env.simulation.model
    assert seen == pytest.approx([-0.1, 1.2])
    graph = graph_of(row)
    assert graph.feedback[0, 0, 0] == pytest.approx(0.25)
    assert graph.feedback[2, 0, 0] == pytest.approx(0.25)
    assert graph.gains[3].kp == pytest.approx(350.0)
    assert row.residual[model.actuator("left_knee").id] == pytest.approx(0.3)
    assert row.residual[model.actuator("right_ankle").id] == pytest.approx(-0.3)  # clipped
    assert np.count_nonzero(row.residual) == 2
    env.reset(seed=0)
    assert not env.simulation.memory.residual.any()
    assert graph_of(env.simulation.memory).gains[3].kp == 300.0


@pytest.mark.parametrize("path", ["states.0.cd", "fall.tilt"])
def test_parameters_reach_the_law_as_a_changed_skill_does(path: str) -> None:
    env = sg.SurefootEnv("planar/walk", actions=sg.Parameters({path: (0.2, 1.0), "states.1.cv": (0.0, 0.4)}))
    env.reset(seed=0)
    env.step(np.array([0.3, -0.7]))
    wanted = Simulation(skill=with_parameters(load("planar/walk"), {path: 0.72, "states.1.cv": 0.06}))
    assert env.simulation.memory.slots[0] == pytest.approx(wanted.memory.slots[0], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_offsets_of_targets_change_the_motion_of_their_joint(skill: str) -> None:
    env = sg.SurefootEnv(skill, actions=sg.Residuals(0.2, ["left_knee"]), noise=STILL)
    angles = []
    for action in (-1.0, 0.0, 1.0):
        env.reset(seed=0)
        for _ in range(5):
            _, *_, info = env.step(np.array([action]))
        angles.append(info["angles"][env.simulation.model.actuator("left_knee").id])
    assert angles[0] < angles[1] - 0.01
    assert angles[2] > angles[1] + 0.01


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_the_offset_of_no_joint_is_ignored(skill: str) -> None:
    count = Simulation(skill=skill).model.nu
    env = sg.SurefootVectorEnv(count + 1, skill, actions=sg.Residuals(0.1), noise=STILL)
    env.reset(seed=0)
    actions = np.vstack([np.eye(count), np.zeros(count)])  # each row another joint, the last row none
    for _ in range(40):
        env.step(actions)
    places = env.population.qpos
    ignored = [env.action_names[i] for i in range(count) if np.abs(places[i] - places[-1]).max() < 1e-3]
    assert ignored == []


def test_a_commanded_heading_is_seen_from_where_it_faces() -> None:
    env = sg.SurefootEnv("human/walk-as-printed", actions=sg.Commands("heading"), observations=("commands",))
    env.reset(seed=0)
    seen, *_, info = env.step(np.array([0.5]))
    assert seen[env.observation_names.index("commands heading")] == pytest.approx(np.pi / 2 - info["yaw"], abs=1e-5)


def test_commands_of_an_episode_are_told_at_its_start() -> None:
    env = sg.SurefootEnv("planar/walk", observations=("commands",), commands={"speed": 0.8})
    assert env.reset(options={"commands": {"lean": 0.05}})[0] == pytest.approx([0.05, 0.8])
    assert env.reset()[0] == pytest.approx([0.0, 0.8])


def test_a_fall_ends_an_episode_and_is_named() -> None:
    env = sg.SurefootEnv(FELLED)
    env.reset(seed=0)
    for _ in range(500):
        _, _, terminated, truncated, info = env.step(np.zeros(6))
        if terminated:
            break
    assert terminated
    assert not truncated
    assert info["fallen"]
    assert info["fall_cause"] == env.simulation.fall_cause != "none"
    assert 0.0 <= info["time"] - env.simulation.fallen_at <= env.control_period
    assert not env.reset()[1]["fallen"]


def test_the_time_limit_truncates_after_whole_periods() -> None:
    env = sg.SurefootEnv("planar/walk", control_period=0.0333, time_limit=0.2)
    assert env.control_period == pytest.approx(0.0335)  # 67 physics steps
    env.reset(seed=0)
    ends = [env.step(np.zeros(6))[2:4] for _ in range(6)]
    assert ends == [(False, False)] * 5 + [(False, True)]
    assert env.simulation.time == pytest.approx(6 * 0.0335)
    endless = sg.SurefootEnv("planar/walk", control_period=1.0, time_limit=None)
    endless.reset(seed=0)
    assert not any(endless.step(np.zeros(6))[3] for _ in range(25))


def test_numbers_that_blow_up_are_a_fall_and_are_not_seen() -> None:
    env = sg.SurefootEnv("human/walk-as-printed", observations=sg.OBSERVABLE)
    env.reset(seed=0)
    env.simulation.push((1e6, 1e6, 1e6), duration=1.0, body="trunk")
    for _ in range(60):
        seen, reward, terminated, *_ = env.step(np.zeros(env.action_space.shape))
        assert np.isfinite(seen).all()
        assert np.isfinite(reward)
    assert terminated


def test_the_default_reward_is_what_its_formula_says() -> None:
    env = sg.SurefootEnv("planar/walk")
    env.reset(seed=0)
    _, reward, *_, info = env.step(np.zeros(6))
    off = (info["speed"] - load("planar/walk").measured.speed) / 0.5
    assert reward == pytest.approx(1.0 + np.exp(-(off**2)) - info["effort"])
    fallen = sg.Tracking(speed=1.0, alive=2.0, tracking=3.0, width=0.2, cost=4.0)
    assert fallen({"speed": 1.1, "fallen": True, "effort": 0.5}) == pytest.approx(3.0 * np.exp(-0.25) - 2.0)
    assert fallen({"speed": 1.1, "fallen": False, "effort": 0.5}) == pytest.approx(3.0 * np.exp(-0.25))


def test_any_function_of_the_measurements_is_a_reward() -> None:
    env = sg.SurefootEnv("planar/walk", reward=lambda m: m["height"] - 2.0 * m["torque"][0])
    env.reset(seed=0)
    _, reward, *_, info = env.step(np.zeros(6))
    assert reward == info["height"] - 2.0 * info["torque"][0]


@pytest.mark.parametrize("skill", ["planar/walk", "human/walk-as-printed"])
def test_pictures_show_a_body_that_moves(skill: str) -> None:
    env = sg.SurefootEnv(skill, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    for _ in range(10):
        env.step(np.zeros(env.action_space.shape))
    after = env.render()
    assert before is not None
    assert after is not None
    assert before.shape == after.shape == (360, 640, 3)
    assert before.dtype == np.uint8
    assert (before != after).any(axis=2).mean() > 0.01
    assert sg.SurefootEnv(skill).render() is None
    many = sg.SurefootVectorEnv(2, skill, render_mode="rgb_array")
    many.reset(seed=0)
    pictures = many.render()
    assert pictures is not None
    assert np.array_equal(pictures[0], before)


def test_registered_environments_can_be_made_one_by_one_and_many_at_once() -> None:
    one = gymnasium.make("Surefoot/PlanarWalk-v0", time_limit=0.1)
    many = gymnasium.make_vec("Surefoot/PlanarWalk-v0", 2, vectorization_mode="vector_entry_point", time_limit=0.1)
    assert isinstance(many.unwrapped, sg.SurefootVectorEnv)
    assert many.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    assert np.array_equal(many.reset(seed=7)[0][0], one.reset(seed=7)[0])
    for name, skill in sg.IDS.items():
        assert gymnasium.spec(name).kwargs == {"skill": skill}
        assert load(skill).full_name == skill


def test_rows_seeded_one_by_one_go_on_by_themselves_where_no_seed_is_given() -> None:
    env = sg.SurefootVectorEnv(3, "planar/walk")
    first, _ = env.reset(seed=[8, 8, 5])
    assert np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])
    second, _ = env.reset(seed=[8, None, None])
    assert np.array_equal(second[0], first[0])
    assert not np.array_equal(second[1], first[1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"actions": sg.Commands("sped")}, "unknown command 'sped'.*valid: lean, speed"),
        ({"actions": sg.Commands("heading")}, "unknown command 'heading'"),
        ({"actions": sg.Commands("speed", ranges={"speed": (0.0, 9.0)})}, "speed must lie within -3 … 5"),
        ({"actions": sg.Commands("speed", ranges={"speed": (1.0, float("nan"))})}, "speed must lie within"),
        ({"actions": sg.Commands("speed", ranges={"lean": (0.0, 0.1)})}, "not used"),
        ({"actions": sg.Commands("speed", "speed")}, "each once"),
        ({"actions": [sg.Commands("speed"), sg.Commands("speed")]}, "each once"),
        ({"actions": []}, "one or more"),
        ({"actions": "speed"}, "Commands, Parameters or Residuals"),
        ({"actions": sg.Parameters({"states.7.cd": (0.0, 1.0)})}, "states.7.cd"),
        ({"actions": sg.Parameters({"states.0.cd": (0.0, 99.0)})}, "states.0.cd"),
        ({"actions": sg.Parameters({"states.0.cd": (1.0, 0.0)})}, "lower one first"),
        ({"actions": sg.Parameters({"start.speed": (0.0, 1.0)})}, "start.speed is over"),
        ({"actions": sg.Parameters({})}, "at least one parameter"),
        ({"actions": sg.Residuals(0.1, ["left_wing"])}, "unknown joint 'left_wing'.*left_knee"),
        ({"actions": sg.Residuals(-0.1)}, "limit"),
        ({"observations": ("height", "hight")}, "unknown observation 'hight'.*valid: height"),
        ({"observations": ("position",)}, "unknown observation 'position'"),
        ({"observations": ("height", "height")}, "each once"),
        ({"observations": "height"}, "list of names"),
        ({"commands": {"speed": 99.0}}, "speed must be within"),
        ({"control_period": 0.0}, "control period"),
        ({"control_period": float("nan")}, "control period"),
        ({"time_limit": 0.001}, "time limit"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"skill": "planar/wlk"}, "unknown skill"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_episode(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(SurefootError, match=words):
        sg.SurefootEnv(**({"skill": "planar/walk"} | arguments))
    with pytest.raises(SurefootError, match=words):
        sg.SurefootVectorEnv(2, **({"skill": "planar/walk"} | arguments))


def test_wrong_actions_options_and_seeds_are_refused_and_change_nothing() -> None:
    env, many = sg.SurefootEnv("planar/walk"), sg.SurefootVectorEnv(2, "planar/walk")
    for early in (env, many):
        with pytest.raises(SurefootError, match="reset the environment"):
            early.step(np.zeros(early.action_space.shape))
    env.reset(seed=0)
    many.reset(seed=0)
    bad = np.zeros(6)
    bad[3] = np.nan
    for action, words in ((np.zeros(5), r"shape \(6,\), got \(5,\)"), (bad, "finite"), (["up"] * 6, "numbers")):
        with pytest.raises(SurefootError, match=words):
            env.step(action)  # type: ignore[arg-type]
    for actions, words in ((np.zeros(6), r"shape \(2, 6\), got \(6,\)"), (np.stack([np.zeros(6), bad]), "finite")):
        with pytest.raises(SurefootError, match=words):
            many.step(actions)
    assert env.simulation.time == 0.0
    assert many.population.time.tolist() == [0.0, 0.0]
    with pytest.raises(SurefootError, match="unknown option 'speed'; valid: commands"):
        env.reset(options={"speed": 1.0})
    with pytest.raises(SurefootError, match="mapping"):
        env.reset(options={"commands": 1.0})
    with pytest.raises(SurefootError, match="3 seeds for 2 rows"):
        many.reset(seed=[1, 2, 3])
    with pytest.raises(SurefootError, match="start noise rate"):
        sg.StartNoise(rate=-0.1)
    with pytest.raises(SurefootError, match="one skill"):
        sg.SurefootVectorEnv(2, ["planar/walk", "planar/run"])  # type: ignore[arg-type]


def test_without_gymnasium_only_this_part_is_missing_and_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import surefoot\n"
        "try:\n    import surefoot.gym\n"
        "except surefoot.SurefootError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'surefoot[gym]'" in done.stdout


def test_without_torch_only_environments_on_a_gpu_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SurefootError, match="device 'cuda' takes and gives torch tensors: pip install torch"):
        check_torch("cuda")
    assert sg.SurefootVectorEnv(1, "planar/walk").device == "cpu"


def test_a_stepper_is_an_environment_like_others_on_ground_that_moves_too() -> None:
    actions = (sg.Commands(), sg.Parameters({"step_time": (0.35, 0.5)}), sg.Residuals(0.05, ["left_elbow"]))
    options: dict[str, Any] = {"actions": actions, "observations": sg.OBSERVABLE, "terrain": "platform:10,15,1"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*infinity")
        check_env(gymnasium.make("Surefoot/HumanWalk-v0", skill="stepper/walk", **options).unwrapped)
    alone, many = sg.SurefootEnv("stepper/walk", **options), sg.SurefootVectorEnv(2, "stepper/walk", **options)
    assert alone.action_names[:7] == tuple(f"command {name}" for name in load("stepper/walk").commands)
    first, _ = alone.reset(seed=3)
    rows, _ = many.reset(seed=3)
    assert np.array_equal(rows[0], first)
    alone.action_space.seed(4)
    for _ in range(20):
        action = alone.action_space.sample()
        seen, *_ = alone.step(action)
        rows, *_ = many.step(np.tile(action, (2, 1)))
        assert np.array_equal(rows[0], seen)
