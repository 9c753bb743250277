"""Reads a clip for one of our bodies: file, cleaning, retargeting, gait cycle, and all that was understood on the way.

Every command that begins with a clip reads it here, once, and says the same about it. What was understood grows in a
`Findings` of the caller's, so that it can be told even if the clip is refused in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.errors import SurefootError
from surefoot.motions import clips, retargeting
from surefoot.motions.body_parts import find_body_parts
from surefoot.motions.cleaning import clean
from surefoot.motions.clip_leg_ik import leg_bones_of
from surefoot.motions.findings import Findings
from surefoot.motions.gait_cycle import GaitCycle, step_in_place
from surefoot.motions.gait_description import describe_gait, gait_manner
from surefoot.motions.gait_search import NotCyclicError, find_gait_cycle
from surefoot.motions.plausibility import doubt_frame_rate
from surefoot.motions.retargeting import RetargetedClip
from surefoot.motions.signals import frame_time

_SHORTEST = 0.5  # [s] of a clip that a body can be asked to move like


class ShortClipError(SurefootError):
    """A clip that is too short to move like."""


@dataclass(frozen=True)
class ClipSource:
    """A clip and what the user knows better than the file.

    Attributes:
        clip: file, .bvh or .amc.
        skeleton: .asf file of an .amc clip.
        character: name of the body that should move like it.
        in_place: whether it steps on the spot, without the clip's travel.
        scale: metres per unit of the file; None is guessed.
        up: axis of the file that points up; None is guessed.
        fps: true frames per second; None is the file's.
        knee_bias: by how much the clip's skeleton bends all knees too much [deg].
    """

    clip: Path
    skeleton: Path | None = None
    character: str = "human"
    in_place: bool = False
    scale: float | None = None
    up: str | None = None
    fps: float | None = None
    knee_bias: float = 0.0


@dataclass(frozen=True)
class ReadClip:
    """A clip on one of our bodies.

    Attributes:
        source: the clip.
        table: the body.
        found: the clip, retargeted to it.
        cycle: of its gait; None if it has none.
        not_cyclic: why it has none.
    """

    source: ClipSource
    table: CharacterTable
    found: RetargetedClip
    cycle: GaitCycle | None
    not_cyclic: NotCyclicError | None


def read_clip_for(table: CharacterTable, source: ClipSource, findings: Findings) -> ReadClip:
    """Read, clean and retarget a clip, and look for its gait cycle.

    Args:
        table: the body that should move like it.
        source: the clip.
        findings: where to say what was understood; it is filled as far as reading gets.

    Raises:
        SurefootError: the clip cannot be read; the message says why.
    """
    clip = clips.read_clip(
        source.clip, asf=source.skeleton, scale=source.scale, up=source.up, fps=source.fps, findings=findings
    )
    parts, notes = find_body_parts(clip.motion)
    findings.unsure += notes
    cleaned = clean(clip.motion, parts, fps=source.fps, findings=findings)
    lasts = float(np.ptp(cleaned.motion.time))
    if lasts < _SHORTEST:
        raise ShortClipError(f"the clip lasts {lasts:.2f} s; one to move like has at least {_SHORTEST:g} s")
    found = retargeting.retarget(cleaned.motion, parts, table)
    if source.knee_bias:
        found = retargeting.straighten_knees(found, table, float(np.radians(source.knee_bias)))
    for note in found.notes:
        findings.add(note)
    try:
        cycle = find_gait_cycle(found, table)
    except NotCyclicError as error:
        return ReadClip(source, table, found, None, error)
    manner = gait_manner(cycle, table)
    flies = manner.kind != "walk"  # flights of anything else tell nothing: a quick walk's feet may look lifted
    if source.fps is None and not (flies and cleaned.rate_is_sure):
        leg = float(np.mean([leg_bones_of(table, side).length for side in (0, 1)]))
        if table.root == "planar":  # what a clip's shadow does up and down is not what the body did
            manner = replace(manner, steepest=0.0)
        doubt_frame_rate(manner, leg, 1.0 / frame_time(cleaned.motion.time), findings)
    if source.in_place:
        cycle = step_in_place(cycle, table)
    for note in cycle.notes:
        findings.add(note)
    findings.add(describe_gait(cycle, table))
    return ReadClip(source, table, found, cycle, None)
