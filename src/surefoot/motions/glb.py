"""A motion as binary glTF 2.0: a node for every body with its shapes as meshes, Y up, +Z forward, metres."""

from __future__ import annotations

import json
import struct
from typing import Any

import mujoco
import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions import solids
from surefoot.motions.ends import leaf_ends, rest_places
from surefoot.motions.motion import Motion
from surefoot.motions.resample import rate
from surefoot.motions.solids import Solid

_MAGIC, _VERSION, _JSON, _BIN = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
_FLOAT, _INDEX, _VERTICES, _TRIANGLES = 5126, 5125, 34962, 34963
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
_STICK, _SPINE = 0.03, 0.55  # radius of a stick figure's bones [sizes], length of its spine [leg lengths]
_STICK_COLOR = (0.30, 0.42, 0.58, 1.0)
Color = tuple[float, float, float, float]


def encode(motion: Motion) -> bytes:
    """The file's bytes. Rotations of all nodes and the root's translation share one time line, which begins at 0."""
    rate(motion)
    lengths = np.linalg.norm(motion.rotations, axis=-1, keepdims=True)
    if not (np.isfinite(motion.root_position).all() and np.isfinite(lengths).all() and lengths.all()):
        raise OutputError("cannot write a GLB of numbers that are not finite, or of rotations of length zero")
    skeleton, file = motion.skeleton, _File()
    turns = quat.continuous(motion.rotations / lengths)
    turns = np.concatenate([_turned(turns[..., 1:]), turns[..., :1]], axis=-1)  # glTF has w last
    places, offsets = _turned(motion.root_position), _turned(skeleton.offsets)
    shapes = _sticks(motion) if motion.scene is None else _shapes(motion, motion.scene.model)
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    clock = file.accessor(motion.time - motion.time[0], bounds=True)
    for joint, name in enumerate(skeleton.names):
        root = skeleton.parents[joint] < 0
        node: dict[str, Any] = {"name": name, "rotation": turns[0, joint].tolist()}
        node["translation"] = (places[0] if root else offsets[joint]).tolist()
        children = np.flatnonzero(skeleton.parents == joint).tolist()
        node |= {"children": children} if children else {}
        node |= {"mesh": file.mesh(name, shapes[joint])} if shapes[joint] else {}
        file.add("nodes", node)
        for path, table in (("translation", places), ("rotation", turns[:, joint])):
            if root or path == "rotation":
                channels.append({"sampler": len(samplers), "target": {"node": joint, "path": path}})
                samplers.append({"input": clock, "output": file.accessor(table), "interpolation": "LINEAR"})
    title = "motion" if motion.scene is None else motion.scene.skill.name
    file.add("animations", {"name": title, "channels": channels, "samplers": samplers})
    file.add("scenes", {"nodes": np.flatnonzero(skeleton.parents < 0).tolist()})
    return file.encode()


def _turned(vectors: np.ndarray) -> np.ndarray:
    """Our x forward, y left, z up as glTF's Z, X, Y."""
    return vectors[..., [1, 2, 0]]


def _shapes(motion: Motion, model: mujoco.MjModel) -> list[dict[Color, Solid]]:
    """For every joint the shapes of its body, those of one colour as one."""
    found = []
    for name in motion.skeleton.names:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        by_color: dict[Color, list[Solid]] = {}
        for geom in np.flatnonzero(model.geom_bodyid == body) if body > 0 else ():
            solid, (r, g, b, a) = solids.of_geom(model, int(geom)), model.geom_rgba[geom].tolist()
            if solid is not None and a > 0.0:
                by_color.setdefault((r, g, b, a), []).append(solid)
        found.append({color: solids.joined(parts) for color, parts in by_color.items()})
    return found


def _sticks(motion: Motion) -> list[dict[Color, Solid]]:
    """For every joint a stick to each of its children, or to its bone's end; a body without a spine gets one."""
    skeleton, ends, rest = motion.skeleton, leaf_ends(motion), rest_places(motion.skeleton)
    radius = _STICK * max(float(np.ptp(rest, axis=0).max()), 0.2)
    found = []
    for joint, parent in enumerate(skeleton.parents):
        tips = list(skeleton.offsets[skeleton.parents == joint]) or [ends[joint]]
        if parent < 0 and rest[:, 2].max() < -_SPINE * rest[:, 2].min():
            tips.append(np.array([0.0, 0.0, -_SPINE * rest[:, 2].min()]))
        found.append({_STICK_COLOR: solids.joined([solids.stick(tip, radius) for tip in tips])})
    return found


class _File:
    """The JSON part and the binary part, as they grow."""

    def __init__(self) -> None:
        self._json: dict[str, Any] = {"asset": {"version": "2.0", "generator": "surefoot"}, "scene": 0}
        self._binary, self._materials = bytearray(), dict[Color, int]()

    def add(self, kind: str, item: dict[str, Any]) -> int:
        """Append to one of the JSON part's lists; its place there."""
        items = self._json.setdefault(kind, [])
        items.append(item)
        return len(items) - 1

    def accessor(self, table: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Append numbers (n,) or (n, 3 or 4), whole ones as indices."""
        whole = np.issubdtype(table.dtype, np.integer)
        table = np.ascontiguousarray(table, "<u4" if whole else "<f4")
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": table.nbytes}
        self._binary += table.tobytes()  # all numbers have 4 bytes, so everything is aligned
        item = {
            "bufferView": self.add("bufferViews", view | ({"target": target} if target else {})),
            "componentType": _INDEX if whole else _FLOAT,
            "count": len(table),
            "type": _TYPES[table.shape[1] if table.ndim > 1 else 1],
        }
        if bounds:
            rows = table.reshape(len(table), -1)
            item |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.add("accessors", item)

    def mesh(self, name: str, shapes: dict[Color, Solid]) -> int:
        """Append a mesh with a primitive for every colour."""
        primitives = [
            {
                "attributes": {
                    "POSITION": self.accessor(_turned(solid.vertices), _VERTICES, bounds=True),
                    "NORMAL": self.accessor(_turned(solid.normals), _VERTICES),
                },
                "indices": self.accessor(solid.triangles.ravel(), _TRIANGLES),
                "material": self._material(color),
            }
            for color, solid in shapes.items()
        ]
        return self.add("meshes", {"name": name, "primitives": primitives})

    def _material(self, color: Color) -> int:
        if color not in self._materials:
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]  # from sRGB
            surface = {"baseColorFactor": [*linear, color[3]], "metallicFactor": 0.0, "roughnessFactor": 0.7}
            see_through = {"alphaMode": "BLEND"} if color[3] < 1.0 else {}
            self._materials[color] = self.add("materials", {"pbrMetallicRoughness": surface} | see_through)
        return self._materials[color]

    def encode(self) -> bytes:
        """Header, JSON chunk padded with blanks, binary chunk."""
        self._json["buffers"] = [{"byteLength": len(self._binary)}]
        text = json.dumps(self._json, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self._binary)
        return b"".join(
            [
                struct.pack("<III", _MAGIC, _VERSION, size),
                struct.pack("<II", len(text), _JSON), text,
                struct.pack("<II", len(self._binary), _BIN), bytes(self._binary),
            ]
        )  # fmt: skip
