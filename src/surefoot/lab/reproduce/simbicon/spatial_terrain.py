"""§7.2: slopes and steps that the walk does not know of, and 20° uphill with a skill of its own.

The edge lies 0.6 m ahead of the start. A ground is passed if a replica has not fallen after 25 s and has then walked
on for half a metre beyond the edge or more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, human, missing, replicas_from_start, upright
from surefoot.lab.reproduce.simbicon.spatial_gaits import UPHILL
from surefoot.skills.schema import Skill

EDGE, BEYOND, SECONDS = 0.6, 0.5, 25.0  # [m], [m], [s]
SLOPES, STEPS = (-6.0, -3.0, 3.0, 6.0, 10.0), (-5.0, 5.0)  # [deg], [cm]
_SLOPES_TRIED, _STEPS_TRIED = 20, 15  # [deg], [cm] at most, either way


def slope(degrees: float) -> str:
    """Level ground, then an endless slope."""
    return f"slope:{degrees:g},{EDGE:g}"


def step(centimetres: float) -> str:
    """Level ground, one step, level ground."""
    return f"steps:{EDGE:g},{centimetres / 100:g}"


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def run(result: Result, setting: Setting) -> None:
    """The tuned walk on all grounds, the limits of both walks, and the way uphill."""
    for i, name in enumerate(("robust-walk", "walk")):
        skill = human(name)
        if skill is None:
            missing(result, f"{name} on slopes and steps", "gentle slopes, small steps", name)
            continue
        passes = _tried(result, setting, skill)
        setting.progress(f"{name} on slopes and steps", 0.05 + 0.4 * i)
        if name == "robust-walk":
            _bar(result, f"unanticipated slopes of {_listed(SLOPES)}°", passes, [slope(a) for a in SLOPES])
            _bar(result, f"unanticipated steps of {_listed(STEPS)} cm", passes, [step(h) for h in STEPS])
        if not setting.quick:
            _limits(result, setting, name, passes, 0.1 + 0.4 * i)
        _picture(result, setting, skill)
    _uphill(result, setting)


def _tried(result: Result, setting: Setting, skill: Skill) -> Callable[[str], int]:
    """How many replicas pass a ground; each ground is tried once."""
    known: dict[str, int] = {}

    def passes(terrain: str) -> int:
        if terrain not in known:
            count = 1 if setting.quick else REPLICAS
            population = replicas_from_start([skill], setting.seed, count, terrain)
            population.run(SECONDS, stop_fallen=True)
            over = np.isinf(population.fallen_at) & (population.qpos[:, 0] >= EDGE + BEYOND)
            known[terrain] = int(over.sum())
            for k in range(count):
                result.runs.append({
                    "skill": skill.name, "terrain": terrain, "replica": k, "fallen_at": population.fallen_at[k],
                    "x": float(population.qpos[k, 0]), "passed": bool(over[k]),
                })  # fmt: skip
        return known[terrain]

    return passes


def _bar(result: Result, case: str, passes: Callable[[str], int], grounds: list[str]) -> None:
    counts, needed = [passes(ground) for ground in grounds], 1 if result.quick else REPLICAS
    result.add_row(
        f"one tuned walk: {case}", "copes", ", ".join(map(str, counts)), f"of {needed} replicas pass each",
        min(counts) == needed,
    )  # fmt: skip


def _limits(result: Result, setting: Setting, name: str, passes: Callable[[str], int], begin: float) -> None:
    """The largest level such that it and all lower ones are passed by all replicas."""
    ways: tuple[tuple[str, str, Callable[[float], str], int, int], ...] = (
        ("slope up", "°", slope, 1, _SLOPES_TRIED), ("slope down", "°", slope, -1, _SLOPES_TRIED),
        ("step up", "cm", step, 1, _STEPS_TRIED), ("step down", "cm", step, -1, _STEPS_TRIED),
    )  # fmt: skip
    for i, (what, unit, ground, sign, highest) in enumerate(ways):
        setting.progress(f"{name}: {what}", begin + 0.08 * i)
        best = 0
        while best < highest and passes(ground(float(sign * (best + 1)))) == REPLICAS:
            best += 1
        result.add_note(f"{name}: largest {what}", f"{'≥ ' if best == highest else ''}{best}", unit)


def _uphill(result: Result, setting: Setting) -> None:
    seconds, skill = 6.0 if setting.quick else 60.0, human("uphill-walk")
    if skill is None:
        missing(result, "up a slope of 20°", "walks", "uphill-walk")
        return
    setting.progress("uphill", 0.95)
    population = replicas_from_start([skill], setting.seed, terrain=UPHILL)
    population.run(seconds, stop_fallen=True)
    kept = upright(population)[0]
    speed = float(np.median(population.qpos[:, 0])) / seconds
    result.add_row(
        "up a slope of 20°", "walks", f"{kept} of {REPLICAS} walk {seconds:g} s, {speed:.2f} m/s", "replicas",
        kept == REPLICAS,
    )  # fmt: skip


def _picture(result: Result, setting: Setting, skill: Skill) -> None:
    for label, ground in (("slope", slope(6.0)), ("step", step(-5.0))):
        path = setting.figure_path(result.experiment, f"{skill.name}-{label}.png")
        if path:
            figures.save_filmstrip(path, Simulation(None, skill, ground).run(8.0))
