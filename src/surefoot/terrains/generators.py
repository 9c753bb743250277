"""The makers of terrains: planes, profiles and fields from a few numbers [m, rad].

A field from a grey picture seen from above: black is low, white is high.
"""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from surefoot.errors import TerrainError
from surefoot.terrains.ground_shapes import FINEST, MAX_POINTS, Plane, Platform, Profile, height_field
from surefoot.terrains.props import SeeSaw
from surefoot.terrains.terrain import Terrain

_LEVEL = 0.6  # [m] radius of the level place bumps leave at the origin


def flat() -> Terrain:
    """Level ground."""
    return Terrain("flat")


def incline(angle: float, direction: float = 0.0) -> Terrain:
    """An endless plane through the origin, rising at `angle` towards the world yaw `direction` [rad]."""
    texts = [_degrees(_steepness(angle, "an incline")), *_towards(direction)]
    return Terrain(f"incline:{','.join(texts)}", Plane(*(math.radians(float(text)) for text in texts)))


def slope(angle: float, start: float = 2.0, length: float = 500.0, direction: float = 0.0) -> Terrain:
    """Level ground that rises (or falls) at `angle` radians from `start` on, for `length` metres of the plan.

    Both are measured from the origin along the world yaw `direction` [rad], the way of steepest ascent.
    """
    text = _degrees(_steepness(angle, "a slope"))
    if not (length > 0.0 and start >= 0.3):
        raise TerrainError("a slope needs start >= 0.3 m and length > 0 m")
    rise = math.tan(math.radians(float(text))) * length
    corners = np.array([[start, 0.0], [start + length, rise]])
    way = _towards(direction)
    text = ",".join([text, shortest_number(start), shortest_number(length), *way])
    return Terrain(f"slope:{text}", Profile(corners, *(math.radians(float(degrees)) for degrees in way)))


def steps(places: Sequence[float], heights: Sequence[float]) -> Terrain:
    """Vertical steps: at x = places[i] the ground rises by heights[i] (falls where negative) [m]."""
    if len(places) != len(heights) or not len(places):
        raise TerrainError("steps need as many heights as places, and at least one")
    text = ",".join(f"{shortest_number(x)},{shortest_number(h)}" for x, h in zip(places, heights, strict=True))
    return Terrain(f"steps:{text}", _staircase(places, heights))


def stairs(rise: float, run: float, count: int, start: float = 1.0, direction: float = 0.0) -> Terrain:
    """A flight of `count` equal steps, the first face `start` from the origin; negative `rise` leads down [m].

    It goes along the world yaw `direction` [rad].
    """
    if not (0.05 <= run <= 10.0 and 1 <= count <= 1000 and count == int(count) and start >= 0.3):
        raise TerrainError("stairs take run 0.05 … 10 m, a whole count of 1 … 1000 and start >= 0.3 m")
    places = [start + run * i for i in range(int(count))]
    way = _towards(direction)
    text = ",".join([shortest_number(rise), shortest_number(run), shortest_number(count), shortest_number(start), *way])
    corners = _staircase(places, [rise] * len(places))
    return Terrain(f"stairs:{text}", Profile(corners, *(math.radians(float(degrees)) for degrees in way)))


def gaps(width: float, tread: float = 0.8, count: int = 10, depth: float = 0.6, start: float = 1.0) -> Terrain:
    """Gaps of a width across the way, so many, with level stretches of `tread` between them [m]."""
    if not (0.0 < width <= 2.0 and 0.1 <= tread <= 100.0 and 0.0 < depth <= 2.0 and start >= 0.3):
        raise TerrainError("gaps take width up to 2 m, tread 0.1 … 100 m, depth up to 2 m and start >= 0.3 m")
    if not (1 <= count <= 1000 and count == int(count)):
        raise TerrainError("gaps take a whole count of 1 … 1000")
    edges = [start + (width + tread) * i for i in range(int(count))]
    text = ",".join(
        [
            shortest_number(width),
            shortest_number(tread),
            shortest_number(count),
            shortest_number(depth),
            shortest_number(start),
        ]
    )
    places, rises = [], []
    for edge in edges:
        places += [edge, edge + width]
        rises += [-depth, depth]
    return Terrain(f"gaps:{text}", _staircase(places, rises))


def platform(angle: float, period: float = 15.0, ramp: float = 10.0) -> Terrain:
    """A plate that tilts by `angle` [rad] towards a direction that goes round in a `period`, after a `ramp` [s]."""
    text = ",".join([_degrees(angle), shortest_number(period), shortest_number(ramp)])
    return Terrain(f"platform:{text}", Platform(math.radians(float(text.split(",")[0])), period, ramp))


def seesaw(
    length: float = 3.0, height: float = 0.12, start: float = 1.0, width: float = 2.0, damping: float = 200.0
) -> Terrain:
    """Level ground with a board on a hinge across the way, its near end down [m; N·m·s], see `SeeSaw`."""
    text = ",".join(map(shortest_number, (length, height, start, width, damping)))
    return Terrain(f"seesaw:{text}", None, (SeeSaw(length, height, start, width, damping),))


def rough(seed: int, amplitude: float, spacing: float = 0.5, length: float = 200.0) -> Terrain:
    """Random heights within ± `amplitude` every `spacing` metres along x, joined by straight lines."""
    if not (0.0 <= amplitude <= 1.0 and 0.05 <= spacing <= 10.0 and 0.0 < length <= 1000.0 and 0 <= seed < 2**53):
        raise TerrainError("rough takes seed >= 0, amplitude 0 … 1 m, spacing 0.05 … 10 m, length up to 1000 m")
    count = max(2, min(int(length / spacing), 4000))
    heights = np.random.default_rng(int(seed)).uniform(-amplitude, amplitude, count)
    heights[0] = heights[-1] = 0.0
    corners = np.column_stack([1.0 + spacing * np.arange(count), heights])
    return Terrain(
        f"rough:{int(seed)},{shortest_number(amplitude)},{shortest_number(spacing)},{shortest_number(length)}", corners
    )


def bumps(seed: int, amplitude: float, spacing: float = 0.4, size: float = 40.0) -> Terrain:
    """Random heights within ± `amplitude` every `spacing` metres along x and y, joined by triangles.

    They fill a square of the side `size` around the origin, where a circle of 0.6 m radius is level; so is the
    ground outside the square [m].
    """
    if not (0.0 <= amplitude <= 1.0 and 0.05 <= spacing <= 10.0 and 0 <= seed < 2**53):
        raise TerrainError("bumps take seed >= 0, amplitude 0 … 1 m, spacing 0.05 … 10 m")
    if not 2.0 * spacing <= size <= (MAX_POINTS - 2) * spacing:
        raise TerrainError(f"bumps take a size of 2 … {MAX_POINTS - 2} times their spacing, got {size / spacing:.4g}")
    half = max(1, round(0.5 * size / spacing))
    heights = np.random.default_rng(int(seed)).uniform(-amplitude, amplitude, (2 * half + 1, 2 * half + 1))
    heights[[0, -1], :] = heights[:, [0, -1]] = 0.0
    nearest = np.maximum(np.abs(np.arange(-half, half + 1)) - 1, 0) * spacing  # [m] of the cells around a point
    heights[np.hypot(nearest[:, None], nearest[None, :]) <= _LEVEL] = 0.0
    corner = (-half * spacing, -half * spacing)
    text = f"bumps:{int(seed)},{shortest_number(amplitude)},{shortest_number(spacing)},{shortest_number(size)}"
    return Terrain(text, height_field(heights, (spacing, spacing), corner))


def profile(heights: Sequence[float] | np.ndarray, spacing: float = 0.25, start: float = 1.0) -> Terrain:
    """Any height profile: `heights` [m] every `spacing` metres from x = `start` on; has no text form."""
    z = np.asarray(heights, float)
    if z.ndim != 1 or not len(z) or not spacing > 0.0:
        raise TerrainError("a profile takes a list of heights and a spacing > 0 m")
    return Terrain("profile", np.column_stack([start + spacing * np.arange(len(z)), z]))


def field(
    heights: Sequence[Sequence[float]] | np.ndarray,
    spacing: float | tuple[float, float] = 0.25,
    corner: tuple[float, float] | None = None,
) -> Terrain:
    """Any height field; has no text form.

    Args:
        heights: (rows, columns) [m], rows along y, columns along x. All are moved by the same amount so that the
            ground is at height 0 at the origin; a border that is not level is made so, see docs/terrains.md.
        spacing: between neighbours [m]; two numbers are along x and along y.
        corner: world (x, y) of heights[0, 0] [m]; by default the field's middle is at the origin.
    """
    try:
        z = np.asarray(heights, float)
        along_x, along_y = np.broadcast_to(np.asarray(spacing, float), 2).tolist()
        place = None if corner is None else np.asarray(corner, float).reshape(2).tolist()
    except (TypeError, ValueError):
        raise TerrainError("a field takes rows of heights, one or two spacings and a corner (x, y)") from None
    if z.ndim == 2 and place is None:
        place = [-0.5 * along_x * (z.shape[1] - 1), -0.5 * along_y * (z.shape[0] - 1)]
    x, y = place or (0.0, 0.0)
    return Terrain("field", height_field(z, (along_x, along_y), (x, y)))


def shortest_number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def _degrees(angle: float) -> str:
    """An angle [rad] in degrees to 14 digits, so that reading it and writing it again gives the same text."""
    return f"{math.degrees(angle):.14g}"


def _towards(direction: float) -> list[str]:
    """The yaw [rad] as the last part of a description, which forward needs not."""
    if not math.isfinite(direction) or abs(direction) > 2.0 * math.pi:
        raise TerrainError(f"a direction must be within ± 360°, got {math.degrees(direction):g}°")
    return [_degrees(direction)] if direction else []


def _steepness(angle: float, what: str) -> float:
    if not abs(angle) <= math.radians(45.0):
        raise TerrainError(f"{what} must be within ± 45°, got {math.degrees(angle):g}°")
    return angle


def _staircase(places: Sequence[float], rises: Sequence[float]) -> np.ndarray:
    """(n, 2) corners of vertical faces."""
    if any(not abs(rise) <= 2.0 for rise in rises):
        raise TerrainError("a step's height must be within ± 2 m")
    level, corners = 0.0, []
    for place, rise in zip(places, rises, strict=True):
        corners += [(place, level), (place, level + rise)]
        level += rise
    return np.array(corners)


_UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, Image.DecompressionBombError)


def image(path: str | Path, size: float | tuple[float, float], height: float) -> Terrain:
    """Ground from a PNG file, its middle at the origin and at height 0, its right along x, its top along y.

    Args:
        path: of the picture, 3 × 3 to 1024 × 1024 pixels, each of them a point of the ground; grey of 8 or 16
            bits, colours are made grey.
        size: along x, and along y if two [m]; by default pixels are as wide as high.
        height: of white over black [m].
    """
    grey = _grey(Path(path))
    rows, columns = grey.shape
    long, wide = size if isinstance(size, tuple) else (size, size * (rows - 1) / (columns - 1))
    if not (0.0 < long <= 1000.0 and 0.0 < wide <= 1000.0 and 0.0 <= height <= 100.0):
        raise TerrainError("an image takes sizes > 0 … 1000 m and a height of 0 … 100 m")
    spacing = (long / (columns - 1), wide / (rows - 1))
    if min(spacing) < FINEST:
        least = FINEST * max((columns - 1), (rows - 1) * long / wide)
        raise TerrainError(
            f"an image's pixels must be {FINEST:g} m apart or more: make its size {least:.4g} m or take fewer pixels"
        )
    text = ",".join(
        [
            str(path),
            shortest_number(long),
            shortest_number(height),
            *([shortest_number(wide)] if isinstance(size, tuple) else []),
        ]
    )
    return Terrain(f"image:{text}", height_field(grey[::-1] * height, spacing, (-0.5 * long, -0.5 * wide)))


def _grey(path: Path) -> np.ndarray:
    """(rows, columns) shares of white, the picture's top row first."""
    try:
        if not path.is_file():
            raise TerrainError(f"no picture {str(path)!r}; an image takes the path of a PNG file")
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _shares(path)
    except Image.DecompressionBombWarning:
        raise TerrainError(f"picture {path.name!r} has more than {MAX_POINTS} × {MAX_POINTS} pixels") from None
    except _UNREADABLE as error:
        reason = str(error).splitlines() or [type(error).__name__]
        raise TerrainError(f"picture {path.name!r} cannot be read as a PNG file: {reason[0][:120]}") from None


def _shares(path: Path) -> np.ndarray:
    with Image.open(path, formats=["PNG"]) as picture:
        if not all(3 <= n <= MAX_POINTS for n in picture.size):
            across, down = picture.size
            raise TerrainError(
                f"picture {path.name!r} has {across} × {down} pixels; valid: 3 × 3 to {MAX_POINTS} × {MAX_POINTS}"
            )
        if picture.mode.startswith("I"):  # 16 bits of grey
            return np.asarray(picture, float) / 65535.0
        return np.asarray(picture.convert("L"), float) / 255.0
