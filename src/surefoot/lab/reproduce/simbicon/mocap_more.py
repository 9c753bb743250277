"""Beyond the paper's seven: every clip there is through `surefoot imitate` alone, nothing tuned by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from surefoot.errors import SurefootError
from surefoot.lab.clip_skills import ClipSource, Tolerance, Walk, make_imitation_skill, read_gait_clip, untuned_skills
from surefoot.lab.experiment import NO_CLIPS, Result, Setting, clips_folder
from surefoot.lab.imitation_search import STAGES, Stage, initial_guesses
from surefoot.lab.reproduce.simbicon.mocap import SECONDS

NEAR = Tolerance(float(np.radians(15.0)), float(np.inf), 0.10, 0.30)
ENOUGH = 12
_QUICK = (Stage(3.0, 2, 0.15),)


def run(result: Result, setting: Setting) -> None:
    """A row for the count; each clip, and what stops it, is shown."""
    folder = clips_folder(setting)
    if folder is None:
        result.partial = True
        result.add_row("clips that walk like themselves", f"≥ {ENOUGH}", NO_CLIPS, "clips", False)
        return
    files = sorted(folder.rglob("*.bvh"))[: 2 if setting.quick else None]
    good = cyclic = 0
    for i, path in enumerate(files):
        setting.progress(path.stem, i / len(files))
        try:
            found = read_gait_clip(ClipSource(path))
            documents, cycle = untuned_skills(found, "captured")
        except SurefootError as error:
            result.add_note(path.stem, f"not cyclic, or no walk: {error}")
            continue
        cyclic += 1
        done = make_imitation_skill(
            documents, cycle, 8.0 if setting.quick else SECONDS, seed=setting.seed,
            stages=_QUICK if setting.quick else STAGES, begin_with=initial_guesses(without=path.stem),
            checkpoint=_checkpoint(setting, path), report=_part(setting, path.stem, i, len(files)),
        ).walk  # fmt: skip
        holds = done.stays_up and done.is_near(NEAR)
        good += holds
        result.add_note(path.stem, f"{'yes' if holds else 'no'}: {told(done)}", found.said[-1])
        result.runs.append({
            "clip": path.stem, "holds": holds, "fallen_at": min(done.fallen_at),
            "joint_rmse_deg": np.degrees(done.error), "cadence": done.cadence, "travel_error": done.travel_error,
            "manner": found.said[-1],
        })  # fmt: skip
    result.add_row(
        f"clips that walk {SECONDS:g} s like themselves (≤ 15°, cadence 10 %, travel 30 %)", f"≥ {ENOUGH}",
        f"{good} of {cyclic} cyclic ones, {len(files)} in all", "clips", good >= ENOUGH,
    )  # fmt: skip


def told(done: Walk) -> str:
    """What a walk was like, or when it ended."""
    if not done.stays_up:
        return f"falls after {min(done.fallen_at):.1f} s"
    near = f"joints {np.degrees(done.error):.1f}°, cadence × {done.cadence:.2f}"
    return f"{near}, travel {100 * done.travel_error:.0f} % off"


def _part(setting: Setting, stem: str, number: int, count: int) -> Callable[[str, float], None]:
    """Progress of one clip as a part of that of all."""
    return lambda text, share: setting.progress(f"{stem}: {text}", (number + share) / count)


def _checkpoint(setting: Setting, path: Path) -> Path | None:
    return setting.figure_path("simbicon/mocap-more", f"{path.stem}.search")
