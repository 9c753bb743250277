"""Which skill: every one this body can do, to switch to while it walks or to begin with."""

from __future__ import annotations

from collections import Counter

import viser

from surefoot.errors import CommandError, SurefootError
from surefoot.skills import load, names
from surefoot.studio.panels.panel import Desk, put

KEYS = 9
_SWITCH, _BEGIN = "Switch while it walks", "Begin with it"
_NONE = "none"


class SkillChoice:
    """A part of the walk tab."""

    title = "Skill"

    def build(self, desk: Desk) -> None:
        """Add the list, what is said about the chosen one, and the buttons."""
        self._desk, gui = desk, desk.server.gui
        self._known: dict[str, str] = {}  # full names by what the list calls them
        self._shown = ""
        self._list: viser.GuiDropdownHandle[str] = gui.add_dropdown(
            "Skill", (_NONE,), hint="All that this body can do."
        )
        self._about = gui.add_markdown("")
        self._buttons = gui.add_button_group(
            "", (_SWITCH, _BEGIN), hint="A switch happens at the next step; beginning puts the figure at the start."
        )
        self._waiting = gui.add_markdown("", visible=False)
        self._keys = gui.add_markdown("")
        self._list.on_update(lambda event: desk.post(self._describe))
        self._buttons.on_click(
            lambda event: desk.post(lambda pressed=event.target.value: self.press(pressed, self._list.value))  # type: ignore[misc]
        )
        self._commands = []
        for i in range(KEYS):
            command = gui.add_command(f"Skill {i + 1}", hotkey=str(i + 1))  # type: ignore[arg-type]
            command.on_trigger(lambda _, i=i: desk.post(lambda: self.switch_to(i)))  # type: ignore[misc]
            self._commands.append(command)

    def press(self, button: str, name: str) -> None:
        """Switch to a skill of the list or begin with it."""
        full = self._known.get(name)
        if full is None:
            raise CommandError(f"no skill {name!r} in the list")
        self._switch(full) if button == _SWITCH else begin(self._desk, full)

    def switch_to(self, place: int) -> None:
        """Switch to one of the first skills of the list."""
        if place < len(self._known):
            self._switch(list(self._known.values())[place])

    def _switch(self, full: str) -> None:
        try:
            self._desk.session.sim.switch(full)
        except SurefootError as error:
            raise CommandError(f"{error}. “{_BEGIN}” starts it anew.") from None
        self.refresh()

    def renew(self) -> None:
        """List what this body can do, and choose what it does."""
        sim = self._desk.session.sim
        self._known = listed(names(sim.scene.table.name), sim.scene.table.name)
        labels = tuple(self._known)
        put(self._list, labels, "options")
        if sim.skill.full_name != self._shown:
            self._shown = sim.skill.full_name
            here = [label for label, full in self._known.items() if full == self._shown]
            put(self._list, here[0] if here else self._list.value)
        first = labels[:KEYS]
        put(self._keys, "Keys: " + " · ".join(f"**{i + 1}** {name}" for i, name in enumerate(first)), "content")
        for i, command in enumerate(self._commands):
            put(command, f"Switch to {first[i]}" if i < len(first) else f"Skill {i + 1}", "label")
            put(command, i >= len(first), "disabled")
        self._describe()

    def _describe(self) -> None:
        full = self._known.get(self._list.value)
        put(self._about, load(full).summary if full in names() else "A skill of your own.", "content")

    def refresh(self) -> None:
        """Show which switch is waiting."""
        requested = self._desk.session.sim.requested
        if requested:
            put(self._waiting, f"⏳ **{requested.name}** begins at the next step that allows it.", "content")
        put(self._waiting, requested is not None, "visible")


def listed(found: tuple[str, ...], body: str) -> dict[str, str]:
    """Full names by short ones, those of the body itself first; two of the same name are told apart.

    Args:
        found: full names.
        body: whose own skills come first.
    """
    ordered = sorted(found, key=lambda full: full.partition("/")[0] != body)
    count = Counter(full.partition("/")[2] for full in found)
    short = {}
    for full in ordered:
        family, _, name = full.partition("/")
        short[name if count[name] == 1 or family == body else f"{name} ({family})"] = full
    return short or {_NONE: _NONE}


def begin(desk: Desk, full: str) -> None:
    """Begin again with a skill, with the same body on the same ground."""
    session = desk.session
    session.rebuild(skill=full, character=session.setup.character or session.sim.scene.table.name)
