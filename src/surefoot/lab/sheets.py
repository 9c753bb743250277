"""Many motions on one picture: a tile for each, a few figures from the side and a few from the front."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

from surefoot.atomic_file import replace_file
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion

_SIDE, _FRONT, _TALL = 520, 270, 230  # [px] widths of a tile's two views, and its height
_SIDES, _FRONTS = 5, 3  # figures
_WINDOW = 1.2  # [s] that a tile shows


def sheet(motions: Mapping[str, Motion], columns: int = 3) -> Image.Image:
    """Draw the last moments of motions, by caption, in so many columns."""
    rows = math.ceil(len(motions) / columns)
    page = Image.new("RGB", (columns * (_SIDE + _FRONT), max(rows, 1) * _TALL), "white")
    for i, (caption, motion) in enumerate(motions.items()):
        x, y = (i % columns) * (_SIDE + _FRONT), (i // columns) * _TALL
        start = max(float(motion.time[0]), float(motion.time[-1]) - _WINDOW)
        page.paste(filmstrip(motion, _SIDES, start=start, width=_SIDE, height=_TALL, caption=caption), (x, y))
        front = filmstrip(motion, _FRONTS, "front", start=start, width=_FRONT, height=_TALL, caption="")
        page.paste(front, (x + _SIDE, y))
    return page


def save_sheet(path: Path | None, motions: Mapping[str, Motion]) -> None:
    """Write a sheet as PNG, where figures are kept."""
    if path and motions:
        buffer = io.BytesIO()
        sheet(motions).save(buffer, "PNG")
        replace_file(path, buffer.getvalue())
