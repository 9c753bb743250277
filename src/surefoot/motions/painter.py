"""Draws moments of a motion in orthographic view, in pure Pillow: bodies, ground and scale marks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from surefoot.errors import UnknownNameError
from surefoot.motions.figure import Color, Limb, Shape
from surefoot.motions.motion import Motion

if TYPE_CHECKING:
    from surefoot.terrains.terrain import Terrain

View = Literal["side", "front"]

PAPER, INK, FAINT = (0.984, 0.980, 0.969), (0.24, 0.27, 0.31), (0.53, 0.52, 0.50)
_SOIL, _SURFACE, _MARK = (0.906, 0.890, 0.859), (0.60, 0.57, 0.53), (0.70, 0.675, 0.635)
_OUTLINE = 1.1  # [px]
_HAZE, _MAX_HAZE = 0.9, 0.3  # [1/m] how what lies behind the trunk fades into the paper, and its limit

_TURN = np.linspace(0.0, 2.0 * math.pi, 120, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN)])  # (120, 2)


@dataclass(frozen=True)
class Camera:
    """A parallel view: from the side x is to the right, from the front (facing the body) y is.

    `left` and `top` are the world's coordinates [m] at the picture's upper left corner, `scale` is in px/m.
    """

    view: View
    scale: float
    left: float = 0.0
    top: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a view that does not exist."""
        if self.view not in ("side", "front"):
            raise UnknownNameError("view", self.view, ("side", "front"))

    @property
    def axis(self) -> int:
        """The world's axis that points to the right: 0 for x, 1 for y."""
        return 0 if self.view == "side" else 1

    def project(self, points: np.ndarray) -> np.ndarray:
        """(n, 2) pixels of points (n, 3) [m]."""
        return np.column_stack([points[:, self.axis] - self.left, self.top - points[:, 2]]) * self.scale

    def depth(self, points: np.ndarray) -> float:
        """How far away the middle of some points is [m]; only differences mean something."""
        return float(points[:, 1].mean() if self.view == "side" else -points[:, 0].mean())


class Canvas:
    """A picture that is drawn larger and shrunk at the end, for smooth edges. Places are in final pixels."""

    def __init__(self, width: int, height: int, oversampling: int = 3) -> None:
        """An empty sheet of paper."""
        self.width, self.height, self._times = width, height, oversampling
        self._image = Image.new("RGB", (width * oversampling, height * oversampling), _bytes(PAPER))
        self._draw = ImageDraw.Draw(self._image)

    def polygon(self, points: np.ndarray, color: Color) -> None:
        """Fill (n, 2) corners."""
        self._draw.polygon((np.asarray(points) * self._times).ravel().tolist(), fill=_bytes(color))

    def line(self, points: np.ndarray | list[tuple[float, float]], color: Color, width: float) -> None:
        """Join (n, 2) points by a line of a width in pixels."""
        flat = (np.asarray(points) * self._times).ravel().tolist()
        self._draw.line(flat, fill=_bytes(color), width=max(1, round(width * self._times)), joint="curve")

    def text(self, x: float, y: float, text: str, size: float, color: Color = INK, anchor: str = "mm") -> float:
        """Write one line and return its width; `anchor` is Pillow's."""
        font = _font(size * self._times)
        self._draw.text((x * self._times, y * self._times), text, fill=_bytes(color), font=font, anchor=anchor)
        return float(self._draw.textlength(text, font=font)) / self._times

    def image(self, quick: bool = False) -> Image.Image:
        """The picture at its final size; `quick` is ten times faster and a little softer."""
        if quick:
            return self._image.reduce(self._times)
        return self._image.resize((self.width, self.height), Image.Resampling.LANCZOS)


def paint_body(canvas: Canvas, limbs: Iterable[Limb], camera: Camera, fade: float = 0.0) -> None:
    """Draw a body, far parts first and hazier; `fade` 0 … 1 lets the whole of it fade into the paper."""
    limbs = list(limbs)
    depths = [camera.depth(np.vstack([s.points for s in limb.shapes])) for limb in limbs]
    # In a plane all parts are equally far; from the side the left ones then count as the farther.
    order = sorted(range(len(limbs)), key=lambda i: -depths[i] - 1e-6 * limbs[i].side)
    for i in order:
        haze = min(max(_HAZE * (depths[i] - depths[0]), 0.0), _MAX_HAZE)
        paper = 1.0 - (1.0 - haze) * (1.0 - fade)
        for grow, shade in ((_OUTLINE, 0.68), (0.0, 1.0)):
            for shape in limbs[i].shapes:
                tone = tuple(shade * c for c in shape.color)
                canvas.polygon(_outline(shape, camera, grow), mixed((tone[0], tone[1], tone[2]), PAPER, paper))


def paint_ground(canvas: Canvas, terrain: Terrain | None, camera: Camera, left: float, right: float, x: float) -> None:
    """Draw the ground between two columns of the picture [px], down to its lower edge, with marks every 0.5 m.

    Args:
        canvas: what to draw on.
        terrain: its profile; None is flat.
        camera: from where.
        left: first column.
        right: last column.
        x: where the body is [m], for the ground's height seen from the front.
    """
    first, last = (camera.left + column / camera.scale for column in (left, right))
    profile = _profile(terrain, camera, first, last, x)
    surface = camera.project(profile)
    canvas.polygon(np.vstack([surface, [[right, canvas.height], [left, canvas.height]]]), _SOIL)
    for half in range(math.ceil(2.0 * first), math.floor(2.0 * last) + 1):
        place = np.array([[0.5 * half, 0.5 * half, _height(terrain, 0.5 * half if camera.axis == 0 else x)]])
        column, row = camera.project(place)[0]
        whole = half % 2 == 0
        canvas.line([(column, row), (column, row + (9.0 if whole else 5.0))], _MARK, 1.0)
        if whole and left + 12.0 < column < right - 12.0:
            canvas.text(column, row + 17.0, f"{half // 2} m", 10.0, FAINT)
    canvas.line(surface, _SURFACE, 1.6)


def mixed(one: Color, other: Color, share: float) -> Color:
    """A colour on the way from one to the other."""
    r, g, b = ((1.0 - share) * a + share * b for a, b in zip(one, other, strict=True))
    return (r, g, b)


def terrain_of(motion: Motion) -> Terrain | None:
    """The ground a motion happened on, as far as it is known."""
    return motion.scene.terrain if motion.scene is not None else None


def extent(limbs: Iterable[Limb], axis: int) -> tuple[float, float]:
    """Least and greatest coordinate of a body along an axis of the world [m]."""
    shapes = [shape for limb in limbs for shape in limb.shapes]
    low = min(float(s.points[:, axis].min()) - s.radius for s in shapes)
    return low, max(float(s.points[:, axis].max()) + s.radius for s in shapes)


def _height(terrain: Terrain | None, x: float) -> float:
    return float(terrain.height(x)) if terrain is not None else 0.0


def _profile(terrain: Terrain | None, camera: Camera, first: float, last: float, x: float) -> np.ndarray:
    """(n, 3) corners of the ground's surface between two places along the picture's right axis [m]."""
    if camera.axis == 1:
        return np.array([[x, first, _height(terrain, x)], [x, last, _height(terrain, x)]])
    corners = np.zeros((0, 2)) if terrain is None or terrain.vertices is None else terrain.vertices
    inside = corners[(corners[:, 0] > first) & (corners[:, 0] < last)]
    ends = [(place, _height(terrain, place)) for place in (first, last)]
    along = np.vstack([ends[:1], inside, ends[1:]])
    return np.column_stack([along[:, 0], np.zeros(len(along)), along[:, 1]])


def _outline(shape: Shape, camera: Camera, grow: float) -> np.ndarray:
    """(120, 2) the shape's silhouette, `grow` pixels larger: its farthest point in every direction."""
    points = camera.project(shape.points)
    farthest = np.argmax(_CIRCLE @ points.T, axis=1)
    return np.asarray(points[farthest] + (shape.radius * camera.scale + grow) * _CIRCLE)


def _bytes(color: Color) -> tuple[int, int, int]:
    r, g, b = (round(255 * min(max(float(c), 0.0), 1.0)) for c in color)
    return (r, g, b)


@cache
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
