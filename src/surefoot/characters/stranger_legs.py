"""Where a stranger's legs are, and which way it faces: from the lengths, masses and hinges of its tree alone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from surefoot.characters.stranger_facing import coarse_up, forward, unit, upward
from surefoot.characters.stranger_tree import Array, Tree, Twins
from surefoot.errors import CharacterError

NEEDS = "a walker needs hips, knees and ankles"

_KNEE, _ANKLE = (0.2, 0.7), 0.6  # how far along the leg they may be, of its length
_LATERAL = 0.6  # cosine of a knee's axis with the line through the hips, at least
_BEND = 0.35  # [rad] range of a knee at least
_NARROW = 0.02  # of the leg's length: hips nearer to each other are those of a planar body
_SPREAD, _APART = 0.165, 0.08  # of the leg's length: hinges of one joint, and their lines, are nearer to each other
_PARALLEL = 0.9  # cosine of hinges that turn the same way, and so belong to different joints


@dataclass(frozen=True)
class Leg:
    """The parts of a leg one behind the other, and the places of thigh, shin and foot among them.

    All hinges before the thigh are the hip's, those at the shin the knee's, those between `ankle` and foot the
    ankle's, what is beyond are toes.
    """

    chain: tuple[int, ...]
    shin: int
    ankle: int
    foot: int


@dataclass(frozen=True)
class Legs:
    """Both legs, left first, the part they leave, and that part's orientation in the character frame (3, 3)."""

    pelvis: int
    left: Leg
    right: Leg
    upright: Array
    length: float  # [m] from the hip along the leg to the farthest end of the foot
    notes: tuple[str, ...]


def find(tree: Tree, what: str) -> Legs:
    """The legs of a body; `what` begins the message where there are none."""
    for pair in tree.twins(tree.parts):
        coarse = coarse_up(tree, pair)
        if coarse is not None:
            return _legs(tree, pair, coarse, what)
    raise CharacterError(f"{what}: no two legs found: no two like limbs hang side by side below a body; {NEEDS}")


def hip_of(tree: Tree, leg: Leg, pelvis: int) -> Array:
    """(3,) where a leg hangs: the point beside the thigh's own hinges on the hinge that swings the leg to and fro.

    The hinges of a robot's hip lie beside each other.
    """
    path = [pelvis, *leg.chain]
    joints = [j for i in range(1, leg.shin + 1) for j in tree.between(path[i], path[i - 1])]
    knee = max(tree.between(path[leg.shin + 1], path[leg.shin]), key=lambda j: abs(float(tree.data.xaxis[j, 1])))
    swing = max(joints, key=lambda j: abs(float(tree.data.xaxis[j] @ tree.data.xaxis[knee])))
    axis, at = tree.data.xaxis[swing], tree.data.xanchor[swing]
    return np.asarray(at + ((tree.anchor(path[leg.shin], path[leg.shin - 1]) - at) @ axis) * axis)


def merged(tree: Tree, path: list[int], first: int, length: float) -> int:
    """The last place along a path whose hinges still belong to the joint that begins before `path[first]`.

    Robots have a small body between the hinges of a joint. Such hinges lie close together, no two turn the same way,
    there are three at most, and nothing branches off between them. `path[first - 1]` is the part before the joint.
    """
    hinges = list(tree.between(path[first - 1], path[first]))
    last = first
    while last + 1 < len(path) and len(tree.neighbours[path[last]]) == 2 and path[last] != tree.root:
        more = tree.between(path[last], path[last + 1])
        if len(hinges) + len(more) > 3 or not all(_near(tree, a, b, length) for a in hinges for b in more):
            break
        hinges += more
        last += 1
    return last


def _near(tree: Tree, one: int, other: int, length: float) -> bool:
    """Whether two hinges turn different ways about nearly the same point."""
    apart = tree.data.xanchor[one] - tree.data.xanchor[other]
    axis, second = tree.data.xaxis[one], tree.data.xaxis[other]
    if np.linalg.norm(apart) > _SPREAD * length or abs(axis @ second) > _PARALLEL:
        return False
    return bool(abs(apart @ unit(np.cross(axis, second))) < _APART * length)


def _legs(tree: Tree, pair: Twins, coarse: Array, what: str) -> Legs:
    chains = [tree.chain(start, pair.stem) for start in (pair.first, pair.second)]
    hips = [tree.anchor(start, pair.stem) for start in (pair.first, pair.second)]
    length = float(np.mean([_places(tree, chain, pair.stem)[1] for chain in chains]))
    if np.linalg.norm(hips[0] - hips[1]) < _NARROW * length:
        raise CharacterError(f"{what}: both hips are in the same place: a planar body; {NEEDS}, side by side")
    lateral = unit(hips[0] - hips[1])
    knees = [_knee(tree, chain, pair.stem, lateral) for chain in chains]
    ahead, notes = forward(tree, chains, knees, unit(np.cross(lateral, coarse)), lateral)
    names = ("left", "right") if np.cross(coarse, ahead) @ lateral > 0.0 else ("right", "left")
    legs = {
        side: _leg(tree, chain, knee, pair.stem, length, f"{what}: {{}} {side} {{}}")
        for side, chain, knee in sorted(zip(names, chains, knees, strict=True), key=lambda leg: leg[0])
    }
    left = lateral if names[0] == "left" else -lateral
    ankles = [tree.anchor(leg.chain[leg.ankle], leg.chain[leg.ankle - 1]) for leg in legs.values()]
    up = upward(tree, pair.stem, chains, left, coarse, np.mean(hips, axis=0) - np.mean(ankles, axis=0))
    _stands_on_two(tree, chains, pair.stem, up, np.mean(ankles, axis=0), what)
    axes = np.array([np.cross(left, up), left, up])
    upright = axes @ tree.data.xmat[pair.stem].reshape(3, 3)
    return Legs(pair.stem, legs["left"], legs["right"], upright, length, notes)


def _stands_on_two(tree: Tree, chains: list[list[int]], stem: int, up: Array, ankle: Array, what: str) -> None:
    legs = {part for chain in chains for part in tree.branch(chain[0], stem)}
    for part in tree.parts:
        centres, radii = tree.cloud([part])
        if part not in legs and len(centres) and np.min(centres @ up - radii) < ankle @ up:
            name = tree.model.body(part).name
            raise CharacterError(f"{what}: '{name}' reaches as low as the feet; a walker stands on two legs alone")


def _places(tree: Tree, chain: list[int], stem: int) -> tuple[list[float], float]:
    """How far along a leg each part's hinges are, and how long the leg is [m]."""
    anchors = [tree.anchor(a, b) for a, b in zip(chain, [stem, *chain], strict=False)]
    places = [0.0, *np.cumsum([np.linalg.norm(b - a) for a, b in itertools.pairwise(anchors)])]
    end = tree.far_point([chain[-1]], anchors[-1])
    return [float(p) for p in places], float(places[-1] + np.linalg.norm(end - anchors[-1]))


def _knee(tree: Tree, chain: list[int], stem: int, lateral: Array) -> int | None:
    """Place of the shin in its chain: behind the hinge across the leg that is nearest to its middle."""
    places, length = _places(tree, chain, stem)
    found = [
        i for i in range(1, len(chain))
        if _KNEE[0] * length < places[i] < _KNEE[1] * length
        and max(abs(tree.data.xaxis[j] @ lateral) for j in tree.between(chain[i], chain[i - 1])) > _LATERAL
    ]  # fmt: skip
    return min(found, key=lambda i: abs(places[i] / length - 0.45), default=None)


def _leg(tree: Tree, chain: list[int], knee: int | None, stem: int, length: float, error: str) -> Leg:
    """Thigh, shin and foot of a chain; `error` is to be filled with what is missing and where."""
    name = tree.model.body
    first, last = name(chain[0]).name, name(tree.bodies(chain[-1])[-1]).name
    if knee is None:
        where = f"leg between '{first}' and '{last}'; {NEEDS}"
        raise CharacterError(error.format("no knee joint found in the", where))
    bend = max(high - low for low, high in map(tree.span, tree.between(chain[knee], chain[knee - 1])))
    if bend < _BEND:
        why = f"knee bends by {np.degrees(bend):.1f}° only; are angles in the file's unit?"
        raise CharacterError(error.format("the", why))
    places = _places(tree, chain, stem)[0]
    ankle = next((i for i in range(knee + 1, len(chain)) if places[i] > _ANKLE * length), None)
    if ankle is None:
        shin = name(chain[-1]).name
        how = f"'{shin}' ends in '{last}'" if last != shin else f"'{shin}' ends"
        raise CharacterError(error.format("no ankle joint found below the", f"knee ({how} without a hinge); {NEEDS}"))
    return Leg(tuple(chain), knee, ankle, merged(tree, chain, ankle, length))
