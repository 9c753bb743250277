"""Stairs as a walker sees them: vertical faces across its way, footholds between them, a foot's way over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.tasks.actor import Actor

_GRID, _LEAST = 0.005, 0.03  # [m] of the ground that is looked at, and of what is a face
_BEHIND, _BEFORE = 0.023, 0.047  # [m] of a heel behind an edge, of toes before one
_SHORT = 0.15  # [m] two footholds of a tread that are nearer than this are one
_CLEAR = 0.055  # [m] of a sole over an edge
_HEEL, _TOES = 0.02, 0.032  # [m] by which heel and toes pass an edge


class Edge(NamedTuple):
    """A vertical face: where it is, and the ground's height before and behind it [m]."""

    x: float
    below: float
    above: float


class Stairs(NamedTuple):
    """Faces, and places of the ankles before and behind them [m]."""

    edges: tuple[Edge, ...]
    holds: tuple[float, ...]


def edges_between(actor: Actor, start: float, end: float, y: float) -> tuple[Edge, ...]:
    """All faces on a line along world x."""
    xs = np.arange(start, end + _GRID, _GRID)
    z = np.array([actor.ground(float(x), y) for x in xs])
    return tuple(
        Edge(float(xs[i]) + 0.5 * _GRID, float(z[i]), float(z[i + 1]))
        for i in np.flatnonzero(np.abs(np.diff(z)) > _LEAST)
    )


def footholds(edges: Sequence[Edge], biped: Any) -> tuple[float, ...]:
    """Where the ankles are set: before and behind every face, on a short tread once, in between."""
    holds: list[float] = []
    for edge in edges:
        before, behind = edge.x - float(biped.ahead) - _BEFORE, edge.x + float(biped.behind) + _BEHIND
        if holds and before - holds[-1] < _SHORT:
            holds[-1] = 0.5 * (holds[-1] + before)
        else:
            holds.append(before)
        holds.append(behind)
    return tuple(holds)


def lift(actor: Actor, between: Sequence[Edge], ground: float) -> None:
    """Lead the swing foot over the faces on its way; `ground` is the height under the stance foot [m]."""
    intent, biped, first, last = actor.intent, actor.limbs.biped[0], between[0], between[-1]
    toes, heel = float(biped.ahead) + _TOES, float(biped.behind) + _HEEL
    intent.over = 1.0
    if first.above > first.below:  # up: high when the toes come to a face
        intent.from_x, intent.clear = first.x - toes, first.above - ground + _CLEAR
        intent.to_x = last.x - toes if len(between) > 1 else first.x + _CLEAR
        intent.clear_to = last.above - ground + _CLEAR
    else:  # down: high until the heel has left it
        intent.from_x = first.x + heel if len(between) > 1 else first.x - _CLEAR
        intent.clear = first.below - ground + _CLEAR
        intent.to_x, intent.clear_to = last.x + heel, last.below - ground + _CLEAR
