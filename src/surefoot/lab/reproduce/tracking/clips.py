"""Every clip of the folder, from beginning to end or its cycle for a minute, and the kinds of the older papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.atomic_file import replace_file
from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.engine.recorder import Recorder
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.reproduce.tracking.tracked_clips import CLIPS, KNEEL, SUMO, Case, tried
from surefoot.lab.tracking_skill import Measure, measure
from surefoot.lab.tracking_states import run_on
from surefoot.motions.motion import Motion
from surefoot.motions.painter import View
from surefoot.motions.video import gif_beside
from surefoot.skills.schema import Skill

REPLICAS, NEEDED = 3, 22
_LIMITS = "joints ≤ 8°, root ≤ 15°, path ≤ 0.3 m + 2 %"
_SHOWN = 4.0  # [s] of a filmstrip
SEVEN = {
    "in place, normal": Case("136_21", in_place=True), "in place, wide stance": Case("104_41", in_place=True),
    "in place, bent trunk": Case("136_01", in_place=True), "in place, high knees": Case("136_17", in_place=True),
    "forward": Case("07_01"), "backwards": Case("136_25"), "sideways": Case("113_18"),
}  # fmt: skip
"""SIMBICON's captured gaits (figure 8)."""
KINDS = {
    "walk": Case("136_21"), "march": Case("91_19"), "sideways": Case("113_18"), "silly walk": Case("132_55"),
    "stop and start": Case("133_12", loops=False), "dance": Case("131_04", loops=False),
    "sumo": Case(SUMO, loops=False),
}  # fmt: skip
"""da Silva's motions (Table 1, 3D Mocap)."""


def run(result: Result, setting: Setting) -> None:
    """A row for each clip, and one for their number."""
    cases = {stem: Case(stem) for stem in (CLIPS[:2] if setting.quick else CLIPS)}
    good = _rows(result, setting, cases, 0.0, 1.0)
    result.add_row("clips followed", f"≥ {NEEDED}", f"{good}", f"of {len(cases)}", good >= NEEDED)


def run_kinds(result: Result, setting: Setting) -> None:
    """SIMBICON's seven captured gaits and da Silva's seven motions."""
    half = 1 if setting.quick else None
    for i, (paper, kinds) in enumerate((("SIMBICON", SEVEN), ("da Silva 2008", KINDS))):
        cases = dict(list(kinds.items())[:half])
        good = _rows(result, setting, cases, 0.5 * i, 0.5)
        result.add_row(f"{paper}: kinds followed", f"{len(kinds)}", f"{good}", f"of {len(cases)}", good == len(kinds))


def run_floor(result: Result, setting: Setting) -> None:
    """An authored clip that kneels on a knee and gets up."""
    word, case = "kneels and gets up", Case(KNEEL, loops=False)
    _rows(result, setting, {word: case}, 0.0, 1.0)


def _rows(result: Result, setting: Setting, cases: Mapping[str, Case], begin: float, share: float) -> int:
    """Follow some clips; returns how many were followed to the end, and closely."""
    good = 0
    for i, (word, case) in enumerate(cases.items()):
        at = begin + share * i / len(cases)
        if case.stem not in (SUMO, KNEEL) and find_clip(setting, case.stem) is None:
            result.add_missing(word)
            continue
        skill, why = tried(setting, case, at, at + share / len(cases))
        if skill is None:
            result.add_row(word, "followed", why, _LIMITS, False)
            continue
        found = measure(skill, 8.0 if setting.quick else None, REPLICAS, setting.seed)
        good += found.is_like
        result.add_row(word, "followed", str(found), _LIMITS, found.is_like)
        result.runs += _records(word, found)
        _draw(result, setting, word, skill)
    return good


def _records(word: str, found: Measure) -> list[dict[str, float | str]]:
    return [
        {
            "case": word, "replica": k, "fallen_at": at, "seconds": found.seconds,
            "joints_deg": float(np.degrees(found.joints[k])), "root_deg": float(np.degrees(found.turn[k])),
            "path_m": found.path[k], "way_m": found.way,
        }
        for k, at in enumerate(found.fallen_at)
    ]  # fmt: skip


def _draw(result: Result, setting: Setting, word: str, skill: Skill) -> None:
    """Filmstrips and a film of the clip and of what it became."""
    path = setting.figure_path(result.experiment, f"{skill.name}.png")
    if path is not None:
        draw_beside_clip(path, word, skill)
        save_film_beside_clip(path.with_suffix(".gif"), skill)


def draw_beside_clip(path: Path, word: str, skill: Skill, start: float = 0.0, end: float = _SHOWN) -> None:
    """Draw a clip and the tracking skill that was made of it, below each other.

    Args:
        path: of the picture.
        word: what it shows.
        skill: of tracking.
        start: [s].
        end: [s]; a motion that is done once is shown to its end at most.
    """
    long = _shown(skill, end)
    both = [(f"{word}: the clip", clip_motion(skill, long)), ("tracked", Simulation(skill=skill).run(long))]
    last = min(long, *(float(motion.time[-1]) for _, motion in both))
    figures.save_filmstrips(path, both, ("side", "front"), start, last)


def save_film_beside_clip(path: Path, skill: Skill, end: float = _SHOWN, view: View = "side") -> None:
    """Save a GIF of a clip beside the tracking skill that was made of it.

    Args:
        path: of the film.
        skill: of tracking.
        end: how much is shown [s]; a motion that is done once is shown to its end at most.
        view: from the side or the front.
    """
    long = _shown(skill, end)
    both = [("clip", clip_motion(skill, long)), ("tracked", Simulation(skill=skill).run(long, fps=60))]
    replace_file(path, gif_beside(both, view=view))


def _shown(skill: Skill, end: float) -> float:
    """How much of a skill is shown [s]."""
    table = table_of_skill(skill)
    return end if table.loops else min(end, table.duration)


def clip_motion(skill: Skill, seconds: float) -> Motion:
    """The clip that a skill tracks, on its body, a frame for each window.

    Args:
        skill: of tracking.
        seconds: how long.
    """
    table, sim = table_of_skill(skill), Simulation(skill=skill)
    poses, _ = run_on(replace(table, qpos=table.clip), 0, int(seconds / table.window) + 2)
    recorder, joints = Recorder(sim.scene), [int(sim.model.joint(name).qposadr[0]) for name in sim.scene.table.gains]
    for k, pose in enumerate(poses):
        sim.data.qpos[:7], sim.data.qpos[joints] = pose[:7], pose[7:]
        recorder.add(k * table.window, sim.data.qpos, sim.data.qvel, sim.data.userdata)
    return recorder.motion()
