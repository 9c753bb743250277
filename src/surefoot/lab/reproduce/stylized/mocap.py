"""Table 1, 3D Mocap: recorded motions followed with toes; only how steps adapt changes from one to another."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from surefoot.lab import figures
from surefoot.lab.clip_shelf import MISSING
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stylized.following import Followed, clip_reference, follow, skill_for, tracker_of
from surefoot.lab.reproduce.stylized.sumo import stomp
from surefoot.simulation import Simulation
from surefoot.skills.schema import Skill
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
    "brisk walk": ("16_22", True, {}),
    "crouched walk": ("136_09", True, {}),
    "wide walk": ("104_41", True, {}),
    "walk around a room": ("Neutral_FW", True, {}),
    "turn on the spot": ("69_17", False, {}),
}
STOPS = {
    "dance": "it hops at 1.4 s and spins on a toe after; steps do not adapt in flight, and a toe that bears is held"
}
NEEDED, SECONDS, LIKE = 6, 60.0, np.radians(12.0)
_FILMED = 4.5  # [s]


def followed(
    setting: Setting, stem: str, loops: bool, changes: dict[str, float], seconds: float = SECONDS
) -> tuple[Skill, Followed] | None:
    """A skill that follows a clip, and how it did; nothing without the clip."""
    path = clip_reference(setting, stem, loops)
    if path is None:
        return None
    skill = skill_for(path, changes=changes)
    _, reference = tracker_of(Simulation(skill=skill))
    return skill, follow(skill, seconds if loops else reference.duration)


def _draw(setting: Setting, result: Result, skill: Skill, kind: str) -> None:
    """Filmstrips of the first seconds, from both sides."""
    path = setting.figure_path(result.experiment, f"{kind.replace(' ', '-')}.png")
    if path is not None:
        motion = Simulation(skill=skill).run(_FILMED)
        figures.strip(path, motion, kind, "side", 0.0)
        figures.strip(path.with_stem(f"{path.stem}-front"), motion, kind, "front", 0.0)


def run(result: Result, setting: Setting) -> None:
    """Every kind, then further clips of a set."""
    seconds, good, more, found = (10.0 if setting.quick else SECONDS), 0, 0, 0
    for i, (kind, (stem, loops, changes)) in enumerate((KINDS | FURTHER).items()):
        setting.progress(kind, i / len(KINDS | FURTHER))
        made = followed(setting, stem, loops, changes, seconds)
        if made is None:
            result.partial = True
            continue
        skill, one = made
        if kind in KINDS:
            _draw(setting, result, skill, kind)
        found += 1
        like = one.stays_up and max(one.joints, one.clip) <= LIKE
        good += kind in KINDS and like
        more += kind in FURTHER and like
        result.show(f"{kind}, clip {stem}{', looped' if loops else ''}", f"{one}{'' if like else ' — does not hold'}")
        if not like and kind in STOPS:
            result.show(f"{kind}: what stops it", STOPS[kind])
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
    result.show("further clips that hold", f"{more} of {len(FURTHER)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sumo.npz"
        stomp(path.with_suffix(".bvh"), path)
        one = follow(skill_for(path), read(path).duration)
    result.show("sumo stomp, authored: no clip of one was found; not counted", str(one))
