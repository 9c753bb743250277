"""Gathers frames from a simulation or a population's row and turns them into a `Motion`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions.motion import Motion, Skeleton
from surefoot.native import userdata as memory

if TYPE_CHECKING:
    from surefoot.engine.scene import Scene

MAX_FPS = 100_000.0
MAX_SECONDS = 100_000.0


def check_seconds(seconds: float) -> None:
    """Refuse a run that is negative, endless or not a number."""
    if not 0.0 <= seconds <= MAX_SECONDS:
        raise SurefootError(f"a run takes 0 … {MAX_SECONDS:g} s, got {seconds}")


def frame_steps(seconds: float, fps: float, dt: float) -> Iterator[int]:
    """Physics steps between consecutive frames, each frame at the step nearest to its time."""
    if not 0.0 < fps <= MAX_FPS:
        raise SurefootError(f"frames per second must be within 0 … {MAX_FPS:g}, got {fps}")
    total, done, frame = round(seconds / dt), 0, 0
    while done < total:
        frame += 1
        until = min(round(frame / fps / dt), total)
        if until > done:
            yield until - done
            done = until


class Recorder:
    """Copies of a row at chosen times."""

    def __init__(self, scene: Scene) -> None:
        """Record rows of this scene."""
        self.scene = scene
        self._frames: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
        self._kept = _outputs_end(scene)

    def add(self, time: float, qpos: np.ndarray, qvel: np.ndarray, userdata: np.ndarray) -> None:
        """Keep one frame."""
        self._frames.append((float(time), qpos.copy(), qvel.copy(), userdata[: self._kept].copy()))

    def motion(self) -> Motion:
        """All frames as a motion."""
        model, data = self.scene.model, mujoco.MjData(self.scene.model)
        padded = np.zeros(model.nuserdata)
        skeleton = skeleton_of(self.scene)
        root, rotations, rows = [], [], []
        for _, qpos, _, kept in self._frames:
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            root.append(data.xpos[1].copy())
            rotations.append(_local_rotations(data.xquat, model.body_parentid)[: len(skeleton.names)])
            padded[: self._kept] = kept
            row = memory.view(padded.copy())
            rows.append(row)
        return Motion(
            time=np.array([f[0] for f in self._frames]),
            skeleton=skeleton,
            root_position=np.array(root),
            rotations=np.array(rotations),
            qpos=np.array([f[1] for f in self._frames]),
            qvel=np.array([f[2] for f in self._frames]),
            torque=np.array([r.torque.copy() for r in rows]),
            contact_force=np.array([r.contact_force.copy() for r in rows]),
            center_of_pressure=np.array([r.center_of_pressure.copy() for r in rows]),
            com=np.array([r.com.copy() for r in rows]),
            state=np.array([int(r.report[0].state) for r in rows]),
            phase=np.array([r.report[0].phase for r in rows]),
            slip=np.array([r.slip.copy() for r in rows]),
            feedback=np.array([[r.report[0].feedback, r.report[0].feedforward] for r in rows]),
            scene=self.scene,
        )


def _outputs_end(scene: Scene) -> int:
    """Length of the part of a row a motion is made of: everything before the parameters."""
    sizes = scene.build.sizes
    return sizes.total - 2 * sizes.slot_size - sizes.memory_size - sizes.table_size


def skeleton_of(scene: Scene) -> Skeleton:
    """The character's bodies as a skeleton."""
    model = scene.model
    bodies = range(1, 1 + len(scene.table.segments))
    return Skeleton(
        names=tuple(model.body(b).name for b in bodies),
        parents=np.array([model.body_parentid[b] - 1 for b in bodies]),
        offsets=np.array([model.body_pos[b] for b in bodies]),
    )


def _local_rotations(xquat: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """(joints, 4) rotation of every body in its parent's frame, w first."""
    local = np.empty((len(xquat) - 1, 4))
    inverse = np.empty(4)
    for body in range(1, len(xquat)):
        mujoco.mju_negQuat(inverse, xquat[parents[body]])
        mujoco.mju_mulQuat(local[body - 1], inverse, xquat[body])
    return local
