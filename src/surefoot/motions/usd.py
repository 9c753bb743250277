"""The words of USD's text format: blocks within blocks, lists, tuples and matrices.

A motion as a USD scene in plain text: a skinned body, its skeleton and its animation; Z up, x forward, metres.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from surefoot.errors import OutputError
from surefoot.motions import meshes
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import chain_from_root
from surefoot.motions.meshes import Color
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.motion_editing import frame_rate
from surefoot.motions.skinned_mesh import Skin, skin_of

_DIGITS = 7  # of single precision, which is what most numbers are kept in


class Prim:
    """A prim: its type, its name, what is said of it, and the prims within it."""

    def __init__(self, kind: str, name: str, apis: tuple[str, ...] = ()) -> None:
        """Nothing is said of it yet; `apis` are the schemas that are applied to it."""
        self._kind, self._name, self._apis = kind, name, apis
        self._lines = list[str]()
        self.blocks = list[Prim]()

    def say(self, what: str, value: str = "", *about: str) -> None:
        """A property with its type, its value and what is said about it in turn."""
        notes = " (\n" + "".join(f"    {line}\n" for line in about) + ")" if about else ""
        self._lines.append(f"{what} = {value}{notes}" if value else what)

    def samples(self, what: str, codes: np.ndarray, values: Sequence[str]) -> None:
        """A property that changes with time codes (n,)."""
        rows = "".join(f"    {code:.9g}: {value},\n" for code, value in zip(codes, values, strict=True))
        self._lines.append(f"{what}.timeSamples = {{\n{rows}}}")

    def add(self, *blocks: Prim) -> None:
        """Put prims into it."""
        self.blocks += blocks

    def text(self) -> str:
        """All of it."""
        notes = f" (\n    prepend apiSchemas = {format_tokens(self._apis)}\n)" if self._apis else ""
        inner = "\n".join([*self._lines, *(block.text() for block in self.blocks)])
        return f'def {self._kind} "{self._name}"{notes}\n{{\n{textwrap.indent(inner, "    ")}\n}}'


def document(head: list[str], block: Prim) -> str:
    """A whole file."""
    return "#usda 1.0\n(\n" + "".join(f"    {line}\n" for line in head) + f")\n\n{block.text()}\n"


def format_list(items: Sequence[str]) -> str:
    """A list."""
    return f"[{', '.join(items)}]"


def format_tokens(words: Sequence[str]) -> str:
    """A list of words."""
    return format_list([f'"{word}"' for word in words])


def format_numbers(values: np.ndarray) -> str:
    """A list of numbers (n,)."""
    return format_list(
        [f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value) for value in values.tolist()]
    )


def format_tuples(rows: np.ndarray) -> str:
    """A list of tuples, from a table (n, m)."""
    return format_list([f"({', '.join([f'{value:.{_DIGITS}g}' for value in row])})" for row in rows.tolist()])


def format_matrices(axes: np.ndarray, places: np.ndarray) -> str:
    """A list of transforms from axes (n, 3, 3), in columns, and places (n, 3): USD's matrices stand the other way."""
    found = []
    for turn, place in zip(axes.tolist(), places.tolist(), strict=True):
        rows = [*([turn[i][j] for i in range(3)] + [0.0] for j in range(3)), [*place, 1.0]]
        found.append("(" + ", ".join(f"({', '.join(f'{value:.12g}' for value in row)})" for row in rows) + ")")
    return format_list(found)


_ROOT = "/figure"


def encode(motion: Motion) -> bytes:
    """The file's bytes. A frame is a time code; the first one is 0, and at rest the body stands over the origin."""
    fps = frame_rate(motion)
    lengths = np.linalg.norm(motion.rotations, axis=-1, keepdims=True)
    if not (np.isfinite(motion.root_position).all() and np.isfinite(lengths).all() and lengths.all()):
        raise OutputError("cannot write a USD file of numbers that are not finite, or of rotations of length zero")
    skin, joints = skin_of(motion), joint_paths(motion.skeleton)
    codes = np.round((motion.time - motion.time[0]) * fps, 6)
    turns = quat.make_continuous(motion.rotations / lengths)
    figure = Prim("SkelRoot", "figure", apis=("SkelBindingAPI",))
    figure.add(_skeleton(motion, skin, joints), _mesh(skin), *_materials(skin))
    figure.blocks[0].add(_animation(motion, joints, codes, turns))
    head = [
        'defaultPrim = "figure"', "metersPerUnit = 1", 'upAxis = "Z"', "startTimeCode = 0",
        f"endTimeCode = {codes[-1]:g}", f"timeCodesPerSecond = {fps:.9g}", f"framesPerSecond = {fps:.9g}",
    ]  # fmt: skip
    return document(head, figure).encode()


def joint_paths(skeleton: Skeleton) -> list[str]:
    """For every joint the names from the root down to it, joined by slashes, as USD allows them and all different."""
    words, taken = list[str](), set[str]()
    for name in skeleton.names:
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        word = word if re.match(r"[A-Za-z_]", word) else f"_{word}"
        base, count = word, 1
        while word in taken:
            count += 1
            word = f"{base}_{count}"
        taken.add(word)
        words.append(word)
    return ["/".join(words[j] for j in chain_from_root(skeleton, joint)) for joint in range(len(words))]


def _skeleton(motion: Motion, skin: Skin, joints: list[str]) -> Prim:
    rest = np.where(motion.skeleton.parents[:, None] < 0, skin.origin, motion.skeleton.offsets)
    turned = np.stack([quat.rotate(skin.rotations, axis) for axis in np.eye(3)], axis=-1)
    block = Prim("Skeleton", "skeleton", apis=("SkelBindingAPI",))
    block.say("uniform token[] joints", format_tokens(joints))
    block.say("uniform matrix4d[] bindTransforms", format_matrices(skin.axes, skin.places))
    block.say("uniform matrix4d[] restTransforms", format_matrices(turned, rest))
    block.say("rel skel:animationSource", f"<{_ROOT}/skeleton/animation>")
    return block


def _animation(motion: Motion, joints: list[str], codes: np.ndarray, turns: np.ndarray) -> Prim:
    """Rotations and translations of all joints; only the root's place changes."""
    places = np.tile(motion.skeleton.offsets, (len(motion), 1, 1))
    places[:, motion.skeleton.parents < 0] = motion.root_position[:, None]
    block = Prim("SkelAnimation", "animation")
    block.say("uniform token[] joints", format_tokens(joints))
    block.samples("quatf[] rotations", codes, [format_tuples(frame) for frame in turns])
    block.samples("float3[] translations", codes, [format_tuples(frame) for frame in places])
    block.say("half3[] scales", format_list(["(1, 1, 1)"] * len(joints)))
    return block


def _mesh(skin: Skin) -> Prim:
    body = meshes.merge_meshes(list(skin.shapes.values()))
    joints, weights = (
        np.concatenate([getattr(hold, name) for hold in skin.hold.values()]) for name in ("joints", "weights")
    )
    block = Prim("Mesh", "body", apis=("SkelBindingAPI", "MaterialBindingAPI"))
    block.say("int[] faceVertexCounts", format_numbers(np.full(len(body.triangles), 3)))
    block.say("int[] faceVertexIndices", format_numbers(body.triangles.ravel()))
    block.say("point3f[] points", format_tuples(body.vertices))
    block.say("normal3f[] normals", format_tuples(body.normals), 'interpolation = "vertex"')
    block.say("float3[] extent", format_tuples(np.array([body.vertices.min(axis=0), body.vertices.max(axis=0)])))
    block.say("uniform token subdivisionScheme", '"none"')
    block.say("matrix4d primvars:skel:geomBindTransform", format_matrices(np.eye(3)[None], np.zeros((1, 3)))[1:-1])
    twice = ("elementSize = 2", 'interpolation = "vertex"')
    block.say("int[] primvars:skel:jointIndices", format_numbers(joints.ravel()), *twice)
    block.say("float[] primvars:skel:jointWeights", format_numbers(weights.ravel()), *twice)
    block.say("rel skel:skeleton", f"<{_ROOT}/skeleton>")
    block.say("uniform token subsetFamily:materialBind:familyType", '"partition"')
    first = 0
    for number, solid in enumerate(skin.shapes.values()):
        part = Prim("GeomSubset", f"part_{number}", apis=("MaterialBindingAPI",))
        part.say("uniform token elementType", '"face"')
        part.say("uniform token familyName", '"materialBind"')
        part.say("int[] indices", format_numbers(np.arange(first, first + len(solid.triangles))))
        part.say("rel material:binding", f"<{_ROOT}/color_{number}>")
        block.add(part)
        first += len(solid.triangles)
    return block


def _materials(skin: Skin) -> list[Prim]:
    return [_material(f"color_{number}", color) for number, color in enumerate(skin.shapes)]


def _material(name: str, color: Color) -> Prim:
    linear = tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3])  # from sRGB
    shader = Prim("Shader", "surface")
    shader.say("uniform token info:id", '"UsdPreviewSurface"')
    shader.say("color3f inputs:diffuseColor", format_tuples(np.array([linear]))[1:-1])
    shader.say("float inputs:opacity", f"{color[3]:g}")
    shader.say("float inputs:roughness", "0.7")
    shader.say("token outputs:surface")
    block = Prim("Material", name)
    block.say("token outputs:surface.connect", f"<{_ROOT}/{name}/surface.outputs:surface>")
    block.add(shader)
    return block
