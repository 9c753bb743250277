"""Which part of a stranger plays which role: every hinge goes to one link of a kind and a side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.characters.limbs import LEFT, MIDDLE, RIGHT
from surefoot.characters.stranger_legs import Legs, merged
from surefoot.characters.stranger_tree import Tree, Twins

_SHORTEST_ARM = 0.25  # of the leg's length
_CLAVICLE = 0.35  # of the rest of the arm: a part before the shoulder is shorter
_LIGHT = 0.15  # of what is above the pelvis: the last part of a body without arms is a head if it is lighter
_TURNS = 0.7  # length of an anatomical axis within the span of a joint's hinges, at least


@dataclass(frozen=True)
class Role:
    """A link by its parts' numbers; `joints` in MuJoCo's order."""

    part: int
    base: int
    joints: tuple[int, ...]
    kind: str
    side: int


def roles(tree: Tree, legs: Legs) -> list[Role]:
    """All links of a body that stands in the character frame, the nearest to the pelvis first."""
    found: list[Role] = []
    for side, leg in ((LEFT, legs.left), (RIGHT, legs.right)):
        path = [legs.pelvis, *leg.chain]
        found += _joined(tree, path, 1, leg.shin, "hip", side)
        found += _joined(tree, path, leg.shin + 1, leg.shin + 1, "knee", side)
        found += _joined(tree, path, leg.ankle + 1, leg.foot + 1, "ankle", side)
        foot = leg.chain[leg.foot]
        beyond = [p for n in tree.neighbours[foot] if n != leg.chain[leg.foot - 1] for p in tree.branch(n, foot)]
        found += [_role(tree, p, _nearer(tree, p, legs.pelvis), "toe", side) for p in beyond]
    arms = _arms(tree, legs)
    trunk = _path(tree, legs.pelvis, arms.stem) if arms else _armless(tree, legs)
    head = trunk.pop() if not arms and _is_head(tree, trunk, legs) else None
    for i, (first, last) in enumerate(_joints(tree, trunk, legs.length)):
        found += _joined(tree, trunk, first, last, "lower_back" if i == 0 else "upper_back", MIDDLE)
    for start in (arms.first, arms.second) if arms else ():
        found += _arm(tree, [trunk[-1], *tree.chain(start, trunk[-1])], legs.length)
    if head is None:
        taken = {trunk[-2] if len(trunk) > 1 else -1, *_starts(legs), *((arms.first, arms.second) if arms else ())}
        tops = [n for n in tree.neighbours[trunk[-1]] if n not in taken]
        highest = {n: float(tree.com(tree.branch(n, trunk[-1]))[2]) for n in tops}
        head = max(highest, key=lambda n: highest[n], default=None)
        if head is not None and highest[head] < tree.com([trunk[-1]])[2]:
            head = None
    if head is not None:
        neck = [trunk[-1], *tree.chain(head, trunk[-1])]
        for first, last in _joints(tree, neck, legs.length):
            found += _joined(tree, neck, first, last, "neck", MIDDLE)
    return _rest(tree, legs, found)


def lacks(tree: Tree, found: list[Role]) -> tuple[str, ...]:
    """What a body in its neutral posture has not, in words."""
    kinds = {role.kind for role in found}
    missing = []
    for kind, turns in (("hip", ("roll", "pitch", "yaw")), ("ankle", ("roll", "pitch"))):
        for axis, turn in zip(np.eye(3)[[0, 1, 2]], turns, strict=False):
            if any(not _turns(tree, found, kind, side, axis) for side in (LEFT, RIGHT)):
                missing.append(f"{kind} {turn}")
    words = {
        "toe": "toes",
        "lower_back": "waist",
        "neck": "neck",
        "shoulder": "arms",
        "elbow": "elbows",
        "wrist": "wrists",
    }
    missing += [word for kind, word in words.items() if kind not in kinds]
    return tuple(m for m in missing if m not in ("elbows", "wrists") or "arms" not in missing)


def _turns(tree: Tree, found: list[Role], kind: str, side: int, axis: np.ndarray) -> bool:
    joints = [j for role in found if role.kind == kind and role.side == side for j in role.joints]
    span = np.linalg.svd(np.array([tree.data.xaxis[j] for j in joints]), full_matrices=False)
    kept = span[2][span[1] > 0.2]
    return bool(np.linalg.norm(kept @ axis) > _TURNS)


def _role(tree: Tree, part: int, base: int, kind: str, side: int) -> Role:
    return Role(part, base, tree.between(part, base), kind, side)


def _starts(legs: Legs) -> tuple[int, int]:
    return legs.left.chain[0], legs.right.chain[0]


def _joined(tree: Tree, path: list[int], first: int, last: int, kind: str, side: int) -> list[Role]:
    """The links from `path[first - 1]` to `path[last]`: one, unless something branches off in between."""
    inner = path[first:last]
    if any(len(tree.neighbours[p]) != 2 or p == tree.root for p in inner):
        return [_role(tree, path[i], path[i - 1], kind, side) for i in range(first, last + 1)]
    joints = sorted(j for i in range(first, last + 1) for j in tree.between(path[i], path[i - 1]))
    return [Role(path[last], path[first - 1], tuple(joints), kind, side)]


def _joints(tree: Tree, path: list[int], length: float) -> list[tuple[int, int]]:
    """First and last place of the hinges of each joint along a path."""
    found, first = [], 1
    while first < len(path):
        last = merged(tree, path, first, length)
        found.append((first, last))
        first = last + 1
    return found


def _path(tree: Tree, start: int, end: int) -> list[int]:
    way = [end]
    while way[-1] != start:
        way.append(_nearer(tree, way[-1], start))
    return way[::-1]


def _nearer(tree: Tree, part: int, pelvis: int) -> int:
    return next(n for n in tree.neighbours[part] if pelvis in tree.branch(n, part))


def _arms(tree: Tree, legs: Legs) -> Twins | None:
    """The strongest pair of like limbs, one on each side, that are not legs."""
    own = {p for start in _starts(legs) for p in tree.branch(start, legs.pelvis)}
    for pair in tree.twins([p for p in tree.parts if p not in own]):
        a, b = (float(tree.com(tree.branch(start, pair.stem))[1]) for start in (pair.first, pair.second))
        long = tree.reach(pair.first, pair.stem) > _SHORTEST_ARM * legs.length
        if long and a * b < 0.0 and abs(a + b) < 0.3 * abs(a - b):
            return pair
    return None


def _armless(tree: Tree, legs: Legs) -> list[int]:
    """From the pelvis along what is heaviest and higher than it."""
    above = [
        n for n in tree.neighbours[legs.pelvis]
        if n not in _starts(legs) and tree.com(tree.branch(n, legs.pelvis))[2] > tree.com([legs.pelvis])[2]
    ]  # fmt: skip
    first = max(above, key=lambda n: tree.mass(tree.branch(n, legs.pelvis)), default=None)
    return [legs.pelvis] if first is None else [legs.pelvis, *tree.chain(first, legs.pelvis)]


def _is_head(tree: Tree, trunk: list[int], legs: Legs) -> bool:
    return len(trunk) > 2 and tree.mass(trunk[-1:]) < _LIGHT * tree.mass(tree.branch(trunk[1], legs.pelvis))


def _arm(tree: Tree, path: list[int], length: float) -> list[Role]:
    """Shoulder, elbow, wrist and what follows; a short link with fewer hinges than the next one is a clavicle."""
    side = LEFT if tree.com(path[1:])[1] > 0.0 else RIGHT
    joints = _joints(tree, path, length)
    kinds = ["shoulder", "elbow", "wrist"]
    if len(joints) > 2:
        counts = [sum(len(tree.between(path[i], path[i - 1])) for i in range(a, b + 1)) for a, b in joints[:2]]
        near, far = (joints[k][0] for k in (0, 1))
        before = np.linalg.norm(tree.anchor(path[far], path[far - 1]) - tree.anchor(path[near], path[near - 1]))
        if counts[1] > counts[0] and before < _CLAVICLE * tree.reach(path[far], path[far - 1]):
            kinds.insert(0, "other")
    kinds += ["other"] * len(joints)
    return [r for (a, b), kind in zip(joints, kinds, strict=False) for r in _joined(tree, path, a, b, kind, side)]


def _rest(tree: Tree, legs: Legs, found: list[Role]) -> list[Role]:
    """All links in the order of their distance from the pelvis, with those that only hold still."""
    taken = {j for role in found for j in role.joints}
    sides = {role.part: role.side for role in found}
    for part in tree.branch(legs.pelvis, -1)[1:]:
        base = _nearer(tree, part, legs.pelvis)
        sides.setdefault(part, sides.get(base, MIDDLE))
        if not taken & set(tree.between(part, base)):
            found.append(_role(tree, part, base, "other", sides[part]))
    order = tree.branch(legs.pelvis, -1)
    return sorted(found, key=lambda role: order.index(role.part))
