"""The first tab: which skill runs, its commands, the terrain, and the view.

All lists come from the registries, so skills, terrains and controllers of other packages appear by themselves; every
command of a controller gets a slider, or a box to tick if it is a switch.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import viser

from surefoot.controllers.command import Command
from surefoot.engine import commands
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, SurefootError, TerrainError
from surefoot.skills import names, summary
from surefoot.studio.panels.panel import (
    Panel,
    PanelContext,
    checked_choice,
    hotkey,
    on_click,
    on_user_change,
    set_if_changed,
)
from surefoot.studio.stage import VIEWS
from surefoot.terrains import Parameter, parameters
from surefoot.terrains import names as terrain_names

KEYS = 9
_SWITCH, _BEGIN = "Switch while it walks", "Begin with it"
_NONE = "none"


class SkillControls(Panel):
    """Every skill this body can do, to switch to while it walks or to begin with."""

    def build(self, desk: PanelContext) -> None:
        """Add the list, the description of the chosen skill, and the buttons."""
        self._desk, gui = desk, desk.server.gui
        self._known: dict[str, str] = {}  # full names by their names in the list
        self._shown = ""
        self._list: viser.GuiDropdownHandle[str] = gui.add_dropdown(
            "Skill", (_NONE,), hint="All that this body can do."
        )
        self._about = gui.add_markdown("")
        buttons = gui.add_button_group(
            "", (_SWITCH, _BEGIN), hint="A switch happens at the next step; beginning puts the figure at the start."
        )
        self._waiting = gui.add_markdown("", visible=False)
        self._keys = gui.add_markdown("")
        self._list.on_update(lambda _: desk.post(self._describe))
        on_click(desk, buttons, lambda pressed: self.press(pressed, self._list.value))
        self._commands = [hotkey(desk, f"Skill {i + 1}", str(i + 1), partial(self.switch_to, i)) for i in range(KEYS)]

    def press(self, button: str, name: str) -> None:
        """Switch to a skill of the list or begin with it."""
        full = self._known.get(name)
        if full is None:
            raise CommandError(f"no skill {name!r} in the list")
        if button == _SWITCH:
            self._switch(full)
        else:
            self._desk.session.rebuild(skill=full, character=self._desk.session.character)

    def switch_to(self, index: int) -> None:
        """Switch to one of the first skills of the list."""
        if index < len(self._known):
            self._switch(list(self._known.values())[index])

    def _switch(self, full: str) -> None:
        try:
            self._desk.session.sim.switch(full)
        except SurefootError as error:
            raise CommandError(f"{error}. “{_BEGIN}” starts it anew.") from None
        self.refresh()

    def reload(self) -> None:
        """List what this body can do, and choose what it does."""
        sim = self._desk.session.sim
        self._known = short_names(names(sim.scene.table.name), sim.scene.table.name)
        labels = tuple(self._known)
        set_if_changed(self._list, labels, "options")
        if sim.skill.full_name != self._shown:
            self._shown = sim.skill.full_name
            here = [label for label, full in self._known.items() if full == self._shown]
            set_if_changed(self._list, here[0] if here else self._list.value)
        keys = " · ".join(f"**{i + 1}** {name}" for i, name in enumerate(labels[:KEYS]))
        set_if_changed(self._keys, f"Keys: {keys}", "content")
        for i, command in enumerate(self._commands):
            set_if_changed(command, f"Switch to {labels[i]}" if i < len(labels) else f"Skill {i + 1}", "label")
            set_if_changed(command, i >= len(labels), "disabled")
        self._describe()

    def _describe(self) -> None:
        full = self._known.get(self._list.value, _NONE)
        set_if_changed(self._about, summary(full) if full in names() else "A skill of your own.", "content")

    def refresh(self) -> None:
        """Show which switch is waiting."""
        requested = self._desk.session.sim.requested
        if requested:
            set_if_changed(self._waiting, f"⏳ **{requested.name}** begins at the next step that allows it.", "content")
        set_if_changed(self._waiting, requested is not None, "visible")


def short_names(found: tuple[str, ...], body: str) -> dict[str, str]:
    """Full names by short ones, a body's own skills first; equal short names get their family's name added."""
    ordered = sorted(found, key=lambda full: full.partition("/")[0] != body)
    count = Counter(full.partition("/")[2] for full in found)
    short = {}
    for full in ordered:
        family, _, name = full.partition("/")
        short[name if count[name] == 1 or family == body else f"{name} ({family})"] = full
    return short or {_NONE: _NONE}


TURN = 15.0  # [°] by a key
_HELD = 0.4  # [s] after a person moved a slider, in which the program does not move it
_FINE = 150.0  # steps of a slider, about
_COMMAND_HINTS = {
    "speed": "How fast it walks ahead.", "heading": "Where it walks to; positive is to the left. Keys X and C turn it.",
    "lean": "Of the trunk; forward is negative.", "sideways": "Positive goes to the left.",
    "width": "How far apart the legs are.", "slope": "Of the ground ahead; positive is uphill.",
    "lift": "How high the feet are raised.", "step_time": "How long a step takes.",
    "step_height": "How high the foot is raised.", "step_width": "How far apart the feet are set.",
    "stop": "Stand still; it walks on when this is off.", "crouch": "Share of the legs' length that it uses.",
    "pull": "Force that holds it back; negative drives it on.",
}  # fmt: skip


class CommandControls(Panel):
    """The commands of the running skill: a live slider for each, and keys to turn."""

    def build(self, desk: PanelContext) -> None:
        """Add the folder for sliders, and the keys."""
        self._desk, self._gui = desk, desk.server.gui
        self._known: Mapping[str, Command] | None = None
        self._sliders: dict[str, Any] = {}
        self._touched = dict[str, float]()
        self._folder = self._gui.add_folder("Commands")
        with self._folder:
            self._none = self._gui.add_markdown("This skill takes no commands.", visible=False)
            self._release = self._gui.add_button_group(
                "Let go of", ("all",), visible=False, hint="Leave it to the skill again.", order=1e9
            )
        on_click(desk, self._release, self.clear_command)
        for label, key, angle in (("Turn left", "X", TURN), ("Turn right", "C", -TURN)):
            hotkey(desk, f"{label} by {TURN:g}°", key, partial(self.turn, angle))

    @property
    def _now(self) -> tuple[Simulation, Mapping[str, Command]]:
        sim = self._desk.session.sim
        return sim, commands.known(sim.scene, sim.skill)

    def set_command(self, name: str, value: float) -> None:
        """Set a command in the unit that people write (angles in degrees)."""
        sim, known = self._now
        command = known[name]
        low, high = command.written_limits
        sim.command(**{name: command.from_written(name, min(max(value, low), high))})

    def turn(self, angle: float) -> None:
        """Turn by some degrees to the left, if the skill takes a direction."""
        sim, known = self._now
        for name, command in known.items():
            if command.is_direction:
                self.set_command(name, math.remainder(command_value(sim, name) + angle, 360.0))

    def clear_command(self, label: str) -> None:
        """Leave a command to the skill again, by its label on the page; `all` clears all of them."""
        sim, known = self._now
        for name in known:
            if label in ("all", _label(name)):
                commands.clear(sim.scene, sim.memory, sim.skill, name)

    def reload(self) -> None:
        """Show the sliders of the running skill; they stay if it takes the same commands."""
        _, known = self._now
        if known != self._known:
            self._known = known
            for slider in self._sliders.values():
                slider.remove()
            with self._folder:
                self._sliders = {name: self._add(name, command) for name, command in known.items()}
            set_if_changed(self._none, not known, "visible")
        self.refresh()

    def _add(self, name: str, command: Command) -> Any:
        """A slider, or a box to tick for a switch."""
        hint, unit = _COMMAND_HINTS.get(name), command.unit
        if not unit and command[1:] == (0.0, 1.0):
            handle: Any = self._gui.add_checkbox(_label(name), False, hint=hint)
        else:
            low, high = slider_limits(command)
            handle = self._gui.add_slider(
                f"{_label(name)} ({unit})" if unit else _label(name), min=low, max=high, step=slider_step(low, high),
                initial_value=min(max(0.0, low), high), hint=hint,
            )  # fmt: skip
        touch: Callable[[], object] = lambda: self._touched.__setitem__(name, time.monotonic())  # noqa: E731
        on_user_change(self._desk, handle, lambda value: self.set_command(name, float(value)), touch)
        return handle

    def refresh(self) -> None:
        """Show the commands that were set, and otherwise what the skill does by itself."""
        sim, known = self._now
        for name, slider in self._sliders.items():
            if time.monotonic() - self._touched.get(name, -math.inf) < _HELD:
                continue
            value = command_value(sim, name)
            if isinstance(slider, viser.GuiSliderHandle):
                value = min(max(value, slider.min), slider.max)
                if abs(value - slider.value) > 0.5 * slider.step:
                    set_if_changed(slider, round(round(value / slider.step) * slider.step, 6))
            else:
                set_if_changed(slider, bool(value))
        told = partial(commands.told, sim.scene, sim.memory, sim.skill)
        given = [_label(name) for name in known if told(name) is not None]
        if given:
            set_if_changed(self._release, (*given, "all") if len(given) > 1 else tuple(given), "options")
        set_if_changed(self._release, bool(given), "visible")


def command_value(sim: Simulation, name: str) -> float:
    """A command as people write it: what was set, else what the skill's parameters say, else what was measured."""
    skill, command = sim.skill, commands.known(sim.scene, sim.skill)[name]
    value = commands.told(sim.scene, sim.memory, skill, name)
    if value is None:
        known = (sim.scene.controller(skill).usual_command(skill, name), getattr(skill.measured, name, None))
        value = next((float(found) for found in known if isinstance(found, (int, float))), None)
    if value is None:
        value = float(getattr(skill.start, name, 0.0)) if command.is_direction else 0.0
    return command.to_written(value)


def slider_limits(command: Command) -> tuple[float, float]:
    """Limits of a command's slider: those of the command, or a whole turn for a direction."""
    if command.is_direction:
        return -180.0, 180.0
    low, high = command.written_limits
    step = slider_step(low, high)
    return round(math.ceil(low / step - 1e-9) * step, 6), round(math.floor(high / step + 1e-9) * step, 6)


def slider_step(low: float, high: float) -> float:
    """A round number that divides a range into about a hundred steps."""
    rough = (high - low) / _FINE
    ten = 10.0 ** math.floor(math.log10(rough))
    return float(next(ten * n for n in (1.0, 2.0, 5.0, 10.0) if ten * n >= 0.99 * rough))


def _label(name: str) -> str:
    return name.replace("_", " ")


_TERRAIN_EXAMPLES = {  # for numbers without a default: something one can walk on
    "angle": "4", "rise": "0.06", "run": "0.4", "count": "8", "seed": "7", "amplitude": "0.02",
    "places and rises": "2, 0.05, 4, -0.05", "path": "hills.png", "size": "20", "height": "0.3", "width": "0.2",
}  # fmt: skip
_TERRAIN_HINTS = {
    "places and rises": "Pairs: where along the way, and how far the ground rises there (m).",
    "path": "A grey PNG picture in the studio's folder: white is high.",
    "seed": "Another number gives another ground.", "direction": "Where it rises to; 0 is straight ahead.",
}  # fmt: skip


class TerrainControls(Panel):
    """The terrain: a kind, and its numbers."""

    def build(self, desk: PanelContext) -> None:
        """Add the list of kinds, the folder for their numbers, and the button."""
        self._desk, gui = desk, desk.server.gui
        self._fields: dict[str, Any] = {}
        self._shown = ""  # the description whose numbers were last put into the fields
        self._folder = gui.add_folder("Ground")
        with self._folder:
            self._kind = gui.add_dropdown("Kind", terrain_names(), initial_value="flat")
            put = gui.add_button(
                "Put it there", icon=viser.Icon.STAIRS_UP, order=1e9, hint="Begins again, on this ground."
            )
        on_user_change(desk, self._kind, self.show_kind)
        put.on_click(lambda _: desk.post(self.apply_terrain))

    def show_kind(self, kind: str) -> None:
        """Show the numbers of a kind of terrain."""
        set_if_changed(self._kind, checked_choice(terrain_names(), kind))
        for field in self._fields.values():
            field.remove()
        with self._folder:
            self._fields = {p.name: self._add(p) for p in parameters(kind)}

    def _add(self, parameter: Parameter) -> Any:
        gui, hint = self._desk.server.gui, _TERRAIN_HINTS.get(parameter.name)
        label = parameter.name + (f" ({parameter.unit})" if parameter.unit else "")
        first = _TERRAIN_EXAMPLES.get(parameter.name, "1") if parameter.default is None else parameter.default
        if parameter.kind is str:
            return gui.add_text(label, str(first), hint=hint)
        if parameter.kind is int:
            return gui.add_number(label, int(first), step=1, hint=hint)
        return gui.add_number(label, float(first), step=0.5 if parameter.unit == "°" else 0.01, hint=hint)

    def apply_terrain(self) -> None:
        """Begin again on the chosen terrain, with the running skill."""
        session = self._desk.session
        values = [self._checked(name, field.value) for name, field in self._fields.items()]
        text = checked_choice(terrain_names(), self._kind.value) + (":" + ",".join(values) if values else "")
        session.rebuild(terrain=text, skill=session.sim.skill, character=session.character)

    def _checked(self, name: str, value: object) -> str:
        """A field's text; files are read only from the studio's folder."""
        if name != "path":
            return f"{value:.10g}" if isinstance(value, float) else str(value).replace(" ", "")
        folder = self._desk.folder.resolve()
        path = (folder / str(value)).resolve()
        if not path.is_relative_to(folder):
            raise TerrainError(f"a picture lies in {folder}, got {str(value)!r}")
        return str(path)

    def reload(self) -> None:
        """Show the terrain that there is."""
        description = self._desk.session.sim.scene.terrain.description
        kind = description.partition(":")[0]
        if kind in terrain_names() and description != self._shown:
            self._shown = description
            self.show_kind(kind)
            for name, value in parse_description(description).items():
                set_if_changed(self._fields[name], value)


def parse_description(description: str) -> dict[str, float | int | str]:
    """The values in a terrain's description by their names, without those that were left out."""
    kind, _, rest = description.partition(":")
    taken = parameters(kind)
    if len(taken) == 1:
        return {taken[0].name: rest.replace(",", ", ")}
    words = rest.split(",") if rest else []
    if taken and taken[0].kind is str:  # a path, which may have commas of its own
        words = rest.rsplit(",", len(taken) - 1)
    return {p.name: p.kind(float(word) if p.kind is int else word) for p, word in zip(taken, words, strict=False)}


class WalkTab(Panel):
    """Skill, commands, terrain and view."""

    title = "Walk"

    def __init__(self) -> None:
        """Make the parts."""
        self.skills, self.steering, self.ground = SkillControls(), CommandControls(), TerrainControls()
        self._parts: tuple[Panel, ...] = (self.skills, self.steering, self.ground)

    def build(self, desk: PanelContext) -> None:
        """Add the parts and the view."""
        gui, stage = desk.server.gui, desk.stage
        for part in self._parts:
            part.build(desk)
        with gui.add_folder("View"):
            views = gui.add_button_group("From", tuple(view.capitalize() for view in VIEWS))
            follow = gui.add_checkbox("Follow", True, hint="The camera goes with the figure.")
            shadows = gui.add_checkbox("Shadows", True, hint="Switch them off if the picture is not smooth.")
        on_click(desk, views, lambda view: stage.look_from(view.lower()))
        follow.on_update(lambda _: desk.post(lambda: setattr(stage, "follows", follow.value)))
        shadows.on_update(lambda _: desk.post(lambda: stage.set_shadows(shadows.value)))

    def reload(self) -> None:
        """Show the skill, body and terrain that there are now."""
        for part in self._parts:
            part.reload()

    def refresh(self) -> None:
        """Show the present moment."""
        for part in self._parts:
            part.refresh()
