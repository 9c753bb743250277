"""Control graphs (Liu, van de Panne, Yin 2016): fragments of clips, joined where they are alike or can be bridged.

Every fragment becomes a tracking skill. Where the states of two are alike, the one is left for the other as it is, and
simulation decides whether that works. Where it does not, a bridge is learned: a blend of both motions, reconstructed
and kept up by feedback like a clip. Random walks then prune the edges at which bodies fall.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from surefoot.controllers.action_graph import ActionGraph, Node
from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.errors import SurefootError
from surefoot.lab.action_graph_search import (
    SearchBudget,
    followed,
    is_connected,
    largest_component,
    prune_by_random_walks,
    reached,
    search_transitions,
)
from surefoot.lab.clip_fragments import Fragment
from surefoot.lab.state_likeness import alike_phases
from surefoot.lab.tracking_bridge import Bridge, find_bridge
from surefoot.lab.tracking_skill import Trackable, make_tracking_skill, remove_search
from surefoot.skills import load
from surefoot.skills.schema import Skill

Report = Callable[[str, float], None]
_BLENDS = (1.0, 0.5)  # [s] of the bridges between two motions that are tried
_SKILLS, _EDGES, _BRIDGES = 0.6, 0.1, 0.25  # shares of the work; the rest is walked at random
_WALKS, _ROUNDS = 20, 6


@dataclass(frozen=True)
class GraphWish:
    """What a graph is to be.

    Attributes:
        folder: where its skills are written, and the file `graph.yaml`; what is there already is taken up.
        credit: line that the clips' licence asks for.
        seed: of everything random.
        bridges: that are learned at most.
        seconds: of each random walk that prunes [s].
    """

    folder: Path
    credit: str = ""
    seed: int = 0
    bridges: int = 12
    seconds: float = 60.0


@dataclass
class BuiltGraph:
    """A graph, and how it came about.

    Attributes:
        graph: pruned.
        notes: what was tried, in words.
        walked: rows of the last random walks, and how many of them stayed up.
    """

    graph: ActionGraph
    notes: list[str] = field(default_factory=list)
    walked: tuple[int, int] = (0, 0)


def build_control_graph(
    fragments: Sequence[Fragment], wish: GraphWish, report: Report = lambda text, share: None
) -> BuiltGraph:
    """Make a skill of every fragment, join them, and prune the graph.

    Args:
        fragments: of clips, with names that differ.
        wish: what the graph is to be.
        report: called with what is done and the share of the work.

    Raises:
        SurefootError: names are the same, no fragment could be tracked, or no two fragments could be joined.
    """
    names = [fragment.name for fragment in fragments]
    if len(set(names)) < len(names):
        raise SurefootError(f"two fragments have the same name: {', '.join(sorted(names))}")
    wish.folder.mkdir(parents=True, exist_ok=True)
    built = BuiltGraph(ActionGraph.model_construct(nodes={}, edges=()))
    nodes: dict[str, Node] = {}
    for i, fragment in enumerate(fragments):
        part = _part(report, f"{fragment.name}: ", _SKILLS * i / len(names), _SKILLS / len(names))
        path = fragment.skill or wish.folder / f"{fragment.name}.yaml"
        skill, why = _tracked(fragment.clip, path, fragment.name, fragment.stem, wish, part)
        if skill is None:
            built.notes.append(f"{fragment.name} is left out: {why}")
        else:
            nodes[fragment.name] = Node.model_validate({"skill": str(path)})
    if not nodes:
        raise SurefootError("no fragment of these clips could be tracked: " + "; ".join(built.notes))
    graph = ActionGraph.model_validate({"nodes": nodes})
    plan = SearchBudget(phases=8, replicas=8, seconds=6.0, seed=wish.seed)
    for one in search_transitions(
        graph, plan, None, lambda text, share: report(text, _SKILLS + _EDGES * share), alike_phases
    ):
        built.notes.append(f"{one.source} → {one.target}: {one.survived} of {one.tried} pairs of phases stay up")
        graph = graph if one.edge is None else graph.with_edges([one.edge])
    graph = _bridged(graph, wish, plan, built, report)
    graph = largest_component(graph)
    left_out = [name for name in nodes if name not in graph.nodes]
    if left_out:
        built.notes.append(f"not reached both ways, so left out: {', '.join(left_out)}")
    if len(graph.nodes) < 2:
        raise SurefootError("no two fragments of these clips could be joined: " + "; ".join(built.notes))
    begin = _SKILLS + _EDGES + _BRIDGES
    graph = followed(graph, {fragment.name: fragment.then for fragment in fragments})
    pruned = prune_by_random_walks(
        graph, _WALKS, wish.seconds, _ROUNDS, wish.seed, lambda text, share: report(text, begin + (1.0 - begin) * share)
    )
    built.notes += [f"{source} → {target} went after random walks" for source, target in pruned.dropped]
    built.graph, built.walked = pruned.graph, (pruned.rows, pruned.stayed)
    built.graph.save(wish.folder / "graph.yaml")
    return built


def _tracked(
    clip: Trackable, path: Path, name: str, stem: str, wish: GraphWish, report: Report
) -> tuple[Skill | None, str]:
    """The skill of a fragment, made if need be; if its replicas fall, none, and why."""
    if not path.exists():
        search = path.with_suffix(".search")
        try:
            done = make_tracking_skill(clip, path, name, stem, wish.credit, wish.seed, report, search)
        except (SurefootError, np.linalg.LinAlgError) as error:
            return None, str(error)
        remove_search(search)
        if not done.measure.stays_up:
            return None, str(done.measure)
    skill = load(path)
    fell = "fell at" in (skill.provenance.why or "")
    return (None, skill.provenance.why or "") if fell else (skill, "")


def _bridged(graph: ActionGraph, wish: GraphWish, plan: SearchBudget, built: BuiltGraph, report: Report) -> ActionGraph:
    """The graph with bridges, the easiest first, until every node can be reached from every other."""
    tried: set[tuple[str, str]] = set()
    fragments = tuple(graph.nodes)
    made = 0
    while made < wish.bridges and not is_connected(graph):
        ways = {name: reached(graph, name) for name in fragments}
        missing = [(a, b) for a in fragments for b in fragments if b not in ways[a] and (a, b) not in tried]
        if not missing:
            break
        ends = {pair: find_bridge(graph.skill(pair[0]), graph.skill(pair[1]), _BLENDS[0]) for pair in missing}
        a, b = min(missing, key=lambda pair: ends[pair].unlikeness)
        tried.add((a, b))
        for blend in _BLENDS:
            begin = _SKILLS + _EDGES + _BRIDGES * made / wish.bridges
            bridge = find_bridge(graph.skill(a), graph.skill(b), blend)
            part = _part(report, f"{a} → {b}: ", begin, _BRIDGES / wish.bridges)
            joined = _with_bridge(graph, a, b, bridge, wish, plan, part)
            made += 1
            built.notes.append(f"{a} → {b}: a bridge of {blend:g} s {'holds' if joined else 'does not hold'}")
            if joined is not None:
                graph = joined
                break
    return graph


def _with_bridge(
    graph: ActionGraph, source: str, target: str, bridge: Bridge, wish: GraphWish, plan: SearchBudget, report: Report
) -> ActionGraph | None:
    """The graph with a bridge between two nodes; None if it does not hold."""
    name = f"{source}-to-{target}"
    path = wish.folder / f"{name}-{bridge.blend}.yaml"
    skill, _ = _tracked(bridge, path, name, f"{source} and {target}", wish, report)
    if skill is None or table_of_skill(skill).windows < bridge.blend + bridge.settle:
        return None
    windows = table_of_skill(skill).windows
    bridge_node = Node.model_validate({"skill": str(path), "bridge": True})
    nodes = {**graph.nodes, name: bridge_node}
    wider = ActionGraph.model_validate({"nodes": nodes, "edges": graph.edges})
    one, other = table_of_skill(bridge.source), table_of_skill(bridge.target)
    ways = (
        (source, name, bridge.leave / one.windows, 0.0),
        (name, target, (bridge.blend + bridge.settle) / windows, bridge.enter / other.windows),
    )
    for begin, end, *phases in ways:
        given = functools.partial(_given, (phases[0], phases[1]))
        edge = next(search_transitions(wider, plan, [(begin, end)], phases=given)).edge
        if edge is None:
            return None
        wider = wider.with_edges([edge])
    return followed(wider, {name: target})


def _given(phases: tuple[float, float], source: Skill, target: Skill, count: int) -> list[tuple[float, float]]:
    """Phases that are known beforehand."""
    return [phases]


def _part(report: Report, label: str, begin: float, share: float) -> Report:
    """A report of one part of the work."""
    return lambda text, done: report(label + text, begin + share * done)
