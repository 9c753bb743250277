"""§5.1: the same clips under this controller and under SIMBICON's imitation: which is nearer to its clip."""

from __future__ import annotations

import numpy as np

from surefoot.lab.clip_shelf import MISSING, find_clip
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stylized.following import clip_reference, follow, skill_for, tracker_of
from surefoot.simulation import Simulation
from surefoot.skills import load
from surefoot.stylized.reference import Reference

PAIRS = {"136_25": "human/captured-backwards", "136_01": "human/captured-bent-trunk"}
BASE, SECONDS, SETTLED = "human/stylized-stand", 30.0, 5.0


def run(result: Result, setting: Setting) -> None:
    """Joint errors and ways of both, on the same body."""
    seconds, nearer, found = (12.0 if setting.quick else SECONDS), 0, 0
    for i, (stem, captured) in enumerate(PAIRS.items()):
        setting.progress(stem, i / len(PAIRS))
        if find_clip(setting, stem) is None:
            result.show(stem, MISSING)
            result.partial = True
            continue
        path = clip_reference(setting, stem, True, BASE)
        assert path is not None
        skill = skill_for(path, BASE)
        ours, (_, reference) = follow(skill, seconds), tracker_of(Simulation(skill=skill))
        theirs, speed, fell = _captured(captured, reference, seconds)
        found += 1
        nearer += ours.stays_up and (fell or ours.joints < theirs)
        went = ours.path[0] / min(seconds, ours.fallen_at)
        wanted = float(np.linalg.norm(reference.rates[:, :2], axis=1).mean())
        result.show(f"{stem}: joints, this controller and SIMBICON's imitation",
                    f"{np.degrees(ours.joints):.1f}, {np.degrees(theirs):.1f}", "°")  # fmt: skip
        result.show(f"{stem}: speed of the clip, this controller, SIMBICON's imitation",
                    f"{wanted:.2f}, {went:.2f}, {speed:.2f}", "m/s")  # fmt: skip
        result.runs.append({"clip": stem, "ours": ours.joints, "theirs": theirs, "fallen_at": ours.fallen_at})
    if found:
        result.row("clips that this controller follows more nearly", "all", f"{nearer} of {found}", "", nearer == found)


def _captured(name: str, reference: Reference, seconds: float) -> tuple[float, float, bool]:
    """Joint error [rad] at the best lag within a cycle, speed [m/s] and whether it fell."""
    sim = Simulation(skill=load(name))
    motion = sim.run(seconds, fps=1.0 / reference.timestep)
    late = motion.time >= SETTLED
    places = np.array([int(sim.model.joint(joint).qposadr[0]) for joint in sim.scene.table.gains])
    n, poses = len(reference.poses), motion.qpos[late][:, places]
    stretches = [poses[i : i + n] for i in range(0, len(poses) - n, n)]
    wanted = reference.poses[:, places]
    errors = [
        min(float(((stretch - np.roll(wanted, lag, axis=0)) ** 2).mean()) for lag in range(0, n, 2))
        for stretch in stretches
    ]
    path = motion.qpos[late][:, :2]
    speed = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum() / (len(path) * reference.timestep))
    return float(np.sqrt(np.mean(errors))), speed, sim.fallen
