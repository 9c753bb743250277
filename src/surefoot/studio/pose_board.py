"""The pose graph above the figure: a stick figure a state, with dots to drag (SIMBICON figure 4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import viser

from surefoot.characters.table import CharacterTable, standing_height
from surefoot.skills.simbicon import PoseState, SimbiconParameters
from surefoot.studio.board import TURN, Board, Color, Point
from surefoot.studio.stick import LEFT, MIDDLE, RIGHT, Handle, Stick, stick

WIDTH, HEIGHT = 3.9, 1.4  # [m]
_CORNER = (-0.5 * WIDTH * math.cos(TURN), 0.35 - 0.5 * WIDTH * math.sin(TURN), 2.02)  # [m] above whoever walks there
_ROW = 8  # figures side by side
_LARGEST, _SMALL = 0.7, 0.6  # of life size
_MARGIN = 0.22  # [m] below the figures, for the words
_INK: dict[str, Color] = {MIDDLE: (66, 82, 100), LEFT: (120, 146, 166), RIGHT: (214, 120, 66)}
_FADED: Color = (208, 212, 217)
_PLINTH, _LIT = (200, 205, 210), (46, 160, 110)
_DOT, _CHOSEN = (58, 110, 140), (236, 164, 40)
_DOT_RADIUS = 0.05  # [m] of a figure of life size

Edited = Callable[[int, Handle, float, str], None]  # state, handle, the angle it is dragged to [rad], phase of the drag


@dataclass(frozen=True)
class Place:
    """A figure of the row: state, which leg swings, whether it is the mirrored half, where it stands."""

    state: int
    swing: int
    mirrored: bool
    at: Point
    scale: float


class PoseBoard:
    """Draws a pose graph. All of it is called by the loop's thread; drags are posted to it."""

    def __init__(self, scene: viser.SceneApi, post: Callable[[Callable[[], object]], None], edited: Edited) -> None:
        """Put the board up, empty.

        Args:
            scene: of the page.
            post: has something done by the loop's thread.
            edited: told what a drag asks for.
        """
        self._board = Board(scene, "/poses", _CORNER, TURN)
        self._post, self._edited = post, edited
        self._places: list[Place] = []
        self._drawn: list[tuple[PoseState, str] | None] = []
        self._sticks: list[Stick] = []
        self._table: CharacterTable | None = None
        self._also: frozenset[str] = frozenset()
        self._lit = -1
        self._chosen = -1
        self._grip: Point = (0.0, 0.0)

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return self._board.visible

    @visible.setter
    def visible(self, shown: bool) -> None:
        if self._board.visible != shown:
            self._board.visible = shown

    def show(self, table: CharacterTable, parameters: SimbiconParameters) -> None:
        """Draw a graph; of one that is drawn already only what changed."""
        also = frozenset(role for state in parameters.states for role in state.targets)
        layout = places(table, parameters)
        if layout != self._places or table is not self._table or also != self._also:
            self._board.clear()
            self._places, self._table, self._also = layout, table, also
            self._drawn, self._lit = [None] * len(layout), -1
            self._sticks = [stick(table, parameters.states[p.state], p.swing, also) for p in layout]
        for i, place in enumerate(layout):
            state = parameters.states[place.state]
            wanted = (state, caption(place, state))
            if self._drawn[i] != wanted:
                self._drawn[i] = wanted
                self._sticks[i] = stick(table, state, place.swing, also)
                self._draw(i, wanted[1])

    def light(self, index: int, chosen: int) -> None:
        """Light the figure of the state that acts (−1: none), and mark the dots of the chosen state."""
        if index != self._lit:
            before, self._lit = self._lit, index
            for i in (before, index):
                if 0 <= i < len(self._places):
                    self._ink(i)
        if chosen != self._chosen:
            self._chosen = chosen
            for i in range(len(self._places)):
                self._dots(i)

    def _draw(self, i: int, words: str) -> None:
        at = self._places[i].at
        self._ink(i)
        self._dots(i)
        self._board.text(f"{i}/words", words, (at[0], at[1] - 0.05), "top-center")

    def _ink(self, i: int) -> None:
        place, lit = self._places[i], i == self._lit
        for group, ends in self._sticks[i].strokes.items():
            color = _FADED if place.mirrored and not lit else _INK[group]
            self._board.strokes(f"{i}/{group}", self._placed(place, ends), color, 2.0 if place.mirrored else 3.0)
        half = 0.42 * place.scale
        line = np.array([[place.at[0] - half, place.at[1]], [place.at[0] + half, place.at[1]]])
        self._board.line(f"{i}/plinth", line, _LIT if lit else _PLINTH, 6.0 if lit else 2.0)

    def _dots(self, i: int) -> None:
        place = self._places[i]
        if place.mirrored:
            return
        color = _CHOSEN if place.state == self._chosen else _DOT
        for handle in self._sticks[i].handles:
            (at,) = self._placed(place, np.array([handle.at]))
            self._board.dot(
                f"{i}/{handle.name}", (at[0], at[1]), color, _DOT_RADIUS * place.scale, self._grabbed(i, handle.name)
            )

    @staticmethod
    def _placed(place: Place, points: np.ndarray) -> np.ndarray:
        return np.asarray(points * place.scale + np.array(place.at))

    def _grabbed(self, i: int, name: str) -> Callable[[Point, str], None]:
        return lambda to, phase: self._post(lambda: self.drag(i, name, to, phase))

    def drag(self, i: int, name: str, to: Point, phase: str) -> None:
        """Have a dot of figure `i` dragged to a point of the board."""
        found = next((h for h in self._sticks[i].handles if h.name == name), None) if i < len(self._sticks) else None
        if found is None:
            return
        place = self._places[i]
        there = ((to[0] - place.at[0]) / place.scale, (to[1] - place.at[1]) / place.scale)
        if phase == "start":  # it may be grabbed beside its middle
            self._grip = (found.at[0] - there[0], found.at[1] - there[1])
        self._edited(place.state, found, found.angle((there[0] + self._grip[0], there[1] + self._grip[1])), phase)

    def spot(self, state: int, name: str) -> Point:
        """The place of a state's dot on the board [m]."""
        i = next(i for i, place in enumerate(self._places) if place.state == state)
        handle = next(h for h in self._sticks[i].handles if h.name == name)
        (at,) = self._placed(self._places[i], np.array([handle.at]))
        return float(at[0]), float(at[1])

    def where(self, state: int, name: str) -> tuple[float, float, float]:
        """The place of a state's dot on the page [m]."""
        return self._board.place(self.spot(state, name))


def places(table: CharacterTable, parameters: SimbiconParameters) -> list[Place]:
    """The figures of a graph from left to right, the mirrored half last; long graphs in rows."""
    states = parameters.states
    halves = (0, 1) if parameters.mirrored else (0,)
    count = len(states) * len(halves)
    row = len(states) if count > _ROW and len(states) <= _ROW else min(count, _ROW)
    rows = -(-count // row)
    tall = HEIGHT / rows - _MARGIN
    scale = min(_LARGEST, tall / (1.9 * standing_height(table)), WIDTH / (1.25 * row))
    apart = min(WIDTH / row, 1.7 * scale)
    found = []
    for half in halves:
        for i, state in enumerate(states):
            down, across = divmod(half * len(states) + i, row)
            x = 0.5 * WIDTH + (across - 0.5 * (row - 1)) * apart
            swing = half if state.leg == "same" else 1 - half
            found.append(Place(i, swing, half == 1, (x, (rows - 1 - down) * HEIGHT / rows + _MARGIN), scale))
    return found


def acting(parameters: SimbiconParameters, index: int) -> int:
    """Which figure shows the state that the expanded graph is in; −1: none, it went on as another skill."""
    own = len(parameters.states)
    if index >= own * parameters.halves:
        return -1
    return index if parameters.mirrored else index % own


def ending(state: PoseState) -> str:
    """What ends a state, in a word or two."""
    return f"{state.duration:.2f} s" if state.until is None else f"until {state.until}"


def caption(place: Place, state: PoseState) -> str:
    """What stands below a figure; small figures have little room."""
    if place.mirrored:
        return f"{place.state} mirrored"
    return f"{place.state} · {state.until if state.until and place.scale < _SMALL else ending(state)}"
