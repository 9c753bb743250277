"""Motions as binary glTF 2.0 files (.glb): Y up, +Z forward, metres, a node for every joint.

Either each node has the shapes of its body as a mesh, or all nodes are the bones of one skin.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.motions import meshes
from surefoot.motions.fallback_mesh import FALLBACK_COLOR, bones_by_joint, rest_size
from surefoot.motions.meshes import Color, TriangleMesh, meshes_of_body
from surefoot.motions.motion import Motion
from surefoot.motions.motion_editing import unit_rotations
from surefoot.motions.skinned_mesh import Skin, SkinWeights, skin_of

_MAGIC, _VERSION, _JSON, _BIN = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
_COMPONENTS = {"f4": 5126, "u4": 5125, "u2": 5123}
_VERTICES, _TRIANGLES = 34962, 34963
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_STICK = 0.03  # radius of a stick figure's bones [sizes]


def to_gltf_axes(vectors: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) with our x forward, y left, z up as glTF's Z, X, Y."""
    return vectors[..., [1, 2, 0]]


def to_gltf_quaternions(turns: np.ndarray) -> np.ndarray:
    """Rotations (…, 4) in glTF's axes, w last."""
    return np.concatenate([to_gltf_axes(turns[..., 1:]), turns[..., :1]], axis=-1)


class GltfFile:
    """A file under construction: its JSON part and its binary part."""

    def __init__(self) -> None:
        self._json: dict[str, Any] = {"asset": {"version": "2.0", "generator": "surefoot"}, "scene": 0}
        self._binary, self._materials = bytearray(), dict[Color, int]()

    def add(self, kind: str, item: dict[str, Any]) -> int:
        """Append to one of the JSON part's lists; returns the index."""
        items = self._json.setdefault(kind, [])
        items.append(item)
        return len(items) - 1

    def accessor(self, table: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Append numbers (n,), (n, 3 or 4) or (n, 16); integers are indices of vertices (n,) or of joints (n, 4)."""
        kind = "f4" if not np.issubdtype(table.dtype, np.integer) else "u4" if table.ndim == 1 else "u2"
        table = np.ascontiguousarray(table, f"<{kind}")
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": table.nbytes}
        self._binary += table.tobytes()  # rows are multiples of 4 bytes, so everything is aligned
        item = {
            "bufferView": self.add("bufferViews", view | ({"target": target} if target else {})),
            "componentType": _COMPONENTS[kind],
            "count": len(table),
            "type": _TYPES[table.shape[1] if table.ndim > 1 else 1],
        }
        if bounds:
            rows = table.reshape(len(table), -1)
            item |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.add("accessors", item)

    def mesh(
        self, name: str, shapes: Mapping[Color, TriangleMesh], weights: Mapping[Color, SkinWeights] | None = None
    ) -> int:
        """Append a mesh with a primitive for every colour; a skin has the weights of its vertices."""
        primitives = []
        for color, solid in shapes.items():
            attributes = {
                "POSITION": self.accessor(to_gltf_axes(solid.vertices), _VERTICES, bounds=True),
                "NORMAL": self.accessor(to_gltf_axes(solid.normals), _VERTICES),
            }
            if weights is not None:
                own = weights[color]
                joints, shares = (np.pad(table, ((0, 0), (0, 2))) for table in (own.joints, own.weights))
                attributes["JOINTS_0"] = self.accessor(np.where(shares > 0.0, joints, 0), _VERTICES)
                attributes["WEIGHTS_0"] = self.accessor(shares, _VERTICES)
            indices = self.accessor(solid.triangles.ravel(), _TRIANGLES)
            primitives.append({"attributes": attributes, "indices": indices, "material": self._material(color)})
        return self.add("meshes", {"name": name, "primitives": primitives})

    def _material(self, color: Color) -> int:
        if color not in self._materials:
            base = [*meshes.linear_rgb(color), color[3]]
            surface = {"baseColorFactor": base, "metallicFactor": 0.0, "roughnessFactor": 0.7}
            see_through = {"alphaMode": "BLEND"} if color[3] < 1.0 else {}
            self._materials[color] = self.add("materials", {"pbrMetallicRoughness": surface} | see_through)
        return self._materials[color]

    def encode(self) -> bytes:
        """The file's bytes: header, JSON chunk padded with blanks, binary chunk."""
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


def encode(motion: Motion, skinned: bool = False) -> bytes:
    """The bytes of a .glb file.

    The animation holds rotations of all nodes and the translation of the root, from time 0 on. Without it, the nodes
    have the pose of the first frame; those of a skin are at rest over the origin.

    Args:
        motion: what to write.
        skinned: one skin over the bones instead of a mesh for each body.

    Raises:
        OutputError: the motion has no frames, or numbers that are not finite.
    """
    turns = to_gltf_quaternions(unit_rotations(motion, "a GLB file"))
    skeleton, file = motion.skeleton, GltfFile()
    places, offsets = to_gltf_axes(motion.root_position), to_gltf_axes(skeleton.offsets)
    skin = skin_of(motion) if skinned else None
    if skin is None:
        origin, still = places[0], turns[0]
        shapes = _sticks(motion) if motion.scene is None else meshes_of_body(motion, motion.scene.model)
    else:
        origin, still = to_gltf_axes(skin.origin), to_gltf_quaternions(skin.rotations)
        shapes = [{} for _ in skeleton.names]
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    clock = file.accessor(motion.time - motion.time[0], bounds=True)
    for joint, name in enumerate(skeleton.names):
        root = skeleton.parents[joint] < 0
        node: dict[str, Any] = {"name": name, "rotation": still[joint].tolist()}
        node["translation"] = (origin if root else offsets[joint]).tolist()
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
    roots = np.flatnonzero(skeleton.parents < 0).tolist()
    file.add("scenes", {"nodes": roots if skin is None else [*roots, _add_skin(file, skin, roots[0])]})
    return file.encode()


def _add_skin(file: GltfFile, skin: Skin, root: int) -> int:
    """Append the skin and its node; returns the node's index."""
    matrices = np.tile(np.eye(4), (len(skin.places), 1, 1))  # from the world at rest to each joint's frame
    axes = to_gltf_axes(np.swapaxes(to_gltf_axes(np.swapaxes(skin.axes, 1, 2)), 1, 2))
    matrices[:, :3, :3] = np.swapaxes(axes, 1, 2)
    matrices[:, :3, 3] = -np.einsum("jab,ja->jb", axes, to_gltf_axes(skin.places))
    columns = np.swapaxes(matrices, 1, 2).reshape(-1, 16)
    joints = list(range(len(skin.places)))
    number = file.add(
        "skins",
        {"name": "skeleton", "joints": joints, "skeleton": root, "inverseBindMatrices": file.accessor(columns)},
    )
    return file.add("nodes", {"name": "body", "mesh": file.mesh("body", skin.shapes, skin.weights), "skin": number})


def _sticks(motion: Motion) -> list[dict[Color, TriangleMesh]]:
    """For every joint, sticks along its bones."""
    radius = _STICK * rest_size(motion.skeleton)
    return [
        {FALLBACK_COLOR: meshes.merge_meshes([meshes.capsule_to(bone.end, radius) for bone in own])}
        for own in bones_by_joint(motion)
    ]
