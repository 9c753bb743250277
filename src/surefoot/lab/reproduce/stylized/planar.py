"""Table 1, 2D data: walk, uphill, backwards, march and walk in the plane, all with the same parameters."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.reference_sources import Cycle, clip_sequence, cycle_on_slope, reference_on_slope
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import NO_CLIPS, Result, Setting, find_clip, make_folder
from surefoot.lab.reference_tracking import TrackingRun, track_reference
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

SKILL, UPHILL = "planar_arms/stylized-walk", "planar_arms/uphill-walk"
WALK, BACKWARDS, MARCH = "136_21", "136_25", "91_19"
SLOPE, CYCLES = 5.0, 3  # [°], and of each of march and walk before the other
SECONDS, LESS, REPLICAS, LIKE = 60.0, 20.0, 3, np.radians(12.0)
_ROOT = 3  # coordinates of a planar root
# what is not as printed, or left out, tried beside it
OTHERWISE: dict[str, dict[str, Any]] = {
    "without balance, w_b = 0": {"balance_weight": 0.0},
    "the root's rows count once, all as printed": {"root_weight": 1.0},
    "softer style, k_s = 150": {"style": 150.0},
    "steps led and adapted, as in space": {"leading": 1.0, "stepping": 0.8},
}


class _Kind(NamedTuple):
    """A motion of Table 1: where ours comes from, on which ground, which clips it takes, and how it is made.

    `cycle` gives what was recorded, before feet are planted and weight is carried.
    """

    source: str
    ground: str
    clips: tuple[str, ...]
    make: Callable[[Scene, list[Path]], Reference]
    cycle: Callable[[Scene, list[Path]], Cycle] | None


def _looped(stem: str) -> _Kind:
    return _Kind(f"clip {stem}, projected, looped", "flat", (stem,), _loop, _cycle)


def _loop(scene: Scene, clips: list[Path]) -> Reference:
    return reference_sources.looping_reference(
        scene.model, scene.table, reference_sources.retarget_file(clips[0], scene.table)
    )


def _cycle(scene: Scene, clips: list[Path]) -> Cycle:
    return reference_sources.best_cycle(scene.table, reference_sources.retarget_file(clips[0], scene.table))


def _in_turn(scene: Scene, clips: list[Path]) -> Reference:
    return clip_sequence(
        scene.model, scene.table, [(reference_sources.retarget_file(clip, scene.table), CYCLES) for clip in clips]
    )


KINDS = {
    "walk": _looped(WALK),
    "uphill": _Kind(
        f"simulated: SIMBICON, {UPHILL} up {SLOPE:g}°", f"incline:{SLOPE:g}", (),
        lambda scene, clips: reference_on_slope(scene, UPHILL, SLOPE), lambda scene, clips: cycle_on_slope(scene, UPHILL, SLOPE),
    ),
    "backwards": _looped(BACKWARDS),
    "march and walk": _Kind(
        f"clips {MARCH} and {WALK}, projected, {CYCLES} cycles of each in turn", "flat", (MARCH, WALK), _in_turn, None
    ),
}  # fmt: skip


def run(result: Result, setting: Setting) -> None:
    """Every motion with the same parameters, then with others; a filmstrip of each."""
    seconds, replicas = (10.0, 1) if setting.quick else (SECONDS, REPLICAS)
    skills, good = dict[str, Skill](), 0
    for i, (name, kind) in enumerate(KINDS.items()):
        setting.progress(name, 0.7 * i / len(KINDS))
        clips = [clip for stem in kind.clips if (clip := find_clip(setting, stem)) is not None]
        if len(clips) < len(kind.clips):
            result.show(f"{name}: {kind.source}", NO_CLIPS)
            result.partial = True
            continue
        scene = Simulation(skill=UPHILL).scene
        reference = kind.make(scene, clips)
        path = _file(setting, name)
        reference.save(path)
        skills[name] = with_parameters(load(SKILL), {"reference": str(path)})
        if kind.cycle is not None:
            off = _changed(reference, kind.cycle(scene, clips))
            result.show(f"{name}: joints of the reference against what was recorded", f"{off:.1f}", "°")
        found = [track_reference(skills[name], seconds, kind.ground, (), k, setting.seed) for k in range(replicas)]
        result.runs += [
            {"kind": name, "replica": k, "fallen_at": one.fallen_at, "joints": one.joints, "slip": one.slip}
            for k, one in enumerate(found)
        ]
        holds = all(_good(one) for one in found)
        good += holds
        worst = max(found, key=lambda one: (not one.stays_up, one.joints))
        text = f"{sum(map(_good, found))} of {replicas} replicas; the worst {worst}, feet slide {_slide(worst)}"
        result.row(f"{name}: {kind.source}", "followed", text, f"({seconds:g} s, ≤ {np.degrees(LIKE):.0f}°)", holds)
        _draw(setting.figure_path(result.experiment, f"{name.replace(' ', '-')}.png"), skills[name], name, kind)
    used = load(SKILL).parameters
    if len(skills) == len(KINDS):
        result.row(
            f"motions followed with one set: k_s {used.style:g}, w_b {used.balance_weight:g}, w_s {used.style_weight}",
            "4", f"{good}", f"(of {len(KINDS)})", good == len(KINDS),
        )  # fmt: skip
    result.show("projected", "shadows of the clip's bones on its sagittal plane, which turns slowly with its heading")
    result.show(
        "of what was added to the paper",
        f"the root's rows count {used.root_weight:g} times, the reference's root is set down over the feet that bear; "
        "steps are not adapted",
    )
    _try_otherwise(result, setting, skills, min(seconds, LESS), replicas)


def _try_otherwise(result: Result, setting: Setting, skills: dict[str, Skill], seconds: float, replicas: int) -> None:
    """How many of the motions all replicas follow with other parameters."""
    for i, (case, changes) in enumerate(OTHERWISE.items()):
        setting.progress(case, 0.7 + 0.3 * i / len(OTHERWISE))
        held = 0
        for name, skill in skills.items():
            other = with_parameters(skill, changes)
            held += all(
                _good(track_reference(other, seconds, KINDS[name].ground, (), k, setting.seed)) for k in range(replicas)
            )
        result.show(f"{case}: motions that {replicas} of {replicas} replicas follow for {seconds:g} s",
                    f"{held} of {len(skills)}")  # fmt: skip


def _good(one: TrackingRun) -> bool:
    return one.stays_up and one.joints <= LIKE


def _slide(one: TrackingRun) -> str:
    return f"{1000.0 * one.slip:.0f} mm/m"


def _file(setting: Setting, name: str) -> Path:
    """Where a motion's reference is kept."""
    folder = (setting.out or Path(tempfile.gettempdir())) / "references"
    make_folder(folder)
    return folder / f"planar_arms-{name.replace(' ', '-')}.npz"


def _changed(reference: Reference, recorded: Cycle) -> float:
    """By how much planted feet and carried weight have changed a motion's joints, root mean square [°]."""
    off = reference.poses[:, _ROOT:] - recorded.poses[:-1, _ROOT:]
    return float(np.degrees(np.sqrt((off**2).mean())))


def _draw(path: Path | None, skill: Skill, name: str, kind: _Kind) -> None:
    """A filmstrip of a motion once it goes on evenly, long enough for what changes in it."""
    if path is not None:
        seconds = 12.0 if len(kind.clips) > 1 else 5.0
        motion = Simulation(skill=skill, terrain=kind.ground).run(seconds, fps=60.0)
        figures.save_filmstrip(path, motion, f"{name}: {kind.source}", start=2.0)
