"""Perturbations by hand: drag a limb, push by form or key, throw a ball, rewind to before a fall."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
import viser

from surefoot.errors import CommandError
from surefoot.studio.panels.panel import Panel, PanelContext, hotkey, on_click, set_if_changed
from surefoot.studio.perturbation import MAX_PULL, ForceArrows, Perturbation
from surefoot.studio.session import BALLS, REWIND_SECONDS

_WAYS = {"Forward": ("I", 0.0), "Back": ("K", 180.0), "Left": ("J", 90.0), "Right": ("L", -90.0)}  # key, direction [°]
_SIZES = {f"{name}, {ball.mass:.1f} kg": i for i, (name, ball) in enumerate(BALLS.items())}
_PAUSE = 1.5  # [s] for which one sees it lie before it rewinds by itself


class PushTab(Panel):
    """Pulls, pushes, balls and falls."""

    title = "Push"

    def build(self, desk: PanelContext) -> None:
        """Add the forms, the keys and the arrows."""
        self._desk, self.hands = desk, Perturbation(desk.session)
        self._holder: int | None = None  # the client whose mouse holds a limb
        self._go_back_at = math.inf
        rewind = desk.session.rewind_before_fall
        self._undo_fall = desk.server.gui.add_button(
            f"{REWIND_SECONDS:g} s before the fall", icon=viser.Icon.ARROW_BACK_UP, visible=False, hint="Key F"
        )
        self._undo_fall.on_click(lambda _: desk.post(rewind))
        hotkey(desk, "Before the fall", "F", rewind)
        self._build_push(desk.server.gui)
        self._build_ball(desk.server.gui)
        self.arrows = ForceArrows(desk.server.scene)
        desk.stage.on_draw(self.arrows.draw)
        desk.stage.on_drag(self._dragged)
        desk.loop.before.append(lambda passed: self.hands.update(desk.stage.origin, passed))

    def _build_push(self, gui: viser.GuiApi) -> None:
        desk = self._desk
        gui.add_markdown("**Drag** a part of the figure to pull it.")
        self._limit = gui.add_slider(
            "Pull at most (N)", min=20.0, max=MAX_PULL, step=10.0, initial_value=self.hands.max_pull,
            hint="How hard dragging with the mouse can pull.",
        )  # fmt: skip
        self._limit.on_update(lambda _: desk.post(self._apply_settings))
        with gui.add_folder("Push"):
            self._newtons = gui.add_slider("Strength (N)", min=10.0, max=1000.0, step=10.0, initial_value=150.0)
            self._lasts = gui.add_slider("Lasts (s)", min=0.05, max=2.0, step=0.05, initial_value=0.2)
            self._part = gui.add_dropdown("Part", ("trunk",), hint="Which part is pushed, in its middle.")
            ways = gui.add_button_group("Now", tuple(_WAYS), hint="Keys I, K, J and L: as seen by the figure.")
            self._turn = gui.add_slider(
                "Direction (°)", min=-180.0, max=180.0, step=5.0, initial_value=0.0,
                hint="Where to: 0 forward, 90 to its left, −90 to its right, 180 back.",
            )  # fmt: skip
            self._rise = gui.add_slider(
                "Upwards (°)", min=-90.0, max=90.0, step=5.0, initial_value=0.0, hint="90 straight up, −90 down."
            )
            self._wait = gui.add_slider("In (s)", min=0.0, max=5.0, step=0.1, initial_value=0.0, hint="Begins then.")
            timed = gui.add_button("Push", icon=viser.Icon.HAND_STOP)
        on_click(desk, ways, self._quick)
        timed.on_click(lambda _: desk.post(self._timed))
        for way, (key, _) in _WAYS.items():
            hotkey(desk, f"Push: {way.lower()}", key, partial(self._quick, way))

    def _build_ball(self, gui: viser.GuiApi) -> None:
        with gui.add_folder("Ball"):
            self._size = gui.add_dropdown("Size", tuple(_SIZES), initial_value=list(_SIZES)[1])
            self._speed = gui.add_slider("Speed (m/s)", min=2.0, max=20.0, step=0.5, initial_value=6.0)
            self._from = gui.add_slider(
                "From (°)", min=-180.0, max=180.0, step=5.0, initial_value=180.0,
                hint="0 from the front, 90 from its left, −90 from its right, 180 from behind.",
            )  # fmt: skip
            button = gui.add_button("Throw", icon=viser.Icon.BALL_BASKETBALL, hint="Key B")
        button.on_click(lambda _: self._desk.post(self._throw))
        hotkey(self._desk, "Throw a ball", "B", self._throw)
        self._returns = gui.add_checkbox(
            "Undo falls", False, hint=f"After a fall it rewinds by itself, to {REWIND_SECONDS:g} s before."
        )
        self._returns.on_update(lambda _: self._desk.post(self._apply_settings))

    def _apply_settings(self) -> None:
        self.hands.max_pull, self.hands.auto_rewind = float(self._limit.value), bool(self._returns.value)

    def _quick(self, way: str) -> None:
        self.hands.push(self._newtons.value, math.radians(_WAYS[way][1]), self._lasts.value, body=self._part.value)

    def _timed(self) -> None:
        turn, rise = math.radians(self._turn.value), math.radians(self._rise.value)
        self.hands.push(
            self._newtons.value, turn, self._lasts.value, rise=rise, delay=self._wait.value, body=self._part.value
        )

    def _throw(self) -> None:
        self.hands.throw(math.radians(self._from.value), self._speed.value, _SIZES[self._size.value])

    def _dragged(self, event: viser.SceneNodeDragEvent[viser.BatchedMeshHandle], body: int) -> None:
        """The mouse of a client drags a body; the page's thread calls this."""
        start, end = np.array(event.start_position), np.array(event.end_position)
        phase, client = event.phase, event.client_id
        self._desk.post(lambda: self._hold(client, phase, body, start, end))

    def _hold(self, client: int, phase: str, body: int, start: np.ndarray, end: np.ndarray) -> None:
        """One hand at a time: the last who grabs has it."""
        if phase == "start":
            self._holder = client
            self.hands.grab(body, start, end, self._desk.stage.origin)
        elif client == self._holder:
            if phase == "update":
                self.hands.move(end)
            else:
                self.hands.release()

    def reload(self) -> None:
        """Offer the parts of this body."""
        table = self._desk.session.sim.scene.table
        parts = tuple(segment.name for segment in table.segments)
        if self._part.options != parts:
            self._part.options = parts
            set_if_changed(self._part, table.anatomy.torso)

    def refresh(self) -> None:
        """Report a fall, and notice that the client who held a limb has gone."""
        session, now = self._desk.session, time.monotonic()
        if self.hands.holding and self._holder in self._desk.server.get_clients():
            self.hands.keep_alive()
        message = self.hands.fall_message()
        if message:
            self._desk.notify("It fell", message, "orange")
            self._go_back_at = now + _PAUSE
        set_if_changed(self._undo_fall, session.sim.fallen, "visible")
        if not session.sim.fallen or session.paused:
            self._go_back_at = math.inf
        elif self.hands.auto_rewind and now >= self._go_back_at:
            self._go_back_at = math.inf
            try:
                session.rewind_before_fall()
            except CommandError as error:
                self._desk.show_error(str(error))
