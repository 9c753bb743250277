"""Plants feet: they stay where they stand, flat on the ground (the clean-up of da Silva 2008 §5.4).

Whatever both planted feet do together is attributed to the root, which is moved first, so that the legs need not bend
for it. Inverse kinematics then brings each leg to its goal. Corrections that hold in contacts are spread over the
frames between them by a hierarchy of B-splines (Lee and Shin 1999).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage, sparse
from scipy.interpolate import BSpline
from scipy.sparse import linalg

from surefoot.motions import clip_leg_ik
from surefoot.motions import quaternions as quat
from surefoot.motions.body_parts import BodyParts, LegJoints
from surefoot.motions.findings import Findings
from surefoot.motions.floor_fit import StanceHeights, leg_length, wanted_and_actual_height
from surefoot.motions.foot_contacts import Contacts, FootContacts
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span, frame_time, smoothstep, span_mask, true_spans

_SPACINGS = (0.8, 0.4, 0.2, 0.1)  # [s] between the knots of each level
_RIDGE = 1e-3  # weight of a coefficient against that of a frame: keeps the fit of a short clip well posed
_FADE = 0.12  # [s] in which the splines' residual fades out beside the frames where it holds
_ROLL = 0.08  # [s] at both ends of a contact in which a foot counts less and less, because it still rolls
_SMOOTH = 0.04  # [s] over which the root's path is smoothed
_MOST = np.radians(15.0)  # largest constant offset of an ankle
_REST = np.radians(35.0)  # pitch of planted toes up to which the rest pose counts as level
_SLIDE = 0.08  # [leg lengths] from the first to the last third of a span: a foot that goes farther slides on purpose
_SETTLED, _ENDS = 0.012, 0.2  # [leg lengths] from where it stays, and share of a span: ends that are not planted
_HEEL = (
    0.005,
    0.03,
)  # [leg lengths] of a heel above flat: put down wholly below the first, not at all above the second
_LOWER = 0.03  # [leg lengths] the root is lowered at most for a leg to reach the ground
_LEVEL = 0.05  # [s] over which the root is lowered


def spread_corrections(values: np.ndarray, held: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Keep values where they hold, and interpolate smoothly elsewhere.

    Between two spans the result goes from the median of one span to the median of the next. The trend at the very end
    of a span is not continued, but fades out.

    Args:
        values: (n, k).
        held: (n,) where they hold.
        time: (n,) [s].

    Returns:
        (n, k); all zero if no values hold.
    """
    if not held.any():
        return np.zeros_like(values)
    guess, smooth = _guess(values, held, time), np.zeros_like(values)
    for spacing in _SPACINGS:
        smooth += _fit(guess - smooth, time, spacing)
    rest, factor = np.where(held[:, None], values - smooth, 0.0), np.ones(len(time))
    for first, stop in true_spans(~held):
        edges = [first - 1] * (first > 0) + [stop] * (stop < len(time))
        fades = [smoothstep(1.0 - np.abs(time[first:stop] - time[edge]) / _FADE) for edge in edges]
        for edge, fade in zip(edges, fades, strict=True):
            rest[first:stop] += fade[:, None] * rest[edge]
        factor[first:stop] = 1.0 / np.maximum(sum(fades), 1.0)  # two fades that overlap in a short gap do not add up
    return np.asarray(smooth + factor[:, None] * rest)


def _guess(values: np.ndarray, held: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, k) the values where held; between two spans, a smooth step from the median of one to that of the next."""
    guess = values.copy()
    usual = {edge: np.median(values[a:b], axis=0) for a, b in true_spans(held) for edge in (a, b - 1)}
    for first, stop in true_spans(~held):
        start, end = usual.get(first - 1), usual.get(stop)
        if start is None or end is None:
            guess[first:stop] = end if start is None else start
        else:
            share = (time[first:stop] - time[first - 1]) / (time[stop] - time[first - 1])
            guess[first:stop] = start + smoothstep(share)[:, None] * (end - start)
    return guess


def _fit(values: np.ndarray, time: np.ndarray, spacing: float) -> np.ndarray:
    """(n, k) the cubic spline nearest to the values, with knots `spacing` [s] apart."""
    count = max(int(np.ceil(np.ptp(time) / spacing)), 1)
    step = max(float(np.ptp(time)), 1e-9) / count
    knots = time[0] + step * np.arange(-3, count + 4)
    basis = BSpline.design_matrix(np.clip(time, knots[3], knots[-4]), knots, 3)
    normal = (basis.T @ basis + _RIDGE * sparse.identity(basis.shape[1])).tocsc()
    return np.asarray(basis @ linalg.splu(normal).solve(np.asarray(basis.T @ values)))


def stop_root_sliding(motion: Motion, parts: BodyParts, contacts: Contacts, height: float) -> tuple[Motion, float]:
    """Move the root so that planted feet do not slide together and are on the ground.

    Poses do not change, so that feet still slide where both are planted and move differently.

    Args:
        motion: with its ground about at height 0.
        parts: which joint is which.
        contacts: of its feet.
        height: of planted toes (of ankles if there are none) above the ground [m].

    Returns:
        The motion, and how far the end of the root's path has moved horizontally [m].
    """
    places, _ = world_poses(motion)
    weights = _both(contacts, motion.time)
    total = weights.sum(axis=0)
    steps, high = np.zeros((len(motion), 2)), np.zeros((len(motion), 1))
    for limb, weight in zip((parts.left, parts.right), weights, strict=True):
        there = places[:, limb.tip]
        share = 0.5 * (weight[1:] + weight[:-1]) / np.maximum(0.5 * (total[1:] + total[:-1]), 1.0)
        steps[1:] -= share[:, None] * np.diff(there[:, :2], axis=0)
        high[:, 0] += weight / np.maximum(total, 1e-9) * (height - there[:, 2])
    lift = spread_corrections(high, total > 0.5, motion.time)
    moved = _smooth(np.column_stack([np.cumsum(steps, axis=0), lift]), motion.time)
    carried = replace(motion, root_position=motion.root_position + moved)
    return carried, float(np.linalg.norm(moved[-1, :2] - moved[0, :2]))


def move_root_with_ankles(motion: Motion, parts: BodyParts, contacts: Contacts, ankles: list[np.ndarray]) -> Motion:
    """Move the root by what the planted feet's corrections have in common.

    Args:
        motion: whose legs have not been moved yet.
        parts: which joint is which.
        contacts: of its feet.
        ankles: (n, 3) goals of the left and the right ankle [m].
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
    width = max(_SMOOTH / frame_time(time), 0.5)
    return np.asarray(ndimage.gaussian_filter1d(moved, width, axis=0, mode="nearest"))


def _both(contacts: Contacts, time: np.ndarray) -> np.ndarray:
    """(2, n) weights of the left and the right foot."""
    return np.stack([_weights(contacts.left, time), _weights(contacts.right, time)])


def _weights(foot: FootContacts, time: np.ndarray) -> np.ndarray:
    """(n,) weight of a foot: 1 in its contacts, falling to 0 at their ends, except at the ends of the clip."""
    weights = np.zeros(len(time))
    for first, stop in foot.toe:
        since = (time[first:stop] - time[first]) / _ROLL if first > 0 else np.ones(stop - first)
        left = (time[stop - 1] - time[first:stop]) / _ROLL if stop < len(time) else np.ones(stop - first)
        weights[first:stop] = np.clip(np.minimum(since, left), 0.0, 1.0)
    return weights


def plant_feet(
    motion: Motion,
    parts: BodyParts,
    contacts: Contacts,
    stances: tuple[StanceHeights, StanceHeights],
    findings: Findings,
) -> Motion:
    """Make each foot stay in place, flat on the ground, while it is in contact.

    Args:
        motion: from `put_on_ground`.
        parts: which joint is which.
        contacts: of its feet.
        stances: heights of the planted feet; only their differences count.
        findings: where to say what was done and what is unsure.
    """
    limbs, feet = (parts.left, parts.right), (contacts.left, contacts.right)
    places, _ = world_poses(motion)
    leg = float(np.mean([leg_length(places, limb) for limb in limbs]))
    toes = all(limb.toe is not None for limb in limbs)
    height, _ = wanted_and_actual_height(motion, parts, stances)
    drop = float(np.mean([own.ankle - own.toe for own in stances]))  # [m] from ankle to toe of a flat foot
    for side, limb, foot, own in zip(("left", "right"), limbs, feet, stances, strict=True):
        if toes:
            motion, angle = _aligned(motion, limb, foot, own, drop)
            findings.add(f"the {side} ankle was turned by {np.degrees(angle):+.1f}° so that the planted foot is flat")
            if abs(angle) > 0.99 * _MOST:
                findings.add(f"the {side} ankle would have to turn by more than {np.degrees(_MOST):.0f}°", False)
    motion, far = stop_root_sliding(motion, parts, contacts, height)
    findings.add(f"planted feet slid together by {100.0 * far:.0f} cm in all: the root's path was changed by this")
    first = [_goal(motion, *own, height, drop if toes else 0.0, leg)[0] for own in zip(limbs, feet, strict=True)]
    motion = move_root_with_ankles(motion, parts, contacts, [ankle for ankle, _, _ in first])
    goals = []
    for side, limb, foot in zip(("left", "right"), limbs, feet, strict=True):
        goal, slides = _goal(motion, limb, foot, height, drop if toes else 0.0, leg)
        goals.append(goal)
        if slides:
            findings.add(
                f"the {side} foot slides in {slides} of its contacts, on purpose it seems: it still does", False
            )
    motion, lowered = _lowered(motion, limbs, [goal[0] for goal in goals], feet)
    if lowered > 0.5 * _LOWER * leg:
        findings.add(
            f"the root was lowered by up to {100.0 * lowered:.1f} cm where a leg did not reach its foot", False
        )
    for limb, goal in zip(limbs, goals, strict=True):
        places, _ = world_poses(motion)
        across = places[:, parts.left.hip] - places[:, parts.right.hip]
        motion = replace(motion, rotations=clip_leg_ik.reach_ankle(motion, limb, across, *goal))
    return replace(motion, rotations=quat.make_continuous(motion.rotations))


def _aligned(
    motion: Motion, limb: LegJoints, foot: FootContacts, own: StanceHeights, drop: float
) -> tuple[Motion, float]:
    """Turn the ankle by a constant angle so that a planted foot falls by `drop` [m] from ankle to toe."""
    places, turns = world_poses(motion)
    count = len(motion)
    flat = span_mask(foot.toe, count) & span_mask(foot.heel, count)
    if limb.toe is None or not flat.any():
        return motion, 0.0
    along = places[flat, limb.toe] - places[flat, limb.ankle]
    length = float(np.median(np.linalg.norm(along, axis=1)))
    now, goal = (np.arcsin(np.clip(fall / max(length, 1e-9), -0.95, 0.95)) for fall in (own.ankle - own.toe, drop))
    angle = float(np.clip(goal - now, -_MOST, _MOST))  # toes down
    left = quat.unit_vectors(np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(along))]))
    axis = quat.unit_vectors(quat.rotate(quat.inverse(turns[flat, limb.ankle]), left).mean(axis=0))
    rotations = motion.rotations.copy()
    rotations[:, limb.ankle] = quat.multiply(rotations[:, limb.ankle], quat.exp(angle * axis)[None])
    return replace(motion, rotations=rotations), angle


def _goal(
    motion: Motion, limb: LegJoints, foot: FootContacts, height: float, drop: float, leg: float
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], int]:
    """Goals of a leg (ankle position, orientations of foot and toes), and in how many contacts the foot slides."""
    places, turns = world_poses(motion)
    count, time = len(motion), motion.time
    ankle, feet = places[:, limb.ankle], turns[:, limb.ankle]
    planted = span_mask(foot.toe, count)
    toes = feet
    if limb.toe is not None:
        along = places[:, limb.toe] - ankle
        flat = along.copy()
        level = np.maximum(np.linalg.norm(along[:, :2], axis=1), 1e-9)
        flat[:, :2] *= (np.sqrt(np.maximum((along**2).sum(axis=1) - drop**2, 0.0)) / level)[:, None]
        flat[:, 2] = -drop
        near = np.clip((_HEEL[1] * leg - (along[:, 2] * -1.0 - drop)) / ((_HEEL[1] - _HEEL[0]) * leg), 0.0, 1.0)
        tip = spread_corrections(near[:, None] * quat.log(quat.shortest_rotation(along, flat)), planted, time)
        feet = quat.multiply(quat.exp(tip), feet)
        along = quat.rotate(quat.exp(tip), along)
        ahead = quat.unit_vectors(motion.skeleton.offsets[limb.toe] * [1.0, 1.0, 0.0])
        toes = _flush(turns[:, limb.toe], planted, ahead, time)
    else:
        along = np.zeros_like(ankle)
    held, slides = _held((ankle + along)[:, :2], foot.toe, 0.01 + _SLIDE * leg, time)
    wanted = np.column_stack([held, np.full(count, height)]) - ankle - along
    moved = spread_corrections(wanted, span_mask(_settled(wanted, foot.toe, _SETTLED * leg), count), time)
    moved[:, 2] += np.maximum(height - (ankle + along + moved)[:, 2], 0.0)  # nothing goes into the ground
    return (ankle + moved, feet, toes), slides


def _held(there: np.ndarray, spans: tuple[Span, ...], slide: float, time: np.ndarray) -> tuple[np.ndarray, int]:
    """(n, 2) horizontal positions at which a foot stays in each span, and the number of spans in which it slides."""
    held, slides = there.copy(), 0
    for first, stop in spans:
        third = max((stop - first) // 3, 1)
        gone = np.median(there[stop - third : stop], axis=0) - np.median(there[first : first + third], axis=0)
        if np.linalg.norm(gone) > slide:
            width = max(round(0.05 / frame_time(time)), 1)
            held[first:stop] = ndimage.gaussian_filter1d(there[first:stop], width, axis=0, mode="nearest")
            slides += 1
        else:
            held[first:stop] = np.median(there[first:stop], axis=0)
    return held, slides


def _settled(wanted: np.ndarray, spans: tuple[Span, ...], near: float) -> list[Span]:
    """Spans, shortened by ends in which a foot is farther than `near` [m] from where it stays."""
    far, found = np.linalg.norm(wanted, axis=1) > near, list[Span]()
    for first, stop in spans:
        most = int(_ENDS * (stop - first))
        begins = next((i for i in range(most) if not far[first + i]), most)
        ends = next((i for i in range(most) if not far[stop - 1 - i]), most)
        found.append((first + begins, stop - ends))
    return found


def _flush(toes: np.ndarray, planted: np.ndarray, ahead: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, 4) orientations of toes that do not tilt while planted.

    Flat toes have the roll that they mostly have while planted, because a rest pose with spread legs rolls them. Their
    pitch is that of the rest pose, unless planted toes never have it.

    Args:
        toes: (n, 4) world orientations.
        planted: (n,) when they are planted.
        ahead: (3,) level direction in which the foot points in the rest pose.
        time: (n,) [s].
    """
    if not planted.any():
        return toes
    up = np.array([0.0, 0.0, 1.0])
    flat = quat.unit_vectors(np.median(quat.rotate(quat.inverse(toes[planted]), up), axis=0))
    if abs(flat @ ahead) < np.sin(_REST):
        flat = quat.unit_vectors(flat - (flat @ ahead) * ahead)
    tilt = quat.log(quat.shortest_rotation(quat.rotate(toes, flat), np.tile(up, (len(toes), 1))))
    return quat.multiply(quat.exp(spread_corrections(tilt, planted, time)), toes)


def _lowered(
    motion: Motion,
    limbs: tuple[LegJoints, LegJoints],
    ankles: list[np.ndarray],
    feet: tuple[FootContacts, FootContacts],
) -> tuple[Motion, float]:
    """Lower the root so that both legs reach their planted ankles; also returns by how much at most [m]."""
    places, _ = world_poses(motion)
    short = np.zeros(len(motion))
    for limb, ankle, foot in zip(limbs, ankles, feet, strict=True):
        long = clip_leg_ik.LONGEST_REACH * leg_length(places, limb)
        away = places[:, limb.hip] - ankle
        room = np.sqrt(np.maximum(long**2 - (away[:, :2] ** 2).sum(axis=1), 0.25 * long**2))
        own = np.where(span_mask(foot.toe, len(motion)), away[:, 2] - room, 0.0)
        short = np.minimum(np.maximum(short, own), _LOWER * long)
    width = max(round(_LEVEL / frame_time(motion.time)), 1)
    lower = ndimage.gaussian_filter1d(ndimage.maximum_filter1d(short, 4 * width + 1), width)
    places = motion.root_position.copy()
    places[:, 2] -= lower
    return replace(motion, root_position=places), float(lower.max())
