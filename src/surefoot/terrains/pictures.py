"""A field from a grey picture seen from above: black is low, white is high."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

from surefoot.errors import TerrainError
from surefoot.terrains.fields import FINEST, MAX_POINTS, raised
from surefoot.terrains.kinds import number
from surefoot.terrains.terrain import Terrain

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
    text = ",".join([str(path), number(long), number(height), *([number(wide)] if isinstance(size, tuple) else [])])
    return Terrain(f"image:{text}", raised(grey[::-1] * height, spacing, (-0.5 * long, -0.5 * wide)))


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
