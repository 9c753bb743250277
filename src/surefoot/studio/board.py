"""A drawing board that stands on the stage: lines, words, and dots that can be dragged within its plane.

Its own coordinates are (across, up) [m]: `across` along the world's x axis, to the right for who looks at the
figure's right side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

Point = tuple[float, float]
Color = tuple[int, int, int]
Dragged = Callable[[Point, str], None]  # where to, and "start", "update" or "end"


class Board:
    """An upright plane on the stage. It stays where it is while the world moves past."""

    def __init__(self, scene: viser.SceneApi, name: str, corner: tuple[float, float, float]) -> None:
        """Put it up.

        Args:
            scene: of the page.
            name: of its node.
            corner: of its lower left corner, where its coordinates begin [m].
        """
        self._scene, self._name, self._corner = scene, name, np.asarray(corner, float)
        self._frame = scene.add_frame(name, show_axes=False, position=corner)
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
        """Draw a line through points (n, 2); one of the same name is replaced."""
        flat = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])
        pairs = np.stack([flat[:-1], flat[1:]], axis=1)
        self._nodes[name] = self._scene.add_line_segments(f"{self._name}/{name}", pairs, color, thickness=width)

    def text(self, name: str, words: str, at: Point) -> None:
        """Write words at a point."""
        self._nodes[name] = self._scene.add_label(f"{self._name}/{name}", words, position=(at[0], -0.01, at[1]))

    def dot(self, name: str, at: Point, color: Color, radius: float, dragged: Dragged | None = None) -> None:
        """Put a dot; with `dragged` it can be moved with the mouse. One of the same name only moves there."""
        place = (at[0], -0.02, at[1])
        if name in self._dots:
            self._dots[name].position = place
            self._dots[name].color = color
            return
        dot = self._scene.add_icosphere(f"{self._name}/{name}", radius, color, position=place)
        self._nodes[name] = self._dots[name] = dot
        if dragged is not None:

            @dot.on_drag("left")
            def _(event: viser.SceneNodeDragEvent[viser.IcosphereHandle]) -> None:
                there = self._hit(np.asarray(event.client.camera.position), np.asarray(event.end_position))
                if there is not None:
                    dragged(there, event.phase)

    def _hit(self, eye: np.ndarray, through: np.ndarray) -> Point | None:
        """Where the line of sight from an eye through a point meets the board."""
        way = through - eye
        if abs(way[1]) < 1e-9:
            return None
        there = eye + way * (self._corner[1] - eye[1]) / way[1] - self._corner
        return float(there[0]), float(there[2])

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
