"""What a search asks of a captured gait: stay up, look like the clip, keep its time and its travel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.lab.likeness import Body, Frames, at_phases, likeness, strikes, watch
from surefoot.lab.replicas import disturb, generator
from surefoot.population import Population
from surefoot.scene import Push
from surefoot.skills.imitation import Cycle
from surefoot.skills.schema import Skill

BOUNDS: dict[str, tuple[float, float]] = {
    "cd": (0.0, 1.5), "cv": (0.0, 0.6), "cd_lateral": (0.0, 1.5), "cv_lateral": (0.0, 0.6),
    "feedback.stance_ankle.0": (-5.0, 1.0), "feedback.stance_ankle.1": (-2.0, 0.4),
    "feedback.stance_ankle_roll.0": (-5.0, 1.5), "feedback.stance_ankle_roll.1": (-2.0, 0.5),
    "offsets.swing_hip": (-0.2, 0.3), "offsets.swing_hip_roll": (-0.15, 0.25), "offsets.swing_knee": (-0.2, 0.2),
    "offsets.swing_ankle": (-0.2, 0.4), "offsets.stance_knee": (-0.2, 0.3), "offsets.stance_ankle": (-0.3, 0.3),
    "torso": (-0.25, 0.2), "torso_roll": (-0.1, 0.1), "clearance": (0.0, 0.4), "tuck": (0.0, 0.8),
    "tempo": (0.9, 1.15), "earliest": (0.4, 0.95), "handoff": (0.0, 1.0), "catch_up": (1.2, 6.0), "support": (0.0, 6.0),
    "speed": (-0.6, 0.6), "drift": (-0.5, 0.5),
}  # fmt: skip
"""Parameters that a search may change, and how far."""

FALL, RISING = 6.0, 4.0  # cost of a fall at the end, and what an earlier one costs more
_SETTLED = 2.0  # [s] after which strides are measured
_LEG_BAR = 0.32  # [rad] of a leg's joint over whole strides, from which on it costs much
_TILT_GOOD = float(np.radians(3.0))  # [rad]
_GOOD, _LEG_GOOD = float(np.radians(8.0)), float(np.radians(15.0))  # [rad]


@dataclass(frozen=True)
class Following:
    """A cost to be made small: how far from a cycle a skill walks; every fall costs at least `FALL`.

    Attributes:
        cycle: what it should be like.
        seconds: how long it must stay up.
        replicas: noisy starts per candidate.
        push: [N] in a random direction of the ground for 0.2 s, once; with several replicas not of the first.
    """

    cycle: Cycle
    seconds: float
    replicas: int = 2
    push: float = 0.0

    def costs(self, candidates: Sequence[Skill], seed: int, threads: int = 0) -> np.ndarray:
        """Cost of every candidate, all of them simulated in one population."""
        rows = [(skill, k) for skill in candidates for k in range(self.replicas)]
        population = Population(len(rows), skill=[skill for skill, _ in rows], threads=threads)
        disturb(population, [generator(seed, "follow", k) for _, k in rows])
        for i, (_, k) in enumerate(rows):
            if self.push and (k or self.replicas == 1):
                rng = generator(seed, "follow push", k)
                turn, start = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.3, 0.6) * self.seconds
                force = (self.push * np.cos(turn), self.push * np.sin(turn), 0.0)
                population.scene.add_push(population.rows[i], Push(force, 0.2, start), 0.0)
        body = Body(population.scene)
        cost = [self._cost(frames, body) for frames in watch(population, self.seconds)]
        return np.asarray(np.array(cost).reshape(len(candidates), self.replicas).mean(axis=1))

    def _cost(self, frames: Frames, body: Body) -> float:
        stood = min(frames.fallen_at, self.seconds)
        has_fallen = stood < self.seconds
        until = max(int(np.searchsorted(frames.time, stood - 0.3)), 5)
        phase = frames.reports["phase"][:until]
        errors = {
            name: float(np.sqrt(np.mean((frames.qpos[:until, at] - at_phases(self.cycle, name, phase)) ** 2)))
            for name, at in body.joints.items()
        }
        cost: float = min(float(np.mean(list(errors.values()))) / _GOOD, 3.0)
        cost += min(2.0 * max(max(errors[name] for name in body.legs) / _LEG_GOOD - 1.0, 0.0), 3.0)
        struck = [at[at < until] for at in (strikes(frames, 0), strikes(frames, 1))]
        cost += min(4.0 * self._untimely(frames, struck), 2.0)
        cost += self._stalled(np.sort(frames.time[np.concatenate(struck)]), stood)
        if has_fallen:
            return cost + FALL + RISING * (1.0 - stood / self.seconds)
        seen = likeness(frames, self.cycle, body, min(_SETTLED, 0.3 * self.seconds))
        if not seen.strides:
            return cost + FALL
        cost += min(8.0 * max(seen.worst(body.legs) / _LEG_BAR - 1.0, 0.0), 3.0)
        cost += min(10.0 * abs(seen.width - seen.wanted_width), 2.0)
        cost += min(0.4 * max(seen.tilt / _TILT_GOOD - 1.0, 0.0), 2.0)
        cost += min(15.0 * abs(seen.cadence - 1.0), 3.0)
        return cost + min(5.0 * seen.travel_error, 0.75 + 2.5 * seen.travel_error, 4.0)

    def _untimely(self, frames: Frames, struck: Sequence[np.ndarray]) -> float:
        """By how much of a step the footstrikes of either leg come too early or too late, on average."""
        found = []
        for leg, at in enumerate(struck):
            begin, end = self.cycle.lands[1 - leg], self.cycle.lands[leg]
            done = (
                frames.reports["phase"][at - 1] - begin + 0.3
            ) % 1.0 - 0.3  # a little before its beginning it may be
            found += list(np.abs(done / ((end - begin) % 1.0) - 1.0))
        return float(np.mean(found)) if found else 0.5

    def _stalled(self, strikes: np.ndarray, stood: float) -> float:
        """What the longest time without a footstrike costs, if it is much longer than a step."""
        longest = float(np.diff([0.0, *strikes, stood]).max())
        return min(2.0 * max(longest / (0.5 * self.cycle.period) - 1.6, 0.0), 3.0)
