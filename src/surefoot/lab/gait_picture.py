"""The gait report card as one picture: curves beside people's, the measures, and a stride as filmstrips."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.interpolate import PchipInterpolator

from surefoot.lab.figures import Axes, save_image, stacked
from surefoot.lab.gait import POINTS, CardRow, GaitCard, card_rows, find_strides, norm_curves
from surefoot.lab.gait_markers import GaitSignals
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.motion import Motion
from surefoot.motions.painter import View

_WIDTH, _DPI = 1800, 150  # [px], [px/inch]
_SPREAD = 5.0, 0.1  # [deg], [body weights] half widths of the grey bands
_FIGURES = 9  # of a filmstrip
_LEFT, _RIGHT, _NORM, _GREY = "#2f6fb0", "#c8642d", "#555555", "#d9d9d9"
_INK, _FAINT, _BAD, _PAPER = "#3d454f", "#87847f", "#b3261e", "#fbfaf7"
_PANELS = (
    ("thigh", "thigh, forward of the vertical"), ("knee", "knee flexion"), ("ankle", "ankle dorsiflexion"),
    ("foot_pitch", "foot pitch, toes up"),
)  # fmt: skip
_COLUMNS = 3  # of the table
# Vertical force of a foot in level walking: percent of the stride, body weights (Winter 1991; two peaks and a valley).
_FORCE = ((0, 0), (2, 0.3), (6, 0.8), (13, 1.12), (30, 0.74), (48, 1.1), (55, 0.75), (61, 0), (100, 0))


def norm_force() -> np.ndarray:
    """(POINTS,) published mean of a foot's vertical force over a stride of level walking [body weights]."""
    percent, force = np.array(_FORCE, float).T
    return np.asarray(PchipInterpolator(percent, force)(np.linspace(0.0, 100.0, POINTS)))


def card_picture(card: GaitCard, signals: GaitSignals, motion: Motion, title: str) -> Image.Image:
    """Draw a card.

    Args:
        card: what was measured.
        signals: what it was measured from.
        motion: of which a stride is shown, at the times of the signals.
        title: what is measured.
    """
    strides = find_strides(signals)
    stride = strides[0][len(strides[0]) // 2]
    start, end = (float(signals.time[frame]) for frame in (stride.first, stride.last))
    start, end = max(start, float(motion.time[0])), min(end, float(motion.time[-1]))

    def strip(view: View, caption: str) -> Image.Image:
        return filmstrip(motion, _FIGURES, view, start=start, end=end, width=_WIDTH, height=330, caption=caption)

    side = strip("side", "one stride of the left leg")
    return stacked([_curves(card, title), _table(card), side, strip("front", "the same from the front")])


def save_card(path: Path, card: GaitCard, signals: GaitSignals, motion: Motion, title: str) -> None:
    """Write the picture of a card as PNG; the arguments are those of `card_picture`."""
    save_image(card_picture(card, signals, motion, title), path)


def _figure(height: int) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(_WIDTH / _DPI, height / _DPI), facecolor=_PAPER)


def _image(figure: Any) -> Image.Image:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=_DPI, facecolor=_PAPER)
    return Image.open(buffer).convert("RGB")


def _curves(card: GaitCard, title: str) -> Image.Image:
    """Four joint curves and the force of a foot, each over the norm."""
    figure = _figure(520)
    grid = figure.add_gridspec(1, 5, left=0.035, right=0.985, bottom=0.13, top=0.74, wspace=0.24)
    norms, percent = norm_curves(), np.linspace(0.0, 100.0, POINTS)
    for i, (name, label) in enumerate(_PANELS):
        axes = figure.add_subplot(grid[i])
        _panel(axes, f"{label} [deg]", percent, norms[name], _SPREAD[0], card.curves[name])
    axes = figure.add_subplot(grid[4])
    label, stance = "force of a foot [body weights]", norm_force()
    stance[stance <= 0.0] = np.nan  # no band in the swing
    if "load" in card.curves:
        _panel(axes, label, percent, None if card.runs else stance, _SPREAD[1], card.curves["load"])
        axes.set_ylim(bottom=0.0)
    else:
        _panel(axes, label, percent, None if card.runs else stance, _SPREAD[1], None)
        axes.set_ylim(0.0, 1.6)
        axes.text(50, 1.45, "a clip has no forces", ha="center", color=_FAINT, fontsize=8)
    figure.text(0.017, 0.93, title, fontsize=15, color=_INK, fontweight="bold", va="center")
    kind = "run" if card.runs else "walk"
    told = (
        f"{kind}, {card.speed:.2f} m/s, {card.cadence:.0f} steps/min, {card.strides} strides      "
        f"gait profile score {card.score:.1f}°" + (" against the norm of walking" if card.runs else "")
    )
    figure.text(0.017, 0.855, told, fontsize=10.5, color=_INK, va="center")
    for x, color, word in (
        (0.705, _LEFT, "left"),
        (0.75, _RIGHT, "right"),
        (0.803, _NORM, "people, band ± 5° or 0.1 BW"),
    ):
        figure.text(x, 0.93, f"— {word}", fontsize=9.5, color=color, va="center")
    return _image(figure)


def _panel(
    axes: Axes, label: str, percent: np.ndarray, norm: np.ndarray | None, spread: float, curves: np.ndarray | None
) -> None:
    """One quantity over the stride; curves are (POINTS, 2), left and right."""
    axes.set_facecolor("white")
    if norm is not None:
        axes.fill_between(percent, norm - spread, norm + spread, color=_GREY, linewidth=0)
        axes.plot(percent, norm, color=_NORM, linewidth=1.0, linestyle=(0, (4, 2)))
    if curves is not None:
        for leg, color in ((0, _LEFT), (1, _RIGHT)):
            axes.plot(percent, curves[:, leg], color=color, linewidth=1.7)
    axes.axhline(0.0, color=_FAINT, linewidth=0.5)
    axes.set_xlim(0, 100)
    axes.set_title(label, fontsize=9, color=_INK, loc="left")
    axes.set_xlabel("% of the stride", fontsize=8, color=_FAINT)
    axes.tick_params(labelsize=7.5, colors=_FAINT, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)


def _table(card: GaitCard) -> Image.Image:
    """The measures with people's bands in columns; those outside are red."""
    rows = [row for row in card_rows(card) if row.value != "–"]
    deep = -(-len(rows) // _COLUMNS)
    line = 29  # [px]
    height = (deep + 2) * line
    figure = _figure(height)
    for i, row in enumerate(rows):
        column, at = divmod(i, deep)
        _line(figure, row, 0.017 + column / _COLUMNS * 0.985, 1.0 - (at + 1.6) * line / height)
    for column in range(_COLUMNS):
        x = 0.017 + column / _COLUMNS * 0.985
        for offset, word, side in ((0.0, "measure", "left"), (0.152, "value", "right"), (0.228, "people", "left")):
            figure.text(x + offset, 1.0 - 0.6 * line / height, word, fontsize=8, color=_FAINT, ha=side, va="center")
    return _image(figure)


def _line(figure: Any, row: CardRow, x: float, y: float) -> None:
    outside = row.inside is False
    color = _BAD if outside else _INK
    figure.text(x, y, row.label, fontsize=8.8, color=color, va="center")
    weight = "bold" if outside else "normal"
    figure.text(x + 0.152, y, row.value, fontsize=8.8, color=color, ha="right", va="center", fontweight=weight)
    figure.text(x + 0.157, y, row.unit, fontsize=7.5, color=_FAINT, va="center")
    figure.text(x + 0.228, y, row.band, fontsize=8.8, color=_FAINT, va="center")
    if outside:
        figure.text(x - 0.009, y, "•", fontsize=11, color=_BAD, va="center")
