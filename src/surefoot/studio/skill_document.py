"""A skill under one's hands: changes can be taken back, compared with what was saved, and saved with its comments.

The one document that all editors work on: the skill that runs.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq

from surefoot.errors import SkillError
from surefoot.skills import BIPED, files, library_path, set_document_value
from surefoot.skills.schema import Skill
from surefoot.studio.session import Session

MAX_UNDO = 200  # changes that can be taken back


class SkillDocument:
    """A skill file being edited.

    Attributes:
        skill: the skill as it is now, always valid.
        saved: the skill as it was read or last saved.
        origin: the file it came from; None for one that was made without.
    """

    def __init__(self, skill: Skill, origin: Path | None = None) -> None:
        """Begin with a skill; its file, found by its name if it is of the library, brings the comments."""
        if origin is None and library_path(skill.full_name).is_file():
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
            key: changes with the same key that follow each other, as while dragging, are taken back as one.
        """
        return self._become(self._changed(values, 5), key)

    def take(self, skill: Skill) -> bool:
        """Become another version of the same skill, as a change that can be taken back; False if it is none."""
        found = _differences(self.skill, skill)
        if (skill.full_name, skill.controller) != (self.skill.full_name, self.skill.controller):
            return False
        if any(path.split(".")[0] not in ("parameters", "start", "fall") for path, _, _ in found):
            return False
        try:
            changed = self._changed({_short(path): new for path, _, new in found}, None)
            same = files.validate(changed, skill.full_name) == skill
        except SkillError:  # of another number of states
            return False
        if same:
            self._become(changed)
        return same

    def reset(self) -> Skill:
        """Go back to what was saved, as a change that can be taken back."""
        self.take(self.saved)
        return self.skill

    def dress(self, text: str) -> None:
        """Take comments and order from a file's text that says the same; another one changes nothing."""
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
        """Whether there is something to take back."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back."""
        return bool(self._after)

    def undo(self) -> Skill:
        """Take the last change back."""
        return self._move(self._before, self._after)

    def redo(self) -> Skill:
        """Do again what was taken back."""
        return self._move(self._after, self._before)

    def _move(self, source: list[Any], other: list[Any]) -> Skill:
        if not source:
            raise SkillError("there is nothing more to take back or do again")
        other.append(self._now)
        self._now, self._key = source.pop(), None
        self.skill = files.validate(self._now, self.skill.full_name)
        return self.skill

    def differences(self) -> list[tuple[str, Any, Any]]:
        """What is not as saved: dotted path as in `change`, the saved value, the present one (None: there is none)."""
        return [(_short(path), old, new) for path, old, new in _differences(self.saved, self.skill)]

    def text(self) -> str:
        """The file as it would be saved."""
        buffer = StringIO()
        YAML(typ="rt").dump(self._now, buffer)
        return buffer.getvalue()

    def save(self, path: Path, name: str) -> None:
        """Write it under a name of its own, whole or not at all; comments are kept."""
        of_library, full = self.origin == library_path(self.skill.full_name), self.skill.full_name
        named = [copy.deepcopy(node) for node in (self._now, *self._before, *self._after)]
        for node in named:  # what is taken back later has the name too
            node["name"] = name
            if of_library:  # what was printed or measured was so of another
                node["provenance"] = _flowing({"source": f"made in the studio from {full}"})
                node.pop("measured", None)
        skill = files.validate(named[0], str(path))
        files.write(named[0], path)
        self._now, self._before, self._after = (
            named[0],
            named[1 : 1 + len(self._before)],
            named[1 + len(self._before) :],
        )
        self.skill, self.saved, self.origin, self._key = skill, skill, path, None


def _flowing(value: Any, digits: int | None = 5) -> Any:
    """A value as round-trip nodes, lists of numbers on one line; floats with so many digits after the point."""
    if isinstance(value, dict):
        return {key: _flowing(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        found = CommentedSeq(_flowing(item, digits) for item in value)
        if not any(isinstance(item, dict) for item in value):
            found.fa.set_flow_style()
        return found
    return round(value, digits) if isinstance(value, float) and digits is not None else value


def _leave_out(document: Any, path: str) -> None:
    """Take a value out of a document, if it is there."""
    keys: list[Any] = [int(k) if k.isdecimal() else k for k in path.split(".")]
    node = document if keys[0] in ("start", "fall") else document["parameters"]
    for key in keys[:-1]:
        if not (isinstance(node, list) and isinstance(key, int) and key < len(node)) and not (
            isinstance(node, dict) and key in node
        ):
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
    """What is being edited.

    Attributes:
        document: the skill with its history.
        comparing: whether the saved version runs for the moment.
        has_keys: whether somebody has given undo and redo their keys already.
    """

    def __init__(self, session: Session) -> None:
        """Begin with the skill that runs."""
        self.document = SkillDocument(session.sim.skill, _file_of(session))
        self.comparing = False
        self.has_keys = False

    def of(self, skill: Skill, origin: Path | None = None) -> SkillDocument:
        """The document of a skill that runs now.

        It stays the same one for a version of the same skill, as when time went back to before an edit: that version
        becomes a change that can be taken back. Another skill begins another document.
        """
        if skill == self.document.skill or (self.comparing and skill == self.document.saved):
            return self.document
        self.comparing = False
        if not self.document.take(skill):
            self.document = SkillDocument(skill, origin)
        return self.document

    def watch(self, session: Session) -> SkillDocument:
        """The document of what a session runs; looking back changes nothing yet."""
        return self.document if session.shown is not None else self.of(session.sim.skill, _file_of(session))

    def apply(self, session: Session, skill: Skill) -> None:
        """Let a version of the document run at once."""
        self.comparing = skill != self.document.skill
        session.edit_skill(skill)

    def open(self, session: Session, skill: Skill, origin: Path | None) -> None:
        """Begin anew with a skill from a file, on the present body if that can do it; or nothing changes."""
        if skill.character in (BIPED, session.sim.scene.table.name):
            session.rebuild(skill=skill, character=session.setup.character or session.sim.scene.table.name)
        else:  # another body: proportions were those of the present one
            session.rebuild(skill=skill, character=None, proportions={})
        self.document, self.comparing = SkillDocument(skill, origin), False


def _file_of(session: Session) -> Path | None:
    """The file of one's own that a session was begun with, if it was."""
    named = session.setup.skill
    return Path(named) if isinstance(named, (str, Path)) and str(named).endswith((".yaml", ".yml")) else None
