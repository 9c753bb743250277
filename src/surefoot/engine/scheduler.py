"""When Python has its say between native runs: the planners of controllers and the tasks of characters.

A simulation and a population advance their rows by the same schedule: rows run natively up to the next moment at which
something has to be decided, which is decided, and so on. Results do not depend on how one steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.controllers.base import NEVER
from surefoot.native import userdata

if TYPE_CHECKING:
    from surefoot.engine.scene import Scene
    from surefoot.engine.task import TaskSchedule


class Row:
    """One simulated row as planners and tasks see it.

    Attributes:
        scene: what it was built from; rows of the same body share theirs.
        row: named views of its memory.
        qpos: (nq,) live view of its positions.
        qvel: (nv,) live view of its velocities.
        agenda: its tasks, None while it has none.
    """

    def __init__(
        self, scene: Scene, row: userdata.Row, qpos: np.ndarray, qvel: np.ndarray,
        time: Callable[[], float], state: Callable[[], np.ndarray],
    ) -> None:  # fmt: skip
        """Wrap a row.

        Args:
            scene: what it was built from.
            row: named views of its memory.
            qpos: (nq,) live view.
            qvel: (nv,) live view.
            time: gives its time [s].
            state: gives MuJoCo's integration state of it, (nstate,).
        """
        self.scene, self.row, self.qpos, self.qvel = scene, row, qpos, qvel
        self._time, self._state = time, state
        self.agenda: TaskSchedule | None = None

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self._time()

    @property
    def state(self) -> np.ndarray:
        """(nstate,) MuJoCo's integration state of the row."""
        return self._state()

    @property
    def is_native(self) -> bool:
        """Whether nothing of it is ever decided in Python: it has neither planners nor tasks."""
        return not self.scene.planners and self.agenda is None

    def steps_to_next(self) -> int:
        """Physics steps until something may have to be decided; NEVER if nothing has. The row notes it."""
        following = min((planner.steps_to_next(self) for planner in self.scene.planners), default=NEVER)
        if self.agenda is not None and not self.agenda.is_idle:
            following = min(following, self.agenda.steps_to_next())
        # whoever steps beyond this moment without asking is told so by the callback
        self.row.header[0].planned_until = np.inf if following >= NEVER else self.time + following * self.scene.timestep
        return following


def decide(rows: Sequence[Row]) -> None:
    """Let planners and tasks of some rows decide what is due now."""
    by_scene: dict[int, list[Row]] = {}
    for row in rows:
        by_scene.setdefault(id(row.scene), []).append(row)
    for group in by_scene.values():
        for planner in group[0].scene.planners:
            planner.plan(group)
    for row in rows:
        if row.agenda is not None:
            row.agenda.tick()


def advance(rows: Sequence[Row], count: int, step: Callable[[Sequence[int], int], None]) -> None:
    """Advance rows by physics steps, from one decision to the next.

    Args:
        rows: what to advance.
        count: physics steps.
        step: advances rows of given places in `rows` natively, by so many physics steps.
    """
    decide(rows)
    following = {i: row.steps_to_next() for i, row in enumerate(rows)}
    free = [i for i, left in following.items() if left >= NEVER]
    if free:
        step(free, count)
    following = {i: left for i, left in following.items() if left < NEVER}
    busy = list(following)
    while busy and count:
        stretch = min(count, *following.values())
        step(busy, stretch)
        asked = [i for i in busy if following[i] == stretch]
        decide([rows[i] for i in asked])
        following = {i: following[i] - stretch for i in busy}
        following |= {i: rows[i].steps_to_next() for i in asked}
        count -= stretch
