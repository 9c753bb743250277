"""GLB files taken apart by the specification."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Read:
    """A GLB file taken apart by the specification."""

    def __init__(self, raw: bytes) -> None:
        magic, version, size = struct.unpack_from("<4sII", raw)
        assert (magic, version, size) == (b"glTF", 2, len(raw))
        length, kind = struct.unpack_from("<I4s", raw, 12)
        assert kind == b"JSON"
        assert length % 4 == 0
        self.json: dict[str, Any] = json.loads(raw[20 : 20 + length])
        size, kind = struct.unpack_from("<I4s", raw, 20 + length)
        assert kind == b"BIN\0"
        assert size % 4 == 0
        self.binary = raw[28 + length :]
        assert len(self.binary) == size == self.json["buffers"][0]["byteLength"]

    def table(self, number: int) -> np.ndarray:
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        dtype, size = {5126: ("<f4", 4), 5125: ("<u4", 4), 5123: ("<u2", 2)}[accessor["componentType"]]
        start, count = view["byteOffset"], accessor["count"] * WIDTHS[accessor["type"]]
        assert start % 4 == 0
        assert view["byteLength"] == size * count
        assert start + size * count <= len(self.binary)
        return np.frombuffer(self.binary, dtype, count, start).reshape(accessor["count"], -1)

    def tracks(self) -> dict[tuple[int, str], np.ndarray]:
        """Keyframes by node and path."""
        (animation,) = self.json["animations"]
        return {
            (channel["target"]["node"], channel["target"]["path"]): self.table(
                animation["samplers"][channel["sampler"]]["output"]
            )
            for channel in animation["channels"]
        }

    def places(self, frame: int) -> np.ndarray:
        """(nodes, 3) where the nodes are in a frame, by glTF's rules."""
        return self.transforms(frame)[:, :3, 3]

    def transforms(self, frame: int | None) -> np.ndarray:
        """(nodes, 4, 4) from the nodes to the world in a frame; None is without the animation."""
        nodes, tracks = self.json["nodes"], {} if frame is None else self.tracks()
        found = np.full((len(nodes), 4, 4), np.nan)
        waiting = [(node, np.eye(4)) for node in self.json["scenes"][0]["nodes"]]
        while waiting:
            node, outer = waiting.pop()
            moved, turned = (tracks.get((node, path)) for path in ("translation", "rotation"))
            own = np.eye(4)
            turn = nodes[node].get("rotation", [0.0, 0.0, 0.0, 1.0]) if turned is None else turned[frame]
            own[:3, :3] = Rotation.from_quat(turn).as_matrix()
            own[:3, 3] = nodes[node].get("translation", np.zeros(3)) if moved is None else moved[frame]
            found[node] = outer @ own
            waiting += [(child, found[node]) for child in nodes[node].get("children", [])]
        return found
