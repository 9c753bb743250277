"""The anatomy of a body to import: which way it stands and faces, where its legs are, which part plays which role.

Lengths, masses, hinges and the directions in which feet extend and knees fold tell all of it; names tell nothing.
Every hinge goes to one link of a kind and a side.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from surefoot.characters.links import LEFT, MIDDLE, RIGHT
from surefoot.characters.mjcf_import_tree import Array, KinematicTree, LimbPair, unit
from surefoot.errors import CharacterError

_UPRIGHT = np.cos(np.radians(25.0))  # a hinge or leg nearer than this to the trunk's line may define what is upright
_SAME = np.cos(np.radians(5.0))
_ROUND = 0.1  # of a foot's length: a foot must extend this much farther to one side of its ankle to tell forward


def in_sagittal_plane(v: Array, lateral: Array) -> Array:
    """The part of a vector within the sagittal plane."""
    return np.asarray(v - (v @ lateral) * lateral)


def estimate_up(tree: KinematicTree, pair: LimbPair) -> Array | None:
    """The direction from the ends of a pair of limbs to their roots, if they hang away from the rest of the body."""
    hips = [tree.anchor(start, pair.stem) for start in (pair.first, pair.second)]
    limbs = [tree.branch(start, pair.stem) for start in (pair.first, pair.second)]
    lateral = unit(hips[0] - hips[1])
    down = np.mean([tree.farthest_point(limb, hip) - hip for limb, hip in zip(limbs, hips, strict=True)], axis=0)
    length = float(np.mean([np.linalg.norm(tree.farthest_point(x, h) - h) for x, h in zip(limbs, hips, strict=True)]))
    sagittal = in_sagittal_plane(down, lateral)
    if np.linalg.norm(sagittal) < 0.5 * length:
        return None
    rest = [p for p in tree.parts if p not in limbs[0] and p not in limbs[1]]
    body = in_sagittal_plane(tree.com(rest) - np.mean(hips, axis=0), lateral)
    if np.linalg.norm(body) < 0.1 * length:
        return -unit(sagittal)
    return None if body @ sagittal > 0.0 else unit(body)


def find_forward(
    tree: KinematicTree, chains: list[list[int]], knees: list[int | None], guess: Array, lateral: Array
) -> tuple[Array, tuple[str, ...]]:
    """The forward direction, `guess` or its opposite: where the feet extend, else away from where the shins fold.

    Returns:
        The direction (3,), and a note where feet and knees do not agree.
    """
    feet = shins = 0.0
    for chain, knee in zip(chains, knees, strict=True):
        past = next((i for i in range((knee or 0) + 1, len(chain))), None)
        if past is not None:
            ankle = tree.anchor(chain[past], chain[past - 1])
            centres, radii = tree.bounding_balls(chain[past:])
            along = (centres - ankle) @ guess
            if len(along):
                ahead, behind = float(np.max(along + radii)), float(np.min(along - radii))
                feet += (ahead + behind) / max(ahead - behind, 1e-9) / 2.0
        if knee is not None:
            shins -= _fold(tree, chain, knee, guess, lateral)
    if abs(feet) < _ROUND and shins == 0.0:
        return guess, ("neither feet nor knees tell which way is forward: it is a guess",)
    if abs(feet) < _ROUND:
        return guess * np.sign(shins), ("only the knees tell which way is forward",)
    if feet * shins < 0.0:
        return guess * np.sign(feet), ("feet point one way, knees fold the other: forward is where the feet point",)
    return guess * np.sign(feet), (("only the feet tell which way is forward",) if shins == 0.0 else ())


def _fold(tree: KinematicTree, chain: list[int], knee: int, ahead: Array, lateral: Array) -> float:
    """+1 where the knee's range lets the shin fold ahead, −1 where behind, 0 where both."""
    joints = tree.hinges_between(chain[knee], chain[knee - 1])
    joint = max(joints, key=lambda j: abs(tree.data.xaxis[j] @ lateral))
    low, high = tree.joint_range(joint)
    if abs(low + high) < 0.3:
        return 0.0
    anchor = tree.data.xanchor[joint]
    moved = np.cross(tree.data.xaxis[joint], tree.farthest_point(chain[knee:], anchor) - anchor)
    return float(np.sign(moved @ ahead) * np.sign(low + high))


def refine_up(
    tree: KinematicTree, stem: int, chains: list[list[int]], left: Array, coarse: Array, legs: Array
) -> Array:
    """The most likely upward axis: the line of the legs, or a hinge's axis very near to it.

    If the legs are not drawn straight, it is a hinge's axis near the trunk's line, or else that line itself.
    """
    axes = [[tree.data.xaxis[j] for j in tree.hinges_between(chain[0], stem)] for chain in chains]
    turned = [[a * np.sign(a @ coarse) for a in side] for side in axes]
    hinges = [a + b for a, b in zip(*turned, strict=False)]
    for part in tree.neighbours[stem]:
        if part not in (chains[0][0], chains[1][0]):
            hinges += [(a := tree.data.xaxis[j]) * np.sign(a @ coarse) for j in tree.hinges_between(part, stem)]
    witnesses = [unit(in_sagittal_plane(a, left)) for a in hinges]
    line, trunk = unit(in_sagittal_plane(legs, left)), unit(in_sagittal_plane(coarse, left))
    plain, near = (line, _SAME) if line @ trunk > _UPRIGHT else (trunk, _UPRIGHT)
    best = max(witnesses, key=lambda w: float(w @ plain), default=plain)
    return best if best @ plain > near else plain


NEEDS = "a walker needs hips, knees and ankles"
_KNEE, _ANKLE = (0.2, 0.7), 0.6  # how far along the leg they may be, of its length
_LATERAL = 0.6  # cosine of a knee's axis with the line through the hips, at least
_BEND = 0.35  # [rad] range of a knee at least
_NARROW = 0.02  # of the leg's length: hips nearer to each other are those of a planar body
_SPREAD, _APART = 0.165, 0.08  # of the leg's length: hinges of one joint, and their lines, are nearer to each other
_PARALLEL = 0.9  # cosine of hinges that turn the same way, and so belong to different joints


@dataclass(frozen=True)
class Leg:
    """The parts along a leg, and the places of shin, ankle and foot among them.

    All hinges before the shin are the hip's, those at the shin the knee's, those between `ankle` and foot the
    ankle's; parts beyond the foot are toes.
    """

    chain: tuple[int, ...]
    shin: int
    ankle: int
    foot: int

    def foot_parts(self, tree: KinematicTree) -> list[int]:
        """The foot and everything beyond it."""
        return tree.branch(self.chain[self.foot], self.chain[self.foot - 1])


@dataclass(frozen=True)
class Legs:
    """Both legs, left first, the part they leave, and that part's orientation in the character frame (3, 3)."""

    pelvis: int
    left: Leg
    right: Leg
    upright: Array
    length: float  # [m] from the hip along the leg to the farthest end of the foot
    notes: tuple[str, ...]


def find_legs(tree: KinematicTree, what: str) -> Legs:
    """Find the legs of a body; the message of an error begins with `what`."""
    for pair in tree.limb_pairs(tree.parts):
        coarse = estimate_up(tree, pair)
        if coarse is not None:
            return _legs(tree, pair, coarse, what)
    raise CharacterError(f"{what}: no two legs found: no two like limbs hang side by side below a body; {NEEDS}")


def hip_center(tree: KinematicTree, leg: Leg, pelvis: int) -> Array:
    """(3,) the centre of a hip: the point next to the thigh's own hinges on the hinge that swings the leg to and fro.

    The hinges of a robot's hip do not meet in a point.
    """
    path = [pelvis, *leg.chain]
    joints = [j for i in range(1, leg.shin + 1) for j in tree.hinges_between(path[i], path[i - 1])]
    knee = max(tree.hinges_between(path[leg.shin + 1], path[leg.shin]), key=lambda j: abs(float(tree.data.xaxis[j, 1])))
    swing = max(joints, key=lambda j: abs(float(tree.data.xaxis[j] @ tree.data.xaxis[knee])))
    axis, at = tree.data.xaxis[swing], tree.data.xanchor[swing]
    return np.asarray(at + ((tree.anchor(path[leg.shin], path[leg.shin - 1]) - at) @ axis) * axis)


def last_hinge_of_joint(tree: KinematicTree, path: list[int], first: int, length: float) -> int:
    """The last index along a path whose hinges still belong to the joint between `path[first - 1]` and `path[first]`.

    Robots have a small body between the hinges of a joint. Such hinges lie close together, no two turn the same way,
    there are three at most, and nothing branches off between them.
    """
    hinges = list(tree.hinges_between(path[first - 1], path[first]))
    last = first
    while last + 1 < len(path) and len(tree.neighbours[path[last]]) == 2 and path[last] != tree.root:
        more = tree.hinges_between(path[last], path[last + 1])
        if len(hinges) + len(more) > 3 or not all(_near(tree, a, b, length) for a in hinges for b in more):
            break
        hinges += more
        last += 1
    return last


def _near(tree: KinematicTree, one: int, other: int, length: float) -> bool:
    """Whether two hinges turn in different directions about nearly the same point."""
    apart = tree.data.xanchor[one] - tree.data.xanchor[other]
    axis, second = tree.data.xaxis[one], tree.data.xaxis[other]
    if np.linalg.norm(apart) > _SPREAD * length or abs(axis @ second) > _PARALLEL:
        return False
    return bool(abs(apart @ unit(np.cross(axis, second))) < _APART * length)


def _legs(tree: KinematicTree, pair: LimbPair, coarse: Array, what: str) -> Legs:
    chains = [tree.chain(start, pair.stem) for start in (pair.first, pair.second)]
    hips = [tree.anchor(start, pair.stem) for start in (pair.first, pair.second)]
    length = float(np.mean([_places(tree, chain, pair.stem)[1] for chain in chains]))
    if np.linalg.norm(hips[0] - hips[1]) < _NARROW * length:
        raise CharacterError(f"{what}: both hips are in the same place: a planar body; {NEEDS}, side by side")
    lateral = unit(hips[0] - hips[1])
    knees = [_knee(tree, chain, pair.stem, lateral) for chain in chains]
    ahead, notes = find_forward(tree, chains, knees, unit(np.cross(lateral, coarse)), lateral)
    names = ("left", "right") if np.cross(coarse, ahead) @ lateral > 0.0 else ("right", "left")
    legs = {
        side: _leg(tree, chain, knee, pair.stem, length, f"{what}: {{}} {side} {{}}")
        for side, chain, knee in sorted(zip(names, chains, knees, strict=True), key=lambda leg: leg[0])
    }
    left = lateral if names[0] == "left" else -lateral
    ankles = [tree.anchor(leg.chain[leg.ankle], leg.chain[leg.ankle - 1]) for leg in legs.values()]
    up = refine_up(tree, pair.stem, chains, left, coarse, np.mean(hips, axis=0) - np.mean(ankles, axis=0))
    _stands_on_two(tree, chains, pair.stem, up, np.mean(ankles, axis=0), what)
    axes = np.array([np.cross(left, up), left, up])
    upright = axes @ tree.data.xmat[pair.stem].reshape(3, 3)
    return Legs(pair.stem, legs["left"], legs["right"], upright, length, notes)


def _stands_on_two(tree: KinematicTree, chains: list[list[int]], stem: int, up: Array, ankle: Array, what: str) -> None:
    legs = {part for chain in chains for part in tree.branch(chain[0], stem)}
    for part in tree.parts:
        centres, radii = tree.bounding_balls([part])
        if part not in legs and len(centres) and np.min(centres @ up - radii) < ankle @ up:
            name = tree.model.body(part).name
            raise CharacterError(f"{what}: '{name}' reaches as low as the feet; a walker stands on two legs alone")


def _places(tree: KinematicTree, chain: list[int], stem: int) -> tuple[list[float], float]:
    """How far along a leg the hinges of each part are, and how long the leg is [m]."""
    anchors = [tree.anchor(a, b) for a, b in zip(chain, [stem, *chain], strict=False)]
    places = [0.0, *np.cumsum([np.linalg.norm(b - a) for a, b in itertools.pairwise(anchors)])]
    end = tree.farthest_point([chain[-1]], anchors[-1])
    return [float(p) for p in places], float(places[-1] + np.linalg.norm(end - anchors[-1]))


def _knee(tree: KinematicTree, chain: list[int], stem: int, lateral: Array) -> int | None:
    """Index of the shin in its chain: behind the hinge across the leg that is nearest to the leg's middle."""
    places, length = _places(tree, chain, stem)
    found = [
        i for i in range(1, len(chain))
        if _KNEE[0] * length < places[i] < _KNEE[1] * length
        and max(abs(tree.data.xaxis[j] @ lateral) for j in tree.hinges_between(chain[i], chain[i - 1])) > _LATERAL
    ]  # fmt: skip
    return min(found, key=lambda i: abs(places[i] / length - 0.45), default=None)


def _leg(tree: KinematicTree, chain: list[int], knee: int | None, stem: int, length: float, error: str) -> Leg:
    """Thigh, shin and foot of a chain; `error` is a message to fill with what is missing and where."""
    name = tree.model.body
    first, last = name(chain[0]).name, name(tree.bodies(chain[-1])[-1]).name
    if knee is None:
        where = f"leg between '{first}' and '{last}'; {NEEDS}"
        raise CharacterError(error.format("no knee joint found in the", where))
    bend = max(high - low for low, high in map(tree.joint_range, tree.hinges_between(chain[knee], chain[knee - 1])))
    if bend < _BEND:
        why = f"knee bends by {np.degrees(bend):.1f}° only; are angles in the file's unit?"
        raise CharacterError(error.format("the", why))
    places = _places(tree, chain, stem)[0]
    ankle = next((i for i in range(knee + 1, len(chain)) if places[i] > _ANKLE * length), None)
    if ankle is None:
        shin = name(chain[-1]).name
        how = f"'{shin}' ends in '{last}'" if last != shin else f"'{shin}' ends"
        raise CharacterError(error.format("no ankle joint found below the", f"knee ({how} without a hinge); {NEEDS}"))
    return Leg(tuple(chain), knee, ankle, last_hinge_of_joint(tree, chain, ankle, length))


_SHORTEST_ARM = 0.25  # of the leg's length
_CLAVICLE = 0.35  # of the rest of the arm: a part before the shoulder is shorter
_LIGHT = 0.15  # of what is above the pelvis: the last part of a body without arms is a head if it is lighter
_TURNS = 0.7  # length of an anatomical axis within the span of a joint's hinges, at least


@dataclass(frozen=True)
class Role:
    """A link, with its parts and joints by number; `joints` are in MuJoCo's order."""

    part: int
    base: int
    joints: tuple[int, ...]
    kind: str
    side: int


def assign_roles(tree: KinematicTree, legs: Legs) -> list[Role]:
    """All links of a body whose pelvis is turned as in the character frame, the nearest to the pelvis first."""
    found: list[Role] = []
    for side, leg in ((LEFT, legs.left), (RIGHT, legs.right)):
        path = [legs.pelvis, *leg.chain]
        found += _joined(tree, path, 1, leg.shin, "hip", side)
        found += _joined(tree, path, leg.shin + 1, leg.shin + 1, "knee", side)
        found += _joined(tree, path, leg.ankle + 1, leg.foot + 1, "ankle", side)
        found += [_role(tree, p, _nearer(tree, p, legs.pelvis), "toe", side) for p in leg.foot_parts(tree)[1:]]
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


def missing_parts(tree: KinematicTree, found: list[Role]) -> tuple[str, ...]:
    """What a body in its neutral posture does not have, in words."""
    kinds = {role.kind for role in found}
    missing = []
    for kind, turns in (("hip", ("roll", "pitch", "yaw")), ("ankle", ("roll", "pitch"))):
        for axis, turn in zip(np.eye(3), turns, strict=False):
            if any(not _turns(tree, found, kind, side, axis) for side in (LEFT, RIGHT)):
                missing.append(f"{kind} {turn}")
    words = ("toes", "waist", "neck", "arms", "elbows", "wrists")
    parts = ("toe", "lower_back", "neck", "shoulder", "elbow", "wrist")
    missing += [word for kind, word in zip(parts, words, strict=True) if kind not in kinds]
    return tuple(m for m in missing if m not in ("elbows", "wrists") or "arms" not in missing)


def _turns(tree: KinematicTree, found: list[Role], kind: str, side: int, axis: np.ndarray) -> bool:
    joints = [j for role in found if role.kind == kind and role.side == side for j in role.joints]
    span = np.linalg.svd(np.array([tree.data.xaxis[j] for j in joints]), full_matrices=False)
    kept = span[2][span[1] > 0.2]
    return bool(np.linalg.norm(kept @ axis) > _TURNS)


def _role(tree: KinematicTree, part: int, base: int, kind: str, side: int) -> Role:
    return Role(part, base, tree.hinges_between(part, base), kind, side)


def _starts(legs: Legs) -> tuple[int, int]:
    return legs.left.chain[0], legs.right.chain[0]


def _joined(tree: KinematicTree, path: list[int], first: int, last: int, kind: str, side: int) -> list[Role]:
    """The links from `path[first - 1]` to `path[last]`: one, unless something branches off in between."""
    inner = path[first:last]
    if any(len(tree.neighbours[p]) != 2 or p == tree.root for p in inner):
        return [_role(tree, path[i], path[i - 1], kind, side) for i in range(first, last + 1)]
    joints = sorted(j for i in range(first, last + 1) for j in tree.hinges_between(path[i], path[i - 1]))
    return [Role(path[last], path[first - 1], tuple(joints), kind, side)]


def _joints(tree: KinematicTree, path: list[int], length: float) -> list[tuple[int, int]]:
    """First and last index of the hinges of each joint along a path."""
    found, first = [], 1
    while first < len(path):
        last = last_hinge_of_joint(tree, path, first, length)
        found.append((first, last))
        first = last + 1
    return found


def _path(tree: KinematicTree, start: int, end: int) -> list[int]:
    way = [end]
    while way[-1] != start:
        way.append(_nearer(tree, way[-1], start))
    return way[::-1]


def _nearer(tree: KinematicTree, part: int, pelvis: int) -> int:
    return next(n for n in tree.neighbours[part] if pelvis in tree.branch(n, part))


def _arms(tree: KinematicTree, legs: Legs) -> LimbPair | None:
    """The strongest pair of similar limbs, one on each side, that are not legs."""
    own = {p for start in _starts(legs) for p in tree.branch(start, legs.pelvis)}
    for pair in tree.limb_pairs([p for p in tree.parts if p not in own]):
        a, b = (float(tree.com(tree.branch(start, pair.stem))[1]) for start in (pair.first, pair.second))
        long = tree.reach(pair.first, pair.stem) > _SHORTEST_ARM * legs.length
        if long and a * b < 0.0 and abs(a + b) < 0.3 * abs(a - b):
            return pair
    return None


def _armless(tree: KinematicTree, legs: Legs) -> list[int]:
    """The trunk of a body without arms: from the pelvis along the heaviest branch above it."""
    above = [
        n for n in tree.neighbours[legs.pelvis]
        if n not in _starts(legs) and tree.com(tree.branch(n, legs.pelvis))[2] > tree.com([legs.pelvis])[2]
    ]  # fmt: skip
    first = max(above, key=lambda n: tree.mass(tree.branch(n, legs.pelvis)), default=None)
    return [legs.pelvis] if first is None else [legs.pelvis, *tree.chain(first, legs.pelvis)]


def _is_head(tree: KinematicTree, trunk: list[int], legs: Legs) -> bool:
    return len(trunk) > 2 and tree.mass(trunk[-1:]) < _LIGHT * tree.mass(tree.branch(trunk[1], legs.pelvis))


def _arm(tree: KinematicTree, path: list[int], length: float) -> list[Role]:
    """Shoulder, elbow, wrist and what follows; a short link with fewer hinges than the next one is a clavicle."""
    side = LEFT if tree.com(path[1:])[1] > 0.0 else RIGHT
    joints = _joints(tree, path, length)
    kinds = ["shoulder", "elbow", "wrist"]
    if len(joints) > 2:
        counts = [sum(len(tree.hinges_between(path[i], path[i - 1])) for i in range(a, b + 1)) for a, b in joints[:2]]
        near, far = (joints[k][0] for k in (0, 1))
        before = np.linalg.norm(tree.anchor(path[far], path[far - 1]) - tree.anchor(path[near], path[near - 1]))
        if counts[1] > counts[0] and before < _CLAVICLE * tree.reach(path[far], path[far - 1]):
            kinds.insert(0, "other")
    kinds += ["other"] * len(joints)
    return [r for (a, b), kind in zip(joints, kinds, strict=False) for r in _joined(tree, path, a, b, kind, side)]


def _rest(tree: KinematicTree, legs: Legs, found: list[Role]) -> list[Role]:
    """All links in the order of their distance from the pelvis; hinges without a role become links that hold still."""
    taken = {j for role in found for j in role.joints}
    sides = {role.part: role.side for role in found}
    for part in tree.branch(legs.pelvis, -1)[1:]:
        base = _nearer(tree, part, legs.pelvis)
        sides.setdefault(part, sides.get(base, MIDDLE))
        if not taken & set(tree.hinges_between(part, base)):
            found.append(_role(tree, part, base, "other", sides[part]))
    order = tree.branch(legs.pelvis, -1)
    return sorted(found, key=lambda role: order.index(role.part))
