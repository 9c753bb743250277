"""One curve over the phase of a step on a board beside the figure: marks, knots to drag, and a dot that runs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import viser

from surefoot.studio import curves
from surefoot.studio.board import TURN, Anchor, Board
from surefoot.studio.curve_names import Title
from surefoot.studio.curves import Knots, Limits

CORNER = (-1.2, 0.3, 2.1)  # of the frame [m]: above a figure
WIDTH, HEIGHT = 2.5, 1.15  # [m]
_FRAME, _MARK, _CURVE = (120, 130, 140), (215, 220, 224), (58, 110, 140)
_KNOT, _CHOSEN, _NOW = (58, 110, 140), (224, 122, 40), (200, 60, 60)
_STEPS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0, 100.0, 200.0)
_MARKS = 5  # at most about so many on the upright axis
_SMALL = 0.8  # of the usual size of words
_TIMES: tuple[tuple[float, str, Anchor], ...] = (
    (0.0, "foot off", "top-left"), (0.5, "mid-step", "top-center"), (1.0, "foot down", "top-right"),
)  # fmt: skip
_FINE = np.linspace(0.0, 1.0, 97)

Moved = Callable[[int, tuple[float, float], str], None]  # a knot, where to (phase, value), "start" … "end"


def axis(values: Knots, title: Title, within: Limits) -> tuple[float, float, float]:
    """Lowest and highest mark and their distance, in the unit that is shown: room for the values, zero, and more."""
    unit = title.unit
    shown = [0.0, *(value * unit.factor for _, value in values)]
    low, high = min(shown), max(shown)
    room = max(0.2 * (high - low), 0.5 * (unit.span - (high - low)))
    low, high = max(low - room, within[0] * unit.factor), min(high + room, within[1] * unit.factor)
    step = next((s for s in _STEPS if (high - low) / s <= _MARKS), _STEPS[-1])
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


class CurveBoard:
    """Shows one curve at a time."""

    def __init__(self, scene: viser.SceneApi, moved: Moved) -> None:
        """Put it up, empty and hidden; `moved` is called by the page's threads."""
        self._board, self._moved = Board(scene, "/curve", CORNER, TURN), moved
        self._board.visible = False
        self._drawn: tuple[object, ...] = ()  # of what the frame was drawn for
        self._low, self._high, self._step = 0.0, 1.0, 1.0
        self._factor = 1.0
        self._knots: Knots = ()

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return self._board.visible

    @visible.setter
    def visible(self, shown: bool) -> None:
        if shown != self._board.visible:
            self._board.visible = shown

    def show(self, title: Title, knots: Knots, chosen: int, within: Limits, held: bool = False) -> None:
        """Draw a curve.

        Args:
            title: what it is called and how its values are shown.
            knots: its knots.
            chosen: the knot that is marked.
            within: lowest and highest value it may have.
            held: whether a knot is being dragged: the axis then stays as it is.
        """
        marks = (self._low, self._high, self._step) if held and self._drawn else axis(knots, title, within)
        frame = (title, len(knots), marks)
        if frame != self._drawn:
            self._low, self._high, self._step = marks
            self._drawn, self._factor = frame, title.unit.factor
            self._board.clear()
            self._draw_frame(title)
        self._knots = knots
        self._board.line("curve", self._places(_FINE, curves.at(knots, _FINE)), _CURVE, 4.0)
        for i, (phase, value) in enumerate(knots):
            place = self._places(np.array([phase]), np.array([value]))[0]
            drag = lambda there, part, i=i: self._moved(i, self._told(there), part)  # noqa: E731
            self._board.dot(f"knot{i}", (place[0], place[1]), _CHOSEN if i == chosen else _KNOT, 0.045, drag)
        phase, value = knots[chosen]
        where = f"{100 * phase:.0f} %, " if len(knots) > 1 else ""
        self._board.text(
            "told", f"{where}{value * self._factor:.0f}{title.unit.sign}", (WIDTH, HEIGHT + 0.08), "bottom-right"
        )

    def run(self, phase: float) -> None:
        """Let the dot be where the step is, 0 … 1."""
        if self._knots and self.visible:
            place = self._places(np.array([phase]), curves.at(self._knots, [phase]))[0]
            self._board.dot("now", (place[0], place[1]), _NOW, 0.028)

    def _draw_frame(self, title: Title) -> None:
        board, unit = self._board, title.unit
        for mark in np.arange(self._low, self._high + 0.5 * self._step, self._step):
            up = self._places(np.zeros(1), np.array([mark / self._factor]))[0, 1]
            color = _FRAME if abs(mark) < 1e-9 else _MARK
            board.line(f"mark{mark:g}", np.array([[0.0, up], [WIDTH, up]]), color, 1.5)
            board.text(f"number{mark:g}", f"{mark:g}{unit.sign}", (-0.03, up - 0.05), "bottom-right", _SMALL)
        for phase, words, anchor in _TIMES:
            board.line(f"at{phase}", np.array([[phase * WIDTH, 0.0], [phase * WIDTH, HEIGHT]]), _MARK, 1.5)
            board.text(f"when{phase}", words, (phase * WIDTH, -0.05), anchor, _SMALL)
        board.text("title", title.label, (0.0, HEIGHT + 0.08), "bottom-left")
        if title.above:
            board.text("above", f"↑ {title.above}", (0.03, HEIGHT - 0.03), "top-left", _SMALL)
        if title.below:
            board.text("below", f"↓ {title.below}", (0.03, 0.03), "bottom-left", _SMALL)

    def _places(self, phases: np.ndarray, values: np.ndarray) -> np.ndarray:
        """(n, 2) on the board [m]; a curve that leaves the frame runs along its edge."""
        up = (values * self._factor - self._low) / (self._high - self._low)
        return np.column_stack([phases * WIDTH, np.clip(up, 0.0, 1.0) * HEIGHT])

    def _told(self, there: tuple[float, float]) -> tuple[float, float]:
        """Phase and value of a place on the board; the frame's edge is as far as a drag goes."""
        share = min(max(there[1] / HEIGHT, 0.0), 1.0)
        return there[0] / WIDTH, (self._low + share * (self._high - self._low)) / self._factor
