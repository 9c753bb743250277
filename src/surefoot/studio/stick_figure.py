"""A target pose as a stick figure seen from its right side, and the target angle that a dragged joint asks for.

The figure shows the sagittal plane: (forward, up) [m], with the ground at 0. Targets of the torso and the swing thigh
are world angles, all others are relative to the parent. A pose does not define the stance thigh, whose hip holds the
torso: the figure stands on a flat stance foot, or on its toes where a flat foot would make it lean back. Where both
legs act together the figure hangs from its hips instead, and both thighs follow the swing hip.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from surefoot.characters.table import SAGITTAL, CharacterTable, Hinge, Segment, Side, standing_height
from surefoot.controllers.simbicon.parameters import PoseState

Point = tuple[float, float]
MIDDLE, LEFT, RIGHT = "middle", "left", "right"
_FLAT = (-0.35, 1.0)  # [rad] of the stance ankle within which the foot stays flat; beyond, toes or heel point down
_ROUND = 14  # corners of a head


@dataclass(frozen=True)
class Handle:
    """A joint that can be dragged.

    Attributes:
        path: of the value that it changes, within the state: `torso`, `targets.swing_knee`.
        at: its position [m].
        pivot: the point it turns around [m].
        value: the present target [rad].
        limits: lowest and highest target [rad].
    """

    name: str
    path: str
    at: Point
    pivot: Point
    value: float
    limits: tuple[float, float]
    _arm: Point  # from pivot to handle in the frame of the part that turns
    _sign: float  # target = sign · pitch of that part + zero
    _zero: float

    def angle(self, to: Point) -> float:
        """The target that brings the handle nearest to a point, the shorter way round [rad]."""
        x, z = to[0] - self.pivot[0], to[1] - self.pivot[1]
        (u, w) = self._arm
        if math.hypot(x, z) < 1e-9:
            return self.value
        pitch = math.atan2(u * z - w * x, u * x + w * z)
        turn = math.remainder(self._sign * pitch + self._zero - self.value, math.tau)
        return min(max(self.value + turn, self.limits[0]), self.limits[1])


@dataclass(frozen=True)
class StickFigure:
    """A drawn pose.

    Attributes:
        joint_positions: position of every part's joint [m], by the part's name.
        pitches: of every part in the world, x towards z [rad].
        segments: (n, 2, 2) ends of lines [m], by `middle`, `left` and `right`.
        handles: the joints that can be dragged.
    """

    joint_positions: dict[str, Point]
    pitches: dict[str, float]
    segments: dict[str, np.ndarray]
    handles: tuple[Handle, ...]


def draw_pose(table: CharacterTable, state: PoseState, swing: int, also: Collection[str] = ()) -> StickFigure:
    """Draw a state's pose while a leg swings (0 left, 1 right); roles in `also` get handles like those of the legs."""
    return _Drawing(table, state, swing, frozenset(also)).stick()


def target_limits(table: CharacterTable, role: str, value: float) -> tuple[float, float]:
    """Lowest and highest target of a role [rad]: the range of its joint, extended to the present value."""
    joint = dict(zip(table.anatomy.roles, table.anatomy.joints(0), strict=True))[role]
    hinge = table.hinges[joint]
    return min(hinge.low, value), max(hinge.high, value)


def rotate(vector: Point, pitch: float) -> Point:
    """A vector of a part's frame in the world."""
    c, s = math.cos(pitch), math.sin(pitch)
    return c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]


def _plus(a: Point, b: Point, k: float = 1.0) -> Point:
    return a[0] + k * b[0], a[1] + k * b[1]


class _Drawing:
    def __init__(self, table: CharacterTable, state: PoseState, swing: int, also: frozenset[str]) -> None:
        self.table, self.state, self.also = table, state, also
        anatomy = table.anatomy
        self.moving, self.bearing = (anatomy.left, anatomy.right) if swing == 0 else (anatomy.right, anatomy.left)
        self.role = dict(zip(anatomy.joints(swing), anatomy.roles, strict=True))
        self.parts = {s.name: s for s in table.segments if s.hinges or s.name == anatomy.pelvis}
        self.pitches = self._pitches()
        self.places = self._places()

    def _hinge(self, part: str) -> Hinge | None:
        """The hinge that bends a part, if it has a role."""
        found = (h for h in self.parts[part].hinges if h.plane == SAGITTAL and h.name in self.role)
        return next(found, None)

    def _turn(self, part: str) -> float:
        """The angle of a part relative to its parent [rad]."""
        hinge = self._hinge(part)
        return _sign(hinge) * self.state.targets.get(self.role[hinge.name], 0.0) if hinge else 0.0

    def _pitches(self) -> dict[str, float]:
        anatomy, found = self.table.anatomy, {self.table.anatomy.torso: self.state.torso}
        part = anatomy.torso
        while part != anatomy.pelvis:  # the torso's angle is a world angle: the parts below follow from it
            parent = self.parts[part].parent
            found[parent] = found[part] - self._turn(part)
            part = parent
        found[self.moving.thigh] = self._turn(self.moving.thigh)
        standing = -self._turn(self.bearing.shin) - min(max(self._turn(self.bearing.foot), _FLAT[0]), _FLAT[1])
        found[self.bearing.thigh] = found[self.moving.thigh] if self.state.both else standing
        for name, segment in self.parts.items():
            if name not in found:
                found[name] = found[segment.parent] + self._turn(name)
        return found

    def _places(self) -> dict[str, Point]:
        found: dict[str, Point] = {self.table.anatomy.pelvis: (0.0, 0.0)}
        for name, segment in self.parts.items():
            if name not in found:
                found[name] = _plus(found[segment.parent], rotate(_flat(segment.offset), self.pitches[segment.parent]))
        if self.state.both:
            shift = (0.0, standing_height(self.table))
        else:
            shift = _plus((0.0, self.table.sole_depth), found[self.bearing.foot], -1.0)
        return {name: _plus(place, shift) for name, place in found.items()}

    def stick(self) -> StickFigure:
        """The whole figure."""
        return StickFigure(self.places, self.pitches, self._segments(), tuple(self._handles()))

    def _at(self, part: str, local: Point) -> Point:
        return _plus(self.places[part], rotate(local, self.pitches[part]))

    def _group(self, segment: Segment) -> str:
        anatomy, joints = self.table.anatomy, {h.name for h in segment.hinges}
        return LEFT if joints & set(anatomy.left.joints) else RIGHT if joints & set(anatomy.right.joints) else MIDDLE

    def _segments(self) -> dict[str, np.ndarray]:
        lines: dict[str, list[tuple[Point, Point]]] = {MIDDLE: [], LEFT: [], RIGHT: []}
        for name, segment in self.parts.items():
            drawn = lines[self._group(segment)]
            children = [c for c in self.parts.values() if c.parent == name]
            drawn += [(self.places[name], self.places[child.name]) for child in children]
            outline = [] if any(self._group(c) == self._group(segment) for c in children) else _outline(segment)
            corners = [self._at(name, corner) for corner in outline]
            drawn += list(itertools.pairwise(corners))
        return {
            group: np.array([line for line in found if math.dist(*line) > 1e-6]).reshape(-1, 2, 2)
            for group, found in lines.items()
        }

    def _handles(self) -> list[Handle]:
        legs = [self.moving.thigh, self.moving.shin, self.moving.foot]
        found = [self._torso(), *(self._forward(part) for part in legs)]
        if self.state.both:
            found += [self._forward(self.bearing.shin), self._forward(self.bearing.foot)]
        else:
            found += self._standing(self.bearing)
        between = {self.table.anatomy.pelvis, self.table.anatomy.torso, *legs}
        between |= {self.bearing.thigh, self.bearing.shin, self.bearing.foot}
        for part in self.parts:
            hinge = self._hinge(part)
            if part not in between and hinge and self.role[hinge.name] in self.also:
                found.append(self._forward(part))
        return [handle for handle in found if handle is not None]

    def _torso(self) -> Handle:
        torso, pitch = self.table.anatomy.torso, self.state.torso
        at = self._at(torso, self._end(self.parts[torso]))
        pivot = self.places[self.table.anatomy.pelvis if self.state.both else self.bearing.thigh]
        arm = rotate(_plus(at, pivot, -1.0), -pitch)
        return Handle("torso", "torso", at, pivot, pitch, (-math.tau, math.tau), arm, 1.0, 0.0)

    def _forward(self, part: str) -> Handle | None:
        """The far end of a part that turns around its own joint."""
        hinge = self._hinge(part)
        if hinge is None:
            return None
        sign, arm = _sign(hinge), self._end(self.parts[part])
        zero = 0.0 if part == self.moving.thigh else -sign * self.pitches[self.parts[part].parent]
        return self._handle(part, hinge, (self._at(part, arm), self.places[part], arm), sign, zero)

    def _standing(self, leg: Side) -> list[Handle | None]:
        """Handles of the stance leg: the knee turns around the ankle, the hips around the knee; on tiptoe the toes."""
        knee, ankle = self._hinge(leg.shin), self._hinge(leg.foot)
        places = [self.places[part] for part in (leg.thigh, leg.shin, leg.foot)]
        found: list[Handle | None] = []
        if ankle and not _FLAT[0] <= self._turn(leg.foot) <= _FLAT[1]:
            found.append(self._forward(leg.foot))
        elif ankle:
            up = _flat(self.parts[leg.foot].offset)
            found.append(
                self._handle("stance knee", ankle, (places[1], places[2], (-up[0], -up[1])), -_sign(ankle), 0.0)
            )
        if knee:
            up, sign = _flat(self.parts[leg.shin].offset), _sign(knee)
            at = (places[0], places[1], (-up[0], -up[1]))
            found.append(self._handle("hips", knee, at, -sign, sign * self.pitches[leg.shin]))
        return found

    def _handle(self, name: str, hinge: Hinge, at: tuple[Point, Point, Point], sign: float, zero: float) -> Handle:
        role = self.role[hinge.name]
        value = self.state.targets.get(role, 0.0)
        bounds = target_limits(self.table, role, value)
        return Handle(name, f"targets.{role}", at[0], at[1], value, bounds, at[2], sign, zero)

    def _end(self, segment: Segment) -> Point:
        """The joint of the next part of the same limb, or the tip, in the part's frame."""
        limb = (c for c in self.parts.values() if c.parent == segment.name and self._group(c) == self._group(segment))
        following = next(limb, None)
        return _flat(following.offset) if following else _tip(segment)


def _sign(hinge: Hinge) -> float:
    """1 if the joint's positive angle turns x towards z, otherwise −1."""
    return 1.0 if hinge.axis[1] <= 0.0 else -1.0


def _flat(vector: tuple[float, float, float]) -> Point:
    return vector[0], vector[2]


def _sole(segment: Segment) -> list[Point]:
    """Heel and toe at the bottom of a foot."""
    ends = [(x, z - s.radius) for s in segment.shapes if s.sole for x, z in (_flat(s.start), _flat(s.end))]
    return [min(ends), max(ends)] if ends else []


def _tip(segment: Segment) -> Point:
    """The far end of a part without children."""
    sole = _sole(segment)
    ends = [_flat(end) for s in segment.shapes for end in (s.start, s.end)]
    return sole[-1] if sole else max(ends, key=lambda p: math.hypot(*p), default=(0.0, 0.1))


def _outline(segment: Segment) -> list[Point]:
    """The outline of the last part of a limb: a foot's triangle, a head, or a line."""
    sole = _sole(segment)
    if sole:
        return [(0.0, 0.0), *sole, (0.0, 0.0)]
    tip = _tip(segment)
    if tip[1] <= 0.0 or not segment.shapes:
        return [(0.0, 0.0), tip]
    head = max(segment.shapes, key=lambda s: s.end[2])
    center = (0.5 * (head.start[0] + head.end[0]), 0.5 * (head.start[2] + head.end[2]))
    angles = [-0.5 * math.pi + math.tau * i / _ROUND for i in range(_ROUND + 1)]
    return [(0.0, 0.0)] + [_plus(center, (math.cos(a), math.sin(a)), head.radius) for a in angles]
