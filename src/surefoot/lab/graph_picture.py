"""Draws action graphs: nodes on a circle, edges with the phases at which they leave and enter."""

from __future__ import annotations

import numpy as np

from surefoot.controllers.action_graph import ActionGraph, Edge
from surefoot.lab import figures

_FOUND, _DRAWN, _BRIDGE = "#3b6ea5", "#9a9a9a", "#5a8f4c"


@figures.plot(7.5, 7.0)
def draw_action_graph(axes: figures.Axes, graph: ActionGraph, title: str = "") -> None:
    """Draw nodes on a circle, and edges with the phases at which they leave and enter, if said: found ones blue.

    A bridge is a dot on the way from one node to another.
    """
    places = _places(graph)
    for edge in graph.edges:
        start, end = places[edge.source], places[edge.target]
        bridges = [graph.nodes[name].bridge for name in (edge.source, edge.target)]
        color = _DRAWN if edge.survival is None else _FOUND
        axes.annotate(
            "", (float(end[0]), float(end[1])), (float(start[0]), float(start[1])),
            arrowprops={
                "arrowstyle": "-|>", "color": color, "shrinkA": 5 if bridges[0] else 34,
                "shrinkB": 5 if bridges[1] else 34, "lw": 1.4,
                "connectionstyle": f"arc3,rad={0.05 if any(bridges) else 0.12}",
            },
        )  # fmt: skip
        if (edge.leave is None and edge.enter is None) or any(bridges):
            continue
        way = end - start
        aside = np.array([way[1], -way[0]])  # the side on which the arrow bends
        at = start + 0.38 * way + 0.055 * aside
        axes.text(float(at[0]), float(at[1]), _phases(edge), color=color, fontsize=7, ha="center", va="center",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
    for name, place in places.items():
        if graph.nodes[name].bridge:
            axes.plot(*place, marker="o", markersize=8, color=_BRIDGE)
            continue
        follows = graph.nodes[name].then
        label = name if follows is None else f"{name}\n→ {follows}"
        axes.text(float(place[0]), float(place[1]), label, fontsize=10, ha="center", va="center",
                  bbox={"boxstyle": "circle,pad=0.6", "facecolor": "#f6e7d8", "edgecolor": "#b5651d"})  # fmt: skip
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), title=title)
    axes.set_aspect("equal")
    axes.axis("off")


def _places(graph: ActionGraph) -> dict[str, np.ndarray]:
    """(2,) where every node is drawn: bridges between their ends, on the right of the way, all others on a circle."""
    names = [name for name, node in graph.nodes.items() if not node.bridge]
    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(names)) / max(len(names), 1)
    places = dict(zip(names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))
    for name in graph.nodes:
        if name not in places:
            one = next((places[edge.source] for edge in graph.edges if edge.target == name), np.zeros(2))
            other = places.get(graph.nodes[name].then or "", np.zeros(2))
            way = other - one
            places[name] = 0.5 * (one + other) + 0.09 * np.array([way[1], -way[0]])
    return places


def _phases(edge: Edge) -> str:
    """Where it leaves and enters, in shares of the references."""
    leave, enter = ("·" if phase is None else f"{phase:.2f}" for phase in (edge.leave, edge.enter))
    return f"{leave} → {enter}"
