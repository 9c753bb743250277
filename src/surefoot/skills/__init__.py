"""Skills by name or path, and changed copies of them."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import plugins
from surefoot.errors import SkillError, SurefootError, UnknownNameError

if TYPE_CHECKING:
    from surefoot.skills.schema import Skill

sys.modules[__name__].__class__ = plugins.ListedModule

LIBRARY = Path(__file__).parent / "library"  # Surefoot's own folder of skills
BIPED = "biped"  # what a skill is for that any body with two legs can do


@functools.cache
def _paths() -> dict[str, Path]:
    """Files of all registered skills, by full name."""
    found: dict[str, Path] = {}
    for owner in plugins.names(plugins.SKILLS):
        folder = Path(plugins.load(plugins.SKILLS, owner))
        for path in folder.glob("*/*.yaml"):
            full = path.relative_to(folder).with_suffix("").as_posix()
            if full in found:
                raise SurefootError(f"two installed packages have a skill {full}: {found[full]} and {path}")
            found[full] = path
    return dict(sorted(found.items()))


def names(character: str | None = None) -> tuple[str, ...]:
    """Full names (`character/name`) of all skills.

    Args:
        character: list only those that this character can do.
    """
    if character is None:
        return tuple(_paths())
    from surefoot import characters

    is_ours = character in characters.names()
    own = {character} if is_ours and not characters.load(character).is_biped else {character, BIPED}
    return tuple(n for n in _paths() if n.split("/")[0] in own)


def summary(full_name: str) -> str:
    """What a registered skill says of itself in one line, read without checking the rest of its file.

    Args:
        full_name: `character/name`.
    """
    found = _top_value(full_name, "summary")
    if found is None:
        raise SkillError(f"{full_name}: the file has no summary")
    return found


def controller_of(full_name: str) -> str:
    """The controller that a registered skill names, read without checking the rest of its file.

    Args:
        full_name: `character/name`.
    """
    found, extended = _top_value(full_name, "controller"), _top_value(full_name, "extends")
    if found is not None:
        return found
    if extended is None:
        raise SkillError(f"{full_name}: the file has no controller")
    return controller_of(extended if "/" in extended else f"{full_name.partition('/')[0]}/{extended}")


def _top_value(full_name: str, key: str) -> str | None:
    """A text at the top level of a registered skill's file; None if it is not there."""
    lines = library_path(full_name).read_text(encoding="utf-8").splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith(f"{key}:")), None)
    if at is None:
        return None
    text = lines[at].partition(":")[2].strip()
    end = next((i for i in range(at + 1, len(lines)) if lines[i][:1].strip() not in ("", "#")), len(lines))
    if text and text[0] not in "\"'>|[{&*!#%@`" and end == at + 1 and " #" not in text:
        return text
    from ruamel.yaml import YAML

    return str(YAML(typ="safe", pure=True).load("\n".join(lines[at:end]))[key])


def load(name: str | Path, character: str | None = None) -> Skill:
    """The skill of a name, a full name, or a path to a file of one's own.

    Args:
        name: `walk`, `human/walk` or `my/walk.yaml`.
        character: whose skill a short name is; by default the planar biped's, then any biped's.

    Raises:
        UnknownNameError: there is none; the message lists the valid names.
        SkillError: the file is not valid; the message names the line.
    """
    from surefoot.skills import files

    text = str(name)
    if text.endswith((".yaml", ".yml")):
        return _with_own_files(files.read(Path(text))[0], Path(text).parent)
    full = text if "/" in text else f"{character or 'planar'}/{text}"
    if full not in _paths() and "/" not in text:
        full = f"{BIPED}/{text}"
    if full not in _paths():
        body = text.split("/")[0] if "/" in text else None
        is_known = any(n.split("/")[0] == body for n in _paths())
        raise UnknownNameError("skill", text, names(body if is_known else character))
    return _from_library(full)


def _with_own_files(skill: Skill, folder: Path) -> Skill:
    """A skill whose reference, if that is a file's relative name, lies in a folder."""
    reference = getattr(skill.parameters, "reference", "")
    if not isinstance(reference, str) or not reference.endswith(".npz"):
        return skill
    return with_parameters(skill, {"reference": str(folder / reference)})


@functools.cache
def _from_library(full: str) -> Skill:
    from surefoot.skills import files

    skill = files.read(library_path(full))[0]
    if skill.full_name != full:
        raise SkillError(f"{full}: the file calls itself {skill.full_name}")
    return _with_own_files(skill, library_path(full).parent)


def library_path(full_name: str) -> Path:
    """Where the file of a registered skill lies.

    Args:
        full_name: `character/name`.
    """
    if full_name not in _paths():
        raise UnknownNameError("skill", full_name, _paths())
    return _paths()[full_name]


def with_parameters(skill: Skill, values: Mapping[str, float | int | str | None]) -> Skill:
    """A copy with other values, by dotted path.

    Args:
        skill: is not changed.
        values: by path as in the file: `states.1.cd`, `states.0.targets.swing_hip`, `learning.bins`, `start.speed`,
            `states.0.feedback.stance_ankle.1` (0 is the gain of d, 1 that of v); `states.*.cd` is that of all states.
            A path that begins with neither `start.` nor `fall.` is looked for in the parameters.

    Raises:
        SkillError: there is no such parameter, or the changed skill is not valid.
    """
    from surefoot.skills import files

    document: dict[str, Any] = with_lists(skill.model_dump(by_alias=True))
    for path, value in values.items():
        set_document_value(
            document, path, value if value is None or isinstance(value, (str, bool, int)) else float(value)
        )
    return files.validate(document, f"{skill.full_name} (changed)")


def set_document_value(document: Any, path: str, value: Any) -> None:
    """Set one value of a skill's document by its dotted path, making parts that are not written down yet."""
    if "*" in path:
        for i in range(len(document["parameters"].get("states", ()))):
            set_document_value(document, path.replace("*", str(i), 1), value)
        return
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


def with_lists(node: Any) -> Any:
    """A copy of a dumped document with lists in place of tuples, as files have them."""
    if isinstance(node, dict):
        return {key: with_lists(value) for key, value in node.items()}
    return [with_lists(value) for value in node] if isinstance(node, (list, tuple)) else node
