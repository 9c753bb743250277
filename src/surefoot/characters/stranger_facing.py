"""Which way a stranger stands and faces: from where its legs hang, its feet extend and its knees fold."""

from __future__ import annotations

import numpy as np

from surefoot.characters.stranger_tree import Array, Tree, Twins

_UPRIGHT = np.cos(np.radians(25.0))  # what is nearer than this to the line of the trunk may tell what is upright
_SAME = np.cos(np.radians(5.0))
_ROUND = 0.1  # of a foot's length: a foot that extends ahead of its ankle by less than this more tells nothing


def unit(v: Array) -> Array:
    """A vector of length 1, or as good as 0."""
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))


def across(v: Array, lateral: Array) -> Array:
    """The part of a vector within the sagittal plane."""
    return np.asarray(v - (v @ lateral) * lateral)


def coarse_up(tree: Tree, pair: Twins) -> Array | None:
    """From the ends of a pair of limbs to their roots, if they hang away from the rest of the body."""
    hips = [tree.anchor(start, pair.stem) for start in (pair.first, pair.second)]
    limbs = [tree.branch(start, pair.stem) for start in (pair.first, pair.second)]
    lateral = unit(hips[0] - hips[1])
    down = np.mean([tree.far_point(limb, hip) - hip for limb, hip in zip(limbs, hips, strict=True)], axis=0)
    length = float(np.mean([np.linalg.norm(tree.far_point(x, h) - h) for x, h in zip(limbs, hips, strict=True)]))
    sagittal = across(down, lateral)
    if np.linalg.norm(sagittal) < 0.5 * length:
        return None
    rest = [p for p in tree.parts if p not in limbs[0] and p not in limbs[1]]
    body = across(tree.com(rest) - np.mean(hips, axis=0), lateral)
    if np.linalg.norm(body) < 0.1 * length:
        return -unit(sagittal)
    return None if body @ sagittal > 0.0 else unit(body)


def forward(
    tree: Tree, chains: list[list[int]], knees: list[int | None], guess: Array, lateral: Array
) -> tuple[Array, tuple[str, ...]]:
    """`guess` or its opposite: where the feet extend to, else away from where the shins fold."""
    feet = shins = 0.0
    for chain, knee in zip(chains, knees, strict=True):
        past = next((i for i in range((knee or 0) + 1, len(chain))), None)
        if past is not None:
            ankle = tree.anchor(chain[past], chain[past - 1])
            centres, radii = tree.cloud(chain[past:])
            along = (centres - ankle) @ guess
            if len(along):
                ahead, behind = float(np.max(along + radii)), float(np.min(along - radii))
                feet += (ahead + behind) / max(ahead - behind, 1e-9) / 2.0
        if knee is not None:
            shins -= _fold(tree, chain, knee, guess, lateral)
    if abs(feet) < _ROUND and shins == 0.0:
        return guess, ("neither feet nor knees tell forward from backward: a guess",)
    if abs(feet) < _ROUND:
        return guess * np.sign(shins), ("forward is told by the knees alone",)
    if feet * shins < 0.0:
        return guess * np.sign(feet), ("feet point one way, knees fold the other: forward is where the feet point",)
    return guess * np.sign(feet), (("forward is told by the feet alone",) if shins == 0.0 else ())


def _fold(tree: Tree, chain: list[int], knee: int, ahead: Array, lateral: Array) -> float:
    """+1 where the knee's range lets the shin fold ahead, −1 where behind, 0 where both."""
    joints = tree.between(chain[knee], chain[knee - 1])
    joint = max(joints, key=lambda j: abs(tree.data.xaxis[j] @ lateral))
    low, high = tree.span(joint)
    if abs(low + high) < 0.3:
        return 0.0
    anchor = tree.data.xanchor[joint]
    moved = np.cross(tree.data.xaxis[joint], tree.far_point(chain[knee:], anchor) - anchor)
    return float(np.sign(moved @ ahead) * np.sign(low + high))


def upward(tree: Tree, stem: int, chains: list[list[int]], left: Array, coarse: Array, legs: Array) -> Array:
    """The upward axis that is most likely meant: the line of the legs, or a hinge's axis very near to it.

    Where the legs are not drawn straight, a hinge's axis near to the trunk's line; else that line.
    """
    axes = [[tree.data.xaxis[j] for j in tree.between(chain[0], stem)] for chain in chains]
    turned = [[a * np.sign(a @ coarse) for a in side] for side in axes]
    hinges = [a + b for a, b in zip(*turned, strict=False)]
    for part in tree.neighbours[stem]:
        if part not in (chains[0][0], chains[1][0]):
            hinges += [(a := tree.data.xaxis[j]) * np.sign(a @ coarse) for j in tree.between(part, stem)]
    witnesses = [unit(across(a, left)) for a in hinges]
    line, trunk = unit(across(legs, left)), unit(across(coarse, left))
    plain, near = (line, _SAME) if line @ trunk > _UPRIGHT else (trunk, _UPRIGHT)
    best = max(witnesses, key=lambda w: float(w @ plain), default=plain)
    return best if best @ plain > near else plain
