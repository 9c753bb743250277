"""The finite state machine: how states end, what follows, and when another skill takes over."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from conftest import DT, actuator_of, bits, graph_of, in_the_air, machine_of, made_skill, torques
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SkillError
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

STANDING = {"torso": 0.0, "torso_rate": 0.0, "speed": 0.0, "climb": 0.0, "joints": {}, "rates": {}}


def flying(skill: Skill, **options: Any) -> Simulation:
    """A simulation high in the air, where no foot ever touches."""
    sim = Simulation(skill=skill, **options)
    in_the_air(sim, 300.0)
    return sim


def states(sim: Simulation, steps: int) -> Iterator[int]:
    """The state of each evaluated step."""
    for _ in range(steps):
        sim.step()
        yield int(sim.memory.report[0].state)


def stretches(sequence: Iterator[int]) -> list[tuple[int, int]]:
    """(state, steps it lasted) of consecutive states."""
    return [(state, len(list(group))) for state, group in itertools.groupby(sequence)]


# ---------------------------------------------------------------------------------------------- how states end


@pytest.mark.parametrize("durations", [(0.1, 0.05), (0.0305, 0.0123, 0.2), (0.0037,), (DT, 2 * DT)])
def test_timed_states_last_exactly_their_steps(durations: tuple[float, ...]) -> None:
    sim = flying(made_skill([{"duration": d} for d in durations]))
    n = len(durations)
    found = stretches(states(sim, 4000))
    assert len(found) > 3 * n
    assert found[0][0] == n  # the right leg swings first
    for (state, lasted), (following, _) in itertools.pairwise(found):
        assert following == (state + 1) % (2 * n)
        assert lasted == round(durations[state % n] / DT)


def test_timed_states_do_not_drift_over_a_long_run() -> None:
    sim = flying(made_skill([{"duration": 0.25}]))
    sim.step(round(20.1 / DT))
    assert machine_of(sim.memory).steps == 80
    assert machine_of(sim.memory).entered == pytest.approx(20.0, abs=1e-6)


def test_a_state_that_takes_no_time_is_never_seen() -> None:
    sim = flying(made_skill([{"duration": 0.02}, {"duration": 0.0}, {"duration": 0.01}, {"duration": 0.0}]))
    found = stretches(states(sim, 600))
    assert {state for state, _ in found} == {0, 2, 4, 6}
    assert [lasted for _, lasted in found[:4]] == [40, 20, 40, 20]


def test_run_of_table_1_exchanges_legs_by_time_alone() -> None:
    found = stretches(states(flying(load("planar/run")), 2000))
    assert {state for state, _ in found} == {0, 2}
    duration = load("planar/run").parameters.states[0].duration
    assert duration
    assert {lasted for _, lasted in found[:-1]} == {round(duration / DT)}


@pytest.mark.parametrize("name", ["walk", "fast-walk", "skip"])
def test_a_contact_state_ends_at_the_first_touch_of_its_swing_foot(name: str) -> None:
    sim = Simulation(skill=f"planar/{name}")
    graph = graph_of(sim.memory)
    ends, before = 0, int(sim.memory.report[0].state)
    for state in states(sim, 5000):
        touching = sim.memory.touch.astype(bool)
        if graph.states[state].ending == 1.0:
            assert not touching[int(graph.states[state].swing)]
        if state != before and graph.states[before].ending == 1.0:
            assert touching[int(graph.states[before].swing)]
            ends += 1
        before = state
    assert ends >= 3


def test_a_contact_state_takes_no_time_where_the_contact_is_there() -> None:
    sim = Simulation(skill=made_skill([{"duration": 0.02}, {"until": "contact"}], start=STANDING))
    seen = list(states(sim, 300))
    assert sim.memory.touch.tolist() == [1.0, 1.0]
    assert set(seen) == {0, 2}
    assert {lasted for _, lasted in stretches(iter(seen))[:-1]} == {40}


def test_a_contact_state_waits_in_the_air_for_ever() -> None:
    sim = Simulation(skill=made_skill([{"until": "contact"}, {"duration": 0.3}], start=STANDING | {"lift": 2.0}))
    assert set(states(sim, 1000)) == {2}
    assert 3 in set(states(sim, 500))  # it has landed


def test_a_landing_state_ends_when_either_foot_touches() -> None:
    skill = made_skill([{"duration": 0.01}, {"until": "landing"}, {"until": "request"}], mirrored=False)
    sim = Simulation(skill=with_parameters(skill, {"start.lift": 0.05, "start.speed": 0.0, "start.swing": "left"}))
    flew = 0
    for state in states(sim, 1000):
        landed = bool(sim.memory.touch.any())
        if state == 1:
            flew += 1
            assert not landed
        if state == 2:
            assert landed
            break
    assert flew > 50
    assert state == 2


# ------------------------------------------------------------------------------------------- mirrored halves


def test_mirrored_halves_are_the_same_states_with_the_other_leg_swinging() -> None:
    graph = graph_of(Simulation(skill="planar/skip").memory)
    assert np.array_equal(graph.targets[:4], graph.targets[4:8])
    assert np.array_equal(graph.feedback[:4], graph.feedback[4:8])
    assert graph.states["swing"][:8].tolist() == [0.0] * 4 + [1.0] * 4
    assert graph.states["order"][:8].tolist() == [0.0, 1.0, 2.0, 3.0] * 2


@pytest.mark.parametrize("swing", [0, 1])
def test_mirrored_halves_exchange_which_leg_plays_which_role(swing: int) -> None:
    sim = flying(load("planar/walk"))
    machine_of(sim.memory).state = 2.0 * swing
    found, data = torques(sim), sim.data
    for role in ("swing_knee", "swing_ankle", "stance_knee", "stance_ankle"):
        side = "left" if (swing == 0) == role.startswith("swing") else "right"
        joint = data.joint(f"{side}_{role.split('_')[1]}")
        target = sim.skill.parameters.states[0].targets[role]
        wanted = 300.0 * (target - joint.qpos[0]) - 30.0 * joint.qvel[0]
        assert found[actuator_of(sim.scene, role, swing)] == pytest.approx(wanted)


def test_steps_period_and_phase_count_exchanges_of_legs() -> None:
    sim = flying(made_skill([{"duration": 0.06}, {"duration": 0.04}]))
    machine = machine_of(sim.memory)
    sim.step(round(0.53 / DT))
    assert machine.steps == 5
    assert machine.period == pytest.approx(0.1)
    assert machine.phase == pytest.approx(0.3, abs=DT / 0.1 + 1e-9)
    for _ in range(700):
        sim.step()
        assert 0.0 <= machine.phase < 1.0
        assert 0.0 <= sim.memory.report[0].phase < 1.0


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("mirrored", [True, False])
def test_the_leg_named_by_the_start_is_the_leg_that_swings(side: str, mirrored: bool) -> None:
    """Whatever the graph: the start's joints are given by role, so the law must mean the same legs."""
    skill = made_skill([{"duration": 0.1}, {"until": "request"}], start={"swing": side}, mirrored=mirrored)
    sim = flying(skill)
    swinging = ("left", "right")[int(sim.memory.report[0].swing)]
    posed = sim.data.joint(f"{side}_knee").qpos[0] == skill.start.joints["swing_knee"]
    assert posed
    assert swinging == side


def test_states_of_the_other_leg_exchange_roles_and_begin_a_step_of_their_own() -> None:
    other: dict[str, Any] = {"duration": 0.04, "leg": "other"}
    own = [{"duration": 0.03}, {"duration": 0.02}, other, {"duration": 0.01}]
    sim = flying(made_skill(own, start={"swing": "left"}))
    graph, machine = graph_of(sim.memory), machine_of(sim.memory)
    assert graph.states["swing"][:8].tolist() == [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    assert graph.states["order"][:8].tolist() == [0.0, 1.0, 0.0, 0.0] * 2
    sim.step(round(0.2 / DT) + 1)  # two cycles of 0.1 s: left, right, left; right, left, right
    assert machine.steps == 6
    assert [lasted for _, lasted in stretches(states(sim, 200))[:3]] == [59, 40, 80]


# ------------------------------------------------------------------------------------------------- switching


def _change(sim: Simulation, limit: int = 4000) -> tuple[int, int]:
    """Step until the requested skill runs: steps taken, and the state it begins in."""
    for taken in range(1, limit):
        sim.step()
        if sim.memory.header[0].pending == 0.0:
            return taken, int(sim.memory.report[0].state)
    raise AssertionError("never switched")


TWO = [{"duration": 0.1}, {"duration": 0.07}]
FOUR = [{"duration": 0.05}, {"duration": 0.06}, {"duration": 0.07}, {"duration": 0.08}]


@pytest.mark.parametrize(
    ("own", "wanted", "at", "expected"),
    [
        (TWO, FOUR, 2, 5),  # right leg, order 0 → right leg, order 1
        (TWO, FOUR, 3, 0),  # right leg, last → left leg, order 0
        (TWO, FOUR, 0, 1),
        (TWO, FOUR, 1, 4),
        (FOUR, TWO, 4, 3),  # order 0 → 1
        (FOUR, TWO, 5, 3),  # order 1 → 2, of which the nearest is 1
        (FOUR, TWO, 7, 0),  # last → other leg, order 0
        (FOUR, FOUR, 1, 2),
        (FOUR, FOUR, 6, 7),
    ],
)
def test_a_switch_goes_from_state_n_to_n_plus_1_of_the_same_leg(
    own: list[dict[str, Any]], wanted: list[dict[str, Any]], at: int, expected: int
) -> None:
    sim = flying(made_skill(own))
    machine = machine_of(sim.memory)
    machine.state, machine.entered = float(at), sim.time
    sim.step(30)
    requested = made_skill(wanted)
    sim.switch(requested)
    taken, begun = _change(sim)
    assert begun == expected
    assert 30 + taken == round(own[at % len(own)]["duration"] / DT) + 1  # not before the state's own end
    assert machine.entered == pytest.approx(sim.time - DT)
    assert sim.skill is requested
    assert sim.requested is None


@pytest.mark.parametrize("at", range(4))
def test_a_switch_to_a_graph_that_ends_keeps_the_leg_that_is_to_swing(at: int) -> None:
    sim = flying(made_skill(TWO))
    machine = machine_of(sim.memory)
    machine.state, machine.entered = float(at), sim.time
    sim.step(30)
    to_swing = graph_of(sim.memory).states[(at + 1) % 4].swing
    sim.switch(made_skill([{"duration": 0.1}, {"duration": 0.2}], mirrored=False, then="walk"))
    _change(sim)
    assert sim.memory.report[0].swing == to_swing


def test_until_its_state_ends_a_requested_switch_changes_nothing() -> None:
    plain, asked = Simulation("planar"), Simulation("planar")
    plain.step(200)
    asked.step(200)
    asked.switch("fast-run")
    for _ in range(398):  # the walk's first state ends with step 600
        plain.step()
        asked.step()
        assert np.array_equal(plain.data.qpos, asked.data.qpos)
    assert asked.requested is not None
    plain.step(100)
    asked.step(100)
    assert not np.array_equal(plain.data.qpos, asked.data.qpos)
    assert asked.skill.name == "fast-run"


def test_a_later_request_replaces_an_earlier_one() -> None:
    sim = flying(made_skill(TWO))
    sim.step(10)
    sim.switch("skip")
    sim.step(10)
    sim.switch("crouch-walk")
    _change(sim)
    assert sim.skill.name == "crouch-walk"
    assert graph_of(sim.memory).targets[0, 1] == load("planar/crouch-walk").parameters.states[0].targets["swing_knee"]


def test_a_switch_to_itself_keeps_the_motion() -> None:
    plain, asked = Simulation("planar"), Simulation("planar")
    plain.step(700)
    asked.step(700)
    asked.switch("walk")
    plain.step(3000)
    asked.step(3000)
    assert np.array_equal(plain.data.qpos, asked.data.qpos)


@pytest.mark.parametrize("phase", [0.0, 0.13, 0.4, 0.6, 0.85])
@pytest.mark.parametrize("ask_at", [0.05, 0.5, 0.95])
def test_a_request_waits_for_the_phase_its_skill_wants(phase: float, ask_at: float) -> None:
    sim = flying(made_skill([{"duration": 0.1}, {"duration": 0.1}]))
    machine = machine_of(sim.memory)
    while machine.steps < 3 or machine.phase < ask_at:
        sim.step()
    swing, begun = sim.memory.report[0].swing, machine.step_start
    sim.switch(made_skill(TWO, entry={"phase": phase, "state": 1}))
    taken, state = _change(sim)
    later = phase <= ask_at  # then it is the next step's
    asked_for = begun + (phase + later) * 0.2
    assert sim.time - DT == pytest.approx(asked_for, abs=1.01 * DT), f"after {taken} steps"
    leg = 1.0 - swing if later else swing
    assert state == 2 * leg + 1
    assert sim.memory.report[0].swing == leg


def test_a_skill_that_waits_for_a_phase_is_entered_at_every_phase_a_file_can_name() -> None:
    """Also where the phase falls exactly on a physics step, whatever the rounding of the clock."""
    for k in range(0, 100, 3):
        sim = flying(made_skill([{"duration": 0.025}, {"duration": 0.025}]))
        sim.step(333 + 17 * k)
        sim.switch(made_skill(TWO, entry={"phase": k / 100}))
        taken, _ = _change(sim, 400)
        assert taken <= 101, f"phase {k / 100} was missed in the first step it came up in"


def test_a_held_state_is_left_at_once_and_enters_at_the_first_state() -> None:
    sim = flying(made_skill([{"duration": 0.02}, {"until": "request"}]))
    assert set(states(sim, 500)) == {2, 3}
    sim.switch(made_skill(FOUR, entry={"phase": 0.9, "state": 2}))
    taken, begun = _change(sim)
    assert (taken, begun) == (1, 4)


def test_an_acyclic_graph_is_followed_by_what_then_names_with_the_other_leg() -> None:
    own = [{"duration": 0.03, "torso": -0.11}, {"duration": 0.02, "torso": -0.12}]
    sim = flying(made_skill(own, start={"swing": "left"}, mirrored=False, then="walk"))
    graph, walk = graph_of(sim.memory), load("planar/walk").parameters.states
    found = stretches(states(sim, 900))
    assert [lasted for _, lasted in found[:2]] == [60, 40]
    assert [graph.states[state].torso for state, _ in found[:2]] == [-0.11, -0.12]
    after = graph.states[found[2][0]]
    assert (after.swing, after.order) == (1.0, 0.0)
    assert found[2][1] == 600
    roles = sim.scene.table.anatomy.roles
    assert graph.targets[found[2][0], roles.index("swing_knee")] == walk[0].targets["swing_knee"]


def test_after_its_end_a_spliced_graph_is_the_follower_itself() -> None:
    """The walk that follows an acyclic graph closes its own cycle and never returns to what it followed."""
    own = [{"duration": 0.0}, {"duration": DT}]
    sim = Simulation(skill=made_skill(own, start={"swing": "left"}, mirrored=False, then="run"))
    graph, seen = graph_of(sim.memory), list(states(sim, 3000))[5:]
    assert {float(graph.states[state].duration) for state in seen} == {load("planar/run").parameters.states[0].duration}
    assert {float(graph.states[state].swing) for state in seen} == {0.0, 1.0}


def test_an_acyclic_graph_without_a_follower_repeats_itself() -> None:
    sim = flying(made_skill([{"duration": 0.03}, {"duration": 0.02}], mirrored=False))
    graph, found = graph_of(sim.memory), stretches(states(sim, 500))
    assert [graph.states[state].order for state, _ in found[:5]] == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert [lasted for _, lasted in found[:4]] == [60, 40, 60, 40]


# ------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("mirrored", [True, False])
def test_a_graph_whose_states_all_take_no_time_is_refused(mirrored: bool) -> None:
    with pytest.raises(SkillError, match="take time"):
        made_skill([{"duration": 0.0}, {"duration": 0.0}], mirrored=mirrored)


def test_a_state_ends_either_by_time_or_by_contact() -> None:
    for state in ({}, {"duration": 0.1, "until": "contact"}):
        with pytest.raises(SkillError, match="duration"):
            made_skill([state])


def test_more_states_than_a_row_has_room_for_are_refused() -> None:
    with pytest.raises(SkillError, match="16"):
        made_skill([{"duration": 0.1}] * 9)
    made_skill([{"duration": 0.1}] * 8)
    with pytest.raises(SkillError, match="16"):
        flying(made_skill([{"duration": 0.1}] * 13, mirrored=False, then="walk"))


def test_a_start_state_that_is_not_there_is_refused() -> None:
    with pytest.raises(SkillError, match="state 2 is not one of its 2"):
        Simulation(skill=made_skill([{"duration": 0.1}] * 2, start={"state": 2}))


# --------------------------------------------------------------------------------------------- zero = absent


def test_zero_feedback_gains_are_the_same_as_none() -> None:
    walk = load("planar/walk")
    zero = {"states.0.cv": 0.0, "states.1.cd": 0.0}
    document = walk.model_dump(by_alias=True)
    absent = [{k: v for k, v in state.items() if k not in ("cd", "cv")} for state in document["parameters"]["states"]]
    one, two = Simulation(skill=with_parameters(walk, zero)), Simulation(skill=made_skill(absent))
    one.step(2000)
    two.step(2000)
    assert np.array_equal(bits(one), bits(two))
    three = Simulation(skill=walk)
    three.step(2000)
    assert not np.array_equal(one.data.qpos, three.data.qpos)


def test_zero_feedback_of_another_joint_is_the_same_as_none() -> None:
    walk = load("planar/walk")
    roles = ("stance_ankle", "swing_knee")
    zero = {f"states.{i}.feedback.{role}.{k}": 0.0 for i in (0, 1) for role in roles for k in (0, 1)}
    one, two = Simulation(skill=with_parameters(walk, zero)), Simulation(skill=walk)
    one.step(2000)
    two.step(2000)
    assert np.array_equal(bits(one), bits(two))


def test_blending_by_nothing_changes_nothing_and_by_all_gives_the_other_skill() -> None:
    sim = Simulation("planar")
    before = sim.memory.slots[0].copy()
    sim.blend("fast-walk", 0.0)
    assert np.array_equal(sim.memory.slots[0], before)
    sim.blend("fast-walk", 1.0)
    assert np.array_equal(sim.memory.slots[0], Simulation(skill="fast-walk").memory.slots[0])
    sim.blend("fast-walk", 0.25)
    roles = sim.scene.table.anatomy.roles
    assert graph_of(sim.memory).targets[2, roles.index("swing_hip")] == pytest.approx(0.75 * 0.40 + 0.25 * 0.73)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.55, 0.7, 0.9])
def test_a_blend_keeps_what_both_skills_share_to_the_last_bit(share: float) -> None:
    sim = Simulation("human19", "march")
    slot = sim.memory.slots[0]
    mine = slot.copy()
    sim.blend("human19/duck", 1.0)
    theirs = slot.copy()
    sim.blend("human19/duck", share)
    same = mine == theirs
    assert same.any()
    assert not same.all()
    np.testing.assert_array_equal(slot[same], mine[same])


def test_skills_of_other_structure_cannot_be_blended() -> None:
    sim = Simulation("planar")
    for other in ("skip", "run"):
        with pytest.raises(CommandError, match="differ"):
            sim.blend(other, 0.5)
