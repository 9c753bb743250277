"""Cuts clips into fragments that a control graph can join: the cycle that repeats, and how it begins and ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from surefoot.characters import load as load_character
from surefoot.lab.tracking_skill import ClipOnBody, repeats
from surefoot.motions.retargeting import RetargetedClip
from surefoot.motions.signals import frame_time

_LEGS = ("hip", "knee", "ankle")
_SLOW, _CALM = 0.15, 0.4  # [m/s] of the root and [rad/s] root mean square of the legs, below which a body stands
_STANDS = 0.25  # [s] for which it stands at least
_REST, _MOVES = 0.3, 2.0  # [s] of standing, and of moving, in a start or a stop
_SMOOTH = 0.1  # [s]


@dataclass(frozen=True)
class Fragment:
    """A part of a clip that is followed by a skill of its own.

    Attributes:
        name: of the graph's node.
        stem: name of the clip's file, without its suffix.
        clip: the part, on its body.
        then: name of the fragment that it leads to; None if it loops, or ends standing.
        skill: file of a skill that was made of it before; None if it is to be made.
    """

    name: str
    stem: str
    clip: ClipOnBody
    then: str | None = None
    skill: Path | None = None


def cut_clip(found: RetargetedClip, begin: float, end: float) -> RetargetedClip:
    """A part of a retargeted clip.

    Args:
        found: the clip.
        begin: of the part [s].
        end: of the part [s].
    """
    keep = (found.time >= begin) & (found.time < end)
    return replace(
        found, time=found.time[keep] - found.time[keep][0], contacts=found.contacts[keep],
        angles={name: angle[keep] for name, angle in found.angles.items()},
        root_position=found.root_position[keep], root_rotation=found.root_rotation[keep],
    )  # fmt: skip


def fragments_of(stem: str, found: RetargetedClip, character: str) -> list[Fragment]:
    """The fragments of a clip.

    A clip that repeats gives its cycle; if it stands before or afterwards, also the start and the stop. Any other clip
    is one fragment.

    Args:
        stem: name of the clip's file, without its suffix.
        found: the clip, retargeted.
        character: name of the body that it was retargeted to.
    """
    name = stem.lower().replace("_", "-")
    if not repeats(found, load_character(character)):
        return [Fragment(name, stem, ClipOnBody(found, character, False))]
    fragments = [Fragment(name, stem, ClipOnBody(found, character, True))]
    begin, end = float(found.time[0]), float(found.time[-1])
    first, last = moving_span(found)
    if first - begin >= _STANDS:
        part = cut_clip(found, max(first - _REST, begin), min(first + _MOVES, end))
        fragments.append(Fragment(f"{name}-start", stem, ClipOnBody(part, character, False), name))
    if end - last >= _STANDS:
        part = cut_clip(found, max(last - _MOVES, begin), min(last + _REST, end))
        fragments.append(Fragment(f"{name}-stop", stem, ClipOnBody(part, character, False)))
    return fragments


def moving_span(found: RetargetedClip) -> tuple[float, float]:
    """When a clip begins and when it ends to move [s]; it stands before and afterwards."""
    width = max(round(_SMOOTH / frame_time(found.time)), 1)
    kernel = np.ones(width) / width

    def smooth(values: np.ndarray) -> np.ndarray:
        return np.convolve(np.pad(values, width, mode="edge"), kernel, "same")[width:-width]

    place = np.column_stack([smooth(axis) for axis in found.root_position.T])
    legs = [angle for joint, angle in found.angles.items() if any(kind in joint for kind in _LEGS)]
    angles = np.column_stack([smooth(angle) for angle in legs])
    speed = np.linalg.norm(np.gradient(place, found.time, axis=0)[:, :2], axis=1)
    rates = np.sqrt((np.gradient(angles, found.time, axis=0) ** 2).mean(axis=1))
    moving = np.flatnonzero((speed > _SLOW) | (rates > _CALM))
    if not len(moving):
        return float(found.time[-1]), float(found.time[0])
    return float(found.time[moving[0]]), float(found.time[moving[-1]])
