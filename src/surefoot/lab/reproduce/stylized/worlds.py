"""§5.2: motions in worlds they were not recorded in, and which term of the controller keeps the body up.

Figure 6: a walk recorded on level ground, followed uphill and downhill with the same parameters.
Which term keeps the body up: regulator, root rows, steps, rate, in pushes and on slopes.
Figure 8: recorded motions down steps, over a see-saw, on what moves, pushed.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reference_tracking import (
    TrackingRun,
    clip_reference,
    replica_simulation,
    skill_for,
    track_reference,
    tracking_state,
)
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.replica_walks import highest_level
from surefoot.lab.robustness import REPLICAS, robust_threshold
from surefoot.motions import quaternions as quat
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain
from surefoot.terrains.props import SeeSaw

SKILL = "human/stylized-robust-walk"
PLAIN = {
    "SIMBICON, which was recorded": "human/robust-walk",
    "SIMBICON, tuned for level ground": "human/walk-as-printed",
}
ANGLE, SLOPE_SECONDS, FROM = 5.0, 60.0, 1.5  # [°], [s], [m] on the level before


def ground(degrees: float) -> str:
    """Level ground, then an endless slope."""
    return f"slope:{degrees:g},{FROM:g}" if degrees else "flat"


def run_slopes(result: Result, setting: Setting) -> None:
    """Our limits either way, those of the walk that was recorded, and the up vector over the ground plane."""
    seconds, skill = (10.0 if setting.quick else SLOPE_SECONDS), load(SKILL)
    for degrees in (0.0, -ANGLE, ANGLE):
        setting.progress(f"{degrees:g}°", 0.3)
        one = track_reference(skill, seconds, ground(degrees))
        speed = one.path[0] / min(one.seconds, one.fallen_at)
        ours = f"{one}, {speed:.2f} m/s"
        result.add_row(f"the walk at {degrees:+g}°", "holds", ours, f"({seconds:g} s)", one.stays_up)
    short = min(20.0, seconds)
    for way in (-1.0, 1.0):
        setting.progress("limits", 0.6)
        case, angles = f"steepest {'up' if way > 0 else 'down'}hill", [way * degrees for degrees in range(2, 13, 2)]
        steep = highest_level(angles, lambda degrees: track_reference(skill, short, ground(degrees)).stays_up)
        result.add_note(f"{case}, {short:g} s", f"{steep:g}", "°")
        for name, plain in PLAIN.items():
            own = highest_level(angles, functools.partial(_walks, plain, short))
            result.add_note(f"{case} of {name}, {short:g} s", f"{own:g}", "°", "" if way > 0 else "2")
    _draw_up_vector(setting.figure_path(result.experiment, "slopes.png"), short)


def _walks(name: str, seconds: float, degrees: float) -> bool:
    """Whether a skill walks on a slope [°] for some time."""
    sim = Simulation(skill=name, terrain=ground(degrees))
    sim.run(seconds, fps=5.0)
    return not sim.fallen


@figures.plot(8, 4, 1, 2, sharey=True)
def _draw_up_vector(both: Sequence[figures.Axes], seconds: float) -> None:
    """Horizontal components of the root's up vector (figure 6)."""
    for axes, degrees in zip(both, (-ANGLE, ANGLE), strict=True):
        motion = Simulation(skill=SKILL, terrain=ground(degrees)).run(seconds)
        late = motion.time > 0.3 * seconds
        up = quat.rotate(motion.rotations[late, 0], np.tile([0.0, 0.0, 1.0], (int(late.sum()), 1)))
        axes.plot(up[:, 1], up[:, 0], linewidth=0.7)
        axes.set(xlabel="to the left", title=f"{degrees:+g}°")
    both[0].set(ylabel="forward")


CASES: dict[str, dict[str, Any]] = {
    "all of it": {},
    "w_b = 0": {"balance_weight": 0.0},
    "w_b = 1": {"balance_weight": 1.0},
    "w_b = 5": {"balance_weight": 5.0},
    "root rows × 1": {"root_weight": 1.0},
    "reference set down once": {"anchoring": 0.0},
    "steps as recorded": {"leading": 0.0},
    "steps as recorded, w_b = 0": {"leading": 0.0, "balance_weight": 0.0},
    "steps as recorded, w_b = 1": {"leading": 0.0, "balance_weight": 1.0},
    "50 solutions a second": {"rate": 50.0},
}
ABLATED = tuple(name for name in CASES if name.startswith("steps as recorded"))
TERM_SECONDS, TERM_PUSHED, TERM_LASTS, TERM_AFTER, BETTER = 20.0, 3.0, 0.2, 5.0, 1.5
TERM_LEVELS = (25.0, 50.0, 75.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0)  # [N]


def run_terms(result: Result, setting: Setting) -> None:
    """Every case: level ground, ± 5°, and the largest sideways push."""
    found, seconds = {}, 8.0 if setting.quick else TERM_SECONDS
    for name, changes in setting.each(CASES.items()):
        skill = with_parameters(load(SKILL), changes)
        runs = [track_reference(skill, seconds, ground(degrees)) for degrees in (0.0, 5.0, -5.0)]
        texts = ["up" if one.stays_up else f"fell at {one.fallen_at:.1f} s" for one in runs]
        found[name] = lateral(skill, setting) if runs[0].stays_up else 0.0
        result.add_note(f"{name}: level, +5°, −5°; sideways push of {TERM_LASTS:g} s",
                    f"{', '.join(texts)}; {found[name]:g} N")  # fmt: skip
        result.runs.append({"case": name, "push": found[name], "fallen_at": [one.fallen_at for one in runs]})
    best = max(found[name] for name in ABLATED)
    result.add_row("sideways push with steps from the same model against the best without", "",
                   f"{found['all of it']:g} against {best:g}", f"N (× {BETTER:g})",
                   found["all of it"] >= BETTER * best and found["all of it"] > 0.0)  # fmt: skip


def lateral(skill: Skill, setting: Setting) -> float:
    """The largest push to the left that most replicas survive [N]."""
    replicas = 2 if setting.quick else REPLICAS

    def survives(levels: list[float]) -> list[int]:
        cases = [(level, k) for level in levels for k in range(replicas)]
        pushes = [[Push((0.0, level, 0.0), TERM_LASTS, TERM_PUSHED + 0.13 * k)] for level, k in cases]
        population = Population(len(cases), skill=skill, pushes=pushes)
        perturb_population(population, [seeded_generator(setting.seed, "balances", k) for _, k in cases])
        population.run(TERM_PUSHED + 0.13 * replicas + TERM_AFTER, stop_fallen=True)
        up = np.isinf(population.fallen_at).reshape(-1, replicas).sum(axis=1)
        return [int(count) * REPLICAS // replicas for count in up]

    return robust_threshold(survives, list(TERM_LEVELS), 1)[0]


SECONDS = 15.0
# what: clip or skill, whether it loops, what is not as for all, the world
WORLDS: dict[str, tuple[str, bool, dict[str, Any], str]] = {
    "sideways down steps": ("113_18", True, {"root_weight": 30.0, "stepping": 1.1}, "stairs:-0.02,0.9,3,0.5,-90"),
    "turn down steps": (
        "16_18", False, {"root_weight": 30.0, "stepping": 1.1, "softness": 0.01}, "stairs:-0.02,0.8,3,0.7",
    ),
    "silly walk over a see-saw": (
        "132_55", True, {"softness": 0.03, "leading": 0.5, "pacing": 1.0, "stepping": 1.1}, "seesaw:3,0.06",
    ),
    "walk on a moving platform": ("human/stylized-robust-walk", True, {}, "platform:4,10,3"),
}  # fmt: skip
WALKS: dict[str, dict[str, Any]] = {
    "136_21": {"root_weight": 30.0, "stepping": 1.1, "pacing": 0.5}, "human/stylized-robust-walk": {},
}  # fmt: skip
PUSHED, LASTS, AFTER = 4.0, 0.2, 6.0  # [s] when a push begins, how long it lasts, how long it is watched after
WAYS = {"from behind": (1.0, 0.0), "from ahead": (-1.0, 0.0), "to the left": (0.0, 1.0), "to the right": (0.0, -1.0)}
STATED, LEVELS = 50.0, [50.0 * i for i in range(1, 7)]  # [N]


def run(result: Result, setting: Setting) -> None:
    """Every world, then pushes."""
    replicas = 2 if setting.quick else REPLICAS
    for what, (stem, loops, changes, terrain) in setting.each(WORLDS.items(), 0.0, 0.7):
        skill = _skill(setting, stem, loops, changes)
        if skill is None:
            result.add_missing(f"{what}, {terrain}", "holds")
            continue
        seconds = _seconds(skill, loops)
        runs = [track_reference(skill, seconds, terrain, replica=k, seed=setting.seed) for k in range(replicas)]
        _tell(result, what, terrain, runs)
        _draw(setting.figure_path(result.experiment, f"{what.replace(' ', '-')}.png"), skill, loops, terrain, what)
    setting.progress("pushes", 0.8)
    for source, changes in WALKS.items():
        skill = _skill(setting, source, True, changes)
        if skill is None:
            result.add_missing(f"{source} pushed", "holds")
        else:
            _pushed(result, setting, source, skill, replicas)


def _skill(setting: Setting, source: str, loops: bool, changes: dict[str, Any]) -> Skill | None:
    """A skill of the library, or one that follows a clip; nothing without the clip."""
    if "/" in source:
        return with_parameters(load(source), changes)
    path = clip_reference(setting, source, loops)
    return None if path is None else skill_for(path, changes=changes)


def _seconds(skill: Skill, loops: bool) -> float:
    return SECONDS if loops else tracking_state(Simulation(skill=skill))[1].duration


def _tell(result: Result, what: str, terrain: str, runs: list[TrackingRun]) -> None:
    """How many replicas got to the end; over a see-saw, behind it, with the board tipped."""
    boards = [prop for prop in load_terrain(terrain).props if isinstance(prop, SeeSaw)]
    good = [run.stays_up and all(run.tipped > 0.9 and run.place[0] > board.end for board in boards) for run in runs]
    places = ", ".join(f"({run.place[0]:.1f}, {run.place[1]:.1f})" for run in runs)
    texts = "; ".join("up" if run.stays_up else f"fell at {run.fallen_at:.1f} s" for run in runs)
    result.add_row(f"{what}, {terrain}, {runs[0].seconds:.0f} s", "holds", f"{sum(good)} of {len(runs)}",
               f"(all{', crossed and tipped' if boards else ''})", all(good))  # fmt: skip
    result.add_note(f"{what}: replicas; pelvis at the end", f"{texts}; {places}", "m")
    result.runs += [{"world": what, "fallen_at": run.fallen_at, "tipped": run.tipped} for run in runs]


def _pushed(result: Result, setting: Setting, what: str, skill: Skill, replicas: int) -> None:
    """How many replicas survive a stated push from every side, and the largest one from each that one run survives."""
    up, largest = 0, {}
    for name, way in WAYS.items():
        up += sum(_survives(skill, way, k, setting.seed, STATED) for k in range(replicas))
        largest[name] = highest_level(LEVELS, functools.partial(_survives, skill, way, 0, setting.seed))
    count = replicas * len(WAYS)
    result.add_row(f"{what} pushed, {STATED:g} N for {LASTS:g} s from four sides", "holds", f"{up} of {count}", "(all)",
               up == count)  # fmt: skip
    texts = ", ".join(f"{name} {level:g}{'' if level < LEVELS[-1] else ' or more'}" for name, level in largest.items())
    result.add_note(f"{what}: largest push of {LASTS:g} s, one run each", texts, "N")


def _survives(skill: Skill, way: tuple[float, float], replica: int, seed: int, newtons: float) -> bool:
    push = Push((newtons * way[0], newtons * way[1], 0.0), LASTS, PUSHED + 0.13 * replica)
    return track_reference(skill, PUSHED + AFTER, pushes=(push,), replica=replica, seed=seed).stays_up


def _draw(path: Path | None, skill: Skill, loops: bool, terrain: str, what: str) -> None:
    if path is not None:
        sim = replica_simulation(skill, terrain)
        seconds = min(_seconds(skill, loops), 8.0)
        figures.save_filmstrip(path, sim.run(seconds), f"{what}, {terrain}", "front" if "sideways" in what else "side",
                               0.0)  # fmt: skip
