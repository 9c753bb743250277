"""Table 1, 3D Mocap: recorded motions followed with toes; only how steps adapt changes from one to another."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from surefoot.lab.clip_shelf import MISSING
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stylized.following import Followed, clip_reference, follow, skill_for, tracker_of
from surefoot.lab.reproduce.stylized.sumo import stomp
from surefoot.simulation import Simulation
from surefoot.stylized.reference import read

# kind: clip, whether it loops, and what is not as for all
KINDS: dict[str, tuple[str, bool, dict[str, float]]] = {
    "walk": ("136_21", True, {}),
    "march": ("91_19", True, {"softness": 0.1}),
    "sideways": ("113_18", True, {}),
    "silly walk": ("132_55", True, {"softness": 0.01}),
    "stop and start": ("133_12", False, {"softness": 0.01}),
    "turn": ("16_18", False, {}),
    "dance": ("131_04", False, {}),
}
FURTHER: dict[str, tuple[str, bool, dict[str, float]]] = {
    "fast walk": ("07_01", True, {}),
    "slow walk": ("07_05", True, {}),
    "backwards": ("136_25", True, {}),
    "bent trunk": ("136_01", True, {}),
}
NEEDED, SECONDS, LIKE = 6, 60.0, np.radians(12.0)


def followed(
    setting: Setting, stem: str, loops: bool, changes: dict[str, float], seconds: float = SECONDS
) -> Followed | None:
    """A clip, followed; nothing without the clip."""
    path = clip_reference(setting, stem, loops)
    if path is None:
        return None
    skill = skill_for(path, changes=changes)
    _, reference = tracker_of(Simulation(skill=skill))
    return follow(skill, seconds if loops else reference.duration)


def run(result: Result, setting: Setting) -> None:
    """Every kind, then further clips of a set."""
    seconds, good, found = (10.0 if setting.quick else SECONDS), 0, 0
    for i, (kind, (stem, loops, changes)) in enumerate((KINDS | FURTHER).items()):
        setting.progress(kind, i / len(KINDS | FURTHER))
        one = followed(setting, stem, loops, changes, seconds)
        if one is None:
            result.partial = True
            continue
        found += 1
        like = one.stays_up and max(one.joints, one.clip) <= LIKE
        good += kind in KINDS and like
        result.show(f"{kind}, clip {stem}{', looped' if loops else ''}", f"{one}{'' if like else ' — does not hold'}")
        result.runs.append({"kind": kind, "clip": stem, "fallen_at": one.fallen_at, "joints": one.joints,
                            "clip_joints": one.clip, "drift": one.drift[0], "drift_at_end": one.drift[1]})  # fmt: skip
    if not found:
        result.show("recorded motions", MISSING)
        return
    result.row(
        f"kinds, to their end, cyclic {seconds:g} s, joints within {np.degrees(LIKE):.0f}° of clip and reference",
        "7 kinds",
        f"{good} of {len(KINDS)}", f"(≥ {NEEDED})", good >= NEEDED,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sumo.npz"
        stomp(path.with_suffix(".bvh"), path)
        one = follow(skill_for(path), read(path).duration)
    result.show("sumo stomp, authored: no clip of one was found; not counted", str(one))
