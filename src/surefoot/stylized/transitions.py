"""Transitions of an action graph found by trying them (what da Silva 2008, §5.3, leaves for the future).

Every node is left from many phases for every other, all in populations. Where the other begins is where its reference
is most like the body. The phases whose rows stay up and lean least on the servos are tried again from disturbed
states; the best of them becomes the edge, if enough of its replicas stay up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.controllers.stylized import tracked_of
from surefoot.lab.replicas import disturb_state
from surefoot.native.pointers import plain
from surefoot.population import Population
from surefoot.stylized.action_graph import ActionGraph, Edge
from surefoot.stylized.reference import Reference
from surefoot.stylized.tracker import Tracker

_SETTLED = 5.0  # [s] after which a loop is on its cycle
_LOOK, _STRIDE = 0.1, 0.01  # [s] between looks at rows that were let go, and at one whose phases are sought


@dataclass(frozen=True)
class Plan:
    """How much is tried.

    Attributes:
        phases: of a loop; of a reference that ends, half as many from its middle to its end.
        finalists: how many of the phases that survive are tried again.
        replicas: disturbed states of each of them.
        seconds: for which a row has to stay up.
        needed: share of the replicas that have to.
        seed: of the disturbances.
    """

    phases: int = 12
    finalists: int = 2
    replicas: int = 4
    seconds: float = 4.0
    needed: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Transition:
    """What was found between two nodes: from how many phases tried it stays up, and the edge, if there is one."""

    source: str
    target: str
    tried: int
    survived: int
    edge: Edge | None


@dataclass(frozen=True)
class _Let:
    """A row to be let go: from which state (nstate,), at which phase it leaves, and where it enters, −1 unsaid."""

    state: np.ndarray
    leave: float
    enter: float = -1.0


@dataclass(frozen=True)
class _Outcome:
    stays: bool
    enter: float
    effort: float  # [N·m] mean of the servos' torques


def search(
    graph: ActionGraph, plan: Plan | None = None, pairs: Sequence[tuple[str, str]] | None = None,
    progress: Callable[[str, float], None] = lambda label, share: None,
) -> Iterator[Transition]:  # fmt: skip
    """Try transitions; each is yielded as soon as it is known, so that one may stop at any time.

    Args:
        graph: whose nodes are tried; its edges play no part.
        plan: how much is tried.
        pairs: sources and targets; by default all of different nodes.
        progress: told what is tried, and the share that is done.
    """
    plan = plan or Plan()
    wanted = [(a, b) for a in graph.nodes for b in graph.nodes if a != b] if pairs is None else list(pairs)
    ground, starts = _Ground(graph, plan), dict[str, list[_Let]]()
    for i, (source, target) in enumerate(wanted):
        progress(f"{source} → {target}", i / len(wanted))
        if source not in starts:
            starts[source] = ground.phases(source)
        yield ground.tried(source, target, ground.entries(starts[source], target))


class _Ground:
    """A population in which rows are let go, as often as need be."""

    def __init__(self, graph: ActionGraph, plan: Plan) -> None:
        self._graph, self._plan = graph, plan
        rows = max(plan.phases + 1, plan.finalists * plan.replicas)
        self._rows = Population(rows, skill=list(graph.skills[:1]) * rows)
        self._dt = float(self._rows.scene.model.opt.timestep)

    def reference(self, name: str) -> Reference:
        """What a node follows."""
        tracker = self._rows.scene.intention(self._graph.skill(name))
        if not isinstance(tracker, Tracker):
            raise TypeError(f"{name} follows nothing")
        return tracker.reference

    def _record(self, row: int) -> Any:
        return plain(tracked_of)(self._rows.rows[row].memory, self._rows.scene.model.nu).tracker[0]

    def phases(self, name: str) -> list[_Let]:
        """A node's states shortly before the phases at which it may be left."""
        one, reference = Population(1, skill=[self._graph.skill(name)]), self.reference(name)
        record = plain(tracked_of)(one.rows[0].memory, one.scene.model.nu).tracker[0]
        if len(reference.poses) == 1:
            one.run(_SETTLED)
            return [_Let(one.states[0], -1.0)]
        count = self._plan.phases if reference.loops else max(2, self._plan.phases // 2)
        wanted = np.arange(count) / count if reference.loops else np.linspace(0.5, 1.0, count)[:-1]
        if reference.loops:
            one.run(_SETTLED)
        found, before, stride = dict[float, _Let](), float(record.clock), max(1, round(_STRIDE / self._dt))
        while len(found) < count and np.isinf(one.fallen_at[0]):
            state = one.states[0]
            one.step([0], stride)
            clock = float(record.clock)
            for phase in map(float, wanted):
                ahead = (phase * reference.duration - before) % reference.duration
                if ahead <= (clock - before) % reference.duration:
                    found.setdefault(phase, _Let(state, phase))
            before = clock
            if not reference.loops and clock >= reference.duration - reference.timestep:
                found[1.0] = _Let(state, 1.0)
        return list(found.values())

    def entries(self, lets: list[_Let], target: str) -> list[_Let]:
        """Where the target may begin: where it is most like the body; from a pose that is held, anywhere as well."""
        if lets and lets[0].leave >= 0.0:
            return lets
        count, share = self._plan.phases, 1.0 if self.reference(target).loops else 0.5
        if len(self.reference(target).poses) == 1:
            return lets
        return lets + [_Let(let.state, let.leave, share * k / count) for let in lets for k in range(count)]

    def tried(self, source: str, target: str, lets: Sequence[_Let]) -> Transition:
        """Every phase, then the best of them from disturbed states."""
        plan, first = self._plan, self._let_go(source, target, lets)
        good = [i for i, one in enumerate(first) if one.stays]
        finalists = sorted(good, key=lambda i: first[i].effort)[: plan.finalists]
        again = [_Let(lets[i].state, lets[i].leave, first[i].enter) for i in finalists for _ in range(plan.replicas)]
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

    def _let_go(self, source: str, target: str, lets: Sequence[_Let], disturbed: bool = False) -> list[_Outcome]:
        """Put rows into states and let them go over."""
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
                disturb_state(population.scene, population.qpos[i], population.qvel[i], rng)
            population.scene.request(population.rows[i], wanted, float(population.time[i]))
            self._record(i).leave, self._record(i).enter = let.leave, let.enter
        began, enters, efforts, looks = population.time[:n], np.full(n, np.nan), np.zeros(n), np.zeros(n)
        for _ in range(round(self._plan.seconds / _LOOK)):
            going = [i for i in range(n) if np.isinf(population.fallen_at[i]) and not self._is_over(i, target)]
            if not going:
                break
            population.step(going, round(_LOOK / self._dt))
            for i in going:
                record = self._record(i)
                if np.isnan(enters[i]) and record.faded >= began[i] and population.rows[i].header[0].pending == 0.0:
                    enters[i] = self._entered(target, record)
                efforts[i] += population.rows[i].report[0].feedback
                looks[i] += 1.0
        efforts /= np.maximum(looks, 1.0)
        fell = population.fallen_at[:n]
        return [
            _Outcome(bool(np.isinf(fell[i]) and np.isfinite(enters[i])), float(enters[i]), float(efforts[i]))
            for i in range(n)
        ]

    def _is_over(self, row: int, target: str) -> bool:
        """Whether a row has come to the end of a target that ends."""
        reference, record = self.reference(target), self._record(row)
        there = self._graph.node_of(self._rows.rows[row]) == target
        return there and not reference.loops and record.clock >= reference.duration - reference.timestep

    def _entered(self, target: str, record: Any) -> float:
        """At which share of its reference a row began to follow the target."""
        reference = self.reference(target)
        if len(reference.poses) == 1:
            return 0.0
        clock = float(record.clock) - (float(record.ticked) - float(record.faded))
        share = clock / reference.duration
        return share % 1.0 if reference.loops else min(max(share, 0.0), 1.0)
