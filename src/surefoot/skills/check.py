"""What a schema alone cannot see: whether a skill fits the body it is for, its controller and itself."""

from __future__ import annotations

from collections.abc import Iterator

from surefoot import plugins
from surefoot.characters import load as load_character
from surefoot.characters import names as character_names
from surefoot.skills import BIPED
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


DEFAULT_BIPED = "humanoid"  # the body by which a skill for any biped is checked, and which it runs on unless told
