"""Edges of an action graph, found by simulation (da Silva 2008, §5.3, leaves this for the future).

`search_transitions` leaves every node for every other from many phases, in populations. The other node begins where its
reference is most like the body, or both phases are given beforehand. The phases whose rows stay up with the least servo
torque are tried again from perturbed states; the best of them becomes the edge, if enough of its replicas stay up.

A transition is found from a settled node, but on a longer way nodes have not settled: a stop that is entered from a
start ends elsewhere than one entered from a walk. So `prune_by_random_walks` lets rows wander over the graph and drops
the edges that most falls share among their last two, as long as every node can still be reached from every other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from surefoot.controllers.action_graph import ActionGraph, Edge
from surefoot.controllers.base import ReferencePlanner, ReferenceSpan
from surefoot.engine.population import Population
from surefoot.engine.recorder import Recorder
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.motions.motion import Motion
from surefoot.skills.schema import Skill

_SETTLED = 5.0  # [s] after which a loop is on its cycle
_LOOK, _STRIDE = 0.1, 0.01  # [s] between looks at rows that were let go, and at one whose phases are sought


@dataclass(frozen=True)
class SearchBudget:
    """How much a search tries.

    Attributes:
        phases: at which a loop is left; of a reference that ends, half as many from its middle to its end.
        finalists: how many of the surviving phases are tried again.
        replicas: perturbed states of each of them.
        seconds: how long a row has to stay up [s].
        needed: share of the replicas that have to.
        seed: of the perturbations.
    """

    phases: int = 12
    finalists: int = 2
    replicas: int = 4
    seconds: float = 4.0
    needed: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Transition:
    """Result for two nodes: how many phases were tried, how many survived, and the edge if there is one."""

    source: str
    target: str
    tried: int
    survived: int
    edge: Edge | None


@dataclass(frozen=True)
class _Trial:
    """A row to release: its state (nstate,), the phase at which it leaves, and the phase it enters, −1 if open."""

    state: np.ndarray
    leave: float
    enter: float = -1.0


@dataclass(frozen=True)
class _Outcome:
    stays: bool
    enter: float
    effort: float  # [N·m] mean of the servos' torques


PhasePairs = Callable[[Skill, Skill, int], Sequence[tuple[float, float]]]
"""Shares at which one skill's reference may be left and another's entered, the best first, and at most so many."""


def search_transitions(
    graph: ActionGraph, plan: SearchBudget | None = None, pairs: Sequence[tuple[str, str]] | None = None,
    progress: Callable[[str, float], None] = lambda label, share: None, phases: PhasePairs | None = None,
) -> Iterator[Transition]:  # fmt: skip
    """Try transitions; each is yielded as soon as it is known, so that one may stop at any time.

    Args:
        graph: its nodes are tried; its edges play no part.
        plan: how much is tried.
        pairs: sources and targets; by default all pairs of different nodes.
        progress: called with what is tried and the share that is done.
        phases: says which phases are tried; by default all, evenly.
    """
    plan = plan or SearchBudget()
    wanted = [(a, b) for a in graph.nodes for b in graph.nodes if a != b] if pairs is None else list(pairs)
    ground, starts = _TransitionTrials(graph, plan), dict[str, list[_Trial]]()
    for i, (source, target) in enumerate(wanted):
        progress(f"{source} → {target}", i / len(wanted))
        if phases is not None:
            chosen = phases(graph.skill(source), graph.skill(target), plan.phases)
            yield ground.tried(source, target, ground.between(source, chosen))
            continue
        if source not in starts:
            starts[source] = ground.phases(source)
        yield ground.tried(source, target, ground.entries(starts[source], target))


def references_of(scene: Scene, skill: Skill) -> ReferencePlanner:
    """What knows the references of a skill's controller in a scene.

    Raises:
        SurefootError: the controller's skills follow no references.
    """
    planner = scene.prepare(skill) or scene.controller(skill).references(scene)
    if not isinstance(planner, ReferencePlanner):
        raise SurefootError(f"{skill.full_name} follows no reference: no action graph can have it")
    return planner


class _TransitionTrials:
    """A population in which trials are run, as often as needed."""

    def __init__(self, graph: ActionGraph, plan: SearchBudget) -> None:
        self._graph, self._plan = graph, plan
        rows = max(plan.phases + 1, plan.finalists * plan.replicas)
        self._rows = Population(rows, skill=list(graph.skills[:1]) * rows, skills=graph.skills)
        self._dt = float(self._rows.scene.model.opt.timestep)
        self._references = references_of(self._rows.scene, graph.skills[0])
        for skill in graph.skills:
            self._references.prepare(skill)

    def span(self, name: str) -> ReferenceSpan:
        """The reference that a node follows."""
        return self._references.span(self._graph.skill(name))

    def _alone(self, name: str) -> Population:
        """One row of a node by itself."""
        return Population(1, skill=[self._graph.skill(name)], skills=self._graph.skills)

    def phases(self, name: str) -> list[_Trial]:
        """States of a node shortly before the phases at which it may be left."""
        span, count = self.span(name), self._plan.phases
        if span.is_held:
            one = self._alone(name)
            one.run(_SETTLED)
            return [_Trial(one.states[0], -1.0)]
        if span.loops:
            return list(self._before(name, np.arange(count) / count).values())
        found = self._before(name, np.linspace(0.5, 1.0, max(2, count // 2))[:-1], until_over=True)
        return list(found.values())

    def _before(self, name: str, wanted: np.ndarray, until_over: bool = False) -> dict[float, _Trial]:
        """A state of a node shortly before each of some phases; with `until_over`, one at its end too."""
        one, span = self._alone(name), self.span(name)
        if span.loops:
            one.run(_SETTLED)
        row, found, stride = one.rows[0], dict[float, _Trial](), max(1, round(_STRIDE / self._dt))
        before, count = self._references.clock(row), len(wanted) + until_over
        while len(found) < count and np.isinf(one.fallen_at[0]):
            state = one.states[0]
            one.step(stride, [0])
            clock = self._references.clock(row)
            for phase in map(float, wanted):
                ahead = (phase * span.duration - before) % span.duration
                if ahead <= (clock - before) % span.duration:
                    found.setdefault(phase, _Trial(state, phase))
            before = clock
            if not span.loops and clock >= span.over_at:
                if until_over:
                    found[1.0] = _Trial(state, 1.0)
                break
        return found

    def between(self, source: str, pairs: Sequence[tuple[float, float]]) -> list[_Trial]:
        """Trials of given phases to leave at and to enter."""
        states = self._before(source, np.unique([leave for leave, _ in pairs]))
        return [_Trial(states[leave].state, leave, enter) for leave, enter in pairs if leave in states]

    def entries(self, lets: list[_Trial], target: str) -> list[_Trial]:
        """Trials with the phases the target may enter: where it is most like the body; from a held pose, anywhere."""
        span, count = self.span(target), self._plan.phases
        if (lets and lets[0].leave >= 0.0) or span.is_held:
            return lets
        share = 1.0 if span.loops else 0.5
        return lets + [_Trial(let.state, let.leave, share * k / count) for let in lets for k in range(count)]

    def tried(self, source: str, target: str, lets: Sequence[_Trial]) -> Transition:
        """Try every phase, then the best of them from perturbed states."""
        plan, first = self._plan, self._let_go(source, target, lets)
        good = [i for i, one in enumerate(first) if one.stays]
        finalists = sorted(good, key=lambda i: first[i].effort)[: plan.finalists]
        again = [_Trial(lets[i].state, lets[i].leave, first[i].enter) for i in finalists for _ in range(plan.replicas)]
        last = self._let_go(source, target, again, disturbed=True) if again else []
        best: tuple[float, float] | None = None
        edge: Edge | None = None
        for k, i in enumerate(finalists):
            replicas = last[k * plan.replicas : (k + 1) * plan.replicas]
            share = sum(one.stays for one in replicas) / plan.replicas
            key = (-share, float(np.mean([one.effort for one in replicas])))
            if share >= plan.needed and (best is None or key < best):
                leave = None if lets[i].leave < 0.0 else round(lets[i].leave, 4)
                best = key
                edge = Edge.model_validate(
                    {"from": source, "to": target, "leave": leave, "enter": round(first[i].enter, 4), "survival": share}
                )
        return Transition(source, target, len(lets), len(good), edge)

    def _let_go(self, source: str, target: str, lets: Sequence[_Trial], disturbed: bool = False) -> list[_Outcome]:
        """Put rows into states and let them switch to the target."""
        population, n = self._rows, len(lets)
        states = population.states
        states[:n] = [let.state for let in lets]
        population.restore(states)
        wanted, rng = (
            self._graph.skill(target),
            np.random.default_rng([self._plan.seed, *f"{source}/{target}".encode()]),
        )
        for i, let in enumerate(lets):
            if disturbed:
                perturb_state(population.scene, population.qpos[i], population.qvel[i], rng)
            population.scene.request(population.rows[i], wanted, float(population.time[i]))
            self._references.set_phases(population.rows[i], let.leave, let.enter)
        began, enters, efforts, looks = population.time[:n], np.full(n, np.nan), np.zeros(n), np.zeros(n)
        for _ in range(round(self._plan.seconds / _LOOK)):
            going = [i for i in range(n) if np.isinf(population.fallen_at[i]) and not self._is_over(i, target)]
            if not going:
                break
            population.step(round(_LOOK / self._dt), going)
            for i in going:
                entered = self._references.entered(population.rows[i])
                if np.isnan(enters[i]) and entered.time >= began[i] and population.rows[i].header[0].pending == 0.0:
                    enters[i] = entered.phase
                efforts[i] += population.rows[i].report[0].feedback
                looks[i] += 1.0
        efforts /= np.maximum(looks, 1.0)
        fell = population.fallen_at[:n]
        return [
            _Outcome(bool(np.isinf(fell[i]) and np.isfinite(enters[i])), float(enters[i]), float(efforts[i]))
            for i in range(n)
        ]

    def _is_over(self, row: int, target: str) -> bool:
        """Whether a row has reached the end of a target that ends."""
        wanted, memory = self._graph.skill(target), self._rows.rows[row]
        return self._graph.node_of_row(memory) == target and self._references.is_over(wanted, memory)


LOOK = 0.05  # [s] between two decisions
_STAYS = (2.0, 5.0)  # [s] for which a loop or a stand goes on before another node is requested
EdgeKey = tuple[str, str]


@dataclass
class RandomWalk:
    """The nodes one row has visited, and when it requests which node next."""

    graph: ActionGraph
    rng: np.random.Generator
    been: list[str] = field(default_factory=list)
    ask: float = 0.0

    def next_request(self, here: str, time: float, waits: bool) -> str | None:
        """The node to request now, if any.

        Args:
            here: the node it is in.
            time: [s].
            waits: whether a requested node has not been reached yet.
        """
        if not self.been or here != self.been[-1]:
            self.been.append(here)
            self.ask = time + (0.0 if self.graph.nodes[here].then else float(self.rng.uniform(*_STAYS)))
        targets = self.graph.targets(here)
        if waits or time < self.ask or not targets:
            return None
        return str(self.rng.choice(targets))

    @property
    def edges(self) -> list[EdgeKey]:
        """Edges it has gone over."""
        return list(zip(self.been, self.been[1:], strict=False))


@dataclass(frozen=True)
class Pruned:
    """The pruned graph, the edges that were dropped, and how many rows of the last round stayed up."""

    graph: ActionGraph
    dropped: tuple[EdgeKey, ...]
    rows: int
    stayed: int


def prune_by_random_walks(
    graph: ActionGraph, rows: int = 20, seconds: float = 30.0, rounds: int = 8, seed: int = 0,
    progress: Callable[[str, float], None] = lambda label, share: None,
) -> Pruned:  # fmt: skip
    """Let rows wander and drop edges at which they fell, until all rows stay up or no edge can be dropped.

    Args:
        graph: with edges.
        rows: that wander, from all nodes in turn.
        seconds: of each round [s].
        rounds: at most.
        seed: of the random walks and of the perturbed starts.
        progress: called with what is done and the share of the rounds.
    """
    dropped, stayed = list[EdgeKey](), 0
    for turn in range(rounds):
        progress(f"wandering, round {turn + 1}", turn / rounds)
        ways, fell = _wander(graph, rows, seconds, [seed, turn])
        stayed = rows - len(fell)
        bad = edges_to_drop(graph, ways, fell)
        if not bad:
            break
        dropped += sorted(bad)
        graph = graph.without_edges(bad)
    return Pruned(graph, tuple(dropped), rows, stayed)


def _wander(graph: ActionGraph, rows: int, seconds: float, seed: list[int]) -> tuple[list[RandomWalk], list[int]]:
    """Random walks of rows, and which rows fell."""
    names = list(graph.nodes)
    population = Population(rows, skill=[graph.skill(names[i % len(names)]) for i in range(rows)], graph=graph)
    ways = [RandomWalk(graph, np.random.default_rng([*seed, i])) for i in range(rows)]
    for i, way in enumerate(ways):
        perturb_state(population.scene, population.qpos[i], population.qvel[i], way.rng)
    wanted, steps = dict[int, str](), round(LOOK / population.scene.timestep)
    for _ in range(round(seconds / LOOK)):
        upright = [i for i in range(rows) if np.isinf(population.fallen_at[i])]
        if not upright:
            break
        for i in upright:
            here = str(graph.node_of_row(population.rows[i]))
            if wanted.get(i) == here:
                del wanted[i]
            wish = ways[i].next_request(here, float(population.time[i]), i in wanted)
            if wish is not None:
                population.switch(wish, [i])
                wanted[i] = wish
        population.step(steps, upright)
    return ways, [i for i in range(rows) if np.isfinite(population.fallen_at[i])]


def edges_to_drop(graph: ActionGraph, ways: list[RandomWalk], fell: list[int]) -> set[EdgeKey]:
    """Edges to drop so that every fall had one of them among its last two, starting with those most falls share.

    An edge stays if nodes would be cut off without it.
    """
    gone, failed = Counter[EdgeKey](), Counter[EdgeKey]()
    for i, way in enumerate(ways):
        gone.update(way.edges)
        if i in fell:
            failed.update(way.edges[-2:])
    bad, left = set[EdgeKey](), [ways[i].edges[-2:] for i in fell]
    while left:
        shared = Counter(edge for last in left for edge in last)
        worst = sorted(shared, key=lambda ends: (-shared[ends], -failed[ends] / gone[ends]))
        edge = next((ends for ends in worst if is_connected(graph.without_edges({*bad, ends}))), None)
        if edge is None:
            break
        bad.add(edge)
        left = [last for last in left if edge not in last]
    return bad


def is_connected(graph: ActionGraph) -> bool:
    """Whether every node can be reached from every other."""
    return all(reached(graph, name) == set(graph.nodes) for name in graph.nodes)


def wander(graph: ActionGraph, seconds: float, seed: int) -> tuple[float, list[str], Motion]:
    """A random walk on a graph from a start that is a little elsewhere for every seed.

    Returns:
        When it fell [s] or infinity, the nodes it was in, and the motion.
    """
    sim, way = Simulation(graph=graph), RandomWalk(graph, seeded_generator(seed, "wander"))
    perturb_state(sim.scene, sim.data.qpos, sim.data.qvel, way.rng)
    recorder, look = Recorder(sim.scene), round(LOOK / sim.model.opt.timestep)
    while sim.time < seconds - 1e-6 and not sim.fallen:
        wish = way.next_request(graph.node_of_skill(sim.skill) or "", sim.time, sim.requested is not None)
        if wish is not None:
            sim.switch(wish)
        sim.step(look)
        recorder.add(sim.data.time, sim.data.qpos, sim.data.qvel, sim.data.userdata)
    return sim.fallen_at, way.been, recorder.motion()


def followed(graph: ActionGraph, then: Mapping[str, str | None]) -> ActionGraph:
    """With what follows by itself, where an edge leads there.

    Args:
        graph: with edges.
        then: the node that follows each, if any; others keep what they have.
    """
    nodes = {
        name: node.model_copy(update={"then": then[name]}) if graph.edge(name, then.get(name) or "") else node
        for name, node in graph.nodes.items()
    }
    return ActionGraph.model_validate({"nodes": nodes, "edges": graph.edges})


def reached(graph: ActionGraph, source: str) -> set[str]:
    """The nodes that can be reached from a node, itself included."""
    found, open_ends = {source}, [source]
    while open_ends:
        for name in graph.targets(open_ends.pop()):
            if name not in found:
                found.add(name)
                open_ends.append(name)
    return found


def largest_component(graph: ActionGraph) -> ActionGraph:
    """The part with the most nodes of which each can be reached from each other."""
    ways = {name: reached(graph, name) for name in graph.nodes}
    kept = max(({other for other in ways[name] if name in ways[other]} for name in graph.nodes), key=len)
    nodes = {
        name: node if node.then in kept or node.then is None else node.model_copy(update={"then": None})
        for name, node in graph.nodes.items() if name in kept
    }  # fmt: skip
    edges = tuple(edge for edge in graph.edges if edge.source in kept and edge.target in kept)
    return ActionGraph.model_validate({"nodes": nodes, "edges": edges})
