"""The files a motion can be written to, each by its suffix, each whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from surefoot import plugins
from surefoot.atomic_file import replace_file
from surefoot.errors import OutputError
from surefoot.motions import motion_editing
from surefoot.motions.motion import Motion

SKINNED = (".glb", ".usda")  # suffixes of formats that can hold a skin


def save(
    motion: Motion,
    path: str | Path,
    *,
    fps: float | None = None,
    root_motion: bool = True,
    loop: bool = False,
    skinned: bool = False,
) -> None:
    """Write a motion in the format of the path's suffix.

    Args:
        motion: what to write.
        path: its suffix is the format.
        fps: frames per second; by default those it was recorded with.
        root_motion: keep its travel and turn; without, it goes on in place.
        loop: one whole cycle only, closed, and stretched by up to half a frame to end on a frame.
        skinned: a .glb as a rigged character: one skin over a skeleton. A .usda is always one.
    """
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise OutputError(f"cannot write {path}: unknown format {path.suffix!r}; valid: {', '.join(_FORMATS)}")
    if skinned and path.suffix.lower() not in SKINNED:
        raise OutputError(f"cannot write {path} with a skin; formats that have one: {', '.join(SKINNED)}")
    if not path.parent.is_dir():  # before the work, not after
        raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
    if loop:
        fps = motion_editing.frame_rate(motion) if fps is None else fps
        motion = motion_editing.cut_loop(motion)
    if not root_motion:
        motion = motion_editing.in_place(motion)
    if fps is not None:
        motion = motion_editing.resample(motion, fps, whole=loop)
    write = _rigged_glb if skinned and path.suffix.lower() == ".glb" else _FORMATS[path.suffix.lower()]
    replace_file(path, write(motion))


def suffixes() -> tuple[str, ...]:
    """All suffixes that can be written."""
    return tuple(_FORMATS)


def columns(motion: Motion) -> dict[str, np.ndarray]:
    """The numbers of a motion by column of its CSV, each (n,): metres, radians, seconds, newtons, newton metres.

    Joints, actuators and feet go by name where the scene is known and by number where it is not. A motion that
    was not simulated has the joints' rotations (w, x, y, z in the parent's frame) in place of `qpos`.
    """
    found = {"time": motion.time, **_spread("root", motion.root_position, list("xyz"))}
    coordinates, freedoms, actuators, feet = _names(motion)
    if motion.qpos.size:
        found |= _spread("qpos", motion.qpos, coordinates) | _spread("qvel", motion.qvel, freedoms)
    else:
        labels = [f"{joint}_{part}" for joint in motion.skeleton.names for part in "wxyz"]
        found |= _spread("rotation", motion.rotations.reshape(len(motion), -1), labels)
    found |= _spread("torque", motion.torque, actuators)
    forces = motion.contact_force.reshape(len(motion), -1) if motion.contact_force.size else motion.contact_force
    found |= _spread("force", forces, [f"{foot}_{axis}" for foot in feet for axis in "xyz"])
    found |= _spread("cop", motion.center_of_pressure, list("xyz")) | _spread("com", motion.com, list("xyz"))
    found |= {name: getattr(motion, name) for name in ("state", "phase") if getattr(motion, name).size}
    found |= _spread("slip", motion.slip, feet)
    return found | _spread("torso", motion.feedback, ["feedback", "feedforward"])


def _spread(prefix: str, table: np.ndarray, labels: list[str]) -> dict[str, np.ndarray]:
    """The columns of a table (n, labels) by name; none if it is empty."""
    if not table.size:
        return {}
    return {f"{prefix}_{label}": table[:, i] for i, label in enumerate(labels)}


def _names(motion: Motion) -> tuple[list[str], list[str], list[str], list[str]]:
    """Names of the coordinates, degrees of freedom, actuators and feet."""
    if motion.scene is None:
        tables = (motion.qpos, motion.qvel, motion.torque, motion.contact_force)
        q, v, u, f = ([str(i) for i in range(table.shape[1])] if table.size else [] for table in tables)
        return q, v, u, f
    model, q, v = motion.scene.model, [], []
    for i in range(model.njnt):
        joint = model.joint(i)
        places, rates = _JOINT_PARTS.get(int(joint.type[0]), ((), ()))
        q += [f"{joint.name}_{part}" for part in places] or [joint.name]
        v += [f"{joint.name}_{part}" for part in rates] or [joint.name]
    return q, v, [model.actuator(i).name for i in range(model.nu)], ["left", "right"]


def _npz(motion: Motion) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **motion.arrays())
    return file.getvalue()


def _csv(motion: Motion) -> bytes:
    table = columns(motion)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return file.getvalue().encode()


def _png(motion: Motion) -> bytes:
    from surefoot.motions.filmstrip import filmstrip

    file = io.BytesIO()
    filmstrip(motion).save(file, "PNG", optimize=True)
    return file.getvalue()


def _gif(motion: Motion) -> bytes:
    from surefoot.motions import video

    return video.gif(motion)


def _mp4(motion: Motion) -> bytes:
    from surefoot.motions import video

    return video.mp4(motion)


def _bvh(motion: Motion) -> bytes:
    from surefoot.motions import bvh

    return bvh.text(motion).encode()


def _glb(motion: Motion) -> bytes:
    from surefoot.motions import gltf

    return gltf.encode(motion)


def _rigged_glb(motion: Motion) -> bytes:
    from surefoot.motions import gltf

    return gltf.encode(motion, skinned=True)


def _usda(motion: Motion) -> bytes:
    from surefoot.motions import usd

    return usd.encode(motion)


def _html(motion: Motion) -> bytes:
    page: bytes = plugins.load(plugins.FORMATS, "html")(motion)
    return page


_TURNS, _SPINS = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")
_JOINT_PARTS = {  # of joints with more than one coordinate, in qpos and in qvel
    int(mujoco.mjtJoint.mjJNT_FREE): (("x", "y", "z", *_TURNS), ("vx", "vy", "vz", *_SPINS)),
    int(mujoco.mjtJoint.mjJNT_BALL): (_TURNS, _SPINS),
}
_FORMATS: dict[str, Callable[[Motion], bytes]] = {
    ".npz": _npz, ".csv": _csv, ".png": _png, ".gif": _gif, ".mp4": _mp4, ".bvh": _bvh, ".glb": _glb,
    ".html": _html, ".usda": _usda,
}  # fmt: skip
