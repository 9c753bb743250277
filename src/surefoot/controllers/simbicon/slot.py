"""Writes a SIMBICON skill into the parameter slot that its law reads: mirrored halves expanded, endings spliced.

Imitation and limit cycle control share the writers of gains, states and the head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from surefoot.characters.table import SAGITTAL, CharacterTable, Gain
from surefoot.controllers.base import write_header
from surefoot.controllers.simbicon.parameters import GainModel, PoseState, at_speed, on_slope
from surefoot.errors import SkillError
from surefoot.native.kernels import python_impl
from surefoot.reflexes import pose_graph
from surefoot.reflexes.pose_graph import Graph
from surefoot.reflexes.speed_schedule import MAX_ENTRIES, schedule_of, schedule_size, set_gait_speed
from surefoot.skills.schema import Skill

_ENDINGS = {
    "contact": pose_graph.CONTACT, "landing": pose_graph.LANDING, "request": pose_graph.HOLD,
    "stance": pose_graph.BEARING,
}  # fmt: skip


def schedule_begin(roles: int) -> int:
    """Where in a slot the numbers behind the graph begin."""
    return pose_graph.slot_size(pose_graph.CAPACITY, roles)


def slot_size(table: CharacterTable) -> int:
    """Numbers in a parameter slot of this character."""
    return schedule_begin(len(table.anatomy.roles)) + (0 if table.root == "planar" else schedule_size())


def write_slot(
    slot: np.ndarray, skill: Skill, table: CharacterTable, timestep: float, find: Callable[[str], Skill]
) -> None:
    """Write a skill's numbers into a slot.

    Args:
        slot: (slot_size,) written in place.
        skill: what to write.
        table: the body whose roles and gains it uses.
        timestep: physics step [s].
        find: gives the skill that `then` names.
    """
    parameters = skill.parameters
    if not parameters.by_speed:
        _write_graph(slot, skill, table, timestep, find)
        return
    needs_others = parameters.then or (parameters.recovery and parameters.recovery.skill)
    known = None if needs_others else _WRITTEN.of(skill, table, timestep)
    if known is not None:
        slot[:] = known
        return
    _write_graph(slot, skill, table, timestep, find)
    _write_schedule(slot, skill, table, timestep, find)
    _WRITTEN.keep(skill, table, timestep, slot)


class _WrittenSlots:
    """The last few slots of skills whose numbers depend on the speed: many rows are filled with the same skill."""

    def __init__(self) -> None:
        self._known: list[tuple[Skill, CharacterTable, float, np.ndarray]] = []

    def of(self, skill: Skill, table: CharacterTable, timestep: float) -> np.ndarray | None:
        """What was written for the very same skill and body; None if it is not known."""
        for known, body, step, slot in self._known:
            if known is skill and body is table and step == timestep:
                return slot
        return None

    def keep(self, skill: Skill, table: CharacterTable, timestep: float, slot: np.ndarray) -> None:
        """Remember a slot."""
        self._known = [*self._known[-7:], (skill, table, timestep, slot.copy())]


_WRITTEN = _WrittenSlots()


def _write_schedule(
    slot: np.ndarray, skill: Skill, table: CharacterTable, timestep: float, find: Callable[[str], Skill]
) -> None:
    """Write the numbers of the slot that differ between the speeds of a skill, and those of its usual speed."""
    given, roles = skill.parameters.by_speed, len(table.anatomy.roles)
    begin = schedule_begin(roles)
    images = []
    for one in (at_speed(skill, k) for k in range(len(given.speeds))):
        image = np.zeros(begin)
        _write_graph(image, one, table, timestep, find)
        images.append(image)
    values = np.array(images).T
    slopes = _slope_changes(skill, table, timestep, find)
    places = np.flatnonzero((values != values[:, :1]).any(axis=1) | slopes.any(axis=1))
    if len(places) > MAX_ENTRIES:
        raise SkillError(
            f"{skill.full_name}: {len(places)} numbers depend on speed or slope, at most {MAX_ENTRIES} can"
        )
    schedule = python_impl(schedule_of)(slot, begin)
    schedule.speeds[: len(given.speeds)] = given.speeds
    schedule.places[: len(places)] = places
    schedule.values[: len(places), : len(given.speeds)] = values[places]
    schedule.slopes[: len(places)] = slopes[places]
    head = _view(slot, roles).head[0]
    head.knots, head.entries, head.usual_speed = len(given.speeds), len(places), given.usual
    if given.gap:
        head.gap_low, head.gap_high = given.gap
    if skill.parameters.by_slope:
        head.slope_angle = skill.parameters.by_slope.angle
    python_impl(set_gait_speed)(slot, schedule, len(given.speeds), len(places), given.usual, 0.0)


def _slope_changes(skill: Skill, table: CharacterTable, timestep: float, find: Callable[[str], Skill]) -> np.ndarray:
    """(graph's numbers, 2) what is added to the numbers of a slot where the ground rises, and where it falls."""
    found = np.zeros((schedule_begin(len(table.anatomy.roles)), 2))
    given = skill.parameters.by_slope
    for way, changes in enumerate((given.up, given.down) if given else ()):
        if changes:
            level, sloping = np.zeros((2, len(found)))
            _write_graph(level, skill, table, timestep, find)
            _write_graph(sloping, on_slope(skill, changes), table, timestep, find)
            found[:, way] = sloping - level
    return found


def _write_graph(
    slot: np.ndarray, skill: Skill, table: CharacterTable, timestep: float, find: Callable[[str], Skill]
) -> None:
    roles = table.anatomy.roles
    parameters = skill.parameters
    write_header(slot, skill)
    graph = _view(slot, len(roles))
    head = graph.head[0]
    write_head(head, skill, table, timestep, table.hip_targets)
    head.entry_phase, head.exit_phase = -1.0, -1.0
    if parameters.entry:
        head.entry_phase, head.entry_order = parameters.entry.phase, parameters.entry.state
    if parameters.exit:
        head.exit_phase, head.exit_order = parameters.exit.phase, parameters.exit.state
    head.arm_swing, head.arm_circle = parameters.arms.swing, parameters.arms.circle
    head.ease, head.level_head, head.uneven_lift = parameters.ease, parameters.level_head, parameters.uneven_lift
    write_gains(graph, skill, table)
    count = write_states(graph, parameters.states, parameters.halves, parameters.mirrored, 0, table)
    graph.states["feedback_speed"][:count] = parameters.feedback_speed
    if parameters.then:
        count = _splice(graph, skill, find(parameters.then), count, table)
    if parameters.recovery:
        head.recovery = count
        head.alarm_ahead, head.alarm_behind = parameters.recovery.ahead, parameters.recovery.behind
        head.alarm_stance, head.alarm_swing = parameters.recovery.to_stance, parameters.recovery.to_swing
        head.calm_steps = parameters.recovery.steps
        count = _write_recovery(graph, skill, _sturdier(skill, find), count, table)
    head.states = count


def _sturdier(skill: Skill, find: Callable[[str], Skill]) -> Skill:
    """The gait whose steps recover: another skill, or one of the body's own gains with the recovery's states."""
    recovery = skill.parameters.recovery
    if recovery.skill:
        return find(recovery.skill)
    changes = {"states": recovery.states, "gains": {}, "feedback_speed": 0.0}
    return skill.model_copy(update={"parameters": skill.parameters.model_copy(update=changes)})


def _write_recovery(graph: Graph, skill: Skill, sturdier: Skill, begin: int, table: CharacterTable) -> int:
    """Write the states of the gait that recovers behind a graph; its gains become factors of the graph's."""
    them = sturdier.parameters
    end = write_states(graph, them.states, them.halves, them.mirrored, begin, table)
    graph.states["feedback_speed"][begin:end] = them.feedback_speed
    graph.states["torso"][begin:end] += skill.parameters.recovery.lean
    own, theirs = (np.array([(g.kp, g.kd) for g in body_gains(s, table)]) for s in (skill, sturdier))
    graph.stiffness[begin:end] *= theirs[:, 0] / own[:, 0]
    graph.damping[begin:end] *= theirs[:, 1] / own[:, 1]
    return end


def _splice(graph: Graph, skill: Skill, follower: Skill, begin: int, table: CharacterTable) -> int:
    """Write the states of the following skill behind a graph that ends; they begin with the other leg."""
    them = follower.parameters
    end = write_states(graph, them.states, them.halves, them.mirrored, begin, table)
    own = len(skill.parameters.states)
    for half in range(skill.parameters.halves):
        last = graph.states[(half + 1) * own - 1]
        first = [i for i in range(begin, end) if graph.states[i].order == 0.0]
        last.next = next((i for i in first if graph.states[i].swing != last.swing), first[0])
    return end


def write_gains(graph: Graph, skill: Skill, table: CharacterTable) -> None:
    """Write the gains of every role."""
    for i, gain in enumerate(body_gains(skill, table)):
        graph.gains[i].kp, graph.gains[i].kd, graph.gains[i].limit = gain.kp, gain.kd, gain.limit


def body_gains(skill: Skill, table: CharacterTable) -> Iterator[Gain]:
    """The gain of every role: the body's, changed by what a skill gives for all joints, a kind of joint or a role."""
    given = skill.parameters.gains
    for role, joint in zip(table.anatomy.roles, table.anatomy.joints(0), strict=True):
        gain = table.gains[joint]
        for name in dict.fromkeys(("all", table.anatomy.kind(role), role)):
            if name in given:
                gain = merge_gain(gain, given[name], table.strength)
        yield gain


def write_states(
    graph: Graph, states: Sequence[PoseState], halves: int, mirrored: bool, begin: int, table: CharacterTable
) -> int:
    """Write states from index `begin` on; return the index behind the last."""
    n = len(states)
    for half in range(halves):
        order = -1
        for i, state in enumerate(states):
            order = 0 if i and state.leg != states[i - 1].leg else order + 1  # place within the step
            at = begin + half * n + i
            record = graph.states[at]
            record.ending = _ENDINGS[state.until] if state.until else pose_graph.TIMED
            record.duration = state.duration or 0.0
            after = (half + 1) % halves if mirrored else half
            record.next = begin + after * n if i == n - 1 else at + 1
            record.swing = half if state.leg == "same" else 1 - half
            mirror = 1.0 if record.swing == 0.0 else -1.0
            record.order, record.torso, record.both = order, state.torso, state.both
            record.torso_roll, record.torso_yaw = mirror * state.torso_roll, mirror * state.torso_yaw
            record.push_off, record.trailing_push_off = state.push_off, state.trailing_push_off
            _write_pose(graph, at, state, table, mirror)
    return begin + int(halves) * n


def _write_pose(graph: Graph, at: int, state: PoseState, table: CharacterTable, mirror: float) -> None:
    """Write targets and feedback; `mirror` is −1 if the right leg swings: the middle then turns the other way."""
    anatomy, hinges = table.anatomy, table.hinges
    for i, role in enumerate(anatomy.roles):
        turns = role in anatomy.middle and hinges[role].plane != SAGITTAL
        graph.targets[at, i] = state.targets.get(role, 0.0) * (mirror if turns else 1.0)
        graph.feedback[at, i] = state.feedback.get(role, (0.0, 0.0))
        graph.stiffness[at, i] = graph.damping[at, i] = state.stiffness.get(role, 1.0)
    graph.feedback[at, 0] += (state.cd, state.cv)
    if anatomy.hip_hinges > 1:
        graph.feedback[at, 1] += (state.cd_lateral, state.cv_lateral)


def write_head(
    head: Any, skill: Skill, table: CharacterTable, timestep: float, hip_targets: tuple[float, float]
) -> None:
    """Write what SIMBICON and imitation have in common: torso servo, hip limits, learning, sensing and reaction."""
    parameters = skill.parameters
    torso = merge_gain(table.torso_gain, parameters.torso_gain, table.strength)
    head.torso_kp, head.torso_kd, head.torso_limit = torso.kp, torso.kd, torso.limit
    head.hip_low, head.hip_high = parameters.hip_targets or hip_targets
    head.load_lean, head.turn_rate = table.load_lean, parameters.turn_rate
    if parameters.learning:
        head.bins = parameters.learning.bins
        head.learning_rate, head.learning_limit = parameters.learning.rate, parameters.learning.limit
    sensing, reaction = parameters.sensing, parameters.reaction
    head.true_com, head.delay = sensing.point == "com", round(sensing.delay / timestep)
    head.noise_distance, head.noise_velocity = sensing.noise_distance, sensing.noise_velocity
    head.softness = 1.0
    if reaction:
        head.softness, head.alarm = reaction.softness, reaction.alarm
        head.reaction_delay, head.reaction_time = reaction.delay, reaction.time


def merge_gain(gain: Gain, given: GainModel, strength: float) -> Gain:
    """The body's gain, changed by what a skill gives; the skill's numbers are for the body of original strength."""

    def pick(value: float | None, default: float) -> float:
        return default if value is None else value * strength

    return Gain(pick(given.kp, gain.kp), pick(given.kd, gain.kd), pick(given.limit, gain.limit))


def has_same_states(one: np.ndarray, other: np.ndarray, roles: int) -> bool:
    """Whether two graphs have the same states with the same endings and successors, and measure and learn alike."""
    a, b = _view(one, roles), _view(other, roles)
    fields = ("ending", "next", "swing", "order", "both")
    return is_same_size(one, other, roles) and all(bool((a.states[f] == b.states[f]).all()) for f in fields)


def is_same_size(one: np.ndarray, other: np.ndarray, roles: int) -> bool:
    """Whether two graphs have as many states, and measure and learn alike."""
    a, b = _view(one, roles).head[0], _view(other, roles).head[0]
    return all(a[f] == b[f] for f in ("states", "bins", "true_com", "delay"))


def _view(slot: np.ndarray, roles: int) -> Any:
    return python_impl(pose_graph.graph_of)(slot, roles)
