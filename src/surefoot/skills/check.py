"""What a schema alone cannot see: whether a skill fits the body it is for, its controller and itself."""

from __future__ import annotations

from collections.abc import Iterator

from surefoot.characters import load as load_character
from surefoot.characters import names as character_names
from surefoot.characters.table import CharacterTable
from surefoot.controllers import genbicon, imitation, limit_cycle, simbicon, stepping, stylized
from surefoot.errors import SurefootError
from surefoot.reflexes.regulation import feature_count
from surefoot.skills.imitation import ROOT
from surefoot.skills.schema import BIPED, Skill
from surefoot.skills.simbicon import MAX_STATES

Misfit = tuple[tuple[str | int, ...], str]  # where in the file, and what is wrong there


def misfits(skill: Skill) -> Iterator[Misfit]:
    """Everything in a skill that does not fit, with its place in the file."""
    if skill.controller == "genbicon":
        yield from _style(skill)
        return
    if skill.character not in character_names():
        yield ("character",), f"unknown character {skill.character!r}; valid: {', '.join(character_names())}"
        return
    table = load_character(skill.character)
    if skill.controller == "limit_cycle":
        yield from _cycle(skill, table)
        return
    if skill.controller == "stepping":
        yield from _stepping(skill, table)
        return
    if skill.controller == "imitation":
        yield from _imitation(skill, table)
        return
    if skill.controller == "stylized":
        yield from _stylized(skill, table)
        return
    yield from _roles(skill, table)
    yield from _gains(skill, table)
    yield from _start(skill)
    yield from _commands(skill, simbicon.PLANAR_COMMANDS if table.root == "planar" else simbicon.COMMANDS)
    if table.root == "planar":
        yield from _only_in_space(skill)
    if skill.parameters.reaction and not skill.parameters.learning:
        yield ("parameters", "reaction"), "soft servos need `learning`: what they have learned bears the load"
    parameters = skill.parameters
    if parameters.hip_targets and parameters.hip_targets[0] >= parameters.hip_targets[1]:
        yield ("parameters", "hip_targets"), "the lower limit comes first"
    if parameters.entry and parameters.entry.state >= len(parameters.states):
        yield ("parameters", "entry", "state"), f"there are {len(parameters.states)} states, counted from 0"
    yield from _follower(skill)


def _imitation(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    parameters, roles = skill.parameters, table.anatomy.roles
    if table.root != "free" or not roles:
        yield ("character",), "a captured gait needs a character in space whose joints have roles"
        return
    valid: dict[str, tuple[str, ...]] = {
        "cycle.joints": tuple(table.gains), "cycle.root": ROOT, "offsets": roles, "feedback": roles,
    }  # fmt: skip
    for place, known in valid.items():
        named = parameters
        for key in place.split("."):
            named = getattr(named, key)
        for name in named:
            if name not in known:
                yield ("parameters", *place.split("."), name), f"unknown name {name!r}; valid: {', '.join(known)}"
    yield from _start_roles(skill, table)
    for name in ROOT:
        if name not in parameters.cycle.root:
            yield ("parameters", "cycle", "root"), f"{name} is missing; needed: {', '.join(ROOT)}"
    if abs((parameters.cycle.lands[1] - parameters.cycle.lands[0]) % 1.0 - 0.5) > 0.4:
        yield ("parameters", "cycle", "lands"), "the feet come down a tenth of a cycle apart at least"
    if parameters.hip_targets and parameters.hip_targets[0] >= parameters.hip_targets[1]:
        yield ("parameters", "hip_targets"), "the lower limit comes first"
    yield from _gains(skill, table)
    yield from _commands(skill, imitation.COMMANDS)
    if parameters.reaction and not parameters.learning:
        yield ("parameters", "reaction"), "soft servos need `learning`: what they have learned bears the load"


def _stepping(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    if not table.is_biped:
        yield ("character",), "stepping needs a character in space with legs of two bones"
        return
    yield from _start_roles(skill, table)
    yield from _commands(skill, stepping.COMMANDS)


def _start_roles(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    roles = table.anatomy.roles
    for place in ("joints", "rates"):
        for role in getattr(skill.start, place):
            if role not in roles:
                yield ("start", place, role), f"unknown role {role!r}; valid: {', '.join(roles)}"


def _stylized(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    if table.foreign or not table.anatomy.roles:
        yield ("character",), "a stylized motion needs a character whose joints have roles"
        return
    yield from _start_roles(skill, table)
    kinds = tuple(dict.fromkeys(("all", *(table.anatomy.kind(r).split("_")[0] for r in table.anatomy.roles))))
    for name in skill.parameters.strength:
        if name not in kinds:
            yield ("parameters", "strength", name), f"unknown joint {name!r}; valid: {', '.join(kinds)}"
    yield from _commands(skill, stylized.COMMANDS)


def _style(skill: Skill) -> Iterator[Misfit]:
    valid = (BIPED, *(name for name in character_names() if load_character(name).is_biped))
    if skill.character not in valid:
        yield ("character",), f"unknown character {skill.character!r}; valid: {', '.join(valid)}"
    yield from _commands(skill, genbicon.COMMANDS)


def _cycle(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    if table.root == "planar":
        yield ("character",), "limit cycle control is for bodies in space"
        return
    yield from _roles(skill, table)
    yield from _gains(skill, table)
    yield from _commands(skill, limit_cycle.COMMANDS)
    if "speed" in skill.commands and skill.parameters.speed is None:
        yield ("commands",), "a skill that knows `speed` says how in its parameters: speed"
    if skill.start.state >= len(skill.parameters.states):
        yield ("start", "state"), f"there are {len(skill.parameters.states)} states, counted from 0"
    model, count = skill.parameters.model, feature_count(len(table.gains))
    if model and {len(model.mean), len(model.scale), *(len(row) - 1 for row in model.weights)} != {count}:
        yield ("parameters", "model"), f"a model of this body has {count} features, and as many weights and a constant"


def _commands(skill: Skill, valid: tuple[str, ...]) -> Iterator[Misfit]:
    for i, name in enumerate(skill.commands):
        if name not in valid:
            yield ("commands", i), f"unknown command {name!r}; valid: {', '.join(valid)}"


def _roles(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    valid = table.anatomy.roles
    places: list[tuple[tuple[str | int, ...], dict[str, object]]] = []
    for i, state in enumerate(skill.parameters.states):
        places.append((("parameters", "states", i, "targets"), dict(state.targets)))
        places.append((("parameters", "states", i, "feedback"), dict(getattr(state, "feedback", {}))))
    places += [(("start", "joints"), dict(skill.start.joints)), (("start", "rates"), dict(skill.start.rates))]
    for place, named in places:
        for role in named:
            if role not in valid:
                yield (*place, role), f"unknown role {role!r}; valid: {', '.join(valid)}"


def gain_names(table: CharacterTable) -> tuple[str, ...]:
    """Names a skill's `gains` can have: all, a kind of joint, a role."""
    roles = table.anatomy.roles
    return tuple(dict.fromkeys(("all", *(table.anatomy.kind(r) for r in roles), *roles)))


def _gains(skill: Skill, table: CharacterTable) -> Iterator[Misfit]:
    anatomy = table.anatomy
    for name, gain in skill.parameters.gains.items():
        if name not in gain_names(table):
            yield ("parameters", "gains", name), f"unknown joint {name!r}; valid: {', '.join(gain_names(table))}"
            continue
        of = [j for r, j in zip(anatomy.roles, anatomy.joints(0), strict=True) if name in ("all", r, anatomy.kind(r))]
        highest = min(table.gains[joint].limit for joint in of)
        if gain.limit is not None and gain.limit > highest:
            yield ("parameters", "gains", name, "limit"), f"exceeds the body's limit of {highest:g} N·m"


def _only_in_space(skill: Skill) -> Iterator[Misfit]:
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


def _start(skill: Skill) -> Iterator[Misfit]:
    states, start = skill.parameters.states, skill.start
    if start.state >= len(states):
        yield ("start", "state"), f"state {start.state} is not one of its {len(states)} states, counted from 0"
    elif skill.parameters.halves == 1 and (states[start.state].leg == "same") != (start.swing == "left"):
        yield ("start", "swing"), f"its state {start.state} does not swing the {start.swing} leg"


def _follower(skill: Skill) -> Iterator[Misfit]:
    name = skill.parameters.then
    if name is None:
        return
    from surefoot.skills import load

    try:
        follower = load(f"{skill.character}/{name}")
    except SurefootError as error:
        yield ("parameters", "then"), str(error)
        return
    own = len(skill.parameters.states) * skill.parameters.halves
    total = own + len(follower.parameters.states) * follower.parameters.halves
    if total > MAX_STATES or follower.parameters.then:
        yield ("parameters", "then"), f"with {name} after it there are more than {MAX_STATES} states, or it ends too"
