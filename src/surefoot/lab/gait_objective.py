"""The cost of a gait that does not move like a person's, or falls when it is pushed.

After Wang, Fleet and Hertzmann (2009, 2010): how a gait looks and what it costs is measured on undisturbed replicas,
and how much it bears on replicas that are pushed from behind, from ahead and from the side. Directions, strengths and
moments of the pushes differ in every generation of a search, so that no candidate is merely lucky.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.errors import SurefootError
from surefoot.lab.gait import GaitCard, gait_card
from surefoot.lab.gait_signals import record_signals
from surefoot.lab.replicas import perturb_population, row_seeds, seeded_generator
from surefoot.lab.robustness import PUSH_DURATION, sternum
from surefoot.skills.schema import Skill

FELL = 200.0  # cost of a replica that falls at once; later falls cost down to half of it
_GOOD_ENOUGH = 50.0  # cost of a card from which on more of it counts less and less, so that no walk costs as a fall
_WEAKEST, _STRONGEST = 0.5, 1.15  # of the pushes that are asked for
_JUDGED = 2.0  # [s] at the end, over which a gait has to go on as before

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Wish:
    """The band a measure of the card shall lie in; beyond, it costs about 1 for each `tolerance`, times a weight."""

    low: float
    high: float
    tolerance: float
    weight: float = 1.0

    def cost(self, value: float) -> float:
        """0 within the band, then quadratic, and linear from two tolerances on (Huber)."""
        if not np.isfinite(value):
            return self.weight * 3.0
        off = max(self.low - value, value - self.high, 0.0) / self.tolerance
        return self.weight * (0.5 * off * off if off <= 1.0 else min(off - 0.5, 12.0))


# What people's walks look like, with a margin to the bars that judge them; angles in degrees, else SI units.
WALK: Mapping[str, Wish] = {
    "score": Wish(0.0, 6.5, 1.0, 1.5),
    "walk_ratio": Wish(0.0059, 0.0071, 0.0004),
    "double_support": Wish(0.16, 0.25, 0.02, 3.0),
    "strike_pitch": Wish(11.0, 25.0, 3.0),
    "toe_off_pitch": Wish(-70.0, -43.0, 4.0),
    "stance_knee": Wish(3.0, 16.0, 3.0),
    "loading_knee": Wish(10.0, 27.0, 4.0),
    "swing_knee": Wish(55.0, 70.0, 5.0),
    "plantarflexion": Wish(-28.0, -10.0, 5.0),
    "first_peak": Wish(0.0, 1.25, 0.1),
    "second_peak": Wish(0.9, 1.3, 0.15),
    "work": Wish(0.0, 0.19, 0.02),
    "ankle_share": Wish(0.2, 1.0, 0.1, 0.5),
    "tremble": Wish(0.0, 0.055, 0.015),
    "lean": Wish(0.0, 5.0, 1.5),
    "sway": Wish(0.0, 3.0, 1.0),
    "trunk_roll": Wish(0.0, 3.5, 1.5),
    "pelvis_turn": Wish(4.0, 13.0, 3.0, 0.5),
    "slip": Wish(0.0, 0.012, 0.002, 3.0),
    "clearance": Wish(0.012, 0.06, 0.01),
    "step_width": Wish(0.05, 0.15, 0.03),
    "com_rise": Wish(0.028, 0.055, 0.01, 0.5),
    "head_acceleration": Wish(0.0, 3.0, 1.0, 0.5),
    "asymmetry": Wish(0.0, 1.5, 1.0),
    "drift": Wish(-2.0, 2.0, 2.0),
}
RUN: Mapping[str, Wish] = {
    "cadence": Wish(156.0, 182.0, 3.0, 4.0),
    "stance_knee": Wish(25.0, 50.0, 2.0, 4.0),
    "swing_knee": Wish(75.0, 120.0, 8.0),
    "com_rise": Wish(0.075, 0.10, 0.006, 4.0),
    "flight": Wish(0.20, 0.45, 0.04, 1.5),
    "toe_off_pitch": Wish(-85.0, -35.0, 8.0),
    "strike_pitch": Wish(-12.0, 20.0, 5.0, 0.5),
    "arm_swing": Wish(35.0, 110.0, 10.0),
    "first_peak": Wish(0.0, 2.8, 0.3),
    "work": Wish(0.0, 0.33, 0.04),
    "tremble": Wish(0.0, 0.09, 0.02),
    "lean": Wish(0.0, 11.0, 2.0),
    "sway": Wish(0.0, 5.0, 1.5),
    "trunk_roll": Wish(0.0, 5.0, 2.0),
    "slip": Wish(0.0, 0.02, 0.01),
    "step_width": Wish(0.0, 0.13, 0.02, 3.0),
    "asymmetry": Wish(0.0, 2.0, 1.0),
    "drift": Wish(-2.0, 2.0, 2.0),
}


@dataclass(frozen=True)
class GaitObjective:
    """Cost of a gait: wishes, effort and falls.

    Attributes:
        speed: wanted along the heading [m/s].
        wishes: for the measures of its card.
        pushes: (sagittal, lateral) forces of 0.4 s on the sternum [N]; lateral ones come from either side.
        tried: how many of the pushes are tried in a generation, drawn anew for each.
        replicas: undisturbed ones with noisy starts.
        settle: before it is measured [s].
        measured: how long it is measured [s].
        timestep: physics step [s].
        commands: given to the skill.
        push_weight: of the cost of falls after pushes.
        after_push: how long a pushed replica must go on [s].
        pushed_at: between which times pushes come [s].
        weight: of all its costs, beside other objectives.
    """

    speed: float
    wishes: Mapping[str, Wish] = field(default_factory=lambda: WALK)
    pushes: tuple[tuple[float, float], ...] = ((80.0, 0.0), (-60.0, 0.0), (0.0, 50.0))
    tried: int = 2
    replicas: int = 2
    settle: float = 2.0
    measured: float = 3.0
    timestep: float = 0.002
    commands: Mapping[str, float] = field(default_factory=dict)
    push_weight: float = 0.15
    after_push: float = 3.0
    pushed_at: tuple[float, float] = (1.0, 2.2)
    weight: float = 1.0

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate."""
        cost = self._undisturbed(candidates, seed, threads)
        upright = [i for i in range(len(candidates)) if cost[i] < 0.5 * FELL]
        fallen = [i for i in range(len(candidates)) if i not in upright]
        if self.pushes:
            cost[fallen] += FELL * self.push_weight
            if upright:
                cost[upright] += self._pushed([candidates[i] for i in upright], seed, threads)
        return self.weight * cost

    def _population(self, candidates: Sequence[Skill], rows_each: int, seed: int, threads: int) -> Population:
        """Rows of every candidate, which follow one another, with noisy starts; candidates are disturbed alike."""
        skills = [skill for skill in candidates for _ in range(rows_each)]
        seeds = row_seeds(seed, len(candidates), rows_each)
        population = Population(len(skills), skill=skills, seed=seeds, timestep=self.timestep, threads=threads)
        labels = [k for _ in candidates for k in range(rows_each)]
        perturb_population(population, [seeded_generator(seed, "gait", label) for label in labels])
        if self.commands:
            population.command(None, **self.commands)
        return population

    def _undisturbed(self, candidates: Sequence[Skill], seed: int, threads: int) -> np.ndarray:
        population = self._population(candidates, self.replicas, seed, threads)
        population.run(self.settle, stop_fallen=True)
        signals = record_signals(population, self.measured)
        total, fallen_at = self.settle + self.measured, population.fallen_at
        costs = []
        for i, own in enumerate(signals):
            if own is None:
                costs.append(FELL * (1.0 - 0.5 * fallen_at[i] / total))
                continue
            try:
                costs.append(self.cost_of_card(gait_card(own)))
            except SurefootError:  # it stands, or hops
                costs.append(0.5 * FELL)
        return np.asarray(np.reshape(costs, (len(candidates), -1)).mean(axis=1))

    def cost_of_card(self, card: GaitCard) -> float:
        """Cost of what a card says: less than that of any fall, and of two bad gaits the worse costs more."""
        found = 5.0 * Wish(self.speed - 0.02, self.speed + 0.02, 0.04).cost(card.speed)
        found += sum(wish.cost(getattr(card, name)) for name, wish in self.wishes.items())
        over = max(found - _GOOD_ENOUGH, 0.0)
        room = 0.5 * FELL - _GOOD_ENOUGH
        return min(found, _GOOD_ENOUGH) + room * over / (over + 2.0 * room)

    def _pushed(self, candidates: list[Skill], seed: int, threads: int) -> np.ndarray:
        rng = seeded_generator(seed, "gait pushes")
        chosen = rng.permutation(len(self.pushes))[: self.tried]
        population = self._population(candidates, len(chosen), seed, threads)
        table, last = population.scene.table, 0.0
        for k, (sagittal, lateral) in enumerate(self.pushes[i] for i in chosen):
            strength, side = rng.uniform(_WEAKEST, _STRONGEST), rng.choice([-1.0, 1.0])
            start = rng.uniform(*self.pushed_at)
            last = max(last, start + PUSH_DURATION + self.after_push)
            force = (strength * sagittal, side * strength * lateral, 0.0)
            push = Push(force, PUSH_DURATION, start, table.anatomy.torso, sternum(table))
            population.push(push, range(k, population.n, len(chosen)))
        population.run(last, stop_fallen=True)
        fallen_at = np.minimum(population.fallen_at, last)
        fell = np.where(fallen_at < last, FELL * (1.0 - 0.5 * fallen_at / last), 0.0)
        slow = np.abs(population.reports["velocity"] - self.speed) > 0.6 * abs(self.speed)  # it stumbles, or runs away
        own_states = [_own_states(skill) for skill in population.skills]
        recovering = population.reports["state"] >= own_states  # it has not gone on yet
        cost = np.where(fell > 0.0, fell, np.where(slow, 0.2 * FELL, np.where(recovering, 0.1 * FELL, 0.0)))
        return np.asarray(self.push_weight * cost.reshape(len(candidates), -1).mean(axis=1))


def _own_states(skill: Skill) -> float:
    """How many states a gait has that does not recover; without states, any number of them is its own."""
    states = getattr(skill.parameters, "states", None)
    return len(states) * skill.parameters.halves if states else np.inf  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SturdinessObjective:
    """Cost of falling, or of not walking on as before, after pushes and on grounds that the gait does not know of.

    Attributes:
        speed: told, and wanted again at the end [m/s].
        pushes: (sagittal, lateral) forces of 0.4 s on the sternum [N], each a row; lateral ones come from either side.
        ground: terrain; `{edge}` in it is a distance that differs in every generation [m].
        replicas: rows without pushes.
        seconds: how long a row walks.
        weight: of all its costs, beside other objectives.
        timestep: physics step [s].
    """

    speed: float
    pushes: tuple[tuple[float, float], ...] = ()
    ground: str = "flat"
    replicas: int = 0
    seconds: float = 9.0
    weight: float = 1.0
    timestep: float = 0.001

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate; candidates are disturbed alike."""
        rng, each = seeded_generator(seed, "sturdiness", self.ground), len(self.pushes) + self.replicas
        skills = [skill for skill in candidates for _ in range(each)]
        terrain = self.ground.format(edge=f"{rng.uniform(2.5, 3.5):.3f}")
        seeds = row_seeds(seed, len(candidates), each)
        population = Population(
            len(skills), skill=skills, terrain=terrain, seed=seeds, timestep=self.timestep, threads=threads
        )
        rngs = [seeded_generator(seed, "sturdiness", k) for _ in candidates for k in range(each)]
        perturb_population(population, rngs)
        population.command(None, speed=self.speed)
        table = population.scene.table
        for k, (sagittal, lateral) in enumerate(self.pushes):
            strength, side = rng.uniform(_WEAKEST, _STRONGEST), rng.choice([-1.0, 1.0])
            force = (strength * sagittal, side * strength * lateral, 0.0)
            push = Push(force, PUSH_DURATION, rng.uniform(1.0, 2.2), table.anatomy.torso, sternum(table))
            population.push(push, range(k, len(skills), each))
        population.run(self.seconds - _JUDGED, stop_fallen=True)
        before = population.qpos[:, :2].copy()
        population.run(_JUDGED, stop_fallen=True)
        gone = (population.qpos[:, :2] - before) / _JUDGED
        fallen_at = np.minimum(population.fallen_at, self.seconds)
        missing = np.minimum(np.hypot(gone[:, 0] - self.speed, gone[:, 1]) / self.speed, 1.0)
        recovering = population.reports["state"] >= [_own_states(skill) for skill in skills]
        cost = np.where(
            fallen_at < self.seconds,
            FELL * (1.0 - 0.5 * fallen_at / self.seconds),
            FELL * (0.15 * missing + 0.1 * recovering),
        )
        return np.asarray(self.weight * cost.reshape(len(candidates), -1).mean(axis=1))
