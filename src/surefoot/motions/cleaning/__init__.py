"""A stranger's clip made fit to imitate: glitches mended, the floor level at height 0, the feet planted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import floor_fit
from surefoot.motions import foot_contacts as touching
from surefoot.motions.body_parts import BodyParts
from surefoot.motions.cleaning import foot_planting, frame_rate, glitches
from surefoot.motions.cleaning import glitches as teleports
from surefoot.motions.foot_contacts import Contacts
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion

_FEWEST = 8  # frames of a clip that can be cleaned


class CleaningError(SurefootError):
    """A motion that cannot be cleaned."""


@dataclass(frozen=True)
class Cleaned:
    """A clip with its ground at height 0, its contacts, and in words what was understood and what is unsure."""

    motion: Motion
    contacts: Contacts
    understood: list[str]
    unsure: list[str]
    first: int  # frame of the clip that the motion begins with


def clean(motion: Motion, parts: BodyParts, *, fps: float | None = None, feet: bool = True) -> Cleaned:
    """A clip without its data problems.

    Args:
        motion: as loaded, in metres and z up.
        parts: of its body, as `parts_of` finds them.
        fps: its true frames per second; by default what it says, unless its flights clearly say otherwise.
        feet: plant the feet; without, the floor is calibrated but no leg is moved and the root only as a whole.

    Raises:
        CleaningError: if there are too few frames, or numbers that are not finite.
    """
    _check(motion, fps)
    understood, unsure = list[str](), list[str]()
    if fps is not None:
        motion = replace(motion, time=np.arange(len(motion)) / fps)
        understood.append(f"the frame rate was told to be {fps:g} a second")
    whole = len(motion)
    motion, said = glitches.drop_first_pose(motion)
    understood += [said] if said else []
    first = whole - len(motion)
    motion, known, doubts = _paced(replace(motion, time=motion.time - motion.time[0]), parts, fps is None)
    understood, unsure = understood + known, unsure + doubts
    times = motion.time
    for repair in (lambda m: glitches.repair_joints(m, parts), teleports.repair_root):
        motion, known, doubts = repair(motion)
        understood, unsure = understood + known, unsure + doubts
    if len(motion) < _FEWEST:
        raise CleaningError(f"{len(motion)} frames are left after cutting; at least {_FEWEST} are needed")
    first += int(np.searchsorted(times, motion.time[0]))
    motion, stances, known = _levelled(replace(motion, time=motion.time - motion.time[0]), parts)
    understood += known
    places, _ = world_poses(motion)
    found = touching.find_contacts(places, motion.time, parts, stances)
    for side, foot in (("left", found.left), ("right", found.right)):
        understood.append(f"the {side} foot is on the ground {len(foot.any)} times")
        if not foot.any:
            unsure.append(f"no contact of the {side} foot was found")
    motion = floor_fit.put_on_ground(motion, parts, stances)
    if feet:
        motion, known, doubts = foot_planting.plant_feet(motion, parts, found, stances)
        understood, unsure = understood + known, unsure + doubts
    return Cleaned(motion, found, understood, unsure, first)


def _paced(motion: Motion, parts: BodyParts, correct: bool) -> tuple[Motion, list[str], list[str]]:
    """At the pace its flights clearly tell, if it may be corrected; first of all, since a jump is a matter of pace."""
    flat, stances, _ = _levelled(motion, parts)
    places, _ = world_poses(flat)
    fall = frame_rate.measure_fall_rate(flat, parts, stances, touching.find_contacts(places, flat.time, parts, stances))
    known, doubts = fall.words()
    if fall.clear is None:
        return motion, known, doubts
    if correct:
        return frame_rate.slow_down(motion, fall.clear), known, doubts
    return motion, [], [f"{known[0].split(':')[0]} at the frame rate that was told; free fall is {floor_fit.GRAVITY}"]


def _levelled(
    motion: Motion, parts: BodyParts
) -> tuple[Motion, tuple[floor_fit.StanceHeights, floor_fit.StanceHeights], list[str]]:
    """With a level floor; the feet's heights on it, and what to say about it."""
    places, _ = world_poses(motion)
    rise = floor_fit.floor_slope(places, motion.time, parts)
    motion = floor_fit.level_floor(motion, rise)
    places, _ = world_poses(motion)
    left, right = (floor_fit.stance_heights(places, motion.time, limb) for limb in (parts.left, parts.right))
    said = [f"planted toes are at {100.0 * left.toe:+.1f} cm (left) and {100.0 * right.toe:+.1f} cm (right)"]
    if rise.any():
        tilt = np.degrees(np.arctan(np.linalg.norm(rise)))
        said.insert(0, f"the floor was tilted by {tilt:.1f}° and was levelled")
    return motion, (left, right), said


def _check(motion: Motion, fps: float | None) -> None:
    if len(motion) < _FEWEST:
        raise CleaningError(f"a clip has at least {_FEWEST} frames, this one has {len(motion)}")
    if not (np.isfinite(motion.root_position).all() and np.isfinite(motion.rotations).all()):
        raise CleaningError("a clip with numbers that are not finite cannot be cleaned")
    if not (np.isfinite(motion.time).all() and (np.diff(motion.time) > 0.0).all()):
        raise CleaningError("a clip needs frames at increasing times")
    if fps is not None and not 0.0 < fps < np.inf:
        raise CleaningError(f"frames per second must be a positive number, got {fps}")
