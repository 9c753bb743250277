"""Signals of a gait: joint positions, angles in the sagittal plane, and loads over time.

Signals come from a simulated motion, from the rows of a population while it runs, or from a captured clip.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot import characters
from surefoot.characters.table import CharacterTable
from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.lab.gait_clips import clip_signals
from surefoot.lab.gait_markers import (
    GRAVITY,
    GaitSignals,
    Markers,
    along_heading,
    assemble_signals,
    facing_of,
    frames_within,
    loads_and_stances,
)
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import ArmJoints, SkeletonError, find_body_parts
from surefoot.motions.forward_kinematics import sole_points, world_poses
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.signals import frame_time

LONGEST_FRAME = 0.0175  # [s] 60 frames a second, rounded


def signals_of(motion: Motion, start: float | None = None, end: float | None = None) -> GaitSignals:
    """Signals of a simulated or captured motion.

    Of a simulated motion all frames count. Of a clip those of the longest stretch of even strides forward count,
    straight on if there is one.

    Args:
        motion: 60 frames a second or more, z up.
        start: frames count from here on [s].
        end: and up to here [s].

    Raises:
        SurefootError: fewer than three frames, too few a second, a body without two legs, or a clip without a stride.
    """
    if len(motion) < 3 or motion.time[-1] <= motion.time[0]:
        raise SurefootError("a gait is measured over at least three frames")
    if frame_time(motion.time) > LONGEST_FRAME:
        raise SurefootError("a gait is measured at 60 frames a second or more; record the motion with a higher fps")
    scene = motion.scene
    if scene is None:
        return clip_signals(motion, start, end)
    motion = motion.select(frames_within(motion.time, start, end))
    places, turns = world_poses(motion)
    dofs = [int(scene.model.joint(name).dofadr[0]) for name in scene.table.gains]
    return _simulated_signals(
        motion.time, places, turns, motion.skeleton, scene.table, motion.com, motion.contact_force, motion.slip,
        motion.torque, motion.qvel[:, dofs], float(scene.model.body_mass.sum()),
    )  # fmt: skip


def check_body(table: CharacterTable) -> None:
    """Refuse a body whose gait cannot be compared with people's.

    Raises:
        SurefootError: it is planar, or has not one knee in each leg; the message says which bodies would do.
    """
    if not table.is_biped:
        valid = ", ".join(name for name in characters.names() if characters.load(name).is_biped)
        raise SurefootError(
            f"{table.name} does not walk as people do: the card is of bodies in space with one knee in each leg, "
            f"as {valid}"
        )


def record_signals(
    population: Population, seconds: float, fps: float = 250.0, tell: Callable[[float], None] = lambda time: None
) -> list[GaitSignals | None]:
    """Run a population and return the signals of every row, None for rows that fell.

    Args:
        population: of one body; rows that fall stop.
        seconds: how long [s].
        fps: frames per second.
        tell: called with the time since the beginning [s] before every frame.
    """
    scene = population.scene
    bodies = slice(1, 1 + len(scene.table.segments))
    dofs = [int(scene.model.joint(name).dofadr[0]) for name in scene.table.gains]
    frames: list[tuple[np.ndarray, ...]] = []
    for frame in range(round(seconds * fps)):
        tell(frame / fps)
        population.run(1.0 / fps, stop_fallen=True)
        frames.append((
            population.physics("xpos")[:, bodies].copy(), population.physics("xquat")[:, bodies].copy(),
            *(population.outputs(name) for name in ("com", "contact_force", "slip", "torque")),
            population.qvel[:, dofs].copy(),
        ))  # fmt: skip
    columns = [np.array(column) for column in zip(*frames, strict=True)]
    time, mass = np.arange(1, len(frames) + 1) / fps, float(scene.model.body_mass.sum())
    skeleton = _skeleton(population)
    found: list[GaitSignals | None] = []
    for i, fallen in enumerate(np.isfinite(population.fallen_at)):
        own = [column[:, i] for column in columns]
        xpos, xquat, com, force, slip, torque, rates = own
        found.append(
            None
            if fallen
            else _simulated_signals(time, xpos, xquat, skeleton, scene.table, com, force, slip, torque, rates, mass)
        )
    return found


def _skeleton(population: Population) -> Skeleton:
    model, bodies = population.scene.model, range(1, 1 + len(population.scene.table.segments))
    return Skeleton(
        names=tuple(model.body(b).name for b in bodies),
        parents=np.array([model.body_parentid[b] - 1 for b in bodies]),
        offsets=np.array([model.body_pos[b] for b in bodies]),
    )


def _simulated_signals(
    time: np.ndarray, places: np.ndarray, turns: np.ndarray, skeleton: Skeleton, table: CharacterTable,
    com: np.ndarray, force: np.ndarray, slip: np.ndarray, torque: np.ndarray, rates: np.ndarray, mass: float,
) -> GaitSignals:  # fmt: skip
    anatomy, names = table.anatomy, skeleton.names
    check_body(table)
    upright = {
        part: np.asarray(table.imported.limbs.rest.get(part, (1.0, 0.0, 0.0, 0.0))) if table.imported else None
        for part in names
    }

    def turn(part: str) -> np.ndarray:
        """(n, 4) rotation of a part from where it is while the body stands upright and faces x."""
        own, rest = turns[:, names.index(part)], upright[part]
        return own if rest is None else quat.multiply(own, quat.inverse(rest))

    sides = (anatomy.left, anatomy.right)
    hip, knee, ankle = (
        np.stack([places[:, names.index(getattr(s, part))] for s in sides], axis=1)
        for part in ("thigh", "shin", "foot")
    )
    toe = ankle
    if not table.imported:
        tips = [max(sole_points(table, side)[0].tolist()) for side in (0, 1)]
        toe = np.stack([ankle[:, s] + quat.rotate(turn(sides[s].foot), np.array(tips[s])) for s in (0, 1)], axis=1)
    arms, head = _upper_body(skeleton, places, turns, time)
    trunk = turn(anatomy.torso)
    markers = Markers(
        hip, knee, ankle, toe, np.zeros(0), np.zeros(0),
        None if arms is None else places[:, [a.shoulder for a in arms]],
        None if arms is None else places[:, [a.elbow for a in arms]],
        None if head is None else places[:, head],
    )  # fmt: skip
    heading = facing_of(hip, time)
    up = quat.rotate(trunk, np.array([0.0, 0.0, 1.0]))
    left = quat.rotate(trunk, np.array([0.0, 1.0, 0.0]))
    feet = np.stack([quat.rotate(turn(s.foot), np.array([1.0, 0.0, 0.0])) for s in sides], axis=1)
    load, stands = loads_and_stances(force[:, :2, 2], mass * GRAVITY, time)
    return assemble_signals(
        time, heading, markers, np.arctan2(along_heading(up, heading), up[:, 2]),
        np.arcsin(np.clip(left[:, 2], -1.0, 1.0)),
        np.arctan2(feet[:, :, 2], np.hypot(feet[:, :, 0], feet[:, :, 1])), com, stands, rates,
        load=load, slip=slip[:, :2], torque=torque, joints=tuple(table.gains), mass=mass,
    )  # fmt: skip


def _upper_body(
    skeleton: Skeleton, places: np.ndarray, turns: np.ndarray, time: np.ndarray
) -> tuple[tuple[ArmJoints, ArmJoints] | None, int | None]:
    """Arms and head of a simulated body, where it has them."""
    few = slice(None, None, max(len(time) // 20, 1))
    local = turns[few].copy()
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            local[:, joint] = quat.multiply(quat.inverse(turns[few, parent]), turns[few, joint])
    try:
        parts, _ = find_body_parts(Motion(time[few], skeleton, places[few, 0], local))
    except SkeletonError:
        return None, None
    arms = None if parts.left_arm is None or parts.right_arm is None else (parts.left_arm, parts.right_arm)
    return arms, parts.head
