"""Functions that make terrains: planes, profiles and height fields from a few numbers or a grey picture."""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot.errors import TerrainError
from surefoot.terrains.ground_shapes import FINEST, MAX_POINTS, Plane, Platform, Profile, height_field
from surefoot.terrains.props import SeeSaw
from surefoot.terrains.terrain import Terrain

_LEVEL = 0.6  # [m] radius of the level place that bumps leave at the origin


def flat() -> Terrain:
    """Level ground."""
    return Terrain("flat")


def incline(angle: float, direction: float = 0.0) -> Terrain:
    """An endless inclined plane through the origin.

    Args:
        angle: of the slope, within ± 45° [rad].
        direction: world yaw in which it rises [rad].

    Raises:
        TerrainError: an angle is out of range.
    """
    (steepness, slant), (way, yaw) = _steepness(angle, "an incline"), _yaw(direction)
    return Terrain(_described("incline", steepness, *way), Plane(slant, yaw))


def slope(angle: float, start: float = 2.0, length: float = 500.0, direction: float = 0.0) -> Terrain:
    """Level ground with a stretch that rises or falls.

    Args:
        angle: of the slope, within ± 45° [rad].
        start: distance of its beginning from the origin, at least 0.3 m.
        length: of its horizontal projection [m].
        direction: world yaw along which both are measured, the direction of steepest ascent [rad].

    Raises:
        TerrainError: a number is out of range.
    """
    (steepness, slant), (way, yaw) = _steepness(angle, "a slope"), _yaw(direction)
    if not (length > 0.0 and start >= 0.3):
        raise TerrainError("a slope needs start >= 0.3 m and length > 0 m")
    corners = np.array([[start, 0.0], [start + length, math.tan(slant) * length]])
    return Terrain(_described("slope", steepness, start, length, *way), Profile(corners, yaw))


def steps(places: Sequence[float], heights: Sequence[float]) -> Terrain:
    """Vertical steps across the way.

    Args:
        places: x of each face [m].
        heights: by how much the ground rises there, within ± 2 m; negative ones lead down.

    Raises:
        TerrainError: there are not as many heights as places, or a height is out of range.
    """
    if len(places) != len(heights) or not len(places):
        raise TerrainError("steps need as many heights as places, and at least one")
    pairs = [number for pair in zip(places, heights, strict=True) for number in pair]
    return Terrain(_described("steps", *pairs), _staircase(places, heights))


def stairs(rise: float, run: float, count: int, start: float = 1.0, direction: float = 0.0) -> Terrain:
    """A flight of equal steps.

    Args:
        rise: height of a step, within ± 2 m; negative ones lead down.
        run: depth of a step, 0.05 … 10 m.
        count: how many, 1 … 1000.
        start: distance of the first face from the origin, at least 0.3 m.
        direction: world yaw along which the flight goes [rad].

    Raises:
        TerrainError: a number is out of range.
    """
    if not (0.05 <= run <= 10.0 and 1 <= count <= 1000 and count == int(count) and start >= 0.3):
        raise TerrainError("stairs take run 0.05 … 10 m, a whole count of 1 … 1000 and start >= 0.3 m")
    places = [start + run * i for i in range(int(count))]
    way, yaw = _yaw(direction)
    corners = _staircase(places, [rise] * len(places))
    return Terrain(_described("stairs", rise, run, count, start, *way), Profile(corners, yaw))


def gaps(width: float, tread: float = 0.8, count: int = 10, depth: float = 0.6, start: float = 1.0) -> Terrain:
    """Gaps across the way.

    Args:
        width: of a gap along x, up to 2 m.
        tread: length of the level stretch between two gaps, 0.1 … 100 m.
        count: how many gaps, 1 … 1000.
        depth: of a gap, up to 2 m.
        start: x of the first gap's near edge, at least 0.3 m.

    Raises:
        TerrainError: a number is out of range.
    """
    if not (0.0 < width <= 2.0 and 0.1 <= tread <= 100.0 and 0.0 < depth <= 2.0 and start >= 0.3):
        raise TerrainError("gaps take width up to 2 m, tread 0.1 … 100 m, depth up to 2 m and start >= 0.3 m")
    if not (1 <= count <= 1000 and count == int(count)):
        raise TerrainError("gaps take a whole count of 1 … 1000")
    edges = [start + (width + tread) * i for i in range(int(count))]
    places = [place for edge in edges for place in (edge, edge + width)]
    return Terrain(
        _described("gaps", width, tread, count, depth, start), _staircase(places, [-depth, depth] * len(edges))
    )


def platform(angle: float, period: float = 15.0, ramp: float = 10.0) -> Terrain:
    """A plate that gyrates: it tilts in a direction that turns round and round.

    Args:
        angle: of the tilt, 0 … 60° [rad].
        period: of one turn of the tilt's direction [s].
        ramp: time in which the tilt grows from level [s].

    Raises:
        TerrainError: a number is out of range.
    """
    text, tilt = _rounded(angle)
    return Terrain(_described("platform", text, period, ramp), Platform(tilt, period, ramp))


def seesaw(
    length: float = 3.0, height: float = 0.12, start: float = 1.0, width: float = 2.0, damping: float = 200.0
) -> Terrain:
    """Level ground with a board on a hinge across the way, its near end down.

    Args:
        length: of the board along x [m].
        height: of its upper side at the hinge, which is in its middle [m].
        start: world x of its near end [m].
        width: along y [m].
        damping: of the hinge [N·m·s].

    Raises:
        TerrainError: a number is out of range.
    """
    numbers = (length, height, start, width, damping)
    return Terrain(_described("seesaw", *numbers), None, (SeeSaw(*numbers),))


def rough(seed: int, amplitude: float, spacing: float = 0.5, length: float = 200.0) -> Terrain:
    """Random heights along x, joined by straight lines.

    Args:
        seed: of the random numbers, at least 0.
        amplitude: heights are within ± this, 0 … 1 m.
        spacing: between two heights along x, 0.05 … 10 m.
        length: of the rough stretch, up to 1000 m.

    Raises:
        TerrainError: a number is out of range.
    """
    if not (0.0 <= amplitude <= 1.0 and 0.05 <= spacing <= 10.0 and 0.0 < length <= 1000.0 and 0 <= seed < 2**53):
        raise TerrainError("rough takes seed >= 0, amplitude 0 … 1 m, spacing 0.05 … 10 m, length up to 1000 m")
    count = max(2, min(int(length / spacing), 4000))
    heights = np.random.default_rng(int(seed)).uniform(-amplitude, amplitude, count)
    heights[0] = heights[-1] = 0.0
    corners = np.column_stack([1.0 + spacing * np.arange(count), heights])
    return Terrain(_described("rough", int(seed), amplitude, spacing, length), corners)


def bumps(seed: int, amplitude: float, spacing: float = 0.4, size: float = 40.0) -> Terrain:
    """Random heights on a grid, joined by triangles.

    They fill a square around the origin. A circle of 0.6 m radius at the origin is level, and so is the ground outside.

    Args:
        seed: of the random numbers, at least 0.
        amplitude: heights are within ± this, 0 … 1 m.
        spacing: between two heights along x and along y, 0.05 … 10 m.
        size: side of the square [m].

    Raises:
        TerrainError: a number is out of range, or the bumps are too steep.
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
    text = _described("bumps", int(seed), amplitude, spacing, size)
    return Terrain(text, height_field(heights, (spacing, spacing), corner))


def profile(heights: Sequence[float] | np.ndarray, spacing: float = 0.25, start: float = 1.0) -> Terrain:
    """Any height profile along x; it has no text form.

    Args:
        heights: (n,) of the corners [m].
        spacing: between two corners [m].
        start: x of the first corner [m].

    Raises:
        TerrainError: there are no heights, or the ground would be too steep.
    """
    z = np.asarray(heights, float)
    if z.ndim != 1 or not len(z) or not spacing > 0.0:
        raise TerrainError("a profile takes a list of heights and a spacing > 0 m")
    return Terrain("profile", np.column_stack([start + spacing * np.arange(len(z)), z]))


def field(
    heights: Sequence[Sequence[float]] | np.ndarray,
    spacing: float | tuple[float, float] = 0.25,
    corner: tuple[float, float] | None = None,
) -> Terrain:
    """Any height field; it has no text form.

    Args:
        heights: (rows, columns) [m], rows along y, columns along x. All are moved by the same amount so that the
            ground is at height 0 at the origin; a border that is not level is levelled, see docs/terrains.md.
        spacing: between neighbours [m]; two numbers are along x and along y.
        corner: world (x, y) of heights[0, 0] [m]; by default the field's middle is at the origin.

    Raises:
        TerrainError: these are no rows of heights, a number is out of range, or the ground would be too steep.
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


def image(path: str | Path, size: float | tuple[float, float], height: float) -> Terrain:
    """Ground from a grey PNG picture seen from above: black is low, white is high.

    The picture's middle is at the origin and at height 0, its right side along x, its top along y.

    Args:
        path: of the picture, 3 × 3 to 1024 × 1024 pixels, each of them a point of the ground; grey of 8 or 16
            bits, colours are made grey.
        size: along x, and along y if two [m]; by default pixels are as wide as high.
        height: of white over black [m].

    Raises:
        TerrainError: the picture cannot be read, a number is out of range, or the ground would be too steep.
    """
    grey = _read_grey(Path(path))
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
    text = _described("image", str(path), long, height, *([wide] if isinstance(size, tuple) else []))
    return Terrain(text, height_field(grey[::-1] * height, spacing, (-0.5 * long, -0.5 * wide)))


_UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error)


def _read_grey(path: Path) -> np.ndarray:
    """(rows, columns) brightness 0 … 1, the picture's top row first."""
    from PIL import Image  # which takes a while to import

    try:
        if not path.is_file():
            raise TerrainError(f"no picture {str(path)!r}; an image takes the path of a PNG file")
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=["PNG"]) as picture:
                if not all(3 <= n <= MAX_POINTS for n in picture.size):
                    across, down = picture.size
                    valid = f"3 × 3 to {MAX_POINTS} × {MAX_POINTS}"
                    raise TerrainError(f"picture {path.name!r} has {across} × {down} pixels; valid: {valid}")
                if picture.mode.startswith("I"):  # 16 bits of grey
                    return np.asarray(picture, float) / 65535.0
                return np.asarray(picture.convert("L"), float) / 255.0
    except Image.DecompressionBombWarning:
        raise TerrainError(f"picture {path.name!r} has more than {MAX_POINTS} × {MAX_POINTS} pixels") from None
    except (*_UNREADABLE, Image.DecompressionBombError) as error:
        reason = str(error).splitlines() or [type(error).__name__]
        raise TerrainError(f"picture {path.name!r} cannot be read as a PNG file: {reason[0][:120]}") from None


def _described(name: str, *arguments: float | str) -> str:
    """The text of a terrain; each number as the shortest text that reads back as the same number."""
    return f"{name}:{','.join(a if isinstance(a, str) else repr(float(a)).removesuffix('.0') for a in arguments)}"


def _rounded(angle: float) -> tuple[str, float]:
    """An angle [rad] in degrees to 14 digits, which stays the same text when it is read and written, and in radians."""
    text = f"{math.degrees(angle):.14g}"
    return text, math.radians(float(text))


def _yaw(direction: float) -> tuple[list[str], float]:
    """A direction as the last part of a description, which forward (0) leaves out, and in radians."""
    if not math.isfinite(direction) or abs(direction) > 2.0 * math.pi:
        raise TerrainError(f"a direction must be within ± 360°, got {math.degrees(direction):g}°")
    text, yaw = _rounded(direction)
    return ([text], yaw) if direction else ([], 0.0)


def _steepness(angle: float, what: str) -> tuple[str, float]:
    if not abs(angle) <= math.radians(45.0):
        raise TerrainError(f"{what} must be within ± 45°, got {math.degrees(angle):g}°")
    return _rounded(angle)


def _staircase(places: Sequence[float], rises: Sequence[float]) -> np.ndarray:
    """(n, 2) corners of vertical faces."""
    if any(not abs(rise) <= 2.0 for rise in rises):
        raise TerrainError("a step's height must be within ± 2 m")
    level, corners = 0.0, []
    for place, rise in zip(places, rises, strict=True):
        corners += [(place, level), (place, level + rise)]
        level += rise
    return np.array(corners)
