"""Skills by name or path, and changed copies of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.characters import load as load_character
from surefoot.characters import names as character_names
from surefoot.errors import SkillError, UnknownNameError
from surefoot.skills import files
from surefoot.skills.schema import BIPED, Skill, StylizedSkill

__all__ = ["Skill", "library_path", "load", "names", "set_value", "varied"]

_LIBRARY = Path(__file__).parent / "library"


def names(character: str | None = None) -> tuple[str, ...]:
    """Full names (`character/name`) of all skills, or of those that one character can do."""
    found = sorted(p.relative_to(_LIBRARY).with_suffix("").as_posix() for p in _LIBRARY.glob("*/*.yaml"))
    is_ours = character is not None and character in character_names()
    own = {character} if is_ours and not load_character(str(character)).is_biped else {character, BIPED}
    return tuple(n for n in found if character is None or n.split("/")[0] in own)


def load(name: str | Path, character: str | None = None) -> Skill:
    """The skill of a name, a full name, or a path to a file of one's own."""
    text = str(name)
    if text.endswith((".yaml", ".yml")):
        return beside(files.read(Path(text))[0], Path(text).parent)
    full = text if "/" in text else f"{character or 'planar'}/{text}"
    if full not in names() and "/" not in text:
        full = f"{BIPED}/{text}"  # what any body with two legs can do
    if full not in names():
        raise UnknownNameError("skill", text, names(character))
    return _from_library(full)


def beside(skill: Skill, folder: Path) -> Skill:
    """A skill whose reference, if that is a file's relative name, lies in a folder."""
    if not isinstance(skill, StylizedSkill) or not skill.parameters.reference.endswith(".npz"):
        return skill
    return varied(skill, {"reference": str(folder / skill.parameters.reference)})


@functools.cache
def _from_library(full: str) -> Skill:
    skill = files.read(library_path(full))[0]
    if skill.full_name != full:
        raise SkillError(f"{full}: the file calls itself {skill.full_name}")
    return skill


def library_path(full_name: str) -> Path:
    """Where a shipped skill lies."""
    return _LIBRARY / f"{full_name}.yaml"


def varied(skill: Skill, values: Mapping[str, float | int | str | None]) -> Skill:
    """A copy with other values, by dotted path.

    Paths are as in the file: `states.1.cd`, `states.0.targets.swing_hip`, `learning.bins`, `start.speed`,
    `states.0.feedback.stance_ankle.1` (0 is the gain of d, 1 that of v). One that begins with neither
    `start.` nor `fall.` is sought in the parameters.
    """
    document: dict[str, Any] = _with_lists(skill.model_dump(by_alias=True))
    for path, value in values.items():
        set_value(document, path, value if value is None or isinstance(value, (str, bool, int)) else float(value))
    return files.validate(document, f"{skill.full_name} (changed)")


def set_value(document: Any, path: str, value: Any) -> None:
    """Set one value of a skill's document by its dotted path, making parts that are not written down yet."""
    keys: list[Any] = [int(k) if k.isdecimal() else k for k in path.split(".")]
    node: Any = document if keys[0] in ("start", "fall") else document["parameters"]
    for key, following in itertools.pairwise(keys):
        node = _child(node, key, following, path)
    is_place = isinstance(node, list) and isinstance(keys[-1], int) and keys[-1] < len(node)
    if not is_place and not (isinstance(node, dict) and isinstance(keys[-1], str)):
        raise SkillError(f"no parameter {path[:60]!r}")
    node[keys[-1]] = value


def _child(node: Any, key: Any, following: Any, path: str) -> Any:
    if isinstance(node, dict) and isinstance(key, str):
        if node.get(key) is None:
            node[key] = [0.0, 0.0] if isinstance(following, int) else {}
        return node[key]
    if isinstance(node, list) and isinstance(key, int) and key < len(node):
        return node[key]
    raise SkillError(f"no parameter {path!r}: {key!r} is not there")


def _with_lists(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _with_lists(value) for key, value in node.items()}
    return [_with_lists(value) for value in node] if isinstance(node, (list, tuple)) else node
