"""Speed of populations on a GPU: controlled steps a second by the number of worlds, and bare physics beside it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from surefoot.engine.population import Population

WALKS = {
    "planar": "planar/walk",
    "human": "human/walk-as-printed",
    "humanoid": "biped/zero-walk",
    "stepper": "stepper/walk",
}  # measured, by character
WORLDS = (256, 1024, 4096, 8192, 16384, 32768, 65536)
BARS = {"planar": (25e6, 1.15), "human": (4.5e6, 1.15), "humanoid": (3e6, 1.3)}
"""The least controlled steps a second on one H200, and the most that control and physics may cost in bare physics."""
_SETTLE = 1.0  # [s] until every row walks
_STRETCH = 40  # physics steps from a common state: too few for the uncontrolled body to leave the gait
_ROUNDS = 5


@dataclass(frozen=True)
class Speed:
    """What a population of a size does.

    Attributes:
        character: the body.
        worlds: how many.
        controlled: steps a second, of all worlds together.
        bare: the same without control.
    """

    character: str
    worlds: int
    controlled: float
    bare: float

    @property
    def ratio(self) -> float:
        """What control and physics cost, in bare physics."""
        return self.bare / self.controlled


def measure_speed(character: str, worlds: int, device: str, rounds: int = _ROUNDS) -> Speed:
    """Measure a walk, controlled and bare in turn, from the same states.

    Args:
        character: one of `WALKS`.
        worlds: how many.
        device: such as `cuda`.
        rounds: of each; the median counts.
    """
    population = Population(worlds, character, WALKS[character], device=device)
    population.run(_SETTLE)
    states, warp = population.warp.copy_state(), population.warp
    found: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(rounds + 1):
        for controlled, times in found.items():
            warp.write_state(states)
            warp.synchronize()
            begin = time.perf_counter()
            warp.step(_STRETCH, controlled)
            warp.synchronize()
            if turn:  # the first records the graphs
                times.append(time.perf_counter() - begin)
    steps = worlds * _STRETCH
    return Speed(character, worlds, steps / statistics.median(found[True]), steps / statistics.median(found[False]))


def measure_speeds(
    device: str, characters: Sequence[str] = tuple(WALKS), sizes: Sequence[int] = WORLDS,
    tick: Callable[[str, float], None] = lambda what, share: None,
) -> list[Speed]:  # fmt: skip
    """Measure walks at several sizes.

    Args:
        device: such as `cuda`.
        characters: of `WALKS`.
        sizes: numbers of worlds.
        tick: called with what is measured and the share that is done.
    """
    cases = [(character, worlds) for character in characters for worlds in sizes]
    found = []
    for i, (character, worlds) in enumerate(cases):
        tick(f"{character}, {worlds} worlds", i / len(cases))
        found.append(measure_speed(character, worlds, device))
    return found
