"""Replicas: rows that begin in slightly different states, from the start of a skill or from its settled gait.

One run proves little: a gait may survive by luck. Random numbers depend on the seed and on a label that says what they
are for, so that an experiment gives the same figures whatever else is run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Scene
from surefoot.native.kernels import records
from surefoot.reflexes.pose_graph import MACHINE
from surefoot.skills.schema import Skill

ANGLE, RATE, SPEED = 0.02, 0.1, 0.05  # [rad], [rad/s], [m/s] half-widths of the uniform noise
PHASE = 0.02  # of the cycle


def seeded_generator(seed: int, *labels: object) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for, and on nothing else.

    Args:
        seed: not negative.
        labels: what the numbers are for; other labels give other numbers.
    """
    text = "/".join(map(str, labels)).encode()
    return np.random.default_rng([seed, zlib.crc32(text)])


def row_seeds(seed: int, candidates: int, rows_each: int) -> list[int]:
    """Seeds of the rows of some candidates, alike for all of them, so that no row depends on how many there are.

    Args:
        seed: of the first row of each.
        candidates: how many there are.
        rows_each: rows of a candidate, which follow one another.
    """
    return [seed + k for _ in range(candidates) for k in range(rows_each)]


def perturb_population(population: Population, rngs: Sequence[np.random.Generator]) -> None:
    """Add replica noise to the present state of every row, in place.

    Args:
        population: its feet stay as far from the ground as they are.
        rngs: one per row.
    """
    for i, rng in enumerate(rngs):
        perturb_state(population.scenes[i], population.qpos[i], population.qvel[i], rng)


def perturb_alike(population: Population, noise: Sequence[Callable[[], np.random.Generator]]) -> None:
    """Add replica noise to every row, in place, as `perturb_population` does; rows that are alike are computed once.

    Args:
        population: its feet stay as far from the ground as they are.
        noise: makes the generator of each row; rows with the same function share its noise.
    """
    done: dict[tuple[object, ...], int] = {}
    qpos, qvel = population.qpos, population.qvel
    for i, make in enumerate(noise):
        key = make, id(population.scenes[i]), qpos[i].tobytes(), qvel[i].tobytes()
        if key in done:
            qpos[i], qvel[i] = qpos[done[key]], qvel[done[key]]
            continue
        perturb_state(population.scenes[i], qpos[i], qvel[i], make())
        done[key] = i


def perturb_state(scene: Scene, qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> None:
    """Add replica noise to one state, in place: uniform within ± `ANGLE`, ± `RATE` and ± `SPEED`."""
    model, joints = scene.model, list(scene.table.gains)
    clearance = scene.clearance(qpos)
    for joint in joints:
        named = model.joint(joint)
        low, high = named.range if model.jnt_limited[named.id] else (-np.inf, np.inf)
        angle = qpos[named.qposadr[0]] + rng.uniform(-ANGLE, ANGLE)
        qpos[named.qposadr[0]] = np.clip(angle, low, high)
        qvel[named.dofadr[0]] += rng.uniform(-RATE, RATE)
    qvel[0] += rng.uniform(-SPEED, SPEED)
    height = 1 if scene.table.root == "planar" else 2
    qpos[height] += clearance - scene.clearance(qpos)


SETTLE = 8.0  # [s] after which a gait is taken to be on its cycle
_LOOK = 0.1  # [s] shorter than any step


def commanded_population(
    count: int, skill: Skill, character: str | None = None, commands: Mapping[str, float] | None = None
) -> Population:
    """A population of one skill that has been given commands.

    Args:
        count: of rows.
        skill: the same for all rows.
        character: body; by default the skill's own.
        commands: by name, as `Simulation.command` takes them.
    """
    population = Population(count, character, [skill] * count)
    for row in population.rows:
        population.scene.command(row, skill, commands or {})
    return population


def states_at_random_phases(skill: Skill, count: int, seed: int, may_run: Sequence[Skill] = ()) -> np.ndarray:
    """(count, nstate) states of a gait at random moments of a window of 2 s after settling.

    Args:
        skill: the gait.
        count: of states.
        seed: of the moments.
        may_run: further skills that the states must have room for.
    """
    population = Population(count, skill=[skill] * count, skills=may_run)
    rng = seeded_generator(seed, "phases", skill.full_name)
    population.run(SETTLE)
    population.advance(rng.uniform(0.0, 2.0, count))
    return population.states


def replicas_on_cycle(skill: Skill, count: int, seed: int) -> np.ndarray:
    """(count, nstate) replicas of one settled moment of a gait."""
    population = Population(1, skill=[skill])
    population.run(SETTLE)
    several = Population(count, skill=[skill] * count)
    several.restore(np.repeat(population.states, count, axis=0))
    for i in range(count):
        rng = seeded_generator(seed, "replica", skill.full_name, i)
        perturb_state(several.scene, several.qpos[i], several.qvel[i], rng)
    return several.states


def step_period(skill: Skill, character: str | None = None, commands: Mapping[str, float] | None = None) -> float:
    """Duration of one step on the cycle [s]."""
    population = commanded_population(1, skill, character, commands)
    population.run(SETTLE)
    before = float(population.rows[0].report[0].steps)
    population.run(4.0)
    steps = float(population.rows[0].report[0].steps) - before
    return 4.0 / steps if steps > 0 else 4.0


def step_durations(population: Population, seconds: float) -> list[list[float]]:
    """Run a population and return the durations of the steps that each row ended [s]; a fallen row stops."""
    machines = [records(row.memory, 0, 1, MACHINE)[0] for row in population.rows]
    counts = [machine.steps for machine in machines]
    found: list[list[float]] = [[] for _ in machines]
    for _ in range(round(seconds / _LOOK)):
        population.run(_LOOK, stop_fallen=True)
        machines = [records(row.memory, 0, 1, MACHINE)[0] for row in population.rows]
        for i, machine in enumerate(machines):
            if machine.steps > counts[i]:
                counts[i] = machine.steps
                found[i].append(float(machine.period))
    return found
