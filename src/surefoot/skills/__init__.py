"""Skills by name or path, and changed copies of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import SkillError, UnknownNameError
from surefoot.skills import files
from surefoot.skills.schema import Skill

__all__ = ["Skill", "load", "names", "varied"]

_LIBRARY = Path(__file__).parent / "library"


def names(character: str | None = None) -> tuple[str, ...]:
    """Full names (`character/name`) of all skills, or of one character's."""
    found = sorted(p.relative_to(_LIBRARY).with_suffix("").as_posix() for p in _LIBRARY.glob("*/*.yaml"))
    return tuple(n for n in found if character is None or n.split("/")[0] == character)


def load(name: str | Path, character: str | None = None) -> Skill:
    """The skill of a name, a full name, or a path to a file of one's own."""
    text = str(name)
    if text.endswith((".yaml", ".yml")):
        return files.read(Path(text))[0]
    full = text if "/" in text else f"{character or 'planar'}/{text}"
    if full not in names():
        raise UnknownNameError("skill", text, names(character))
    return _from_library(full)


@functools.cache
def _from_library(full: str) -> Skill:
    skill = files.read(library_path(full))[0]
    if skill.full_name != full:
        raise SkillError(f"{full}: the file calls itself {skill.full_name}")
    return skill


def library_path(full_name: str) -> Path:
    """Where a shipped skill lies."""
    return _LIBRARY / f"{full_name}.yaml"


def varied(skill: Skill, values: Mapping[str, float | int | str]) -> Skill:
    """A copy with other values, by dotted path: `states.1.cd`, `states.0.targets.swing_hip`, `start.speed`.

    A path that begins with neither `start.` nor `fall.` is sought in the parameters.
    """
    document: dict[str, Any] = skill.model_dump(by_alias=True)
    for path, value in values.items():
        keys: list[Any] = [int(k) if k.isdigit() else k for k in path.split(".")]
        node: Any = document if keys[0] in ("start", "fall") else document["parameters"]
        for key in keys[:-1]:
            node = _child(node, key, path)
            if isinstance(node, tuple):
                raise SkillError(f"{path}: give both numbers of a pair at once")
        if isinstance(node, dict) or (isinstance(node, list) and isinstance(keys[-1], int) and keys[-1] < len(node)):
            node[keys[-1]] = value if isinstance(value, (str, tuple, bool, int)) else float(value)
        else:
            raise SkillError(f"no parameter {path!r} in {skill.full_name}")
    return files.validate(document, f"{skill.full_name} (changed)")


def _child(node: Any, key: Any, path: str) -> Any:
    if isinstance(node, dict) and isinstance(key, str):
        if node.get(key) is None:
            node[key] = {}
        return node[key]
    if isinstance(node, list) and isinstance(key, int) and key < len(node):
        return node[key]
    raise SkillError(f"no parameter {path!r}: {key!r} is not there")
