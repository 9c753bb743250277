"""Pictures of experiments: plots, filmstrips, and sheets of many motions. Each is written whole, or not at all.

Every function that writes takes the path first; None means that no figures are kept, and nothing is drawn.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np
from PIL import Image

from surefoot.atomic_file import replace_file
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion
from surefoot.motions.painter import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any  # matplotlib is loaded when something is drawn

_P = ParamSpec("_P")


def plot(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> Callable[[Callable[Concatenate[Any, _P], None]], Callable[Concatenate[Path | None, _P], None]]:
    """Turn a function that draws on axes into one that writes a PNG file.

    Args:
        width: of the figure [inch].
        height: likewise.
        rows: of axes; with more than one row or column, the function gets an array of them.
        columns: likewise.
        options: of matplotlib's `Figure.subplots`.

    Returns:
        A decorator. The decorated function takes a path in place of the axes.
    """

    def decorate(draw: Callable[Concatenate[Any, _P], None]) -> Callable[Concatenate[Path | None, _P], None]:
        @functools.wraps(draw)
        def write(path: Path | None, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
            if path is None:
                return
            from matplotlib.figure import Figure

            figure, buffer = Figure(figsize=(width, height), layout="constrained"), io.BytesIO()
            draw(figure.subplots(rows, columns, **options), *args, **kwargs)
            figure.savefig(buffer, dpi=150)
            replace_file(path, buffer.getvalue())

        return write

    return decorate


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
    """Write a filmstrip of a motion between two times [s], by default of its last seconds."""
    if path:
        save_image(filmstrip(motion, view=view, start=start, end=end, caption=caption), path)


def save_filmstrips(
    path: Path | None, motions: Sequence[tuple[str, Motion]], views: Sequence[View], start: float, end: float
) -> None:
    """Write filmstrips of several motions, with their captions, below each other: each from all views.

    Args:
        path: of the picture; None draws nothing.
        motions: what is shown, with captions.
        views: from which each is shown.
        start: [s].
        end: [s].
    """
    if path is None:
        return
    strips = [
        filmstrip(motion, view=view, start=start, end=end, caption=f"{caption}, from the {view}")
        for view in views for caption, motion in motions
    ]  # fmt: skip
    whole = Image.new("RGB", (max(strip.width for strip in strips), sum(strip.height for strip in strips)), "white")
    below = 0
    for strip in strips:
        whole.paste(strip, (0, below))
        below += strip.height
    save_image(whole, path)


@plot(7, 6)
def transition_heatmap(axes: Axes, names: Sequence[str], share: np.ndarray) -> None:
    """Draw which share of the phases of each gait (rows) leads into each other gait (columns)."""
    image = axes.imshow(share, vmin=0, vmax=1, cmap="viridis")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set(xlabel="to", ylabel="from")
    axes.figure.colorbar(image, label="share of phases that succeed")


@plot(6, 4.5)
def gain_map(
    axes: Axes,
    cd: np.ndarray,
    cv: np.ndarray,
    lasted: np.ndarray,
    printed: tuple[float, float],
    labels: tuple[str, str],
) -> None:
    """Draw how long [s] a gait goes on at each pair of gains; `lasted` is (cv, cd)."""
    mesh = axes.pcolormesh(cd, cv, lasted, shading="nearest", cmap="viridis")
    axes.plot(*printed, "o", color="white", markeredgecolor="black", label="Table 1")
    axes.set(xlabel=f"{labels[0]} [rad/m]", ylabel=f"{labels[1]} [rad·s/m]")
    axes.legend(frameon=True, fontsize=8)
    axes.figure.colorbar(mesh, label="seconds until the fall")


@plot(6.5, 5.5)
def push_rose(axes: Axes, directions: Sequence[tuple[int, int]], series: Mapping[str, np.ndarray]) -> None:
    """Draw forces [N per axis] by (lateral, sagittal) direction, ahead upwards and left to the left."""
    ways = np.array([*directions, directions[0]], float)
    for label, forces in series.items():
        ends = ways * np.append(forces, forces[0])[:, None]
        axes.plot(-ends[:, 0], ends[:, 1], "o-", markersize=3, label=label)
    axes.plot(0.0, 0.0, "k+")
    axes.set(xlabel="← left      lateral push [N]      right →", ylabel="sagittal push [N], forwards up")
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


@plot(7, 4.5)
def steps_by_worlds(axes: Axes, speeds: Sequence[Mapping[str, Any]]) -> None:
    """Draw controlled and bare physics steps a second of bodies by the number of worlds, in attributes of `Speed`."""
    for k, character in enumerate(dict.fromkeys(speed["character"] for speed in speeds)):
        own = [speed for speed in speeds if speed["character"] == character]
        worlds = [speed["worlds"] for speed in own]
        axes.plot(worlds, [s["controlled"] / 1e6 for s in own], "o-", color=f"C{k}", markersize=4, label=character)
        axes.plot(worlds, [s["bare"] / 1e6 for s in own], ":", color=f"C{k}")
    axes.plot([], [], "k:", label="physics alone")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlabel="worlds", ylabel="million steps a second, all worlds together")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def stacked(images: Sequence[Image.Image]) -> Image.Image:
    """Put pictures below each other."""
    page = Image.new("RGB", (max(image.width for image in images), sum(image.height for image in images)), "white")
    for i, image in enumerate(images):
        page.paste(image, (0, sum(above.height for above in images[:i])))
    return page


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
    """Write a contact sheet as PNG."""
    if path and motions:
        save_image(contact_sheet(motions), path)
