"""What no person does: gaits whose cadence, speed or fall shows that a clip's frame rate is wrong.

Free fall in flights tells the frame rate surely (`cleaning.frame_rate`), and is corrected there. A walk has no flights.
But its feet cannot pull: a centre of mass never falls faster than freely while a foot stands. And walking has a limit
of speed and of cadence, which grow as √(leg length): people break into a run at a Froude number v²/(g·leg) of about
0.5 (Alexander 1989, "Optimization and gaits in the locomotion of vertebrates"), fast walks have about 150 steps/min and
runs 150 to 200. The limits here are well beyond these; beyond them the clip is doubted, and kept as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.motions.findings import Findings
from surefoot.motions.floor_fit import GRAVITY
from surefoot.motions.gait_description import GaitManner

_LEG = 0.87  # [m] for which cadences are given
_FACTORS = (2.0, 3.0, 4.0)  # by which stamped frame rates usually are too high


@dataclass(frozen=True)
class _Limits:
    """The most that a person does."""

    cadence: float  # [steps/min] with legs of 0.87 m
    speed: float  # [√(g · leg)]
    fall: float  # [g] downward acceleration of the centre of mass, as measured on an averaged cycle


_WALK = _Limits(180.0, 0.75, 1.0)
_FLIGHTS = _Limits(230.0, 4.2, 3.2)  # averaged flights are uneven: right ones measure up to 2.8 g, doubled ones 5 g


def doubt_frame_rate(manner: GaitManner, leg: float, fps: float, findings: Findings) -> None:
    """Say that a clip's frame rate is probably wrong, and which would be likely, if the gait is none of a person.

    Args:
        manner: of the gait, on a body with these legs.
        leg: length of its legs [m].
        fps: of the clip [1/s].
        findings: where to say it.
    """
    told = _excesses(manner, leg, 1.0)
    if not told:
        return
    likely = next((factor for factor in _FACTORS if not _excesses(manner, leg, factor)), None)
    doubt = f"{' and '.join(told)}, which no person does: the frame rate of {fps:g} is doubtful"
    if likely is not None:
        doubt += (
            f"; at {fps / likely:g} frames per second (--fps {fps / likely:g}) it would be "
            f"{manner.speed / likely:.2f} m/s with {manner.cadence / likely:.0f} {manner.counted}/min"
        )
    findings.add(doubt, False)


def _excesses(manner: GaitManner, leg: float, slower: float) -> list[str]:
    """What no person does, in words, if the clip's time is stretched by a factor."""
    limits = _WALK if manner.kind == "walk" else _FLIGHTS
    cadence, speed = limits.cadence * np.sqrt(_LEG / leg), limits.speed * np.sqrt(GRAVITY * leg)
    verb = {"walk": "walks", "run": "runs", "hop": "hops", "jump": "jumps"}[manner.kind]
    found = []
    if manner.speed / slower > speed:
        found.append(f"it {verb} at {manner.speed / slower:.2f} m/s (at most {speed:.1f})")
    if manner.cadence / slower > cadence:
        found.append(f"it takes {manner.cadence / slower:.0f} {manner.counted}/min (at most {cadence:.0f})")
    if manner.steepest / slower**2 > limits.fall:
        found.append(f"it falls at {manner.steepest / slower**2:.1f} g (at most {limits.fall:g})")
    return found
