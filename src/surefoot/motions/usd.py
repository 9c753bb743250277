"""Motions as USD scenes in plain text (.usda): a skinned body and its animation; Z up, x forward, metres."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from surefoot.motions import meshes
from surefoot.motions import quaternions as quat
from surefoot.motions.forward_kinematics import chain_from_root
from surefoot.motions.meshes import Color
from surefoot.motions.motion import Motion, Skeleton
from surefoot.motions.motion_editing import frame_rate, unit_rotations
from surefoot.motions.skinned_mesh import Skin, skin_of

_DIGITS = 7  # of single precision, in which USD keeps most of these numbers
_ROOT = "/figure"


class Prim:
    """A prim: its type, its name, its properties and its children."""

    def __init__(self, kind: str, name: str, apis: tuple[str, ...] = ()) -> None:
        """An empty prim; `apis` are the schemas that are applied to it."""
        self._kind, self._name, self._apis = kind, name, apis
        self._lines = list[str]()
        self.children = list[Prim]()

    def add_property(self, what: str, value: str = "", *metadata: str) -> None:
        """Append a property with its type, value and metadata."""
        notes = " (\n" + "".join(f"    {line}\n" for line in metadata) + ")" if metadata else ""
        self._lines.append(f"{what} = {value}{notes}" if value else what)

    def add_time_samples(self, what: str, codes: np.ndarray, values: Sequence[str]) -> None:
        """Append a property with a value for each time code (n,)."""
        rows = "".join(f"    {code:.9g}: {value},\n" for code, value in zip(codes, values, strict=True))
        self._lines.append(f"{what}.timeSamples = {{\n{rows}}}")

    def text(self) -> str:
        """The prim as USD text."""
        notes = f" (\n    prepend apiSchemas = {format_tokens(self._apis)}\n)" if self._apis else ""
        inner = "\n".join([*self._lines, *(block.text() for block in self.children)])
        return f'def {self._kind} "{self._name}"{notes}\n{{\n{textwrap.indent(inner, "    ")}\n}}'


def format_list(items: Sequence[str]) -> str:
    """A USD list."""
    return f"[{', '.join(items)}]"


def format_tokens(words: Sequence[str]) -> str:
    """A list of tokens."""
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
    """A list of transforms of orientations (n, 3, 3) and positions (n, 3); USD's matrices are transposed."""
    found = []
    for turn, place in zip(axes.tolist(), places.tolist(), strict=True):
        rows = [*([turn[i][j] for i in range(3)] + [0.0] for j in range(3)), [*place, 1.0]]
        found.append("(" + ", ".join(f"({', '.join(f'{value:.12g}' for value in row)})" for row in rows) + ")")
    return format_list(found)


def encode(motion: Motion) -> bytes:
    """The bytes of a .usda file. Time codes count frames from 0; at rest the body stands over the origin.

    Args:
        motion: what to write.

    Raises:
        OutputError: the motion has no frames, or numbers that are not finite.
    """
    turns, fps = unit_rotations(motion, "a USD file"), frame_rate(motion)
    skin, joints = skin_of(motion), joint_paths(motion.skeleton)
    codes = np.round((motion.time - motion.time[0]) * fps, 6)
    figure = Prim("SkelRoot", "figure", apis=("SkelBindingAPI",))
    materials = [_material(f"color_{number}", color) for number, color in enumerate(skin.shapes)]
    figure.children += [_skeleton(motion, skin, joints), _mesh(skin), *materials]
    figure.children[0].children.append(_animation(motion, joints, codes, turns))
    head = [
        'defaultPrim = "figure"', "metersPerUnit = 1", 'upAxis = "Z"', "startTimeCode = 0",
        f"endTimeCode = {codes[-1]:g}", f"timeCodesPerSecond = {fps:.9g}", f"framesPerSecond = {fps:.9g}",
    ]  # fmt: skip
    lines = "".join(f"    {line}\n" for line in head)
    return f"#usda 1.0\n(\n{lines})\n\n{figure.text()}\n".encode()


def joint_paths(skeleton: Skeleton) -> list[str]:
    """For every joint the names from the root down to it, joined by slashes; valid in USD and all different."""
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
    turned = quat.to_matrices(skin.rotations)
    block = Prim("Skeleton", "skeleton", apis=("SkelBindingAPI",))
    block.add_property("uniform token[] joints", format_tokens(joints))
    block.add_property("uniform matrix4d[] bindTransforms", format_matrices(skin.axes, skin.places))
    block.add_property("uniform matrix4d[] restTransforms", format_matrices(turned, rest))
    block.add_property("rel skel:animationSource", f"<{_ROOT}/skeleton/animation>")
    return block


def _animation(motion: Motion, joints: list[str], codes: np.ndarray, turns: np.ndarray) -> Prim:
    """Rotations and translations of all joints; only the root's translation changes."""
    places = np.tile(motion.skeleton.offsets, (len(motion), 1, 1))
    places[:, motion.skeleton.parents < 0] = motion.root_position[:, None]
    block = Prim("SkelAnimation", "animation")
    block.add_property("uniform token[] joints", format_tokens(joints))
    block.add_time_samples("quatf[] rotations", codes, [format_tuples(frame) for frame in turns])
    block.add_time_samples("float3[] translations", codes, [format_tuples(frame) for frame in places])
    block.add_property("half3[] scales", format_list(["(1, 1, 1)"] * len(joints)))
    return block


def _mesh(skin: Skin) -> Prim:
    body = meshes.merge_meshes(list(skin.shapes.values()))
    own = skin.weights.values()
    joints, weights = (np.concatenate([getattr(part, name) for part in own]) for name in ("joints", "weights"))
    block = Prim("Mesh", "body", apis=("SkelBindingAPI", "MaterialBindingAPI"))
    block.add_property("int[] faceVertexCounts", format_numbers(np.full(len(body.triangles), 3)))
    block.add_property("int[] faceVertexIndices", format_numbers(body.triangles.ravel()))
    block.add_property("point3f[] points", format_tuples(body.vertices))
    block.add_property("normal3f[] normals", format_tuples(body.normals), 'interpolation = "vertex"')
    block.add_property(
        "float3[] extent", format_tuples(np.array([body.vertices.min(axis=0), body.vertices.max(axis=0)]))
    )
    block.add_property("uniform token subdivisionScheme", '"none"')
    block.add_property(
        "matrix4d primvars:skel:geomBindTransform", format_matrices(np.eye(3)[None], np.zeros((1, 3)))[1:-1]
    )
    twice = ("elementSize = 2", 'interpolation = "vertex"')
    block.add_property("int[] primvars:skel:jointIndices", format_numbers(joints.ravel()), *twice)
    block.add_property("float[] primvars:skel:jointWeights", format_numbers(weights.ravel()), *twice)
    block.add_property("rel skel:skeleton", f"<{_ROOT}/skeleton>")
    block.add_property("uniform token subsetFamily:materialBind:familyType", '"partition"')
    first = 0
    for number, solid in enumerate(skin.shapes.values()):
        part = Prim("GeomSubset", f"part_{number}", apis=("MaterialBindingAPI",))
        part.add_property("uniform token elementType", '"face"')
        part.add_property("uniform token familyName", '"materialBind"')
        part.add_property("int[] indices", format_numbers(np.arange(first, first + len(solid.triangles))))
        part.add_property("rel material:binding", f"<{_ROOT}/color_{number}>")
        block.children.append(part)
        first += len(solid.triangles)
    return block


def _material(name: str, color: Color) -> Prim:
    shader = Prim("Shader", "surface")
    shader.add_property("uniform token info:id", '"UsdPreviewSurface"')
    shader.add_property("color3f inputs:diffuseColor", format_tuples(np.array([meshes.linear_rgb(color)]))[1:-1])
    shader.add_property("float inputs:opacity", f"{color[3]:g}")
    shader.add_property("float inputs:roughness", "0.7")
    shader.add_property("token outputs:surface")
    block = Prim("Material", name)
    block.add_property("token outputs:surface.connect", f"<{_ROOT}/{name}/surface.outputs:surface>")
    block.children.append(shader)
    return block
