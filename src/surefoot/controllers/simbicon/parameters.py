"""Schema of a SIMBICON skill: a pose graph, as a person would write it down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import unknown_names, unknown_start_roles
from surefoot.errors import SurefootError
from surefoot.reflexes.pose_graph import CAPACITY
from surefoot.reflexes.speed_schedule import MAX_SPEEDS
from surefoot.skills import load as load_skill
from surefoot.skills import with_parameters
from surefoot.skills.schema import Angle, Name, Problem, Skill, Speed, Strict

MAX_STATES = CAPACITY  # of the expanded graph: a row of memory has room for so many

Feedback = Annotated[float, Field(ge=-20.0, le=20.0)]
Stiffness = Annotated[float, Field(ge=0.0, le=10.0)]
Lever = Annotated[float, Field(ge=-0.3, le=0.3)]  # [m]


class PoseState(Strict):
    """One row of Table 1. It ends after `duration` seconds or on what `until` says.

    `cd_lateral` and `cv_lateral` are the coronal gains of the swing hip (the rows "lat"). Roll and yaw of the
    middle (`torso_roll`, `torso_yaw`, the targets of waist and neck) are given for a left leg that swings.

    `stiffness` multiplies the servo gains of roles. `push_off` plantarflexes the stance ankle with a torque of the
    foot's load times a lever [m]: the centre of pressure moves forward by so much. `trailing_push_off` does the same
    with the swing foot as long as it still bears load.
    """

    leg: Literal["same", "other"] = "same"  # which leg swings: that of the graph's beginning, or the other
    both: bool = False  # both legs bear and swing together: hops, and standing on two feet
    duration: float | None = Field(None, ge=0.0, le=30.0)
    until: Literal["contact", "landing", "request"] | None = None
    cd: Feedback = 0.0
    cv: Feedback = 0.0
    cd_lateral: Feedback = 0.0
    cv_lateral: Feedback = 0.0
    torso: Angle = 0.0
    torso_roll: Angle = 0.0
    torso_yaw: Angle = 0.0
    targets: dict[str, Angle]
    feedback: dict[str, tuple[Feedback, Feedback]] = Field(default_factory=dict)
    stiffness: dict[str, Stiffness] = Field(default_factory=dict)
    push_off: Lever = 0.0
    trailing_push_off: Lever = 0.0

    @model_validator(mode="after")
    def _ends_once(self) -> PoseState:
        if (self.duration is None) == (self.until is None):
            raise ValueError("a state ends either after `duration` seconds or on `until`: give one of them")
        return self


class GainModel(Strict):
    """Servo gains [N·m/rad], [N·m·s/rad]; torque limit [N·m]."""

    kp: float | None = Field(None, ge=0.0, le=20_000.0)
    kd: float | None = Field(None, ge=0.0, le=2_000.0)
    limit: float | None = Field(None, gt=0.0, le=20_000.0)


class Learning(Strict):
    """Feedback-error learning of the torso torque, in 3D of the upper body's joints too (§6)."""

    bins: int = Field(ge=2, le=2000)
    rate: float = Field(0.1, ge=0.0, le=1.0)
    limit: float = Field(0.2, ge=0.0, le=3.0)


class Reaction(Strict):
    """Soft servos of the torso and the upper body, once they have learned, and stiff ones after a surprise (§6).

    `softness` multiplies their gains; a torso error above `alarm` [rad] restores them after `delay` for `time`.
    """

    softness: float = Field(ge=0.0, le=1.0)
    alarm: float = Field(0.0, ge=0.0, le=3.0)
    delay: float = Field(0.15, ge=0.0, le=2.0)
    time: float = Field(2.0, ge=0.0, le=60.0)


class Sensing(Strict):
    """How d and v are measured: at which point, with which delay [s] and noise (standard deviations [m], [m/s])."""

    point: Literal["hips", "com"] = "hips"
    delay: float = Field(0.0, ge=0.0, le=0.25)
    noise_distance: float = Field(0.0, ge=0.0, le=1.0)
    noise_velocity: float = Field(0.0, ge=0.0, le=5.0)


class Arms(Strict):
    """What the arms do beside their targets: swing against the legs, or circle, by an angle [rad]."""

    swing: float = Field(0.0, ge=0.0, le=1.5)
    circle: float = Field(0.0, ge=0.0, le=1.2)


class BySpeed(Strict):
    """Parameters that depend on the speed: their values at a few speeds [m/s], interpolated between.

    The gait goes at `usual` unless a speed is commanded. Speeds within `gap` are passed through, never kept: between a
    walk and a run there is no gait.
    """

    speeds: tuple[Speed, ...] = Field(min_length=2, max_length=MAX_SPEEDS, strict=False)
    usual: Speed
    values: dict[str, Annotated[tuple[float, ...], Field(strict=False)]] = Field(min_length=1)
    gap: tuple[Speed, Speed] | None = None

    @model_validator(mode="after")
    def _fits(self) -> BySpeed:
        if any(b - a < 1e-3 for a, b in pairwise(self.speeds)):
            raise ValueError("speeds ascend, by at least 0.001 m/s")
        for path, values in self.values.items():
            if len(values) != len(self.speeds):
                raise ValueError(f"{path}: {len(values)} values for {len(self.speeds)} speeds")
        if self.gap and not self.speeds[0] < self.gap[0] < self.gap[1] < self.speeds[-1]:
            raise ValueError("a gap lies between the slowest and the fastest speed, its lower end first")
        if not self.speeds[0] <= self.usual <= self.speeds[-1]:
            raise ValueError(f"the usual speed lies within {self.speeds[0]:g} … {self.speeds[-1]:g} m/s")
        return self


class StateChange(Strict):
    """What is added to the numbers of a state."""

    duration: float = Field(0.0, ge=-0.2, le=0.2)  # [s] of a timed state
    torso: Angle = 0.0
    push_off: Lever = 0.0
    trailing_push_off: Lever = 0.0
    targets: dict[str, Angle] = Field(default_factory=dict)


class BySlope(Strict):
    """How every state changes where the ground rises (`up`) or falls (`down`) by `angle` [rad] ahead.

    The slope is that from one stance ankle to the next: nothing is seen ahead of the feet. The changes grow with it.
    """

    angle: float = Field(gt=0.0, le=0.5)
    up: list[StateChange] = Field(default_factory=list)
    down: list[StateChange] = Field(default_factory=list)


class Recovery(Strict):
    """Steps of a sturdier gait that catch this one when it is disturbed: another skill's, or `states` of its own.

    `stiffness` in `states` multiplies the body's servo gains. The steps take over when the hips are faster than
    `feedback_speed` by more than `ahead`, slower by more than `behind`, or faster than `to_stance` and `to_swing`
    towards the side of either leg [m/s], and hand back after as many `steps` without an alarm, once the speed is one
    of this gait's. `lean` is added to their torso's pitch [rad]: forward (negative) they are faster.
    """

    skill: Name | None = None
    states: list[PoseState] | None = Field(None, min_length=1, max_length=4)
    lean: Angle = 0.0
    ahead: float = Field(0.9, gt=0.0, le=5.0)
    behind: float = Field(0.6, gt=0.0, le=5.0)
    to_stance: float = Field(0.65, gt=0.0, le=5.0)
    to_swing: float = Field(0.5, gt=0.0, le=5.0)
    steps: int = Field(3, ge=1, le=50)

    @model_validator(mode="after")
    def _has_steps(self) -> Recovery:
        if (self.skill is None) == (self.states is None):
            raise ValueError("a recovery has the steps of a `skill` or `states` of its own: give one of them")
        return self


class SwitchPoint(Strict):
    """The phase of a step for which a switch of skills waits, and the state in which the new skill then begins."""

    phase: float = Field(ge=0.0, lt=1.0)
    state: int = Field(0, ge=0, le=15)


class SimbiconParameters(Strict):
    """A pose graph. `mirrored` adds the same states with the legs exchanged, and the cycle closes.

    A graph with `then` ends instead, with either leg, and goes on as the skill of that name.
    """

    states: list[PoseState] = Field(min_length=1, max_length=MAX_STATES)
    mirrored: bool = True
    then: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    gains: dict[str, GainModel] = Field(default_factory=dict)
    torso_gain: GainModel = GainModel(kp=None, kd=None, limit=None)
    hip_targets: tuple[Angle, Angle] | None = None
    learning: Learning | None = None
    reaction: Reaction | None = None
    sensing: Sensing = Sensing(point="hips", delay=0.0, noise_distance=0.0, noise_velocity=0.0)
    arms: Arms = Arms(swing=0.0, circle=0.0)
    ease: float = Field(0.0, ge=0.0, le=0.5)  # [s] in which targets move from one state's to the next's
    uneven_lift: float = Field(0.0, ge=0.0, le=20.0)  # [rad/m] lift of the thigh after a step up or down by surprise
    level_head: bool = False  # the neck holds the head upright in the world, facing ahead
    feedback_speed: Speed = 0.0  # [m/s] of the hips at which v has no effect: v − feedback_speed is fed back
    recovery: Recovery | None = None
    by_speed: BySpeed | None = None
    by_slope: BySlope | None = None
    turn_rate: float = Field(0.6, gt=0.0, le=10.0)  # [rad/s] at which a commanded heading is approached
    entry: SwitchPoint | None = None  # for requests of this skill
    exit: SwitchPoint | None = None  # for requests to leave it

    @property
    def halves(self) -> int:
        """How often the states are written: beginning with either leg, or once if both swing in them."""
        return 1 if not self.mirrored and any(s.leg == "other" for s in self.states) else 2

    @model_validator(mode="after")
    def _fits(self) -> SimbiconParameters:
        if len(self.states) * self.halves > MAX_STATES:
            raise ValueError(f"a pose graph has at most {MAX_STATES} states, mirrored ones counted")
        if self.mirrored and self.then:
            raise ValueError("`then` says what follows a graph that ends; a mirrored graph is a cycle")
        if self.mirrored and self.states[-1].leg == "other":
            raise ValueError("the last state of a mirrored graph swings the same leg: the mirrored half is the other's")
        if not any((s.duration or 0.0) > 0.0 or s.until == "request" for s in self.states):
            raise ValueError("at least one state must take time: give it a duration > 0, or until: request")
        return self


class SimbiconSkill(Skill):
    """A pose graph."""

    controller: Literal["simbicon"]
    parameters: SimbiconParameters


def at_speed(skill: Skill, k: int) -> Skill:
    """A skill whose numbers depend on the speed, at the k-th of its speeds."""
    values = {path: values[k] for path, values in skill.parameters.by_speed.values.items()}
    if skill.parameters.recovery is None:  # numbers of a recovery that was taken out mean nothing
        values = {path: value for path, value in values.items() if not path.startswith("recovery.")}
    return with_parameters(skill, {"by_speed": None, "by_slope": None} | values)


def invalid_speeds(skill: Skill) -> Iterator[Problem]:
    """Values at a speed that are not valid, or are of no parameter."""
    given = skill.parameters.by_speed
    for k, speed in enumerate(given.speeds if given else ()):
        try:
            at_speed(skill, k)
        except SurefootError as error:
            yield ("parameters", "by_speed", "values"), f"at {speed:g} m/s: {error}"


def on_slope(skill: Skill, changes: Sequence[StateChange]) -> Skill:
    """A skill with changes added to its states."""
    states = [_changed(*pair) for pair in zip(skill.parameters.states, changes, strict=True)]
    parameters = skill.parameters.model_copy(update={"states": states, "by_slope": None})
    return skill.model_copy(update={"parameters": parameters})


def _changed(state: PoseState, change: StateChange) -> PoseState:
    targets = dict(state.targets)
    for role, angle in change.targets.items():
        targets[role] = targets.get(role, 0.0) + angle
    sums = {name: getattr(state, name) + getattr(change, name) for name in ("torso", "push_off", "trailing_push_off")}
    duration = None if state.duration is None else state.duration + change.duration
    return state.model_copy(update={"targets": targets, "duration": duration, **sums})


def invalid_slopes(skill: Skill, table: CharacterTable) -> Iterator[Problem]:
    """Changes by slope that do not fit the states, or joints that the body does not have."""
    given, states = skill.parameters.by_slope, skill.parameters.states
    if given is None:
        return
    if skill.parameters.by_speed is None:
        yield ("parameters", "by_slope"), "only a gait with `by_speed` changes with the slope"
    for way, changes in (("up", given.up), ("down", given.down)):
        if changes and len(changes) != len(states):
            yield ("parameters", "by_slope", way), f"{len(changes)} changes for {len(states)} states"
        for i, (state, change) in enumerate(zip(states, changes, strict=False)):
            place = ("parameters", "by_slope", way, i)
            yield from unknown_names((*place, "targets"), change.targets, table.anatomy.roles, "role")
            if change.duration and state.duration is None:
                yield (*place, "duration"), "the state ends on contact, not by time"


def unknown_roles(skill: Skill, table: CharacterTable) -> Iterator[Problem]:
    """Joints of a pose graph and its start that the body does not have."""
    valid = table.anatomy.roles
    for i, state in enumerate(skill.parameters.states):
        for part in ("targets", "feedback", "stiffness"):
            yield from unknown_names(("parameters", "states", i, part), getattr(state, part, {}), valid, "role")
    recovery = getattr(skill.parameters, "recovery", None)
    for i, state in enumerate((recovery and recovery.states) or ()):
        for part in ("targets", "feedback", "stiffness"):
            place = ("parameters", "recovery", "states", i, part)
            yield from unknown_names(place, getattr(state, part), valid, "role")
    yield from unknown_start_roles(skill, table)


def gain_names(table: CharacterTable) -> tuple[str, ...]:
    """Names that a skill's `gains` can have: all, a kind of joint, a role."""
    roles = table.anatomy.roles
    return tuple(dict.fromkeys(("all", *(table.anatomy.kind(r) for r in roles), *roles)))


def invalid_gains(skill: Skill, table: CharacterTable) -> Iterator[Problem]:
    """Gains of joints that the body does not have, and torque limits beyond the body's."""
    anatomy, place = table.anatomy, ("parameters", "gains")
    for name, gain in skill.parameters.gains.items():
        if name not in gain_names(table):
            yield from unknown_names(place, [name], gain_names(table), "joint")
            continue
        of = [j for r, j in zip(anatomy.roles, anatomy.joints(0), strict=True) if name in ("all", r, anatomy.kind(r))]
        highest = min(table.gains[joint].limit for joint in of)
        if gain.limit is not None and gain.limit > highest:
            yield (*place, name, "limit"), f"exceeds the body's limit of {highest:g} N·m"


def invalid_hips_and_reaction(skill: Skill) -> Iterator[Problem]:
    """Limits of the hips' targets in the wrong order, and a reaction without what it needs."""
    parameters = skill.parameters
    if parameters.reaction and not parameters.learning:
        yield ("parameters", "reaction"), "soft servos need `learning`: what they have learned bears the load"
    if parameters.hip_targets and parameters.hip_targets[0] >= parameters.hip_targets[1]:
        yield ("parameters", "hip_targets"), "the lower limit comes first"


def invalid_start(skill: Skill) -> Iterator[Problem]:
    """A start or an entry in a state that there is not."""
    states, start, entry = skill.parameters.states, skill.start, skill.parameters.entry
    if start.state >= len(states):
        yield ("start", "state"), f"state {start.state} is not one of its {len(states)} states, counted from 0"
    elif skill.parameters.halves == 1 and (states[start.state].leg == "same") != (start.swing == "left"):
        yield ("start", "swing"), f"its state {start.state} does not swing the {start.swing} leg"
    if entry and entry.state >= len(states):
        yield ("parameters", "entry", "state"), f"there are {len(states)} states, counted from 0"


def invalid_in_plane(skill: Skill) -> Iterator[Problem]:
    """What a body that lives in a plane has no use for."""
    for i, state in enumerate(skill.parameters.states):
        for name in ("both", "cd_lateral", "cv_lateral", "torso_roll", "torso_yaw"):
            if getattr(state, name):
                yield ("parameters", "states", i, name), "only a character in space can be told that"
    for name in ("sideways", "heading", "roll", "roll_rate", "yaw", "yaw_rate"):
        if getattr(skill.start, name):
            yield ("start", name), "a planar character cannot do that"
    if skill.parameters.reaction:
        yield ("parameters", "reaction"), "only a character in space has a reaction"
    sensing = skill.parameters.sensing
    if sensing.point != "hips" or sensing.delay or sensing.noise_distance or sensing.noise_velocity:
        yield ("parameters", "sensing"), "a planar character measures its hips, at once and exactly"
    if skill.parameters.arms.swing or skill.parameters.arms.circle:
        yield ("parameters", "arms"), "a planar character has no arms"
    for name in ("by_speed", "by_slope", "recovery", "level_head", "uneven_lift", "ease", "feedback_speed"):
        if getattr(skill.parameters, name):
            yield ("parameters", name), "only a character in space can do that"


def invalid_follower(skill: Skill) -> Iterator[Problem]:
    """A skill to go on as, or to recover with, that does not fit behind this one."""
    recovery = skill.parameters.recovery
    for place, name in (("then", skill.parameters.then), ("recovery", recovery.skill if recovery else None)):
        if name is None:
            continue
        try:
            follower = load_skill(f"{skill.character}/{name}")
        except SurefootError as error:
            yield ("parameters", place), str(error)
            continue
        if follower.controller != skill.controller:
            yield ("parameters", place), f"{name} is not a pose graph"
            continue
        total = sum(len(s.parameters.states) * s.parameters.halves for s in (skill, follower))
        if total > MAX_STATES or follower.parameters.then:
            yield ("parameters", place), f"with {name} after it there are more than {MAX_STATES} states, or it ends too"
    if recovery and recovery.states:
        yield from _invalid_recovery_states(skill, recovery.states)
    if skill.parameters.then and recovery:
        yield ("parameters", "recovery"), "a graph that ends has no recovery"


def _invalid_recovery_states(skill: Skill, states: Sequence[PoseState]) -> Iterator[Problem]:
    """States of a recovery that do not fit behind the skill's own."""
    place, parameters = ("parameters", "recovery", "states"), skill.parameters
    if parameters.halves * (len(parameters.states) + len(states)) > MAX_STATES or parameters.halves != 2:
        yield place, f"with them behind the skill's own there are more than {MAX_STATES} states, or no leg to exchange"
    if any(state.leg == "other" or state.both for state in states):
        yield place, "the steps of a recovery are mirrored, one leg after the other"
