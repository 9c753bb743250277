"""How far a body has to bend to be no higher than something: planar kinematics of its pelvis, trunk and head."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefoot.characters.limb_block import stand_neutral
from surefoot.characters.shapes import points_of
from surefoot.controllers.genbicon import SHARES
from surefoot.errors import CommandError
from surefoot.reflexes.stance import PELVIS_SHARE
from surefoot.tasks.actor import Actor

_BEND, _NOD, _CROUCH = 1.45, 0.75, 0.9  # [rad] at the deepest
_MARGIN = 0.07  # [m] under the bar
_HALVINGS = 12


class Duck(NamedTuple):
    """A posture: bends of body, head and knees [rad]; how far it reaches ahead of and behind the pelvis [m]."""

    bend: float
    nod: float
    crouch: float
    ahead: float
    behind: float


class Outline(NamedTuple):
    """Of the upper body in its neutral posture, in its sagittal plane, as seen from the hips.

    Attributes:
        joints: (parts, 2) where pelvis, trunk and, last, the head turn [m].
        points: of each part (n, 3): points of its shapes and the radius around them [m].
        shares: of a bend, by which each part turns forward.
        leg: length from hip to ankle [m].
        depth: of the sole below the ankle [m].
    """

    joints: np.ndarray
    points: tuple[np.ndarray, ...]
    shares: tuple[float, ...]
    leg: float
    depth: float


def duck_under(actor: Actor, height: float) -> Duck:
    """The least bend with which nothing of a body is higher than a bar's underside, less a margin [m]."""
    outline = outline_of(actor)
    if _pose(outline, 0.0)[0] <= height - _MARGIN:
        return Duck(0.0, 0.0, 0.0, *_pose(outline, 0.0)[1:])
    lowest = _pose(outline, 1.0)[0] + _MARGIN
    if lowest > height:
        raise CommandError(f"{actor.scene.table.name} ducks under bars from {lowest:.2f} m on, got {height:g} m")
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _pose(outline, middle)[0] <= height - _MARGIN else (middle, high)
    return Duck(high * _BEND, high * _NOD, high * _CROUCH, *_pose(outline, high)[1:])


def outline_of(actor: Actor) -> Outline:
    """Measure a body in its neutral posture."""
    model, limbs, named = actor.model, actor.limbs, actor.scene.build.limbs
    if named is None:
        raise CommandError(f"{actor.scene.table.name} has no named limbs to bend")
    data = stand_neutral(model, named)
    hips = data.xanchor[[int(limbs.links[int(leg.upper)].joint) for leg in limbs.legs]].mean(axis=0)
    trunk = sorted((link for link in limbs.links if link.kind < len(SHARES)), key=lambda link: float(link.kind))
    bodies = [actor.pelvis, *(int(link.body) for link in trunk)]
    joints = [hips, *(data.xanchor[int(link.joint)] for link in trunk)]
    shares = (PELVIS_SHARE, *(SHARES[int(link.kind)] for link in trunk))
    shapes = []
    for body in bodies:
        found = [points_of(model, data, int(g)) for g in np.flatnonzero(model.geom_bodyid == body)]
        shapes.append(np.concatenate([np.column_stack([p[:, [0, 2]], np.full(len(p), r)]) for p, r in found]))
    origin = hips[[0, 2]]
    points = tuple(np.column_stack([s[:, :2] - origin, s[:, 2]]) for s in shapes)
    legs = limbs.legs[0]
    places = np.array([joint[[0, 2]] - origin for joint in joints])
    return Outline(places, points, shares, float(legs.reach), float(legs.depth))


def _pose(outline: Outline, share: float) -> tuple[float, float, float]:
    """Highest point above the ground, and reach ahead of and behind the hips, of a share of the deepest bend [m]."""
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
