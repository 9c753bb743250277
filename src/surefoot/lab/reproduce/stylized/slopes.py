"""§5.2: a walk on slopes, and which term of the controller keeps it up.

Figure 6: a walk recorded on level ground, followed uphill and downhill with the same parameters.
Which term keeps the body up: regulator, root rows, steps, rate, in pushes and on slopes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reference_tracking import track_reference
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.replica_walks import highest_level
from surefoot.lab.robustness import REPLICAS, robust_threshold
from surefoot.motions import quaternions as quat
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

SKILL = "human/stylized-walk"
PLAIN = {"SIMBICON, which was recorded": "human/robust-walk", "SIMBICON, tuned for level ground": "human/walk"}
ANGLE, SECONDS, FROM = 5.0, 60.0, 1.5  # [°], [s], [m] on the level before


def ground(degrees: float) -> str:
    """Level ground, then an endless slope."""
    return f"slope:{degrees:g},{FROM:g}" if degrees else "flat"


def run_slopes(result: Result, setting: Setting) -> None:
    """Our limits either way, those of the walk that was recorded, and the up vector over the ground plane."""
    seconds, skill = (10.0 if setting.quick else SECONDS), load(SKILL)
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
    _draw(setting.figure_path(result.experiment, "slopes.png"), short)


def _walks(name: str, seconds: float, degrees: float) -> bool:
    """Whether a skill walks on a slope [°] for some time."""
    sim = Simulation(skill=name, terrain=ground(degrees))
    sim.run(seconds, fps=5.0)
    return not sim.fallen


@figures.plot(8, 4, 1, 2, sharey=True)
def _draw(both: Sequence[figures.Axes], seconds: float) -> None:
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
TERM_SECONDS, PUSHED, LASTS, AFTER, BETTER = 20.0, 3.0, 0.2, 5.0, 1.5
LEVELS = (25.0, 50.0, 75.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0)  # [N]


def run_terms(result: Result, setting: Setting) -> None:
    """Every case: level ground, ± 5°, and the largest sideways push."""
    found, seconds = {}, 8.0 if setting.quick else TERM_SECONDS
    for name, changes in setting.each(CASES.items()):
        skill = with_parameters(load(SKILL), changes)
        runs = [track_reference(skill, seconds, ground(degrees)) for degrees in (0.0, 5.0, -5.0)]
        texts = ["up" if one.stays_up else f"fell at {one.fallen_at:.1f} s" for one in runs]
        found[name] = lateral(skill, setting) if runs[0].stays_up else 0.0
        result.add_note(f"{name}: level, +5°, −5°; sideways push of {LASTS:g} s",
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
        pushes = [[Push((0.0, level, 0.0), LASTS, PUSHED + 0.13 * k)] for level, k in cases]
        population = Population(len(cases), skill=skill, pushes=pushes)
        perturb_population(population, [seeded_generator(setting.seed, "balances", k) for _, k in cases])
        population.run(PUSHED + 0.13 * replicas + AFTER, stop_fallen=True)
        up = np.isinf(population.fallen_at).reshape(-1, replicas).sum(axis=1)
        return [int(count) * REPLICAS // replicas for count in up]

    return robust_threshold(survives, list(LEVELS), 1)[0]
