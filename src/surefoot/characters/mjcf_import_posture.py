"""The neutral posture of an imported body: legs straight, feet flat and pointing ahead, arms hanging, trunk upright."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial import ConvexHull, QhullError

from surefoot.characters.links import LEFT, RIGHT
from surefoot.characters.mjcf_import_anatomy import Leg, Legs, Role, hip_center
from surefoot.characters.mjcf_import_tree import Array, KinematicTree, unit

_MARGIN = 0.02  # [rad] kept from the ends of a hinge's range
_LEANING = np.radians(15.0)  # a trunk drawn more upright than this is left as it is drawn
_DOWN, _AHEAD = np.array([0.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0])
_FLAT, _STRAIGHT, _AT_EASE = 3.0, 0.3, 0.003  # weights: sole flat and ahead, knee straight and ahead, little bent
_SAME_COST = 1e-6  # the first of several postures as good as each other is taken


def find_neutral_posture(tree: KinematicTree, legs: Legs, roles: list[Role]) -> list[str]:
    """Bring a tree, whose pelvis is held upright, into its neutral posture.

    Returns:
        A note for each foot that cannot be put flat or straight ahead within the ranges of its joints.
    """
    tree.set_angles({j: float(np.clip(0.0, *tree.joint_range(j, _MARGIN))) for j in tree.hinges})
    _raise_trunk(tree, legs, roles)
    for side, leg in ((LEFT, legs.left), (RIGHT, legs.right)):
        _straighten(tree, leg, [legs.pelvis, *leg.chain])
        _hang(tree, [r for r in roles if r.side == side and r.kind in ("shoulder", "elbow", "wrist")])
    return [note for name, leg in (("left", legs.left), ("right", legs.right)) for note in _shortfall(tree, leg, name)]


def sole_frame(tree: KinematicTree, leg: Leg) -> tuple[Array, Array]:
    """Normal of a foot's sole, pointing down, and the direction of its toes, both (3,) in the present pose.

    The sole is the facet on which the hull of foot and toes would rest. If the foot is too round for that, its present
    pose counts as flat.
    """
    centres, radii = tree.bounding_balls(leg.foot_parts(tree))
    down = _DOWN
    for _ in range(20 if len(centres) else 0):
        before, down = down, _resting(centres, radii, down)
        if before @ down > 1.0 - 1e-14:
            break
    joints = [j for a, b in zip(leg.chain[leg.ankle : leg.foot + 1], leg.chain[leg.ankle - 1 :], strict=False)
              for j in tree.hinges_between(a, b)]  # fmt: skip
    axis = max((tree.data.xaxis[j] for j in joints), key=lambda a: abs(float(a[1])))
    ahead = np.cross(down, axis)
    ahead *= np.sign(ahead @ _AHEAD) or 1.0
    return down, np.asarray(ahead / np.linalg.norm(ahead))


def _resting(centres: Array, radii: Array, down: Array) -> Array:
    """Outward normal of the facet that a hull of balls rests on when it is put down along `down`."""
    side = np.cross(down, _AHEAD if abs(down[0]) < 0.9 else np.array([0.0, 1.0, 0.0]))
    side /= np.linalg.norm(side)
    ahead = np.cross(side, down)
    low, r = centres + radii[:, None] * down, radii[:, None]
    nubs = [low + 0.05 * r * way for way in (side, -side, ahead, -ahead)]  # a round foot has a small flat
    points = np.concatenate([low, centres - (r + 0.01) * down, *nubs])
    try:
        facets = ConvexHull(points).equations
    except QhullError:
        return down
    frame = np.array([ahead, side, down])
    spread = points @ frame.T
    middle = frame.T @ ((spread.max(axis=0) + spread.min(axis=0)) / 2.0)
    below = facets[facets[:, :3] @ down > 0.3]
    if not len(below):
        return down
    depth = -(below[:, :3] @ middle + below[:, 3]) / (below[:, :3] @ down)
    return np.asarray(below[int(np.argmin(depth)), :3])


def _solve(tree: KinematicTree, joints: list[int], misfit: Callable[[], Array], starts: list[list[float]]) -> None:
    """Bend joints within their ranges so that `misfit`, plus a small cost of every bend, is least."""
    if not joints:
        return
    low, high = np.array([tree.joint_range(j, _MARGIN) for j in joints]).T
    ease = np.array([tree.angles[j] for j in joints])

    def angles(u: Array) -> Array:  # u is 1 … 2 along the ranges: the solver's first step is as long as its vector
        return np.asarray(low + (high - low) * (u - 1.0))

    def residual(u: Array) -> Array:
        tree.set_angles(dict(zip(joints, angles(u), strict=True)))
        return np.concatenate([misfit(), _AT_EASE * (angles(u) - ease)])

    best: tuple[float, Array] = (np.inf, ease)
    for start in starts:
        inside = 1.0 + np.clip(start, 1e-3, 1.0 - 1e-3)
        done = least_squares(residual, inside, bounds=(1.0, 2.0), xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=300)
        if done.cost < best[0] - _SAME_COST:
            best = (float(done.cost), angles(done.x))
    tree.set_angles(dict(zip(joints, (float(a) for a in best[1]), strict=True)))


def _fractions(tree: KinematicTree, joints: list[int]) -> list[float]:
    """The present angles as fractions of their ranges."""
    spans = [tree.joint_range(j, _MARGIN) for j in joints]
    return [(tree.angles[j] - low) / max(high - low, 1e-9) for j, (low, high) in zip(joints, spans, strict=True)]


def _straighten(tree: KinematicTree, leg: Leg, path: list[int]) -> None:
    """Put the hip over the ankle, the knee in between with its hinge across, the sole flat and straight ahead."""
    last = leg.foot + 1
    joints = [j for i in range(1, last + 1) for j in tree.hinges_between(path[i], path[i - 1])]
    foot = path[last]
    inward = tree.data.xmat[foot].reshape(3, 3).T
    down, ahead = (inward @ v for v in sole_frame(tree, leg))
    knee_hinge = max(
        tree.hinges_between(path[leg.shin + 1], path[leg.shin]), key=lambda j: abs(float(tree.data.xaxis[j, 1]))
    )
    left = np.array([0.0, np.sign(tree.data.xaxis[knee_hinge, 1]), 0.0])

    def misfit() -> Array:
        hip = hip_center(tree, leg, path[0])
        knee, ankle = (tree.anchor(path[i], path[i - 1]) for i in (leg.shin + 1, leg.ankle + 1))
        turn = tree.data.xmat[foot].reshape(3, 3)
        flat = np.concatenate([turn @ down - _DOWN, turn @ ahead - _AHEAD])
        lines = np.concatenate([unit(knee - hip) - _DOWN, unit(ankle - knee) - _DOWN])
        across = tree.data.xaxis[knee_hinge] - left
        return np.concatenate([unit(ankle - hip) - _DOWN, _FLAT * flat, _STRAIGHT * lines, _STRAIGHT * across])

    _solve(tree, joints, misfit, [_fractions(tree, joints)])


def _hang(tree: KinematicTree, arm: list[Role]) -> None:
    """Let every segment of an arm point straight down."""
    joints = [j for role in arm for j in role.joints]
    if not joints:
        return

    def misfit() -> Array:
        ends = [_centre(tree, role) for role in arm]
        ends.append(tree.farthest_point([arm[-1].part], ends[-1]))
        return np.concatenate([unit(b - a) - _DOWN for a, b in itertools.pairwise(ends)])

    drawn, free = _fractions(tree, joints), len(arm[0].joints)
    corners = [[*c, *[0.5] * (len(joints) - free)] for c in itertools.product((0.25, 0.75), repeat=min(free, 3))]
    _solve(tree, joints, misfit, [drawn, [0.5] * len(joints), *(c for c in corners if len(c) == len(joints))])


def _centre(tree: KinematicTree, role: Role) -> Array:
    return np.asarray(np.mean([tree.data.xanchor[j] for j in role.joints], axis=0))


def _raise_trunk(tree: KinematicTree, legs: Legs, roles: list[Role]) -> None:
    """Put the shoulders, or the topmost part, over the hips, if the body is not drawn upright."""
    back = [role for role in roles if role.kind in ("lower_back", "upper_back")]
    joints = [j for role in back for j in role.joints]
    tops = [role for role in roles if role.kind == "shoulder"] or [role for role in roles if role.kind == "neck"]

    def line() -> Array:
        hips = [tree.anchor(leg.chain[0], legs.pelvis) for leg in (legs.left, legs.right)]
        top = np.mean([_centre(tree, role) for role in tops], axis=0) if tops else tree.com([back[-1].part])
        return unit(top - np.mean(hips, axis=0))

    if joints and line() @ -_DOWN < np.cos(_LEANING):
        _solve(tree, joints, lambda: line() + _DOWN, [_fractions(tree, joints)])


def _shortfall(tree: KinematicTree, leg: Leg, side: str) -> list[str]:
    down, ahead = sole_frame(tree, leg)
    tilt = np.degrees(np.arccos(np.clip(down @ _DOWN, -1.0, 1.0)))
    turn = abs(np.degrees(np.arctan2(ahead[1], ahead[0])))
    notes = [f"the {side} foot cannot be put flat: {tilt:.0f}°"] if tilt > 1.0 else []
    return notes + ([f"the {side} foot points {turn:.0f}° aside"] if turn > 5.0 else [])
