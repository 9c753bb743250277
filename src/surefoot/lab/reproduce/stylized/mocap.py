"""Table 1, 3D Mocap: recorded motions followed with toes; only how steps adapt changes from one to another.

The sumo stomp is not recorded but authored: key poses of pelvis and feet on our own body, written as BVH. From a wide
stance, weight goes over one foot, the other leg is raised sideways, held, stomped down, and weight comes back.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.interpolate import PchipInterpolator

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference import load_reference
from surefoot.controllers.stylized.reference_balancing import LegKinematics
from surefoot.engine.recorder import Recorder
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reference_tracking import (
    TOES,
    TrackingRun,
    clip_reference,
    skill_for,
    track_reference,
    tracking_state,
)
from surefoot.motions import bvh
from surefoot.skills.schema import Skill

FPS = 120.0
_WIDE, _LOW = 0.26, 0.06  # [m] of a foot to its side, and by which the pelvis is lower than standing
# [s] of a side, share of the weight's way over the stance foot, how far the other foot is raised, of `_RAISED`
_KEYS = np.array([
    (0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (1.6, 1.0, 0.0), (2.4, 1.0, 1.0), (2.8, 1.0, 1.0), (3.3, 1.0, 0.0),
    (3.5, 1.0, 0.0), (4.4, 0.0, 0.0),
])  # fmt: skip
_RAISED = np.array([0.0, 0.22, 0.28])  # [m] to the side and up
_ROLL = 0.12  # [rad] of the pelvis towards the stance foot


def author(path: Path) -> None:
    """Write the stomp with the right foot, then with the left one, as a BVH file."""
    sim = Simulation(skill=TOES)
    legs, start, recorder = LegKinematics(sim.model, sim.scene.table), sim.data.qpos.copy(), Recorder(sim.scene)
    feet, long = legs.feet_over_time(start[None]), float(_KEYS[-1, 0])
    over, up = (PchipInterpolator(_KEYS[:, 0], _KEYS[:, k]) for k in (1, 2))
    for i in range(round(2.0 * long * FPS)):
        time = i / FPS
        side = 1 if time < long else 0  # the foot that stomps
        out = 1.0 - 2.0 * side  # world y of its side
        weight, raised = float(over(time % long)), float(up(time % long))
        pose, ankles = start.copy(), feet.ankles[0].copy()
        ankles[:, 1] = [_WIDE, -_WIDE]
        ankles[side] += raised * _RAISED * [1.0, out, 1.0]
        pose[1], pose[2] = -out * _WIDE * weight, start[2] - _LOW - 0.02 * weight
        roll = 0.5 * out * _ROLL * raised
        pose[3:7] = [np.cos(roll), np.sin(roll), 0.0, 0.0]
        pose = legs.solve_ik(pose, ankles, feet.axes[0], np.array([True, True]))
        recorder.add(time, pose, sim.data.qvel, sim.data.userdata)
    bvh.save(recorder.motion(), path)


def stomp(clip: Path, reference: Path) -> None:
    """Write the authored clip, and the reference that it becomes as any other clip does."""
    author(clip)
    sim = Simulation(skill=TOES)
    reference_sources.one_shot_reference(
        sim.model, sim.scene.table, reference_sources.retarget_file(clip, sim.scene.table)
    ).save(reference)


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
NEEDED, SECONDS, LIKE = 6, 60.0, np.radians(12.0)
_FILMED = 4.5  # [s]


def followed(
    setting: Setting, stem: str, loops: bool, changes: dict[str, float], seconds: float = SECONDS
) -> tuple[Skill, TrackingRun] | None:
    """A skill that follows a clip, and how it did; nothing without the clip."""
    path = clip_reference(setting, stem, loops)
    if path is None:
        return None
    skill = skill_for(path, changes=changes)
    _, reference = tracking_state(Simulation(skill=skill))
    return skill, track_reference(skill, seconds if loops else reference.duration)


def _draw(setting: Setting, result: Result, skill: Skill, kind: str) -> None:
    """Filmstrips of the first seconds, from both sides."""
    path = setting.figure_path(result.experiment, f"{kind.replace(' ', '-')}.png")
    if path is not None:
        motion = Simulation(skill=skill).run(_FILMED)
        figures.save_filmstrip(path, motion, kind, "side", 0.0)
        figures.save_filmstrip(path.with_stem(f"{path.stem}-front"), motion, kind, "front", 0.0)


def run(result: Result, setting: Setting) -> None:
    """Every kind, then further clips of a set."""
    seconds, good, more = (10.0 if setting.quick else SECONDS), 0, 0
    for kind, (stem, loops, changes) in setting.each((KINDS | FURTHER).items()):
        made = followed(setting, stem, loops, changes, seconds)
        if made is None:
            result.add_missing(f"{kind}, clip {stem}", "followed")
            continue
        skill, one = made
        if kind in KINDS:
            _draw(setting, result, skill, kind)
        like = one.stays_up and max(one.joints, one.clip) <= LIKE
        good += kind in KINDS and like
        more += kind in FURTHER and like
        result.add_note(f"{kind}, clip {stem}{', looped' if loops else ''}",
                        f"{one}{'' if like else ' — does not hold'}")  # fmt: skip
        result.runs.append({"kind": kind, "clip": stem, "fallen_at": one.fallen_at, "joints": one.joints,
                            "clip_joints": one.clip, "drift": one.drift[0], "drift_at_end": one.drift[1]})  # fmt: skip
    result.add_row(
        f"kinds, to their end, cyclic {seconds:g} s, joints within {np.degrees(LIKE):.0f}° of clip and reference",
        "7 kinds", f"{good} of {len(KINDS)}", f"(≥ {NEEDED})", good >= NEEDED,
    )  # fmt: skip
    result.add_note("further clips that hold", f"{more} of {len(FURTHER)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sumo.npz"
        stomp(path.with_suffix(".bvh"), path)
        one = track_reference(skill_for(path), load_reference(path).duration)
    result.add_note("sumo stomp, authored and not recorded; not counted", str(one))
