"""Duck under bars: the body bends as a linear function of the distance to the bar (GENBICON §4.4).

How far it has to bend follows from the planar kinematics of its pelvis, trunk and head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot.characters.link_geometry import geom_points, neutral_state
from surefoot.controllers.genbicon.law import SHARES
from surefoot.controllers.genbicon.stance import PELVIS_SHARE
from surefoot.engine.actor import Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.task_text import TaskText
from surefoot.terrains.props import Bar, Prop

_BEND, _NOD, _CROUCH = 1.45, 0.75, 0.9  # [rad] at the deepest
_MARGIN = 0.07  # [m] under the bar
_HALVINGS = 12


class DuckPosture(NamedTuple):
    """Bends of body, head and knees [rad]; how far the body then reaches ahead of and behind the pelvis [m]."""

    bend: float
    nod: float
    crouch: float
    ahead: float
    behind: float


class BodyOutline(NamedTuple):
    """The upper body in its neutral posture, in its sagittal plane, seen from the hips.

    Attributes:
        joints: (parts, 2) where pelvis, trunk and, last, the head turn [m].
        points: for each part (n, 3): points of its shapes and the radius around them [m].
        shares: how far each part turns forward, by the bend.
        leg: length from hip to ankle [m].
        depth: of the sole below the ankle [m].
    """

    joints: np.ndarray
    points: tuple[np.ndarray, ...]
    shares: tuple[float, ...]
    leg: float
    depth: float


def least_duck(actor: Actor, height: float) -> DuckPosture:
    """The least bend with which the whole body is lower than a height, by a margin [m].

    Raises:
        CommandError: the body cannot bend so far; the message says how low it can go.
    """
    outline = outline_of(actor)
    if _pose(outline, 0.0)[0] <= height - _MARGIN:
        return DuckPosture(0.0, 0.0, 0.0, *_pose(outline, 0.0)[1:])
    lowest = _pose(outline, 1.0)[0] + _MARGIN
    if lowest > height:
        raise CommandError(f"{actor.scene.table.name} ducks under bars from {lowest:.2f} m on, got {height:g} m")
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _pose(outline, middle)[0] <= height - _MARGIN else (middle, high)
    return DuckPosture(high * _BEND, high * _NOD, high * _CROUCH, *_pose(outline, high)[1:])


def outline_of(actor: Actor) -> BodyOutline:
    """Measure a body in its neutral posture."""
    model, limbs, named = actor.model, actor.limbs, actor.scene.build.limbs
    if named is None:
        raise CommandError(f"{actor.scene.table.name} has no named limbs to bend")
    data = neutral_state(model, named)
    hips = data.xanchor[[int(limbs.links[int(leg.upper)].joint) for leg in limbs.legs]].mean(axis=0)
    trunk = sorted((link for link in limbs.links if link.kind < len(SHARES)), key=lambda link: float(link.kind))
    bodies = [actor.pelvis, *(int(link.body) for link in trunk)]
    joints = [hips, *(data.xanchor[int(link.joint)] for link in trunk)]
    shares = (PELVIS_SHARE, *(SHARES[int(link.kind)] for link in trunk))
    shapes = []
    for body in bodies:
        found = [geom_points(model, data, int(g)) for g in np.flatnonzero(model.geom_bodyid == body)]
        shapes.append(np.concatenate([np.column_stack([p[:, [0, 2]], np.full(len(p), r)]) for p, r in found]))
    origin = hips[[0, 2]]
    points = tuple(np.column_stack([s[:, :2] - origin, s[:, 2]]) for s in shapes)
    legs = limbs.legs[0]
    places = np.array([joint[[0, 2]] - origin for joint in joints])
    return BodyOutline(places, points, shares, float(legs.reach), float(legs.depth))


def _pose(outline: BodyOutline, share: float) -> tuple[float, float, float]:
    """Highest point above the ground, and reach ahead of and behind the hips, at a share of the deepest bend [m]."""
    bend, crouch = share * _BEND, share * _CROUCH
    angles = [k * bend for k in outline.shares]
    angles[-1] += share * _NOD
    hips = outline.leg * math.cos(0.5 * crouch) + outline.depth
    at, top, ahead, behind = np.zeros(2), 0.0, 0.0, 0.0
    for i, (angle, points) in enumerate(zip(angles, outline.points, strict=True)):
        turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])  # forward
        placed = at + (points[:, :2] - outline.joints[i]) @ turn.T
        top = max(top, float((placed[:, 1] + points[:, 2]).max()))
        ahead = max(ahead, float((placed[:, 0] + points[:, 2]).max()))
        behind = max(behind, float((points[:, 2] - placed[:, 0]).max()))
        if i + 1 < len(angles):
            at = at + turn @ (outline.joints[i + 1] - outline.joints[i])
    return hips + top, ahead, behind


_DOWN, _UP = 1.0, 1.4  # [m] of the way on which it bends, and on which it comes up again
_BEFORE, _BEHIND = 0.10, 0.12  # [m] of the bar where it is fully bent, as seen from head and back


class DuckUnder(Task):
    """Bend while a bar is near; done when all bars are behind the character.

    It commands neither heading nor speed, so that it can run beside a task that does.

    Attributes:
        bars: in their order along x.
        passed: how many of them are behind it.
    """

    def __init__(self, bars: Sequence[Bar], timeout: float = 120.0) -> None:
        """Set the bars.

        Args:
            bars: across the way along x.
            timeout: how long it may take [s].

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        if not bars or not all(isinstance(bar, Bar) for bar in bars):
            raise CommandError("ducking under takes one or more bars, as of surefoot.props.Bar")
        super().__init__(timeout)
        self.bars = tuple(sorted(bars, key=lambda bar: bar.x))
        self.passed = 0
        self._ducks: tuple[DuckPosture, ...] = ()

    def props(self) -> tuple[Prop, ...]:
        """The bars."""
        return self.bars

    def begin(self, actor: Actor) -> None:
        """Find out how far it has to bend for each bar."""
        self._ducks = tuple(least_duck(actor, bar.height) for bar in self.bars)

    def tick(self, actor: Actor) -> None:
        """Bend as much as the nearest bars need."""
        at = float(actor.position(actor.pelvis)[0])
        shares = [_share(bar, duck, at) for bar, duck in zip(self.bars, self._ducks, strict=True)]
        self.passed = sum(at > bar.x and not share for bar, share in zip(self.bars, shares, strict=True))
        most = max(range(len(shares)), key=lambda i: shares[i] * self._ducks[i].bend)
        duck, share = self._ducks[most], shares[most]
        actor.intent.bend, actor.intent.nod = share * duck.bend, share * duck.nod
        actor.intent.crouch = share * duck.crouch
        if self.passed == len(self.bars):
            self.finish(f"passed under {self.passed} bars")

    def end(self, actor: Actor) -> None:
        """Come up."""
        actor.intent.bend = actor.intent.nod = actor.intent.crouch = 0.0

    def progress(self) -> str:
        """Which bar it is walking to."""
        return f"on the way to bar {self.passed + 1} of {len(self.bars)}"


def _share(bar: Bar, duck: DuckPosture, at: float) -> float:
    """Share of the bend that a bar needs, with the pelvis at a place [m]."""
    if duck.bend == 0.0:
        return 0.0
    to_go = bar.x - 0.5 * bar.thickness - at - duck.ahead - _BEFORE
    gone = at - bar.x - 0.5 * bar.thickness - duck.behind - _BEHIND
    return min(max(1.0 - max(to_go / _DOWN, gone / _UP), 0.0), 1.0)


def _from_numbers(numbers: list[float], **options: float) -> DuckUnder:
    return DuckUnder([Bar(x, height) for x, height in zip(numbers[::2], numbers[1::2], strict=True)], **options)


from_text = TaskText(
    "duck-under:X,HEIGHT,X,HEIGHT,… with timeout= if need be", ("timeout",), _from_numbers, multiple_of=2
)
