"""Corrections that hold in some frames, spread over the others by a hierarchy of B-splines (Lee and Shin 1999).

What planted feet do together is the root's fault: it is moved so that the legs need not bend for it.

Feet that stay where they stand, flat on the ground: the clean-up of da Silva 2008 §5.4.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage, sparse
from scipy.interpolate import BSpline
from scipy.sparse import linalg

from surefoot.motions import leg_ik
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts, LegJoints
from surefoot.motions.floor_fit import StanceHeights, leg_length, wanted_and_actual_height
from surefoot.motions.foot_contacts import Contacts, FootContacts, Span, runs, span_mask
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion

_SPACINGS = (0.8, 0.4, 0.2, 0.1)  # [s] between the knots of each level
_RIDGE = 1e-3  # weight of a coefficient against that of a frame: keeps the fit of a short clip well posed
_FADE = 0.12  # [s] in which what the splines leave over fades out beside the frames where it holds


def spread_corrections(values: np.ndarray, held: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, k) the values where `held` (n,), and a smooth way between them elsewhere; all zero if none are held.

    The way goes from what mostly holds on one side to what mostly holds on the other. How the values change just
    before they are let go is no reason to go on like that: it fades out.
    """
    if not held.any():
        return np.zeros_like(values)
    guess, smooth = _guess(values, held, time), np.zeros_like(values)
    for spacing in _SPACINGS:
        smooth += _fit(guess - smooth, time, spacing)
    rest, factor = np.where(held[:, None], values - smooth, 0.0), np.ones(len(time))
    for first, stop in runs(~held):
        edges = [first - 1] * (first > 0) + [stop] * (stop < len(time))
        near = [np.clip(1.0 - np.abs(time[first:stop] - time[edge]) / _FADE, 0.0, 1.0) for edge in edges]
        fades = [own**2 * (3.0 - 2.0 * own) for own in near]
        for edge, fade in zip(edges, fades, strict=True):
            rest[first:stop] += fade[:, None] * rest[edge]
        factor[first:stop] = 1.0 / np.maximum(sum(fades), 1.0)  # two that meet in a short gap do not add up
    return np.asarray(smooth + factor[:, None] * rest)


def _guess(values: np.ndarray, held: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, k) the values where held; between two spans, the way from the median of the one to that of the other."""
    guess = values.copy()
    usual = {edge: np.median(values[a:b], axis=0) for a, b in runs(held) for edge in (a, b - 1)}
    for first, stop in runs(~held):
        start, end = usual.get(first - 1), usual.get(stop)
        if start is None or end is None:
            guess[first:stop] = end if start is None else start
        else:
            share = (time[first:stop] - time[first - 1]) / (time[stop] - time[first - 1])
            guess[first:stop] = start + (share**2 * (3.0 - 2.0 * share))[:, None] * (end - start)
    return guess


def _fit(values: np.ndarray, time: np.ndarray, spacing: float) -> np.ndarray:
    """(n, k) the cubic spline of a level that is nearest to the values."""
    count = max(int(np.ceil(np.ptp(time) / spacing)), 1)
    step = max(float(np.ptp(time)), 1e-9) / count
    knots = time[0] + step * np.arange(-3, count + 4)
    basis = BSpline.design_matrix(np.clip(time, knots[3], knots[-4]), knots, 3)
    normal = (basis.T @ basis + _RIDGE * sparse.identity(basis.shape[1])).tocsc()
    return np.asarray(basis @ linalg.splu(normal).solve(np.asarray(basis.T @ values)))


_ROLL = 0.08  # [s] at both ends of a contact in which a foot counts less and less: it still rolls
_SMOOTH = 0.04  # [s] over which the root's way is smoothed


def stop_root_sliding(motion: Motion, parts: BodyParts, contacts: Contacts, height: float) -> tuple[Motion, float]:
    """With a root that goes where the planted feet do not slide, and at heights where they are on the ground.

    Poses are kept; what the two feet do differently while both are planted remains.

    Args:
        motion: with its ground about at height 0.
        parts: of its body.
        contacts: of its feet.
        height: of planted toes (of ankles, where there are none) above the ground [m].

    Returns:
        The motion, and how far the root has been moved horizontally in the end [m].
    """
    places, _ = world_poses(motion)
    weights = _both(contacts, motion.time)
    total = weights.sum(axis=0)
    steps, high = np.zeros((len(motion), 2)), np.zeros((len(motion), 1))
    for limb, weight in zip((parts.left, parts.right), weights, strict=True):
        there = places[:, planted_joint(limb)]
        share = 0.5 * (weight[1:] + weight[:-1]) / np.maximum(0.5 * (total[1:] + total[:-1]), 1.0)
        steps[1:] -= share[:, None] * np.diff(there[:, :2], axis=0)
        high[:, 0] += weight / np.maximum(total, 1e-9) * (height - there[:, 2])
    lift = spread_corrections(high, total > 0.5, motion.time)
    moved = _smooth(np.column_stack([np.cumsum(steps, axis=0), lift]), motion.time)
    carried = replace(motion, root_position=motion.root_position + moved)
    return carried, float(np.linalg.norm(moved[-1, :2] - moved[0, :2]))


def move_root_with_ankles(motion: Motion, parts: BodyParts, contacts: Contacts, ankles: list[np.ndarray]) -> Motion:
    """With a root that goes along with what the planted feet have in common.

    Args:
        motion: whose legs have not been moved yet.
        parts: of its body.
        contacts: of its feet.
        ankles: (n, 3) where the left and the right ankle shall be [m].
    """
    places, _ = world_poses(motion)
    weights = _both(contacts, motion.time)
    total = weights.sum(axis=0)
    common = np.zeros((len(motion), 3))
    for limb, weight, goal in zip((parts.left, parts.right), weights, ankles, strict=True):
        common += (weight / np.maximum(total, 1e-9))[:, None] * (goal - places[:, limb.ankle])
    moved = _smooth(spread_corrections(common, total > 0.5, motion.time), motion.time)
    return replace(motion, root_position=motion.root_position + moved)


def _smooth(moved: np.ndarray, time: np.ndarray) -> np.ndarray:
    width = max(_SMOOTH / float(np.median(np.diff(time))), 0.5)
    return np.asarray(ndimage.gaussian_filter1d(moved, width, axis=0, mode="nearest"))


def _both(contacts: Contacts, time: np.ndarray) -> np.ndarray:
    """(2, n) weights of the left and the right foot."""
    return np.stack([_weights(contacts.left, time), _weights(contacts.right, time)])


def planted_joint(limb: LegJoints) -> int:
    """The one that is planted: the toe's, or the ankle where there is none."""
    return limb.ankle if limb.toe is None else limb.toe


def _weights(foot: FootContacts, time: np.ndarray) -> np.ndarray:
    """(n,) how much a foot counts: 1 in its contacts, less towards their ends, but not towards those of the clip."""
    weights = np.zeros(len(time))
    for first, stop in foot.toe:
        since = (time[first:stop] - time[first]) / _ROLL if first > 0 else np.ones(stop - first)
        left = (time[stop - 1] - time[first:stop]) / _ROLL if stop < len(time) else np.ones(stop - first)
        weights[first:stop] = np.clip(np.minimum(since, left), 0.0, 1.0)
    return weights


_MOST = np.radians(15.0)  # of the constant offset of an ankle
_REST = np.radians(35.0)  # pitch of planted toes up to which the rest pose is taken for level
_SLIDE = 0.08  # [leg lengths] from the first to the last third of a span: farther than this it slides on purpose
_SETTLED, _ENDS = 0.012, 0.2  # [leg lengths] from where it stays, and share of a span: its ends that are not planted
_HEEL = (0.005, 0.03)  # [leg lengths] of a heel above where it is flat: put down wholly below, and not at all above
_LOWER = 0.03  # [leg lengths] the root comes lower at most for a leg to reach the ground
_LEVEL = 0.05  # [s] over which a root that must come lower does so


def plant_feet(
    motion: Motion, parts: BodyParts, contacts: Contacts, stances: tuple[StanceHeights, StanceHeights]
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
    places, _ = world_poses(motion)
    leg = float(np.mean([leg_length(places, limb) for limb in limbs]))
    toes = all(limb.toe is not None for limb in limbs)
    height, _ = wanted_and_actual_height(motion, parts, stances)
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
    motion, far = stop_root_sliding(motion, parts, contacts, height)
    understood.append(
        f"the root's way was changed by {100.0 * far:.0f} cm in all, by which the planted feet slid together"
    )
    first = [_goal(motion, *own, height, drop if toes else 0.0, leg)[0] for own in zip(limbs, feet, strict=True)]
    motion = move_root_with_ankles(motion, parts, contacts, [ankle for ankle, _, _ in first])
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
        places, _ = world_poses(motion)
        across = places[:, parts.left.hip] - places[:, parts.right.hip]
        motion = replace(motion, rotations=leg_ik.reach_ankle(motion, limb, across, *goal))
    return replace(motion, rotations=quat.make_continuous(motion.rotations)), understood, unsure


def _aligned(
    motion: Motion, limb: LegJoints, foot: FootContacts, own: StanceHeights, drop: float
) -> tuple[Motion, float]:
    """With a constant offset of the ankle by which a planted foot falls by `drop` from ankle to toe."""
    places, turns = world_poses(motion)
    count = len(motion)
    flat = span_mask(foot.toe, count) & span_mask(foot.heel, count)
    if limb.toe is None or not flat.any():
        return motion, 0.0
    along = places[flat, limb.toe] - places[flat, limb.ankle]
    length = float(np.median(np.linalg.norm(along, axis=1)))
    now, goal = (np.arcsin(np.clip(fall / max(length, 1e-9), -0.95, 0.95)) for fall in (own.ankle - own.toe, drop))
    angle = float(np.clip(goal - now, -_MOST, _MOST))  # toes down
    across = leg_ik.unit_vectors(
        np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(along))])
    )  # to the foot's left
    axis = leg_ik.unit_vectors(quat.rotate(quat.inverse(turns[flat, limb.ankle]), across).mean(axis=0))
    rotations = motion.rotations.copy()
    rotations[:, limb.ankle] = quat.multiply(rotations[:, limb.ankle], quat.exp(angle * axis)[None])
    return replace(motion, rotations=rotations), angle


def _goal(
    motion: Motion, limb: LegJoints, foot: FootContacts, height: float, drop: float, leg: float
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], int]:
    """Where the ankle shall be, how foot and toes shall be turned, and in how many spans the foot slides."""
    places, turns = world_poses(motion)
    count, time = len(motion), motion.time
    ankle, feet = places[:, limb.ankle], turns[:, limb.ankle]
    planted = span_mask(foot.toe, count)
    toes = feet
    if limb.toe is not None:
        along = places[:, limb.toe] - ankle
        flat = along.copy()
        flat[:, :2] *= (np.sqrt(np.maximum((along**2).sum(axis=1) - drop**2, 0.0)) / _horizontal(along))[:, None]
        flat[:, 2] = -drop
        near = np.clip((_HEEL[1] * leg - (along[:, 2] * -1.0 - drop)) / ((_HEEL[1] - _HEEL[0]) * leg), 0.0, 1.0)
        tip = spread_corrections(near[:, None] * quat.log(leg_ik.shortest_rotation(along, flat)), planted, time)
        feet = quat.multiply(quat.exp(tip), feet)
        along = quat.rotate(quat.exp(tip), along)
        ahead = leg_ik.unit_vectors(motion.skeleton.offsets[limb.toe] * [1.0, 1.0, 0.0])
        toes = _flush(turns[:, limb.toe], planted, ahead, time)
    else:
        along = np.zeros_like(ankle)
    held, slides = _held((ankle + along)[:, :2], foot.toe, 0.01 + _SLIDE * leg, time)
    wanted = np.column_stack([held, np.full(count, height)]) - ankle - along
    moved = spread_corrections(wanted, span_mask(_settled(wanted, foot.toe, _SETTLED * leg), count), time)
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
    flat = leg_ik.unit_vectors(np.median(quat.rotate(quat.inverse(toes[planted]), up), axis=0))
    if abs(flat @ ahead) < np.sin(_REST):
        flat = leg_ik.unit_vectors(flat - (flat @ ahead) * ahead)
    tilt = quat.log(leg_ik.shortest_rotation(quat.rotate(toes, flat), np.tile(up, (len(toes), 1))))
    return quat.multiply(quat.exp(spread_corrections(tilt, planted, time)), toes)


def _lowered(
    motion: Motion,
    limbs: tuple[LegJoints, LegJoints],
    ankles: list[np.ndarray],
    feet: tuple[FootContacts, FootContacts],
) -> tuple[Motion, float]:
    """With the root so low that both legs reach their ankles' places while these are planted, and by how much."""
    places, _ = world_poses(motion)
    short = np.zeros(len(motion))
    for limb, ankle, foot in zip(limbs, ankles, feet, strict=True):
        long = leg_ik.LONGEST_REACH * leg_length(places, limb)
        away = places[:, limb.hip] - ankle
        room = np.sqrt(np.maximum(long**2 - (away[:, :2] ** 2).sum(axis=1), 0.25 * long**2))
        own = np.where(span_mask(foot.toe, len(motion)), away[:, 2] - room, 0.0)
        short = np.minimum(np.maximum(short, own), _LOWER * long)
    width = max(round(_LEVEL / float(np.median(np.diff(motion.time)))), 1)
    lower = ndimage.gaussian_filter1d(ndimage.maximum_filter1d(short, 4 * width + 1), width)
    places = motion.root_position.copy()
    places[:, 2] -= lower
    return replace(motion, root_position=places), float(lower.max())
