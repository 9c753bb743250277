"""`engine.commands.tell` for many rows at once, on a GPU: the same numbers, written by columns.

`tell` writes one row of memory from Python. Here its few decisions, which part of a skill has the body and whether
that has to change, are made for all rows by array functions. `check` compares both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.engine import commands
from surefoot.engine.scene import Scene
from surefoot.errors import SurefootError
from surefoot.gym.arrays import NUMPY
from surefoot.gym.observations import Memories
from surefoot.reflexes.handover import ASKED, NONE
from surefoot.skills.schema import Skill


@dataclass(frozen=True)
class _Part:
    """What a part of a skill takes of some commands.

    Attributes:
        taken: which of the values, by their places among the names.
        low: of each of these, the lowest that it takes.
        high: the highest.
        places: where these lie among a row's commands.
        given: where the numbers lie that say that they were given.
    """

    taken: np.ndarray
    low: np.ndarray
    high: np.ndarray
    places: np.ndarray
    given: np.ndarray


class CommandColumns:
    """Some commands of a skill, written into many rows at once."""

    def __init__(self, scene: Scene, skill: Skill, names: Sequence[str]) -> None:
        """Look up where they lie.

        Args:
            scene: whose rows are told; a row whose skill has a slow part has been told something at its start.
            skill: what the rows run.
            names: of the commands.
        """
        self._scene, self._skill, self._names = scene, skill, tuple(names)
        self._family = commands.family(scene, skill)
        self._skill_part = self._part(skill, commands.known(scene, skill) if self._family is None else skill.commands)
        self._slow_part: _Part | None = None
        if self._family is not None:
            takes = (*self._family.shared, *self._family.limits.commands)
            self._slow_part = self._part(self._family.slow, takes)
        self._speed = self._names.index(commands.SPEED) if commands.SPEED in self._names else None

    def _part(self, skill: Skill, takes: Any) -> _Part:
        controller = self._scene.controller(skill)
        taken = [k for k, name in enumerate(self._names) if name in takes]
        own = [self._names[k] for k in taken]
        limits, known = [controller.commands[name] for name in own], list(controller.commands)
        given = [place for place in map(controller.given_at, own) if place is not None]
        return _Part(
            np.array(taken, int), np.array([one.low for one in limits]), np.array([one.high for one in limits]),
            np.array([known.index(name) for name in own], int), np.array(given, int),
        )  # fmt: skip

    def write(self, rows: Memories, which: Any, values: Any) -> None:
        """Tell some rows.

        Args:
            rows: on a CPU or on a GPU.
            which: (n,) of truth values, those that are told.
            values: (n, k) in the order of the names, within the limits of `engine.commands.known`.
        """
        if self._family is None or self._slow_part is None:
            self._write_part(rows, "commands", which, self._skill_part, values)
            return
        is_slow, has_both = rows.is_run_by(self._family.number), rows.scalar("header", "family") != 0.0
        for part, has_body in ((self._skill_part, ~is_slow), (self._slow_part, is_slow)):
            self._write_part(rows, "commands", which & has_body, part, values)
            self._write_part(rows, "other_commands", which & has_both & ~has_body, part, values)
        if self._speed is not None:
            self._ask(rows, which & has_both, is_slow, values[:, self._speed])

    def _write_part(self, rows: Memories, section: str, which: Any, part: _Part, values: Any) -> None:
        if not len(part.taken):
            return
        (begin, _), library = rows.offsets[section], rows.library
        own = values[:, library.constant(part.taken)]
        own = library.shared.clip(own, library.constant(part.low), library.constant(part.high))
        rows.write(which, library.constant(begin + part.places), own)
        if len(part.given):
            rows.write(which, library.constant(begin + part.given), library.shared.ones_like(own[:, : len(part.given)]))

    def _ask(self, rows: Memories, which: Any, is_slow: Any, speed: Any) -> None:
        """Ask for the part that walks at a speed, or no longer for the other one."""
        if self._family is None:
            return
        where, limits = rows.library.shared.where, self._family.limits
        is_asked = rows.scalar("header", "handover") == ASKED
        will_be_slow = is_slow != is_asked
        wants_slow = where(will_be_slow, speed < limits.above, speed < limits.below)
        is_wanted = wants_slow == is_slow  # the part that has the body
        for name, now, value in (
            ("handover", which & is_wanted & is_asked, 0.0 * speed + NONE),
            ("handover", which & ~is_wanted & ~is_asked, 0.0 * speed + ASKED),
            ("asked", which & ~is_wanted & ~is_asked, rows.scalar("clock", "advanced")),
        ):
            at = rows.place("header", name)
            rows.write(now, slice(at, at + 1), value[:, None])

    def check(self, low: np.ndarray, high: np.ndarray) -> None:
        """Compare with `engine.commands.tell` at a start.

        Args:
            low: (k,) lowest values that will be told.
            high: (k,) highest.

        Raises:
            SurefootError: a controller of another package does more with a command than to write it down.
        """
        scene, skill = self._scene, self._skill
        for values in (low, high, low + 0.37 * (high - low)):
            numbers = np.zeros((2, scene.model.nuserdata))
            told = [scene.begin(np.zeros(scene.model.nq), np.zeros(scene.model.nv), one, skill, 0) for one in numbers]
            for row in told:
                scene.command(row, skill, {})
            scene.command(told[0], skill, dict(zip(self._names, values.tolist(), strict=True)))
            self.write(Memories(NUMPY, told[1], [], numbers[1:]), np.ones(1, bool), values[None])
            if not np.array_equal(numbers[0], numbers[1]):
                raise SurefootError(
                    f"controller {skill.controller!r} does more in Python than to write down "
                    f"{', '.join(self._names)}, and a GPU does not wait for Python: use device='cpu'"
                )
