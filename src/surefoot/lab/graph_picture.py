"""A picture of an action graph (da Silva 2008, figure 7)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.lab import figures
from surefoot.stylized.action_graph import ActionGraph, Edge

_FOUND, _DRAWN = "#3b6ea5", "#9a9a9a"


def draw(path: Path | None, graph: ActionGraph, title: str = "") -> None:
    """Draw nodes on a circle, and edges with the phases at which they leave and enter, if said: found ones blue."""
    if path is None:
        return
    figure = figures.canvas(7.5, 7.0)
    axes = figure.add_subplot()
    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(graph.nodes)) / len(graph.nodes)
    places = dict(zip(graph.nodes, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))
    for edge in graph.edges:
        start, end = places[edge.source], places[edge.target]
        color = _DRAWN if edge.survival is None else _FOUND
        axes.annotate(
            "", end, start,
            arrowprops={
                "arrowstyle": "-|>", "color": color, "shrinkA": 34, "shrinkB": 34, "lw": 1.4,
                "connectionstyle": "arc3,rad=0.12",
            },
        )  # fmt: skip
        if edge.leave is None and edge.enter is None:
            continue
        way = end - start
        aside = np.array([way[1], -way[0]])  # the side on which the arrow bends
        at = start + 0.38 * way + 0.055 * aside
        axes.text(float(at[0]), float(at[1]), _phases(edge), color=color, fontsize=7, ha="center", va="center",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
    for name, place in places.items():
        follows = graph.nodes[name].then
        label = name if follows is None else f"{name}\n→ {follows}"
        axes.text(float(place[0]), float(place[1]), label, fontsize=10, ha="center", va="center",
                  bbox={"boxstyle": "circle,pad=0.6", "facecolor": "#f6e7d8", "edgecolor": "#b5651d"})  # fmt: skip
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), title=title)
    axes.set_aspect("equal")
    axes.axis("off")
    figures.save(figure, path)


def _phases(edge: Edge) -> str:
    """Where it leaves and enters, in shares of the references."""
    leave, enter = ("·" if phase is None else f"{phase:.2f}" for phase in (edge.leave, edge.enter))
    return f"{leave} → {enter}"
