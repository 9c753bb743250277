"""The skill that is being edited: undo and redo, comparison with the saved version, and saving with comments kept.

`SkillDocument` is one skill file with its history. `ActiveDocument` is the one that all editors share: it follows the
skill that the session runs.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq

from surefoot.errors import SkillError
from surefoot.skills import BIPED, files, library_path, names, set_document_value
from surefoot.skills.schema import Skill
from surefoot.studio.session import Session

MAX_UNDO = 200  # changes that can be undone
_OPEN = 0.01  # by which a bound that is itself not allowed is moved inward


def field_bounds(model: type[BaseModel], field: str) -> tuple[float, float]:
    """Lowest and highest value that a schema allows a number, or the numbers of a mapping.

    Args:
        model: the schema.
        field: name of the number.

    Raises:
        SkillError: the field is no number with two bounds.
    """
    schema = _json_schema(model)["properties"][field]
    schema = schema.get("additionalProperties", schema)
    number: dict[str, Any] = next((kind for kind in schema.get("anyOf", [schema]) if kind.get("type") == "number"), {})
    low, high = number.get("minimum"), number.get("maximum")
    low = number["exclusiveMinimum"] + _OPEN if "exclusiveMinimum" in number else low
    high = number["exclusiveMaximum"] - _OPEN if "exclusiveMaximum" in number else high
    if low is None or high is None:
        raise SkillError(f"{field} has no lowest and highest value")
    return float(low), float(high)


@functools.cache
def _json_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


class SkillDocument:
    """A skill file that is being edited.

    Attributes:
        skill: the present version, always valid.
        saved: the version that was read or last saved.
        origin: the file it came from; None if it has none.
    """

    def __init__(self, skill: Skill, origin: Path | None = None) -> None:
        """Begin with a skill; comments come from its file, by default the library's file of its name."""
        if origin is None and skill.full_name in names():
            origin = library_path(skill.full_name)
        self.origin = origin
        read = files.read(origin) if origin else None
        plain = skill.model_dump(by_alias=True, exclude_defaults=True, exclude_none=True)
        self._now: Any = read[1] if read and read[0] == skill else _flowing(plain, None)
        self.skill = self.saved = skill
        self._before: list[Any] = []
        self._after: list[Any] = []
        self._key: object = None

    def change(self, values: Mapping[str, Any], key: object = None) -> Skill:
        """Set values by dotted path (`states.1.cd`, `curves.pelvis`, `start.speed`); all of them or none.

        Args:
            values: numbers, words, lists, or None to leave an optional one out of the file.
            key: consecutive changes with the same key, as while dragging, are undone as one.

        Returns:
            The new version.

        Raises:
            SkillError: the result is not a valid skill; then nothing changes.
        """
        return self._become(self._changed(values, 5), key)

    def adopt_version(self, skill: Skill) -> bool:
        """Become another version of the same skill, as a change that can be undone; False if it is another skill."""
        found = _differences(self.skill, skill)
        if (skill.full_name, skill.controller) != (self.skill.full_name, self.skill.controller):
            return False
        if any(path.split(".")[0] not in ("parameters", "start", "fall") for path, _, _ in found):
            return False
        try:
            changed = self._changed({_short(path): new for path, _, new in found}, None)
            same = files.validate(changed, skill.full_name) == skill
        except SkillError:  # it has another number of states
            return False
        if same:
            self._become(changed)
        return same

    def reset(self) -> Skill:
        """Go back to the saved version, as a change that can be undone."""
        self.adopt_version(self.saved)
        return self.skill

    def adopt_formatting(self, text: str) -> None:
        """Take comments and order from a file's text of the same skill; the text of another changes nothing."""
        node = files.parse(text, self.skill.full_name)
        if files.validate(node, self.skill.full_name) == self.skill:
            self._now = node

    def _changed(self, values: Mapping[str, Any], digits: int | None) -> Any:
        changed = copy.deepcopy(self._now)
        for path, value in values.items():
            if value is None:
                _leave_out(changed, path)
            else:
                set_document_value(
                    changed, path, _flowing(value, digits) if isinstance(value, (list, tuple, dict)) else value
                )
        return changed

    def _become(self, changed: Any, key: object = None) -> Skill:
        skill = files.validate(changed, self.skill.full_name)
        if skill == self.skill:
            return skill
        if key is None or key != self._key:
            self._before = [*self._before, self._now][-MAX_UNDO:]
        self._now, self.skill, self._key, self._after = changed, skill, key, []
        return skill

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return bool(self._after)

    def undo(self) -> Skill:
        """Undo the last change."""
        return self._move(self._before, self._after)

    def redo(self) -> Skill:
        """Redo the change that was undone last."""
        return self._move(self._after, self._before)

    def _move(self, source: list[Any], other: list[Any]) -> Skill:
        if not source:
            raise SkillError("there is nothing more to undo or redo")
        other.append(self._now)
        self._now, self._key = source.pop(), None
        self.skill = files.validate(self._now, self.skill.full_name)
        return self.skill

    def differences(self) -> list[tuple[str, Any, Any]]:
        """Differences from the saved version: dotted path as in `change`, saved value, present value (or None)."""
        return [(_short(path), old, new) for path, old, new in _differences(self.saved, self.skill)]

    def text(self) -> str:
        """The file as it would be saved."""
        buffer = StringIO()
        YAML(typ="rt").dump(self._now, buffer)
        return buffer.getvalue()

    def save(self, path: Path, name: str) -> None:
        """Write it to a file under another name, whole or not at all; comments are kept."""
        full = self.skill.full_name
        of_library = full in names() and self.origin == library_path(full)
        named = [copy.deepcopy(node) for node in (self._now, *self._before, *self._after)]
        for node in named:  # versions that are restored later have the name too
            node["name"] = name
            if of_library:  # provenance and measurements are those of another skill
                node["provenance"] = _flowing({"source": f"made in the studio from {full}"})
                node.pop("measured", None)
        skill = files.validate(named[0], str(path))
        files.write(named[0], path)
        count = 1 + len(self._before)
        self._now, self._before, self._after = named[0], named[1:count], named[count:]
        self.skill, self.saved, self.origin, self._key = skill, skill, path, None


def _flowing(value: Any, digits: int | None = 5) -> Any:
    """A value as YAML nodes, lists of numbers on one line; floats rounded to so many digits after the point."""
    if isinstance(value, dict):
        return {key: _flowing(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        found = CommentedSeq(_flowing(item, digits) for item in value)
        if not any(isinstance(item, dict) for item in value):
            found.fa.set_flow_style()
        return found
    return round(value, digits) if isinstance(value, float) and digits is not None else value


def _leave_out(document: Any, path: str) -> None:
    """Remove a value from a document, if it is there."""
    keys: list[Any] = [int(k) if k.isdecimal() else k for k in path.split(".")]
    node = document if keys[0] in ("start", "fall") else document["parameters"]
    for key in keys[:-1]:
        is_item = isinstance(node, list) and isinstance(key, int) and key < len(node)
        if not is_item and not (isinstance(node, dict) and key in node):
            return
        node = node[key]
    if isinstance(node, dict):
        node.pop(keys[-1], None)


def _short(path: str) -> str:
    return path.removeprefix("parameters.")


def _differences(one: Skill, other: Skill) -> list[tuple[str, Any, Any]]:
    old, new = (_leaves(s.model_dump(by_alias=True, exclude={"name"})) for s in (one, other))
    return [(path, old.get(path), new.get(path)) for path in {**old, **new} if old.get(path) != new.get(path)]


def _leaves(node: Any, path: str = "") -> dict[str, Any]:
    if isinstance(node, dict):
        items: list[tuple[Any, Any]] = list(node.items())
    elif isinstance(node, list) and any(isinstance(item, dict) for item in node):
        items = list(enumerate(node))
    else:
        return {path: node}
    return {k: v for key, item in items for k, v in _leaves(item, f"{path}.{key}" if path else str(key)).items()}


class ActiveDocument:
    """The document that all editors share.

    Attributes:
        document: the skill with its history.
        comparing: whether the saved version runs at the moment.
        has_keys: whether undo and redo have their keys already.
    """

    def __init__(self, session: Session) -> None:
        """Begin with the running skill."""
        self.document = SkillDocument(session.sim.skill, _file_of(session))
        self.comparing = False
        self.has_keys = False

    def document_of(self, skill: Skill, origin: Path | None = None) -> SkillDocument:
        """The document of the running skill.

        For another version of the same skill, as after going back to before an edit, the document stays and the version
        becomes a change that can be undone. Another skill begins another document.
        """
        if skill == self.document.skill or (self.comparing and skill == self.document.saved):
            return self.document
        self.comparing = False
        if not self.document.adopt_version(skill):
            self.document = SkillDocument(skill, origin)
        return self.document

    def follow_session(self, session: Session) -> SkillDocument:
        """The document of the skill that a session runs; looking back changes nothing yet."""
        return self.document if session.shown is not None else self.document_of(session.sim.skill, _file_of(session))

    def run_version(self, session: Session, skill: Skill) -> None:
        """Run a version of the document at once."""
        self.comparing = skill != self.document.skill
        session.edit_skill(skill)

    def open(self, session: Session, skill: Skill, origin: Path | None) -> None:
        """Begin again with a skill from a file, on the present body if it can do it; nothing changes on an error."""
        if skill.character in (BIPED, session.sim.scene.table.name):
            session.rebuild(skill=skill, character=session.character)
        else:  # another body: the proportions belong to the present one
            session.rebuild(skill=skill, character=None, proportions={})
        self.document, self.comparing = SkillDocument(skill, origin), False


def _file_of(session: Session) -> Path | None:
    """The user's skill file that a session began with, if it was one."""
    named = session.setup.skill
    return Path(named) if isinstance(named, (str, Path)) and str(named).endswith((".yaml", ".yml")) else None
