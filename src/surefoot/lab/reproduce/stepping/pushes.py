"""§6.1: random pushes on a body that stands or walks, pushes again and again; §5.4: comfort after a push.

A push is 10 … 500 N for 0.1 … 0.5 s at the trunk's COM, from a random side at a random time. It is survived if the body
has not fallen ten seconds later and stands, or walks, again. The skills are those with bent knees, as in the paper's
figures: strides and straight legs bear fewer of the pushes of 30 N·s and more.

Figure 15: after a push the feet uncross and turn to the facing direction, within three further steps.
"""

from __future__ import annotations

import math
from dataclasses import asdict

import mujoco
import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import seeded_generator
from surefoot.lab.reproduce.stepping import stepping_trials as trials

COUNT, AFTER, SPEED, SAME_SPEED = 1000, 10.0, 0.6, 0.7  # [s], [m/s], of the speed
REPEATED, SEEDS, SECONDS = 250.0, 5, 600.0  # [N], [s]
_BINS = np.arange(0.0, 260.0, 20.0)  # [N·s]
_CHUNK = 250  # rows at once


def run(result: Result, setting: Setting) -> None:
    """Standing, walking, and again and again."""
    count = 40 if setting.quick else COUNT
    curves = {}
    for i, (case, bars) in enumerate((("standing", ((100.0, 0.99), (math.inf, 0.85))), ("walking", ((80.0, 0.97),)))):
        impulses, survived = tried(result, case, count, setting, 0.4 * i)
        for highest, share in bars:
            among = impulses <= highest
            kept = float(survived[among].mean())
            upto = "overall" if highest == math.inf else f"up to {highest:g} N·s"
            result.add_row(f"{case}, {among.sum()} pushes {upto}", "recovers from 10–500 N, 0.1–0.5 s",
                           f"{100 * kept:.1f}", f"% survived (≥ {100 * share:g})", kept >= share)  # fmt: skip
        curves[case] = (impulses, survived)
        for impulse in sorted(impulses[~survived]):
            result.add_note(f"{case}: not survived", f"{impulse:.0f}", "N·s")
    falls = repeated(1 if setting.quick else SEEDS, 20.0 if setting.quick else SECONDS, setting)
    kept_up = sum(math.isinf(fall) for fall in falls)
    result.add_row(f"pushed up to {REPEATED:g} N every 2–5 s", "stays upright", f"{kept_up} of {len(falls)}",
                   "seeds without a fall", kept_up == len(falls))  # fmt: skip
    _draw(setting.figure_path(result.experiment, "survival.png"), curves)


def tried(result: Result, case: str, count: int, setting: Setting, begin: float) -> tuple[np.ndarray, np.ndarray]:
    """(count,) impulses [N·s] and whether each was survived."""
    walks = case == "walking"
    earliest = 8.0 if walks else trials.SETTLED
    each = trials.shoves(setting.seed, case, count, earliest, earliest + 1.0)
    survived = []
    for at in range(0, count, _CHUNK):
        setting.progress(case, begin + 0.4 * at / count)
        some = each[at : at + _CHUNK]
        survived.append(_outlived(some, walks, setting.seed + at))
    whole = np.concatenate(survived)
    for shove, alive in zip(each, whole, strict=True):
        result.runs.append({"case": case} | asdict(shove) | {"survived": int(alive)})
    return np.array([shove.impulse for shove in each]), whole


def _outlived(some: list[trials.Shove], walks: bool, seed: int) -> np.ndarray:
    population = Population(
        len(some),
        trials.CHARACTER,
        trials.BENT_WALK if walks else trials.BENT_STAND,
        pushes=[[s.push()] for s in some],
        seed=seed,
    )
    if walks:
        trials.tell(population, {"speed": SPEED})
    population.run(max(s.start + s.duration for s in some) + AFTER, stop_fallen=True)
    begin = np.array([row.com[:2] for row in population.rows])
    population.run(2.0, stop_fallen=True)
    moved = (np.array([row.com[:2] for row in population.rows]) - begin) / 2.0
    if walks:
        goes_on = moved[:, 0] >= SAME_SPEED * SPEED
    else:
        goes_on = (np.linalg.norm(moved, axis=1) < trials.STANDING) & (
            np.abs(trials.speeds_of(population)) < trials.STANDING
        )
    return np.array(trials.upright(population) & goes_on)


def repeated(seeds: int, seconds: float, setting: Setting) -> list[float]:
    """When each seed fell under pushes every 2 … 5 s [s]; inf where it did not."""
    population = Population(seeds, trials.CHARACTER, trials.BENT_STAND, seed=setting.seed)
    population.run(trials.SETTLED)
    rngs = [seeded_generator(setting.seed, "stepping", "repeated", i) for i in range(seeds)]
    due = np.array([trials.SETTLED + rng.uniform(2.0, 5.0) for rng in rngs])
    now = trials.SETTLED
    while now < seconds:
        for i in np.flatnonzero((due <= now) & np.isinf(population.fallen_at)):
            force, duration = rngs[i].uniform(10.0, REPEATED), rngs[i].uniform(0.1, 0.5)
            population.push(trials.Shove(force, duration, rngs[i].uniform(-math.pi, math.pi), now).push(), [int(i)])
            due[i] = now + rngs[i].uniform(2.0, 5.0)
        population.run(0.5, stop_fallen=True)
        now = round(now + 0.5, 6)
        setting.progress("pushed again and again", 0.8 + 0.2 * now / seconds)
    return [float(fall) for fall in population.fallen_at]


@figures.plot(6, 4)
def _draw(axes: figures.Axes, curves: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    for case, (impulses, survived) in curves.items():
        place = np.digitize(impulses, _BINS) - 1
        share = [survived[place == i].mean() if (place == i).any() else np.nan for i in range(len(_BINS) - 1)]
        axes.plot(0.5 * (_BINS[1:] + _BINS[:-1]), 100.0 * np.array(share), "o-", markersize=3, label=case)
    axes.set(xlabel="impulse [N·s]", ylabel="survived [%]", ylim=(-3, 103))
    axes.legend(frameon=False)


COMFORT_COUNT, STRONGEST, ANGLE, STEPS = 200, 100.0, 15.0, 3  # pushes, [N·s], [°], further steps
_AFTER, _LOOK = 12.0, 0.25  # [s]
_BALANCED = 0.1  # [m/s] of a body that has regained its balance


def run_comfort(result: Result, setting: Setting) -> None:
    """Push, wait until balance is regained, count the steps until the feet stand well."""
    count = 12 if setting.quick else COMFORT_COUNT
    each = [
        s
        for s in trials.shoves(setting.seed, "comfort", 4 * count, trials.SETTLED, trials.SETTLED + 0.5)
        if s.impulse <= STRONGEST
    ]
    each = each[:count]
    population = Population(
        len(each), trials.CHARACTER, trials.BENT_STAND, pushes=[[s.push()] for s in each], seed=setting.seed
    )
    population.run(max(s.start + s.duration for s in each))
    balanced = np.full(len(each), -1.0)  # steps taken when balance was regained
    for i in range(round(_AFTER / _LOOK)):
        population.run(_LOOK, stop_fallen=True)
        setting.progress("making itself comfortable", i * _LOOK / _AFTER)
        speed = np.array([math.hypot(r.report[0].velocity, r.report[0].lateral_velocity) for r in population.rows])
        balanced = np.where((balanced < 0.0) & (speed < _BALANCED), trials.steps_of(population), balanced)
    crossed, turned = feet(population)
    further = trials.steps_of(population) - balanced
    alive = trials.upright(population)
    good = alive & ~crossed & (turned <= ANGLE) & (balanced >= 0.0) & (further <= STEPS)
    for i, shove in enumerate(each):
        result.runs.append({
            "impulse": shove.impulse, "direction": shove.direction, "upright": int(alive[i]),
            "crossed": int(crossed[i]), "turned": float(turned[i]), "further": float(further[i]),
        })  # fmt: skip
    result.add_row(f"after {len(each)} pushes of up to {STRONGEST:g} N·s", "no crossed legs at rest",
                   f"{good.sum()} of {len(each)}", f"uncrossed, within {ANGLE:g}°, in ≤ {STEPS} further steps",
                   bool(good.all()))  # fmt: skip
    result.add_note("fell", f"{(~alive).sum()}", "")
    result.add_note("most further steps", f"{further[alive].max() if alive.any() else math.nan:.0f}", "")


def feet(population: Population) -> tuple[np.ndarray, np.ndarray]:
    """(n,) whether the feet are crossed, and the larger angle between a foot and the facing direction [°]."""
    model = population.scene.model
    data = mujoco.MjData(model)
    left, right = model.body("left_foot").id, model.body("right_foot").id
    crossed, turned = [], []
    for i, row in enumerate(population.rows):
        data.qpos[:] = population.qpos[i]
        mujoco.mj_kinematics(model, data)
        heading = float(row.report[0].heading)
        apart = data.xpos[left] - data.xpos[right]
        crossed.append(math.cos(heading) * apart[1] - math.sin(heading) * apart[0] <= 0.0)
        yaws = [math.atan2(data.xmat[foot, 3], data.xmat[foot, 0]) - heading for foot in (left, right)]
        turned.append(max(abs(math.degrees(math.remainder(yaw, 2.0 * math.pi))) for yaw in yaws))
    return np.array(crossed), np.array(turned)
