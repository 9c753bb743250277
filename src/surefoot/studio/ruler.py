"""Metre marks on the ground near the figure: lines across the way, with the distance from the start beside them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

MARKS = 15  # an odd number: as many before the figure as behind it
_HALF = 1.2  # [m] of a line
_BESIDE = 0.9  # [m] from the middle of the way to the words
_PIECES = 24  # of a line, which lies on whatever ground there is
_LIFT, _LABEL_LIFT = 0.006, 0.03  # [m] above the ground
_TURNED = 1.5  # [m] of the way after which it is judged anew whether it goes along x or y
_COLOR = (150, 142, 130)

Height = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Ruler:
    """A fixed number of nodes, which are moved in whole metres as the figure goes along."""

    def __init__(self, scene: viser.SceneApi, name: str, height: Height) -> None:
        """Lay it down.

        Args:
            scene: of the page.
            name: of the node; it is in world coordinates.
            height: of the ground at points x, y of the world [m].
        """
        self._height = height
        self._axis, self._lane, self._middle = 0, 0, 0
        self._begun = np.zeros(2)
        self._written: list[tuple[int, int, int] | None] = [None] * MARKS
        self._lines = scene.add_line_segments(f"{name}/lines", self._points(), _COLOR, thickness=0.012)
        self._labels = [
            scene.add_label(
                f"{name}/label_{i}", "", font_size_mode="scene", font_scene_height=0.085, depth_test=True,
                anchor="bottom-center",
            )
            for i in range(MARKS)
        ]  # fmt: skip
        self._write()

    @property
    def nodes(self) -> list[viser.SceneNodeHandle]:
        """All of them."""
        return [self._lines, *self._labels]

    def lay_on(self, height: Height) -> None:
        """Lie on another ground; its nodes stay the same."""
        self._height = height
        self._written = [None] * MARKS
        self._lines.points = self._points()
        self._write()

    def attend(self, place: np.ndarray) -> None:
        """Lie around a place (3,) of the world [m]; nothing is sent unless it is another metre."""
        gone = place[:2] - self._begun
        axis = self._axis
        if np.abs(gone).max() > _TURNED:
            axis, self._begun = int(np.abs(gone).argmax()), place[:2].copy()
        middle, lane = round(float(place[axis])), round(float(place[1 - axis]))
        if (axis, lane, middle) != (self._axis, self._lane, self._middle):
            self._axis, self._lane, self._middle = axis, lane, middle
            self._lines.points = self._points()
            self._write()

    def _metres(self) -> range:
        return range(self._middle - MARKS // 2, self._middle + MARKS // 2 + 1)

    def _on_ground(self, along: np.ndarray, across: np.ndarray) -> np.ndarray:
        """(n, 3) points of the world just above the ground."""
        x, y = (along, across) if self._axis == 0 else (across, along)
        return np.column_stack([x, y, self._height(x, y) + _LIFT])

    def _points(self) -> np.ndarray:
        """(MARKS · _PIECES, 2, 3) pieces of all lines."""
        across = self._lane + np.linspace(-_HALF, _HALF, _PIECES + 1)
        lines = [self._on_ground(np.full_like(across, metre), across) for metre in self._metres()]
        return np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]).astype(np.float32)

    def _write(self) -> None:
        """Let every label name its metre; each metre has always the same label, so that only few change."""
        for metre in self._metres():
            what = (self._axis, self._lane, metre)
            at = metre % MARKS
            if self._written[at] != what:
                self._written[at] = what
                side = -_BESIDE if self._axis == 0 else _BESIDE  # on the right of who looks along the way
                place = self._on_ground(np.array([float(metre)]), np.array([self._lane + side]))[0]
                self._labels[at].position = (place[0], place[1], place[2] + _LABEL_LIFT)
                if self._labels[at].text != f"{metre} m":
                    self._labels[at].text = f"{metre} m"
