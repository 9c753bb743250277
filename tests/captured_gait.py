"""What the tests of captured gaits share: a clip made by our own walk, a skill that follows it, views of its memory."""

from __future__ import annotations

import copy
import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from human_body import ENDLESS, TABLE, look
from surefoot.controllers.imitation import slot as trajectories
from surefoot.controllers.imitation.law import IMITATOR
from surefoot.engine.simulation import Simulation
from surefoot.lab import clip_skills
from surefoot.native.kernels import records
from surefoot.skills import files, with_parameters
from surefoot.skills.schema import Skill

WALKS: dict[str, Any] = {  # with these it stays up, whatever the first guess is
    "cd": 0.605, "cv": 0.06, "cd_lateral": 0.291, "cv_lateral": 0.232, "clearance": 0.09, "tuck": 0.403,
    "tempo": 0.97, "torso": 0.132, "speed": -0.036, "earliest": 0.6, "catch_up": 2.0, "support": 2.0,
    "offsets": {"swing_hip_roll": -0.027, "swing_ankle": 0.283, "stance_knee": 0.011, "stance_ankle": 0.007},
    "feedback": {"stance_ankle": [0.386, -0.3], "stance_ankle_roll": [-0.75, -0.3]},
}  # fmt: skip
AS_IS: dict[str, Any] = {
    "tempo": 1.0, "torso": 0.0, "speed": 0.0, "clearance": 0.0, "tuck": 0.0, "support": 0.0, "offsets": {},
    "feedback": {},
}  # fmt: skip
"""Nothing is added to the clip."""


@functools.cache
def clip_file() -> Path:
    """A clip of five seconds of the library's fast walk."""
    sim = Simulation(skill="human/fast-walk")
    sim.run(3.0)
    path = Path(tempfile.mkdtemp(prefix="clip-")) / "Fast Walk.bvh"
    sim.run(5.0, fps=60.0).save(path)
    return path


@functools.cache
def understood() -> clip_skills.GaitClip:
    return clip_skills.read_gait_clip(clip_skills.ClipSource(clip_file()))


@functools.cache
def _begun() -> tuple[dict[str, Any], Any]:
    documents, cycle = clip_skills.untuned_skills(understood(), "captured")
    return documents[0], cycle


def own_cycle() -> Any:
    """The cycle of the clip as it was."""
    return _begun()[1]


def document(**parameters: Any) -> dict[str, Any]:
    """A fresh document of the skill that walks, with other parameters."""
    found = copy.deepcopy(_begun()[0])
    found["parameters"] |= copy.deepcopy(WALKS) | parameters
    return found


def gait(_parameters: dict[str, Any] | None = None, **changes: Any) -> Skill:
    """The skill that walks with other parameters; in keywords a double underscore is a dot of the path."""
    skill = files.validate(document(**(_parameters or {})), "captured")
    return (
        with_parameters(skill, {key.replace("__", "."): value for key, value in changes.items()}) if changes else skill
    )


def imitator_of(sim: Simulation) -> Any:
    return records(sim.memory.memory, 0, 1, IMITATOR)[0]


def plan_of(sim: Simulation) -> Any:
    return trajectories.view(sim.memory.slots[int(sim.memory.header[0].active)], TABLE)


def begun(skill: Skill) -> Simulation:
    """At its start, with no limits of torques."""
    sim = Simulation(skill=skill)
    plan = plan_of(sim)
    for gain in plan.gains:
        gain.limit = ENDLESS
    plan.head[0].torso_limit = ENDLESS
    return sim


def asked(skill: Skill, faster: tuple[float, float] = (0.0, 0.0), ahead: tuple[float, float] = (0.0, 0.0)) -> Any:
    """A simulation a moment after the start, and its torques.

    Args:
        skill: to begin with.
        faster: [m/s] that are added to the body's velocity, forward and to the left.
        ahead: [m] that the body is ahead of the clip and left of it: the clip's place is moved back.
    """
    sim = begun(skill)
    sim.data.qvel[:2] += faster
    places = plan_of(sim).series[len(TABLE.gains) + trajectories.trajectory.PLACES :]
    places[:6, 0] -= np.tile([*ahead, 0.0], 2)
    return sim, look(sim)
