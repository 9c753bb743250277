"""The stretch of a retargeted clip that repeats itself best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.characters.limbs import of_table
from surefoot.characters.table import CharacterTable
from surefoot.motions import quaternions as quat
from surefoot.motions.retargeting import Retargeted

_FPS = 30.0  # of the search
_SHORTEST, _LONGEST = 0.3, 3.0  # [s] of a cycle
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
class Steady:
    """Where a clip repeats itself [s], after how long, and how badly: 0 is exactly, 1 not at all."""

    start: float
    end: float
    period: float
    mismatch: float

    @property
    def cycles(self) -> float:
        """How many cycles there are."""
        return (self.end - self.start) / self.period


def features(found: Retargeted, table: CharacterTable) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s] and (n, m) what must repeat: joints, tilt, speed and turning of the body, weighted [rad]."""
    links = of_table(table).links
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


def find_steady(found: Retargeted, table: CharacterTable) -> Steady | None:
    """The stretch of steps that repeats itself best; None where nothing lively with steps lasts for 1½ cycles."""
    times, values = features(found, table)
    lively = _spread(values, round(min(_LONGEST, times[-1] / 2.0) * _FPS)).max()
    landings = _landings(found, times)
    best, least = None, np.inf
    for lag in range(round(_SHORTEST * _FPS), min(round(_LONGEST * _FPS), (2 * len(times)) // 3) + 1):
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
                best, least = Steady(times[first], times[last], lag / _FPS, float(mismatch[first])), score
    return best


def extended(steady: Steady, found: Retargeted, table: CharacterTable) -> Steady:
    """The same stretch with as many cycles before and after it as are like their neighbours."""
    times, values = features(found, table)
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
    return Steady(float(times[first]), float(times[last]), steady.period, mismatch)


def _spread(values: np.ndarray, count: int) -> np.ndarray:
    """(n − count + 1,) variance of everything together within each stretch of so many frames."""
    squares = np.concatenate([[0.0], np.cumsum((values**2).sum(axis=1))])
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    mean = (sums[count:] - sums[:-count]) / count
    return np.asarray(np.maximum((squares[count:] - squares[:-count]) / count - (mean**2).sum(axis=1), 1e-9))


def _landings(found: Retargeted, times: np.ndarray) -> np.ndarray:
    """(n + 1,) how many times a foot has come down before each moment."""
    moments = np.concatenate([found.time[1:][np.diff(foot.astype(int)) > 0] for foot in found.contacts.T])
    return np.searchsorted(np.sort(moments), np.append(times, times[-1] + 1.0 / _FPS))
