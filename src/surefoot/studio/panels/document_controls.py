"""Undo and redo, comparison with the saved version, saving and loading: the same for every editor of skills."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import viser

from surefoot.errors import OutputError, SkillError
from surefoot.skills import files
from surefoot.skills.schema import Skill
from surefoot.studio.panels.panel import (
    PanelContext,
    hotkey,
    list_files,
    on_click,
    on_user_change,
    safe_path,
    set_if_changed,
)
from surefoot.studio.skill_document import SkillDocument

SUFFIXES = (".yaml", ".yml")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_NONE = "none"
_ROWS = 10  # differences that are shown
_LOOK = 2.0  # [s] between looks into the folder


class DocumentControls:
    """The controls of the skill that is being edited. The session's thread calls everything but `build`."""

    def build(self, desk: PanelContext, changed: Callable[[], object]) -> None:
        """Add the controls; `changed` is called after another version or another skill runs."""
        self._desk, self._changed = desk, changed
        self._looked, gui = -math.inf, desk.server.gui
        self._named: SkillDocument | None = None
        self._compared: tuple[Skill, Skill] | None = None  # whose differences are shown
        self._folders = [gui.add_folder("Changes"), gui.add_folder("File")]
        with self._folders[0]:
            self._steps = gui.add_button_group("Change", ("Undo", "Redo", "As saved"), hint="Ctrl+Z, Ctrl+Shift+Z")
            self._compare = gui.add_checkbox(
                "Run as saved", False, hint="The saved version runs until you switch this off; your changes are kept."
            )
            self._table = gui.add_markdown("")
        with self._folders[1]:
            self._name = gui.add_text("Name", "", hint="Small letters, digits and hyphens; it is written as NAME.yaml.")
            self._save = gui.add_button_group("Save", ("Save as", "Download"))
            self._files = gui.add_dropdown("Files", (_NONE,), hint=f"In {desk.folder}")
            loading = gui.add_button("Load this file", icon=viser.Icon.FOLDER_OPEN)
            self._upload = gui.add_upload_button(
                "Load one from your computer", icon=viser.Icon.UPLOAD, mime_type=",".join(SUFFIXES)
            )
        steps = {"Undo": self.undo, "Redo": self.redo, "As saved": self.reset}
        on_click(desk, self._steps, lambda name: steps[name]())
        loading.on_click(lambda _: desk.post(lambda: self.load(self._files.value)))
        on_user_change(desk, self._compare, self.compare)
        if not desk.editing.has_keys:  # one pair for all editors: they share the document
            desk.editing.has_keys = True
            hotkey(desk, "Undo the last change", "Z", self.undo, "cmd/ctrl")
            hotkey(desk, "Redo it", "Z", self.redo, "cmd/ctrl+shift")

        @self._save.on_click
        def _(event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
            client, name = event.client, self._name.value
            if self._save.value == "Save as":
                desk.post(lambda: self.save(name))
            elif client is not None:
                desk.post(lambda: client.send_file_download(*self.download(), save_immediately=True))

        @self._upload.on_upload
        def _(event: viser.GuiEvent[viser.GuiUploadButtonHandle]) -> None:
            name, content = self._upload.value.name, self._upload.value.content
            desk.post(lambda: self.upload(name, content))

    @property
    def _document(self) -> SkillDocument:
        return self._desk.editing.follow_session(self._desk.session)

    def run(self, skill: Skill) -> None:
        """Run a version of the document at once."""
        self._desk.editing.run_version(self._desk.session, skill)
        self._changed()

    def undo(self) -> None:
        """Undo the last change."""
        self.run(self._document.undo())

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self.run(self._document.redo())

    def reset(self) -> None:
        """Go back to the saved version, as a change that can be undone."""
        self.run(self._document.reset())

    def compare(self, on: bool) -> None:
        """Run the saved version, or the edited one again."""
        document = self._document
        self.run(document.saved if on else document.skill)

    def save(self, name: str) -> None:
        """Write it into the studio's folder; only the file that it came from is ever overwritten."""
        stem = name.removesuffix(".yaml").removesuffix(".yml")
        if not _NAME.fullmatch(stem):
            raise OutputError(f"a name has small letters, digits and hyphens (slow-walk), got {name[:40]!r}")
        document, path = self._document, safe_path(self._desk.folder, f"{stem}.yaml", SUFFIXES)
        if path.exists() and path != document.origin:
            raise OutputError(f"there is a file {path.name} already: choose another name, or load it first")
        document.save(path, stem)
        self.run(document.skill)
        self._looked = -math.inf
        self._desk.notify("Saved", path.name, "green")

    def load(self, name: str) -> None:
        """Begin with a file of the studio's folder."""
        if name == _NONE:
            raise OutputError("there is no skill file in the folder yet")
        path = safe_path(self._desk.folder, name, SUFFIXES)
        self._open(files.read(path)[0], path)
        self._desk.notify("Loaded", path.name)

    def _open(self, skill: Skill, origin: Path | None) -> None:
        self._desk.editing.open(self._desk.session, skill, origin)
        self._changed()

    def upload(self, name: str, content: bytes) -> None:
        """Begin with a file that the browser sent; nothing is written."""
        text, skill = parse_upload(name, content)
        self._open(skill, None)
        self._document.adopt_formatting(text)
        self._desk.notify("Loaded", skill.full_name)

    def download(self) -> tuple[str, bytes]:
        """File name and content of the skill that is being edited."""
        return f"{self._document.skill.name}.yaml", self._document.text().encode()

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of it."""
        for folder in self._folders:
            set_if_changed(folder, visible, "visible")

    def refresh(self) -> None:
        """Show the differences and the files in the folder."""
        document = self._document
        if document is not self._named:  # another skill: suggest a name for it
            self._named, own = document, document.origin is not None and document.origin.parent == self._desk.folder
            set_if_changed(self._name, document.skill.name if own else f"my-{document.skill.name}"[:63])
        versions = document.saved, document.skill
        if self._compared is None or any(new is not old for new, old in zip(versions, self._compared, strict=True)):
            self._compared = versions
            set_if_changed(self._table, difference_table(document), "content")
        set_if_changed(self._compare, self._desk.editing.comparing)
        if time.monotonic() - self._looked > _LOOK:
            self._looked = time.monotonic()
            set_if_changed(self._files, tuple(list_files(self._desk.folder, SUFFIXES)) or (_NONE,), "options")


def parse_upload(name: str, content: bytes) -> tuple[str, Skill]:
    """Text and skill of an uploaded file; an error names the line."""
    label = Path(name).name[:60] or "the file"
    if len(content) > files.MAX_BYTES:
        raise SkillError(f"{label}: a skill file has at most {files.MAX_BYTES // 1024} kB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillError(f"{label}: not UTF-8 text (byte {error.start})") from None
    return text, files.validate(files.parse(text, label), label)


def difference_table(document: SkillDocument) -> str:
    """The differences from the saved version, as a Markdown table."""
    found = document.differences()
    if not found:
        return "As saved."
    lines = ["| value | saved | now |", "|---|---|---|"]
    for path, old, new in found[:_ROWS]:
        turn = ".targets." in path or path.rpartition(".")[2].startswith("torso")
        lines.append(f"| {_worded(path)} | {_shown(old, turn)} | {_shown(new, turn)} |")
    more = f"\n\n… and {len(found) - _ROWS} more." if len(found) > _ROWS else ""
    return "\n".join(lines) + more


def _worded(path: str) -> str:
    """A dotted path in words: `state 0: swing hip`."""
    found = re.fullmatch(r"states\.(\d+)\.(?:targets\.)?(.*)", path)
    words = f"state {found[1]}: {found[2]}" if found else path
    return words.replace("_", " ").replace(".", " ")


def _shown(value: Any, is_angle: bool) -> str:
    if isinstance(value, float):
        return f"{math.degrees(value):.1f}°" if is_angle else f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return " ".join(_shown(item, is_angle) for item in value)[:40]
    return "–" if value is None else str(value)[:40].replace("|", "/")
