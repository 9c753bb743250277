"""The file formats of motions, chosen by suffix. A file is written whole or not at all."""

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
from surefoot.motions import bvh, gltf, motion_editing, usd
from surefoot.motions.motion import Motion
from surefoot.motions.npz import npz_bytes

SKINNED = (".glb", ".usda")  # formats that can hold a skin


def save(
    motion: Motion,
    path: str | Path,
    *,
    fps: float | None = None,
    root_motion: bool = True,
    loop: bool = False,
    skinned: bool = False,
) -> None:
    """Write a motion; `Motion.save` describes the arguments and the errors."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise OutputError(f"cannot write {path}: unknown format {path.suffix!r}; valid: {', '.join(_FORMATS)}")
    if skinned and suffix not in SKINNED:
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
    rigged = skinned and suffix == ".glb"
    replace_file(path, gltf.encode(motion, skinned=True) if rigged else _FORMATS[suffix](motion))


def suffixes() -> tuple[str, ...]:
    """The suffixes of all formats."""
    return tuple(_FORMATS)


def columns(motion: Motion) -> dict[str, np.ndarray]:
    """The columns (n,) of a motion's CSV by name, in metres, radians, seconds, newtons and newton metres.

    Joints, actuators and feet have names if the scene is known, else numbers. A motion that was not simulated has its
    joints' rotations (w, x, y, z in the parent's frame) in place of `qpos`.

    Args:
        motion: any.
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
    """The columns of a table (n, labels) by name; none if the table is empty."""
    if not table.size:
        return {}
    return {f"{prefix}_{label}": table[:, i] for i, label in enumerate(labels)}


def _names(motion: Motion) -> tuple[list[str], list[str], list[str], list[str]]:
    """Names of coordinates, degrees of freedom, actuators and feet."""
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
    return npz_bytes(motion.arrays(), compressed=True)


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


def _html(motion: Motion) -> bytes:
    page: bytes = plugins.load(plugins.FORMATS, "html")(motion)  # written by the studio, which lies above this package
    return page


_TURNS, _SPINS = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")
_JOINT_PARTS = {  # suffixes of joints with several coordinates, in qpos and in qvel
    int(mujoco.mjtJoint.mjJNT_FREE): (("x", "y", "z", *_TURNS), ("vx", "vy", "vz", *_SPINS)),
    int(mujoco.mjtJoint.mjJNT_BALL): (_TURNS, _SPINS),
}
_FORMATS: dict[str, Callable[[Motion], bytes]] = {
    ".npz": _npz, ".csv": _csv, ".png": _png, ".gif": _gif, ".mp4": _mp4,
    ".bvh": lambda motion: bvh.text(motion).encode(), ".glb": gltf.encode, ".html": _html, ".usda": usd.encode,
}  # fmt: skip
