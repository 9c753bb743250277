"""A drawing board that stands on the stage: lines, words, and dots that can be dragged within its plane.

Its own coordinates are (across, up) [m]: `across` along the world's x axis unless the board is turned, to the right
for who looks at the figure's right side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import viser

Point = tuple[float, float]
TURN = 0.159  # [rad] it is turned so that it faces the camera where that stands at first
Color = tuple[int, int, int]
Anchor = Literal["top-left", "top-center", "top-right", "bottom-left", "bottom-center", "bottom-right"]
Dragged = Callable[[Point, str], None]  # where to, and "start", "update" or "end"


class Board:
    """An upright plane on the stage. It stays where it is while the world moves past."""

    def __init__(self, scene: viser.SceneApi, name: str, corner: tuple[float, float, float], turn: float = 0.0) -> None:
        """Put it up.

        Args:
            scene: of the page.
            name: of its node.
            corner: of its lower left corner, where its coordinates begin [m].
            turn: about the vertical, to face who looks from the front right (positive) or left [rad].
        """
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
        self._frame.visible = shown

    def line(self, name: str, points: np.ndarray, color: Color, width: float = 2.0) -> None:
        """Draw a line through points (n, 2), so many pixels wide; one of the same name is replaced."""
        self.strokes(name, np.stack([points[:-1], points[1:]], axis=1), color, width)

    def strokes(self, name: str, ends: np.ndarray, color: Color, width: float = 2.0) -> None:
        """Draw many short lines, (n, 2, 2): their two ends; those of the same name are replaced."""
        ends = np.asarray(ends, np.float32).reshape(-1, 2, 2)
        flat = np.stack([ends[..., 0], np.zeros(ends.shape[:2], np.float32), ends[..., 1]], axis=-1)
        ink = np.array(color, np.uint8)  # one for all: colours of single points would be taken as linear light
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
        """Write words at a point, which is the words' `anchor`; those of the same name are replaced."""
        node, place = self._nodes.get(name), (at[0], -0.01, at[1])
        if isinstance(node, viser.LabelHandle) and node.anchor == anchor and np.allclose(node.position, place):
            if node.text != words:
                node.text = words
            return
        self._nodes[name] = self._scene.add_label(
            f"{self._name}/{name}", words, position=place, anchor=anchor, font_screen_scale=scale
        )

    def dot(self, name: str, at: Point, color: Color, radius: float, dragged: Dragged | None = None) -> None:
        """Put a dot; with `dragged` it can be moved with the mouse. One of the same name only moves there."""
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
        """Where the line of sight from an eye through a point meets the board."""
        way, normal = through - eye, np.cross(self._across, (0.0, 0.0, 1.0))
        toward = float(way @ normal)
        if abs(toward) < 1e-9:
            return None
        there = eye + way * float((self._corner - eye) @ normal) / toward - self._corner
        return float(there @ self._across), float(there[2])

    def place(self, at: Point) -> tuple[float, float, float]:
        """A point of the board on the page [m]."""
        x, y, z = self._corner + at[0] * self._across + (0.0, 0.0, at[1])
        return float(x), float(y), float(z)

    def remove(self, name: str) -> None:
        """Take a line, word or dot away; nothing happens if there is none of that name."""
        node = self._nodes.pop(name, None)
        self._dots.pop(name, None)
        if node is not None:
            node.remove()

    def clear(self) -> None:
        """Take everything away."""
        for name in list(self._nodes):
            self.remove(name)
