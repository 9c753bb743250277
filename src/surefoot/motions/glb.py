"""A motion as binary glTF 2.0, Y up, +Z forward, metres: a node for every joint.

Either each node has the shapes of its body as a mesh, or all are the bones of one skin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import quaternions as quat
from surefoot.motions import solids
from surefoot.motions.body_shapes import Color, of_body
from surefoot.motions.flesh import COLOR, bones, size_of
from surefoot.motions.gltf_file import GltfFile, quaternions, turned
from surefoot.motions.motion import Motion
from surefoot.motions.resample import rate
from surefoot.motions.skin import Skin, skin_of
from surefoot.motions.solids import Solid

_STICK = 0.03  # radius of a stick figure's bones [sizes]


def encode(motion: Motion, skinned: bool = False) -> bytes:
    """The file's bytes. Rotations of all nodes and the root's translation share one time line, which begins at 0.

    Without an animation the nodes are in the pose of the first frame; with a skin they are at rest, over the origin.
    """
    rate(motion)
    lengths = np.linalg.norm(motion.rotations, axis=-1, keepdims=True)
    if not (np.isfinite(motion.root_position).all() and np.isfinite(lengths).all() and lengths.all()):
        raise OutputError("cannot write a GLB of numbers that are not finite, or of rotations of length zero")
    skeleton, file = motion.skeleton, GltfFile()
    turns = quaternions(quat.continuous(motion.rotations / lengths))
    places, offsets = turned(motion.root_position), turned(skeleton.offsets)
    skin = skin_of(motion) if skinned else None
    if skin is None:
        origin, still = places[0], turns[0]
        shapes = _sticks(motion) if motion.scene is None else of_body(motion, motion.scene.model)
    else:
        origin, still = turned(skin.origin), quaternions(skin.rotations)
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
    """Append the skin and the node that wears it; its number."""
    matrices = np.tile(np.eye(4), (len(skin.places), 1, 1))  # from the world at rest to each joint's frame
    axes = turned(np.swapaxes(turned(np.swapaxes(skin.axes, 1, 2)), 1, 2))
    matrices[:, :3, :3] = np.swapaxes(axes, 1, 2)
    matrices[:, :3, 3] = -np.einsum("jab,ja->jb", axes, turned(skin.places))
    columns = np.swapaxes(matrices, 1, 2).reshape(-1, 16)
    joints = list(range(len(skin.places)))
    number = file.add(
        "skins",
        {"name": "skeleton", "joints": joints, "skeleton": root, "inverseBindMatrices": file.accessor(columns)},
    )
    return file.add("nodes", {"name": "body", "mesh": file.mesh("body", skin.shapes, skin.hold), "skin": number})


def _sticks(motion: Motion) -> list[dict[Color, Solid]]:
    """For every joint a stick to each of its children, or to its bone's end; a body without a spine gets one."""
    radius = _STICK * size_of(motion.skeleton)
    return [{COLOR: solids.joined([solids.stick(bone.end, radius) for bone in own])} for own in bones(motion)]
