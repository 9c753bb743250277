"""Declared numbers reach the compiled model and the parameter slots."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from conftest import graph_of
from surefoot.characters import planar
from surefoot.characters.builder import with_proportions
from surefoot.characters.table import CharacterTable
from surefoot.engine.simulation import Simulation
from surefoot.errors import CharacterError, UnknownNameError
from surefoot.reflexes import pose_graph
from surefoot.skills import load, names, with_parameters
from surefoot.skills.schema import Skill

# SIMBICON §7 and the authors' planar program: mass [kg], inertia about the COM [kg·m²], COM in the part's frame [m]
BODY: dict[str, tuple[float, float, tuple[float, float, float]]] = {
    "trunk": (70.0, 1.475, (0.0, 0.0, 0.24)),
    "thigh": (5.0, 0.0885, (0.0, 0.0, -0.225)),
    "shin": (4.0, 0.0696, (0.0, 0.0, -0.225)),
    "foot": (1.0, 0.010, (0.04, 0.0, -0.02)),
}

# Table 1: Δt (None is foot contact), cd, cv, torso, swing hip, knee, ankle, stance knee, ankle
Rows = tuple[tuple[float | None, float, float, float, float, float, float, float, float], ...]
TABLE_1: dict[str, Rows] = {
    "walk": (
        (0.30, 0.00, 0.20, 0.0, 0.40, -1.10, 0.20, -0.05, 0.20),
        (None, 2.20, 0.00, 0.0, -0.70, -0.05, 0.20, -0.10, 0.20),
    ),
    "in-place-walk": (
        (0.30, 0.00, 0.40, 0.0, 0.62, -1.10, 0.20, -0.05, 0.20),
        (None, 1.55, 0.00, 0.0, -0.10, -0.05, 0.20, -0.10, 0.20),
    ),
    "fast-walk": (
        (0.27, 0.00, 0.20, -0.1, 0.73, -1.83, 0.20, -0.05, 0.20),
        (None, 2.00, 0.00, -0.1, -0.70, -0.05, 0.20, -0.10, -0.06),
    ),
    "high-step-walk": (
        (0.30, 0.00, 0.20, 0.0, 1.00, -2.40, 0.20, -0.05, 0.20),
        (None, 2.00, 0.00, 0.0, -0.70, -0.05, 0.20, -0.10, 0.20),
    ),
    "half-bent-walk": (
        (0.23, 0.00, 0.20, -0.2, 0.62, -1.10, 0.00, -0.05, 0.00),
        (None, 0.60, 0.00, -0.2, -0.10, -0.05, 0.00, -0.10, 0.00),
    ),
    "bent-walk": (
        (0.30, 0.00, 0.20, -0.6, 0.80, -1.10, 0.00, -0.05, 0.00),
        (None, 0.60, 0.00, -0.6, -0.10, -0.05, 0.00, -0.10, 0.00),
    ),
    "crouch-walk": (
        (0.30, 0.00, 0.20, -0.2, 1.10, -2.17, 0.62, -0.97, 0.44),
        (None, 2.20, 0.00, -0.3, -0.70, -0.05, 0.20, -0.92, 0.44),
    ),
    "scissor-hop": (
        (0.27, 0.00, 0.77, -0.2, 0.70, -0.58, 0.20, -0.05, 0.09),
        (None, 0.11, 0.01, -1.0, -0.82, -0.27, 0.20, -0.10, 0.12),
    ),
    "backwards-walk": (
        (0.22, 0.00, 0.28, 0.2, 0.37, -1.41, 0.00, -0.05, 0.00),
        (None, 0.60, 0.00, 0.3, -0.10, -0.05, 0.00, -0.10, 0.00),
    ),
    "fast-run": ((0.15, 0.00, 0.20, -0.2, 1.08, -2.18, 0.20, -0.05, 0.27),),
    "run": (
        (0.21, 0.00, 0.20, 0.0, 0.80, -1.84, 0.20, -0.05, 0.27),
        (0.00, 0.00, 0.20, -0.2, 1.08, -2.18, 0.20, -0.05, 0.27),
    ),
    "skip": (
        (0.19, 0.00, 0.40, 0.0, 1.04, -1.75, 0.20, -0.19, 0.20),
        (0.12, 0.00, 0.40, 0.0, 2.25, -2.18, 0.20, -0.05, -1.60),
        (0.26, 0.00, 0.04, 0.0, 2.44, -2.09, 0.20, -0.05, 0.20),
        (None, 0.18, 0.37, 0.0, -0.46, -0.05, 0.20, -0.10, 0.20),
    ),
}
COLUMNS = ("swing_hip", "swing_knee", "swing_ankle", "stance_knee", "stance_ankle")


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return Simulation("planar").model


def parts() -> list[tuple[str, str]]:
    """(body, row of the table) of all seven links."""
    return [("trunk", "trunk")] + [(f"{side}_{p}", p) for side in ("left", "right") for p in ("thigh", "shin", "foot")]


@pytest.mark.parametrize(("body", "part"), parts())
def test_masses_inertias_and_centers_of_mass_reach_the_model(body: str, part: str, model: mujoco.MjModel) -> None:
    mass, inertia, com = BODY[part]
    assert model.body(body).mass[0] == mass
    assert model.body(body).inertia[1] == pytest.approx(inertia)  # about y, the only axis a planar body turns about
    assert model.body(body).ipos == pytest.approx(com)


def test_body_weighs_ninety_kilograms_in_gravity_of_9_81(model: mujoco.MjModel) -> None:
    assert model.body_mass.sum() == 90.0
    assert model.opt.gravity.tolist() == [0.0, 0.0, -9.81]


@pytest.mark.parametrize("side", ["left", "right"])
def test_thigh_and_shin_are_45_cm_long(side: str, model: mujoco.MjModel) -> None:
    assert model.body(f"{side}_thigh").pos.tolist() == [0.0, 0.0, 0.0]
    assert model.body(f"{side}_shin").pos.tolist() == [0.0, 0.0, -0.45]
    assert model.body(f"{side}_foot").pos.tolist() == [0.0, 0.0, -0.45]


@pytest.mark.parametrize("side", ["left", "right"])
def test_sole_reaches_from_heel_to_toe_four_centimetres_below_the_ankle(side: str, model: mujoco.MjModel) -> None:
    sole = model.geom(f"{side}_foot_0")
    radius, half = sole.size[0], sole.size[1]
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, sole.quat)
    along = axes.reshape(3, 3)[:, 2] * half
    ends = np.array([sole.pos - along, sole.pos + along])
    assert ends[:, 0].min() - radius == pytest.approx(-0.04)
    assert ends[:, 0].max() + radius == pytest.approx(0.12)
    assert ends[:, 2] - radius == pytest.approx([-0.04, -0.04])


def test_only_feet_thighs_and_trunk_can_touch_the_ground(model: mujoco.MjModel) -> None:
    solid = {model.geom(i).name for i in range(model.ngeom) if model.geom_contype[i]}
    feet = {"left_foot_0", "right_foot_0"}
    assert feet <= solid
    assert not any("shin" in name for name in solid)


def test_friction_is_that_of_the_paper_on_ground_and_feet(model: mujoco.MjModel) -> None:
    for geom in ("ground", "left_foot_0", "right_foot_0"):
        assert model.geom(geom).friction[0] == 0.65


def test_contacts_are_solved_with_that_friction() -> None:
    sim = Simulation("planar")
    sim.step(300)
    assert sim.data.ncon
    assert (sim.data.contact.friction[:, 0] == 0.65).all()


def test_gains_and_torque_limits_reach_actuators_and_parameter_slots() -> None:
    sim = Simulation("planar")
    assert sim.model.actuator_forcerange == pytest.approx(np.tile([-1000.0, 1000.0], (6, 1)), rel=2e-9)
    assert sim.model.actuator_forcelimited.all()
    assert (sim.model.actuator_biasprm[:, 2] == -30.0).all()
    assert (sim.model.actuator_gainprm[:, 0] == 1.0).all()
    graph = graph_of(sim.memory)
    for gain in graph.gains:
        assert (gain.kp, gain.kd, gain.limit) == (300.0, 30.0, 1000.0)
    assert (graph.head[0].torso_kp, graph.head[0].torso_kd) == (300.0, 30.0)
    assert (graph.head[0].hip_low, graph.head[0].hip_high) == (-0.4, 1.6)


def test_a_skills_gains_override_the_bodys_from_general_to_particular() -> None:
    changes = {"gains.all.kp": 200.0, "gains.ankle.kp": 150.0, "gains.stance_ankle.kd": 11.0, "gains.all.limit": 90.0}
    changes |= {"torso_gain.kp": 410.0, "torso_gain.kd": 41.0}
    sim = Simulation(skill=with_parameters(load("planar/walk"), changes))
    graph = graph_of(sim.memory)
    found = {role: tuple(graph.gains[i]) for i, role in enumerate(sim.scene.table.anatomy.roles)}
    assert found["swing_hip"] == (200.0, 30.0, 90.0)
    assert found["swing_ankle"] == (150.0, 30.0, 90.0)
    assert found["stance_ankle"] == (150.0, 11.0, 90.0)
    assert (graph.head[0].torso_kp, graph.head[0].torso_kd) == (410.0, 41.0)


# -------------------------------------------------------------------------------------------------- Table 1


def as_printed(name: str) -> Skill:
    """The skill that carries the printed values: the twin where there is one."""
    twin = f"planar/{name}-as-printed"
    return load(twin if twin in names() else f"planar/{name}")


@pytest.mark.parametrize("name", TABLE_1)
def test_every_value_of_table_1_reaches_the_parameter_slots_for_both_legs(name: str) -> None:
    skill = as_printed(name)
    assert not skill.provenance.changed, f"{name} has changed values and no -as-printed twin"
    sim = Simulation(skill=skill)
    roles, graph = sim.scene.table.anatomy.roles, graph_of(sim.memory)
    count = int(graph.head[0].states)
    assert count % 2 == 0
    for half in (0, 1):
        for order, row in enumerate(TABLE_1[name]):
            _check_state(graph, half * count // 2 + order, half, order, row, roles)
        for order in range(len(TABLE_1[name]), count // 2):  # what the paper does not list takes no time
            record = graph.states[half * count // 2 + order]
            assert (record.ending, record.duration) == (pose_graph.TIMED, 0.0)
        last = graph.states[(half + 1) * count // 2 - 1]
        assert last.next == ((half + 1) % 2) * count // 2


def _check_state(graph: Any, at: int, half: int, order: int, row: Any, roles: tuple[str, ...]) -> None:
    duration, cd, cv, torso, *targets = row
    record = graph.states[at]
    assert record.ending == (pose_graph.CONTACT if duration is None else pose_graph.TIMED)
    assert record.duration == (duration or 0.0)
    assert (record.swing, record.order, record.torso) == (half, order, torso)
    assert graph.feedback[at, roles.index("swing_hip")].tolist() == [cd, cv]
    for role, target in zip(COLUMNS, targets, strict=True):
        assert graph.targets[at, roles.index(role)] == target, role
        if role != "swing_hip":
            assert not graph.feedback[at, roles.index(role)].any(), role


@pytest.mark.parametrize("name", TABLE_1)
def test_a_gait_with_changed_values_says_so_and_keeps_a_printed_twin(name: str) -> None:
    skill, printed = load(f"planar/{name}"), as_printed(name)
    differs = skill.parameters.states != printed.parameters.states
    assert differs <= bool(skill.provenance.changed)
    if skill.provenance.changed:
        assert printed is not skill
        assert skill.provenance.why
        declared = {c.parameter: (c.printed, c.here) for c in skill.provenance.changed}
        unprinted = {"entry", "exit"}  # when to switch: the paper prints no such values
        dumps = [s.parameters.model_dump(exclude=unprinted) for s in (printed, skill)]
        assert declared == _differences(*dumps)


def _differences(one: Any, other: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Every number that differs, by its dotted path."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys: Any = {**one, **other}
        pairs = [(str(k), one.get(k), other.get(k)) for k in keys]
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        pairs = [(str(i), a, b) for i, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        return {path: (one, other)} if one != other else {}
    found: dict[str, tuple[Any, Any]] = {}
    for key, a, b in pairs:
        found |= _differences(a, b, f"{path}.{key}".lstrip("."))
    return found


# ---------------------------------------------------------------------------------------------- proportions


def test_proportions_scale_lengths_masses_and_inertias() -> None:
    wanted = {"thigh_length": 1.3, "shin_mass": 0.7, "left_thigh_mass": 1.1, "trunk_length": 0.9, "foot_length": 1.2}
    usual, other = Simulation("planar").model, Simulation("planar", proportions=wanted).model

    def ratio(body: str, field: str) -> np.ndarray:
        before, after = getattr(usual.body(body), field), getattr(other.body(body), field)
        return np.asarray(after[before != 0.0] / before[before != 0.0])

    assert ratio("left_shin", "pos") == pytest.approx(1.3)  # the knee moves with the thigh's end
    assert ratio("right_thigh", "ipos") == pytest.approx(1.3)
    assert ratio("left_foot", "pos") == pytest.approx(1.0)
    assert ratio("right_shin", "mass") == pytest.approx(0.7)
    assert ratio("left_thigh", "mass") == pytest.approx(1.1)
    assert ratio("right_thigh", "mass") == pytest.approx(1.0)
    assert ratio("left_thigh", "inertia") == pytest.approx(1.1 * 1.3**2)  # m·L²
    assert ratio("right_thigh", "inertia") == pytest.approx(1.3**2)
    assert ratio("left_shin", "inertia") == pytest.approx(0.7)
    assert ratio("trunk", "inertia") == pytest.approx(0.9**2)
    assert ratio("trunk", "ipos") == pytest.approx(0.9)


def test_a_longer_foot_grows_forward_and_not_downward() -> None:
    usual, other = Simulation("planar"), Simulation("planar", proportions={"foot_length": 1.5})
    assert other.model.geom("left_foot_0").pos[2] == pytest.approx(usual.model.geom("left_foot_0").pos[2])
    assert other.model.geom("left_foot_0").size[1] > 1.3 * usual.model.geom("left_foot_0").size[1]


def test_mass_scales_the_whole_body() -> None:
    usual, other = Simulation("planar").model, Simulation("planar", proportions={"mass": 1.25}).model
    assert other.body_mass[1:] == pytest.approx(1.25 * usual.body_mass[1:])
    assert other.body_inertia[1:] == pytest.approx(1.25 * usual.body_inertia[1:])


def test_multipliers_of_a_pair_and_of_one_side_multiply() -> None:
    table = with_proportions(_planar(), {"shin_mass": 1.5, "left_shin_mass": 1.2})
    masses = {s.name: s.mass for s in table.segments}
    assert masses["left_shin"] == pytest.approx(4.0 * 1.5 * 1.2)
    assert masses["right_shin"] == pytest.approx(4.0 * 1.5)


def test_proportions_leave_the_table_they_came_from_alone() -> None:
    table = _planar()
    before = repr(table)
    with_proportions(table, {"thigh_length": 2.0, "mass": 0.5})
    assert repr(table) == before == repr(_planar())


def _planar() -> CharacterTable:
    return planar.planar_table()


def test_an_unknown_proportion_lists_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="tibia_length") as error:
        Simulation("planar", proportions={"tibia_length": 1.1})
    for valid in ("mass", "shin_length", "left_thigh_mass", "trunk_length"):
        assert valid in error.value.valid
        assert valid in str(error.value)


@pytest.mark.parametrize("value", [0.1, 5.5, -1.0, float("nan"), float("inf")])
def test_a_proportion_out_of_range_is_refused(value: float) -> None:
    with pytest.raises(CharacterError, match="thigh_length"):
        Simulation("planar", proportions={"thigh_length": value})


def test_a_body_of_other_proportions_stands_on_its_soles() -> None:
    sim = Simulation("planar", proportions={"shin_length": 1.2, "left_thigh_length": 0.9})
    assert sim.scene.clearance(sim.data.qpos) == pytest.approx(0.0, abs=1e-9)
