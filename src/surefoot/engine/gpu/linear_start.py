"""Start states of rows whose parameters differ, without making a skill for each.

Writing a skill's numbers into a row takes milliseconds of Python, which is too long for thousands of rows. Nearly all
numbers of a row are linear in nearly all parameters. Where that is so, a few rows are written in full and the others
follow from them; it is checked at the ends of every range and at some rows, and where it is not so nothing is returned.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.engine.scene import Scene
from surefoot.errors import SkillError
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

_PROBES = 4  # rows at which the whole is checked
_SAME = 1e-9  # of a number, and of 1 where it is smaller: how far it may be off
_WIDER = 0.5  # of its width that a range is extended by on either side: a search's next values lie beyond


class LinearStart:
    """What rows begin with, as a linear function of their parameters.

    Attributes:
        low: (k,) least values it was checked at.
        high: (k,) greatest.
    """

    def __init__(self, scene: Scene, skill: Skill, paths: tuple[str, ...], low: np.ndarray, high: np.ndarray) -> None:
        """Find the function between two corners; use `linear_start`, which checks it.

        Args:
            scene: of the rows.
            skill: whose parameters differ.
            paths: dotted paths of the parameters.
            low: (k,) least values.
            high: (k,) greatest values.

        Raises:
            SkillError: a skill with one of the values at an end of its range is not valid.
        """
        self._scene, self._skill, self._paths, self.low, self.high = scene, skill, paths, low, high
        self._middle = (low + high) / 2.0
        self._unchanged, self._begin = self._numbers(skill), self.exact(self._middle)
        self._slopes, self._is_linear = np.zeros((len(paths), len(self._begin))), True
        for k in range(len(paths)):
            ends = []
            for end in (low[k], high[k]):
                values = self._middle.copy()
                values[k] = end
                ends.append(self.exact(values))
            if high[k] > low[k]:
                finite = np.isfinite(self._begin)  # times that have not come are infinite in every row
                self._slopes[k, finite] = (ends[1][finite] - ends[0][finite]) / (high[k] - low[k])
            self._is_linear &= self._agree((ends[0] + ends[1]) / 2.0, self._begin)

    def exact(self, values: np.ndarray) -> np.ndarray:
        """Positions, velocities and memory of a row that begins with some values (k,) of the parameters."""
        return self._numbers(with_parameters(self._skill, dict(zip(self._paths, values.tolist(), strict=True))))

    def _numbers(self, skill: Skill) -> np.ndarray:
        model = self._scene.model
        qpos, qvel, memory = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
        self._scene.begin(qpos, qvel, memory, skill, 0)
        return np.concatenate([qpos, qvel, memory])

    def _agree(self, one: np.ndarray, other: np.ndarray) -> bool:
        finite = np.isfinite(other)
        if not np.array_equal(one[~finite], other[~finite]):
            return False
        allowed = _SAME * np.maximum(1.0, np.abs(other[finite]))
        return bool((np.abs(one[finite] - other[finite]) <= allowed).all())

    def holds_at(self, values: np.ndarray) -> bool:
        """Whether it is linear along every parameter, and right at some values (m, k) of all of them together."""
        return self._is_linear and all(
            self._agree(own, self.exact(row)) for own, row in zip(self.at(values), values, strict=True)
        )

    def at(self, values: np.ndarray) -> np.ndarray:
        """(n, numbers) what rows with values (n, k) of the parameters begin with."""
        rows: np.ndarray = self._begin + (values - self._middle) @ self._slopes
        return rows

    def add_changes(self, values: np.ndarray, qpos: np.ndarray, qvel: np.ndarray, memory: np.ndarray) -> None:
        """Change rows that begin with the skill as it is into those with values (n, k) of its parameters.

        Args:
            values: of the parameters.
            qpos: (n, nq) positions, changed in place.
            qvel: (n, nv) velocities, likewise.
            memory: (n, nuserdata) likewise.
        """
        changed = np.flatnonzero((self._slopes != 0.0).any(axis=0) | (self._begin != self._unchanged))
        columns = self._begin[changed] + (values - self._middle) @ self._slopes[:, changed]
        nq, nv = qpos.shape[1], qvel.shape[1]
        for first, target in ((0, qpos), (nq, qvel), (nq + nv, memory)):
            own = (changed >= first) & (changed < first + target.shape[1])
            target[:, changed[own] - first] = columns[:, own]

    def covers(self, parameters: Mapping[str, np.ndarray]) -> bool:
        """Whether it is of these parameters, and their values (n,) are within the ranges it was checked in."""
        if tuple(parameters) != self._paths:
            return False
        return all(
            low <= own.min() and own.max() <= high
            for own, low, high in zip(parameters.values(), self.low, self.high, strict=True)
        )


def linear_start(scene: Scene, skill: Skill, parameters: Mapping[str, np.ndarray]) -> LinearStart | None:
    """The linear function of a population's parameters, if there is one.

    Args:
        scene: of the rows.
        skill: whose parameters differ.
        parameters: (n,) values by dotted path.
    """
    values = np.column_stack(list(parameters.values()))
    low, high = values.min(axis=0), values.max(axis=0)
    probes = values[np.linspace(0, len(values) - 1, _PROBES).astype(int)]
    for wider in (_WIDER, 0.0):
        room = wider * (high - low)
        try:
            found = LinearStart(scene, skill, tuple(parameters), low - room, high + room)
            if found.holds_at(probes):
                return found
        except SkillError:  # a value that no row has is not valid; one that a row has is reported by the slow way
            continue
    return None
