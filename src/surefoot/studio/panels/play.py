"""Time: run and stop, slower and faster, back over the last minute and on from there."""

from __future__ import annotations

import viser

from surefoot.studio.panels.panel import Desk, put

_RATES = {"1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0}


class Play:
    """Above all tabs, always in sight."""

    title = "Play"

    def build(self, desk: Desk) -> None:
        """Add status, buttons and timeline."""
        self._desk, gui = desk, desk.server.gui
        self._status = gui.add_markdown("")
        self._run = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE, hint="Space")
        self._buttons = gui.add_button_group("Time", ("Step", "Restart", "Before the fall"))
        self._ago = gui.add_slider(
            "Seconds ago", min=-60.0, max=0.0, step=0.05, initial_value=0.0,
            hint="Drag to look back over the last minute; Run goes on from there.",
        )  # fmt: skip
        self._rate = gui.add_dropdown("Speed of time", tuple(_RATES), initial_value="1")
        self._run.on_click(lambda _: desk.post(self.toggle))
        self._rate.on_update(lambda _: desk.post(lambda: desk.session.set_rate(_RATES[self._rate.value])))
        actions = {
            "Step": desk.session.frame, "Restart": desk.session.restart, "Before the fall": desk.session.before_fall,
        }  # fmt: skip
        self._buttons.on_click(lambda _: desk.post(actions[self._buttons.value]))

        @self._ago.on_update
        def _(event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
            if event.client is not None:  # moved by a person, not by us
                ago = -self._ago.value
                desk.post(lambda: desk.session.look(ago))

        for label, key, action in (("Run or stop", "P", self.toggle), ("Step", "N", desk.session.frame),
                                   ("Restart", "R", desk.session.restart)):  # fmt: skip
            command = gui.add_command(label, hotkey=key)  # type: ignore[arg-type]
            command.on_trigger(lambda _, action=action: desk.post(action))  # type: ignore[misc]

    def toggle(self) -> None:
        """Run or stop."""
        session = self._desk.session
        if session.paused:
            session.play()
        else:
            session.paused = True

    def renew(self) -> None:
        """Nothing here depends on the body."""

    def refresh(self) -> None:
        """Show the time and how it goes."""
        session = self._desk.session
        sim = session.sim
        wording = "looking back" if session.shown else "paused" if session.paused else "running"
        if sim.fallen:
            wording = f"**fell at {sim.fallen_at:.1f} s** ({sim.fall_cause})"
        text = f"**{sim.skill.full_name}** · {sim.time:.1f} s · {wording}"
        if sim.requested:
            text += f" · waiting for **{sim.requested.name}**"
        put(self._status, text, "content")
        put(self._run, "Run" if session.paused else "Pause", "label")
        put(self._run, viser.Icon.PLAYER_PLAY if session.paused else viser.Icon.PLAYER_PAUSE, "icon")
        if session.shown is None:
            put(self._ago, 0.0)
