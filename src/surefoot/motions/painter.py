"""Draws bodies and the ground below them in orthographic view, with Pillow alone.

The ground is cut along the body's path and has marks of distance. `mean_facing` says where a body faces, so that a
camera can look at its side or its front.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from surefoot.errors import UnknownNameError
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import SkeletonError, find_body_parts
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.posed_body import Color, Limb, Shape

if TYPE_CHECKING:
    from surefoot.terrains.terrain import Terrain

View = Literal["side", "front"]
PAPER, INK, FAINT = (0.984, 0.980, 0.969), (0.24, 0.27, 0.31), (0.53, 0.52, 0.50)
_OUTLINE = 1.1  # [px]
_HAZE, _MAX_HAZE = 0.9, 0.3  # [1/m] how fast parts behind the trunk fade into the paper, and how far
_SOIL, _SURFACE, _MARK = (0.906, 0.890, 0.859), (0.60, 0.57, 0.53), (0.70, 0.675, 0.635)
_FINENESS = 2.0  # [px] between points of an uneven ground without known corners
_APART = 0.02  # [m] two hips must be apart for their line to show left and right
_TURN = np.linspace(0.0, 2.0 * math.pi, 120, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN)])  # (120, 2)


@dataclass(frozen=True)
class Camera:
    """An orthographic view of a body that faces the world yaw `yaw` [rad].

    From the side the body faces right; from the front its left is on the right. `left` (along the picture's right axis)
    and `top` are the coordinates [m] of the picture's upper left corner; `scale` is in px/m.
    """

    view: View
    scale: float
    left: float = 0.0
    top: float = 0.0
    yaw: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a view that does not exist."""
        if self.view not in ("side", "front"):
            raise UnknownNameError("view", self.view, ("side", "front"))

    @property
    def axis(self) -> int:
        """The body's axis that points right: 0 is ahead, 1 is left."""
        return 0 if self.view == "side" else 1

    def along(self, points: np.ndarray) -> np.ndarray:
        """(n,) coordinates of points (n, 2 or 3) along the picture's right axis [m]."""
        return in_yaw_frame(points, self.yaw)[:, self.axis]

    def across(self, points: np.ndarray) -> np.ndarray:
        """(n,) the other horizontal coordinate [m]: left for the side view, ahead for the front view."""
        return in_yaw_frame(points, self.yaw)[:, 1 - self.axis]

    def place(self, along: np.ndarray, across: np.ndarray) -> np.ndarray:
        """(n, 2) world x and y of points given by `along` (n,) and `across` (n,) [m]."""
        return in_yaw_frame(np.column_stack([along, across] if self.axis == 0 else [across, along]), -self.yaw)

    def pixels(self, along: np.ndarray, height: np.ndarray) -> np.ndarray:
        """(n, 2) pixels of points given by `along` (n,) and heights (n,) [m]."""
        return np.column_stack([along - self.left, self.top - height]) * self.scale

    def project(self, points: np.ndarray) -> np.ndarray:
        """(n, 2) pixels of world points (n, 3) [m]."""
        return self.pixels(self.along(points), points[:, 2])

    def depth(self, points: np.ndarray) -> float:
        """Distance of the middle of some points [m], up to a constant."""
        across = self.across(points).mean()
        return float(across if self.view == "side" else -across)


class Canvas:
    """A picture that is drawn larger and shrunk at the end, for smooth edges. Coordinates are final pixels."""

    def __init__(self, width: int, height: int, oversampling: int = 3) -> None:
        """An empty sheet of paper."""
        self.width, self.height, self._times = width, height, oversampling
        self._image = Image.new("RGB", (width * oversampling, height * oversampling), _bytes(PAPER))
        self._draw = ImageDraw.Draw(self._image)

    def polygon(self, points: np.ndarray, color: Color) -> None:
        """Fill (n, 2) corners."""
        self._draw.polygon((np.asarray(points) * self._times).ravel().tolist(), fill=_bytes(color))

    def line(self, points: np.ndarray | list[tuple[float, float]], color: Color, width: float) -> None:
        """Join (n, 2) points by a line [px]."""
        flat = (np.asarray(points) * self._times).ravel().tolist()
        self._draw.line(flat, fill=_bytes(color), width=max(1, round(width * self._times)), joint="curve")

    def text(self, x: float, y: float, text: str, size: float, color: Color = INK, anchor: str = "mm") -> float:
        """Write one line and return its width [px]; `anchor` is Pillow's."""
        font = _font(size * self._times)
        self._draw.text((x * self._times, y * self._times), text, fill=_bytes(color), font=font, anchor=anchor)
        return float(self._draw.textlength(text, font=font)) / self._times

    def image(self, quick: bool = False) -> Image.Image:
        """The picture at its final size; `quick` is ten times faster and a little softer."""
        if quick:
            return self._image.reduce(self._times)
        return self._image.resize((self.width, self.height), Image.Resampling.LANCZOS)


def paint_body(canvas: Canvas, limbs: Iterable[Limb], camera: Camera, fade: float = 0.0) -> None:
    """Draw a body, far parts first and hazier; `fade` (0 … 1) blends all of it into the paper."""
    limbs = list(limbs)
    depths = [camera.depth(np.vstack([s.points for s in limb.shapes])) for limb in limbs]
    # All parts of a planar body are equally far away; the left ones then count as farther from the side.
    order = sorted(range(len(limbs)), key=lambda i: -depths[i] - 1e-6 * limbs[i].side)
    for i in order:
        haze = min(max(_HAZE * (depths[i] - depths[0]), 0.0), _MAX_HAZE)
        paper = 1.0 - (1.0 - haze) * (1.0 - fade)
        for grow, shade in ((_OUTLINE, 0.68), (0.0, 1.0)):
            for shape in limbs[i].shapes:
                tone = tuple(shade * c for c in shape.color)
                canvas.polygon(_outline(shape, camera, grow), blend_colors((tone[0], tone[1], tone[2]), PAPER, paper))


def blend_colors(one: Color, other: Color, share: float) -> Color:
    """The colour a share of the way from one to the other."""
    r, g, b = ((1.0 - share) * a + share * b for a, b in zip(one, other, strict=True))
    return (r, g, b)


def in_yaw_frame(points: np.ndarray, yaw: float) -> np.ndarray:
    """World points (n, 2 or 3) [m] in a frame rotated by a yaw [rad]: ahead, left, up."""
    if yaw == 0.0:
        return points
    cosine, sine = math.cos(yaw), math.sin(yaw)
    x, y = points[:, 0], points[:, 1]
    return np.column_stack([cosine * x + sine * y, cosine * y - sine * x, points[:, 2:]])


def extent_along(limbs: Iterable[Limb], axis: int, yaw: float = 0.0) -> tuple[float, float]:
    """Least and greatest coordinate of a body [m] along an axis of a frame rotated by a yaw [rad]."""
    shapes = [(in_yaw_frame(shape.points, yaw)[:, axis], shape.radius) for limb in limbs for shape in limb.shapes]
    low = min(float(places.min()) - radius for places, radius in shapes)
    return low, max(float(places.max()) + radius for places, radius in shapes)


def _outline(shape: Shape, camera: Camera, grow: float) -> np.ndarray:
    """(120, 2) silhouette of a shape, `grow` pixels larger: its farthest point in every direction."""
    points = camera.project(shape.points)
    farthest = np.argmax(_CIRCLE @ points.T, axis=1)
    return np.asarray(points[farthest] + (shape.radius * camera.scale + grow) * _CIRCLE)


def _bytes(color: Color) -> tuple[int, int, int]:
    r, g, b = (round(255 * min(max(float(c), 0.0), 1.0)) for c in color)
    return (r, g, b)


@cache
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def terrain_of(motion: Motion) -> Terrain | None:
    """The ground of a motion; None if it is not known."""
    return motion.scene.terrain if motion.scene is not None else None


def is_flat(terrain: Terrain | None) -> bool:
    """Whether the ground is flat, or taken to be."""
    return terrain is None or terrain.description == "flat"


def ground_heights(terrain: Terrain | None, places: np.ndarray) -> np.ndarray:
    """(n,) heights of the ground at world points (n, 2 or 3) [m]."""
    return np.zeros(len(places)) if terrain is None else np.asarray(terrain.height(places[:, 0], places[:, 1]))


def paint_ground(
    canvas: Canvas, terrain: Terrain | None, camera: Camera, left: float, right: float, path: np.ndarray
) -> None:
    """Draw the ground between two columns of the picture [px], down to its lower edge, with marks every 0.5 m.

    Args:
        canvas: what to draw on.
        terrain: None is flat.
        camera: the view.
        left: first column.
        right: last column.
        path: (n, 2 or 3) path of the body [m]; the ground is cut along it, and straight on before and after.
    """
    first, last = (camera.left + column / camera.scale for column in (left, right))
    surface = camera.pixels(*_profile(terrain, camera, first, last, path).T)
    canvas.polygon(np.vstack([surface, [[right, canvas.height], [left, canvas.height]]]), _SOIL)
    halves = range(math.ceil(2.0 * first), math.floor(2.0 * last) + 1)
    marks = 0.5 * np.array(halves, float)
    for half, (column, row) in zip(halves, camera.pixels(marks, _cut(terrain, camera, marks, path)), strict=True):
        whole = half % 2 == 0
        canvas.line([(column, row), (column, row + (9.0 if whole else 5.0))], _MARK, 1.0)
        if whole and left + 12.0 < column < right - 12.0:
            canvas.text(column, row + 17.0, f"{half // 2} m", 10.0, FAINT)
    canvas.line(surface, _SURFACE, 1.6)


def _cut(terrain: Terrain | None, camera: Camera, along: np.ndarray, path: np.ndarray) -> np.ndarray:
    """(n,) heights of the ground at coordinates along the picture's right axis [m], cut along a path."""
    places, across = camera.along(path), camera.across(path)
    goes_on = len(set(np.sign(np.diff(places)).tolist())) <= 1
    if not goes_on or (terrain is not None and terrain.vertices is not None):
        across = np.full(len(places), across.mean())
    order = np.argsort(places)
    return ground_heights(terrain, camera.place(along, np.interp(along, places[order], across[order])))


def _profile(terrain: Terrain | None, camera: Camera, first: float, last: float, path: np.ndarray) -> np.ndarray:
    """(n, 2) points (along, height) of the surface between two coordinates along the picture's right axis [m]."""
    ends = np.array([first, last])
    if terrain is not None and terrain.vertices is not None:
        inside = _corners(terrain.vertices, camera, first, last, path)
        levels = _cut(terrain, camera, ends, path)
        return np.vstack([[first, levels[0]], inside, [last, levels[1]]])
    if not is_flat(terrain):
        ends = np.linspace(first, last, max(2, math.ceil((last - first) * camera.scale / _FINENESS) + 1))
    return np.column_stack([ends, _cut(terrain, camera, ends, path)])


def _corners(vertices: np.ndarray, camera: Camera, first: float, last: float, path: np.ndarray) -> np.ndarray:
    """(n, 2) corners (along, height) of a ground profile along x, between two coordinates of the picture [m]."""
    across = camera.across(path).mean()
    (start, _), (further, _) = camera.place(np.array([0.0, 1.0]), np.full(2, across))
    slant = further - start  # of x along the picture
    if abs(slant) < 1e-9:
        return np.zeros((0, 2))
    along = np.column_stack([(vertices[:, 0] - start) / slant, vertices[:, 1]])
    inside = along[(along[:, 0] > first) & (along[:, 0] < last)]
    return inside if slant > 0.0 else inside[::-1]


def mean_facing(motion: Motion, start: float = -math.inf, end: float = math.inf) -> float:
    """Mean world yaw [rad] that a body faces between two moments [s].

    The body's left shows it, because bends, flips and falls forward do not turn it: the y axis of the root of our
    bodies, and the line between the hips of other skeletons, whose root may have any orientation.
    """
    first = max(int(np.searchsorted(motion.time, start, side="right")) - 1, 0)
    last = int(np.searchsorted(motion.time, end, side="left")) + 1
    across = None if motion.scene is not None else _between_hips(motion, first, last)
    if across is None:
        across = quat.rotate(motion.rotations[first:last, 0], np.array([0.0, 1.0, 0.0])).mean(axis=0)
    return math.atan2(-across[0], across[1])


def _between_hips(motion: Motion, first: int, last: int) -> np.ndarray | None:
    """(3,) mean vector from the right hip to the left one [m]; None without hips that lie apart."""
    try:
        parts, _ = find_body_parts(motion)
    except SkeletonError:
        return None
    places, _ = world_poses(motion.select(slice(first, last)))
    across = (places[:, parts.left.hip] - places[:, parts.right.hip]).mean(axis=0)
    return np.asarray(across) if np.hypot(across[0], across[1]) > _APART else None
