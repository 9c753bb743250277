"""Finds the gait cycle in a retargeted clip, or tells that there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.errors import SurefootError
from surefoot.motions import fourier
from surefoot.motions.gait_cycle import GaitCycle, Span, even_frame
from surefoot.motions.retargeting import Retargeted
from surefoot.motions.steady import Steady, extended, find_steady
from surefoot.motions.touches import spans

CYCLIC = 0.42  # largest mismatch of a cycle: of our clips gaits have up to 0.32, dances 0.49 and more
_POOR, _WIDER, _FEW = 0.2, 0.5, 2.5  # a mismatch from which on a few cycles are too little: cycles added at both ends
_SHORTEST, _LONGER = 0.3, 1.2  # [s] the shortest period; the longest, in those of the best loop
_MOST = 8  # harmonics
_GAIN = np.radians(0.25)  # by which more harmonics must bring a joint nearer to the clip
_SYMMETRIC = np.radians(7.0)
_BINS, _BLUR, _BRIEF = 200, 0.015, 0.05  # of the phase, for contacts: bins, smoothing, the shortest touch or gap


class NotCyclicError(SurefootError):
    """A clip without a gait cycle; `mismatch` tells by how much, None if nothing in it repeats at all."""

    def __init__(self, message: str, mismatch: float | None) -> None:
        """Keep the measure beside the message."""
        super().__init__(message)
        self.mismatch = mismatch


def gait_cycle(found: Retargeted, table: CharacterTable, accuracy: float = np.radians(2.0)) -> GaitCycle:
    """The averaged cycle of the steadiest part of a clip.

    Args:
        found: the clip on the table's character.
        table: the character.
        accuracy: root mean square error [rad] at which no more harmonics are taken; at most 8 are.

    Raises:
        NotCyclicError: where nothing repeats itself well enough.
    """
    best = find_steady(found, table)
    if best is None:
        raise NotCyclicError("no gait cycle: nothing with steps in it lasts for 1½ cycles of 0.3 … 3 s", None)
    if best.mismatch > CYCLIC:
        raise NotCyclicError(
            f"no gait cycle: what repeats best ({best.start:.1f} … {best.end:.1f} s, after {best.period:.2f} s) "
            f"differs by {best.mismatch:.2f} of what unlike moments differ by; a cycle differs by {CYCLIC:g} at most",
            best.mismatch,
        )
    steady = extended(best, found, table)
    if best.mismatch > _POOR and steady.cycles < _FEW:
        low, high = best.start - _WIDER * best.period, best.end + _WIDER * best.period
        steady = replace(best, start=max(low, float(found.time[0])), end=min(high, float(found.time[-1])))
    inside = (found.time >= steady.start - 1e-9) & (found.time <= steady.end + 1e-9)
    period = _period(found, table, inside, steady)
    phase = found.time[inside] / period
    series, residuals = _series({name: angle[inside] for name, angle in found.angles.items()}, phase, accuracy)
    shift = fourier.highest(series[_right_hip(table)]) - 0.25  # SIMBICON §5
    joints = {name: fourier.shifted(c, shift) for name, c in series.items()}
    root, travel, turn = even_frame(found, inside, period)
    moves = {name: fourier.shifted(fourier.fit(phase, values, _MOST), shift) for name, values in root.items()}
    uneven = asymmetry(joints, table)
    notes = _notes(period, steady, best, residuals, uneven)
    return GaitCycle(
        period, joints, moves, travel, turn, _contacts(found.contacts[inside], phase - shift), residuals, uneven,
        uneven <= _SYMMETRIC, (steady.start, steady.end), best.mismatch, notes,
    )  # fmt: skip


def asymmetry(joints: dict[str, np.ndarray], table: CharacterTable) -> float:
    """Root mean square difference [rad] of legs and trunk and their mirror images half a cycle later."""
    grid, found = np.arange(0.0, 1.0, 0.01), []
    legs = [role for role in table.anatomy.side_roles if role not in table.anatomy.upper]
    for left, right, role in zip(
        table.anatomy.left.joints, table.anatomy.right.joints, table.anatomy.side_roles, strict=True
    ):
        if role in legs:
            found.append(fourier.evaluate(joints[left], grid) - fourier.evaluate(joints[right], grid + 0.5))
    for name in table.anatomy.middle:
        if "neck" not in name:
            sign = 1.0 if table.hinges[name].plane == SAGITTAL else -1.0
            found.append(fourier.evaluate(joints[name], grid) - sign * fourier.evaluate(joints[name], grid + 0.5))
    return float(np.sqrt(np.mean(np.square(found))))


def _right_hip(table: CharacterTable) -> str:
    return table.anatomy.right.joints[0]


def _period(found: Retargeted, table: CharacterTable, inside: np.ndarray, steady: Steady) -> float:
    """By the spectrum of the hips [s]."""
    turns = range(min(table.anatomy.hip_hinges, 2))  # flexion and roll: yaw drifts with the heading
    hips = [side.joints[i] for side in (table.anatomy.left, table.anatomy.right) for i in turns]
    signals = np.column_stack([found.angles[name][inside] for name in hips])
    longest = _LONGER * steady.period
    return fourier.period_of(found.time[inside], signals, min(_SHORTEST, 0.5 * longest), longest)[0]


def _series(
    angles: dict[str, np.ndarray], phase: np.ndarray, accuracy: float
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Each joint's series with as few harmonics as will do, and what it leaves over [rad]."""
    values = np.column_stack(list(angles.values()))
    fits = [fourier.fit(phase, values, k) for k in range(1, _MOST + 1)]
    errors = np.array([np.sqrt(((values - fourier.evaluate(c, phase)) ** 2).mean(axis=0)) for c in fits])
    enough = (errors <= np.maximum(accuracy, 1e-12)) | (errors <= errors[-1] + min(_GAIN, accuracy))
    chosen = enough.argmax(axis=0)
    series = {name: fits[k][:, i] for i, (name, k) in enumerate(zip(angles, chosen, strict=True))}
    return series, {name: float(errors[k, i]) for i, (name, k) in enumerate(zip(angles, chosen, strict=True))}


def _contacts(stands: np.ndarray, phase: np.ndarray) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Phases at which each foot (n, 2) stands in most of the cycles; a span over the end of the cycle ends above 1."""
    grid = (np.arange(_BINS) + 0.5) / _BINS
    apart = grid[:, None] - phase[None]
    weight = np.exp(-0.5 * ((apart - np.round(apart)) / _BLUR) ** 2)
    shares, found = weight @ stands / np.maximum(weight.sum(axis=1), 1e-9)[:, None], []
    for on in (shares > 0.5).T:
        for value in (True, False):  # close short gaps, then leave out short touches
            for first, last in _around(on != value):
                if last - first < _BRIEF * _BINS:
                    on[np.arange(first, last) % _BINS] = value
        found.append(tuple((first / _BINS, last / _BINS) for first, last in _around(on)))
    return found[0], found[1]


def _around(flags: np.ndarray) -> list[tuple[int, int]]:
    """Stretches of true bins of a circle; one over its end ends beyond it."""
    found = spans(flags)
    if len(found) > 1 and flags[0] and flags[-1]:
        return [*found[1:-1], (found[-1][0], len(flags) + found[0][1])]
    return found


def _notes(period: float, steady: Steady, best: Steady, residuals: dict[str, float], uneven: float) -> tuple[str, ...]:
    cycles = (steady.end - steady.start) / period
    notes = [f"a cycle of {period:.2f} s, averaged over {cycles:.1f} cycles ({steady.start:.1f} … {steady.end:.1f} s)"]
    if cycles < 2.0 or best.mismatch > _POOR:
        notes.append(f"unsure: {cycles:.1f} cycles that differ by {best.mismatch:.2f} of what unlike moments differ by")
    worst = max(residuals, key=lambda name: residuals[name])
    notes.append(f"joints stay within {np.degrees(np.mean(list(residuals.values()))):.1f}° of it on average, {worst} "
                 f"within {np.degrees(residuals[worst]):.1f}°")  # fmt: skip
    word = "left and right are alike" if uneven <= _SYMMETRIC else "left and right are not alike"
    return (*notes, f"{word} half a cycle apart: {np.degrees(uneven):.1f}°")
