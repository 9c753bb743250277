"""§5.2, figures 10, 12 and 18: standing on a slope, walking up and down slopes, stairs, over gaps and uneven ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, STAND, WALK, tell, upright
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

SECONDS, CREEP, REPLICAS = 60.0, 0.001, 10  # [s], [m/s], of stairs
SPEED, STAIR_SPEED, SAME_SPEED = 0.5, 0.25, 0.5  # [m/s], [m/s], of the speed, that counts as getting on
STAIRS = (0.10, 0.14, 0.18)  # [m] rises, up and down
STEEP = 25.0  # [°]
_FLIGHT, _TREAD, _START = 12, 0.32, 1.0
_SEEN = 1.5  # [m] from which on a picture shows the course
_LEAN = 0.11  # [rad] of pelvis and waist each, of a body that stands uphill


@dataclass(frozen=True)
class Course:
    """A way to go: its ground, the speed [m/s], how far it has to come [m], how often it is tried.

    It is careful where every step has to be set; one without an end is walked for the whole time.
    """

    name: str
    terrain: str
    speed: float
    length: float
    tries: int = 1
    careful: bool = False
    ends: bool = True


def courses() -> list[Course]:
    """All courses."""
    found = [
        Course("up 20°", "slope:20,1.5", SPEED, SAME_SPEED * SPEED * SECONDS, ends=False),
        Course("down 25°", "slope:-25,1.5", SPEED, SAME_SPEED * SPEED * SECONDS, ends=False),
        Course("gaps of 0.2 m", "gaps:0.2,0.7,15", SPEED, 1.0 + 15 * 0.9, REPLICAS),
        Course("uneven ground, ± 3 cm", "bumps:1,0.03,0.4,80", SPEED, SAME_SPEED * SPEED * SECONDS, ends=False),
    ]
    for rise in STAIRS:
        for sign, word in ((1, "up"), (-1, "down")):
            end = _START + _FLIGHT * _TREAD + 0.5
            text = f"stairs:{sign * rise:g},{_TREAD:g},{_FLIGHT},{_START:g}"
            # up with the weight over one foot before the other is lifted; down no leg is long enough for that
            name = f"stairs of {100 * rise:.0f} cm {word}"
            found.append(Course(name, text, STAIR_SPEED, end, REPLICAS, careful=sign > 0))
    return found


def run(result: Result, setting: Setting) -> None:
    """Stand on the steepest slope from both sides, then walk all courses."""
    for angle in (STEEP, -STEEP):
        creep, fell = crept(angle, 15.0 if setting.quick else SECONDS)
        result.add_row(f"stands on {angle:+g}°", "slopes to about 25°", "fell" if fell else f"{1000 * creep:.2f}",
                       f"mm/s (< {1000 * CREEP:g})", not fell and creep < CREEP)  # fmt: skip
    each = courses()
    for i, course in enumerate(each):
        setting.progress(course.name, (i + 1) / (len(each) + 1))
        tries = min(course.tries, 2) if setting.quick else course.tries
        arrived, came = walked(course, tries, setting)
        result.runs += [{"course": course.name, "try": k, "came": float(far)} for k, far in enumerate(came)]
        result.add_row(course.name, "slopes to about 25°, stairs, gaps of 0.2 m, uneven",
                       f"{arrived.sum()} of {tries}, the least {came.min():.1f} m", f"of {course.length:.1f} m",
                       bool(arrived.all()))  # fmt: skip


def on_slope(angle: float) -> Skill:
    """Standing with the feet flat on a slope [°]; uphill with straighter legs, leaning into it."""
    lean, hip, knee = (_LEAN, 0.15, -0.2) if angle > 0.0 else (0.0, 0.2, -0.4)
    changes: dict[str, float | int | str | None] = {"start.torso": -lean, "start.joints.waist": -lean}
    for side in ("swing", "stance"):
        changes[f"start.joints.{side}_hip"], changes[f"start.joints.{side}_knee"] = hip, knee
        changes[f"start.joints.{side}_ankle"] = lean - hip - knee + math.radians(angle)
    return with_parameters(load(f"{CHARACTER}/{STAND}"), changes)


def crept(angle: float, seconds: float) -> tuple[float, bool]:
    """Speed of the COM down a slope on which it stands, after it has settled [m/s]; whether it fell."""
    population = Population(1, CHARACTER, on_slope(angle), f"incline:{angle:g}")
    population.run(10.0)
    before = population.rows[0].com.copy()
    population.run(seconds - 10.0)
    moved = float(np.linalg.norm(population.rows[0].com - before))
    return moved / (seconds - 10.0), bool(np.isfinite(population.fallen_at[0]))


def walked(course: Course, tries: int, setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """(tries,) whether each try came to the end upright, and how far each came [m]."""
    skill = load(f"{CHARACTER}/{WALK}")
    if course.careful:
        skill = with_parameters(skill, {"careful": True})
    population = Population(tries, CHARACTER, skill, course.terrain, seed=setting.seed)
    perturb_population(population, [seeded_generator(setting.seed, "stepping", course.name, i) for i in range(tries)])
    tell(population, {"speed": course.speed})
    most = SECONDS if not course.careful else 3.0 * course.length / course.speed
    picture = setting.figure_path("stepping/terrain", f"{course.name.replace(' ', '-').replace('°', '')}.png")
    came, alive, is_seen = np.zeros(tries), upright(population), False
    while alive.any() and population.time[alive].min() < most:
        if course.ends and (came[alive] >= course.length).all():
            break
        if came[0] >= _SEEN and not is_seen:
            figures.save_filmstrip(picture, population.run(4.0, fps=30.0, stop_fallen=True)[0], course.name)
            is_seen = True
        else:
            population.run(1.0, stop_fallen=True)
        came, alive = np.array([row.com[0] for row in population.rows]), upright(population)
    came = np.array([float(row.com[0]) for row in population.rows])
    return (came >= course.length) & upright(population), came
