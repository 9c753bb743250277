"""Cleaning of captured clips: glitches are repaired, the floor is level at height 0, feet stay where they stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import clip_events, floor_fit
from surefoot.motions.body_parts import BodyParts
from surefoot.motions.cleaning import foot_planting, frame_rate, glitches
from surefoot.motions.findings import Findings
from surefoot.motions.foot_contacts import Contacts, find_contacts
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion
from surefoot.motions.signals import Span

_FEWEST = 8  # frames of a clip that can be cleaned


class CleaningError(SurefootError):
    """A motion that cannot be cleaned."""


@dataclass(frozen=True)
class Cleaned:
    """A cleaned clip, whose ground is at height 0, with what was understood and what is unsure."""

    motion: Motion
    contacts: Contacts
    understood: list[str]
    unsure: list[str]
    first: int  # the frame of the original clip with which the motion begins
    flights: tuple[Span, ...] = ()
    rate_is_sure: bool = False  # free fall in flights shows the frame rate


def clean(
    motion: Motion, parts: BodyParts, *, fps: float | None = None, feet: bool = True, findings: Findings | None = None
) -> Cleaned:
    """Repair the usual faults of a captured clip.

    Args:
        motion: the clip in metres, z up.
        parts: which joint is which, from `find_body_parts`.
        fps: true frames per second; by default those of the clip, unless its flights clearly show others.
        feet: plant the feet. Without, the floor is levelled, but no leg moves and the root only as a whole.
        findings: where to say what was understood, so that it is known even if the clip is refused.

    Raises:
        CleaningError: there are too few frames, or numbers that are not finite.
        BrokenClipError: its root teleports again and again.
    """
    findings = Findings() if findings is None else findings
    _check(motion, fps)
    if fps is not None:
        motion = replace(motion, time=np.arange(len(motion)) / fps)
        findings.add(f"the frame rate is {fps:g} a second, as told")
    whole = len(motion)
    motion = glitches.drop_first_pose(motion, findings)
    first = whole - len(motion)
    motion, rate_is_sure = _correct_frame_rate(_from_zero(motion), parts, fps is None, findings)
    times = motion.time
    motion = glitches.repair_root(glitches.repair_joints(motion, parts, findings), findings)
    if len(motion) < _FEWEST:
        raise CleaningError(f"{len(motion)} frames are left after cutting; at least {_FEWEST} are needed")
    first += int(np.searchsorted(times, motion.time[0]))
    motion, stances = _level(_from_zero(motion), parts, findings)
    places, _ = world_poses(motion)
    contacts = find_contacts(places, motion.time, parts, stances)
    for side, foot in (("left", contacts.left), ("right", contacts.right)):
        findings.add(f"the {side} foot is on the ground {len(foot.any)} times")
        if not foot.any:
            findings.add(f"no contact of the {side} foot was found", False)
    flights = frame_rate.find_flights(motion, parts, stances, contacts)
    motion = floor_fit.put_on_ground(motion, parts, stances)
    clip_events.describe_events(motion, parts, contacts, flights, findings)
    if feet:
        motion = foot_planting.plant_feet(motion, parts, contacts, stances, findings)
    return Cleaned(motion, contacts, findings.understood, findings.unsure, first, tuple(flights), rate_is_sure)


def _from_zero(motion: Motion) -> Motion:
    return replace(motion, time=motion.time - motion.time[0])


def _correct_frame_rate(motion: Motion, parts: BodyParts, allowed: bool, findings: Findings) -> tuple[Motion, bool]:
    """The motion at the frame rate that its flights clearly show, and whether they show it.

    It comes before repairs, which depend on speeds.
    """
    flat, stances = _level(motion, parts, Findings())
    places, _ = world_poses(flat)
    contacts = find_contacts(places, flat.time, parts, stances)
    fall = frame_rate.measure_fall_rate(flat, parts, stances, contacts)
    if fall.clear is not None and not allowed:
        findings.add(f"{fall.measured} at the frame rate that was told; free fall is {floor_fit.GRAVITY}", False)
        return motion, False
    fall.describe(findings)
    return (motion, fall.fits) if fall.clear is None else (frame_rate.slow_down(motion, fall.clear), True)


def _level(
    motion: Motion, parts: BodyParts, findings: Findings
) -> tuple[Motion, tuple[floor_fit.StanceHeights, floor_fit.StanceHeights]]:
    """The motion on a level floor, and the heights of its planted feet."""
    places, _ = world_poses(motion)
    rise = floor_fit.floor_slope(places, motion.time, parts)
    motion = floor_fit.level_floor(motion, rise)
    places, _ = world_poses(motion)
    left, right = (floor_fit.stance_heights(places, motion.time, limb) for limb in (parts.left, parts.right))
    if rise.any():
        tilt = np.degrees(np.arctan(np.linalg.norm(rise)))
        findings.add(f"the floor was tilted by {tilt:.1f}° and was levelled")
    findings.add(f"planted toes are at {100.0 * left.toe:+.1f} cm (left) and {100.0 * right.toe:+.1f} cm (right)")
    return motion, (left, right)


def _check(motion: Motion, fps: float | None) -> None:
    if len(motion) < _FEWEST:
        raise CleaningError(f"a clip has at least {_FEWEST} frames, this one has {len(motion)}")
    if not motion.is_finite:
        raise CleaningError("a clip with numbers that are not finite cannot be cleaned")
    if not (np.isfinite(motion.time).all() and (np.diff(motion.time) > 0.0).all()):
        raise CleaningError("a clip needs frames at increasing times")
    if fps is not None and not 0.0 < fps < np.inf:
        raise CleaningError(f"frames per second must be a positive number, got {fps}")
