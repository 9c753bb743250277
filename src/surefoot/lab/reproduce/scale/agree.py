"""Twelve skills over all controllers that need no Python between steps, on a CPU and on a GPU.

512 rows of each begin a little elsewhere and run for 30 s. Single rows part after seconds, since the GPU computes
physics with 32-bit numbers: what must agree is what a reader of a table would see. Speed, cadence and step width are
means over the rows that stay up, from 5 s on.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.scale.devices import Figures, compared_device, on_both, unusable
from surefoot.skills import load

SKILLS: dict[str, tuple[str, ...]] = {
    "planar": ("planar/walk", "planar/run", "planar/scissor-hop"),
    "human": ("human/walk", "human/walk-as-printed", "human/run", "human/captured-walk"),
    "humanoid": ("biped/walk", "biped/march"),
    "stepper": ("stepper/walk", "stepper/bent-walk"),
    "human19": ("human19/march-predicted",),
}  # by character; all of a character's are one population
CHAOTIC = ("planar/scissor-hop",)  # a small difference decides between falling and not
_ROWS, _SECONDS, _SETTLE, _LOOK = 512, 30.0, 5.0, 0.02  # [s]
_SURVIVAL, _SHARE, _LEAST = 0.02, 0.01, 0.01  # differences that are allowed; of a figure, the greater of both
_UNITS = {"survival": "of the rows", "speed": "m/s", "cadence": "steps/s", "step width": "m"}


def run(result: Result, setting: Setting) -> None:
    """A row for each skill and each figure."""
    device = compared_device()
    reason = unusable(device)
    pieces = {character: functools.partial(_measure, character, skills) for character, skills in SKILLS.items()}
    if reason:
        for skills in SKILLS.values():
            for skill in skills:
                result.add_missing(f"{skill} on a GPU as on a CPU", "alike", reason)
        return
    for own, other in on_both(result.experiment, setting, device, pieces).values():
        for skill, figures in own.items():
            _compare(result, skill, figures, other[skill])


def _compare(result: Result, skill: str, cpu: dict[str, float], gpu: dict[str, float]) -> None:
    chaotic = " (chaotic)" if skill in CHAOTIC else ""
    for name, unit in _UNITS.items():
        if name not in cpu:
            continue
        allowed = _SURVIVAL if name == "survival" else max(_SHARE * abs(cpu[name]), _LEAST)
        holds = abs(cpu[name] - gpu[name]) <= allowed
        result.add_row(f"{skill}{chaotic}: {name}", f"{cpu[name]:.4f} ± {allowed:.4f}", f"{gpu[name]:.4f}", unit, holds)
    result.runs += [{"skill": skill, "device": name} | own for name, own in (("cpu", cpu), ("gpu", gpu))]


def _measure(character: str, names: Sequence[str], setting: Setting) -> Figures:
    """Survival, speed, cadence and step width of all of a character's skills."""
    rows, seconds = (32, 10.0) if setting.quick else (_ROWS, _SECONDS)
    skills = [load(name, character) for name in names for _ in range(rows)]
    population = Population(len(skills), character, skills)
    labels = [(name, i) for name in names for i in range(rows)]
    perturb_population(population, [seeded_generator(setting.seed, "agree", name, i) for name, i in labels])
    population.run(_SETTLE, stop_fallen=True)
    travelled, widths = _travel(population, seconds - _SETTLE)
    upright, found = np.isinf(population.fallen_at), Figures()
    for k, name in enumerate(names):
        own = slice(k * rows, (k + 1) * rows)
        up = upright[own]
        found[name] = {"survival": float(up.mean())}
        if up.any():
            found[name] |= {key: float(np.nanmean(values[own][up])) for key, values in travelled.items()}
            if widths is not None:
                found[name]["step width"] = float(np.nanmean(widths[own][up]))  # a row may not have stepped
    return found


def _travel(population: Population, seconds: float) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Speed and cadence (n,) of rows over a time, and of bodies in space the mean width (n,) of their steps."""
    planar, anatomy, model = (
        population.scene.table.root == "planar",
        population.scene.table.anatomy,
        population.scene.model,
    )
    parts = [model.body(name).id for name in (anatomy.pelvis, anatomy.left.foot, anatomy.right.foot)]
    place, steps = population.physics("xpos", parts)[:, 0, :2].copy(), population.reports["steps"]
    path, width, count, begin = np.zeros(population.n), np.zeros(population.n), np.zeros(population.n), steps
    every = round(1.0 / _LOOK)
    for look in range(round(seconds / _LOOK)):
        population.run(_LOOK, stop_fallen=True)
        now, places = population.reports["steps"], population.physics("xpos", parts)[..., :2]
        struck, steps = now > steps, now
        if not planar and struck.any():
            ahead = population.physics("xmat", parts[:1])[:, 0, [0, 3]]
            apart = places[:, 1] - places[:, 2]
            across = (apart[:, 1] * ahead[:, 0] - apart[:, 0] * ahead[:, 1]) / np.hypot(*ahead.T)
            width += np.where(struck, across, 0.0)
            count += struck
        if (look + 1) % every == 0:
            path += np.hypot(*(places[:, 0] - place).T)
            place = places[:, 0].copy()
    measured = {"speed": path / (seconds // 1.0), "cadence": (steps - begin) / seconds}
    with np.errstate(invalid="ignore"):
        return measured, None if planar else width / count
