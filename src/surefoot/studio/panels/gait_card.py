"""The gait report card of the last seconds: how the running skill compares with people, measured by another thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

import numpy as np

from surefoot.errors import SurefootError
from surefoot.lab.gait import card_rows, gait_card
from surefoot.lab.gait_signals import LONGEST_FRAME
from surefoot.studio.panels.panel import Panel, PanelContext, set_if_changed
from surefoot.studio.session import Moment, motion_from_moments

SECONDS = 6.0  # [s] that are measured
EVERY = 2.0  # [s] of real time between two cards
# Forces and torques are left out: their peaks are shorter than a frame.
SHOWN = (
    "score", "speed", "cadence", "step_length", "walk_ratio", "double_support", "flight", "strike_pitch",
    "toe_off_pitch", "stance_knee", "swing_knee", "lean", "pelvis_turn", "arm_swing", "com_rise", "step_width",
)  # fmt: skip
_GAP = "\u2003"  # keeps a value and its band apart
_log = logging.getLogger(__name__)


def card_text(moments: Sequence[Moment]) -> str:
    """The card of moments as Markdown, or why there is none."""
    clocks = np.array([moment.clock for moment in moments])
    if len(clocks) > 2 and np.median(np.diff(clocks)) > LONGEST_FRAME:
        return (
            f"No card: {1.0 / np.median(np.diff(clocks)):.0f} moments a second are kept here, and a card needs 60. "
            "Choose a slower **Speed of time**."
        )
    try:
        card = gait_card(motion_from_moments(moments))
    except SurefootError as error:
        return f"No card yet: {error}."
    rows = {row.name: row for row in card_rows(card)}
    lines = [f"A {'run' if card.runs else 'walk'}, {card.strides} strides.", "", "| | | people |", "|---|---:|---|"]
    for row in (rows[name] for name in SHOWN):
        value = f"**{row.value}** ✗" if row.inside is False else row.value
        lines.append(f"| {row.label} [{row.unit}] | {value} | {_GAP}{row.band} |")
    return "\n".join(lines)


class GaitCardPanel(Panel):
    """A part of the plots' tab; it measures only while it is asked to."""

    def build(self, desk: PanelContext) -> None:
        """Add the switch and the place of the card."""
        self._desk, gui = desk, desk.server.gui
        self._thread: threading.Thread | None = None
        self._found: str | None = None
        self._next = 0.0
        with gui.add_folder("Gait card"):
            self._on = gui.add_checkbox(
                "Compare with people", False,
                hint=f"Measures the last {SECONDS:g} s every {EVERY:g} s. ✗: outside of where healthy adults are.",
            )  # fmt: skip
            self._text = gui.add_markdown("")
        self._on.on_update(lambda _: desk.post(self._switch))

    def _switch(self) -> None:
        self._next = 0.0
        set_if_changed(self._text, "Measuring …" if self._on.value else "", "content")

    def reload(self) -> None:
        """Forget the card of another skill or body."""
        self._found, self._next = None, 0.0
        if self._on.value:
            set_if_changed(self._text, "Measuring …", "content")

    def refresh(self) -> None:
        """Show the newest card, and have the next one measured when it is due."""
        if not self._on.value:
            return
        if self._found is not None:
            set_if_changed(self._text, self._found, "content")
            self._found = None
        now = time.monotonic()
        if now >= self._next and not self.is_measuring:
            self._next = now + EVERY
            moments = self._desk.session.moments(SECONDS)
            self._thread = threading.Thread(target=self._measure, args=(moments,), name="surefoot-card", daemon=True)
            self._thread.start()

    @property
    def is_measuring(self) -> bool:
        """Whether a card is being measured."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Wait until nothing is being measured, at most so many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _measure(self, moments: Sequence[Moment]) -> None:
        """The other thread calls this."""
        try:
            self._found = card_text(moments)
        except Exception:
            _log.exception("a gait could not be measured")
            self._found = "The gait could not be measured; the log has the details."
