"""The pictures that several experiments draw; each is written whole, or not at all where no figures are kept.

Many motions on one picture: a tile for each, a few figures from the side and a few from the front.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from surefoot.atomic_file import replace_file
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion
from surefoot.motions.painter import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=150)
    replace_file(path, buffer.getvalue())


def save_image(image: Image.Image, path: Path) -> None:
    """Write a picture as PNG."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    replace_file(path, buffer.getvalue())


def save_filmstrip(
    path: Path | None,
    motion: Motion,
    caption: str | None = None,
    view: View = "side",
    start: float | None = None,
    end: float | None = None,
) -> None:
    """Draw a filmstrip of a motion, by default of its last seconds."""
    if path:
        save_image(filmstrip(motion, view=view, start=start, end=end, caption=caption), path)


def transition_heatmap(path: Path | None, names: Sequence[str], share: np.ndarray) -> None:
    """Draw which share of the phases of each gait (rows) leads into each other gait (columns)."""
    if path is None:
        return
    figure = new_figure(7, 6)
    axes = figure.add_subplot()
    image = axes.imshow(share, vmin=0, vmax=1, cmap="viridis")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set(xlabel="to", ylabel="from")
    figure.colorbar(image, label="share of phases that succeed")
    save(figure, path)


def gain_map(
    path: Path | None,
    cd: np.ndarray,
    cv: np.ndarray,
    lasted: np.ndarray,
    printed: tuple[float, float],
    labels: tuple[str, str],
) -> None:
    """Draw how long [s] a gait goes on at each pair of gains; `lasted` is (cv, cd)."""
    if path is None:
        return
    figure = new_figure(6, 4.5)
    axes = figure.add_subplot()
    mesh = axes.pcolormesh(cd, cv, lasted, shading="nearest", cmap="viridis")
    axes.plot(*printed, "o", color="white", markeredgecolor="black", label="Table 1")
    axes.set(xlabel=f"{labels[0]} [rad/m]", ylabel=f"{labels[1]} [rad·s/m]")
    axes.legend(frameon=True, fontsize=8)
    figure.colorbar(mesh, label="seconds until the fall")
    save(figure, path)


def push_rose(path: Path | None, directions: Sequence[tuple[int, int]], series: Mapping[str, np.ndarray]) -> None:
    """Draw forces [N per axis] by (lateral, sagittal) direction, ahead upwards and left to the left."""
    if path is None:
        return
    figure = new_figure(6.5, 5.5)
    axes = figure.add_subplot()
    ways = np.array([*directions, directions[0]], float)
    for label, forces in series.items():
        ends = ways * np.append(forces, forces[0])[:, None]
        axes.plot(-ends[:, 0], ends[:, 1], "o-", markersize=3, label=label)
    axes.plot(0.0, 0.0, "k+")
    axes.set(xlabel="← left      lateral push [N]      right →", ylabel="sagittal push [N], forwards up")
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)


_SIDE, _FRONT, _TALL = 520, 270, 230  # [px] widths of a tile's two views, and its height
_SIDES, _FRONTS = 5, 3  # figures
_WINDOW = 1.2  # [s] that a tile shows


def contact_sheet(motions: Mapping[str, Motion], columns: int = 3) -> Image.Image:
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


def save_contact_sheet(path: Path | None, motions: Mapping[str, Motion]) -> None:
    """Write a sheet as PNG, where figures are kept."""
    if path and motions:
        buffer = io.BytesIO()
        contact_sheet(motions).save(buffer, "PNG")
        replace_file(path, buffer.getvalue())
