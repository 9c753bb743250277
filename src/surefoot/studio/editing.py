"""The one document that all editors work on: the skill that runs."""

from __future__ import annotations

from pathlib import Path

from surefoot.skills.schema import BIPED, Skill
from surefoot.studio.document import Document
from surefoot.studio.session import Session


class Editing:
    """What is being edited.

    Attributes:
        document: the skill with its history.
        comparing: whether the saved version runs for the moment.
        has_keys: whether somebody has given undo and redo their keys already.
    """

    def __init__(self, session: Session) -> None:
        """Begin with the skill that runs."""
        self.document = Document(session.sim.skill, _file_of(session))
        self.comparing = False
        self.has_keys = False

    def of(self, skill: Skill, origin: Path | None = None) -> Document:
        """The document of a skill that runs now.

        It stays the same one for a version of the same skill, as when time went back to before an edit: that version
        becomes a change that can be taken back. Another skill begins another document.
        """
        if skill == self.document.skill or (self.comparing and skill == self.document.saved):
            return self.document
        self.comparing = False
        if not self.document.take(skill):
            self.document = Document(skill, origin)
        return self.document

    def watch(self, session: Session) -> Document:
        """The document of what a session runs; looking back changes nothing yet."""
        return self.document if session.shown is not None else self.of(session.sim.skill, _file_of(session))

    def apply(self, session: Session, skill: Skill) -> None:
        """Let a version of the document run at once."""
        self.comparing = skill != self.document.skill
        session.revise(skill)

    def open(self, session: Session, skill: Skill, origin: Path | None) -> None:
        """Begin anew with a skill from a file, on the present body if that can do it; or nothing changes."""
        if skill.character in (BIPED, session.sim.scene.table.name):
            session.rebuild(skill=skill, character=session.setup.character or session.sim.scene.table.name)
        else:  # another body: proportions were those of the present one
            session.rebuild(skill=skill, character=None, proportions={})
        self.document, self.comparing = Document(skill, origin), False


def _file_of(session: Session) -> Path | None:
    """The file of one's own that a session was begun with, if it was."""
    named = session.setup.skill
    return Path(named) if not isinstance(named, Skill) and str(named).endswith((".yaml", ".yml")) else None
