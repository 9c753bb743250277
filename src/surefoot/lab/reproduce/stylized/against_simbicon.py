"""§5.1: the same clips under this controller and under SIMBICON's imitation: which is nearer to its clip."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference_balancing import STRAIGHT
from surefoot.controllers.stylized.reference_sources import REFERENCE_RATE, Cycle
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.reference_tracking import clip_reference, skill_for
from surefoot.motions import quaternions as quat
from surefoot.skills import load
from surefoot.skills.schema import Skill

# clips that the library's SIMBICON imitations were made of
PAIRS = {
    "136_21": "human/captured-in-place", "Neutral_FW": "human/captured-forward", "136_25": "human/captured-backwards",
    "136_01": "human/captured-bent-trunk", "133_12": "human/captured-wide-stance", "14_14": "human/captured-high-knees",
}  # fmt: skip
BASE, SECONDS, SETTLED = "human/stylized-stand", 30.0, 5.0
_LAG = 2  # frames between the lags that are tried


class ClipError(NamedTuple):
    """How far a walk is from its clip, cycle by cycle at the best lag: joints [rad], the pelvis' way [m]; its speed."""

    joints: float
    way: float
    speed: float
    fallen: bool


def run(result: Result, setting: Setting) -> None:
    """Joints and ways of both, on the same body, against the retargeted clip itself. A fall of ours is a loss."""
    seconds, nearer = (12.0 if setting.quick else SECONDS), 0
    for stem, captured in setting.each(PAIRS.items()):
        clip, path = find_clip(setting, stem), clip_reference(setting, stem, True, BASE, STRAIGHT)
        if clip is None or path is None:
            result.add_missing(stem, "nearer")
            continue
        scene = Simulation(skill=BASE).scene
        cycle = reference_sources.best_cycle(scene.table, reference_sources.retarget_file(clip, scene.table))
        figure = setting.figure_path(result.experiment, f"{stem}.png")
        ours = _clip_error(skill_for(path, BASE), cycle, seconds, figure)
        theirs = _clip_error(load(captured), cycle, seconds, figure and figure.with_stem(f"{stem}-simbicon"))
        nearer += is_nearer(ours, theirs)
        far = float(np.linalg.norm(cycle.poses[-1, :2] - cycle.poses[0, :2]))
        joints = [f"{np.degrees(one.joints):.1f}{' (falls)' if one.fallen else ''}" for one in (ours, theirs)]
        both = "this controller, SIMBICON's imitation"
        result.add_note(f"{stem}: joints off their clip, {both}", ", ".join(joints), "°")
        spot = " (made to step on the spot)" if load(captured).model_dump().get("in_place") else ""
        result.add_note(f"{stem}: the pelvis off its way of {far:.2f} m after a cycle, {both}{spot}",
                        f"{ours.way:.2f}, {theirs.way:.2f}", "m")  # fmt: skip
        wanted = far * REFERENCE_RATE / len(cycle.stands)
        result.add_note(f"{stem}: speed of the clip, {both}",
                        f"{wanted:.2f}, {ours.speed:.2f}, {theirs.speed:.2f}", "m/s")  # fmt: skip
        result.runs.append({"clip": stem, "ours": ours._asdict(), "theirs": theirs._asdict()})
    result.add_row("clips whose joints this controller follows more nearly, without a fall", "all",
                   f"{nearer} of {len(PAIRS)}", "(most)", 2 * nearer > len(PAIRS))  # fmt: skip


def is_nearer(ours: ClipError, theirs: ClipError) -> bool:
    """Whether our walk does not fall and theirs falls or is farther from the clip."""
    return not ours.fallen and (theirs.fallen or ours.joints < theirs.joints)


def _clip_error(skill: Skill, cycle: Cycle, seconds: float, figure: Path | None) -> ClipError:
    """Run a walk and lay its cycles beside the clip's; the figure is its filmstrip."""
    sim = Simulation(skill=skill)
    motion = sim.run(seconds, fps=REFERENCE_RATE)
    figures.save_filmstrip(figure, motion)
    n, late = len(cycle.stands), motion.qpos[motion.time >= SETTLED]
    places = np.array([int(sim.model.joint(joint).qposadr[0]) for joint in sim.scene.table.gains])
    wanted, errors, ways = cycle.poses[:n, places], list[float](), list[float]()
    clip_way = _way(cycle.poses[0], cycle.poses[-1])
    for i in range(0, len(late) - n, n):
        stretch = late[i : i + n, places]
        errors.append(min(float(((stretch - np.roll(wanted, lag, axis=0)) ** 2).mean()) for lag in range(0, n, _LAG)))
        ways.append(float(np.linalg.norm(_way(late[i], late[i + n]) - clip_way)))
    if not errors:
        return ClipError(np.inf, np.inf, 0.0, True)
    speed = float(np.linalg.norm(np.diff(late[:, :2], axis=0), axis=1).sum() * REFERENCE_RATE / len(late))
    return ClipError(float(np.sqrt(np.mean(errors))), float(np.sqrt(np.mean(np.square(ways)))), speed, sim.fallen)


def _way(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """(2,) from one pose's pelvis to another's over the ground, ahead and to the left of the first [m]."""
    yaw = float(quat.yaw(first[None, 3:7])[0])
    x, y = last[:2] - first[:2]
    return np.array([x * np.cos(yaw) + y * np.sin(yaw), y * np.cos(yaw) - x * np.sin(yaw)])
