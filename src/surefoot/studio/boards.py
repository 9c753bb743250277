"""Drawing boards that stand on the stage: lines, words, and dots that can be dragged within the board's plane.

A board's coordinates are (across, up) [m]; `across` runs along the world's x axis unless the board is turned, to the
right for a viewer at the figure's right side. `CurveBoard` shows one curve over the phase of a step with knots to drag.
`PoseBoard` shows the pose graph, a stick figure for each state with dots to drag (SIMBICON figure 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import viser

from surefoot.characters.table import CharacterTable, standing_height
from surefoot.controllers.simbicon.parameters import PoseState, SimbiconParameters
from surefoot.skills.schema import Skill
from surefoot.studio import style_parameters
from surefoot.studio.stick_figure import LEFT, MIDDLE, RIGHT, Handle, Point, StickFigure, draw_pose
from surefoot.studio.style_parameters import CurveLabel, Knots, Limits

BOARD_YAW = 0.159  # [rad] by which boards are turned to face the camera of the first view
Color = tuple[int, int, int]
Anchor = Literal["top-left", "top-center", "top-right", "bottom-left", "bottom-center", "bottom-right"]
DragCallback = Callable[[Point, str], None]  # where to, and "start", "update" or "end"


class Board:
    """An upright plane on the stage, which stays in place while the world moves past."""

    def __init__(self, scene: viser.SceneApi, name: str, corner: tuple[float, float, float], turn: float = 0.0) -> None:
        """Put it up with its origin, the lower left corner, at a point [m], turned about the vertical [rad]."""
        self._across = np.array([math.cos(turn), math.sin(turn), 0.0])
        self._scene, self._name, self._corner = scene, name, np.asarray(corner, float)
        half = (math.cos(0.5 * turn), 0.0, 0.0, math.sin(0.5 * turn))
        self._frame = scene.add_frame(name, show_axes=False, position=corner, wxyz=half)
        self._nodes: dict[str, viser.SceneNodeHandle] = {}
        self._dots: dict[str, viser.IcosphereHandle] = {}

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return self._frame.visible

    @visible.setter
    def visible(self, shown: bool) -> None:
        if shown != self._frame.visible:
            self._frame.visible = shown

    def line(self, name: str, points: np.ndarray, color: Color, width: float = 2.0) -> None:
        """Draw a line through points (n, 2), `width` pixels wide; one of the same name is replaced."""
        self.segments(name, np.stack([points[:-1], points[1:]], axis=1), color, width)

    def segments(self, name: str, ends: np.ndarray, color: Color, width: float = 2.0) -> None:
        """Draw line segments, (n, 2, 2): their two ends; those of the same name are replaced."""
        ends = np.asarray(ends, np.float32).reshape(-1, 2, 2)
        flat = np.stack([ends[..., 0], np.zeros(ends.shape[:2], np.float32), ends[..., 1]], axis=-1)
        ink = np.array(color, np.uint8)  # one for all: viser takes the colors of single points as linear light
        node = self._nodes.get(name)
        if isinstance(node, viser.LineSegmentsHandle):
            for prop, value in (("points", flat), ("colors", ink), ("thickness", width)):
                if not np.array_equal(getattr(node, prop), value):
                    setattr(node, prop, value)
        else:
            self._nodes[name] = self._scene.add_line_segments(
                f"{self._name}/{name}", flat, ink, thickness=width, thickness_units="screen"
            )

    def text(self, name: str, words: str, at: Point, anchor: Anchor = "top-left", scale: float = 1.0) -> None:
        """Write words whose `anchor` is at a point; those of the same name are replaced."""
        node, place = self._nodes.get(name), (at[0], -0.01, at[1])
        if isinstance(node, viser.LabelHandle) and node.anchor == anchor and np.allclose(node.position, place):
            if node.text != words:
                node.text = words
            return
        self._nodes[name] = self._scene.add_label(
            f"{self._name}/{name}", words, position=place, anchor=anchor, font_screen_scale=scale
        )

    def dot(self, name: str, at: Point, color: Color, radius: float, dragged: DragCallback | None = None) -> None:
        """Draw a dot, which the mouse can move if `dragged` is given; one of the same name moves there."""
        place = (at[0], -0.02, at[1])
        if name in self._dots:
            if not np.allclose(self._dots[name].position, place, atol=1e-6):
                self._dots[name].position = place
            if tuple(self._dots[name].color) != color:
                self._dots[name].color = color
            return
        dot = self._scene.add_icosphere(f"{self._name}/{name}", radius, color, position=place, cast_shadow=False)
        self._nodes[name] = self._dots[name] = dot
        if dragged is not None:

            @dot.on_drag("left")
            def _(event: viser.SceneNodeDragEvent[viser.IcosphereHandle]) -> None:
                there = self._hit(np.asarray(event.client.camera.position), np.asarray(event.end_position))
                if there is not None:
                    dragged(there, event.phase)

    def _hit(self, eye: np.ndarray, through: np.ndarray) -> Point | None:
        """The point where the line of sight from an eye through a point meets the board."""
        way, normal = through - eye, np.cross(self._across, (0.0, 0.0, 1.0))
        toward = float(way @ normal)
        if abs(toward) < 1e-9:
            return None
        there = eye + way * float((self._corner - eye) @ normal) / toward - self._corner
        return float(there @ self._across), float(there[2])

    def to_scene(self, at: Point) -> tuple[float, float, float]:
        """A point of the board in the page's scene [m]."""
        x, y, z = self._corner + at[0] * self._across + (0.0, 0.0, at[1])
        return float(x), float(y), float(z)

    def remove(self, name: str) -> None:
        """Remove a line, word or dot, if there is one of that name."""
        node = self._nodes.pop(name, None)
        self._dots.pop(name, None)
        if node is not None:
            node.remove()

    def clear(self) -> None:
        """Remove everything."""
        for name in list(self._nodes):
            self.remove(name)


CURVE_CORNER = (-1.2, 0.3, 2.1)  # [m] above the figure
CURVE_WIDTH, CURVE_HEIGHT = 2.5, 1.15  # [m]
_FRAME, _MARK, _CURVE = (120, 130, 140), (215, 220, 224), (58, 110, 140)
_KNOT, _CHOSEN_KNOT, _PHASE_DOT = (58, 110, 140), (224, 122, 40), (200, 60, 60)
_STEPS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0, 100.0, 200.0)
_MARKS = 5  # on the vertical axis, about, at most
_SMALL_TEXT = 0.8  # of the usual size of words
_TIMES: tuple[tuple[float, str, Anchor], ...] = (
    (0.0, "foot off", "top-left"), (0.5, "mid-step", "top-center"), (1.0, "foot down", "top-right"),
)  # fmt: skip
_FINE = np.linspace(0.0, 1.0, 97)
KnotDragCallback = Callable[[int, tuple[float, float], str], None]  # index, new (phase, value), "start" … "end"


def axis_ticks(values: Knots, title: CurveLabel, within: Limits) -> tuple[float, float, float]:
    """Lowest and highest mark and their distance in the unit shown, with zero and room around the values."""
    unit = title.unit
    shown = [0.0, *(value * unit.factor for _, value in values)]
    low, high = min(shown), max(shown)
    room = max(0.2 * (high - low), 0.5 * (unit.span - (high - low)))
    low, high = max(low - room, within[0] * unit.factor), min(high + room, within[1] * unit.factor)
    step = next((s for s in _STEPS if (high - low) / s <= _MARKS), _STEPS[-1])
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


class CurveBoard(Board):
    """Shows one curve at a time: axes, knots to drag, and a dot at the present phase."""

    def __init__(self, scene: viser.SceneApi, moved: KnotDragCallback) -> None:
        """Put it up, empty and hidden; the page's threads call `moved`."""
        super().__init__(scene, "/curve", CURVE_CORNER, BOARD_YAW)
        self._moved, self.visible = moved, False
        self._drawn: tuple[object, ...] = ()  # what the frame was drawn for
        self._low, self._high, self._step = 0.0, 1.0, 1.0
        self._factor = 1.0
        self._knots: Knots = ()

    def show(self, title: CurveLabel, knots: Knots, chosen: int, within: Limits, held: bool = False) -> None:
        """Draw a curve with the `chosen` knot highlighted; while a knot is `held`, the axis stays as it is."""
        marks = (self._low, self._high, self._step) if held and self._drawn else axis_ticks(knots, title, within)
        frame = (title, len(knots), marks)
        if frame != self._drawn:
            self._low, self._high, self._step = marks
            self._drawn, self._factor = frame, title.unit.factor
            self.clear()
            self._draw_frame(title)
        self._knots = knots
        self.line("curve", self._places(_FINE, style_parameters.evaluate(knots, _FINE)), _CURVE, 4.0)
        for i, (phase, value) in enumerate(knots):
            place = self._places(np.array([phase]), np.array([value]))[0]
            drag = lambda there, part, i=i: self._moved(i, self._phase_and_value(there), part)  # noqa: E731
            self.dot(f"knot{i}", (place[0], place[1]), _CHOSEN_KNOT if i == chosen else _KNOT, 0.045, drag)
        phase, value = knots[chosen]
        where = f"{100 * phase:.0f} %, " if len(knots) > 1 else ""
        words = f"{where}{value * self._factor:.0f}{title.unit.sign}"
        self.text("chosen", words, (CURVE_WIDTH, CURVE_HEIGHT + 0.08), "bottom-right")

    def move_cursor(self, phase: float) -> None:
        """Move the dot to the present phase, 0 … 1."""
        if self._knots and self.visible:
            place = self._places(np.array([phase]), style_parameters.evaluate(self._knots, [phase]))[0]
            self.dot("now", (place[0], place[1]), _PHASE_DOT, 0.028)

    def _draw_frame(self, title: CurveLabel) -> None:
        unit = title.unit
        for mark in np.arange(self._low, self._high + 0.5 * self._step, self._step):
            up = self._places(np.zeros(1), np.array([mark / self._factor]))[0, 1]
            color = _FRAME if abs(mark) < 1e-9 else _MARK
            self.line(f"mark{mark:g}", np.array([[0.0, up], [CURVE_WIDTH, up]]), color, 1.5)
            self.text(f"number{mark:g}", f"{mark:g}{unit.sign}", (-0.03, up - 0.05), "bottom-right", _SMALL_TEXT)
        for phase, words, anchor in _TIMES:
            self.line(
                f"at{phase}", np.array([[phase * CURVE_WIDTH, 0.0], [phase * CURVE_WIDTH, CURVE_HEIGHT]]), _MARK, 1.5
            )
            self.text(f"when{phase}", words, (phase * CURVE_WIDTH, -0.05), anchor, _SMALL_TEXT)
        self.text("title", title.label, (0.0, CURVE_HEIGHT + 0.08), "bottom-left")
        if title.above:
            self.text("above", f"↑ {title.above}", (0.03, CURVE_HEIGHT - 0.03), "top-left", _SMALL_TEXT)
        if title.below:
            self.text("below", f"↓ {title.below}", (0.03, 0.03), "bottom-left", _SMALL_TEXT)

    def _places(self, phases: np.ndarray, values: np.ndarray) -> np.ndarray:
        """(n, 2) points on the board [m]; a curve that leaves the frame runs along its edge."""
        up = (values * self._factor - self._low) / (self._high - self._low)
        return np.column_stack([phases * CURVE_WIDTH, np.clip(up, 0.0, 1.0) * CURVE_HEIGHT])

    def _phase_and_value(self, there: Point) -> Point:
        """Phase and value at a point of the board; a drag ends at the frame's edge."""
        share = min(max(there[1] / CURVE_HEIGHT, 0.0), 1.0)
        return there[0] / CURVE_WIDTH, (self._low + share * (self._high - self._low)) / self._factor


POSES_WIDTH, POSES_HEIGHT = 3.9, 1.4  # [m]
_POSES_CORNER = (-0.5 * POSES_WIDTH * math.cos(BOARD_YAW), 0.35 - 0.5 * POSES_WIDTH * math.sin(BOARD_YAW), 2.02)  # [m]
_ROW = 8  # figures side by side
_LARGEST, _SMALL_FIGURE = 0.7, 0.6  # of life size
_MARGIN = 0.22  # [m] below the figures, for the words
_INK: dict[str, Color] = {MIDDLE: (66, 82, 100), LEFT: (120, 146, 166), RIGHT: (214, 120, 66)}
_FADED: Color = (208, 212, 217)
_PLINTH, _LIT = (200, 205, 210), (46, 160, 110)
_DOT, _CHOSEN_STATE = (58, 110, 140), (236, 164, 40)
_DOT_RADIUS = 0.05  # [m] of a figure of life size
PoseDragCallback = Callable[[int, Handle, float, str], None]  # state, handle, its new angle [rad], "start" … "end"


@dataclass(frozen=True)
class FigureSlot:
    """One figure: its state, which leg swings, whether it is of the mirrored half, its position and scale."""

    state: int
    swing: int
    mirrored: bool
    at: Point
    scale: float


class PoseBoard(Board):
    """Draws a pose graph. The session's thread calls all methods; drags are posted to it."""

    def __init__(
        self, scene: viser.SceneApi, post: Callable[[Callable[[], object]], None], edited: PoseDragCallback
    ) -> None:
        """Put it up, empty; drags are posted to the session's thread, which calls `edited`."""
        super().__init__(scene, "/poses", _POSES_CORNER, BOARD_YAW)
        self._post, self._edited = post, edited
        self._places: list[FigureSlot] = []
        self._drawn: list[tuple[PoseState, str] | None] = []
        self._sticks: list[StickFigure] = []
        self._table: CharacterTable | None = None
        self._also: frozenset[str] = frozenset()
        self._lit = -1
        self._chosen = -1
        self._grip: Point = (0.0, 0.0)

    def show(self, table: CharacterTable, parameters: SimbiconParameters) -> None:
        """Draw a graph; only what changed is drawn again."""
        also = frozenset(role for state in parameters.states for role in state.targets)
        layout = layout_figures(table, parameters)
        if layout != self._places or table is not self._table or also != self._also:
            self.clear()
            self._places, self._table, self._also = layout, table, also
            self._drawn, self._lit = [None] * len(layout), -1
            self._sticks = [draw_pose(table, parameters.states[p.state], p.swing, also) for p in layout]
        for i, place in enumerate(layout):
            state = parameters.states[place.state]
            wanted = (state, caption(place, state))
            if self._drawn[i] != wanted:
                self._drawn[i] = wanted
                self._sticks[i] = draw_pose(table, state, place.swing, also)
                self._draw(i, wanted[1])

    def highlight(self, index: int, chosen: int) -> None:
        """Highlight the figure of the active state (−1: none) and the dots of the chosen state."""
        if index != self._lit:
            before, self._lit = self._lit, index
            for i in (before, index):
                if 0 <= i < len(self._places):
                    self._ink(i)
        if chosen != self._chosen:
            self._chosen = chosen
            for i in range(len(self._places)):
                self._draw_dots(i)

    def _draw(self, i: int, words: str) -> None:
        at = self._places[i].at
        self._ink(i)
        self._draw_dots(i)
        self.text(f"{i}/words", words, (at[0], at[1] - 0.05), "top-center")

    def _ink(self, i: int) -> None:
        place, lit = self._places[i], i == self._lit
        for group, ends in self._sticks[i].segments.items():
            color = _FADED if place.mirrored and not lit else _INK[group]
            self.segments(f"{i}/{group}", self._placed(place, ends), color, 2.0 if place.mirrored else 3.0)
        half = 0.42 * place.scale
        line = np.array([[place.at[0] - half, place.at[1]], [place.at[0] + half, place.at[1]]])
        self.line(f"{i}/plinth", line, _LIT if lit else _PLINTH, 6.0 if lit else 2.0)

    def _draw_dots(self, i: int) -> None:
        place = self._places[i]
        if place.mirrored:
            return
        color = _CHOSEN_STATE if place.state == self._chosen else _DOT
        for handle in self._sticks[i].handles:
            (at,) = self._placed(place, np.array([handle.at]))
            self.dot(
                f"{i}/{handle.name}", (at[0], at[1]), color, _DOT_RADIUS * place.scale, self._grabbed(i, handle.name)
            )

    @staticmethod
    def _placed(place: FigureSlot, points: np.ndarray) -> np.ndarray:
        return np.asarray(points * place.scale + np.array(place.at))

    def _grabbed(self, i: int, name: str) -> Callable[[Point, str], None]:
        return lambda to, phase: self._post(lambda: self.drag(i, name, to, phase))

    def drag(self, i: int, name: str, to: Point, phase: str) -> None:
        """Drag a dot of figure `i` to a point of the board; `phase` is start, update or end of the drag."""
        found = next((h for h in self._sticks[i].handles if h.name == name), None) if i < len(self._sticks) else None
        if found is None:
            return
        place = self._places[i]
        there = ((to[0] - place.at[0]) / place.scale, (to[1] - place.at[1]) / place.scale)
        if phase == "start":  # it may be grabbed off its center
            self._grip = (found.at[0] - there[0], found.at[1] - there[1])
        self._edited(place.state, found, found.angle((there[0] + self._grip[0], there[1] + self._grip[1])), phase)

    def handle_position(self, state: int, name: str) -> Point:
        """The position of a state's dot on the board [m]."""
        i = next(i for i, place in enumerate(self._places) if place.state == state)
        handle = next(h for h in self._sticks[i].handles if h.name == name)
        (at,) = self._placed(self._places[i], np.array([handle.at]))
        return float(at[0]), float(at[1])

    def handle_scene_position(self, state: int, name: str) -> tuple[float, float, float]:
        """The position of a state's dot in the page's scene [m]."""
        return self.to_scene(self.handle_position(state, name))


def layout_figures(table: CharacterTable, parameters: SimbiconParameters) -> list[FigureSlot]:
    """The figures of a graph from left to right, the mirrored half last; long graphs take several rows."""
    states = parameters.states
    halves = (0, 1) if parameters.mirrored else (0,)
    count = len(states) * len(halves)
    row = len(states) if count > _ROW and len(states) <= _ROW else min(count, _ROW)
    rows = -(-count // row)
    tall = POSES_HEIGHT / rows - _MARGIN
    scale = min(_LARGEST, tall / (1.9 * standing_height(table)), POSES_WIDTH / (1.25 * row))
    apart = min(POSES_WIDTH / row, 1.7 * scale)
    found = []
    for half in halves:
        for i, state in enumerate(states):
            down, across = divmod(half * len(states) + i, row)
            x = 0.5 * POSES_WIDTH + (across - 0.5 * (row - 1)) * apart
            swing = half if state.leg == "same" else 1 - half
            found.append(FigureSlot(i, swing, half == 1, (x, (rows - 1 - down) * POSES_HEIGHT / rows + _MARGIN), scale))
    return found


def has_poses(skill: Skill) -> bool:
    """Whether a skill's parameters are a pose graph."""
    return {"states", "mirrored"} <= set(type(skill.parameters).model_fields)


def active_figure(parameters: SimbiconParameters, index: int) -> int:
    """Which figure shows the present state of the expanded graph; −1 if another skill has followed it."""
    own = len(parameters.states)
    if index >= own * parameters.halves:
        return -1
    return index if parameters.mirrored else index % own


def end_condition(state: PoseState) -> str:
    """What ends a state, in a few words."""
    return f"{state.duration:.2f} s" if state.until is None else f"until {state.until}"


def caption(place: FigureSlot, state: PoseState) -> str:
    """The words below a figure; small figures have little room."""
    if place.mirrored:
        return f"{place.state} mirrored"
    return f"{place.state} · {state.until if state.until and place.scale < _SMALL_FIGURE else end_condition(state)}"
