"""What happened: a character's motion over time, of whatever origin."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import OutputError

if TYPE_CHECKING:
    from surefoot.scene import Scene


@dataclass(frozen=True)
class Skeleton:
    """Names, parents (−1 for the root) and offsets from the parent's origin [m]."""

    names: tuple[str, ...]
    parents: np.ndarray  # (joints,)
    offsets: np.ndarray  # (joints, 3)


def _empty() -> np.ndarray:
    return np.zeros(0)


@dataclass(frozen=True)
class Motion:
    """Frames of a motion. The fields from `qpos` on are empty unless it was simulated.

    Forces and torques of a frame are those of the physics step that ended at it.
    """

    time: np.ndarray  # (n,) [s]
    skeleton: Skeleton
    root_position: np.ndarray  # (n, 3) [m]
    rotations: np.ndarray  # (n, joints, 4) in the parent's frame, w first
    qpos: np.ndarray = field(default_factory=_empty)  # (n, nq)
    qvel: np.ndarray = field(default_factory=_empty)  # (n, nv)
    torque: np.ndarray = field(default_factory=_empty)  # (n, actuators) [N·m]
    contact_force: np.ndarray = field(default_factory=_empty)  # (n, feet, 3) [N]
    center_of_pressure: np.ndarray = field(default_factory=_empty)  # (n, 3) [m]
    com: np.ndarray = field(default_factory=_empty)  # (n, 3) [m]
    state: np.ndarray = field(default_factory=_empty)  # (n,) of the pose graph
    phase: np.ndarray = field(default_factory=_empty)  # (n,) of the cycle, 0 … 1
    slip: np.ndarray = field(default_factory=_empty)  # (n, feet) [m] slid under load so far
    feedback: np.ndarray = field(default_factory=_empty)  # (n, 2) torso feedback and feed-forward [N·m]
    scene: Scene | None = None  # where it was simulated, for drawing

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.time)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name: the keys of a saved npz."""
        own: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        own.pop("scene")
        skeleton = own.pop("skeleton")
        own["skeleton_names"] = np.array(skeleton.names)
        own["skeleton_parents"], own["skeleton_offsets"] = skeleton.parents, skeleton.offsets
        return own

    def save(
        self,
        path: str | Path,
        *,
        fps: float | None = None,
        root_motion: bool = True,
        loop: bool = False,
        skinned: bool = False,
    ) -> None:
        """Write it as .npz, .csv, .png (filmstrip), .gif, .mp4, .bvh, .glb, .usda or .html, whole or not at all.

        Args:
            path: its suffix is the format.
            fps: frames per second; by default those it was recorded with.
            root_motion: keep its travel and turn; without, it goes on in place.
            loop: one whole cycle only, closed, and stretched by up to half a frame to end on a frame.
            skinned: a .glb as a rigged character: one skin over a skeleton. A .usda is always one.
        """
        from surefoot.motions import formats

        formats.save(self, path, fps=fps, root_motion=root_motion, loop=loop, skinned=skinned)


def load(path: str | Path) -> Motion:
    """Read a motion saved as npz, or a BVH file in metres, Y up and +Z forward (`bvh.load` reads others)."""
    path = Path(path)
    if path.suffix.lower() == ".bvh":
        from surefoot.motions import bvh

        return bvh.load(path)
    if path.suffix.lower() != ".npz":
        raise OutputError(f"cannot read {path} as a motion: unknown format {path.suffix!r}; valid: .npz, .bvh")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        skeleton = Skeleton(
            tuple(str(n) for n in arrays.pop("skeleton_names")),
            arrays.pop("skeleton_parents"),
            arrays.pop("skeleton_offsets"),
        )
        return Motion(skeleton=skeleton, **arrays)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"cannot read {path} as a motion: {error}") from None
