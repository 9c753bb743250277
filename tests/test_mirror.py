"""The human mirrored left to right does the mirrored motion; and a walk on crossed legs is seen as such.

Nothing in the law distinguishes the sides, but the physics engine eliminates the left leg before the right one and
lists contacts in its own order: sums are rounded differently, so the images agree to rounding errors, not in all bits.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from conftest import GROUNDS, graph_of, machine_of
from human_body import TABLE, hovering, image_of, look, made_human, mirrored, other_side, walk
from surefoot.characters.table import SAGITTAL
from surefoot.engine.simulation import Simulation
from surefoot.lab.gait_measures import measure_gait
from surefoot.skills import load, names
from surefoot.skills.schema import Skill

ANKLES = {
    "states__0__feedback__stance_ankle_roll__0": 0.3, "states__0__feedback__stance_ankle_roll__1": 0.1,
    "states__1__feedback__swing_ankle_roll__1": -0.2, "states__1__feedback__stance_ankle__0": 0.2,
    "states__0__feedback__waist_roll__1": 0.15, "states__1__feedback__waist_yaw__0": 0.3,
}  # fmt: skip
TWISTED = {
    "states__0__targets__waist_roll": 0.1, "states__0__targets__waist_yaw": 0.2, "states__1__targets__neck_yaw": 0.3,
    "states__1__targets__neck_roll": -0.2, "states__0__targets__swing_shoulder_roll": 0.4,
    "states__0__targets__stance_shoulder_yaw": 0.3, "states__1__targets__swing_shoulder": -0.5,
    "states__1__targets__stance_elbow": 0.8, "states__0__targets__swing_hip_yaw": 0.1,
    "states__1__targets__swing_hip_roll": 0.05, "states__0__torso_roll": 0.03, "states__1__torso_yaw": 0.1,
}  # fmt: skip
SENSES = {"sensing__point": "com", "sensing__delay": 0.012, "arms__swing": 0.4, "arms__circle": 0.2}
HUMAN = [n for n in names("human") if load(n).controller == "simbicon"]
VARIANTS = {"walk": {}, "ankles": ANKLES, "twisted": TWISTED, "senses": SENSES, "all": ANKLES | TWISTED | SENSES}


def pair(**changes: float | str) -> tuple[Simulation, Simulation]:
    left, right = (Simulation(skill=walk(start__swing=side, **changes)) for side in ("left", "right"))
    return left, right


def assert_images(left: Simulation, right: Simulation, tolerance: float = 1e-9) -> None:
    """That the right simulation is the mirror image of the left one."""
    qpos, qvel = mirrored(left.model, left.data.qpos, left.data.qvel)
    assert right.data.qpos == pytest.approx(qpos, abs=tolerance)
    assert right.data.qvel == pytest.approx(qvel, abs=100.0 * tolerance)
    assert right.memory.touch.tolist() == left.memory.touch[::-1].tolist()
    here, there = left.memory.report[0], right.memory.report[0]
    assert there.swing == 1.0 - here.swing
    assert (there.distance, there.velocity) == pytest.approx((here.distance, here.velocity), abs=100.0 * tolerance)
    lateral = there.lateral_distance, there.lateral_velocity
    assert lateral == pytest.approx((-here.lateral_distance, -here.lateral_velocity), abs=100.0 * tolerance)


# ------------------------------------------------------------------------------------------------- motions


@pytest.mark.parametrize("name", VARIANTS)
def test_swinging_the_other_leg_first_gives_the_mirrored_motion(name: str) -> None:
    left, right = pair(**VARIANTS[name])
    assert left.memory.report[0].swing != right.memory.report[0].swing
    for _ in range(12):
        left.step(50)
        right.step(50)
        assert_images(left, right)
    assert left.memory.report[0].steps >= 1.0  # legs were exchanged within the comparison
    assert abs(left.memory.report[0].lateral_velocity) > 0.01


GENERIC = {
    "roll": 0.03, "roll_rate": 0.1, "torso": -0.02, "torso_rate": 0.1, "sideways": 0.1, "speed": 0.4,
    "heading": 0.5, "yaw": 0.1, "yaw_rate": -0.1, "joints__swing_hip_roll": 0.05, "joints__stance_shoulder_yaw": 0.3,
    "joints__swing_elbow": 0.6, "joints__waist_roll": 0.03, "joints__neck_yaw": -0.3, "rates__neck_roll": 0.4,
}  # fmt: skip
WILD = {
    "roll": 0.08, "roll_rate": 0.3, "torso": -0.05, "torso_rate": 0.2, "sideways": 0.1, "speed": 0.5,
    "yaw": 0.2, "yaw_rate": -0.4, "joints__swing_hip_roll": 0.1, "joints__stance_knee": -0.3,
    "joints__swing_elbow": 0.6, "joints__waist_roll": 0.1, "joints__neck_yaw": -0.3,
}  # fmt: skip
LIMITS = np.array([gain.limit for gain in TABLE.gains.values()])


@pytest.mark.parametrize("start", [GENERIC, WILD], ids=["gentle", "wild"])
def test_a_mirrored_generic_start_gives_the_mirrored_motion(start: dict[str, float]) -> None:
    skill = walk(**{f"start__{name}": value for name, value in start.items()})
    left, right, reached = Simulation(skill=skill), Simulation(skill=image_of(skill)), False
    for _ in range(300):
        assert_images(left, right)
        left.step()
        right.step()
        reached |= bool((np.abs(left.memory.torque) > 0.999 * LIMITS).any())
    assert reached  # limits are kept alike on both sides


@pytest.mark.parametrize("full", [n for n in HUMAN if load(n).parameters.halves == 2])
def test_every_skill_of_either_leg_does_the_mirrored_motion_from_its_mirrored_start(full: str) -> None:
    skill, ground = load(full), GROUNDS.get(full, "flat")
    left, right = (Simulation(skill=s, terrain=ground) for s in (skill, image_of(skill)))
    for _ in range(6):
        assert_images(left, right)
        left.step(100)
        right.step(100)


@pytest.mark.parametrize("role", ["swing_shoulder_yaw", "stance_shoulder_yaw", "swing_hip_yaw"])
def test_lateral_feedback_of_a_limbs_yaw_is_mirrored(role: str) -> None:
    left, right = pair(**{f"states__0__feedback__{role}__1": 1.0})
    left.step(100)
    right.step(100)
    assert_images(left, right)


def test_mirrored_pushes_and_commands_give_the_mirrored_motion() -> None:
    left, right = pair(**ANKLES)
    for sim, sign in ((left, 1.0), (right, -1.0)):
        sim.command(heading=0.4 * sign, sideways=0.06 * sign, width=0.03, speed=0.5, lift=0.1, slope=0.05, lean=-0.02)
        sim.push((40.0, 90.0 * sign, -20.0), 0.1, point=(0.1, 0.05 * sign, 0.2), delay=0.05)
    for _ in range(6):
        left.step(100)
        right.step(100)
        assert_images(left, right)


def test_mirrored_backpack_walk_is_mirrored_too() -> None:
    left, right = (
        Simulation(skill=walk(start__swing=s), backpack=12.0, self_collision=True) for s in ("left", "right")
    )
    left.step(300)
    right.step(300)
    assert_images(left, right)


def test_unequal_legs_are_not_symmetric() -> None:
    """The comparison can fail: one heavier hand breaks it."""
    left, right = (
        Simulation(skill=walk(start__swing=side), proportions={"left_hand_mass": 1.1}) for side in ("left", "right")
    )
    left.step(300)
    right.step(300)
    assert right.data.qpos != pytest.approx(mirrored(left.model, left.data.qpos, left.data.qvel)[0], abs=1e-6)


def test_learning_fills_the_mirror_image_of_the_table() -> None:
    """Channels of roles are the same, those of the torso's roll and yaw and of the middle change sign."""
    bins = 6
    left, right = pair(learning__bins=bins, **TWISTED)
    left.step(900)
    right.step(900)
    channels = ("torso_roll", "torso", "torso_yaw", *TABLE.anatomy.channels)
    here, there = (sim.memory.table.reshape(len(channels), 2, bins) for sim in (left, right))
    for i, name in enumerate(channels):
        middle = name in TABLE.anatomy.middle and TABLE.hinges[name].plane != SAGITTAL
        sign = -1.0 if middle or name in ("torso_roll", "torso_yaw") else 1.0
        assert np.abs(here[i]).max() > 1e-3, name
        assert there[i] == pytest.approx(sign * here[i, ::-1], abs=1e-7), name


# ------------------------------------------------------------------------------------------- torques alone


@pytest.mark.parametrize("name", ["planar/walk", "human/walk-as-printed"])
def test_a_torque_at_its_limit_is_damped_as_one_just_below_it(name: str) -> None:
    """What the integrator makes of a torque at its limit does not depend on how the limit is rounded."""
    speeds = []
    for share in (1.0, 1.0 - 1e-9):
        sim = Simulation(skill=name)
        limit = sim.scene.table.gains["left_knee"].limit
        for gain in graph_of(sim.memory, roles=len(sim.scene.table.anatomy.roles)).gains:
            gain.kp, gain.limit = 1e6, limit * share
        sim.data.qpos[sim.model.joint("left_knee").qposadr[0]] = -1.0
        sim.step()
        speeds.append(sim.data.joint("left_knee").qvel[0])
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-6)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_torques_of_a_mirrored_state_are_the_mirrored_torques(seed: int, both: bool) -> None:
    """In a generic pose in the air, of every joint, with every term of the law at work."""
    targets = {"swing_hip": 0.3, "swing_hip_roll": 0.1, "swing_hip_yaw": 0.1, "waist_yaw": 0.2, "neck_roll": 0.1}
    feedback = {"stance_ankle_roll": [0.3, 0.2], "waist_roll": [0.2, 0.1], "swing_shoulder_roll": [0.1, 0.4]}
    state = {"duration": 0.4, "both": both, "cd": 0.4, "cv": 0.2, "cd_lateral": 0.5, "cv_lateral": 0.3}
    turns = {"torso_roll": 0.1, "torso_yaw": 0.2, "targets": targets, "feedback": feedback}
    skill = made_human([state | turns], arms={"swing": 0.3, "circle": 0.4})
    sim = hovering(skill, seed)
    sim.command(heading=0.0, sideways=0.1, width=0.05)
    before = look(sim)
    sim.data.qpos[:], sim.data.qvel[:] = mirrored(sim.model, sim.data.qpos, sim.data.qvel)
    sim.command(sideways=-0.1)
    machine_of(sim.memory).state = 1.0  # the same state with the legs exchanged
    after = look(sim)
    for name, hinge in TABLE.hinges.items():
        sign = -1.0 if name in TABLE.anatomy.middle and hinge.plane != SAGITTAL else 1.0
        image = before[sim.model.actuator(other_side(name)).id]
        assert after[sim.model.actuator(name).id] == pytest.approx(sign * image, abs=1e-9), name


# ------------------------------------------------------------------------------------------- crossed legs


def walked_width(skill: Skill) -> tuple[float, bool]:
    sim = Simulation(skill=skill)
    sim.step(4000)
    found = measure_gait(sim.run(8.0, fps=100))
    return found.step_width, sim.fallen


def test_a_walk_on_crossed_legs_does_not_fall_and_is_exposed_by_its_step_width() -> None:
    """The trap of this law in space: a soft torso's servo goes on for ever, with each foot on the other's side."""
    width, fallen = walked_width(walk(torso_gain__kp=300.0, torso_gain__kd=30.0))
    assert not fallen
    assert width < 0.05


def test_the_librarys_walk_keeps_its_feet_on_their_own_sides() -> None:
    width, fallen = walked_width(walk())
    assert not fallen
    assert width > 0.05


def test_step_width_is_measured_across_the_heading_with_the_left_foot_positive() -> None:
    gaits = []
    for yaw in (0.0, 2.0):
        sim = Simulation(skill=walk(start__heading=yaw))
        gaits.append(measure_gait(sim.run(1.5, fps=100)))
        mujoco.mj_kinematics(sim.model, sim.data)
        apart = sim.data.body("left_foot").xpos - sim.data.body("right_foot").xpos
        assert apart @ (-np.sin(yaw), np.cos(yaw), 0.0) > 0.05
    assert gaits[0].step_width > 0.05
    assert gaits[1].step_width == pytest.approx(gaits[0].step_width, abs=1e-6)
    assert gaits[1].speed == pytest.approx(gaits[0].speed, abs=1e-6)
