"""What the names of a skeleton's joints say: which part of the body each may be, and on which side."""

from __future__ import annotations

import re
from itertools import pairwise, product

from surefoot.motions.motion import Skeleton
from surefoot.motions.places import chain

LEG = (
    ("upleg", "thigh", "femur", "upperleg", "hip"),
    ("leg", "knee", "shin", "tibia", "calf", "lowerleg", "lowleg", "shank"),
    ("ankle", "foot"),
    ("toebase", "toe", "toes", "ball", "foot"),
)
ARM = (
    ("collar", "clavicle", "clav", "shoulder"),
    ("arm", "upperarm", "uparm", "humerus", "shoulder"),
    ("forearm", "elbow", "radius", "lowerarm", "lowarm"),
    ("wrist", "hand"),
)
_SIDED = {alias for role in LEG + ARM for alias in role} | {"hipjoint", "thumb", "finger", "fingers"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}


def said(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each joint's side (left, right or nothing) and the rest of its name: small letters without numbers.

    What stands before a colon, and a first word that all names share (mixamorig:, Bip01), says nothing.
    """
    words = [[w.lower() for w in _WORD.findall(name.rsplit(":", 1)[-1])] for name in names]
    while len(words) > 1 and all(len(w) > 1 and w[0] == words[1][0] and w[0] not in _SIDES for w in words[1:]):
        words = [w[1:] if len(w) > 1 else w for w in words]
    return [_sided([w for w in own if not w.isdigit()]) for own in words]


def sides(names: tuple[str, ...]) -> list[int]:
    """For each joint 1 if its name says left, −1 if it says right, 0 if it says neither."""
    return [{"left": 1, "right": -1}.get(side, 0) for side, _ in said(names)]


def limb(skeleton: Skeleton, side: str, roles: tuple[tuple[str, ...], ...], optional: int) -> list[int | None] | None:
    """Joints of the roles, each below the one before; the one that is `optional` may be missing."""
    names = said(skeleton.names)
    choices: list[list[int | None]] = [
        [j for alias in role for j, own in enumerate(names) if own == (side, alias)] for role in roles
    ]
    choices[optional].append(None)
    for found in product(*choices):
        there = [j for j in found if j is not None]
        if all(a != b and a in chain(skeleton, b) for a, b in pairwise(there)):
            return list(found)
    return None


def _sided(words: list[str]) -> tuple[str, str]:
    for i, word in enumerate(words):
        if word in _SIDES:
            return _SIDES[word], "".join(words[:i] + words[i + 1 :])
    whole = "".join(words)
    for start, side in _SIDES.items():
        if whole.startswith(start) and whole[len(start) :] in _SIDED:
            return side, whole[len(start) :]
    return "", whole
