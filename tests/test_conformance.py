"""Everything that is registered obeys the same rules, on the day it exists."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from conftest import GROUNDS, in_the_air
from surefoot import characters as character_names
from surefoot import plugins
from surefoot import skills as skill_names
from surefoot import terrains as terrain_names
from surefoot.characters import load as load_character
from surefoot.controllers import base as controllers
from surefoot.engine.simulation import Simulation
from surefoot.errors import TerrainError
from surefoot.lab.skill_metadata import measure_skill
from surefoot.skills import BIPED, library_path, load, with_parameters
from surefoot.skills.schema import NUMBER_AT
from surefoot.terrains import load as load_terrain
from surefoot.terrains import profile, steps
from surefoot.terrains.terrain import Terrain

FRICTION = dict.fromkeys(("planar", "planar_arms"), 0.65) | dict.fromkeys(
    ("ape", "bird", "human", "human19", "human_toes", "humanoid", "robot", "strider"), 0.8
)
FRICTION["stepper"] = 1.0
COMMANDS = {name: controllers.load(name).commands for name in controllers.names()}
CHANGED = {  # a parameter of each controller
    "simbicon": {"states.0.torso": 0.123}, "genbicon": {"step_width": 0.234}, "imitation": {"cd": 0.321},
    "limit_cycle": {"regulation.forward": 0.123}, "stepping": {"step_width": 0.234}, "stylized": {"strength.hip": 7.0},
    "tracking": {"turn_rate": 0.123},
}  # fmt: skip
RUNS = [(None, full) for full in skill_names()]  # on the skill's own body
RUNS += [(name, "biped/zero-walk") for name in character_names() if "biped/zero-walk" in skill_names(name)]
ROUNDING = 1.0 + 1e-9  # room a motor has above its limit, so that rounding does not meet it
EXAMPLES = {
    "flat": ["flat"],
    "incline": ["incline:8", "incline:-20,25", "incline:12,90"],
    "slope": ["slope:6", "slope:-6,1", "slope:20,0.5,3", "slope:-35,0.3,2", "slope:10,0.5,4,70"],
    "steps": ["steps:2,-0.2", "steps:1,0.1,2.5,0.15,4,-0.3,4.2,-0.3", "steps:0.5,-1.5,3,2"],
    "stairs": ["stairs:0.15,0.3,10", "stairs:-0.1,0.4,3,0.5"],
    "rough": ["rough:7,0.03", "rough:0,0.1,0.3,30", "rough:3,0.2,0.5"],
    "bumps": ["bumps:7,0.03", "bumps:1,0.1,0.5,12"],
    "gaps": ["gaps:0.2", "gaps:0.35,0.5,4,0.4,0.6"],
    "platform": ["platform:30", "platform:12.5,20,5"],
    "seesaw": ["seesaw", "seesaw:2.5,0.1,0.8,1.5,50"],
    "image": ["image:hills.png,12,0.5", "image:hills.png,30,1.5,20"],
}
EXAMPLES |= {  # those of other packages, with their default numbers
    name: [name] for name in terrain_names() if not plugins.owner(plugins.TERRAINS, name).startswith("surefoot.")
}
TEXTS = [text for texts in EXAMPLES.values() for text in texts]
STEEP = ["rough:3,0.5,0.25,20", "rough:1,1,0.1,10"]  # steeper than the boxes of a profile can follow

# ---------------------------------------------------------------------------------------------- characters


def skill_of(name: str) -> str:
    """A skill for a character: one of its own, or the zero gait, which any body with two legs can do."""
    return next((full for full in skill_names() if full.startswith(f"{name}/")), "zero-walk")


@pytest.mark.parametrize("name", character_names())
def test_character_compiles_on_flat_ground_with_all_parts_named(name: str) -> None:
    sim = Simulation(character=name, skill=skill_of(name))
    assert sim.scene.table.name == name
    model = sim.model
    for count, kind in (
        (model.nbody, model.body), (model.njnt, model.joint), (model.ngeom, model.geom), (model.nu, model.actuator),
        (model.nsensor, model.sensor),
    ):  # fmt: skip
        names = [kind(i).name for i in range(count)]
        assert all(names), names
        assert len(set(names)) == count
    assert np.isfinite(sim.data.qpos).all()
    assert np.isfinite(sim.data.qacc).all()


@pytest.mark.parametrize("name", character_names())
def test_character_is_moved_by_its_own_joints_alone(name: str) -> None:
    model = Simulation(character=name, skill=skill_of(name)).model
    assert model.neq == 0
    assert not model.body_gravcomp.any()
    root = {i for i in range(model.njnt) if model.joint(i).name.startswith("root")}
    assert root
    driven = {int(model.actuator_trnid[a, 0]) for a in range(model.nu)}
    assert not root & driven
    assert (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT).all()
    dofs = [i for i in range(model.nv) if int(model.dof_jntid[i]) in root]
    for held in (model.dof_damping, model.dof_armature, model.dof_frictionloss):
        assert not held[dofs].any()
    assert not model.jnt_stiffness.any()
    assert not model.jnt_limited[sorted(root)].any()


@pytest.mark.parametrize("name", character_names())
def test_gravity_and_friction_are_the_declared_ones(name: str) -> None:
    model = Simulation(character=name, skill=skill_of(name), terrain="steps:2,-0.1,4,0.1").model
    assert model.opt.gravity.tolist() == [0.0, 0.0, -9.81]
    assert (model.geom_friction[:, 0] == FRICTION.get(name, load_character(name).friction)).all()
    assert model.opt.density == model.opt.viscosity == 0.0


# ------------------------------------------------------------------------------------------------ terrains


@pytest.fixture
def _hills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture some examples name, where they look for it."""
    y, x = np.mgrid[0:30, 0:40]
    Image.fromarray((127 + 90 * np.sin(0.3 * x) * np.cos(0.25 * y)).astype(np.uint8)).save(tmp_path / "hills.png")
    monkeypatch.chdir(tmp_path)


def ground_height(terrain: Terrain, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What rays from above meet."""
    spec = mujoco.MjSpec()
    terrain.build(spec.worldbody, 0.65)
    terrain.build_moving(spec.worldbody, 0.65)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    met, down = np.zeros(1, np.int32), np.array([0.0, 0.0, -1.0])
    top = 1200.0
    return np.array([
        top - mujoco.mj_ray(model, data, np.array([one, other, top]), down, None, 1, -1, met)
        for one, other in np.broadcast(x, y)
    ])  # fmt: skip


def away_from_faces(terrain: Terrain, x: np.ndarray) -> np.ndarray:
    """Without the places within a millimetre of a corner, where a ray may meet either side."""
    if terrain.vertices is None:
        return x
    return x[(np.abs(x[:, None] - terrain.vertices[:, 0]) > 1e-3).all(axis=1)]


def test_every_kind_of_terrain_has_examples_here() -> None:
    assert set(EXAMPLES) == set(terrain_names())


@pytest.mark.usefixtures("_hills")
@pytest.mark.parametrize("text", TEXTS)
def test_terrain_is_finite_and_at_height_zero_where_the_character_starts(text: str) -> None:
    terrain = load_terrain(text)
    x, y = np.linspace(-5.0, 250.0, 2000), np.linspace(-60.0, 40.0, 2000)
    assert np.isfinite(terrain.height(x, y)).all()
    assert float(terrain.height(0.0)) == 0.0
    sim = Simulation("planar", terrain=terrain)
    sim.step(50)
    assert np.isfinite(sim.data.qpos).all()


@pytest.mark.usefixtures("_hills")
@pytest.mark.parametrize("text", TEXTS)
def test_height_is_what_a_ray_from_above_meets(text: str) -> None:
    terrain, rng = load_terrain(text), np.random.default_rng(5)
    x = away_from_faces(terrain, rng.uniform(-2.0, 14.0, 60))
    y = rng.uniform(-9.0, 9.0, len(x))
    assert ground_height(terrain, x, y) == pytest.approx(terrain.height(x, y), abs=1e-6)


@pytest.mark.parametrize("text", [text for text in TEXTS if not text.startswith("image")])  # that is not plane
@pytest.mark.parametrize("full", ["planar/walk", "human/walk-as-printed"])
def test_soles_touch_the_ground_they_start_on_and_are_not_in_it(full: str, text: str) -> None:
    sim, deeper = Simulation(skill=full, terrain=text), 1e-5
    assert sim.data.contact.dist.min(initial=0.0) >= -1e-9
    sim.data.qpos[1 if sim.scene.table.root == "planar" else 2] -= sim.skill.start.lift + deeper
    mujoco.mj_forward(sim.model, sim.data)
    assert -1.001 * deeper <= sim.data.contact.dist.min(initial=0.0) <= -0.9 * deeper  # cosine of 25°


def test_soles_are_placed_by_the_gentler_side_of_an_edge_below_them() -> None:
    flat = Simulation("planar", terrain="flat")
    feet = [flat.model.geom(f"{side}_foot_0").id for side in ("left", "right")]
    reach = flat.model.geom_size[feet, 1] * flat.data.geom_xmat[feet, 2]
    ends = np.concatenate([flat.data.geom_xpos[feet, 0] + sign * reach for sign in (-1.0, 1.0)])
    place = flat.scene.clearance(flat.data.qpos)
    assert (ends > 0.01).any()
    for edge in [float(end + aside) for end in ends[ends > 0.01] for aside in (-4e-5, 6e-5)]:
        scene = Simulation("planar", terrain=steps([edge], [-0.3])).scene
        assert place <= scene.clearance(flat.data.qpos) <= place + 0.3


@pytest.mark.parametrize("text", STEEP)
def test_ground_steeper_than_45_degrees_is_refused(text: str) -> None:
    with pytest.raises(TerrainError, match="45°"):
        load_terrain(text)


def test_height_of_a_profile_goes_through_its_points() -> None:
    heights = [0.0, 0.1, 0.05, 0.3, 0.0]
    terrain = profile(heights, spacing=0.4, start=1.0)
    assert terrain.height(1.0 + 0.4 * np.arange(5)) == pytest.approx(heights)
    assert float(terrain.height(1.1)) == pytest.approx(0.025)
    x = away_from_faces(terrain, np.linspace(0.0, 5.0, 101) + 0.003)
    assert ground_height(terrain, x, np.array(0.3)) == pytest.approx(terrain.height(x), abs=1e-6)


def test_slope_rises_by_the_tangent_of_its_angle_in_degrees() -> None:
    terrain = load_terrain("slope:6,2")
    assert float(terrain.height(7.0)) == pytest.approx(5.0 * np.tan(np.radians(6.0)))
    assert float(terrain.height(1.9)) == 0.0


def test_steps_rise_by_their_heights_and_stay() -> None:
    terrain = steps([1.0, 2.0], [0.2, -0.5])
    assert terrain.height(np.array([0.9, 1.1, 1.9, 2.1, 50.0])) == pytest.approx([0.0, 0.2, 0.2, -0.3, -0.3])


def test_rough_ground_depends_on_its_seed_and_stays_within_its_amplitude() -> None:
    x = np.linspace(0.0, 60.0, 500)
    one, again, other = (load_terrain(f"rough:{seed},0.07").height(x) for seed in (4, 4, 5))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert 0.03 < np.abs(one).max() <= 0.07


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: profile([0.2, 0.2, 0.0], start=1.0), id="profile-that-begins-high"),
        pytest.param(lambda: steps([-1.0], [0.2]), id="step-behind-the-start"),
        pytest.param(lambda: Terrain("made", np.array([[-4.0, 0.0], [2.0, 1.0]])), id="slope-through-the-start"),
    ],
)
def test_ground_that_is_not_at_zero_where_the_character_starts_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(TerrainError, match="height 0"):
        make()


# -------------------------------------------------------------------------------------------------- skills


@pytest.mark.parametrize("full", skill_names())
def test_skill_is_named_after_its_file(full: str) -> None:
    skill = load(full)
    path = library_path(full)
    assert skill.full_name == full == f"{path.parent.name}/{path.stem}"
    assert skill.character in (*character_names(), BIPED)
    assert skill.summary
    assert skill.provenance.source
    assert set(skill.commands) <= set(COMMANDS[skill.controller])
    assert load(skill.name, skill.character) == skill


@pytest.mark.parametrize(("character", "full"), RUNS)
def test_skill_runs_a_second_within_the_laws_of_physics(character: str | None, full: str) -> None:
    sim = Simulation(character, load(full), GROUNDS.get(full, "flat"))
    limits = np.array([gain.limit for gain in sim.scene.table.gains.values()]) * ROUNDING
    for _ in range(40):
        sim.step(round(0.025 / sim.model.opt.timestep))
        assert np.isfinite(bits_of(sim)).all()
        assert (np.abs(sim.data.actuator_force) <= limits).all()
        assert not sim.data.xfrc_applied.any()
        assert not sim.data.qfrc_applied.any()
        assert np.isfinite(sim.memory.torque).all()
    assert sim.memory.report[0].peak_torque <= limits.max()
    assert sim.time == pytest.approx(1.0)
    assert sim.model.neq == 0


def bits_of(sim: Simulation) -> np.ndarray:
    return np.concatenate([sim.data.qpos, sim.data.qvel, sim.data.ctrl, sim.memory.memory])


@pytest.mark.parametrize("full", skill_names())
def test_skill_starts_with_its_feet_on_the_ground_or_as_high_as_it_says(full: str) -> None:
    skill = load(full)
    sim = Simulation(skill=skill, terrain=GROUNDS.get(full, "flat"))
    soles = [
        sim.model.geom(f"{segment.name}_{i}").id
        for segment in sim.scene.table.segments
        for i, shape in enumerate(segment.shapes)
        if shape.sole
    ]
    assert len(soles) >= 2
    radius, half = sim.model.geom_size[soles, :2].T
    height = sim.scene.terrain.height
    secant = np.sqrt(1.0 + height(1.0, 0.0) ** 2 + height(0.0, 1.0) ** 2)  # the ground is a plane through the start
    reach = half[:, None] * sim.data.geom_xmat[soles, 2::3]
    x, y, z = np.concatenate([sim.data.geom_xpos[soles] + sign * reach for sign in (-1.0, 1.0)]).T
    lowest = z - np.tile(radius, 2) * secant - height(x, y)
    assert lowest.min() == pytest.approx(skill.start.lift, abs=1e-9)
    assert not sim.fallen


@pytest.mark.parametrize("full", skill_names())
def test_two_simulations_of_a_skill_share_no_memory(full: str) -> None:
    skill = load(full)
    one, other = (Simulation(skill=skill) for _ in range(2))
    assert one.model is not other.model
    assert one.data is not other.data
    before = other.snapshot().state
    assert not np.shares_memory(one.data.userdata, other.data.userdata)
    one.set_parameters(CHANGED.get(skill.controller, {"fall.tilt_time": 0.4}))
    one.memory.slots[:, NUMBER_AT + 1 :] *= 1.5  # but for the numbers of controller and skill
    one.model.body_mass[:] *= 2.0
    one.step(20)
    assert np.array_equal(other.snapshot().state, before)
    assert other.skill == load(full) == skill


# --------------------------------------------------------------------------------------------------- falls


def test_a_body_whose_trunk_touches_the_ground_has_fallen_and_stays_so_until_a_restore() -> None:
    sim = Simulation("planar")
    kept = sim.snapshot()
    sim.data.qpos[2] = 1.2
    sim.data.qpos[1] = 0.3
    while not sim.fallen and sim.time < 3.0:
        sim.step(10)
    assert sim.fallen
    assert sim.fallen_at <= sim.time
    assert sim.fall_cause in ("touched the ground", "too low")
    first = sim.fallen_at
    sim.step(500)
    assert sim.fallen_at == first
    sim.restore(kept)
    assert not sim.fallen


def test_a_body_that_tilts_for_longer_than_its_skill_allows_has_fallen() -> None:
    limp = {"gains.all.kp": 0.0, "gains.all.kd": 0.0, "torso_gain.kp": 0.0, "torso_gain.kd": 0.0}
    sim = Simulation(skill=with_parameters(load("planar/walk"), limp | {"fall.height": 0.0, "fall.tilt_time": 0.3}))
    in_the_air(sim, 100.0)
    sim.data.qpos[2:], sim.data.qvel[:] = 0.0, 0.0
    sim.data.qpos[2] = np.radians(85.0)
    sim.step(590)
    assert not sim.fallen
    sim.step(20)
    assert sim.fall_cause == "tilted"
    assert sim.fallen_at == pytest.approx(0.3, abs=0.002)


def test_a_number_that_is_not_finite_counts_as_a_fall_and_raises_nothing() -> None:
    sim = Simulation("planar")
    sim.step(100)
    sim.data.qvel[3] = np.nan
    sim.step(3)
    assert sim.fallen
    assert sim.fall_cause == "not finite"


@pytest.mark.parametrize("name", [n for n in skill_names() if load(n).measured.speed is not None])
def test_a_skill_moves_as_its_file_says(name: str) -> None:
    said, found = load(name).measured, measure_skill(load(name), GROUNDS.get(name, "flat"))
    assert found is not None
    rounding = {"speed": 0.02, "cadence": 0.201, "cost_of_transport": 0.02}  # one footstrike more or less in 5 s
    for what, near in rounding.items():
        value, written = getattr(found, what), getattr(said, what)
        assert (value is None) == (written is None), what
        assert value is None or value == pytest.approx(written, rel=0.05, abs=near), what
    of_the_card = {
        "score": 0.5, "walk_ratio": 0.0004, "double_support": 0.02, "flight": 0.02, "stance_knee": 2.0,
        "strike_pitch": 3.0, "toe_off_pitch": 4.0, "lean": 1.0, "first_peak": 0.1, "work": 0.02, "tremble": 0.015,
        "slip": 0.004,
    }  # fmt: skip
    for what, near in of_the_card.items():
        if getattr(said, what) is not None:
            assert getattr(found, what) == pytest.approx(getattr(said, what), rel=0.05, abs=near), what
