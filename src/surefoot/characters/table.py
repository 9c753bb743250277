"""The vocabulary in which a body is written down: segments, hinges, shapes, and who plays which role."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

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
    """Flexion about −y, roll about x and yaw about z, each with its (low, high); roll and yaw count outward."""
    found = [Hinge(name, (0.0, -1.0, 0.0), flexion[0], flexion[1], SAGITTAL)]
    if roll:
        found.append(Hinge(f"{name}_roll", (sign, 0.0, 0.0), roll[0], roll[1], CORONAL))
    if yaw:
        found.append(Hinge(f"{name}_yaw", (0.0, 0.0, sign), yaw[0], yaw[1], TRANSVERSE))
    return tuple(found)


@dataclass(frozen=True)
class Shape:
    """A capsule between two points of the segment's frame.

    A `sole` may bear on the ground; another part that touches it has fallen; what is not `solid` is only seen.
    """

    start: Vector
    end: Vector
    radius: float
    sole: bool = False
    solid: bool = True


@dataclass(frozen=True)
class Segment:
    """A rigid part. Its frame's origin is its joint; all vectors are in metres in that frame.

    `stretch` tells which coordinates a length multiplier stretches: a foot grows forward, not downward.
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
        """The same part, longer and heavier; inertia follows m·L²."""

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


@dataclass(frozen=True)
class Side:
    """Names of the parts of one side's leg, and of all joints of the side: its hip first, its arm last."""

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


@dataclass(frozen=True)
class Anatomy:
    """Which part plays which role, so that a law never has to know a side or a name.

    `torso` is the part that the law holds upright in the world; `side_roles` names the joints of a side,
    the hip's `hip_hinges` first; `upper` names the kinds of joints that bear no leg and may learn.
    """

    pelvis: str
    torso: str
    left: Side
    right: Side
    side_roles: tuple[str, ...]
    middle: tuple[str, ...] = ()
    hip_hinges: int = 1
    upper: tuple[str, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of all roles: those of the swing leg's side, of the stance leg's, then the joints of neither."""
        swing = tuple(f"swing_{role}" for role in self.side_roles)
        stance = tuple(f"stance_{role}" for role in self.side_roles)
        return swing + stance + self.middle

    def joints(self, swing: int) -> tuple[str, ...]:
        """The joint behind each role while the left (0) or the right (1) leg swings."""
        moving, bearing = (self.left, self.right) if swing == 0 else (self.right, self.left)
        return moving.joints + bearing.joints + self.middle

    def kind(self, role: str) -> str:
        """What a role is called without its side: `knee` for `stance_knee`, `waist` for `waist`."""
        return role if role in self.middle else role.split("_", 1)[1]

    @property
    def channels(self) -> tuple[str, ...]:
        """What feedback-error learning can act on beside the torso: the roles of the upper body."""
        return tuple(role for role in self.roles if self.kind(role) in self.upper)


@dataclass(frozen=True)
class CharacterTable:
    """A whole body as data."""

    name: str
    summary: str
    root: Literal["planar", "free"]  # x, z and pitch, or six degrees of freedom
    segments: tuple[Segment, ...]
    anatomy: Anatomy
    gains: dict[str, Gain]  # by joint
    torso_gain: Gain
    hip_targets: tuple[float, float]  # [rad] world-frame range of swing-hip targets
    friction: float
    timestep: float
    source: str
    sole_depth: float  # [m] from the ankle down to the sole
    armature: float = 0.0  # [kg·m²] rotor inertia of every joint, which keeps light hands and feet calm
    grip: float | None = None  # MuJoCo's impratio: how much firmer contacts hold against sliding than against sinking
    strength: float = 1.0  # how much stronger than the drawn body it is, for gains that skills name
    back: Vector | None = None  # [m] where a backpack's COM is in the torso's frame
    load_lean: float = 0.0  # [rad] the torso is pitched for what it carries
    multipliers: dict[str, tuple[str, ...]] = field(default_factory=dict)  # public name → segments
    foreign: Any = None  # the `stranger.Stranger` it was read from, whose own bodies and shapes are used
    height: float | None = None  # [m] of its pelvis above the soles, where the segments do not tell
    legs_of_two: bool = True  # a thigh and a shin are all there is between hip and foot

    @property
    def is_biped(self) -> bool:
        """Whether it can do what is for any body with two legs: it is free in space and has one knee a leg."""
        return self.root == "free" and self.legs_of_two

    @property
    def hinges(self) -> dict[str, Hinge]:
        """All joints by name."""
        return {hinge.name: hinge for segment in self.segments for hinge in segment.hinges}


def limb_multipliers(parts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What multiplies parts that both sides have: of both sides under the part's name, of each under its own."""
    both = {part: (f"left_{part}", f"right_{part}") for part in parts}
    return both | {f"{side}_{part}": (f"{side}_{part}",) for side in ("left", "right") for part in parts}


def standing_height(table: CharacterTable) -> float:
    """Height of the hips above the soles with straight legs [m]."""
    if table.height is not None:
        return table.height
    by_name = {s.name: s for s in table.segments}
    height, leg = table.sole_depth, table.anatomy.left
    for name in (leg.foot, leg.shin):
        height += math.hypot(*by_name[name].offset)
    return height
