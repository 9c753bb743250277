"""How like its clip a captured gait walks: joint angles stride by stride, cadence, travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.motions import fourier
from surefoot.population import Population
from surefoot.skills.imitation import Cycle

FPS = 60.0


@dataclass(frozen=True)
class Likeness:
    """One run against a cycle; infinite where there was no whole stride to measure."""

    fallen_at: float  # [s], inf if it did not fall
    strides: int
    errors: dict[str, float]  # [rad] root mean square by joint
    cadence: float  # of the clip's
    travel: np.ndarray  # (2,) [m] per cycle, forward and left from the heading
    wanted: np.ndarray  # (2,) the same of the clip
    turned: float  # [rad] of heading per cycle

    @property
    def error(self) -> float:
        """Mean over all joints [rad]."""
        return float(np.mean(list(self.errors.values())))

    def worst(self, names: Sequence[str]) -> float:
        """The largest error of some joints [rad]."""
        return max(self.errors[name] for name in names)

    @property
    def travel_error(self) -> float:
        """Distance of the travel per cycle from the clip's, by its length; of one on the spot, by a tenth of a metre.

        A fifth of a travel of 0.5 m is 0.1 m: steps on the spot may stray by no more.
        """
        return float(np.linalg.norm(self.travel - self.wanted)) / max(float(np.linalg.norm(self.wanted)), 0.5)


class Watch:
    """Frames of all rows of a population while it runs."""

    def __init__(self, population: Population) -> None:
        """Look at this population."""
        self.population = population
        self._frames: list[tuple[np.ndarray, np.ndarray]] = []

    def run(self, seconds: float) -> None:
        """Advance, a frame at a time; rows that fell stay as they are."""
        for _ in range(round(seconds * FPS)):
            self._look()
            self.population.run(1.0 / FPS, stop_fallen=True)
        self._look()

    def _look(self) -> None:
        rows = self.population.rows
        reports = [(r.report[0].swing, r.report[0].steps, r.report[0].heading, r.clock[0].advanced,
                    r.report[0].phase) for r in rows]
        self._frames.append((self.population.qpos.copy(), np.array(reports)))

    def rows(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(frames, nq) and (frames, 4) of every row: swing, steps, heading, time."""
        qpos = np.array([frame[0] for frame in self._frames])
        reports = np.array([frame[1] for frame in self._frames])
        return [(qpos[:, i], reports[:, i]) for i in range(self.population.n)]


def likeness(
    frames: tuple[np.ndarray, np.ndarray], cycle: Cycle, joints: Mapping[str, int], fallen_at: float, after: float
) -> Likeness:
    """Measure a run from `after` [s] on, over whole strides.

    A stride lasts from one coming down of the left foot to the next. Time within it is taken evenly, whatever the
    controller's own phase was, so that what comes too early or too late counts as an error.

    Args:
        frames: of `Watch.rows`.
        cycle: what it should be like.
        joints: where in `qpos` each joint is.
        fallen_at: [s].
        after: [s] where to begin.
    """
    qpos, reports = frames
    wanted = np.array(cycle.travel)
    time, swing = np.arange(len(qpos)) / FPS, reports[:, 0]
    starts = np.flatnonzero((swing[1:] == 1.0) & (swing[:-1] == 0.0)) + 1  # the left foot came down
    starts = starts[(time[starts] >= after) & (time[starts] <= min(fallen_at - 0.5, time[-1]))]
    if len(starts) < 2:
        endless = dict.fromkeys(joints, np.inf)
        return Likeness(fallen_at, 0, endless, np.inf, np.full(2, np.inf), wanted, np.inf)
    first, last, count = starts[0], starts[-1], len(starts) - 1
    phase = np.interp(np.arange(first, last), starts, cycle.lands[0] + np.arange(len(starts)))
    errors = {
        name: float(np.sqrt(np.mean((qpos[first:last, at] - fourier.evaluate(np.asarray(series), phase)) ** 2)))
        for name, at in joints.items() if (series := cycle.joints.get(name)) is not None
    }  # fmt: skip
    moves = np.diff(qpos[starts, :2], axis=0)
    heading = reports[starts[:-1], 2]
    c, s = np.cos(heading), np.sin(heading)
    travel = np.array([(c * moves[:, 0] + s * moves[:, 1]).mean(), (c * moves[:, 1] - s * moves[:, 0]).mean()])
    return Likeness(
        fallen_at, count, errors, cycle.period * count / (time[last] - time[first]), travel, wanted,
        float(reports[last, 2] - reports[first, 2]) / count,
    )  # fmt: skip
