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
        padded, skeleton = np.zeros(model.nuserdata), skeleton_of(self.scene)
        padded[: self._kept] = self._frames[0][3]
        row, poses, outputs = memory.view(padded), [], []  # one view: every frame is written into it in turn
        for _, qpos, _, kept in self._frames:
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            rotations = _local_rotations(data.xquat, model.body_parentid)[: len(skeleton.names)]
            poses.append((data.xpos[1].copy(), rotations))
            padded[: self._kept] = kept
            report = row.report[0]
            outputs.append((
                row.torque.copy(), row.contact_force.copy(), row.center_of_pressure.copy(), row.com.copy(),
                int(report.state), float(report.phase), row.slip.copy(), (report.feedback, report.feedforward),
            ))  # fmt: skip
        names = ("torque", "contact_force", "center_of_pressure", "com", "state", "phase", "slip", "feedback")
        return Motion(
            time=np.array([f[0] for f in self._frames]),
            skeleton=skeleton,
            root_position=np.array([p[0] for p in poses]),
            rotations=np.array([p[1] for p in poses]),
            qpos=np.array([f[1] for f in self._frames]),
            qvel=np.array([f[2] for f in self._frames]),
            scene=self.scene,
            **{name: np.array(values) for name, values in zip(names, zip(*outputs, strict=True), strict=True)},
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
