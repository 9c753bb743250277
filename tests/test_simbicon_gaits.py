"""What SIMBICON has beyond the paper: stiffness by state, push-off by load, a level head, speeds, recovery."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

import surefoot as sf
from surefoot.controllers.simbicon import slot as slots
from surefoot.controllers.simbicon.parameters import at_speed
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.errors import SkillError
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.walk_search import four_states, joined, single_speed
from surefoot.native.kernels import python_impl, records
from surefoot.reflexes.pose_graph import MACHINE, graph_of
from surefoot.reflexes.recovery import recover_from_trip
from surefoot.skills import with_parameters

PRINTED = "human/walk-as-printed"


def torques_after(values: dict[str, float], steps: int = 700) -> tuple[sf.Simulation, dict[str, float]]:
    """The same state of the printed walk, and the torques that a skill with other values exerts in it."""
    sim = sf.Simulation("human", PRINTED)
    sim.step(steps)
    changed = with_parameters(sim.skill, values)
    assert sim.edit_skill(changed)
    sim.step(1)
    return sim, {name: float(sim.memory.torque[i]) for i, name in enumerate(sim.scene.table.gains)}


def swing_side(sim: sf.Simulation) -> str:
    return "left" if sim.memory.report[0].swing == 0 else "right"


def stance_side(sim: sf.Simulation) -> str:
    return "right" if swing_side(sim) == "left" else "left"


@pytest.mark.parametrize("steps", [480, 700, 1010])
def test_push_off_adds_the_load_times_its_lever_to_the_stance_ankle(steps: int) -> None:
    sim, plain = torques_after({}, steps)
    load = float(sim.memory.contact_force[1 if stance_side(sim) == "right" else 0, 2])
    before = sf.Simulation("human", PRINTED)
    before.step(steps)
    load = float(before.memory.contact_force[1 if stance_side(sim) == "right" else 0, 2])
    _, pushing = torques_after({"states.*.push_off": 0.01}, steps)
    ankle = f"{stance_side(sim)}_ankle"
    assert load > 100.0
    assert pushing[ankle] - plain[ankle] == pytest.approx(-0.01 * load, rel=1e-6)
    others = [name for name in plain if name != ankle]
    assert [pushing[n] for n in others] == [plain[n] for n in others]


def test_stiffness_multiplies_the_torque_of_its_role_alone() -> None:
    sim, plain = torques_after({})
    _, stiff = torques_after({"states.*.stiffness.stance_knee": 0.5})
    knee = f"{stance_side(sim)}_knee"
    assert stiff[knee] == pytest.approx(0.5 * plain[knee])
    assert all(stiff[name] == plain[name] for name in plain if name != knee)


def test_a_level_head_turns_less_than_the_trunk() -> None:
    def pitch_range(level: bool) -> float:
        skill = with_parameters(sf.load_skill(PRINTED), {"states.*.torso": -0.25})
        if level:
            skill = with_parameters(skill, {"level_head": True})
        sim = sf.Simulation("human", skill)
        sim.step(1500)
        head = sim.data.body("head").xmat.reshape(3, 3)
        return math.degrees(abs(math.asin(head[2, 0])))

    assert pitch_range(True) < 0.3 * pitch_range(False)


def test_eased_targets_begin_at_those_of_the_state_before_and_end_at_the_new_ones() -> None:
    def knee_torques(ease: float) -> np.ndarray:
        sim = sf.Simulation("human", with_parameters(sf.load_skill(PRINTED), {"ease": ease}))
        before = float(sim.memory.report[0].state)
        while float(sim.memory.report[0].state) == before:
            sim.step()
        index = list(sim.scene.table.gains).index("left_knee")
        torques = [float(sim.memory.torque[index])]
        for _ in range(60):
            sim.step()
            torques.append(float(sim.memory.torque[index]))
        return np.array(torques)

    sudden, eased = knee_torques(0.0), knee_torques(0.05)
    assert abs(eased[0]) < 0.1 * abs(sudden[0])
    assert np.abs(np.diff(eased)).max() < 0.2 * abs(sudden[0])


def two_speeds() -> tuple[sf.Skill, sf.Skill, sf.Skill]:
    """A slow and a fast version of one gait, and both as one."""
    start = four_states(sf.load_skill(PRINTED))
    slow = with_parameters(start, {"feedback_speed": 0.2, "states.*.torso": 0.0})
    fast = with_parameters(start, {"feedback_speed": 0.6, "states.*.torso": -0.1, "states.0.duration": 0.08})
    return slow, fast, joined({0.2: slow, 0.6: fast}, 0.2)


def test_numbers_at_the_given_speeds_are_those_of_the_single_gaits_and_lie_between_them_in_between() -> None:
    slow, fast, both = two_speeds()
    sim = sf.Simulation("human", both)
    table, step = sim.scene.table, sim.model.opt.timestep
    images = []
    for skill in (slow, fast, single_speed(both, 0.4)):
        image = np.zeros(slots.slot_size(table))
        slots.write_slot(image, skill, table, step, sim.scene.find)
        images.append(image[: slots.schedule_begin(len(table.anatomy.roles))])
    np.testing.assert_allclose(images[2], 0.5 * (images[0] + images[1]), atol=1e-12)
    assert at_speed(both, 1).parameters.states[0].duration == 0.08


def test_a_commanded_speed_is_approached_gradually_and_the_slot_holds_its_numbers() -> None:
    *_, both = two_speeds()
    sim = sf.Simulation("human", both)
    sim.command(speed=0.6)
    machine = records(sim.memory.memory, 0, 1, MACHINE)[0]
    speeds = []
    for _ in range(40):
        sim.step(100)
        speeds.append(float(machine.gait_speed))
    assert speeds[0] < 0.35
    assert max(np.abs(np.diff(speeds))) < 0.35
    assert max(speeds) > 0.5


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"by_speed": {"speeds": [0.6, 0.2], "usual": 0.4, "values": {"ease": [0.0, 0.1]}}}, "ascend"),
        ({"by_speed": {"speeds": [0.2, 0.6], "usual": 0.9, "values": {"ease": [0.0, 0.1]}}}, "usual speed lies"),
        ({"by_speed": {"speeds": [0.2, 0.6], "usual": 0.4, "values": {"ease": [0.0]}}}, "1 values for 2 speeds"),
        ({"by_speed": {"speeds": [0.2, 0.6], "usual": 0.4, "values": {"eas": [0.0, 0.1]}}}, "eas"),
        ({"by_speed": {"speeds": [0.2, 0.6], "usual": 0.4, "values": {"ease": [0.0, 9.0]}}}, "0.6 m/s"),
        ({"recovery": {"skill": "no-such-walk"}}, "no-such-walk"),
        ({"recovery": {"lean": 0.1}}, "give one of them"),
        ({"recovery": {"states": [{"until": "contact", "targets": {"swing_nose": 0.1}}]}}, "swing_nose"),
        ({"recovery": {"states": [{"until": "contact", "targets": {}, "leg": "other"}]}}, "mirrored"),
        ({"by_slope": {"angle": 0.1}}, "by_speed"),
    ],
)
def test_speeds_and_recoveries_that_cannot_be_are_refused(values: dict[str, object], says: str) -> None:
    document = sf.load_skill(PRINTED).model_dump(by_alias=True)
    document["parameters"] |= values
    with pytest.raises(SkillError, match=says):
        sf.skills.files.validate(document, "test")


def test_a_step_of_two_states_cut_into_four_lasts_as_long() -> None:
    skill = sf.load_skill("human/fast-walk")
    cut = four_states(skill)
    durations = [state.duration for state in cut.parameters.states[:3]]
    assert sum(d or 0.0 for d in durations) == pytest.approx(skill.parameters.states[0].duration)
    with pytest.raises(SkillError, match="timed state and another"):
        four_states(cut)


def test_recovery_catches_pushes_that_fell_the_gait_alone() -> None:
    sturdy = sf.load_skill("human/walk")
    walk = with_parameters(sturdy, {"recovery": None})
    forces = [(0.0, 100.0), (0.0, -100.0), (-110.0, 0.0), (180.0, 0.0)]

    def upright(skill: sf.Skill) -> int:
        population = Population(len(forces), skill=[skill] * len(forces))
        for i, (ahead, left) in enumerate(forces):
            population.push(Push((ahead, left, 0.0), 0.4, 1.5, "trunk", (0.0, 0.0, 0.3)), [i])
        population.run(6.0, stop_fallen=True)
        return int(np.isinf(population.fallen_at).sum())

    assert upright(sturdy) > upright(walk)


def test_states_of_a_recovery_do_what_the_skill_they_are_taken_from_does() -> None:
    document = sf.load_skill("human/walk").model_dump(by_alias=True)
    sturdier = sf.load_skill("human/robust-walk").model_dump(by_alias=True)["parameters"]["states"]
    given, ends = document["parameters"], []
    for steps in ({"skill": "robust-walk", "states": None}, {"skill": None, "states": sturdier}):
        given["recovery"] |= steps
        sim = sf.Simulation("human", sf.skills.files.validate(sf.skills.with_lists(document), "test"))
        sim.push((0.0, 120.0, 0.0), duration=0.4, delay=1.0)
        sim.run(2.5)
        assert sim.memory.report[0].state >= 8  # it is recovering
        ends.append(sim.data.qpos.copy())
    assert np.array_equal(*ends)


@pytest.mark.parametrize("degrees", [-5.0, 0.0, 5.0])
def test_the_feet_find_the_slope_of_the_ground(degrees: float) -> None:
    sim = sf.Simulation("human", "human/walk", terrain=f"slope:{degrees:g},2")
    sim.run(7.0)
    machine = records(sim.memory.memory, 0, 1, MACHINE)[0]
    assert not sim.fallen
    assert math.degrees(float(machine.slope)) == pytest.approx(degrees, abs=1.5)


def test_changes_by_slope_grow_with_the_slope_and_leave_level_ground_alone() -> None:
    *_, both = two_speeds()
    changes = [{"torso": -0.1}] + [{"targets": {"swing_hip": 0.2}} for _ in both.parameters.states[1:]]
    document = sf.skills.with_lists(both.model_dump(by_alias=True))
    document["parameters"]["by_slope"] = {"angle": 0.1, "up": changes}
    sim = sf.Simulation("human", sf.skills.files.validate(document, "test"))
    roles = len(sim.scene.table.anatomy.roles)
    slot = np.array(sim.memory.slots[0])
    schedule, graph = python_impl(slots.schedule_of)(slot, slots.schedule_begin(roles)), slots._view(slot, roles)
    knots, entries = int(graph.head[0].knots), int(graph.head[0].entries)
    found = []
    for slope in (0.0, 0.5, 1.0, -1.0):
        python_impl(slots.set_gait_speed)(slot, schedule, knots, entries, 0.4, slope)
        found.append((graph.states[0].torso, graph.targets[1, 0]))
    level, half, whole, down = np.array(found)
    assert half - level == pytest.approx([-0.05, 0.1])
    assert whole - level == pytest.approx([-0.1, 0.2])
    assert down == pytest.approx(level)


def test_a_step_down_that_was_not_seen_lifts_the_other_thigh() -> None:
    sim = sf.Simulation("human", "human/walk", "steps:4,-0.04")
    machine, thigh = records(sim.memory.memory, 0, 1, MACHINE)[0], MACHINE.itemsize // 8
    before, uneven, after = 0.0, 0.0, 0.0
    while sim.data.qpos[0] < 5.5:
        sim.step(10)
        displaced = float(sim.memory.memory[thigh])  # of the swing hip, the first role
        if sim.data.qpos[0] < 3.4:
            before = max(before, abs(displaced))
        elif machine.uneven > uneven:
            uneven, after = float(machine.uneven), displaced
    assert not sim.fallen
    assert before < 0.02
    assert uneven > 0.01
    assert after > 0.8 * sim.skill.parameters.uneven_lift * uneven


def test_a_step_up_that_a_foot_hits_is_climbed() -> None:
    replicas = 12
    population = Population(replicas, skill="human/walk", terrain="steps:4,0.06")
    perturb_population(population, [seeded_generator(9, k) for k in range(replicas)])
    population.run(7.0, stop_fallen=True)
    assert np.isinf(population.fallen_at).all()


@njit
def trip(memory: np.ndarray, slot: np.ndarray, roles: int, along: float, up: float, time: float) -> None:
    recover_from_trip(graph_of(slot, roles), records(memory, 0, 1, MACHINE)[0], along, up, time)


@pytest.mark.parametrize(
    ("along", "up", "speed", "lifts"),
    [
        (-0.15, 0.05, 1.3, True),  # an edge holds the foot back
        (-0.05, 0.0, 1.3, False),  # it brushes the ground
        (-0.2, 0.3, 1.3, True),  # its toes stub the ground
        (-0.2, 0.5, 1.3, False),  # it lands: the ground bears
        (0.2, 0.0, 1.3, False),  # it is pushed ahead
        (-0.15, 0.05, 3.0, False),  # no walk can catch a run
    ],
)
def test_a_swing_foot_that_is_held_back_is_lifted_anew(along: float, up: float, speed: float, lifts: bool) -> None:
    sim = sf.Simulation("human", "human/walk")
    sim.step(700)
    machine = records(sim.memory.memory, 0, 1, MACHINE)[0]
    slot = sim.memory.slots[int(sim.memory.header[0].active)]
    graph = python_impl(graph_of)(slot, len(sim.scene.table.anatomy.roles))
    machine.gait_speed, machine.step_start = speed, sim.time - 0.25
    before = int(machine.state)
    assert before < graph.head[0].recovery
    trip(sim.memory.memory, slot, len(sim.scene.table.anatomy.roles), along, up, sim.time)
    after = graph.states[int(machine.state)]
    assert (int(machine.state) >= graph.head[0].recovery) == lifts
    assert after.swing == graph.states[before].swing
    if lifts:
        assert (after.order, machine.alarm_step, machine.entered) == (0.0, machine.steps, sim.time)
    machine.state, machine.step_start = before, sim.time - 0.05  # a foot that has not left the ground yet
    trip(sim.memory.memory, slot, len(sim.scene.table.anatomy.roles), along, up, sim.time)
    assert int(machine.state) == before


def test_the_schedule_is_read_by_python_as_by_the_law() -> None:
    *_, both = two_speeds()
    sim = sf.Simulation("human", both)
    begin = slots.schedule_begin(len(sim.scene.table.anatomy.roles))
    schedule = python_impl(slots.schedule_of)(np.array(sim.memory.slots[0]), begin)
    assert schedule.speeds[:2].tolist() == [0.2, 0.6]
