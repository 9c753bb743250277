"""A binary glTF 2.0 file as it grows: its JSON part, its binary part, meshes and materials."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.motions.body_shapes import Color
from surefoot.motions.hold import Hold
from surefoot.motions.solids import Solid

_MAGIC, _VERSION, _JSON, _BIN = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
_COMPONENTS = {"f4": 5126, "u4": 5125, "u2": 5123}
_VERTICES, _TRIANGLES = 34962, 34963
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def turned(vectors: np.ndarray) -> np.ndarray:
    """Our x forward, y left, z up as glTF's Z, X, Y."""
    return vectors[..., [1, 2, 0]]


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Our rotations (…, 4) in glTF's axes, w last."""
    return np.concatenate([turned(turns[..., 1:]), turns[..., :1]], axis=-1)


class GltfFile:
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
        """Append numbers (n,), (n, 3 or 4) or (n, 16); whole ones as indices of vertices (n,) or of joints (n, 4)."""
        kind = "f4" if not np.issubdtype(table.dtype, np.integer) else "u4" if table.ndim == 1 else "u2"
        table = np.ascontiguousarray(table, f"<{kind}")
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": table.nbytes}
        self._binary += table.tobytes()  # all rows have a multiple of 4 bytes, so everything is aligned
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

    def mesh(self, name: str, shapes: Mapping[Color, Solid], hold: Mapping[Color, Hold] | None = None) -> int:
        """Append a mesh with a primitive for every colour, and with what holds each of its vertices if it is a skin."""
        primitives = []
        for color, solid in shapes.items():
            attributes = {
                "POSITION": self.accessor(turned(solid.vertices), _VERTICES, bounds=True),
                "NORMAL": self.accessor(turned(solid.normals), _VERTICES),
            }
            if hold is not None:
                joints, weights = (
                    np.pad(table, ((0, 0), (0, 2))) for table in (hold[color].joints, hold[color].weights)
                )
                attributes["JOINTS_0"] = self.accessor(np.where(weights > 0.0, joints, 0), _VERTICES)
                attributes["WEIGHTS_0"] = self.accessor(weights, _VERTICES)
            indices = self.accessor(solid.triangles.ravel(), _TRIANGLES)
            primitives.append({"attributes": attributes, "indices": indices, "material": self._material(color)})
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
