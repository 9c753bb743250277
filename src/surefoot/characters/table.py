"""The vocabulary of a body: segments, hinges, capsules, servo gains, and which part plays which role."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from surefoot.characters.mjcf_import import ImportedBody

Vector = tuple[float, float, float]
Range = tuple[float, float]  # [rad] low, high


SAGITTAL, CORONAL, TRANSVERSE = 0, 1, 2  # the plane a hinge moves in: flexion, roll, yaw


@dataclass(frozen=True)
class Hinge:
    """A joint of one degree of freedom; limits in radians.

    Limbs count roll and yaw outward: the axes of the right side mirror those of the left, so that the
    same angles on both sides are a symmetric pose.
    """

    name: str
    axis: Vector
    low: float
    high: float
    plane: int = SAGITTAL


def hinges(
    name: str, sign: float, flexion: Range, roll: Range | None = None, yaw: Range | None = None
) -> tuple[Hinge, ...]:
    """The hinges of a joint: flexion about −y, roll about x and yaw about z; roll and yaw count outward.

    Args:
        name: of the joint; `_roll` and `_yaw` are added for the other two hinges.
        sign: +1 on the left side and in the middle, −1 on the right side.
        flexion: limits [rad].
        roll: limits [rad]; None leaves the hinge out.
        yaw: limits [rad]; None leaves the hinge out.
    """
    found = [Hinge(name, (0.0, -1.0, 0.0), flexion[0], flexion[1], SAGITTAL)]
    if roll:
        found.append(Hinge(f"{name}_roll", (sign, 0.0, 0.0), roll[0], roll[1], CORONAL))
    if yaw:
        found.append(Hinge(f"{name}_yaw", (0.0, 0.0, sign), yaw[0], yaw[1], TRANSVERSE))
    return tuple(found)


@dataclass(frozen=True)
class Shape:
    """A capsule between two points of the segment's frame [m].

    Attributes:
        start: one end of its axis.
        end: the other end.
        radius: [m].
        sole: whether it may touch the ground; if any other shape touches it, the character has fallen.
        solid: whether it collides at all; other shapes are only drawn.
    """

    start: Vector
    end: Vector
    radius: float
    sole: bool = False
    solid: bool = True


def sole_edges(heel: float, toe: float, y: float, z: float, radius: float) -> tuple[Shape, Shape]:
    """The two capsules on which a foot stands, along its edges at ±`y`, in the foot's frame [m]."""
    left, right = (Shape((heel, side, z), (toe, side, z), radius, sole=True) for side in (y, -y))
    return left, right


@dataclass(frozen=True)
class Segment:
    """A rigid part. Its frame's origin is its joint; all vectors are in metres in that frame.

    Attributes:
        name: of the part.
        parent: the part it is joined to; `world` for the root.
        offset: place of its joint in the parent's frame [m].
        hinges: of its joint; none for the root and for a part that is welded to its parent.
        mass: [kg].
        com: centre of mass [m].
        inertia: about the centre of mass, along the frame's axes [kg·m²].
        shapes: capsules.
        color: red, green and blue, 0 … 1.
        stretch: how much a length multiplier stretches each coordinate: a foot grows forward, not downward.
    """

    name: str
    parent: str
    offset: Vector
    hinges: tuple[Hinge, ...]
    mass: float
    com: Vector
    inertia: Vector
    shapes: tuple[Shape, ...]
    color: Vector
    stretch: Vector = (1.0, 1.0, 1.0)

    def scaled(self, length: float, mass: float) -> Segment:
        """The part with its length and mass multiplied; inertia follows m·L²."""

        def stretched(v: Vector) -> Vector:
            x, y, z = (c * (1.0 + s * (length - 1.0)) for c, s in zip(v, self.stretch, strict=True))
            return (x, y, z)

        grown = mass * length**2
        return replace(
            self,
            mass=self.mass * mass,
            com=stretched(self.com),
            inertia=(self.inertia[0] * grown, self.inertia[1] * grown, self.inertia[2] * grown),
            shapes=tuple(replace(s, start=stretched(s.start), end=stretched(s.end)) for s in self.shapes),
        )


def without_side(name: str) -> str:
    """The name of a part or joint without `left_` or `right_`."""
    return name.removeprefix("left_").removeprefix("right_")


@dataclass(frozen=True)
class Side:
    """The parts of one leg, and all joints of that side: the hip first, the arm last."""

    thigh: str
    shin: str
    foot: str
    joints: tuple[str, ...]


@dataclass(frozen=True)
class Gain:
    """Servo gains [N·m/rad], [N·m·s/rad] and torque limit [N·m]."""

    kp: float
    kd: float
    limit: float

    @classmethod
    def from_stiffness(cls, kp: float, limit: float | None = None) -> Gain:
        """The gain with kd = 0.1 kp [s]; the torque limit is kp unless it is given."""
        return cls(kp, 0.1 * kp, kp if limit is None else limit)

    def scaled(self, k: float) -> Gain:
        """All three numbers times `k`."""
        return Gain(self.kp * k, self.kd * k, self.limit * k)


@dataclass(frozen=True)
class Anatomy:
    """Which part plays which role, so that a control law never has to know a side or a name.

    Attributes:
        pelvis: the part from which the legs hang.
        torso: the part that the law holds upright in the world.
        left: the left side.
        right: the right side.
        side_roles: names of the joints of a side, the hip's hinges first.
        middle: joints that belong to no side.
        hip_hinges: how many hinges a hip has.
        upper: kinds of joints of the upper body, which may learn by feedback error.
    """

    pelvis: str
    torso: str
    left: Side
    right: Side
    side_roles: tuple[str, ...]
    middle: tuple[str, ...] = ()
    hip_hinges: int = 1
    upper: tuple[str, ...] = ()

    @classmethod
    def symmetric(
        cls, pelvis: str, torso: str, side_roles: Sequence[str], middle: Sequence[str] = (), hip_hinges: int = 1,
        upper: Sequence[str] = (), leg: tuple[str, str, str] = ("thigh", "shin", "foot"),
    ) -> Anatomy:  # fmt: skip
        """The anatomy of a body whose sides differ in the prefix `left_` or `right_` of their names alone."""
        thigh, shin, foot = leg
        left, right = (
            Side(f"{s}_{thigh}", f"{s}_{shin}", f"{s}_{foot}", tuple(f"{s}_{role}" for role in side_roles))
            for s in ("left", "right")
        )
        return cls(pelvis, torso, left, right, tuple(side_roles), tuple(middle), hip_hinges, tuple(upper))

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles: those of the swing leg's side, those of the stance leg's side, then the middle joints."""
        swing = tuple(f"swing_{role}" for role in self.side_roles)
        stance = tuple(f"stance_{role}" for role in self.side_roles)
        return swing + stance + self.middle

    def joints(self, swing: int) -> tuple[str, ...]:
        """The joint behind each role while the left (0) or the right (1) leg swings."""
        moving, bearing = (self.left, self.right) if swing == 0 else (self.right, self.left)
        return moving.joints + bearing.joints + self.middle

    def kind(self, role: str) -> str:
        """The name of a role without swing or stance: `knee` for `stance_knee`, `waist` for `waist`."""
        return role if role in self.middle else role.split("_", 1)[1]

    @property
    def channels(self) -> tuple[str, ...]:
        """What feedback-error learning can act on beside the torso: the roles of the upper body."""
        return tuple(role for role in self.roles if self.kind(role) in self.upper)


@dataclass(frozen=True)
class CharacterTable:
    """A whole body as data.

    Attributes:
        name: of the character.
        summary: one line about it.
        root: "planar" (x, z and pitch) or "free" (six degrees of freedom).
        segments: all parts, parents before children.
        anatomy: which part plays which role.
        gains: servo of each joint by name, in the order of the actuators.
        torso_gain: servo that holds the torso upright.
        hip_targets: range of swing-hip targets in the world frame [rad].
        friction: sliding friction of its contacts with the ground.
        timestep: physics step [s].
        source: where its numbers come from.
        sole_depth: from the ankle down to the sole [m].
        armature: rotor inertia of every joint, which keeps light hands and feet calm [kg·m²].
        impratio: MuJoCo's option: how much firmer contacts resist sliding than sinking; None for MuJoCo's default.
        strength: how much stronger it is than the unscaled body; multiplies the gains that skills name.
        back: where a backpack's centre of mass is in the torso's frame [m]; None if it cannot carry one.
        load_lean: pitch of the torso that balances what it carries [rad].
        multipliers: segments that each public name of a proportion changes.
        imported: the body read from an MJCF file, if it was: its own bodies and shapes are used.
        height: of the pelvis above the soles [m], where it does not follow from the segments.
        legs_of_two: whether a leg has one thigh and one shin between hip and foot.
    """

    name: str
    summary: str
    root: Literal["planar", "free"]
    segments: tuple[Segment, ...]
    anatomy: Anatomy
    gains: dict[str, Gain]
    torso_gain: Gain
    hip_targets: tuple[float, float]
    friction: float
    timestep: float
    source: str
    sole_depth: float
    armature: float = 0.0
    impratio: float | None = None
    strength: float = 1.0
    back: Vector | None = None
    load_lean: float = 0.0
    multipliers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    imported: ImportedBody | None = None
    height: float | None = None
    legs_of_two: bool = True

    @property
    def is_biped(self) -> bool:
        """Whether skills for any biped fit it: it is free in space and has one knee in each leg."""
        return self.root == "free" and self.legs_of_two

    @property
    def hinges(self) -> dict[str, Hinge]:
        """All joints by name."""
        return {hinge.name: hinge for segment in self.segments for hinge in segment.hinges}

    @property
    def mass(self) -> float:
        """Of the whole body [kg]."""
        return sum(segment.mass for segment in self.segments)


def limb_multipliers(parts: Sequence[str], middle: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The multipliers of a body.

    Args:
        parts: parts that both sides have. `thigh` stands for both thighs, `left_thigh` for one.
        middle: parts of no side.
    """
    found: dict[str, tuple[str, ...]] = {part: (part,) for part in middle}
    found |= {part: (f"left_{part}", f"right_{part}") for part in parts}
    return found | {f"{side}_{part}": (f"{side}_{part}",) for side in ("left", "right") for part in parts}


def standing_height(table: CharacterTable) -> float:
    """Height of the hips above the soles with straight legs [m]."""
    if table.height is not None:
        return table.height
    by_name = {s.name: s for s in table.segments}
    height, leg = table.sole_depth, table.anatomy.left
    for name in (leg.foot, leg.shin):
        height += math.hypot(*by_name[name].offset)
    return height
