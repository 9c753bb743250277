"""§4.4: over and under obstacles, with every offset of one against the other, and up and down stairs.

A course has five pairs of an obstacle and a bar. It is passed if all of them are, and none was touched by any part of
the body at any physics step. Stairs are climbed if the character stands behind the last of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.engine.task import Task
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting, cut_into
from surefoot.lab.pieces import Piece
from surefoot.tasks.climb_stairs import Climb
from surefoot.tasks.obstacle_course import Course
from surefoot.terrains import flat, stairs
from surefoot.terrains.props import Bar, Obstacle, with_props

COURSES, PAIRS = 100, 5
FIRST, SPACING, OFFSET = 3.0, 3.0, 1.0  # [m] of the pairs, and of a bar from its obstacle, either way
HEIGHTS, DEPTHS, BARS = (0.05, 0.25), (0.05, 0.15), (1.2, 1.6)  # [m]
RISES = (0.10, 0.12, 0.14, 0.16, 0.18)  # [m], up and down
RUN, COUNT, STARTS = 0.30, 6, (1.2, 2.2)  # [m], stairs of a flight, [m] of the first from the start
BEYOND = 0.4  # [m] behind the last stair where it has to stand
BODY, SKILL = "humanoid", "careful-walk"
_NEEDED = 0.9  # share of the courses
_PROCESSES = 2


def course(seed: int, number: int) -> list[Obstacle | Bar]:
    """The things of one course."""
    random = np.random.default_rng([seed, number])
    things: list[Obstacle | Bar] = []
    for pair in range(PAIRS):
        x = FIRST + SPACING * pair
        things.append(Obstacle(x, float(random.uniform(*HEIGHTS)), float(random.uniform(*DEPTHS))))
        things.append(Bar(x + float(random.uniform(-OFFSET, OFFSET)), float(random.uniform(*BARS))))
    return things


def run_course(seed: int, number: int) -> dict[str, Any]:
    """One course; what became of it."""
    things = course(seed, number)
    simulation = Simulation(BODY, SKILL, with_props(flat(), things), seed + number)
    task = simulation.add(Course(things))
    _finish(simulation, task)
    return {"kind": "course", "case": number, "done": task.status == "done", "reason": task.reason,
            "seconds": simulation.time}  # fmt: skip


def run_stairs(seed: int, number: int, rise: float) -> dict[str, Any]:
    """One flight of stairs, up or down by a rise [m], its distance drawn from the seed."""
    simulation, task = _climber(seed, number, rise)
    _finish(simulation, task)
    return {"kind": "stairs", "case": rise, "done": task.status == "done", "reason": task.reason,
            "seconds": simulation.time}  # fmt: skip


def _climber(seed: int, number: int, rise: float) -> tuple[Simulation, Climb]:
    start = float(np.random.default_rng([seed, COURSES + number]).uniform(*STARTS))
    simulation = Simulation(BODY, SKILL, stairs(rise, RUN, COUNT, start), seed + number)
    return simulation, simulation.add(Climb(start + RUN * COUNT + BEYOND))


def _finish(simulation: Simulation, task: Task) -> None:
    while not task.is_over:
        simulation.step(500)


def _courses_and_flights(setting: Setting) -> list[Piece[dict[str, Any]]]:
    rises = [sign * rise for sign in (1.0, -1.0) for rise in (RISES[::4] if setting.quick else RISES)]
    courses = [Piece(f"course {i}", run_course, (setting.seed, i)) for i in range(4 if setting.quick else COURSES)]
    return courses + [Piece(f"stairs {rise:g} m", run_stairs, (setting.seed, i, rise)) for i, rise in enumerate(rises)]


@cut_into(_courses_and_flights, _PROCESSES)
def run(result: Result, setting: Setting, found: list[dict[str, Any]]) -> None:
    """What became of all courses and flights; then pictures of one of each."""
    over, climbed = ([it for it in found if it["kind"] == kind] for kind in ("course", "stairs"))
    result.runs += found
    passed, stood = sum(it["done"] for it in over), sum(it["done"] for it in climbed)
    result.add_row(f"courses of {PAIRS} obstacles and bars", "steps over and ducks under", f"{passed} of {len(over)}",
                   f"courses, nothing touched (≥ {100 * _NEEDED:g} %)", passed >= _NEEDED * len(over))  # fmt: skip
    result.add_row("stairs of 10 … 18 cm up and down", "climbs", f"{stood} of {len(climbed)}", "flights",
                   stood == len(climbed))  # fmt: skip
    for it in over + climbed:
        if not it["done"]:
            result.add_note(f"{it['kind']} {it['case']:g}", it["reason"])
    _pictures(result, setting)


def _pictures(result: Result, setting: Setting) -> None:
    if setting.out is None:
        return
    things: list[Obstacle | Bar] = [Obstacle(3.0, 0.2), Bar(3.3, 1.3)]
    simulation = Simulation(BODY, SKILL, with_props(flat(), things), setting.seed)
    simulation.add(Course(things))
    figures.save_filmstrip(setting.figure_path(result.experiment, "pair.png"), simulation.run(8.0), start=4.0, end=7.5)
    makers: dict[str, Callable[[], tuple[Simulation, Climb]]] = {
        "up": lambda: _climber(setting.seed, 2, RISES[2]),
        "down": lambda: _climber(setting.seed, 7, -RISES[2]),
    }
    for name, make in makers.items():
        figures.save_filmstrip(setting.figure_path(result.experiment, f"stairs-{name}.png"), make()[0].run(10.0))
