"""Playback: run and pause, slower and faster, back over the last minute and on from there."""

from __future__ import annotations

import math
import time

import viser

from surefoot.errors import CommandError
from surefoot.studio.panels.panel import Panel, PanelContext, hotkey, on_click, on_user_change, set_if_changed
from surefoot.studio.session import Session

RATES = {"1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0}
_STEP, _RESTART, _BEFORE = "Step", "Restart", "Before the fall"
_BUTTONS = (_STEP, _RESTART)
_HELD = 0.4  # [s] after a person moved the slider, in which the program does not move it
_NEAR = 0.1  # [s] within which the slider shows the moment well enough
_COARSE = 5.0  # [s] by which the timeline's slider grows while the first minute passes


class PlaybackPanel(Panel):
    """Status, buttons and timeline above all tabs, always visible."""

    title = "Play"

    def build(self, desk: PanelContext) -> None:
        """Add status, buttons and timeline."""
        self._desk, gui = desk, desk.server.gui
        self._touched = -math.inf
        self._status = gui.add_markdown("")
        self._run = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE, hint="Keys: space or P")
        self._buttons = gui.add_button_group(
            "Time", _BUTTONS, hint="Step advances by a sixtieth of a second (key N), Restart begins again (key R)."
        )
        self._ago = gui.add_slider(
            "Look back (s)", min=-_COARSE, max=0.0, step=0.05, initial_value=0.0,
            hint="Drag to look back over the last minute; Run continues from there.",
        )  # fmt: skip
        self._rate = gui.add_dropdown(
            "Speed of time", tuple(RATES), initial_value="1", hint="1 is real time, 1/10 is slow motion."
        )
        self._run.on_click(lambda _: desk.post(self.toggle))
        on_click(desk, self._buttons, self.press)
        on_user_change(desk, self._rate, lambda name: desk.session.set_rate(RATES[name]))
        on_user_change(desk, self._ago, lambda ago: desk.session.look_back(-ago), self._touch)
        hotkey(desk, "Run or pause", "space", self.toggle)
        hotkey(desk, "Run or pause, by letter", "P", self.toggle)
        hotkey(desk, "Step", "N", lambda: self.press(_STEP))
        hotkey(desk, "Restart", "R", lambda: self.press(_RESTART))

    def _touch(self) -> None:
        self._touched = time.monotonic()

    def press(self, button: str) -> None:
        """Do what a button says; `Step` pauses first."""
        session = self._desk.session
        if button == _STEP:
            session.paused = True
            session.step_frame()
        elif button == _RESTART:
            session.restart()
        elif button == _BEFORE:
            session.rewind_before_fall()
        else:
            raise CommandError(f"no button {button!r}; valid: {', '.join((*_BUTTONS, _BEFORE))}")

    def toggle(self) -> None:
        """Run or pause."""
        session = self._desk.session
        if session.paused:
            session.play()
        else:
            session.paused = True

    def refresh(self) -> None:
        """Show status, speed and the moment on the timeline."""
        session = self._desk.session
        set_if_changed(self._status, status(session), "content")
        set_if_changed(self._run, "Run from here" if session.shown else "Run" if session.paused else "Pause", "label")
        set_if_changed(self._run, viser.Icon.PLAYER_PLAY if session.paused else viser.Icon.PLAYER_PAUSE, "icon")
        set_if_changed(self._buttons, (*_BUTTONS, _BEFORE) if session.sim.fallen else _BUTTONS, "options")
        rate = next((text for text, rate in RATES.items() if rate == session.rate), self._rate.value)
        set_if_changed(self._rate, rate)
        span = min(max(math.ceil(session.timeline.span / _COARSE), 1) * _COARSE, session.timeline.seconds)
        if session.shown is None:
            set_if_changed(self._ago, 0.0)
            set_if_changed(self._ago, -span, "min")
        elif time.monotonic() - self._touched > _HELD:
            ago = session.clock - session.shown.clock
            if abs(ago + self._ago.value) > _NEAR:
                set_if_changed(self._ago, max(round(-ago, 2), self._ago.min))


def status(session: Session) -> str:
    """One line of Markdown: the skill, the time, and whether it runs, is paused or has fallen."""
    sim = session.sim
    if sim.fallen:
        how = f"**fell at {sim.fallen_at:.1f} s** ({sim.fall_cause})"
    else:
        how = "paused" if session.paused else "running"
    if session.shown is not None:
        ago = session.clock - session.shown.clock
        how = f"looking back **{ago:.1f} s**" + (f", {how}" if sim.fallen else "")
    text = f"**{sim.skill.name}** · {sim.time:.1f} s · {how}"
    return text + (f" · then **{sim.requested.name}**" if sim.requested else "")
