"""What a schema alone cannot see: whether a skill fits the body it is for, its controller and itself."""

from __future__ import annotations

from collections.abc import Iterator

from surefoot import plugins
from surefoot.characters import load as load_character
from surefoot.characters import names as character_names
from surefoot.skills import BIPED, load, names
from surefoot.skills.schema import Problem, Skill


def problems(skill: Skill) -> Iterator[Problem]:
    """Everything in a skill that does not fit, with its place in the file.

    Args:
        skill: what the schema has let pass.
    """
    controller = plugins.load(plugins.CONTROLLERS, skill.controller)
    known = character_names()
    if controller.any_biped:
        known = (BIPED, *(name for name in known if not controller.unsupported(load_character(name))))
    if skill.character not in known:
        yield ("character",), f"unknown character {skill.character!r}; valid: {', '.join(known)}"
        if not controller.any_biped:
            return
    body = skill.character if skill.character in character_names() else DEFAULT_BIPED
    table = load_character(body)
    unsupported = controller.unsupported(table)
    if unsupported:
        yield ("character",), unsupported
        return
    yield from controller.validate(skill, table)
    yield from _slow_part_problems(skill)


def _slow_part_problems(skill: Skill) -> Iterator[Problem]:
    """What does not fit of the skill that takes over at low speeds."""
    if skill.slow is None:
        return
    if skill.slow.above < skill.slow.below:
        yield ("slow", "above"), f"must be at least `below` ({skill.slow.below:g}), got {skill.slow.above:g}"
    valid = [name.partition("/")[2] for name in names(skill.character)]
    if skill.slow.skill not in valid:
        yield ("slow", "skill"), f"unknown skill {skill.slow.skill!r} of {skill.character}; valid: {', '.join(valid)}"
        return
    other = load(f"{skill.character}/{skill.slow.skill}")
    if other.controller == skill.controller:
        yield ("slow", "skill"), f"is of the same controller, {skill.controller}; valid: a skill of another one"
    if "speed" not in skill.commands or "speed" not in other.commands:
        yield ("slow",), "both skills have to take the command `speed`"
    for i, name in enumerate(skill.slow.commands):
        if name not in other.commands or name in skill.commands:
            only = [known for known in other.commands if known not in skill.commands]
            yield ("slow", "commands", i), f"{name!r} is not one of {other.full_name} alone; valid: {', '.join(only)}"


DEFAULT_BIPED = "humanoid"  # the body by which a skill for any biped is checked, and which it runs on unless told
