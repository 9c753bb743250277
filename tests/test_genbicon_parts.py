"""The parts of GENBICON on their own: inverse kinematics, pendulums, curves, Jacobian transposes, links as numbers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import conftest
from surefoot.characters import builder, load, names, parametric_biped
from surefoot.characters.link_geometry import packed_limbs
from surefoot.characters.links import KINDS, LEFT, MIDDLE, RIGHT, Limbs, Link, scaled_gain
from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.controllers.genbicon import law as genbicon
from surefoot.controllers.genbicon.memory import SHIFT, STAND, STEP
from surefoot.controllers.genbicon.style import KNOTS, WIDTH, curve_at
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.native.limb_records import limbs_of
from surefoot.native.physics import world_of
from surefoot.native.userdata import COMMANDS, Sizes
from surefoot.reflexes import limb_servo, pendulum
from surefoot.reflexes.leg_ik import first_rotation, middle_angle
from surefoot.reflexes.limb_servo import hand_point
from surefoot.skills import files
from surefoot.skills import load as load_skill
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain

BODIES = [name for name in names() if load(name).is_biped]
MEASURED = {
    m.name: m
    for m in (parametric_biped.APE, parametric_biped.HUMANOID, parametric_biped.ROBOT, parametric_biped.STRIDER)
}
SIDES = {"left": LEFT, "right": RIGHT}
G = 9.81


@functools.cache
def python(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as the Python it is written in, and so every kernel that it calls by name."""
    function: Any = python_impl(kernel)
    known = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    called = {name: python(it) for name, it in known.items() if hasattr(it, "py_func")}
    return FunctionType(function.__code__, function.__globals__ | called)


@dataclass
class Body:
    """A compiled body that no law moves."""

    model: mujoco.MjModel
    data: mujoco.MjData
    limbs: Limbs
    numbers: Any  # native.limbs.Limbs
    world: Any  # what the kernels read of it

    @property
    def root(self) -> slice:
        address = self.model.jnt_qposadr[self.model.body_jntadr[self.model.body_rootid[self.pelvis]]]
        return slice(int(address), int(address) + 7)

    @property
    def pelvis(self) -> int:
        return int(self.model.body(self.limbs.pelvis).id)

    def update(self) -> None:
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def pose(self, rng: np.random.Generator) -> None:
        """Somewhere, turned somehow, every joint somewhere within its limits."""
        self.data.qpos[self.root] = (*rng.uniform(-1.0, 1.0, 3), *Rotation.random(rng=rng).as_quat(scalar_first=True))
        for joint in range(self.model.njnt):
            if self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
                low, high = self.model.jnt_range[joint]
                self.data.qpos[self.model.jnt_qposadr[joint]] = rng.uniform(max(low, -0.9), min(high, 0.9))
        self.update()

    def hold_pelvis(self, at: np.ndarray, turn: Rotation) -> None:
        """Move the root so that the pelvis is where it was."""
        self.update()
        now = turn_of(self.data.xquat[self.pelvis])
        change, root = turn * now.inv(), self.data.qpos[self.root]
        place = at + change.apply(root[:3] - self.data.xpos[self.pelvis])
        self.data.qpos[self.root] = (*place, *(change * turn_of(root[3:])).as_quat(scalar_first=True))
        self.update()

    def slope(self, joint: str, measure: Callable[[], Any]) -> Any:
        """How fast something changes with a joint's angle while the pelvis is held, by central difference."""
        address, step = self.model.joint(joint).qposadr[0], 1e-5
        before = self.data.qpos.copy()
        at, turn, found = self.data.xpos[self.pelvis].copy(), turn_of(self.data.xquat[self.pelvis]), []
        for sign in (1.0, -1.0):
            self.data.qpos[:] = before
            self.data.qpos[address] += sign * step
            self.hold_pelvis(at, turn)
            found.append(np.array(measure()))
        self.data.qpos[:] = before
        self.update()
        return (found[0] - found[1]) / (2.0 * step)


def turn_of(quaternion: Any) -> Rotation:
    return Rotation.from_quat(np.array(quaternion), scalar_first=True)


def built(table: CharacterTable) -> Body:
    made = builder.build(table, load_terrain("flat"), Sizes(len(table.gains), 2, 0, 0, 0, 0))
    assert made.limbs is not None
    data = mujoco.MjData(made.model)
    numbers = python_impl(limbs_of)(made.model.numeric_data, made.limbs_at)
    body = Body(made.model, data, made.limbs, numbers, None)
    body.update()
    body.world = python(world_of)(made.model._address, data._address, made.anatomy_at)
    return body


_JOINT = '<joint name="{0}" type="hinge" axis="{1}" range="-1.2 1.2" limited="true"/>'


def _hinges(name: str, count: int) -> str:
    axes = ("0 -1 0", "1 0 0", "0 0 1")
    return "".join(_JOINT.format(name + suffix, axes[i]) for i, suffix in enumerate(("", "_roll", "_yaw")[:count]))


def _part(name: str, at: str, joints: str, mass: float, inside: str = "", shape: str = "") -> str:
    inertial = f'<inertial pos="0.02 0.01 -0.1" mass="{mass}" diaginertia="0.02 0.03 0.025"/>'
    return f'<body name="{name}" pos="{at}">{joints}{inertial}{shape}{inside}</body>'


def from_the_chest() -> Body:
    """A body whose tree begins at the chest: MuJoCo hangs the belly on it, the pelvis on that."""
    sole = '<geom type="box" size="0.1 0.04 0.02" pos="0.04 0 -0.05"/>'
    legs = arms = ""
    for side, y in (("left", 0.1), ("right", -0.1)):
        foot = _part(f"{side}_foot", "0 0 -0.4", _hinges(f"{side}_ankle", 2), 1.0, shape=sole)
        shin = _part(f"{side}_shin", "0 0 -0.4", _hinges(f"{side}_knee", 1), 3.0, foot)
        legs += _part(f"{side}_thigh", f"0 {y} 0", _hinges(f"{side}_hip", 3), 7.0, shin)
        lower = _part(f"{side}_lower_arm", "0 0 -0.3", _hinges(f"{side}_elbow", 1), 1.5)
        arms += _part(f"{side}_upper_arm", f"0 {2 * y} 0.2", _hinges(f"{side}_shoulder", 3), 2.0, lower)
    pelvis = _part("pelvis", "0.01 0 -0.2", _hinges("lower_back", 3), 11.0, legs)
    belly = _part("belly", "0 0.02 -0.05", _hinges("upper_back", 2), 9.0, pelvis)
    head = _part("head", "0 0 0.3", _hinges("neck", 3), 5.0)
    chest = _part("chest", "0 0 1.5", '<freejoint name="root"/>', 16.0, belly + head + arms)
    counts = {"lower_back": 3, "upper_back": 2, "neck": 3}
    for side in SIDES:
        counts |= {f"{side}_{k}": n for k, n in {"hip": 3, "knee": 1, "ankle": 2, "shoulder": 3, "elbow": 1}.items()}
    joints = {name: tuple(f"{name}{s}" for s in ("", "_roll", "_yaw")[:n]) for name, n in counts.items()}
    motors = "".join(f'<motor name="{j}" joint="{j}"/>' for group in joints.values() for j in group)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><worldbody>{chest}</worldbody><actuator>{motors}</actuator></mujoco>'
    )
    ends = {"hip": ("thigh", "pelvis"), "knee": ("shin", "thigh"), "ankle": ("foot", "shin"),
            "shoulder": ("upper_arm", "chest"), "elbow": ("lower_arm", "upper_arm")}  # fmt: skip
    trunk = (("belly", "pelvis", "lower_back"), ("chest", "belly", "upper_back"), ("head", "chest", "neck"))
    links = [
        Link(far, near, joints[kind], kind, MIDDLE, scaled_gain(kind, 73.5, 0.92), flipped=far != "head")
        for far, near, kind in trunk
    ]
    for side, number in SIDES.items():
        for kind, (far, near) in ends.items():
            base = near if near in ("pelvis", "chest") else f"{side}_{near}"
            joint = joints[f"{side}_{kind}"]
            links.append(Link(f"{side}_{far}", base, joint, kind, number, scaled_gain(kind, 73.5, 0.92)))
    hand = (0.03, 0.01, -0.35)
    limbs = Limbs(
        "pelvis", tuple(links), scaled_gain("root", 73.5, 0.92), (hand, hand), (("left_foot",), ("right_foot",))
    )
    data = mujoco.MjData(model)
    world = SimpleNamespace(
        xpos=data.xpos, xquat=data.xquat, xanchor=data.xanchor, xaxis=data.xaxis, subtree_com=data.subtree_com,
        rootid=model.body_rootid, anatomy=[SimpleNamespace(mass=model.body_mass.sum())],
    )  # fmt: skip
    body = Body(model, data, limbs, python_impl(limbs_of)(packed_limbs(model, limbs), 0), world)
    body.update()
    return body


@functools.cache
def a(name: str) -> Body:
    return from_the_chest() if name == "from the chest" else built(load(name))


EVERY = [*BODIES, "from the chest"]
NO_BALLS = [("human19", "arms"), ("stepper", "arms")]  # shoulders of one hinge, and of two
BALLS = [(name, limb) for name in EVERY for limb in ("legs", "arms") if (name, limb) not in NO_BALLS]
"""Limbs that turn in all directions at their root."""


# ----------------------------------------------------------------------------------------- inverse kinematics


def bend_range(body: Body, chain: Any) -> tuple[float, float]:
    """Limits of a chain's middle joint [rad]."""
    hinge = body.model.joint(body.limbs.links[int(chain.lower)].joints[0]).id
    low, high = body.model.jnt_range[hinge]
    return float(low), float(high)


def spanned(chain: Any, angle: float) -> float:
    """Distance from root to end of a chain whose middle joint is at an angle [m]."""
    first, second, axis = (np.array([chain[f"{k}{c}"] for c in "xyz"]) for k in "abn")
    return float(np.linalg.norm(first + Rotation.from_rotvec(angle * axis).apply(second)))


def put(body: Body, chain: Any, target: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Set a limb's joints as its inverse kinematics say; root, middle and end of the limb in the world."""
    bend = python(middle_angle)(chain, float(np.linalg.norm(target)))
    wanted = turn_of(python(first_rotation)(chain, bend, tuple(target), tuple(axis)))
    upper, lower = (body.limbs.links[int(chain[k])] for k in ("upper", "lower"))
    relative = turn_of(body.data.body(upper.base).xquat).inv() * wanted
    axes = np.array([body.model.joint(j).axis for j in upper.joints])
    for joint, angle in zip(upper.joints, relative.as_davenport(axes, "intrinsic"), strict=True):
        body.data.qpos[body.model.joint(joint).qposadr[0]] = angle
    body.data.qpos[body.model.joint(lower.joints[0]).qposadr[0]] = bend
    if chain.end >= 0.0:
        for joint in body.limbs.links[int(chain.end)].joints:
            body.data.qpos[body.model.joint(joint).qposadr[0]] = 0.0
    body.update()
    root, middle = (body.data.joint(link.joints[0]).xanchor.copy() for link in (upper, lower))
    return root, middle, np.array(python(hand_point)(body.world, chain))


def a_target(body: Body, chain: Any, rng: np.random.Generator) -> np.ndarray:
    """A place that the limb can reach with its middle joint within its limits, anywhere below its root."""
    low, high = bend_range(body, chain)
    distance = spanned(chain, chain.bend * rng.uniform(0.1, min(2.2, high if chain.bend > 0.0 else -low)))
    direction = rng.normal(size=3)
    direction[2] = -abs(direction[2])
    return np.asarray(distance * direction / np.linalg.norm(direction))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("name", "limb"), BALLS)
def test_limbs_put_their_ends_where_they_are_told_to_a_micrometre(name: str, side: str, limb: str) -> None:
    body, rng = a(name), np.random.default_rng(7)
    chain = getattr(body.numbers, limb)[SIDES[side]]
    for _ in range(30):
        body.pose(rng)
        target, axis = a_target(body, chain, rng), rng.normal(size=3)
        root, _, end = put(body, chain, target, axis)
        assert end - root == pytest.approx(target, abs=1e-6)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", EVERY)
def test_the_knees_axis_points_as_near_to_where_it_is_told_as_the_ankle_allows(name: str, side: str) -> None:
    body, rng = a(name), np.random.default_rng(8)
    chain = body.numbers.legs[SIDES[side]]
    knee = body.limbs.links[int(chain.lower)].joints[0]
    for _ in range(10):
        body.pose(rng)
        target, axis = a_target(body, chain, rng), rng.normal(size=3)
        put(body, chain, target, axis)
        along = target / np.linalg.norm(target)
        across = axis - (axis @ along) * along
        assert body.data.joint(knee).xaxis == pytest.approx(across / np.linalg.norm(across), abs=1e-9)


@pytest.mark.parametrize("twist", [-0.7, 0.4])
@pytest.mark.parametrize("name", EVERY)
def test_a_twist_turns_both_knees_outward_about_the_line_from_hip_to_ankle(name: str, twist: float) -> None:
    body = a(name)
    for side, outward in ((LEFT, 1.0), (RIGHT, -1.0)):
        chain = body.numbers.legs[side]
        axis = Rotation.from_euler("z", outward * twist).apply([chain[f"n{c}"] for c in "xyz"])
        body.pose(np.random.default_rng(9))
        root, knee, _ = put(body, chain, np.array([0.0, 0.0, -spanned(chain, 1.1 * chain.bend)]), axis)
        forward = 1.0 if chain.bend * chain.ny > 0.0 else -1.0  # a knee that bends the other way points back
        assert math.atan2(*(forward * (knee - root)[[1, 0]])) == pytest.approx(outward * twist, abs=1e-9)


@pytest.mark.parametrize(("name", "limb"), BALLS)
def test_a_target_out_of_reach_straightens_the_limb_towards_it(name: str, limb: str) -> None:
    body, rng = a(name), np.random.default_rng(10)
    for chain in getattr(body.numbers, limb):
        body.pose(rng)
        target = np.array([0.5, 0.3, -2.0])
        root, _, end = put(body, chain, target, np.array([0.1, -1.0, 0.2]))
        assert np.cross(end - root, target) == pytest.approx(np.zeros(3), abs=1e-6)
        assert np.linalg.norm(end - root) == pytest.approx(0.9995 * chain.reach, rel=1e-9)


@pytest.mark.parametrize("heading", [0.0, 0.6, 2.5])
def test_a_limb_that_reaches_along_its_middle_axis_is_still_only_turned(heading: float) -> None:
    """A hand held straight to the side: there the axis says nothing of the twist, whatever the heading."""
    chain = a("humanoid").numbers.arms[LEFT]
    aside = Rotation.from_euler("z", heading).apply([0.0, 1.0, 0.0])
    bend = python(middle_angle)(chain, 0.5)
    turn = python(first_rotation)(chain, bend, tuple(0.5 * aside), tuple(-aside))
    assert np.linalg.norm(turn) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("limb", ["legs", "arms"])
@pytest.mark.parametrize("name", BODIES)
def test_inverse_kinematics_never_asks_a_joint_to_go_beyond_its_limits(name: str, limb: str) -> None:
    body = a(name)
    for chain in getattr(body.numbers, limb):
        low, high = bend_range(body, chain)
        for distance in np.linspace(0.5, 1.2, 15) * chain.reach:
            assert low - 1e-9 <= python(middle_angle)(chain, distance) <= high + 1e-9, distance / chain.reach


# -------------------------------------------------------------------------------------------------- pendulums

STATES = [(0.3, 0.9), (1.4, 0.55), (2.3, 1.1), (0.05, 0.7)]  # [m/s], [m]


@pytest.mark.parametrize(("v", "height"), STATES)
def test_the_stopping_distance_turns_all_motion_into_height(v: float, height: float) -> None:
    d = python_impl(pendulum.stopping_distance)(v, height)
    assert 0.5 * v * v + G * height == pytest.approx(G * math.hypot(height, d), rel=1e-12)
    assert python_impl(pendulum.stopping_distance)(-v, height) == -d


def fate(v: float, height: float, d: float) -> tuple[float, float]:
    """Highest angle past the upright, and lowest speed, of a pendulum of constant length that begins d behind it."""
    length = math.hypot(height, d)
    span = (0.0, 12.0 * math.sqrt(length / G))
    start = (-math.atan2(d, height), v / length)
    fallen: Any = lambda t, y: abs(y[0]) - 1.4  # noqa: E731
    fallen.terminal = True
    motion = solve_ivp(lambda t, y: (y[1], G / length * math.sin(y[0])), span, start, rtol=1e-11, atol=1e-12,
                       events=fallen, max_step=0.01)  # fmt: skip
    nearest = np.abs(motion.y).sum(axis=0).argmin()
    return float(motion.y[0].max()), float(np.abs(motion.y[:, nearest]).max())


@pytest.mark.parametrize(("v", "height"), STATES)
def test_a_pendulum_that_stands_at_the_stopping_distance_comes_to_rest_at_the_top(v: float, height: float) -> None:
    d = python_impl(pendulum.stopping_distance)(v, height)
    assert fate(v, height, d)[1] < 1e-3  # neither angle nor speed is left
    assert fate(v, height, 0.98 * d)[0] > 1.0  # a shorter step goes on
    assert fate(v, height, 1.02 * d)[0] < 0.0  # a longer one goes back


@pytest.mark.parametrize(("x", "v"), [(0.13, -0.4), (-0.2, 0.9), (0.05, 0.3)])
def test_a_linear_pendulum_is_carried_on_as_its_equation_says(x: float, v: float) -> None:
    omega = python_impl(pendulum.pendulum_frequency)(0.83)
    assert omega == pytest.approx(math.sqrt(G / 0.83))
    motion = solve_ivp(lambda t, y: (y[1], omega**2 * y[0]), (0.0, 0.37), (x, v), rtol=1e-11, atol=1e-13)
    assert python_impl(pendulum.pendulum_after)(x, v, omega, 0.37) == pytest.approx(motion.y[:, -1], abs=1e-9)


@pytest.mark.parametrize(("x", "v", "wanted"), [(-0.1, 0.7, 0.4), (0.08, -0.5, -0.3), (0.0, 0.2, -0.1)])
def test_the_pressure_brings_the_capture_point_where_it_was_wanted(x: float, v: float, wanted: float) -> None:
    omega, time = python_impl(pendulum.pendulum_frequency)(0.95), 0.31
    z = python_impl(pendulum.pressure_to_reach)(x + v / omega, wanted, omega, time)
    motion = solve_ivp(lambda t, y: (y[1], omega**2 * (y[0] - z)), (0.0, time), (x, v), rtol=1e-11, atol=1e-13)
    assert motion.y[0, -1] + motion.y[1, -1] / omega == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("height", "period", "speed"), [(0.9, 0.5, 0.7), (0.6, 0.35, -0.4), (1.1, 0.8, 1.6)])
def test_steps_set_short_by_the_speed_offset_walk_at_the_speed(height: float, period: float, speed: float) -> None:
    omega = python_impl(pendulum.pendulum_frequency)(height)
    offset, v, x, moved = python_impl(pendulum.speed_offset)(omega, period), 0.0, 0.0, 0.0
    for _ in range(60):
        start = offset * speed - v / omega  # the foot is set at the capture point, and so much nearer
        x, v = python_impl(pendulum.pendulum_after)(start, v, omega, period)
        moved = x - start
    assert moved / period == pytest.approx(speed, rel=1e-9)
    assert x + v / omega == pytest.approx(python_impl(pendulum.periodic_capture_ahead)(speed, omega, period), rel=1e-9)


@pytest.mark.parametrize(("height", "period", "width"), [(0.9, 0.5, 0.16), (0.6, 0.35, 0.3)])
def test_steps_set_outside_by_the_sway_offset_keep_their_width(height: float, period: float, width: float) -> None:
    omega = python_impl(pendulum.pendulum_frequency)(height)
    y, v, side, step, capture = 0.02, 0.3, 1.0, 0.0, 0.0
    for _ in range(60):
        y, v = python_impl(pendulum.pendulum_after)(y, v, omega, period)
        capture = y + v / omega
        step = capture + 0.5 * side * width * python_impl(pendulum.sway_offset)(omega, period)
        y, side = y - step, -side
    assert step == pytest.approx(-side * width, rel=1e-9)
    assert capture == pytest.approx(
        python_impl(pendulum.periodic_capture_beside)(-side * width, omega, period), rel=1e-9
    )


# ------------------------------------------------------------------------------------------------------ curves

PHASES, VALUES = (0.1, 0.27, 0.4, 0.66, 0.95), (0.3, -0.8, 0.5, 1.4, -0.2)


def at(phases: Any, values: Any, phase: float) -> float:
    curve = np.zeros(WIDTH)
    curve[0], curve[1 : 1 + len(phases)], curve[1 + KNOTS : 1 + KNOTS + len(values)] = len(phases), phases, values
    return float(python(curve_at)(curve, phase))


def test_a_curve_goes_through_its_knots() -> None:
    for phase, value in zip(PHASES, VALUES, strict=True):
        assert at(PHASES, VALUES, phase) == pytest.approx(value, abs=1e-12)


def test_a_curve_is_smooth_at_its_inner_knots_with_the_slope_of_the_chord_between_their_neighbours() -> None:
    h = 1e-6
    for k in range(1, len(PHASES) - 1):
        before = (VALUES[k] - at(PHASES, VALUES, PHASES[k] - h)) / h
        behind = (at(PHASES, VALUES, PHASES[k] + h) - VALUES[k]) / h
        chord = (VALUES[k + 1] - VALUES[k - 1]) / (PHASES[k + 1] - PHASES[k - 1])
        assert (before, behind) == pytest.approx((chord, chord), abs=1e-3)


def test_a_curve_is_constant_beyond_its_ends() -> None:
    assert [at(PHASES, VALUES, p) for p in (-0.5, 0.0, 0.0999)] == [VALUES[0]] * 3
    assert [at(PHASES, VALUES, p) for p in (0.951, 1.0, 1.6)] == [VALUES[-1]] * 3


def test_a_curve_of_one_knot_is_that_value_and_one_of_none_is_zero() -> None:
    assert at((0.4,), (0.7,), 0.1) == at((0.4,), (0.7,), 0.9) == 0.7
    assert at((), (), 0.3) == 0.0


def test_a_curve_reproduces_lines_everywhere_and_parabolas_between_its_inner_knots() -> None:
    phases = np.linspace(0.0, 1.0, KNOTS)
    for phase in np.linspace(0.0, 1.0, 41):
        assert at(phases, 2.0 - 3.0 * phases, phase) == pytest.approx(2.0 - 3.0 * phase, abs=1e-12)
        if phases[1] <= phase <= phases[-2]:
            assert at(phases, phases * phases - phases, phase) == pytest.approx(phase * phase - phase, abs=1e-12)


# ---------------------------------------------------------------------------------------- Jacobian transposes


def share(body: Body, number: int, joint: str, torque: Any) -> float:
    """What a hinge of a link exerts of a torque vector on the link's far part."""
    return float(body.numbers.links[number].flip * (body.data.joint(joint).xaxis @ np.array(torque)))


def test_a_tree_that_begins_at_the_chest_has_links_that_run_the_other_way() -> None:
    body = a("from the chest")
    flipped = [link.body for link, n in zip(body.limbs.links, body.numbers.links, strict=True) if n.flip < 0.0]
    assert flipped == ["belly", "chest"]


@pytest.mark.parametrize("name", EVERY)
def test_torques_that_bear_the_weight_are_the_slopes_of_the_potential_energy(name: str) -> None:
    body = a(name)
    body.pose(np.random.default_rng(11))
    top = body.model.body_rootid[body.pelvis]
    weight = body.model.body_subtreemass[top] * G
    for i, link in enumerate(body.limbs.links):
        torque = python(limb_servo.weight_torque)(body.world, body.numbers.links[i])
        for joint in link.joints:
            slope = body.slope(joint, lambda: weight * body.data.subtree_com[top, 2])
            assert share(body, i, joint, torque) == pytest.approx(slope, abs=1e-5), joint


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", EVERY)
def test_a_hands_force_is_the_transposed_jacobian_of_the_joints_between_pelvis_and_hand(name: str, side: str) -> None:
    body, force = a(name), np.array([31.0, -17.0, 23.0])
    body.pose(np.random.default_rng(12))
    chain = body.numbers.arms[SIDES[side]]
    reach = lambda: np.array(python(hand_point)(body.world, chain))  # noqa: E731
    carrying = 0
    for i, link in enumerate(body.limbs.links):
        number = body.numbers.links[i]
        torque = python(limb_servo.hand_torque)(body.world, number, tuple(reach()), tuple(force))
        carries = (number.left_hand, number.right_hand)[SIDES[side]] != 0.0
        carrying += carries
        for joint in link.joints:
            slope = float(body.slope(joint, reach) @ force)
            assert (share(body, i, joint, torque) if carries else 0.0) == pytest.approx(slope, abs=1e-6), joint
    assert carrying >= 3


@pytest.mark.parametrize("name", BODIES)
def test_a_hands_force_agrees_with_the_engines_own_jacobian(name: str) -> None:
    body, force = a(name), np.array([31.0, -17.0, 23.0])
    body.pose(np.random.default_rng(13))
    chain = body.numbers.arms[RIGHT]
    hand, jacobian = python(hand_point)(body.world, chain), np.zeros((3, body.model.nv))
    mujoco.mj_jac(body.model, body.data, jacobian, None, np.array(hand), int(chain.body))
    for i, link in enumerate(body.limbs.links):
        if body.numbers.links[i].right_hand:
            torque = python(limb_servo.hand_torque)(body.world, body.numbers.links[i], hand, tuple(force))
            for joint in link.joints:
                column = jacobian[:, body.model.joint(joint).dofadr[0]]
                assert share(body, i, joint, torque) == pytest.approx(column @ force, abs=1e-9)


# ------------------------------------------------------------------------------------- gravity compensation


def moved(name: str, monkeypatch: pytest.MonkeyPatch, compensated: bool) -> float:
    """How far the farthest part has gone in two seconds, limp but for what bears its weight, from a generic pose."""
    add = builder._add_actuators

    def and_weld(spec: mujoco.MjSpec, table: CharacterTable) -> None:
        add(spec, table)
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1="pelvis", name2="world",
            solref=[0.002, 1.0], solimp=[0.9999, 0.9999, 0.001, 0.5, 2.0],
        )  # fmt: skip

    monkeypatch.setattr(builder, "_add_actuators", and_weld)
    body = built(load(name))
    body.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    rng, links = np.random.default_rng(14), body.numbers.links
    links["kp"] = links["kd"] = 0.0
    links["limit"] = 1e9
    for link in body.limbs.links:
        for joint in link.joints:
            low, high = body.model.joint(joint).range
            body.data.qpos[body.model.joint(joint).qposadr[0]] = np.clip(rng.uniform(-0.6, 0.6), low + 0.1, high - 0.1)
    mujoco.mj_forward(body.model, body.data)
    start, row = body.data.xipos.copy(), SimpleNamespace(residual=np.zeros(body.model.nu))
    bear, drive = python(limb_servo.weight_torque), python(limb_servo.drive)
    for _ in range(round(2.0 / body.model.opt.timestep)):
        mujoco.mj_step1(body.model, body.data)
        for link in links:
            drive(body.world, row, link, bear(body.world, link) if compensated else (0.0, 0.0, 0.0))
        mujoco.mj_step2(body.model, body.data)
    return float(np.linalg.norm(body.data.xipos - start, axis=1).max())


@pytest.mark.parametrize("name", ["humanoid", "robot"])
def test_a_limp_body_on_a_held_pelvis_stays_as_it_is_while_its_weight_is_borne(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert moved(name, monkeypatch, compensated=True) < 0.002


def test_a_limp_body_on_a_held_pelvis_flops_when_nothing_bears_its_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moved("humanoid", monkeypatch, compensated=False) > 0.2


# ------------------------------------------------------------------------------------------- links as numbers


def descendants(table: CharacterTable, part: str) -> set[str]:
    found = {part}
    for segment in table.segments:  # parents come first
        if segment.parent in found:
            found.add(segment.name)
    return found


@pytest.mark.parametrize("name", BODIES)
def test_masses_of_the_links_are_those_of_the_table(name: str) -> None:
    body, table = a(name), load(name)
    assert body.numbers.biped[0].mass == pytest.approx(sum(s.mass for s in table.segments))
    for link, number in zip(body.limbs.links, body.numbers.links, strict=True):
        far = descendants(table, link.body)
        assert number.distal_mass == pytest.approx(sum(s.mass for s in table.segments if s.name in far)), link.body


@pytest.mark.parametrize("name", MEASURED)
def test_lengths_of_the_limbs_are_those_of_the_measures(name: str) -> None:
    body, m = a(name), MEASURED[name]
    biped, (left, right) = body.numbers.biped[0], body.numbers.legs
    if m.knee_ahead == m.ankle_ahead == 0.0:  # else it cannot be straightened
        assert biped.leg_length == pytest.approx(m.thigh + m.shin + m.ankle)
    for leg in (left, right):
        assert math.hypot(leg.ax, leg.ay, leg.az) == pytest.approx(m.thigh)
        assert math.hypot(leg.bx, leg.by, leg.bz) == pytest.approx(m.shin)
        assert (leg.ax, leg.ax + leg.bx) == pytest.approx((m.knee_ahead, m.ankle_ahead), abs=1e-12)
        assert leg.depth == pytest.approx(m.ankle)
        assert leg.bend == -1.0
        assert (leg.tip >= 0.0) == m.has_toes
    for arm in body.numbers.arms:
        assert arm.reach == pytest.approx(m.upper_arm + m.lower_arm)
        assert arm.bend == 1.0


@pytest.mark.parametrize("name", MEASURED)
def test_the_sole_reaches_as_far_as_a_rounded_edge_can_bear(name: str) -> None:
    """The pressure is at most under the axis of an edge's capsule, 12 mm within the outline."""
    biped, m = a(name).numbers.biped[0], MEASURED[name]
    front = m.toe - 0.012 if m.has_toes else m.ball
    assert (biped.ahead, biped.behind, biped.half_width) == pytest.approx((front, -m.heel, m.foot_half_width - 0.012))


@pytest.mark.parametrize("name", BODIES)
def test_height_of_the_com_is_that_of_the_tables_parts_standing_straight(name: str) -> None:
    table, origin, moment = load(name), {"world": np.zeros(3)}, 0.0
    lowest = np.inf
    for segment in table.segments:
        origin[segment.name] = origin[segment.parent] + segment.offset
        moment += segment.mass * (origin[segment.name][2] + segment.com[2])
        for shape in segment.shapes:
            if shape.sole:
                ends = (shape.start[2], shape.end[2])
                lowest = min(lowest, origin[segment.name][2] + min(ends) - shape.radius)
    height = moment / sum(s.mass for s in table.segments) - lowest
    assert a(name).numbers.biped[0].height == pytest.approx(height)


@pytest.mark.parametrize("name", BODIES)
def test_every_link_but_a_collar_bone_is_of_a_known_kind_and_all_have_the_gains_of_their_body(name: str) -> None:
    body = a(name)
    mass, table = body.numbers.biped[0].mass, load(name)
    height = builder.standing_height(table)
    for link, number in zip(body.limbs.links, body.numbers.links, strict=True):
        wanted = scaled_gain(link.kind, mass, height)
        assert KINDS[int(number.kind)] == link.kind
        assert (link.kind == "other") == ("clavicle" in link.body)
        assert (number.kp, number.kd) == pytest.approx((wanted.kp, wanted.kd))
        assert 0.0 < number.limit <= wanted.limit * (1.0 + 1e-12)


@pytest.mark.parametrize("name", BODIES)
def test_inertias_of_every_part_are_physically_possible(name: str) -> None:
    for segment in load(name).segments:
        least, middle, most = sorted(segment.inertia)
        assert least > 0.0
        assert least + middle >= most * (1.0 - 1e-12), segment.name


# ----------------------------------------------------------------------------------------------- mirror images

STYLED = {
    "curves": {
        "pelvis_roll": 0.05, "pelvis_yaw": [[0.0, -0.1], [1.0, 0.15]], "lower_back_yaw": 0.1, "upper_back_roll": -0.07,
        "neck_yaw": 0.2, "neck": 0.1, "swing_shoulder": -0.3, "stance_shoulder_roll": 0.25, "swing_shoulder_yaw": 0.2,
        "swing_elbow": 0.5, "stance_elbow": [[0.0, 0.2], [0.5, 0.9]], "stance_knee": -0.2, "swing_ankle": 0.1,
        "stance_ankle": -0.05, "swing_toe": 0.1, "swing_out": 0.04,
    },
    "knee_twist": 0.2, "toe_out": 0.15, "speed": 0.9, "push_off": 1.0,
}  # fmt: skip


def styled(**start: Any) -> Skill:
    document = load_skill("biped/zero-walk").model_dump(by_alias=True)
    document["name"], document["parameters"] = "styled", document["parameters"] | STYLED
    document["start"] |= start
    return files.validate(document, "styled")


def other_side(name: str) -> str:
    if name.startswith("left_"):
        return "right_" + name[5:]
    return "left_" + name[6:] if name.startswith("right_") else name


def sign_of(table: CharacterTable, joint: str) -> float:
    """−1 for the hinges that a mirror turns round: roll and yaw of the middle."""
    return -1.0 if joint in table.anatomy.middle and table.hinges[joint].plane != SAGITTAL else 1.0


def mirror(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """The left-right mirror image of a state: reflected at the plane of x and z."""
    qpos, qvel, table = sim.data.qpos.copy(), sim.data.qvel.copy(), sim.scene.table
    qpos[:7] *= (1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0)
    qvel[:6] *= (1.0, -1.0, 1.0, -1.0, 1.0, -1.0)
    for joint in table.hinges:
        here, there = sim.model.joint(joint), sim.model.joint(other_side(joint))
        qpos[here.qposadr[0]] = sign_of(table, joint) * sim.data.qpos[there.qposadr[0]]
        qvel[here.dofadr[0]] = sign_of(table, joint) * sim.data.qvel[there.dofadr[0]]
    return qpos, qvel


def tell(sim: Simulation, mode: float, hand: int, sign: float) -> None:
    """A generic memory, intent, reaching hand and commands; `sign` is −1 for their mirror image."""
    walker, intent = (
        python_impl(genbicon.walker_of)(sim.memory.memory)[0],
        python_impl(genbicon.intent_of)(sim.memory.memory)[0],
    )
    left = sign > 0.0
    values = {
        "mode": mode, "since": sim.time - 0.1, "swing": 0.0 if left else 1.0, "step_start": sim.time - 0.2,
        "period": 0.5, "phase": 0.4, "heading": 0.3 * sign, "unloaded": 1.0, "ground": 4.2,
        "lift_ground": 4.25, "x0": 0.1, "y0": 0.12 * sign, "z0": 4.3, "mark_x": 0.0, "mark_y": 0.02 * sign,
        "mark_time": sim.time - 0.3, "integral": 0.02, "speed": 1.0, "load": 0.35 if left else 0.65, "wish": 1.0,
        "aim_x": 0.35, "aim_y": 0.2 * sign, "knee": 0.15,
    }  # fmt: skip
    for name, value in values.items():
        walker[name] = value
    for name, value in {"bend": 0.2, "bend_roll": 0.1 * sign, "twist": -0.15 * sign, "crouch": 0.1}.items():
        intent[name] = value
    hands = python_impl(genbicon.hands_of)(sim.memory.memory)
    hands[:] = np.zeros(2, hands.dtype)
    hands["stiff"] = 1.0
    for name, value in {"reach": 0.7, "x": 0.5, "y": 0.3 * sign, "z": 5.4, "fx": 20.0, "fy": -9.0 * sign,
                        "fz": 13.0, "swivel": 0.3, "stiff": 2.0}.items():  # fmt: skip
        hands[hand][name] = value
    sim.memory.commands[:] = 0.0
    sim.command(heading=0.45 * sign, lean=-0.1, sideways=0.1 * sign, speed=0.8, step_width=0.14)
    assert len(sim.memory.commands) == COMMANDS


def asked(sim: Simulation) -> np.ndarray:
    """(actuators,) net torques the law asks for, this moment being a new one."""
    sim.memory.clock[0].advanced = sim.time - sim.model.opt.timestep
    return conftest.torques(sim)


@pytest.mark.parametrize("mode", [STAND, SHIFT, STEP], ids=["standing", "shifting", "stepping"])
@pytest.mark.parametrize("name", BODIES)
def test_torques_of_a_mirrored_state_are_the_mirrored_torques(name: str, mode: float) -> None:
    """In a generic pose in the air, of every joint, with a style, an intent, a reaching hand and commands at work."""
    sim = Simulation(name, styled())
    rng, table = np.random.default_rng(15), sim.scene.table
    numbers = python_impl(limbs_of)(sim.model.numeric_data, sim.scene.build.limbs_at)
    numbers.links["limit"] = numbers.biped["root_limit"] = 1e9
    sim.data.qpos[:3] = (0.05, -0.03, 5.0)
    sim.data.qpos[3:7] = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, 3)).as_quat(scalar_first=True)
    for joint, hinge in table.hinges.items():
        angle = np.clip(rng.uniform(-0.3, 0.3), hinge.low, hinge.high)
        sim.data.qpos[sim.model.joint(joint).qposadr[0]] = angle
    sim.data.qvel[:] = rng.uniform(-0.4, 0.4, sim.model.nv)
    sim.data.time = 2.0
    asked(sim)  # so that what is felt of the ground is current
    tell(sim, mode, LEFT, 1.0)
    before = asked(sim)
    sim.data.qpos[:], sim.data.qvel[:] = mirror(sim)
    tell(sim, mode, RIGHT, -1.0)
    after = asked(sim)
    assert np.abs(before).max() > 10.0
    for joint in table.gains:
        image = sign_of(table, joint) * before[sim.model.actuator(other_side(joint)).id]
        assert after[sim.model.actuator(joint).id] == pytest.approx(image, abs=1e-8), joint


@pytest.mark.parametrize("name", BODIES)
def test_beginning_with_the_other_foot_gives_the_mirrored_walk(name: str) -> None:
    left, right = (Simulation(name, styled(swing=side)) for side in SIDES)
    for sim in (left, right):
        sim.step(1500)
    assert left.memory.report[0].steps >= 1.0
    assert right.memory.report[0].swing == 1.0 - left.memory.report[0].swing
    assert right.data.qpos == pytest.approx(mirror(left)[0], abs=1e-6)


@pytest.mark.parametrize("name", BODIES)
def test_every_body_walks_the_zero_gait_from_a_standing_start(name: str) -> None:
    sim = Simulation(name, "zero-walk")
    sim.command(speed=0.5)
    sim.step(10_000)
    assert not sim.fallen, sim.fall_cause
    assert 3.0 < sim.data.qpos[0] < 6.0
    assert sim.memory.report[0].steps > 12
