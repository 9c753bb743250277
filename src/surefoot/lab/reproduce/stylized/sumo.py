"""A sumo stomp, authored: no clip of one was found. Key poses of pelvis and feet on our own body, written as BVH.

A wide stance; weight goes over one foot, the other leg is raised sideways, held, stomped down, and weight comes back.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.interpolate import PchipInterpolator

from surefoot.lab.reproduce.stylized.following import TOES
from surefoot.motions import bvh
from surefoot.motions.recorder import Recorder
from surefoot.simulation import Simulation
from surefoot.stylized import sources
from surefoot.stylized.legs import Legs

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
    legs, start, recorder = Legs(sim.model, sim.scene.table), sim.data.qpos.copy(), Recorder(sim.scene)
    feet, long = legs.feet_of(start[None]), float(_KEYS[-1, 0])
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
        pose = legs.reach(pose, ankles, feet.axes[0], np.array([True, True]))
        recorder.add(time, pose, sim.data.qvel, sim.data.userdata)
    bvh.save(recorder.motion(), path)


def stomp(clip: Path, reference: Path) -> None:
    """Write the authored clip, and the reference that it becomes as any other clip does."""
    author(clip)
    sim = Simulation(skill=TOES)
    sources.once(sim.model, sim.scene.table, sources.carried_over(clip, sim.scene.table)).save(reference)
