"""A body as GENBICON sees it: links that grow out of a pelvis, with servos scaled from a reference person.

The neutral posture is that of the all-zero gait (§4.1): legs straight, feet flat, arms hanging, trunk upright. The
character frame has x forward, y left and z up. Every target turns a link away from its neutral orientation in that
frame, so that bodies with other axes, other rest poses or a tree rooted at the chest need no code of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from surefoot.characters.table import CharacterTable, Gain, Vector, standing_height, without_side
from surefoot.errors import UnknownNameError

REFERENCE_MASS = 73.5  # [kg]
REFERENCE_HIP_HEIGHT = 0.92  # [m] above the soles, standing straight
_REFERENCE = {
    "root": Gain(1000.0, 200.0, 400.0),
    "hip": Gain(600.0, 50.0, 400.0),  # with less, the swing foot lags its target by a hand's breadth
    "knee": Gain(300.0, 35.0, 400.0),
    "ankle": Gain(200.0, 20.0, 200.0),
    "toe": Gain(2.0, 0.2, 20.0),
    "lower_back": Gain(75.0, 17.0, 300.0),
    "upper_back": Gain(75.0, 17.0, 300.0),
    "neck": Gain(10.0, 3.0, 50.0),
    "shoulder": Gain(15.0, 5.0, 100.0),
    "elbow": Gain(5.0, 1.0, 60.0),
    "wrist": Gain(5.0, 0.5, 20.0),
    "other": Gain(10.0, 1.0, 30.0),
}


def scaled_gain(kind: str, mass: float, hip_height: float) -> Gain:
    """The servo of a kind of link, or of the `root`, which holds the pelvis in the world.

    Stiffness, damping and limit grow with weight times leg length, as the torques that bear the body do.

    Args:
        kind: one of `KINDS`, or `root`.
        mass: of the whole body [kg].
        hip_height: above the soles when the body stands straight [m].

    Raises:
        UnknownNameError: there is no such kind; the message lists the valid ones.
    """
    if kind not in _REFERENCE:
        raise UnknownNameError("kind of servo", kind, _REFERENCE)
    return _REFERENCE[kind].scaled((mass / REFERENCE_MASS) * (hip_height / REFERENCE_HIP_HEIGHT))


LEFT, RIGHT, MIDDLE = 0, 1, -1
KINDS = (
    "lower_back", "upper_back", "neck", "hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist", "other",
)  # fmt: skip
"""Kinds of links by the joint at their near end; their place is their number in the law. `other` only holds still."""
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Link:
    """A rigid part and the hinges that join it to the part one nearer to the pelvis.

    Attributes:
        body: the part.
        base: the part one nearer to the pelvis.
        joints: hinges between them in MuJoCo's order, at least one.
        kind: one of `KINDS`.
        side: `LEFT`, `RIGHT` or `MIDDLE`.
        gain: of its servo.
        flipped: whether MuJoCo's tree runs the other way here: `base` is the child of `body`, as where the tree begins
            at the chest.
    """

    body: str
    base: str
    joints: tuple[str, ...]
    kind: str
    side: int
    gain: Gain
    flipped: bool = False


@dataclass(frozen=True)
class Limbs:
    """All links of a body, and its neutral posture.

    Attributes:
        pelvis: the body from which the links grow.
        links: nearest to the pelvis first.
        root_gain: servo that holds the pelvis in the world.
        hands: for left and right, the point that reaches, in the frame of the arm's last link [m]; None for a missing
            arm.
        soles: for left and right, the bodies that may touch the ground.
        rest: orientation of each body in the character frame in the neutral posture, w first; bodies that are not
            named are not turned.
        neutral: angles of the joints that are not 0 in the neutral posture [rad].
        missing: what this body does not have, in words: "toes", "ankle roll".
    """

    pelvis: str
    links: tuple[Link, ...]
    root_gain: Gain
    hands: tuple[Vector | None, Vector | None]
    soles: tuple[tuple[str, ...], tuple[str, ...]]
    rest: dict[str, Quaternion] = field(default_factory=dict)
    neutral: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def find(self, kind: str, side: int = MIDDLE) -> Link | None:
        """The first link of a kind and side."""
        return next((link for link in self.links if link.kind == kind and link.side == side), None)

    def require(self, kind: str, side: int) -> Link:
        """The first link of a kind and side, which the body must have."""
        link = self.find(kind, side)
        if link is None:
            raise KeyError(f"no {kind} on side {side}")
        return link


_KIND = {kind: kind for kind in KINDS} | {"waist": "lower_back"}


def limbs_of_table(table: CharacterTable) -> Limbs:
    """The links of a body. The frames of a body that is written as a table are neutral already."""
    if table.imported is not None:
        return table.imported.limbs
    mass, height = table.mass, standing_height(table)
    legs = (table.anatomy.left, table.anatomy.right)
    sides = {joint: i for i, leg in enumerate(legs) for joint in leg.joints}
    links = []
    for segment in table.segments:
        if segment.hinges:
            names = tuple(hinge.name for hinge in segment.hinges)
            kind = _KIND.get(without_side(names[0]), "other")
            strong = scaled_gain(kind, mass, height)
            limit = min(strong.limit, *(table.gains[name].limit for name in names))
            side = sides.get(names[0], MIDDLE)
            links.append(Link(segment.name, segment.parent, names, kind, side, Gain(strong.kp, strong.kd, limit)))
    parts = {segment.name: segment for segment in table.segments}
    soles, hands = [], []
    for i, leg in enumerate(legs):
        soles.append((leg.foot, *(s.name for s in table.segments if s.parent == leg.foot)))
        arm = [link.body for link in links if link.side == i and link.kind in ("shoulder", "elbow", "wrist")]
        hands.append(parts[arm[-1]].shapes[-1].end if arm else None)
    root_gain = scaled_gain("root", mass, height)
    return Limbs(table.anatomy.pelvis, tuple(links), root_gain, (hands[0], hands[1]), (soles[0], soles[1]))
