"""A motion: the frames of a character over time, simulated, captured or read from a file."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from surefoot.errors import OutputError, SurefootError
from surefoot.motions.npz import load_arrays

if TYPE_CHECKING:
    import mujoco

    from surefoot.characters.table import CharacterTable
    from surefoot.terrains.terrain import Terrain


class NamedSkill(Protocol):
    """What drawing and saving use of a skill."""

    name: str

    @property
    def full_name(self) -> str:
        """`character/name`."""


class SimulatedScene(Protocol):
    """The part of a simulated scene that drawing and saving a motion need."""

    model: mujoco.MjModel
    table: CharacterTable
    terrain: Terrain

    @property
    def skill(self) -> NamedSkill:
        """What it began with."""


def _same_fields(one: Any, other: Any, names: Iterable[str]) -> bool:
    """Whether the named fields of two objects are equal; arrays must agree in shape and in every number or NaN."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f") if isinstance(a, np.ndarray) else a == b for a, b in pairs
    )


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Names, parents (−1 for the root) and offsets from the parent's origin [m]."""

    names: tuple[str, ...]
    parents: np.ndarray  # (joints,)
    offsets: np.ndarray  # (joints, 3)

    def __eq__(self, other: object) -> bool:
        """Whether names, parents and offsets are the same."""
        return isinstance(other, Skeleton) and _same_fields(self, other, ("names", "parents", "offsets"))

    __hash__ = None  # type: ignore[assignment]  # arrays can change


def _empty() -> np.ndarray:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Motion:
    """Frames of a motion. The fields from `qpos` on are empty unless the motion was simulated.

    The forces and torques of a frame are those of the physics step that ended at it.
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
    scene: SimulatedScene | None = None  # where it was simulated, for drawing

    def __eq__(self, other: object) -> bool:
        """Whether both are the same motion, number by number; their scenes are not compared."""
        names = (own.name for own in fields(self) if own.name != "scene")
        return isinstance(other, Motion) and _same_fields(self, other, names)

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def __repr__(self) -> str:
        """Duration and numbers of frames and joints."""
        seconds = float(self.time[-1] - self.time[0]) if len(self.time) else 0.0
        return f"<Motion: {seconds:g} s, {len(self.time)} frames, {len(self.skeleton.names)} joints>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a strip of the motion, where it can be drawn."""
        from surefoot.motions.filmstrip import filmstrip  # here, since it draws motions

        words = html.escape(repr(self))
        try:
            strip = filmstrip(self)
        except SurefootError:
            return f"<pre>{words}</pre>"
        png = io.BytesIO()
        strip.save(png, "PNG")
        code = base64.b64encode(png.getvalue()).decode()
        return f'<img src="data:image/png;base64,{code}" alt="{words}" style="max-width:100%"><br>{words}'

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.time)

    @property
    def is_finite(self) -> bool:
        """Whether all positions and rotations are finite numbers."""
        return bool(np.isfinite(self.root_position).all() and np.isfinite(self.rotations).all())

    def select(self, frames: slice | np.ndarray) -> Motion:
        """The motion of some of the frames, at their own times.

        Args:
            frames: which ones, in order: a slice, their numbers, or (n,) whether to keep each.
        """
        tables: dict[str, Any] = {
            name: table[frames]
            for name, table in self.arrays().items()
            if not name.startswith("skeleton") and table.size
        }
        return replace(self, **tables)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, with the skeleton's: what a saved npz holds."""
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
        """Write the motion to a file. If writing fails, an older file of that name stays as it was.

        Args:
            path: its suffix is the format: .npz, .csv, .png (filmstrip), .gif, .mp4, .bvh, .glb, .usda or .html.
            fps: frames per second; by default those it was recorded with.
            root_motion: False removes travel and net turn, as on a treadmill.
            loop: write one whole cycle whose last frame is like its first one. The cycle is stretched by up to half
                a frame so that it ends on a frame.
            skinned: write a .glb as a rigged character, one skin over a skeleton. A .usda always is one.

        Raises:
            OutputError: the format is unknown, the motion does not suit it, or the file cannot be written.
        """
        from surefoot.motions import formats

        formats.save(self, path, fps=fps, root_motion=root_motion, loop=loop, skinned=skinned)


def load(path: str | Path) -> Motion:
    """Read a motion.

    Args:
        path: of an .npz that `Motion.save` wrote, or of a .bvh file in metres, Y up and +Z forward. `bvh.load` reads
            BVH files in other units and axes.

    Raises:
        OutputError: the file cannot be read as a motion.
    """
    path = Path(path)
    if path.suffix.lower() == ".bvh":
        from surefoot.motions import bvh

        return bvh.load(path)
    if path.suffix.lower() != ".npz":
        raise OutputError(f"cannot read {path} as a motion: unknown format {path.suffix!r}; valid: .npz, .bvh")
    arrays: dict[str, Any] = dict(load_arrays(path, "a motion"))
    missing = [name for name in (*_ALWAYS, *_OF_SKELETON) if name not in arrays]
    unknown = sorted(set(arrays) - {own.name for own in fields(Motion)} - set(_OF_SKELETON))
    if missing or unknown:
        wrong = f"it lacks {', '.join(missing)}" if missing else f"it holds {', '.join(unknown)[:100]}"
        raise OutputError(f"cannot read {path} as a motion: {wrong}; Motion.save writes what can be read")
    wrong = _what_is_wrong(arrays)
    if wrong:
        raise OutputError(f"cannot read {path} as a motion: {wrong}")
    names, parents, offsets = (arrays.pop(name) for name in _OF_SKELETON)
    return Motion(skeleton=Skeleton(tuple(str(name) for name in names), parents, offsets), **arrays)


_ALWAYS = ("time", "root_position", "rotations")  # what every saved motion holds
_OF_SKELETON = ("skeleton_names", "skeleton_parents", "skeleton_offsets")


def _what_is_wrong(arrays: dict[str, np.ndarray]) -> str:
    """Why the arrays of a file are no motion, or nothing: kinds of numbers, shapes, times, the skeleton's tree."""
    names, parents, offsets = (arrays[name] for name in _OF_SKELETON)
    if names.ndim != 1 or names.dtype.kind != "U":
        return "skeleton_names is not a list of names"
    for name, table in arrays.items():
        if name != "skeleton_names" and table.dtype.kind not in "fiub":
            return f"{name} does not hold numbers"
    count, joints = len(np.atleast_1d(arrays["time"])), len(names)
    shapes = {
        "time": (count,), "root_position": (count, 3), "rotations": (count, joints, 4), "skeleton_parents": (joints,),
        "skeleton_offsets": (joints, 3),
    }  # fmt: skip
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            return f"{name} has shape {arrays[name].shape}, not {shape}"
    for name, table in arrays.items():
        if name not in shapes and name != "skeleton_names" and table.size and len(np.atleast_1d(table)) != count:
            return f"{name} has {len(np.atleast_1d(table))} frames, not {count}"
    if not (np.isfinite(arrays["time"]).all() and (np.diff(arrays["time"]) >= 0.0).all()):
        return "its times do not increase"
    if not np.isfinite(offsets).all():
        return "the skeleton's offsets are not finite"
    if parents.dtype.kind not in "iu" or ((parents < -1) | (parents >= joints)).any():
        return "a joint of its skeleton has a parent that does not exist"
    return "" if _is_one_tree(parents) else "its skeleton is not one tree of joints"


def _is_one_tree(parents: np.ndarray) -> bool:
    """Whether exactly one joint has no parent, and all others hang from it."""
    above = parents.astype(int)
    if (above < 0).sum() != 1:
        return False
    for _ in range(len(above)):  # every step brings each joint nearer to the root, unless it is on a circle
        above = np.where(above < 0, -1, parents[above])
        if (above < 0).all():
            return True
    return len(above) == 1
