"""Walks that were told something: begun as replicas, run, measured and judged alike by all experiments of GENBICON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.gait_measures import Gait, measure_gait
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.replica_walks import LARGEST_SLIP
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.motion import Motion

SKILL = "zero-walk"
REPLICAS = 3
SPEED_ERROR = 0.1  # [m/s]
SETTLED, RECORDED, FPS = 15.0, 5.0, 100.0  # [s] until a walk is judged; [s] at its end that are measured closely
_LEAST_STEPS = 4  # in the recorded end: less is not walking


@dataclass(frozen=True)
class Walk:
    """How one row walked; the heading it was told is x."""

    fallen_at: float  # [s], inf if it did not fall
    speed: float  # [m/s] along x over the time that is judged
    peak_torque: float  # [N·m] of any joint, from the start on
    gait: Gait | None = None  # of the recorded end
    step_time: float = np.inf  # [s] between foot strikes, likewise

    @property
    def is_valid_gait(self) -> bool:
        """Whether it has not fallen and goes by steps: without skating, and with its feet beside each other."""
        return not self.failure()

    def keeps(self, speed: float) -> bool:
        """Whether it fairly walks at a speed [m/s]."""
        return self.is_valid_gait and abs(self.speed - speed) <= SPEED_ERROR

    def failure(self) -> str:
        """What keeps it from being fair, in words; empty if nothing does."""
        if np.isfinite(self.fallen_at):
            return f"fell at {self.fallen_at:.1f} s"
        if self.gait is None or np.isinf(self.step_time):
            return "does not step"
        crossed = f"crosses its legs: width {100 * self.gait.step_width:.0f} cm" if self.gait.step_width <= 0.0 else ""
        return f"skates: slip {self.gait.slip:.2f}" if self.gait.slip > LARGEST_SLIP else crossed

    def record(self) -> dict[str, Any]:
        """Its raw figures."""
        found = {"fallen_at": self.fallen_at, "ahead": self.speed, "peak_torque": self.peak_torque}
        if self.gait:
            found |= {name: getattr(self.gait, name) for name in ("slip", "step_width", "narrowest", "flight", "drift")}
        return found | {"step_time": self.step_time}


def replica_population(
    commands: Sequence[Mapping[str, float]], seed: int, character: str = "humanoid", replicas: int = REPLICAS
) -> Population:
    """Replicas of the zero gait told each of some things, from standing, command by command."""
    cases = [case for case in range(len(commands)) for _ in range(replicas)]
    population = Population(len(cases), character, SKILL)
    name = population.scene.table.name
    rngs = [seeded_generator(seed, "walk", name, case, i % replicas) for i, case in enumerate(cases)]
    perturb_population(population, rngs)
    for i, case in enumerate(cases):
        population.command([i], **commands[case])
    return population


def run_and_measure(
    population: Population, seconds: float, settled: float = SETTLED
) -> tuple[list[Walk], list[Motion]]:
    """Run a population for some seconds, judge it from `settled` on; also the motions of its end."""
    recorded = min(RECORDED, seconds - settled)
    population.run(settled, stop_fallen=True)
    before = population.qpos[:, 0].copy()
    population.run(seconds - settled - recorded, stop_fallen=True)
    motions = population.run(recorded, fps=FPS, stop_fallen=True)
    ahead = (population.qpos[:, 0] - before) / (seconds - settled)
    return [_walk(population, i, float(ahead[i]), motion) for i, motion in enumerate(motions)], motions


def _walk(population: Population, i: int, speed: float, motion: Motion) -> Walk:
    fallen_at, torque = float(population.fallen_at[i]), float(population.rows[i].report[0].peak_torque)
    if np.isfinite(fallen_at):
        return Walk(fallen_at, speed, torque)
    return Walk(fallen_at, speed, torque, measure_gait(motion), step_time(motion))


def step_time(motion: Motion) -> float:
    """Mean time between the foot strikes of a motion [s]; inf if there are too few."""
    times = [float(motion.time[frame]) for frame, _ in footstrikes(motion)]
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) >= _LEAST_STEPS else np.inf


def grouped(walks: Sequence[Walk], replicas: int = REPLICAS) -> list[list[Walk]]:
    """The replicas of each command."""
    return [list(walks[i : i + replicas]) for i in range(0, len(walks), replicas)]


def upright(walks: Sequence[Walk]) -> str:
    """How many did not fall, in words, and what else is wrong with the first that is not fair."""
    kept = sum(bool(np.isinf(w.fallen_at)) for w in walks)
    failure = next((f" ({w.failure()})" for w in walks if not w.is_valid_gait), "")
    return f"{kept} of {len(walks)} upright{failure}"


def farthest(values: Iterable[float], wanted: float) -> float:
    """The value that is farthest from a wanted one."""
    return max(values, key=lambda value: abs(value - wanted))


def quality(walks: Sequence[Walk]) -> str:
    """Peak torque, slip and step width of some walks: the worst of each."""
    gaits = [w.gait for w in walks if w.gait]
    torque = f"peak torque {max(w.peak_torque for w in walks):.0f} N·m"
    if not gaits:
        return torque
    torque += f" ({max(g.peak_torque for g in gaits):.0f} at the end)"
    slip, width = max(g.slip for g in gaits), 100.0 * min(g.step_width for g in gaits)
    narrowest = 100.0 * min(g.narrowest for g in gaits)
    return f"{torque}, slip {slip:.3f}, step width {width:.0f} cm (narrowest {narrowest:.0f} cm)"
