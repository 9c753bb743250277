"""The human: the paper's numbers reach the compiled model, its physics is fair, and it can be changed."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from human_body import ROLES, TABLE, graph_of, mirrored, other_side, role, walk
from surefoot.characters import load
from surefoot.characters.builder import HEAVIEST, standing_height, with_backpack, with_proportions
from surefoot.characters.table import SAGITTAL, Segment
from surefoot.engine.simulation import Simulation
from surefoot.errors import CharacterError, UnknownNameError

# da Silva, Abe, Popović 2008, Table 2, "3D SIMBICON": mass [kg] and principal inertias [kg·m²] in ascending order;
# the hands' are printed a hundred times too large, and one of the foot's is missing.
PAPER = {
    "pelvis": (16.61, (0.0996, 0.1284, 0.1882)),
    "trunk": (29.27, (0.285, 0.498, 0.568)),
    "head": (6.89, (0.0309, 0.0331, 0.0416)),
    "thigh": (8.35, (0.0085, 0.145, 0.145)),
    "shin": (4.16, (0.0033, 0.069, 0.069)),
    "foot": (1.34, (0.00036, 0.0056, 0.0056)),
    "upper_arm": (2.79, (0.00056, 0.021, 0.021)),
    "lower_arm": (1.21, (0.00055, 0.0076, 0.0076)),
    "hand": (0.55, (0.0005, 0.0016, 0.002)),
}
LENGTHWISE = {"thigh": 2, "shin": 2, "upper_arm": 2, "lower_arm": 2, "hand": 2, "foot": 0, "trunk": 2}  # axis along it


@pytest.fixture(scope="module")
def sim() -> Simulation:
    return Simulation(skill="human/walk-as-printed")


def kind(part: str) -> str:
    return part.removeprefix("left_").removeprefix("right_")


def drawn(part: Segment, flip: np.ndarray) -> set[tuple[frozenset[tuple[float, ...]], float]]:
    """A part's capsules, whichever end comes first, reflected by `flip`."""
    return {(frozenset(tuple((flip * end).tolist()) for end in (s.start, s.end)), s.radius) for s in part.shapes}


def touching(sim: Simulation) -> set[frozenset[str]]:
    """Pairs of parts of the body that touch each other."""
    model = sim.model
    bodies = [[model.geom_bodyid[g] for g in contact.geom] for contact in sim.data.contact]
    return {frozenset((model.body(a).name, model.body(b).name)) for a, b in bodies if a != 0 and b != 0}


# ---------------------------------------------------------------------------------------- declared numbers


def test_it_has_34_degrees_of_freedom_of_which_28_are_actuated(sim: Simulation) -> None:
    assert (sim.model.nv, sim.model.nu, ROLES) == (34, 28, 28)
    assert sim.model.joint("root").type[0] == mujoco.mjtJoint.mjJNT_FREE
    driven = {sim.model.joint(j).name for j in sim.model.actuator_trnid[:, 0]}
    assert driven == {sim.model.joint(j).name for j in range(sim.model.njnt)} - {"root"}


def test_every_mass_and_inertia_of_the_papers_table_reaches_the_model(sim: Simulation) -> None:
    model = sim.model
    assert model.nbody == 1 + 3 + 2 * 6
    for body in range(1, model.nbody):
        part = kind(model.body(body).name)
        mass, inertias = PAPER[part]
        assert model.body_mass[body] == mass, part
        assert np.sort(model.body_inertia[body]) == pytest.approx(inertias, rel=1e-12), part
    assert model.body_mass.sum() == pytest.approx(89.57, abs=1e-9)


def test_the_smallest_inertia_of_a_long_part_is_about_its_length(sim: Simulation) -> None:
    mujoco.mj_forward(sim.model, sim.data)
    for body in range(1, sim.model.nbody):
        part = kind(sim.model.body(body).name)
        if part in LENGTHWISE:
            inertial = np.zeros(9)
            mujoco.mju_quat2Mat(inertial, sim.model.body_iquat[body])
            axis = inertial.reshape(3, 3)[:, int(np.argmin(sim.model.body_inertia[body]))]
            assert abs(axis[LENGTHWISE[part]]) == pytest.approx(1.0), part


def test_left_and_right_are_mirror_images(sim: Simulation) -> None:
    flip = np.array([1.0, -1.0, 1.0])
    for part in TABLE.segments:
        twin = next(s for s in TABLE.segments if s.name == other_side(part.name))
        assert (twin.mass, twin.inertia) == (part.mass, part.inertia)
        assert (flip * twin.offset).tolist() == list(part.offset)
        assert (flip * twin.com).tolist() == list(part.com)
        assert drawn(twin, flip) == drawn(part, np.ones(3))
        for one, two in zip(part.hinges, twin.hinges, strict=True):
            assert (one.low, one.high, one.plane) == (two.low, two.high, two.plane)
            if one is not two and one.plane != SAGITTAL:
                assert (one.axis == tuple(-c for c in two.axis)) == (one.name != two.name)


def test_a_mirrored_pose_has_its_parts_where_the_mirror_shows_them(sim: Simulation) -> None:
    data, rng = mujoco.MjData(sim.model), np.random.default_rng(3)
    data.qpos[:] = sim.data.qpos
    data.qpos[3:7] += rng.uniform(-0.3, 0.3, 4)
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    for name, hinge in TABLE.hinges.items():
        data.joint(name).qpos[0] = rng.uniform(max(hinge.low, -1.0), min(hinge.high, 1.0))
    mujoco.mj_kinematics(sim.model, data)
    there = {s.name: data.body(s.name).xipos.copy() for s in TABLE.segments}
    data.qpos[:], _ = mirrored(sim.model, data.qpos, data.qvel)
    mujoco.mj_kinematics(sim.model, data)
    for name, place in there.items():
        assert data.body(other_side(name)).xipos == pytest.approx(place * (1.0, -1.0, 1.0), abs=1e-12), name


def test_a_person_of_1_75_m_stands_on_its_soles(sim: Simulation) -> None:
    head = sim.data.geom("head_1")
    top = head.xpos[2] + sim.model.geom("head_1").size[:2] @ (1.0, abs(head.xmat.reshape(3, 3)[2, 2]))
    assert top == pytest.approx(1.75, abs=0.03)
    assert sim.data.body("pelvis").xpos[2] == pytest.approx(standing_height(TABLE), abs=1e-9)


# --------------------------------------------------------------------------------------------- fair physics


def test_nothing_but_gravity_contacts_and_its_own_joints_acts_on_it(sim: Simulation) -> None:
    model = sim.model
    assert model.opt.gravity.tolist() == [0.0, 0.0, -9.81]
    assert (model.neq, model.ntendon, model.nplugin, model.body_gravcomp.any()) == (0, 0, 0, False)
    assert not model.opt.density
    assert not model.opt.viscosity
    assert (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT).all()
    assert not model.jnt_stiffness.any()
    assert not model.dof_damping.any()
    assert not model.dof_armature[:6].any()
    assert (model.dof_armature[6:] == TABLE.armature).all()
    assert not model.dof_frictionloss.any()
    running = Simulation(skill="human/walk-as-printed")
    for _ in range(40):
        running.step(25)
        assert not running.data.xfrc_applied.any()
        assert not running.data.qfrc_applied.any()
        assert not running.data.qfrc_actuator[:6].any()


def test_friction_of_soles_on_the_ground_is_0_8() -> None:
    sim = Simulation(skill="human/walk-as-printed")
    sim.step(100)
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.data.ncon >= 1
    for contact in sim.data.contact:
        assert contact.friction[:2].tolist() == [0.8, 0.8]
        assert {sim.model.body(sim.model.geom_bodyid[g]).name for g in contact.geom} & {"left_foot", "right_foot"}


def test_torque_limits_equal_kp_and_kd_is_a_tenth_of_it(sim: Simulation) -> None:
    gains = {**TABLE.gains, "torso": TABLE.torso_gain}
    for name, gain in gains.items():
        assert gain.limit == gain.kp, name
        assert gain.kd == pytest.approx(0.1 * gain.kp), name
    assert max(g.kp for j, g in TABLE.gains.items() if not j.startswith("waist")) <= 300.0
    for name, gain in TABLE.gains.items():
        motor = sim.model.actuator(name)
        assert motor.forcerange == pytest.approx([-gain.limit, gain.limit])
        assert motor.biasprm[2] == -gain.kd
        assert sim.model.joint(name).range.tolist() == [TABLE.hinges[name].low, TABLE.hinges[name].high]


# ---------------------------------------------------------------------------------------------- proportions


@pytest.mark.parametrize(
    "proportions", [{"thigh_length": 1.2}, {"trunk_mass": 1.5, "shin_length": 0.8}, {"mass": 0.8}, {"head_length": 2.0}]
)
def test_gains_and_limits_scale_with_mass_times_leg_length(proportions: dict[str, float]) -> None:
    changed = with_proportions(TABLE, proportions)
    mass = [sum(s.mass for s in t.segments) for t in (changed, TABLE)]
    k = mass[0] * standing_height(changed) / (mass[1] * standing_height(TABLE))
    assert changed.strength == pytest.approx(k)
    for new, old in [
        (changed.torso_gain, TABLE.torso_gain),
        *((changed.gains[j], TABLE.gains[j]) for j in TABLE.gains),
    ]:
        assert (new.kp, new.kd, new.limit) == pytest.approx((k * old.kp, k * old.kd, k * old.limit))


def test_a_longer_thigh_lowers_the_knee_and_raises_the_hips_and_its_inertia_follows_m_l2() -> None:
    sim = Simulation(skill="human/walk-as-printed", proportions={"thigh_length": 1.1, "left_hand_mass": 3.0})
    thigh = next(s for s in TABLE.segments if s.name == "left_thigh")
    shin = next(s for s in TABLE.segments if s.name == "left_shin")
    assert sim.model.body("left_shin").pos == pytest.approx(np.multiply(shin.offset, 1.1))
    assert np.sort(sim.model.body("left_thigh").inertia) == pytest.approx(np.sort(thigh.inertia) * 1.1**2)
    assert sim.model.body("left_hand").mass[0] == pytest.approx(3.0 * 0.55)
    assert sim.model.body("right_hand").mass[0] == 0.55
    grown = sim.data.body("pelvis").xpos[2] - standing_height(TABLE)
    assert grown == pytest.approx(-0.1 * shin.offset[2], abs=1e-9)


def test_all_forces_and_inertias_scale_with_the_mass_of_the_whole_body() -> None:
    own, light = (Simulation(skill="human/walk-as-printed", proportions=p) for p in ({}, {"mass": 0.8}))
    assert light.model.body_mass.sum() == pytest.approx(0.8 * 89.57)
    own.step(800)
    light.step(800)
    assert light.data.qpos == pytest.approx(own.data.qpos, abs=1e-9)
    assert light.memory.torque == pytest.approx(0.8 * own.memory.torque, abs=1e-6)


def test_skills_own_gains_scale_with_the_body_too() -> None:
    sim = Simulation(skill=walk(gains__knee__kp=200.0), proportions={"mass": 0.8})
    assert graph_of(sim).gains[role("stance_knee")].kp == pytest.approx(160.0)


def test_unknown_proportions_list_the_valid_names() -> None:
    with pytest.raises(UnknownNameError, match=r"leg_length.*valid: mass,.*thigh_length.*left_shin_mass") as caught:
        with_proportions(TABLE, {"leg_length": 1.1})
    assert len(caught.value.valid) == 1 + 2 * (3 + 6 + 12)


@pytest.mark.parametrize("value", [0.19, 5.01, 0.0, -1.0, math.nan, math.inf, "1"])
def test_proportions_out_of_bounds_are_refused(value: float) -> None:
    with pytest.raises(CharacterError, match=r"proportion mass must be within 0\.2 … 5\.0"):
        with_proportions(TABLE, {"mass": value})
    for bound in (0.2, 5.0):
        assert with_proportions(TABLE, {"mass": bound}).segments[0].mass == pytest.approx(16.61 * bound)


# -------------------------------------------------------------------------------------------------- backpack


def test_a_backpack_adds_its_mass_behind_the_trunk_and_pitches_the_torso_forward() -> None:
    plain, laden = Simulation(skill="human/walk-as-printed"), Simulation(skill="human/walk-as-printed", backpack=15.0)
    assert laden.model.body_mass.sum() == pytest.approx(89.57 + 15.0)
    pack, trunk = laden.data.body("backpack"), laden.data.body("trunk")
    assert pack.xipos - trunk.xpos == pytest.approx(TABLE.back)
    assert pack.xipos[0] < laden.data.subtree_com[0, 0] < plain.data.subtree_com[0, 0]
    leans = [with_backpack(TABLE, mass).load_lean for mass in (0.0, 5.0, 15.0, HEAVIEST)]
    assert leans == sorted(leans, reverse=True)
    assert leans[0] == 0.0
    assert with_backpack(TABLE, 0.0) == TABLE
    assert -0.5 < leans[-1] < leans[1] < 0.0


def test_a_longer_trunk_carries_its_pack_at_the_same_share_of_its_height() -> None:
    sim = Simulation(skill="human/walk-as-printed", proportions={"trunk_length": 1.5}, backpack=10.0)
    height = sim.data.body("backpack").xipos[2] - sim.data.body("trunk").xpos[2]
    assert height == pytest.approx(1.5 * TABLE.back[2])


@pytest.mark.parametrize("mass", [-0.1, HEAVIEST + 0.1, math.nan, math.inf, "5"])
def test_impossible_backpacks_are_refused(mass: float) -> None:
    with pytest.raises(CharacterError, match="a backpack weighs 0 … 60 kg"):
        with_backpack(TABLE, mass)


def test_a_body_without_a_back_carries_none() -> None:
    with pytest.raises(CharacterError, match="planar has no back for a backpack; human has"):
        with_backpack(load("planar"), 3.0)


# -------------------------------------------------------------------------------------------- self-collision


def test_no_parts_of_the_body_touch_each_other_at_the_start_with_or_without_a_pack() -> None:
    for backpack in (0.0, 20.0):
        assert touching(Simulation(skill="human/walk-as-printed", self_collision=True, backpack=backpack)) == set()


def closing(self_collision: bool) -> Simulation:
    """In the air, with legs that swing towards each other."""
    sim = Simulation(skill="human/walk-as-printed", self_collision=self_collision)
    sim.data.qpos[2] += 1.0
    for side in ("left", "right"):
        sim.data.joint(f"{side}_hip_roll").qvel[0] = -6.0
    mujoco.mj_forward(sim.model, sim.data)
    return sim


def test_legs_that_would_pass_through_each_other_do_not() -> None:
    sims = closing(False), closing(True)
    closest, touched = [np.inf, np.inf], [False, False]
    for _ in range(150):
        for i, sim in enumerate(sims):
            sim.step()
            feet = sim.data.body("left_foot").xpos - sim.data.body("right_foot").xpos
            closest[i] = min(closest[i], float(feet[1]))
            touched[i] |= bool(touching(sim))
    assert closest[0] < -0.02
    assert closest[1] > 0.05
    assert touched == [False, True]


def test_own_parts_that_touch_are_neither_a_footstep_nor_a_fall() -> None:
    sim = closing(True)
    while not touching(sim):
        assert sim.time < 0.2
        sim.step()
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.memory.touch.tolist() == [0.0, 0.0]
    assert not sim.fallen
