"""Finds the gait cycle in a retargeted clip: the span that repeats itself best, its period, and its averaged cycle."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.characters.links import limbs_of_table
from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.errors import SurefootError
from surefoot.motions import fourier
from surefoot.motions import quaternions as quat
from surefoot.motions.gait_cycle import GaitCycle, Span, root_in_moving_frame
from surefoot.motions.retargeting import RetargetedClip
from surefoot.motions.signals import frame_time, true_spans, windowed_variance

MAX_CYCLE_MISMATCH = 0.42  # of a gait: of the clips we tried, gaits have up to 0.32, dances 0.49 and more
_FPS = 30.0  # of the search
_SHORTEST_PERIOD, _LONGEST_PERIOD = 0.3, 3.0  # [s] of a cycle
_WEIGHTS = {"hip": 1.0, "knee": 1.0, "ankle": 0.5, "lower_back": 1.0, "upper_back": 0.5, "shoulder": 0.3, "elbow": 0.3}
_TILT, _SPIN, _SPEED = 1.0, 0.15, 0.25  # [1, s, s/m] weights of pelvis tilt, yaw rate and speed against joint angles
_STANCE = 0.3  # [rad] weight of a foot's contact
_LIVELY = 0.1  # of the variance of the liveliest span: least variance of a cycle
_MORE, _LONG = 0.03, 0.02  # mismatch that one more cycle is worth, and that a second less of period is
_ALIKE, _CLOSE = 2.0, 0.12  # neighbours belong to a span up to so many times its mismatch, or up to this mismatch
_ENOUGH = 7.0  # cycles (SIMBICON §5: 3 to 7)
_POOR, _WIDER, _FEW = 0.2, 0.5, 2.5  # above this mismatch fewer than 2.5 cycles get half a cycle more at both ends
_SHORTEST_FITTED, _LONGER = 0.3, 1.2  # [s] the shortest fitted period; the longest, in periods of the span
_MOST = 8  # harmonics
_STRIDES, _CLEARLY = 4, 3.0  # most strides of a cycle; by how much their wave must be stronger than that of one stride
_GAIN = np.radians(0.25)  # by which more harmonics must improve a joint's fit
_SYMMETRIC = np.radians(7.0)
_BINS, _BLUR, _BRIEF = 200, 0.015, 0.05  # contacts over the phase: bins, smoothing, the shortest contact or gap


@dataclass(frozen=True)
class PeriodicSpan:
    """Where a clip repeats itself [s], with which period [s], and its mismatch: 0 is exact, 1 unrelated."""

    start: float
    end: float
    period: float
    mismatch: float

    @property
    def cycles(self) -> float:
        """Number of cycles."""
        return (self.end - self.start) / self.period


def pose_features(found: RetargetedClip, table: CharacterTable) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s], and weighted features (n, m) [rad] that repeat in a gait: joints, tilt, velocity, contacts."""
    links = limbs_of_table(table).links
    columns = [_WEIGHTS.get(link.kind, 0.0) * found.angles[name] for link in links for name in link.joints]
    yaw = quat.yaw(found.root_rotation)
    level = quat.multiply(quat.about_vertical(-yaw), found.root_rotation)
    columns += [_TILT * 2.0 * level[:, 1], _TILT * 2.0 * level[:, 2], _SPIN * np.gradient(yaw, found.time)]
    speed = quat.rotate(quat.about_vertical(-yaw), np.gradient(found.root_position, found.time, axis=0))
    columns += [*(_SPEED * speed.T), *(_STANCE * found.contacts.T)]
    table_of = np.column_stack(columns)
    width = max(round(1.0 / (_FPS * frame_time(found.time))), 1)
    kernel = np.ones(width) / width
    smooth = np.column_stack(
        [np.convolve(np.pad(c, width, mode="edge"), kernel, "same")[width:-width] for c in table_of.T]
    )
    times = np.arange(found.time[0], found.time[-1] + 1e-9, 1.0 / _FPS)
    return times, np.column_stack([np.interp(times, found.time, column) for column in smooth.T])


def find_periodic_span(found: RetargetedClip, table: CharacterTable) -> PeriodicSpan | None:
    """Find the span of steps that repeats itself best.

    Args:
        found: the clip on the table's character.
        table: the character.

    Returns:
        None if no lively stretch with steps lasts for 1½ cycles.
    """
    times, values = pose_features(found, table)
    lively = _variance(values, round(min(_LONGEST_PERIOD, times[-1] / 2.0) * _FPS)).max()
    landings = _landings(found, times)
    best, least = None, np.inf
    for lag in range(round(_SHORTEST_PERIOD * _FPS), min(round(_LONGEST_PERIOD * _FPS), (2 * len(times)) // 3) + 1):
        off = np.concatenate([[0.0], np.cumsum(((values[lag:] - values[:-lag]) ** 2).sum(axis=1))])
        moving = _variance(values, lag)
        within = np.concatenate([[0.0], np.cumsum(moving)])
        for cycles in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0):  # in addition to the first
            count = round(cycles * lag)
            starts = np.arange(len(times) - lag - count + 1)
            if not len(starts):
                break
            spread = (within[starts + count + 1] - within[starts]) / (
                count + 1
            )  # within a cycle, so that drift does not count
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
    """Extend a span by half cycles before and after it as long as these are like their neighbours."""
    times, values = pose_features(found, table)
    lag, half = round(steady.period * _FPS), max(round(0.5 * steady.period * _FPS), 1)
    first, last = (int(np.argmin(np.abs(times - t))) for t in (steady.start, steady.end))
    if last - first < lag + 2:
        return steady
    spread = float(_variance(values[first:last], lag).mean())
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


def split_into_strides(steady: PeriodicSpan, found: RetargetedClip, table: CharacterTable) -> PeriodicSpan:
    """A span whose cycle is one stride, where its cycle held two or more that differ a little.

    Strides are counted by the hips: the difference between left and right goes to and fro once in a stride. A cycle
    whose strides differ as much as unrelated motions stays whole.
    """
    inside = (found.time >= steady.start - 1e-9) & (found.time <= steady.end + 1e-9)
    left, right = (found.angles[side.joints[0]][inside] for side in (table.anatomy.left, table.anatomy.right))
    count = strides_in(fourier.fit(found.time[inside] / steady.period, left - right, _STRIDES))
    times, values = pose_features(found, table)
    rows = values[(times >= steady.start - 1e-9) & (times <= steady.end + 1e-9)]
    lag = round(steady.period / count * _FPS)
    if count < 2 or steady.period / count < _SHORTEST_PERIOD or len(rows) < 2 * lag:
        return steady
    off = float(((rows[lag:] - rows[:-lag]) ** 2).sum(axis=1).mean()) / (2.0 * float(_variance(rows, lag).mean()))
    if off > MAX_CYCLE_MISMATCH:
        return steady
    return PeriodicSpan(steady.start, steady.end, steady.period / count, off)


def strides_in(difference: np.ndarray) -> int:
    """How many strides a cycle holds, by the series of the difference between left and right hip over the cycle."""
    waves = np.square(difference[1:]).reshape(-1, 2).sum(axis=1)
    most = int(waves[:_STRIDES].argmax())
    return most + 1 if waves[most] > _CLEARLY * waves[0] else 1


def _variance(values: np.ndarray, count: int) -> np.ndarray:
    return np.asarray(np.maximum(windowed_variance(values, count), 1e-9))


def _landings(found: RetargetedClip, times: np.ndarray) -> np.ndarray:
    """(n + 1,) number of footstrikes before each moment."""
    moments = np.concatenate([found.time[1:][np.diff(foot.astype(int)) > 0] for foot in found.contacts.T])
    return np.searchsorted(np.sort(moments), np.append(times, times[-1] + 1.0 / _FPS))


class NotCyclicError(SurefootError):
    """A clip has no gait cycle."""

    def __init__(self, message: str, mismatch: float | None) -> None:
        """Keep the mismatch of what repeats best; None if nothing repeats."""
        super().__init__(message)
        self.mismatch = mismatch


def find_gait_cycle(
    found: RetargetedClip, table: CharacterTable, accuracy: float = np.radians(2.0), harmonics: int = _MOST
) -> GaitCycle:
    """Average the steadiest part of a clip to one cycle.

    Args:
        found: the clip on the table's character.
        table: the character.
        accuracy: root mean square error [rad] at which a joint needs no more harmonics.
        harmonics: that a joint has at most, and the root has.

    Raises:
        NotCyclicError: nothing repeats itself well enough.
    """
    best = find_periodic_span(found, table)
    if best is None:
        raise NotCyclicError("no gait cycle: nothing with steps in it lasts for 1½ cycles of 0.3 … 3 s", None)
    if best.mismatch > MAX_CYCLE_MISMATCH:
        raise NotCyclicError(
            f"no gait cycle: what repeats best ({best.start:.1f} … {best.end:.1f} s, after {best.period:.2f} s) "
            f"has a mismatch of {best.mismatch:.2f}; a gait has at most {MAX_CYCLE_MISMATCH:g}",
            best.mismatch,
        )
    best = split_into_strides(best, found, table)
    steady = extend_periodic_span(best, found, table)
    if best.mismatch > _POOR and steady.cycles < _FEW:
        low, high = best.start - _WIDER * best.period, best.end + _WIDER * best.period
        steady = replace(best, start=max(low, float(found.time[0])), end=min(high, float(found.time[-1])))
    inside = (found.time >= steady.start - 1e-9) & (found.time <= steady.end + 1e-9)
    period = _period(found, table, inside, steady)
    phase = found.time[inside] / period
    series, residuals = _series(
        {name: angle[inside] for name, angle in found.angles.items()}, phase, accuracy, harmonics
    )
    shift = fourier.peak_phase(series[table.anatomy.right.joints[0]]) - 0.25  # SIMBICON §5
    joints = {name: fourier.shifted(c, shift) for name, c in series.items()}
    root, travel, turn = root_in_moving_frame(found, inside, period)
    moves = {name: fourier.shifted(fourier.fit(phase, values, harmonics), shift) for name, values in root.items()}
    uneven = asymmetry(joints, table)
    notes = _notes(period, steady, best, residuals, uneven)
    return GaitCycle(
        period, joints, moves, travel, turn, _contacts(found.contacts[inside], phase - shift), residuals, uneven,
        uneven <= _SYMMETRIC, (steady.start, steady.end), best.mismatch, notes,
    )  # fmt: skip


def asymmetry(joints: dict[str, np.ndarray], table: CharacterTable) -> float:
    """Root mean square difference [rad] between legs and trunk and their mirror image half a cycle later."""
    grid, found, anatomy = np.arange(0.0, 1.0, 0.01), [], table.anatomy
    for left, right, role in zip(anatomy.left.joints, anatomy.right.joints, anatomy.side_roles, strict=True):
        if role not in anatomy.upper:
            found.append(fourier.evaluate(joints[left], grid) - fourier.evaluate(joints[right], grid + 0.5))
    for name in anatomy.middle:
        if "neck" not in name:
            sign = 1.0 if table.hinges[name].plane == SAGITTAL else -1.0
            found.append(fourier.evaluate(joints[name], grid) - sign * fourier.evaluate(joints[name], grid + 0.5))
    return float(np.sqrt(np.mean(np.square(found))))


def _period(found: RetargetedClip, table: CharacterTable, inside: np.ndarray, steady: PeriodicSpan) -> float:
    """The period by the spectrum of the hips [s]."""
    turns = range(min(table.anatomy.hip_hinges, 2))  # flexion and roll, because yaw drifts with the heading
    hips = [side.joints[i] for side in (table.anatomy.left, table.anatomy.right) for i in turns]
    signals = np.column_stack([found.angles[name][inside] for name in hips])
    longest = _LONGER * steady.period
    return fourier.find_period(found.time[inside], signals, min(_SHORTEST_FITTED, 0.5 * longest), longest)[0]


def _series(
    angles: dict[str, np.ndarray], phase: np.ndarray, accuracy: float, most: int
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Each joint's series with as few harmonics as suffice, and its residual [rad]."""
    values = np.column_stack(list(angles.values()))
    fits = [fourier.fit(phase, values, k) for k in range(1, most + 1)]
    errors = np.array([np.sqrt(((values - fourier.evaluate(c, phase)) ** 2).mean(axis=0)) for c in fits])
    enough = (errors <= np.maximum(accuracy, 1e-12)) | (errors <= errors[-1] + min(_GAIN, accuracy))
    chosen = enough.argmax(axis=0)
    series = {name: fits[k][:, i] for i, (name, k) in enumerate(zip(angles, chosen, strict=True))}
    return series, {name: float(errors[k, i]) for i, (name, k) in enumerate(zip(angles, chosen, strict=True))}


def _contacts(stands: np.ndarray, phase: np.ndarray) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Phases in which each foot (n, 2) stands in most cycles; a span across the end of the cycle ends above 1."""
    grid = (np.arange(_BINS) + 0.5) / _BINS
    apart = grid[:, None] - phase[None]
    weight = np.exp(-0.5 * ((apart - np.round(apart)) / _BLUR) ** 2)
    shares, found = weight @ stands / np.maximum(weight.sum(axis=1), 1e-9)[:, None], []
    for on in (shares > 0.5).T:
        for value in (True, False):  # close short gaps, then drop short contacts
            for first, last in _around(on != value):
                if last - first < _BRIEF * _BINS:
                    on[np.arange(first, last) % _BINS] = value
        found.append(tuple((first / _BINS, last / _BINS) for first, last in _around(on)))
    return found[0], found[1]


def _around(flags: np.ndarray) -> list[tuple[int, int]]:
    """Spans of true bins on a circle; one across the end of the array ends beyond it."""
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
        notes.append(
            f"the cycle is unsure: {cycles:.1f} cycles with a mismatch of {best.mismatch:.2f} (0 is exact, 1 unrelated)"
        )
    worst = max(residuals, key=lambda name: residuals[name])
    notes.append(f"joints stay within {np.degrees(np.mean(list(residuals.values()))):.1f}° of it on average, {worst} "
                 f"within {np.degrees(residuals[worst]):.1f}°")  # fmt: skip
    word = "left and right are alike" if uneven <= _SYMMETRIC else "left and right are not alike"
    return (*notes, f"{word} half a cycle apart: {np.degrees(uneven):.1f}°")
