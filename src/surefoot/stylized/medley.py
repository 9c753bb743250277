"""Several motions in one reference: cycles of one, cycles of the next, and after the last the first again.

Cycles are laid over each other by their phase, which begins where the left foot comes to stand. Over one cycle between
two motions their angles, heights, speeds and periods go over from one to the other; feet stand as in the one that is
more there, and are planted afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from surefoot.characters.table import CharacterTable
from surefoot.errors import SurefootError
from surefoot.motions.retargeting import Retargeted
from surefoot.stylized.carrying import carried
from surefoot.stylized.legs import Legs
from surefoot.stylized.reference import Reference, of_poses
from surefoot.stylized.sources import RATE, Cycle, best_cycle


class _Stride(NamedTuple):
    """A planar cycle over n even phases: height, pitch and joints (n, nq − 1), speeds (n,), stands (n, 2), period."""

    inner: np.ndarray
    speed: np.ndarray
    stands: np.ndarray
    period: float

    def at(self, phase: float) -> tuple[np.ndarray, float, np.ndarray]:
        """Coordinates but the first, speed [m/s] and which feet stand."""
        place, n = phase % 1.0 * len(self.inner), len(self.inner)
        i, share = int(place) % n, place % 1.0
        inner = (1.0 - share) * self.inner[i] + share * self.inner[(i + 1) % n]
        return inner, float((1.0 - share) * self.speed[i] + share * self.speed[(i + 1) % n]), self.stands[i]


def medley(model: mujoco.MjModel, table: CharacterTable, parts: Sequence[tuple[Retargeted, int]]) -> Reference:
    """A planar body's motions, each with how many of its cycles, one after the other, looped."""
    if table.root != "planar":
        raise SurefootError(f"{table.name} turns in space; motions are put together for planar bodies only")
    if len(parts) < 2 or min(count for _, count in parts) < 1:
        raise SurefootError("a medley takes two motions or more, each with at least one cycle")
    strides = [_stride(best_cycle(model, table, found)) for found, _ in parts]
    whole, stands = _played(strides, [count for _, count in parts])
    n, pad = len(stands), round(RATE * max(stride.period for stride in strides))
    long = np.arange(-pad, n + pad)
    poses = whole[long % n]
    poses[:, 0] += (long // n) * (whole[n, 0] - whole[0, 0])
    poses, bears = carried(Legs(model, table), poses, stands[long % n], 1.0 / RATE)
    return of_poses(model, table, poses, bears, 1.0 / RATE, slice(pad, pad + n))


def _stride(cycle: Cycle) -> _Stride:
    """A cycle from where its left foot comes to stand."""
    n, left = len(cycle.stands), cycle.stands[:, 0]
    strikes = np.flatnonzero(left & ~np.roll(left, 1))
    first = int(strikes[0]) if len(strikes) else 0
    speed = np.diff(cycle.poses[:, 0]) * RATE
    moved = [np.roll(values, -first, axis=0) for values in (cycle.poses[:n, 1:], speed, cycle.stands)]
    return _Stride(moved[0], moved[1], moved[2], n / RATE)


def _played(strides: list[_Stride], counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """(n + 1, nq) poses of all once, the last as the first but for the way, and (n, 2) when feet stand."""
    ends = np.cumsum([count + 1 for count in counts])  # cycles, the one of going over included
    rows, stands, cycles, way = [], [], 0.0, 0.0
    while cycles < ends[-1]:
        k = int(np.searchsorted(ends, cycles, side="right"))
        over = min(max(cycles - (ends[k] - 1.0), 0.0), 1.0)
        share = over * over * (3.0 - 2.0 * over)
        here, there = strides[k], strides[(k + 1) % len(strides)]
        one, other = here.at(cycles), there.at(cycles)
        rows.append(np.concatenate([[way], (1.0 - share) * one[0] + share * other[0]]))
        stands.append((one if share < 0.5 else other)[2])
        way += ((1.0 - share) * one[1] + share * other[1]) / RATE
        cycles += 1.0 / (RATE * ((1.0 - share) * here.period + share * there.period))
    rows.append(np.concatenate([[way], rows[0][1:]]))
    return np.array(rows), np.array(stands)
