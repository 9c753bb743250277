"""Random walks on an action graph, and the graph without the edges at which they fell.

A transition is found from a node that has settled. In a longer way nodes have not: a stop that is entered from a start
ends elsewhere than one entered from a walk. So rows wander over the graph from all its nodes, and edges that most falls
share, among their last two, go, as long as every node can still be reached from every other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from surefoot.errors import CommandError
from surefoot.lab.replicas import disturb_state
from surefoot.population import Population
from surefoot.stylized.action_graph import ActionGraph

LOOK = 0.05  # [s] between looks
_STAYS = (2.0, 5.0)  # [s] that a loop or a stand goes on for before another node is asked for
Ends = tuple[str, str]


@dataclass
class Wanderer:
    """Where one row has been, and when it wants to go where; to be asked at every look."""

    graph: ActionGraph
    rng: np.random.Generator
    been: list[str] = field(default_factory=list)
    ask: float = 0.0

    def wish(self, here: str, time: float, waits: bool) -> str | None:
        """The node to ask for now, if any.

        Args:
            here: the node it is in.
            time: [s].
            waits: whether one was asked for and has not been reached.
        """
        if not self.been or here != self.been[-1]:
            self.been.append(here)
            self.ask = time + (0.0 if self.graph.nodes[here].then else float(self.rng.uniform(*_STAYS)))
        targets = self.graph.targets(here)
        if waits or time < self.ask or not targets:
            return None
        return str(self.rng.choice(targets))

    @property
    def edges(self) -> list[Ends]:
        """Over which it has gone."""
        return list(zip(self.been, self.been[1:], strict=False))


@dataclass(frozen=True)
class Pruned:
    """A graph whose edges bore being wandered over, those that went, and how many of the last rows stayed up."""

    graph: ActionGraph
    dropped: tuple[Ends, ...]
    rows: int
    stayed: int


def prune(
    graph: ActionGraph, rows: int = 20, seconds: float = 30.0, rounds: int = 8, seed: int = 0,
    progress: Callable[[str, float], None] = lambda label, share: None,
) -> Pruned:  # fmt: skip
    """Let rows wander, drop edges at which they fell, and so on until a round stays up, or no edge can go.

    Args:
        graph: with edges.
        rows: that wander, from all nodes in turn.
        seconds: of each round.
        rounds: at most.
        seed: of the ways and of what the rows' starts are disturbed by.
        progress: told what is done, and which share of the rounds.
    """
    dropped, stayed = list[Ends](), 0
    for turn in range(rounds):
        progress(f"wandering, round {turn + 1}", turn / rounds)
        ways, fell = _wander(graph, rows, seconds, [seed, turn])
        stayed = rows - len(fell)
        bad = blamed(graph, ways, fell)
        if not bad:
            break
        dropped += sorted(bad)
        graph = graph.without(bad)
    return Pruned(graph, tuple(dropped), rows, stayed)


def _wander(graph: ActionGraph, rows: int, seconds: float, seed: list[int]) -> tuple[list[Wanderer], list[int]]:
    """Where rows have been, and which of them fell."""
    names = list(graph.nodes)
    population = Population(rows, skill=[graph.skill(names[i % len(names)]) for i in range(rows)], graph=graph)
    ways = [Wanderer(graph, np.random.default_rng([*seed, i])) for i in range(rows)]
    for i, way in enumerate(ways):
        disturb_state(population.scene, population.qpos[i], population.qvel[i], way.rng)
    wanted, steps = dict[int, str](), round(LOOK / population.scene.timestep)
    for _ in range(round(seconds / LOOK)):
        upright = [i for i in range(rows) if np.isinf(population.fallen_at[i])]
        if not upright:
            break
        for i in upright:
            here = str(graph.node_of(population.rows[i]))
            if wanted.get(i) == here:
                del wanted[i]
            wish = ways[i].wish(here, float(population.time[i]), i in wanted)
            if wish is not None:
                population.switch(wish, [i])
                wanted[i] = wish
        population.step(upright, steps)
    return ways, [i for i in range(rows) if np.isfinite(population.fallen_at[i])]


def blamed(graph: ActionGraph, ways: list[Wanderer], fell: list[int]) -> set[Ends]:
    """Edges of which one at least was among the last two before every fall, those that most falls share first.

    None goes without which nodes are cut off.
    """
    gone, failed = Counter[Ends](), Counter[Ends]()
    for i, way in enumerate(ways):
        gone.update(way.edges)
        if i in fell:
            failed.update(way.edges[-2:])
    bad, left = set[Ends](), [ways[i].edges[-2:] for i in fell]
    while left:
        shared = Counter(edge for last in left for edge in last)
        worst = sorted(shared, key=lambda ends: (-shared[ends], -failed[ends] / gone[ends]))
        edge = next((ends for ends in worst if is_connected(graph.without({*bad, ends}))), None)
        if edge is None:
            break
        bad.add(edge)
        left = [last for last in left if edge not in last]
    return bad


def is_connected(graph: ActionGraph) -> bool:
    """Whether every node can be reached from every other."""
    first = next(iter(graph.nodes))
    try:
        for name in graph.nodes:
            graph.way(first, name)
            graph.way(name, first)
    except CommandError:
        return False
    return True
