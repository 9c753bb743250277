"""§5.2 and figure 8: recorded motions in other worlds: down steps, over a see-saw, on what moves, pushed."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

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
from surefoot.lab.reproduce.replica_walks import highest_level
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain
from surefoot.terrains.props import SeeSaw

REPLICAS, SECONDS = 5, 15.0
# what: clip or skill, whether it loops, what is not as for all, the world
WORLDS: dict[str, tuple[str, bool, dict[str, Any], str]] = {
    "sideways down steps": ("113_18", True, {"root_weight": 30.0, "stepping": 1.1}, "stairs:-0.02,0.9,3,0.5,-90"),
    "turn down steps": (
        "16_18", False, {"root_weight": 30.0, "stepping": 1.1, "softness": 0.01}, "stairs:-0.02,0.8,3,0.7",
    ),
    "silly walk over a see-saw": (
        "132_55", True, {"softness": 0.03, "leading": 0.5, "pacing": 1.0, "stepping": 1.1}, "seesaw:3,0.06",
    ),
    "walk on a moving platform": ("human/stylized-walk", True, {}, "platform:4,10,3"),
}  # fmt: skip
WALKS: dict[str, dict[str, Any]] = {
    "136_21": {"root_weight": 30.0, "stepping": 1.1, "pacing": 0.5}, "human/stylized-walk": {},
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
