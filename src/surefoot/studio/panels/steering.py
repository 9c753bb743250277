"""What the running skill can be told: a slider a command, live; keys to turn."""

from __future__ import annotations

import math
import time
from typing import Any

import viser

from surefoot import commands
from surefoot.kit import Kit
from surefoot.native.memory import Row
from surefoot.skills.imitation import ImitationParameters
from surefoot.skills.schema import Skill
from surefoot.studio.panels.panel import Desk, put

TURN = 15.0  # [°] by a key
_HELD = 0.4  # [s] after a person moved a slider, in which it is not moved by us
_FINE = 150.0  # steps of a slider, about
_HINTS = {
    "speed": "How fast it walks ahead.", "heading": "Where it walks to; positive is to the left. Keys X and C turn it.",
    "lean": "Of the trunk; forward is negative.", "sideways": "Positive goes to the left.",
    "width": "How far apart the legs are.", "slope": "Of the ground ahead; positive is uphill.",
    "lift": "How high the feet are raised.", "step_time": "How long a step takes.",
    "step_height": "How high the foot is raised.", "step_width": "How far apart the feet are set.",
    "stop": "Stand still; it walks on when this is off.", "crouch": "Of the legs' length, that it uses.",
    "pull": "With which the world holds it back; negative, drives it on.",
}  # fmt: skip


class Steering:
    """A part of the walk tab."""

    title = "Commands"

    def build(self, desk: Desk) -> None:
        """Add the place for sliders, and the keys."""
        self._desk, self._gui = desk, desk.server.gui
        self._known: tuple[object, ...] = ()
        self._sliders: dict[str, Any] = {}
        self._touched = dict[str, float]()
        self._folder = self._gui.add_folder("Commands")
        with self._folder:
            self._none = self._gui.add_markdown("This skill takes no commands.", visible=False)
            self._release = self._gui.add_button_group(
                "Let go of", ("all",), visible=False, hint="Leave it to the skill again.", order=1e9
            )
        self._release.on_click(lambda event: desk.post(lambda name=event.target.value: self.release(name)))  # type: ignore[misc]
        for label, key, angle in (("Turn left", "X", TURN), ("Turn right", "C", -TURN)):
            command = self._gui.add_command(f"{label} by {TURN:g}°", hotkey=key)  # type: ignore[arg-type]
            command.on_trigger(lambda _, angle=angle: desk.post(lambda: self.turn(angle)))  # type: ignore[misc]

    @property
    def _now(self) -> tuple[Kit, Row, Skill]:
        sim = self._desk.session.sim
        return sim.scene.kit(sim.skill), sim.memory, sim.skill

    def tell(self, name: str, value: float) -> None:
        """Set a command, as written (angles in degrees)."""
        kit, _, _ = self._now
        low, high = commands.written_range(kit, name)
        self._desk.session.sim.command(**{name: commands.taken(kit, name, min(max(value, low), high))})

    def turn(self, angle: float) -> None:
        """Turn by some degrees to the left, if the skill can be told where to go."""
        kit, row, skill = self._now
        for name in skill.commands:
            if commands.is_direction(kit, name):
                self.tell(name, math.remainder(value_of(kit, row, skill, name) + angle, 360.0))

    def release(self, label: str) -> None:
        """Leave a command to the skill again, by what it is called on the page; `all` of them."""
        kit, row, skill = self._now
        for name in skill.commands:
            if label in ("all", _label(name)):
                kit.release(row, skill, name)

    def renew(self) -> None:
        """Have the sliders of the skill that runs; nothing happens if it takes the same commands."""
        kit, _, skill = self._now
        known = (tuple(skill.commands), *((kit.ranges[name], kit.units[name]) for name in skill.commands))
        if known != self._known:
            self._known = known
            for slider in self._sliders.values():
                slider.remove()
            with self._folder:
                self._sliders = {name: self._added(kit, name) for name in skill.commands}
            put(self._none, not skill.commands, "visible")
        self.refresh()

    def _added(self, kit: Kit, name: str) -> Any:
        """A slider, or a box to tick for what is on or off."""
        hint, unit = _HINTS.get(name), kit.units[name]
        if not unit and kit.ranges[name] == (0.0, 1.0):
            handle: Any = self._gui.add_checkbox(_label(name), False, hint=hint)
        else:
            low, high = limits(kit, name)
            handle = self._gui.add_slider(
                f"{_label(name)} ({unit})" if unit else _label(name), min=low, max=high, step=step_of(low, high),
                initial_value=min(max(0.0, low), high), hint=hint,
            )  # fmt: skip

        @handle.on_update  # type: ignore[untyped-decorator]
        def _(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None:
                self._touched[name] = time.monotonic()
                value = float(event.target.value)
                self._desk.post(lambda: self.tell(name, value))

        return handle

    def refresh(self) -> None:
        """Show what it was told, or what the skill does by itself."""
        kit, row, skill = self._now
        for name, slider in self._sliders.items():
            if time.monotonic() - self._touched.get(name, -math.inf) < _HELD:
                continue
            value = value_of(kit, row, skill, name)
            if isinstance(slider, viser.GuiSliderHandle):
                value = min(max(value, slider.min), slider.max)
                if abs(value - slider.value) > 0.5 * slider.step:
                    put(slider, round(round(value / slider.step) * slider.step, 6))
            else:
                put(slider, bool(value))
        told = [_label(name) for name in skill.commands if kit.told(row, skill, name) is not None]
        if told:
            put(self._release, (*told, "all") if len(told) > 1 else tuple(told), "options")
        put(self._release, bool(told), "visible")


def value_of(kit: Kit, row: Row, skill: Skill, name: str) -> float:
    """What a command is, as written: what was told, else what the skill says it does, else what it did."""
    told = kit.told(row, skill, name)
    if told is None:
        said = (_said(skill, name), getattr(skill.measured, name, None))
        told = next((float(value) for value in said if isinstance(value, (int, float))), None)
    if told is None:
        told = float(getattr(skill.start, name, 0.0)) if commands.is_direction(kit, name) else 0.0
    return commands.written(kit, name, told)


def _said(skill: Skill, name: str) -> Any:
    """What the skill's parameters say of a command; a captured gait's speed is that of its cycle."""
    parameters = skill.parameters
    if name == "speed" and isinstance(parameters, ImitationParameters):
        return parameters.cycle.travel[0] * parameters.tempo / parameters.cycle.period
    return getattr(parameters, name, None)


def limits(kit: Kit, name: str) -> tuple[float, float]:
    """Of a slider: those of the command, a whole turn for a direction."""
    if commands.is_direction(kit, name):
        return -180.0, 180.0
    low, high = commands.written_range(kit, name)
    step = step_of(low, high)
    return round(math.ceil(low / step - 1e-9) * step, 6), round(math.floor(high / step + 1e-9) * step, 6)


def step_of(low: float, high: float) -> float:
    """A round number of which a range has about a hundred."""
    rough = (high - low) / _FINE
    ten = 10.0 ** math.floor(math.log10(rough))
    return float(next(ten * n for n in (1.0, 2.0, 5.0, 10.0) if ten * n >= 0.99 * rough))


def _label(name: str) -> str:
    return name.replace("_", " ")
