"""Motion capture imitation (§5, §7.2, figures 1b, 8 and 9): captured walks followed, pushed and steered.

Seven controllers follow captured gaits (figure 8). Beyond them, every clip there is goes through `surefoot imitate`
alone, nothing tuned by hand. Captured walks are pushed with 350 N, go diagonally, and turn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.lab import clip_skills, figures
from surefoot.lab.experiment import Result, Setting, clips_folder, cut_into, find_clip
from surefoot.lab.imitation_search import STAGES, Stage, initial_guesses
from surefoot.lab.pieces import Piece, tell
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.simbicon.gaits import human, missing
from surefoot.lab.reproduce.simbicon.parameter_sweeps import turning
from surefoot.motions.clip_reading import ClipSource
from surefoot.motions.filmstrip import filmstrip
from surefoot.motions.gait_description import describe_gait
from surefoot.motions.painter import View
from surefoot.motions.retargeting import to_motion
from surefoot.skills.schema import Skill

SEVEN = {
    "in place, normal": "captured-in-place", "in place, wide stance": "captured-wide-stance",
    "in place, bent trunk": "captured-bent-trunk", "in place, high knees": "captured-high-knees",
    "forward": "captured-forward", "backwards": "captured-backwards", "sideways": "captured-sideways",
}  # fmt: skip
"""The paper's controllers, and our skills for them."""
REPLICAS, SECONDS = 5, 60.0
_SETTLE, _SHOWN = 8.0, 2.0  # [s] before a push or a filmstrip, and of the filmstrips


def run_seven(result: Result, setting: Setting) -> None:
    """Each of the seven against the cleaned cycle of its clip."""
    alike = 0
    for word, name in setting.each(SEVEN.items()):
        skill = human(name)
        if skill is None:
            missing(result, word, "walks", name)
            continue
        found = _clip(setting, skill)
        cycle = clip_skills.untuned_skills(found, skill.name)[1] if found else skill.parameters.cycle
        done = clip_skills.measure_walk(skill, cycle, 8.0 if setting.quick else SECONDS, REPLICAS, setting.seed)
        up = sum(at > done.seconds for at in done.fallen_at)
        result.add_row(f"{word}: walks", "walks", f"{up} of {REPLICAS} walk {done.seconds:g} s", "replicas",
                       done.stays_up)  # fmt: skip
        seen = done.seen[0]
        measured = done.likeness
        result.runs.append({
            "case": word, "skill": name, "clip": skill.clip if hasattr(skill, "clip") else "",  # type: ignore[attr-defined]
            "joint_rmse_deg": np.degrees(done.error), "worst_leg_deg": np.degrees(done.worst_leg),
            "cadence": done.cadence, "travel_error": done.travel_error, "width": seen.width,
            "torso_deg": np.degrees(seen.tilt),
        })  # fmt: skip
        if found is None:
            result.add_missing(f"{word}: like its clip", "mimics")
            result.add_note(f"{word}: against the cycle in the skill", measured)
            continue
        alike += done.stays_up and done.is_alike
        limits = f"({clip_skills.PAPER_TOLERANCE})"
        result.add_row(f"{word}: like its clip", "mimics", measured, limits, done.is_alike)
        result.add_note(f"{word}: step width", f"{seen.width:.2f} m, the clip's {seen.wanted_width:.2f}", "m")
        result.add_note(f"{word}: torso in the world", f"{np.degrees(seen.tilt):.1f}", "° off the clip's")
        _draw(setting, word, found, skill)
    result.add_row("controllers that walk and are like their clips", "7", f"{alike}", "of 7", alike == len(SEVEN))


def _clip(setting: Setting, skill: Skill) -> clip_skills.GaitClip | None:
    path = find_clip(setting, getattr(skill, "clip", ""))
    return clip_skills.read_gait_clip(ClipSource(path, in_place=getattr(skill, "in_place", False))) if path else None


def _draw(setting: Setting, word: str, found: clip_skills.GaitClip, skill: Skill) -> None:
    """The clip above, what the controller does below, from the side and from the front (figure 8)."""
    path = setting.figure_path("simbicon/mocap", f"{skill.name}.png")
    if path is None:
        return
    simulation = Simulation(skill=skill)
    simulation.step(round(_SETTLE / simulation.model.opt.timestep))
    ours = simulation.run(_SHOWN)
    clip = to_motion(found.cycle.sampled(_SHOWN / found.cycle.period), found.table)
    views: tuple[View, ...] = ("side", "front")
    figures.save_image(figures.stacked([
        filmstrip(motion, view=view, caption=f"{word}: {label}")
        for view in views for motion, label in ((clip, "the clip's cycle"), (ours, "simulated"))
    ]), path)  # fmt: skip


NEAR = clip_skills.Tolerance(float(np.radians(15.0)), float(np.inf), 0.10, 0.30)
ENOUGH = 12
_QUICK = (Stage(3.0, 2, 0.15),)


def _clips_to_imitate(setting: Setting) -> list[Piece[dict[str, Any]]]:
    """A search for each clip; it resumes where the folder of its checkpoint is there."""
    folder = clips_folder(setting)
    files = sorted(folder.rglob("*.bvh")) if folder else []
    seconds, stages = (8.0, _QUICK) if setting.quick else (SECONDS, STAGES)
    return [
        Piece(
            path.stem, imitated, (path, seconds, setting.seed, stages),
            beside={"checkpoint": setting.figure_path("simbicon/mocap-more", f"{path.stem}.search")},
        )
        for path in files[: 2 if setting.quick else None]
    ]  # fmt: skip


def imitated(
    path: Path, seconds: float, seed: int, stages: tuple[Stage, ...], checkpoint: Path | None = None
) -> dict[str, Any]:
    """How an imitation of a clip walks, or why there is none.

    Args:
        path: the clip.
        seconds: how long it must walk [s].
        seed: of the search and of the replicas.
        stages: of the search.
        checkpoint: a stopped search resumes from files whose names begin so, if their folder is there.
    """
    try:
        found = clip_skills.read_gait_clip(ClipSource(path))
        documents, cycle = clip_skills.untuned_skills(found, "captured")
    except SurefootError as error:
        return {"clip": path.stem, "unfit": str(error)}
    done = clip_skills.make_imitation_skill(
        documents, cycle, seconds, seed=seed, stages=stages, begin_with=initial_guesses(without=path.stem),
        report=tell, checkpoint=checkpoint if checkpoint and checkpoint.parent.is_dir() else None,
    ).walk  # fmt: skip
    return {
        "clip": path.stem, "holds": bool(done.stays_up and done.is_near(NEAR)), "told": told(done),
        "fallen_at": min(done.fallen_at), "joint_rmse_deg": float(np.degrees(done.error)), "cadence": done.cadence,
        "travel_error": done.travel_error, "manner": describe_gait(found.cycle, found.table),
    }  # fmt: skip


@cut_into(_clips_to_imitate)
def run_more(result: Result, setting: Setting, found: list[dict[str, Any]]) -> None:
    """A row for the count; each clip, and what stops it, is shown."""
    if clips_folder(setting) is None:
        result.add_missing("clips that walk like themselves", f"≥ {ENOUGH}")
        return
    for one in found:
        if "unfit" in one:
            result.add_note(one["clip"], f"not cyclic, or no walk: {one['unfit']}")
            continue
        result.add_note(one["clip"], f"{'yes' if one['holds'] else 'no'}: {one['told']}", one["manner"])
        result.runs.append({key: value for key, value in one.items() if key != "told"})
    good, seconds = sum(run["holds"] for run in result.runs), 8.0 if setting.quick else SECONDS
    result.add_row(f"clips that walk {seconds:g} s like themselves (≤ 15°, cadence 10 %, travel 30 %)", f"≥ {ENOUGH}",
                   f"{good} of {len(result.runs)} cyclic ones, {len(found)} in all", "clips",
                   good >= ENOUGH)  # fmt: skip


def told(done: clip_skills.Walk) -> str:
    """What a walk was like, or when it ended."""
    if not done.stays_up:
        return f"falls after {min(done.fallen_at):.1f} s"
    near = f"joints {np.degrees(done.error):.1f}°, cadence × {done.cadence:.2f}"
    return f"{near}, travel {100 * done.travel_error:.0f} % off"


FORCE, DURATION = 350.0, 0.2  # [N], [s]
_AFTER = 15.0  # [s]
_LEVELS = (50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0)
_DIAGONAL = {"ahead": 0.06, "sideways": 0.05}  # [rad] of the swing leg: forward and to the left (figure 9b)
_TURN_ERROR = 6.0  # [deg]


def run_pushed(result: Result, setting: Setting) -> None:
    """The forward walk, the wide stance on its diagonal way, and turning."""
    forward, wide = human("captured-forward"), human("captured-wide-stance")
    if forward is not None:
        setting.progress("forward", 0.05)
        _pushed(result, setting, forward, "figure 1b: forward, pushed ahead and to the left", (1.0, 1.0), {})
    if wide is not None:
        setting.progress("wide stance", 0.4)
        case = "figure 9b: wide stance going ahead and to the left, pushed ahead and to the right"
        _pushed(result, setting, wide, case, (1.0, -1.0), _DIAGONAL)
    for name, walk in (("captured-forward", forward), ("captured-wide-stance", wide)):
        if walk is None:
            missing(result, name, "survives", name)
    slow = human("captured-slow") or forward
    if slow is not None:
        setting.progress("turning", 0.8)
        turning(result, setting, slow, _TURN_ERROR)


def _pushed(
    result: Result, setting: Setting, walk: Skill, case: str, way: tuple[float, float], told: dict[str, float]
) -> None:
    levels = (FORCE,) if setting.quick else _LEVELS
    kept = {force: _survivors(setting, walk, force, way, told) for force in levels}
    for force, count in kept.items():
        result.runs.append({"case": case, "force": force, "kept": count})
    result.add_row(f"{case}, {FORCE:g} N for {DURATION:g} s", "survives", f"{kept[FORCE]} of {REPLICAS} survive",
                   "replicas", kept[FORCE] == REPLICAS)  # fmt: skip
    result.add_note(f"{case}: survivors by force", ", ".join(f"{f:g} N: {n}" for f, n in kept.items()),
                    f"of {REPLICAS}")  # fmt: skip
    path = setting.figure_path("simbicon/mocap-push", f"{walk.name}.png")
    if path:
        simulation = Simulation(skill=walk, seed=setting.seed)
        simulation.command(**told)
        simulation.step(round(_SETTLE / simulation.model.opt.timestep))
        simulation.push(_force(FORCE, way), DURATION)
        figures.save_filmstrip(path, simulation.run(4.0), caption=f"{case}, {FORCE:g} N for {DURATION:g} s")


def _survivors(setting: Setting, walk: Skill, force: float, way: tuple[float, float], told: dict[str, float]) -> int:
    """How many replicas, pushed at different phases, are still up."""
    population = Population(REPLICAS, skill=walk, seed=setting.seed)
    rngs = [seeded_generator(setting.seed, "mocap push", k) for k in range(REPLICAS)]
    perturb_population(population, rngs)
    period = walk.parameters.cycle.period
    for k, row in enumerate(population.rows):
        population.scene.command(row, walk, told)
        start = _SETTLE + period * (k + rngs[k].uniform()) / REPLICAS
        population.scene.add_push(row, Push(_force(force, way), DURATION, start), 0.0)
    population.run(4.0 + _SETTLE if setting.quick else _SETTLE + _AFTER, stop_fallen=True)
    return int(np.isinf(population.fallen_at).sum())


def _force(size: float, way: tuple[float, float]) -> tuple[float, float, float]:
    x, y = np.array(way) / np.hypot(*way) * size
    return float(x), float(y), 0.0
