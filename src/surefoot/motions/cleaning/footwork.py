"""Feet that stay where they stand, flat on the ground: the clean-up of da Silva 2008 §5.4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from surefoot.motions import quaternions as quat
from surefoot.motions.cleaning import legs
from surefoot.motions.cleaning.carrying import carry, follow
from surefoot.motions.cleaning.contacts import Contacts, FootContacts, Span, mask
from surefoot.motions.cleaning.floor import Stance, heights, leg_length
from surefoot.motions.cleaning.smoothing import spread
from surefoot.motions.motion import Motion
from surefoot.motions.parts import Limb, Parts
from surefoot.motions.places import world

_MOST = np.radians(15.0)  # of the constant offset of an ankle
_REST = np.radians(35.0)  # pitch of planted toes up to which the rest pose is taken for level
_SLIDE = 0.08  # [leg lengths] from the first to the last third of a span: farther than this it slides on purpose
_SETTLED, _ENDS = 0.012, 0.2  # [leg lengths] from where it stays, and share of a span: its ends that are not planted
_HEEL = (0.005, 0.03)  # [leg lengths] of a heel above where it is flat: put down wholly below, and not at all above
_LOWER = 0.03  # [leg lengths] the root comes lower at most for a leg to reach the ground
_LEVEL = 0.05  # [s] over which a root that must come lower does so


def plant(
    motion: Motion, parts: Parts, contacts: Contacts, stances: tuple[Stance, Stance]
) -> tuple[Motion, list[str], list[str]]:
    """With each foot planted while it is on the ground at height 0; in words what was done and what is unsure.

    Args:
        motion: as `floor.grounded` gives it.
        parts: of its body.
        contacts: of its feet.
        stances: heights of the planted feet; only their differences count.
    """
    understood, unsure = list[str](), list[str]()
    limbs, feet = (parts.left, parts.right), (contacts.left, contacts.right)
    places, _ = world(motion)
    leg = float(np.mean([leg_length(places, limb) for limb in limbs]))
    toes = all(limb.toe is not None for limb in limbs)
    height, _ = heights(motion, parts, stances)
    drop = float(np.mean([own.ankle - own.toe for own in stances]))  # [m] from ankle to toe of a flat foot
    for side, limb, foot, own in zip(("left", "right"), limbs, feet, stances, strict=True):
        if toes:
            motion, angle = _aligned(motion, limb, foot, own, drop)
            understood.append(
                f"the {side} ankle was turned by {np.degrees(angle):+.1f}° so that the planted foot is flat"
            )
            if abs(angle) > 0.99 * _MOST:
                unsure.append(
                    f"the {side} foot would need more than {np.degrees(_MOST):.0f}° to be flat: the rest is left"
                )
    motion, far = carry(motion, parts, contacts, height)
    understood.append(
        f"the root's way was changed by {100.0 * far:.0f} cm in all, by which the planted feet slid together"
    )
    first = [_goal(motion, *own, height, drop if toes else 0.0, leg)[0] for own in zip(limbs, feet, strict=True)]
    motion = follow(motion, parts, contacts, [ankle for ankle, _, _ in first])
    goals = []
    for side, limb, foot in zip(("left", "right"), limbs, feet, strict=True):
        goal, slides = _goal(motion, limb, foot, height, drop if toes else 0.0, leg)
        goals.append(goal)
        if slides:
            unsure.append(f"the {side} foot slides on the ground in {slides} of its contacts: it was let slide")
    motion, lowered = _lowered(motion, limbs, [goal[0] for goal in goals], feet)
    if lowered > 0.5 * _LOWER * leg:
        unsure.append(f"the pelvis was lowered by up to {100.0 * lowered:.1f} cm where a leg did not reach the ground")
    for limb, goal in zip(limbs, goals, strict=True):
        places, _ = world(motion)
        across = places[:, parts.left.hip] - places[:, parts.right.hip]
        motion = replace(motion, rotations=legs.reach(motion, limb, across, *goal))
    return replace(motion, rotations=quat.continuous(motion.rotations)), understood, unsure


def _aligned(motion: Motion, limb: Limb, foot: FootContacts, own: Stance, drop: float) -> tuple[Motion, float]:
    """With a constant offset of the ankle by which a planted foot falls by `drop` from ankle to toe."""
    places, turns = world(motion)
    count = len(motion)
    flat = mask(foot.toe, count) & mask(foot.heel, count)
    if limb.toe is None or not flat.any():
        return motion, 0.0
    along = places[flat, limb.toe] - places[flat, limb.ankle]
    length = float(np.median(np.linalg.norm(along, axis=1)))
    now, goal = (np.arcsin(np.clip(fall / max(length, 1e-9), -0.95, 0.95)) for fall in (own.ankle - own.toe, drop))
    angle = float(np.clip(goal - now, -_MOST, _MOST))  # toes down
    across = legs.unit(np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(along))]))  # to the foot's left
    axis = legs.unit(quat.rotate(quat.inverse(turns[flat, limb.ankle]), across).mean(axis=0))
    rotations = motion.rotations.copy()
    rotations[:, limb.ankle] = quat.multiply(rotations[:, limb.ankle], quat.exp(angle * axis)[None])
    return replace(motion, rotations=rotations), angle


def _goal(
    motion: Motion, limb: Limb, foot: FootContacts, height: float, drop: float, leg: float
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], int]:
    """Where the ankle shall be, how foot and toes shall be turned, and in how many spans the foot slides."""
    places, turns = world(motion)
    count, time = len(motion), motion.time
    ankle, feet = places[:, limb.ankle], turns[:, limb.ankle]
    planted = mask(foot.toe, count)
    toes = feet
    if limb.toe is not None:
        along = places[:, limb.toe] - ankle
        flat = along.copy()
        flat[:, :2] *= (np.sqrt(np.maximum((along**2).sum(axis=1) - drop**2, 0.0)) / _horizontal(along))[:, None]
        flat[:, 2] = -drop
        near = np.clip((_HEEL[1] * leg - (along[:, 2] * -1.0 - drop)) / ((_HEEL[1] - _HEEL[0]) * leg), 0.0, 1.0)
        tip = spread(near[:, None] * quat.log(legs.between(along, flat)), planted, time)
        feet = quat.multiply(quat.exp(tip), feet)
        along = quat.rotate(quat.exp(tip), along)
        ahead = legs.unit(motion.skeleton.offsets[limb.toe] * [1.0, 1.0, 0.0])
        toes = _flush(turns[:, limb.toe], planted, ahead, time)
    else:
        along = np.zeros_like(ankle)
    held, slides = _held((ankle + along)[:, :2], foot.toe, 0.01 + _SLIDE * leg, time)
    wanted = np.column_stack([held, np.full(count, height)]) - ankle - along
    moved = spread(wanted, mask(_settled(wanted, foot.toe, _SETTLED * leg), count), time)
    moved[:, 2] += np.maximum(height - (ankle + along + moved)[:, 2], 0.0)  # nothing goes into the ground
    return (ankle + moved, feet, toes), slides


def _horizontal(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(np.linalg.norm(vectors[:, :2], axis=1), 1e-9))


def _held(there: np.ndarray, spans: tuple[Span, ...], slide: float, time: np.ndarray) -> tuple[np.ndarray, int]:
    """(n, 2) where a foot stays in each span, and how many spans there are in which it slides on instead."""
    held, slides = there.copy(), 0
    for first, stop in spans:
        third = max((stop - first) // 3, 1)
        gone = np.median(there[stop - third : stop], axis=0) - np.median(there[first : first + third], axis=0)
        if np.linalg.norm(gone) > slide:
            width = max(round(0.05 / float(np.median(np.diff(time)))), 1)
            held[first:stop] = ndimage.gaussian_filter1d(there[first:stop], width, axis=0, mode="nearest")
            slides += 1
        else:
            held[first:stop] = np.median(there[first:stop], axis=0)
    return held, slides


def _settled(wanted: np.ndarray, spans: tuple[Span, ...], near: float) -> list[Span]:
    """Spans without their ends in which a foot is still, or again, farther from where it stays than `near`."""
    far, found = np.linalg.norm(wanted, axis=1) > near, list[Span]()
    for first, stop in spans:
        most = int(_ENDS * (stop - first))
        begins = next((i for i in range(most) if not far[first + i]), most)
        ends = next((i for i in range(most) if not far[stop - 1 - i]), most)
        found.append((first + begins, stop - ends))
    return found


def _flush(toes: np.ndarray, planted: np.ndarray, ahead: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, 4) turns of toes that do not tilt while planted.

    They are flat when they are rolled as they mostly are while planted (a rest pose with spread legs has them
    rolled) and when their bone is as level as in the rest pose, unless it never is.

    Args:
        toes: (n, 4) how they are turned in the world.
        planted: (n,) when.
        ahead: (3,) level direction in which the foot points in the rest pose.
        time: (n,) [s].
    """
    if not planted.any():
        return toes
    up = np.array([0.0, 0.0, 1.0])
    flat = legs.unit(np.median(quat.rotate(quat.inverse(toes[planted]), up), axis=0))
    if abs(flat @ ahead) < np.sin(_REST):
        flat = legs.unit(flat - (flat @ ahead) * ahead)
    tilt = quat.log(legs.between(quat.rotate(toes, flat), np.tile(up, (len(toes), 1))))
    return quat.multiply(quat.exp(spread(tilt, planted, time)), toes)


def _lowered(
    motion: Motion, limbs: tuple[Limb, Limb], ankles: list[np.ndarray], feet: tuple[FootContacts, FootContacts]
) -> tuple[Motion, float]:
    """With the root so low that both legs reach their ankles' places while these are planted, and by how much."""
    places, _ = world(motion)
    short = np.zeros(len(motion))
    for limb, ankle, foot in zip(limbs, ankles, feet, strict=True):
        long = legs.REACH * leg_length(places, limb)
        away = places[:, limb.hip] - ankle
        room = np.sqrt(np.maximum(long**2 - (away[:, :2] ** 2).sum(axis=1), 0.25 * long**2))
        own = np.where(mask(foot.toe, len(motion)), away[:, 2] - room, 0.0)
        short = np.minimum(np.maximum(short, own), _LOWER * long)
    width = max(round(_LEVEL / float(np.median(np.diff(motion.time)))), 1)
    lower = ndimage.gaussian_filter1d(ndimage.maximum_filter1d(short, 4 * width + 1), width)
    places = motion.root_position.copy()
    places[:, 2] -= lower
    return replace(motion, root_position=places), float(lower.max())
