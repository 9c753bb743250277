"""The last minute, moment by moment, so that one can go back to any of them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.simulation import Simulation
from surefoot.snapshot import Snapshot

KEPT = 60.0  # [s]
BODIES = 12  # simulations whose moments are kept: every change of body or ground makes another


@dataclass(frozen=True)
class Moment:
    """A simulation at one time; `clock` is the studio's, which does not start again with the simulation [s]."""

    sim: Simulation
    clock: float
    _rest: Snapshot
    _base: np.ndarray
    _mask: bytes
    _values: np.ndarray

    def snapshot(self) -> Snapshot:
        """Everything there was to it, bit for bit."""
        state = self._base.copy()
        differs = np.unpackbits(np.frombuffer(self._mask, np.uint8), count=len(state)).astype(bool)
        state[differs] = self._values
        return Snapshot(state, self._rest.skill, self._rest.requested, self._rest.tasks)


class Timeline:
    """Moments in their order. Most numbers of a state never change: only those that did are kept."""

    def __init__(self, seconds: float = KEPT) -> None:
        """Keep the last so many seconds."""
        self.seconds = seconds
        self._moments: deque[Moment] = deque()
        self._base: np.ndarray = np.empty(0)
        self._of: Simulation | None = None

    def __len__(self) -> int:
        """How many moments there are."""
        return len(self._moments)

    def add(self, sim: Simulation, clock: float) -> Moment:
        """Keep the present moment, forget those that are too old."""
        snapshot = sim.snapshot()
        if sim is not self._of or len(self._base) != len(snapshot.state):
            self._of, self._base = sim, snapshot.state.copy()
            self._forget_bodies()
        differs = snapshot.state.view(np.int64) != self._base.view(np.int64)
        rest = Snapshot(np.empty(0), snapshot.skill, snapshot.requested, snapshot.tasks)
        mask = np.packbits(differs).tobytes()
        moment = Moment(sim, clock, rest, self._base, mask, snapshot.state[differs])
        self._moments.append(moment)
        while self._moments[0].clock < clock - self.seconds:
            self._moments.popleft()
        return moment

    def _forget_bodies(self) -> None:
        """Of many bodies those that lasted longest are kept: each holds a whole compiled model."""
        lasted = Counter(moment.sim for moment in self._moments)
        while len(lasted) >= BODIES:
            briefest = min(lasted, key=lambda sim: lasted[sim])
            del lasted[briefest]
            self._moments = deque(moment for moment in self._moments if moment.sim is not briefest)

    @property
    def span(self) -> float:
        """Seconds from the first moment to the last."""
        return self._moments[-1].clock - self._moments[0].clock if self._moments else 0.0

    def at(self, ago: float) -> Moment:
        """The moment nearest to so many seconds before the last one."""
        if not self._moments:
            raise SurefootError("there is nothing to go back to yet")
        clock = self._moments[-1].clock - ago
        return min(self._moments, key=lambda moment: abs(moment.clock - clock))

    def first(self, sim: Simulation, clock: float) -> Moment:
        """The first moment of a simulation that is not before a time of the studio's clock [s]."""
        for moment in self._moments:
            if moment.sim is sim and moment.clock >= clock - 1e-9:
                return moment
        raise SurefootError("there is nothing to go back to yet")

    def forget_after(self, moment: Moment) -> None:
        """Drop what came after a moment: it goes on from there."""
        while self._moments and self._moments[-1] is not moment:
            self._moments.pop()
        self._of = None  # the next moment brings its own base

    def last(self, seconds: float, until: Moment | None = None) -> Iterator[Moment]:
        """The moments of so many seconds up to one of them, by default the last, as far as one simulation ran on."""
        found: list[Moment] = []
        for moment in reversed(self._moments):
            if not found and until is not None and moment is not until:
                continue
            if found and (moment.sim is not found[-1].sim or moment.clock < found[0].clock - seconds - 1e-9):
                break
            found.append(moment)
        return reversed(found)

    def clear(self) -> None:
        """Forget everything."""
        self._moments.clear()
        self._of = None
