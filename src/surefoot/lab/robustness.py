"""How much a gait bears: stable ranges of a parameter, and robust thresholds of pushes.

A robust threshold is the largest level such that it and every smaller one is survived by 4 of 5 replicas. A replica
survives if it stays up and does again, over its last 5 s, what it did before. Planar gaits are pushed ten times along x
(SIMBICON §7.1); walkers in space are pushed once, from eight directions at a phase of the cycle (SIMBICON §7.2).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.characters.table import CharacterTable, standing_height
from surefoot.engine.devices import CPU, present_device
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab.gait_measures import IN_PLACE, yaw_angles
from surefoot.lab.replicas import (
    PHASE,
    SETTLE,
    commanded_population,
    perturb_state,
    replicas_on_cycle,
    seeded_generator,
    step_period,
)
from surefoot.skills.schema import Skill


@dataclass(frozen=True)
class StableRange:
    """Lowest and highest stable value, and whether nothing was tried beyond either."""

    low: float
    high: float
    open_below: bool
    open_above: bool

    @property
    def width(self) -> float:
        """From the lowest to the highest value."""
        return self.high - self.low

    def __str__(self) -> str:
        """As text, with `≤` and `≥` where nothing was tried beyond."""
        return f"{'≤ ' if self.open_below else ''}{self.low:g} … {'≥ ' if self.open_above else ''}{self.high:g}"


def stable_range(values: np.ndarray, goes: np.ndarray, center: int) -> StableRange:
    """The contiguous range of (n,) ascending `values` around index `center` for which (n,) `goes` is true."""
    low = high = center
    while low > 0 and goes[low - 1]:
        low -= 1
    while high < len(values) - 1 and goes[high + 1]:
        high += 1
    return StableRange(float(values[low]), float(values[high]), low == 0, high == len(values) - 1)


REPLICAS, NEEDED = 5, 4
_JUDGED = 5.0  # [s] last part of the run, over which speed and stepping are judged
_SAME_SPEED = 0.7  # share of its speed that counts as going on


def planar_grid(highest: float) -> list[float]:
    """Levels of 10 N below 100 N and of 20 N above, up to the highest [N]."""
    return [10.0 * i for i in range(1, 10) if 10.0 * i <= highest] + [
        100.0 + 20.0 * i for i in range(int((highest - 100.0) // 20.0) + 1) if highest >= 100.0
    ]


def robust_threshold(
    survives: Callable[[list[float]], list[int]], grid: list[float], block: int = 6
) -> tuple[float, list[tuple[float, int]]]:
    """Climb a grid until a level is survived by too few replicas.

    Args:
        survives: counts the replicas that survive each of some levels.
        grid: levels, ascending.
        block: levels simulated at once.

    Returns:
        The threshold (0 if the first level fails) and the count at every level that was tried.
    """
    best, tried = 0.0, []
    for start in range(0, len(grid), block):
        levels = grid[start : start + block]
        for level, count in zip(levels, survives(levels), strict=True):
            tried.append((level, count))
            if count < NEEDED:
                return best, tried
            best = level
    return best, tried


def _count_survivors(survive: Callable[[Sequence[int], Sequence[int]], np.ndarray], cases: int) -> np.ndarray:
    """(cases,) replicas that survive; the last replicas are simulated only where they decide.

    Args:
        survive: (cases,) how many of some replicas survive each of some cases.
        cases: how many there are.
    """
    counts = survive(range(cases), range(NEEDED))
    unsure = [i for i, count in enumerate(counts) if NEEDED - (REPLICAS - NEEDED) <= count < NEEDED]
    if unsure:
        counts[unsure] += survive(unsure, range(NEEDED, REPLICAS))
    return counts


@dataclass(frozen=True)
class UndisturbedGait:
    """Speed [m/s] of a gait without pushes, and its steps in the judged time."""

    speed: float
    steps: float


def has_recovered(speed: np.ndarray, steps: np.ndarray, norm: UndisturbedGait) -> np.ndarray:
    """(n,) whether rows have their speed again, or step in place again.

    Args:
        speed: (n,) [m/s].
        steps: (n,) in the judged time.
        norm: what the gait does undisturbed.
    """
    if abs(norm.speed) < IN_PLACE:
        return np.asarray((np.abs(speed - norm.speed) < IN_PLACE) & (steps > 0.5 * norm.steps))
    return np.asarray(speed * np.sign(norm.speed) >= _SAME_SPEED * abs(norm.speed))


def _run_and_judge(population: Population, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Run; (n, 2) velocities in the first two coordinates [m/s] and (n,) steps, over the last `_JUDGED` seconds."""
    population.run(seconds - _JUDGED, stop_fallen=True)
    before, steps = population.qpos[:, :2].copy(), population.reports["steps"]
    population.run(_JUDGED, stop_fallen=True)
    return (population.qpos[:, :2] - before) / _JUDGED, population.reports["steps"] - steps


PUSHES, INTERVAL, REPEATED_PUSH_DURATION, REPEATED_PUSH_AFTER = 10, 5.0, 0.1, 10.0  # SIMBICON §7.1, times in seconds
_ALL_PUSHES = 1.0 + INTERVAL * (PUSHES - 1) + REPEATED_PUSH_AFTER  # [s]


def push_survivors(skill: Skill, direction: float, seed: int) -> Callable[[list[float]], list[int]]:
    """Prepare replicas of a planar gait for ten pushes each.

    Args:
        skill: a planar gait.
        direction: ± 1 along x.
        seed: of the replicas and of when they are pushed.

    Returns:
        A function that counts the replicas that survive each of some levels [N].
    """
    states, period = replicas_on_cycle(skill, REPLICAS, seed), 2.0 * step_period(skill)
    shifts = [
        seeded_generator(seed, "push", skill.full_name, i).uniform(-PHASE, PHASE) * period for i in range(REPLICAS)
    ]

    def run(cases: Sequence[tuple[float, int]]) -> tuple[Population, np.ndarray, np.ndarray]:
        """Push some replicas, each with a level."""
        population = Population(len(cases), skill=[skill] * len(cases))
        population.restore(states[[replica for _, replica in cases]])
        for i, (level, replica) in enumerate(cases):
            for k in range(PUSHES if level else 0):
                start = SETTLE + 1.0 + INTERVAL * k + shifts[replica]
                push = Push((direction * level, 0.0, 0.0), REPEATED_PUSH_DURATION, start, "trunk")
                population.push(push, [i])
        velocity, steps = _run_and_judge(population, _ALL_PUSHES)
        return population, velocity[:, 0], steps

    _, speed, steps = run([(0.0, 0)])
    norm = UndisturbedGait(float(speed[0]), float(steps[0]))

    def survives(levels: list[float]) -> list[int]:
        def survive(which: Sequence[int], replicas: Sequence[int]) -> np.ndarray:
            population, speed, steps = run([(levels[i], replica) for i in which for replica in replicas])
            alive = np.isinf(population.fallen_at) & has_recovered(speed, steps, norm)
            return np.asarray(alive.reshape(len(which), len(replicas)).sum(axis=1))

        return [int(count) for count in _count_survivors(survive, len(levels))]

    return survives


PUSH_DURATION, AT_PHASE, PUSH_AFTER = 0.4, 0.1, 10.0  # [s], of the cycle after right footstrike, [s]
STERNUM = (0.0, 0.0, 0.30)  # [m] in the human's trunk, whose origin is the waist
_UP = (0.15 + 0.30) / 0.945  # height of the human's sternum above its hips, of that of the hips above the soles
# (lateral, sagittal) in the order of the paper; lateral is positive to the left
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
PAPER_FORCES = (340.0, 230.0, 330.0, 220.0, 270.0, 190.0, 240.0, 190.0)  # [N] along each axis pushed
_SAME_HEADING = math.radians(15.0)
_TOGETHER = 100  # levels of each direction that a GPU tries at once: many worlds take it hardly longer than few
_SLICE = 0.001  # [s] in which a footstrike is looked for


@dataclass(frozen=True)
class StrikeStart:
    """Replicas at a footstrike, the period of the cycle [s], and the speed of the gait undisturbed [m/s]."""

    states: np.ndarray
    period: float
    shifts: np.ndarray  # [s] by which each replica's push comes earlier or later
    speed: float


def sternum(table: CharacterTable) -> tuple[float, float, float]:
    """The point of a torso's frame, to the millimetre, that is as high on its body as the human's `STERNUM` [m]."""
    above, parts = 0.0, {segment.name: segment for segment in table.segments}
    name = table.anatomy.torso
    while name != table.anatomy.pelvis:
        above, name = above + parts[name].offset[2], parts[name].parent
    return (0.0, 0.0, round(_UP * standing_height(table) - above, 3))


def at_strike(
    skill: Skill, seed: int, foot: int = 1, count: int = REPLICAS, *, character: str | None = None,
    commands: Mapping[str, float] | None = None,
) -> StrikeStart:  # fmt: skip
    """Replicas of the moment at which a settled gait in space sets down a foot.

    Args:
        skill: the gait.
        seed: of the replicas.
        foot: 0 is left, 1 right.
        count: of replicas.
        character: body; by default the skill's own.
        commands: given to the skill.
    """
    one = commanded_population(1, skill, character, commands)
    one.run(SETTLE)
    steps = one.reports["steps"][0]
    while one.time[0] < SETTLE + 5.0:
        one.run(_SLICE)
        report = one.reports[0]
        if report["steps"] > steps and report["swing"] == 1 - foot:
            break
        steps = report["steps"]
    several = commanded_population(count, skill, character)
    several.restore(np.repeat(one.states, count, axis=0))
    period, shifts = 2.0 * step_period(skill, character, commands), np.zeros(count)
    for i in range(count):
        rng = seeded_generator(seed, "direction", skill.full_name, foot, i)
        perturb_state(several.scene, several.qpos[i], several.qvel[i], rng)
        shifts[i] = rng.uniform(-PHASE, PHASE) * period
    before = one.qpos[0, :2].copy()
    one.run(PUSH_AFTER)
    return StrikeStart(several.states, period, shifts, float(np.hypot(*(one.qpos[0, :2] - before))) / PUSH_AFTER)


def push_survivors_3d(
    skill: Skill, start: StrikeStart, cases: Sequence[tuple[tuple[float, float], int]], character: str | None = None
) -> np.ndarray:
    """(n,) which pushes are survived: upright, as fast as before, stepping, and on the same heading.

    Args:
        skill: the gait.
        start: its replicas.
        cases: (lateral, sagittal) force [N] and number of the replica.
        character: body; by default the skill's own.
    """
    population = commanded_population(len(cases), skill, character)
    population.restore(start.states[[replica for _, replica in cases]])
    table = population.scene.table
    point = sternum(table)
    for i, ((lateral, sagittal), replica) in enumerate(cases):
        when = float(population.time[i]) + AT_PHASE * start.period + start.shifts[replica]
        push = Push((sagittal, lateral, 0.0), PUSH_DURATION, when, table.anatomy.torso, point)
        population.push(push, [i])
    velocity, steps = _run_and_judge(population, AT_PHASE * start.period + PUSH_DURATION + PUSH_AFTER)
    heading, norm = population.reports["heading"], UndisturbedGait(start.speed, 2.0 * _JUDGED / start.period)
    along = velocity[:, 0] * np.cos(heading) + velocity[:, 1] * np.sin(heading)
    off = np.abs(np.angle(np.exp(1j * (yaw_angles(population.qpos[:, 3:7]) - heading))))
    going = has_recovered(along, steps, norm) & (steps > 0.5 * norm.steps) & (off < _SAME_HEADING)
    return np.asarray(np.isinf(population.fallen_at) & going)


def direction_thresholds(
    skill: Skill, seed: int, *, foot: int = 1, step: float = 10.0, highest: float = 700.0,
    tick: Callable[[float], None] = lambda share: None, character: str | None = None,
    commands: Mapping[str, float] | None = None,
) -> tuple[np.ndarray, list[dict[str, float]]]:  # fmt: skip
    """Find the robust thresholds of a walker pushed from eight directions.

    All directions climb the grid together, one level of each at a time, on a GPU many, until too few replicas survive.

    Args:
        skill: a gait in space.
        seed: of the replicas.
        foot: after whose footstrike it is pushed; with 0, the left one, lateral forces are mirrored.
        step: between two levels [N].
        highest: level that is tried [N].
        tick: called with the share of the directions that are done.
        character: body; by default the skill's own.
        commands: given to the skill.

    Returns:
        (8,) thresholds [N per axis] in the order of `DIRECTIONS`, and a record of every run.
    """
    start = at_strike(skill, seed, foot, character=character, commands=commands)
    mirror, records = 1.0 if foot == 1 else -1.0, list[dict[str, float]]()

    def survive(tried: Sequence[tuple[int, float]], replicas: Sequence[int]) -> np.ndarray:
        forces = [(mirror * level * DIRECTIONS[d][0], level * DIRECTIONS[d][1]) for d, level in tried]
        cases = [(force, replica) for force in forces for replica in replicas]
        alive = push_survivors_3d(skill, start, cases, character)
        for (force, replica), survived in zip(cases, alive, strict=True):
            records.append({"lateral": force[0], "sagittal": force[1], "replica": replica, "survived": int(survived)})
        return np.asarray(alive.reshape(len(tried), len(replicas)).sum(axis=1))

    together = 1 if present_device() == CPU else _TOGETHER
    return climb_levels(survive, step, highest, tick, together), records


def climb_levels(
    survive: Callable[[Sequence[tuple[int, float]], Sequence[int]], np.ndarray], step: float, highest: float,
    tick: Callable[[float], None] = lambda share: None, together: int = 1,
) -> np.ndarray:  # fmt: skip
    """(8,) the robust threshold of each direction.

    Args:
        survive: counts, of some replicas, those that survive, in each of some cases: a direction and a level.
        step: between two levels.
        highest: level that is tried.
        tick: called with the share of the directions that are done.
        together: levels of a direction that are tried at once; those above one that fails do not count.
    """
    found, climbing = np.zeros(len(DIRECTIONS)), list(range(len(DIRECTIONS)))
    levels = [k * step for k in range(1, int(highest / step + 1e-9) + 1)]
    for begin in range(0, len(levels), together):
        tried = [(d, level) for level in levels[begin : begin + together] for d in climbing]

        def of_these(which: Sequence[int], replicas: Sequence[int], cases: Sequence[tuple[int, float]]) -> np.ndarray:
            return survive([cases[i] for i in which], replicas)

        counts = _count_survivors(functools.partial(of_these, cases=tried), len(tried))
        for (direction, level), count in zip(tried, counts, strict=True):
            if direction in climbing and count >= NEEDED:
                found[direction] = level
            elif direction in climbing:
                climbing.remove(direction)
        tick(1.0 - len(climbing) / len(DIRECTIONS))
        if not climbing:
            break
    return found
