"""A body that nobody here has seen: its anatomy is found in its MJCF file from tree and geometry, never from names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from surefoot.characters import stranger_file, stranger_legs, stranger_links, stranger_posture
from surefoot.characters.gains import REFERENCE_HIP_HEIGHT, REFERENCE_MASS, gain
from surefoot.characters.limbs import LEFT, MIDDLE, RIGHT, Limbs, Link, Quaternion
from surefoot.characters.stranger_legs import Legs
from surefoot.characters.stranger_links import Role
from surefoot.characters.stranger_tree import Tree
from surefoot.errors import CharacterError

_ARMATURE = 0.01  # [kg·m²] of the reference person's joints at least, which keeps light hands and feet calm
_ARM = ("shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class Stranger:
    """A body from a file.

    `spec` holds its bodies, hinges and geoms and nothing else: no motors, no ground. Its root floats where the body
    in its neutral posture stands on z = 0, its hips over the origin, and faces x. Geoms collide with what has
    conaffinity 1, never with each other. `notes` say what was changed and understood, one line each.
    """

    name: str
    spec: mujoco.MjSpec
    limbs: Limbs
    friction: float
    notes: tuple[str, ...]


def read(path: Path) -> Stranger:
    """The walker in an MJCF file.

    Raises:
        CharacterError: the file cannot be read, or no body in it has two legs with hips, knees and ankles; the
            message says what is missing.
    """
    path = Path(path)
    model = stranger_file.compiled(path)
    refusals = []
    for root in stranger_file.roots(model):
        try:
            return _understood(path, model, root)
        except CharacterError as error:
            refusals.append(error)
    raise refusals[0] if refusals else CharacterError(f"{path}: no body in it; {stranger_legs.NEEDS}")


def _understood(path: Path, model: mujoco.MjModel, root: int) -> Stranger:
    spec, changed = stranger_file.copied(model, root)
    tree = Tree(spec.compile())
    legs = stranger_legs.find(tree, str(path))
    tree.hold(legs.pelvis, legs.upright)
    roles = stranger_links.roles(tree, legs)
    short = stranger_posture.stand(tree, legs, roles)
    for kind in ("hip", "ankle"):
        if f"{kind} pitch" in stranger_links.lacks(tree, roles):
            raise CharacterError(f"{path}: no hinge across the {kind}s, by which it could step; {stranger_legs.NEEDS}")
    hips, ground = _hips(tree, legs), _ground(tree, legs)
    height = float(hips[2] - ground)
    friction = stranger_file.friction(model, root)
    _finish(spec, tree, np.array([hips[0], hips[1], ground]), height, friction)
    limbs = _limbs(tree, legs, roles, height)
    return Stranger(
        name=re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "stranger",
        spec=spec,
        limbs=limbs,
        friction=friction,
        notes=(*changed, *legs.notes, *short, *_understanding(tree, limbs, height)),
    )


def _hips(tree: Tree, legs: Legs) -> np.ndarray:
    return np.asarray(
        np.mean([stranger_legs.hip_of(tree, leg, legs.pelvis) for leg in (legs.left, legs.right)], axis=0)
    )


def _foot(legs: Legs, side: int) -> tuple[int, int]:
    """A foot and the part before it."""
    leg = legs.left if side == LEFT else legs.right
    return leg.chain[leg.foot], leg.chain[leg.foot - 1]


def _ground(tree: Tree, legs: Legs) -> float:
    """Height of the lowest point of both feet [m]."""
    feet = [part for side in (LEFT, RIGHT) for part in tree.branch(*_foot(legs, side))]
    centres, radii = tree.cloud(feet)
    return float(np.min(centres[:, 2] - radii)) if len(centres) else float(np.min(tree.data.xpos[feet, 2]))


def _finish(spec: mujoco.MjSpec, tree: Tree, origin: np.ndarray, height: float, friction: float) -> None:
    """Stand the root, and give joints and geoms what depends on the body's size and ground."""
    body = spec.body(tree.model.body(tree.root).name)
    body.pos, body.quat = tree.data.xpos[tree.root] - origin, tree.data.xquat[tree.root]
    mass = tree.mass(tree.parts)
    least = _ARMATURE * (mass / REFERENCE_MASS) * (height / REFERENCE_HIP_HEIGHT) ** 2
    for j in tree.hinges:
        joint = spec.joint(tree.model.joint(j).name)
        joint.armature = max(float(joint.armature), least)
    for geom in spec.geoms:
        geom.friction = [friction, 0.005, 0.0001]


def _limbs(tree: Tree, legs: Legs, roles: list[Role], height: float) -> Limbs:
    model, mass = tree.model, tree.mass(tree.parts)
    links = tuple(
        Link(
            body=model.body(r.part).name, base=model.body(r.base).name,
            joints=tuple(model.joint(j).name for j in r.joints), kind=r.kind, side=r.side,
            gain=gain(r.kind, mass, height), flipped=r.part < r.base,
        )
        for r in roles
    )  # fmt: skip
    soles = [tuple(model.body(b).name for p in tree.branch(*_foot(legs, s)) for b in tree.bodies(p)) for s in (0, 1)]
    return Limbs(
        pelvis=model.body(legs.pelvis).name,
        links=links,
        root_gain=gain("root", mass, height),
        hands=(_hand(tree, roles, LEFT), _hand(tree, roles, RIGHT)),
        soles=(soles[LEFT], soles[RIGHT]),
        rest={model.body(b).name: _quaternion(tree.data.xquat[b]) for b in range(1, model.nbody)},
        neutral={model.joint(j).name: angle for j, angle in tree.angles.items()},
        lacks=stranger_links.lacks(tree, roles),
    )


def _quaternion(q: np.ndarray) -> Quaternion:
    w, x, y, z = (float(v) for v in q)
    return (w, x, y, z)


def _hand(tree: Tree, roles: list[Role], side: int) -> tuple[float, float, float] | None:
    """The end of an arm that is farthest from its elbow, or from its shoulder where it has none."""
    arm = [r for r in roles if r.side == side and r.kind in _ARM]
    if not arm:
        return None
    start = next((r for r in arm if r.kind == "elbow"), arm[0])
    last = arm[-1].part
    end = tree.far_point([last], tree.data.xanchor[start.joints[0]])
    x, y, z = (float(v) for v in tree.data.xmat[last].reshape(3, 3).T @ (end - tree.data.xpos[last]))
    return (x, y, z)


def _understanding(tree: Tree, limbs: Limbs, height: float) -> list[str]:
    sides = {LEFT: "left ", RIGHT: "right ", MIDDLE: ""}
    parts = ", ".join(f"{sides[link.side]}{link.kind} '{link.body}'" for link in limbs.links if link.side != RIGHT)
    lacking = [f"lacks: {', '.join(limbs.lacks)}"] if limbs.lacks else []
    return [
        f"{tree.mass(tree.parts):.1f} kg, hips {height:.2f} m above the soles, {len(tree.hinges)} hinges",
        f"pelvis '{limbs.pelvis}', {parts}",
        *lacking,
    ]
