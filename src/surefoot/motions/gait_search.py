"""The stretch of a retargeted clip that repeats itself best.

Finds the gait cycle in a retargeted clip, or tells that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.characters.links import limbs_of_table
from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.errors import SurefootError
from surefoot.motions import fourier
from surefoot.motions import quaternions as quat
from surefoot.motions.foot_contacts import true_spans
from surefoot.motions.gait_cycle import GaitCycle, Span, root_in_moving_frame
from surefoot.motions.retargeting import RetargetedClip

_FPS = 30.0  # of the search
_SHORTEST_PERIOD, _LONGEST_PERIOD = 0.3, 3.0  # [s] of a cycle
_WEIGHTS = {"hip": 1.0, "knee": 1.0, "ankle": 0.5, "lower_back": 1.0, "upper_back": 0.5, "shoulder": 0.3, "elbow": 0.3}
_TILT, _SPIN, _SPEED = 1.0, 0.15, 0.25  # [1, s, s/m] weights of pelvis tilt, yaw rate and speed against joint angles
_STANCE = 0.3  # [rad] weight of a foot's standing
_LIVELY = 0.1  # of the variance of the liveliest stretch: what a cycle has at least
_MORE, _LONG = 0.03, 0.02  # mismatch that one more cycle is worth, and that a second less of period is
_ALIKE, _CLOSE = (
    2.0,
    0.12,
)  # times the mismatch within the stretch, and mismatch, up to which its neighbours belong to it
_ENOUGH = 7.0  # cycles (SIMBICON §5: 3 to 7)


@dataclass(frozen=True)
class PeriodicSpan:
    """Where a clip repeats itself [s], after how long, and how badly: 0 is exactly, 1 not at all."""

    start: float
    end: float
    period: float
    mismatch: float

    @property
    def cycles(self) -> float:
        """How many cycles there are."""
        return (self.end - self.start) / self.period


def pose_features(found: RetargetedClip, table: CharacterTable) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s] and (n, m) what must repeat: joints, tilt, speed and turning of the body, weighted [rad]."""
    links = limbs_of_table(table).links
    columns = [_WEIGHTS.get(link.kind, 0.0) * found.angles[name] for link in links for name in link.joints]
    yaw = quat.yaw(found.root_rotation)
    level = quat.multiply(quat.about_vertical(-yaw), found.root_rotation)
    columns += [_TILT * 2.0 * level[:, 1], _TILT * 2.0 * level[:, 2], _SPIN * np.gradient(yaw, found.time)]
    speed = quat.rotate(quat.about_vertical(-yaw), np.gradient(found.root_position, found.time, axis=0))
    columns += [*(_SPEED * speed.T), *(_STANCE * found.contacts.T)]
    table_of = np.column_stack(columns)
    pace = float(np.median(np.diff(found.time)))
    width = max(round(1.0 / (_FPS * pace)), 1)
    kernel = np.ones(width) / width
    smooth = np.column_stack(
        [np.convolve(np.pad(c, width, mode="edge"), kernel, "same")[width:-width] for c in table_of.T]
    )
    times = np.arange(found.time[0], found.time[-1] + 1e-9, 1.0 / _FPS)
    return times, np.column_stack([np.interp(times, found.time, column) for column in smooth.T])


def find_periodic_span(found: RetargetedClip, table: CharacterTable) -> PeriodicSpan | None:
    """The stretch of steps that repeats itself best; None where nothing lively with steps lasts for 1½ cycles."""
    times, values = pose_features(found, table)
    lively = _spread(values, round(min(_LONGEST_PERIOD, times[-1] / 2.0) * _FPS)).max()
    landings = _landings(found, times)
    best, least = None, np.inf
    for lag in range(round(_SHORTEST_PERIOD * _FPS), min(round(_LONGEST_PERIOD * _FPS), (2 * len(times)) // 3) + 1):
        off = np.concatenate([[0.0], np.cumsum(((values[lag:] - values[:-lag]) ** 2).sum(axis=1))])
        moving = _spread(values, lag)
        within = np.concatenate([[0.0], np.cumsum(moving)])
        for cycles in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0):  # beside the first
            count = round(cycles * lag)
            starts = np.arange(len(times) - lag - count + 1)
            if not len(starts):
                break
            spread = (within[starts + count + 1] - within[starts]) / (count + 1)  # of a cycle, so that drift counts not
            fit = np.ones(len(starts), bool)
            for cycle in (starts, starts + count):  # the first and the last one
                fit &= (moving[cycle] > _LIVELY * lively) & (landings[cycle + lag] > landings[cycle])
            mismatch = np.where(fit, (off[starts + count] - off[starts]) / count / (2.0 * spread), np.inf)
            first = int(mismatch.argmin())
            score = float(mismatch[first]) - _MORE * cycles + _LONG * lag / _FPS
            if score < least:
                last = first + lag + count - 1
                best, least = PeriodicSpan(times[first], times[last], lag / _FPS, float(mismatch[first])), score
    return best


def extend_periodic_span(steady: PeriodicSpan, found: RetargetedClip, table: CharacterTable) -> PeriodicSpan:
    """The same stretch with as many cycles before and after it as are like their neighbours."""
    times, values = pose_features(found, table)
    lag, half = round(steady.period * _FPS), max(round(0.5 * steady.period * _FPS), 1)
    first, last = (int(np.argmin(np.abs(times - t))) for t in (steady.start, steady.end))
    if last - first < lag + 2:
        return steady
    spread = float(_spread(values[first:last], lag).mean())
    off = ((values[lag:] - values[:-lag]) ** 2).sum(axis=1) / (2.0 * spread)  # at a moment and one period later
    bound = max(_ALIKE * float(off[first : last - lag].mean()), _CLOSE)
    while (last - first) < _ENOUGH * lag:
        before = float(off[first - half : first].mean()) if first >= half else np.inf
        after = float(off[last - lag : last - lag + half].mean()) if last + half < len(times) else np.inf
        if min(before, after) > bound:
            break
        first, last = (first - half, last) if before < after else (first, last + half)
    mismatch = float(off[first : last - lag].mean())
    return PeriodicSpan(float(times[first]), float(times[last]), steady.period, mismatch)


def _spread(values: np.ndarray, count: int) -> np.ndarray:
    """(n − count + 1,) variance of everything together within each stretch of so many frames."""
    squares = np.concatenate([[0.0], np.cumsum((values**2).sum(axis=1))])
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    mean = (sums[count:] - sums[:-count]) / count
    return np.asarray(np.maximum((squares[count:] - squares[:-count]) / count - (mean**2).sum(axis=1), 1e-9))


def _landings(found: RetargetedClip, times: np.ndarray) -> np.ndarray:
    """(n + 1,) how many times a foot has come down before each moment."""
    moments = np.concatenate([found.time[1:][np.diff(foot.astype(int)) > 0] for foot in found.contacts.T])
    return np.searchsorted(np.sort(moments), np.append(times, times[-1] + 1.0 / _FPS))


MAX_CYCLE_MISMATCH = 0.42  # largest mismatch of a cycle: of our clips gaits have up to 0.32, dances 0.49 and more
_POOR, _WIDER, _FEW = 0.2, 0.5, 2.5  # a mismatch from which on a few cycles are too little: cycles added at both ends
_SHORTEST_FITTED, _LONGER = 0.3, 1.2  # [s] the shortest period; the longest, in those of the best loop
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


def find_gait_cycle(found: RetargetedClip, table: CharacterTable, accuracy: float = np.radians(2.0)) -> GaitCycle:
    """The averaged cycle of the steadiest part of a clip.

    Args:
        found: the clip on the table's character.
        table: the character.
        accuracy: root mean square error [rad] at which no more harmonics are taken; at most 8 are.

    Raises:
        NotCyclicError: where nothing repeats itself well enough.
    """
    best = find_periodic_span(found, table)
    if best is None:
        raise NotCyclicError("no gait cycle: nothing with steps in it lasts for 1½ cycles of 0.3 … 3 s", None)
    if best.mismatch > MAX_CYCLE_MISMATCH:
        raise NotCyclicError(
            f"no gait cycle: what repeats best ({best.start:.1f} … {best.end:.1f} s, after {best.period:.2f} s) "
            f"differs by {best.mismatch:.2f} of what unlike moments differ by; a cycle differs by {MAX_CYCLE_MISMATCH:g} at most",
            best.mismatch,
        )
    steady = extend_periodic_span(best, found, table)
    if best.mismatch > _POOR and steady.cycles < _FEW:
        low, high = best.start - _WIDER * best.period, best.end + _WIDER * best.period
        steady = replace(best, start=max(low, float(found.time[0])), end=min(high, float(found.time[-1])))
    inside = (found.time >= steady.start - 1e-9) & (found.time <= steady.end + 1e-9)
    period = _period(found, table, inside, steady)
    phase = found.time[inside] / period
    series, residuals = _series({name: angle[inside] for name, angle in found.angles.items()}, phase, accuracy)
    shift = fourier.peak_phase(series[_right_hip(table)]) - 0.25  # SIMBICON §5
    joints = {name: fourier.shifted(c, shift) for name, c in series.items()}
    root, travel, turn = root_in_moving_frame(found, inside, period)
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


def _period(found: RetargetedClip, table: CharacterTable, inside: np.ndarray, steady: PeriodicSpan) -> float:
    """By the spectrum of the hips [s]."""
    turns = range(min(table.anatomy.hip_hinges, 2))  # flexion and roll: yaw drifts with the heading
    hips = [side.joints[i] for side in (table.anatomy.left, table.anatomy.right) for i in turns]
    signals = np.column_stack([found.angles[name][inside] for name in hips])
    longest = _LONGER * steady.period
    return fourier.find_period(found.time[inside], signals, min(_SHORTEST_FITTED, 0.5 * longest), longest)[0]


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
    found = true_spans(flags)
    if len(found) > 1 and flags[0] and flags[-1]:
        return [*found[1:-1], (found[-1][0], len(flags) + found[0][1])]
    return found


def _notes(
    period: float, steady: PeriodicSpan, best: PeriodicSpan, residuals: dict[str, float], uneven: float
) -> tuple[str, ...]:
    cycles = (steady.end - steady.start) / period
    notes = [f"a cycle of {period:.2f} s, averaged over {cycles:.1f} cycles ({steady.start:.1f} … {steady.end:.1f} s)"]
    if cycles < 2.0 or best.mismatch > _POOR:
        notes.append(f"unsure: {cycles:.1f} cycles that differ by {best.mismatch:.2f} of what unlike moments differ by")
    worst = max(residuals, key=lambda name: residuals[name])
    notes.append(f"joints stay within {np.degrees(np.mean(list(residuals.values()))):.1f}° of it on average, {worst} "
                 f"within {np.degrees(residuals[worst]):.1f}°")  # fmt: skip
    word = "left and right are alike" if uneven <= _SYMMETRIC else "left and right are not alike"
    return (*notes, f"{word} half a cycle apart: {np.degrees(uneven):.1f}°")
