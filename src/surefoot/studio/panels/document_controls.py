"""Taking changes back, comparing with what was saved, saving and loading: the same for every editor of skills."""

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
from surefoot.studio.panels.panel import PanelContext, list_files, safe_path, set_if_changed
from surefoot.studio.skill_document import SkillDocument

SUFFIXES = (".yaml", ".yml")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_NONE = "none"
_ROWS = 10  # differences that are shown
_LOOK = 2.0  # [s] between looks into the folder


class DocumentControls:
    """A group of controls. Everything but `build` and what it hands to the page runs in the loop's thread."""

    def build(
        self,
        desk: PanelContext,
        document: Callable[[], SkillDocument],
        apply: Callable[[Skill], None],
        load: Callable[[Skill, Path | None], None],
    ) -> None:
        """Add the controls.

        Args:
            desk: of the page.
            document: gives what is being edited.
            apply: lets a version of it run at once.
            load: begins with another skill and its file, if it has one.
        """
        self._desk, self._document, self._apply, self._load = desk, document, apply, load
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
            self._loading = gui.add_button("Load this file", icon=viser.Icon.FOLDER_OPEN)
            self._upload = gui.add_upload_button(
                "Load one from your computer", icon=viser.Icon.UPLOAD, mime_type=",".join(SUFFIXES)
            )
        self._listen()

    def _listen(self) -> None:
        desk, steps = self._desk, {"Undo": self.undo, "Redo": self.redo, "As saved": self.reset}
        self._steps.on_click(lambda _: desk.post(steps[self._steps.value]))
        self._loading.on_click(lambda _: desk.post(lambda: self.load(self._files.value)))
        if not desk.editing.has_keys:  # one pair for all editors: they share the document
            desk.editing.has_keys = True
            undo = desk.server.gui.add_command("Undo the last change", hotkey="Z", modifier="cmd/ctrl")
            redo = desk.server.gui.add_command("Do it again", hotkey="Z", modifier="cmd/ctrl+shift")
            undo.on_trigger(lambda _: desk.post(self.undo))
            redo.on_trigger(lambda _: desk.post(self.redo))

        @self._compare.on_update
        def _(event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
            if event.client is not None:
                on = self._compare.value
                desk.post(lambda: self.compare(on))

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

    def undo(self) -> None:
        """Take the last change back."""
        self._apply(self._document().undo())

    def redo(self) -> None:
        """Do again what was taken back."""
        self._apply(self._document().redo())

    def reset(self) -> None:
        """Go back to what was saved; that can be taken back."""
        self._apply(self._document().reset())

    def compare(self, on: bool) -> None:
        """Let the saved version run, or the edited one again."""
        document = self._document()
        self._apply(document.saved if on else document.skill)

    def save(self, name: str) -> None:
        """Write it into the studio's folder; a file that it did not come from is never overwritten."""
        stem = name.removesuffix(".yaml").removesuffix(".yml")
        if not _NAME.fullmatch(stem):
            raise OutputError(f"a name has small letters, digits and hyphens (slow-walk), got {name[:40]!r}")
        document, path = self._document(), safe_path(self._desk.folder, f"{stem}.yaml", SUFFIXES)
        if path.exists() and path != document.origin:
            raise OutputError(f"there is a file {path.name} already: choose another name, or load it first")
        document.save(path, stem)
        self._apply(document.skill)
        self._looked = -math.inf
        self._desk.say("Saved", path.name, "green")

    def load(self, name: str) -> None:
        """Begin with a file of the studio's folder."""
        if name == _NONE:
            raise OutputError("there is no skill file in the folder yet")
        path = safe_path(self._desk.folder, name, SUFFIXES)
        self._load(files.read(path)[0], path)
        self._desk.say("Loaded", path.name)

    def upload(self, name: str, content: bytes) -> None:
        """Begin with a file that was sent by the browser; nothing is written."""
        text, skill = parse_upload(name, content)
        self._load(skill, None)
        self._document().dress(text)
        self._desk.say("Loaded", skill.full_name)

    def download(self) -> tuple[str, bytes]:
        """File name and content of what is being edited."""
        document = self._document()
        return f"{document.skill.name}.yaml", document.text().encode()

    def show(self, visible: bool) -> None:
        """Show or hide all of it."""
        for folder in self._folders:
            set_if_changed(folder, visible, "visible")

    def refresh(self) -> None:
        """Show what differs, and which files there are."""
        document = self._document()
        if document is not self._named:  # another skill: propose a name of its own
            self._named, own = document, document.origin is not None and document.origin.parent == self._desk.folder
            set_if_changed(self._name, document.skill.name if own else f"my-{document.skill.name}"[:63])
        versions = document.saved, document.skill
        if self._compared is None or any(new is not old for new, old in zip(versions, self._compared, strict=True)):
            self._compared = versions
            set_if_changed(self._table, difference_table(document), "content")
        set_if_changed(self._compare, self._desk.editing.comparing)
        if time.monotonic() - self._looked > _LOOK:
            self._looked = time.monotonic()
            names = tuple(list_files(self._desk.folder, SUFFIXES)) or (_NONE,)
            if tuple(self._files.options) != names:
                self._files.options = names


def parse_upload(name: str, content: bytes) -> tuple[str, Skill]:
    """Text and skill of a file somebody sent; what is wrong with it is said with its line."""
    label = Path(name).name[:60] or "the file"
    if len(content) > files.MAX_BYTES:
        raise SkillError(f"{label}: a skill file has at most {files.MAX_BYTES // 1024} kB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillError(f"{label}: not UTF-8 text (byte {error.start})") from None
    return text, files.validate(files.parse(text, label), label)


def difference_table(document: SkillDocument) -> str:
    """What is not as saved, as Markdown."""
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
    """A dotted path as one would say it: `state 0: swing hip`."""
    found = re.fullmatch(r"states\.(\d+)\.(?:targets\.)?(.*)", path)
    words = f"state {found[1]}: {found[2]}" if found else path
    return words.replace("_", " ").replace(".", " ")


def _shown(value: Any, is_angle: bool) -> str:
    if isinstance(value, float):
        return f"{math.degrees(value):.1f}°" if is_angle else f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return " ".join(_shown(item, is_angle) for item in value)[:40]
    return "–" if value is None else str(value)[:40].replace("|", "/")
