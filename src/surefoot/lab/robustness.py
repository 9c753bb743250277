"""The stretch of a parameter's values, around a nominal one, over which something goes on.

Robust thresholds: the largest push such that it and every smaller one is survived.

Pushes of a walker in space: from eight directions, at a phase of its cycle (SIMBICON §7.2, "Robustness").

A walker is a skill, the body that runs it (by default the skill's own) and what it is told meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.characters.table import CharacterTable, standing_height
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.lab import replicas
from surefoot.lab.gait_measures import IN_PLACE
from surefoot.lab.replicas import PHASE, SETTLE, commanded_population, perturb_state, seeded_generator, step_period
from surefoot.skills.schema import Skill


@dataclass(frozen=True)
class StableRange:
    """Lowest and highest value, and whether more may go on beyond the ends of what was tried."""

    low: float
    high: float
    open_below: bool
    open_above: bool

    @property
    def width(self) -> float:
        """From the lowest to the highest value."""
        return self.high - self.low

    def __str__(self) -> str:
        """As text: `≤` and `≥` where it was not tried further."""
        return f"{'≤ ' if self.open_below else ''}{self.low:g} … {'≥ ' if self.open_above else ''}{self.high:g}"


def stable_range(values: np.ndarray, goes: np.ndarray, center: int) -> StableRange:
    """The contiguous stretch of (n,) ascending `values` around index `center` for which `goes` is true."""
    low = high = center
    while low > 0 and goes[low - 1]:
        low -= 1
    while high < len(values) - 1 and goes[high + 1]:
        high += 1
    return StableRange(float(values[low]), float(values[high]), low == 0, high == len(values) - 1)


REPLICAS, NEEDED = 5, 4
PUSHES, INTERVAL, REPEATED_PUSH_DURATION, REPEATED_PUSH_AFTER = 10, 5.0, 0.1, 10.0  # SIMBICON §7.1, times in seconds
_JUDGED = 5.0  # [s] last part of the run, over which speed and stepping are judged
_SAME_SPEED = 0.7  # share of its speed that counts as going on


def planar_grid(highest: float) -> list[float]:
    """Levels of 10 N below 100 N and of 20 N above [N]."""
    return [10.0 * i for i in range(1, 10) if 10.0 * i <= highest] + [
        100.0 + 20.0 * i for i in range(int((highest - 100.0) // 20.0) + 1) if highest >= 100.0
    ]


def robust_threshold(
    survives: Callable[[list[float]], list[int]], grid: list[float], block: int = 6
) -> tuple[float, list[tuple[float, int]]]:
    """Climb the grid until a level is survived by too few replicas.

    Args:
        survives: how many replicas survive each of some levels.
        grid: levels, ascending.
        block: levels simulated at once.

    Returns:
        The threshold (0 if the first level fails) and the count at every level that was tried.
    """
    best, tried = 0.0, []
    for start in range(0, len(grid), block):
        levels = grid[start : start + block]
        counts = survives(levels)
        for level, count in zip(levels, counts, strict=True):
            tried.append((level, count))
            if count < NEEDED:
                return best, tried
            best = level
    return best, tried


@dataclass(frozen=True)
class UndisturbedGait:
    """What a gait does undisturbed, over the same time."""

    speed: float
    steps: float


def push_survivors(skill: Skill, direction: float, seed: int) -> Callable[[list[float]], list[int]]:
    """How many replicas survive ten pushes of a level along x (direction ± 1)."""
    states = replicas.replicas_on_cycle(skill, REPLICAS, seed)
    period = 2.0 * replicas.step_period(skill)
    shifts = [
        seeded_generator(seed, "push", skill.full_name, i).uniform(-PHASE, PHASE) * period for i in range(REPLICAS)
    ]
    norm = _undisturbed(skill, states)

    def run(cases: list[tuple[float, int]]) -> np.ndarray:
        pushes = [[_push(direction * level, k, shifts[replica]) for k in range(PUSHES)] for level, replica in cases]
        return _run(skill, states[[replica for _, replica in cases]], pushes, norm)

    def survives(levels: list[float]) -> list[int]:
        """Replicas that survive each level; the last one is run only where it decides."""
        first = run([(level, replica) for level in levels for replica in range(NEEDED)]).reshape(-1, NEEDED).sum(axis=1)
        open_ones = [i for i, count in enumerate(first) if count == NEEDED - 1]
        if open_ones:
            first[open_ones] += run([(levels[i], NEEDED) for i in open_ones])
        return [int(count) for count in first]

    return survives


def _push(force: float, k: int, shift: float) -> Push:
    return Push((force, 0.0, 0.0), REPEATED_PUSH_DURATION, replicas.SETTLE + 1.0 + INTERVAL * k + shift, "trunk")


def _undisturbed(skill: Skill, states: np.ndarray) -> UndisturbedGait:
    population = _population(skill, states[:1])
    x, steps = _judged_stretch(population)
    return UndisturbedGait(float(x[0]), float(steps[0]))


def _run(skill: Skill, states: np.ndarray, pushes: list[list[Push]], norm: UndisturbedGait) -> np.ndarray:
    population = _population(skill, states)
    for i, queue in enumerate(pushes):
        for push in queue:
            population.scene.add_push(population.rows[i], push, float(population.time[i]))
    speed, steps = _judged_stretch(population)
    upright = np.isinf(population.fallen_at)
    return np.asarray(upright & has_recovered(speed, steps, norm))


def has_recovered(speed: np.ndarray, steps: np.ndarray, norm: UndisturbedGait) -> np.ndarray:
    """Whether it does again what it did: its speed, or its stepping in place."""
    if abs(norm.speed) < IN_PLACE:
        return np.asarray((np.abs(speed - norm.speed) < IN_PLACE) & (steps > 0.5 * norm.steps))
    return np.asarray(speed * np.sign(norm.speed) >= _SAME_SPEED * abs(norm.speed))


def _population(skill: Skill, states: np.ndarray) -> Population:
    population = Population(len(states), skill=[skill] * len(states))
    population.restore(states)
    return population


def _judged_stretch(population: Population) -> tuple[np.ndarray, np.ndarray]:
    """Run through all pushes and 10 s more; speed and steps over the last 5 s."""
    population.run(1.0 + INTERVAL * (PUSHES - 1) + REPEATED_PUSH_AFTER - _JUDGED, stop_fallen=True)
    x, steps = population.qpos[:, 0].copy(), np.array([r.report[0].steps for r in population.rows])
    population.run(_JUDGED, stop_fallen=True)
    moved = population.qpos[:, 0] - x
    return moved / _JUDGED, np.array([r.report[0].steps for r in population.rows]) - steps


PUSH_DURATION, AT_PHASE, PUSH_AFTER = 0.4, 0.1, 10.0  # [s], of the cycle after right foot strike, [s]
STERNUM = (0.0, 0.0, 0.30)  # [m] in the human's trunk, whose origin is the waist
_UP = (0.15 + 0.30) / 0.945  # height of the human's sternum above its hips, of that of the hips above the soles
# (lateral, sagittal) in the order of the paper; lateral is positive to the left
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
PAPER_FORCES = (340.0, 230.0, 330.0, 220.0, 270.0, 190.0, 240.0, 190.0)  # [N] along each axis pushed
_PUSH_JUDGED, _PUSH_SAME_SPEED, _SAME_HEADING = 5.0, 0.7, math.radians(15.0)
_SLICE = 0.001  # [s] in which a foot strike is looked for


@dataclass(frozen=True)
class StrikeStart:
    """Replicas at a foot strike, the period of the cycle [s], and what the gait does undisturbed [m/s]."""

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
    skill: Skill,
    seed: int,
    foot: int = 1,
    count: int = REPLICAS,
    *,
    character: str | None = None,
    commands: Mapping[str, float] | None = None,
) -> StrikeStart:
    """Replicas of the moment at which a settled gait sets down its left (0) or right (1) foot."""
    one = commanded_population(1, skill, character, commands)
    one.run(SETTLE)
    report = one.rows[0].report[0]
    steps = report.steps
    while one.time[0] < SETTLE + 5.0:
        one.run(_SLICE)
        if report.steps > steps and report.swing == 1 - foot:
            break
        steps = report.steps
    state = one.states
    several = commanded_population(count, skill, character)
    several.restore(np.repeat(state, count, axis=0))
    period, shifts = 2.0 * step_period(skill, character, commands), np.zeros(count)
    for i in range(count):
        rng = seeded_generator(seed, "direction", skill.full_name, foot, i)
        perturb_state(several.scene, several.qpos[i], several.qvel[i], rng)
        shifts[i] = rng.uniform(-PHASE, PHASE) * period
    before = one.qpos[0, :2].copy()
    one.run(PUSH_AFTER)
    return StrikeStart(several.states, period, shifts, float(np.hypot(*(one.qpos[0, :2] - before))) / PUSH_AFTER)


def push_survivors_3d(
    skill: Skill,
    start: StrikeStart,
    cases: Sequence[tuple[tuple[float, float], int]],
    character: str | None = None,
) -> np.ndarray:
    """Which (force (lateral, sagittal) [N], replica) are survived: upright, as fast as before and as headed."""
    population = commanded_population(len(cases), skill, character)
    population.restore(start.states[[replica for _, replica in cases]])
    table = population.scene.table
    point = sternum(table)
    for i, ((lateral, sagittal), replica) in enumerate(cases):
        when = float(population.time[i]) + AT_PHASE * start.period + start.shifts[replica]
        push = Push((sagittal, lateral, 0.0), PUSH_DURATION, when, table.anatomy.torso, point)
        population.scene.add_push(population.rows[i], push, float(population.time[i]))
    population.run(AT_PHASE * start.period + PUSH_DURATION + PUSH_AFTER - _PUSH_JUDGED, stop_fallen=True)
    before, steps = population.qpos[:, :2].copy(), np.array([r.report[0].steps for r in population.rows])
    population.run(_PUSH_JUDGED, stop_fallen=True)
    moved = population.qpos[:, :2] - before
    stepped = np.array([r.report[0].steps for r in population.rows]) - steps
    heading = np.array([r.report[0].heading for r in population.rows])
    along = (moved[:, 0] * np.cos(heading) + moved[:, 1] * np.sin(heading)) / _PUSH_JUDGED
    off = np.array([_yaw_off(q, h) for q, h in zip(population.qpos, heading, strict=True)])
    walks = (
        along >= _PUSH_SAME_SPEED * start.speed if start.speed >= IN_PLACE else np.abs(along - start.speed) < IN_PLACE
    )
    going = walks & (stepped > 0.5 * 2.0 * _PUSH_JUDGED / start.period) & (off < _SAME_HEADING)
    return np.asarray(np.isinf(population.fallen_at) & going)


def _yaw_off(qpos: np.ndarray, heading: float) -> float:
    w, x, y, z = qpos[3:7]
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return abs(math.remainder(yaw - heading, 2.0 * math.pi))


def direction_thresholds(
    skill: Skill,
    seed: int,
    *,
    foot: int = 1,
    step: float = 10.0,
    highest: float = 700.0,
    tick: Callable[[float], None] = lambda share: None,
    character: str | None = None,
    commands: Mapping[str, float] | None = None,
) -> tuple[np.ndarray, list[dict[str, float]]]:
    """Robust thresholds [N per axis] of the eight directions, and every run as a raw record.

    All directions climb the grid together, a level of each at a time, until too few replicas survive.
    With `foot` 0 the push comes after left foot strike and its lateral share is mirrored.
    """
    start = at_strike(skill, seed, foot, character=character, commands=commands)
    mirror, records = 1.0 if foot == 1 else -1.0, list[dict[str, float]]()

    def kept(level: float, climbing: Sequence[int], replicas: Sequence[int]) -> np.ndarray:
        """How many of some replicas survive a level in each of some directions."""
        forces = [(mirror * level * DIRECTIONS[d][0], level * DIRECTIONS[d][1]) for d in climbing]
        cases = [(force, replica) for force in forces for replica in replicas]
        alive = push_survivors_3d(skill, start, cases, character)
        for (force, replica), survived in zip(cases, alive, strict=True):
            records.append({"lateral": force[0], "sagittal": force[1], "replica": replica, "survived": int(survived)})
        return np.asarray(alive.reshape(len(climbing), len(replicas)).sum(axis=1))

    return climb_levels(kept, step, highest, tick), records


def climb_levels(
    kept: Callable[[float, Sequence[int], Sequence[int]], np.ndarray],
    step: float,
    highest: float,
    tick: Callable[[float], None] = lambda share: None,
) -> np.ndarray:
    """(8,) the largest level of each direction such that it and every lower one is survived by enough replicas.

    `kept` counts, of some replicas, those that survive a level in each of some directions. The last replicas are
    asked only where they decide.
    """
    found, climbing = np.zeros(len(DIRECTIONS)), list(range(len(DIRECTIONS)))
    for k in range(1, int(highest / step + 1e-9) + 1):
        counts = kept(k * step, climbing, range(NEEDED))
        unsure = [i for i, count in enumerate(counts) if NEEDED - (REPLICAS - NEEDED) <= count < NEEDED]
        if unsure:
            counts[unsure] += kept(k * step, [climbing[i] for i in unsure], range(NEEDED, REPLICAS))
        climbing = [d for d, count in zip(climbing, counts, strict=True) if count >= NEEDED]
        found[climbing] = k * step
        tick(1.0 - len(climbing) / len(DIRECTIONS))
        if not climbing:
            break
    return found
