"""A skill under one's hands: changes can be taken back, compared with what was saved, and saved with its comments."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq

from surefoot.errors import SkillError
from surefoot.skills import files, library_path, set_value
from surefoot.skills.schema import Skill

MOST = 200  # changes that can be taken back


class Document:
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
        self._now: Any = read[1] if read and read[0] == skill else _flowing(plain)
        self.skill = self.saved = skill
        self._before: list[Any] = []
        self._after: list[Any] = []
        self._key: object = None

    def change(self, values: Mapping[str, Any], key: object = None) -> Skill:
        """Set values by dotted path (`states.1.cd`, `curves.pelvis`, `start.speed`); all of them or none.

        Args:
            values: numbers, words, lists, or None to leave an optional one out.
            key: changes with the same key that follow each other, as while dragging, are taken back as one.
        """
        changed = copy.deepcopy(self._now)
        for path, value in values.items():
            set_value(changed, path, _flowing(value) if isinstance(value, (list, tuple, dict)) else value)
        skill = files.validate(changed, self.skill.full_name)
        if skill == self.skill:
            return skill
        if key is None or key != self._key:
            self._before = [*self._before, self._now][-MOST:]
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
        """What is not as saved: dotted path, the saved value, the present one (None where there is none)."""
        old, new = (_leaves(s.model_dump(by_alias=True, exclude={"name"})) for s in (self.saved, self.skill))
        return [(path, old.get(path), new.get(path)) for path in {**old, **new} if old.get(path) != new.get(path)]

    def text(self) -> str:
        """The file as it would be saved."""
        buffer = StringIO()
        YAML(typ="rt").dump(self._now, buffer)
        return buffer.getvalue()

    def save(self, path: Path, name: str) -> None:
        """Write it under a name of its own, whole or not at all; comments are kept."""
        named = copy.deepcopy(self._now)
        named["name"] = name
        if self.origin == library_path(self.skill.full_name):  # what was printed or measured was so of another
            named["provenance"] = _flowing({"source": f"made in the studio from {self.skill.full_name}"})
            named.pop("measured", None)
        skill = files.validate(named, str(path))
        files.write(named, path)
        self._now, self.skill, self.saved, self.origin, self._key = named, skill, skill, path, None


def _flowing(value: Any) -> Any:
    """A value as round-trip nodes, lists of numbers on one line."""
    if isinstance(value, dict):
        return {key: _flowing(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        found = CommentedSeq(_flowing(item) for item in value)
        if not any(isinstance(item, dict) for item in value):
            found.fa.set_flow_style()
        return found
    return round(value, 5) if isinstance(value, float) else value


def _leaves(node: Any, path: str = "") -> dict[str, Any]:
    if isinstance(node, dict):
        items: list[tuple[Any, Any]] = list(node.items())
    elif isinstance(node, list) and any(isinstance(item, dict) for item in node):
        items = list(enumerate(node))
    else:
        return {path: node}
    return {k: v for key, item in items for k, v in _leaves(item, f"{path}.{key}" if path else str(key)).items()}
