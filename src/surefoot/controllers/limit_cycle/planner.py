"""Looking ahead: trial steps of limit cycle control (Laszlo, van de Panne, Fiume 1996, §5.2), once a step.

From the beginning of a step four copies of a row take it, each with a perturbation of a hip's pitch or roll; what
they end with gives the local linear model, which gives the perturbation of the real step. Trials are rows of a batch
of their own: what they do leaves no trace in the real one but its perturbation. They know the present, not the
future: a push that acts goes on in them, one that has not begun does not come.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from mujoco.batch import Batch

from surefoot.controllers.base import NEVER, ControlledScene, Planner, RowHandle, names
from surefoot.controllers.limit_cycle import law as limit_cycle
from surefoot.controllers.limit_cycle.regulation import TRIALS, solve
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.reflexes.handover import ASKED
from surefoot.reflexes.pose_graph import BEARING, CAPACITY, TIMED, graph_of, slot_size

_SIGNS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # of pitch and roll, by trial
_PATIENCE, _CHUNK = 0.5, 0.01  # [s] a trial may wait for its foot to bear; how often that is looked at

_LEFT_BEHIND: list[Batch | None] = []  # batches of a parent process: to destroy one would wait for its threads


class Watch:
    """Knows when a row may begin its next step."""

    def __init__(self, scene: ControlledScene, row: userdata.Row) -> None:
        """Watch one row of a scene."""
        self.row, self._dt = row, float(scene.model.opt.timestep)
        self._number = _number()
        self._roles = len(scene.table.anatomy.roles)
        self._graphs = [python_impl(graph_of)(slot, self._roles) for slot in row.slots]
        begin = slot_size(CAPACITY, self._roles)
        self._regulations = [python_impl(limit_cycle.regulation_of)(slot, begin)[0] for slot in row.slots]
        self._machine = python_impl(limit_cycle.machine_of)(row.memory)[0]
        self.cycle = python_impl(limit_cycle.cycle_of)(row.memory)[0]

    @property
    def regulation(self) -> np.record:
        """How the running skill is regulated."""
        return self._regulations[int(self.row.header[0].active)]  # type: ignore[no-any-return]

    @property
    def centre(self) -> np.ndarray:
        """(2,) pitch and roll about which trials are taken [rad]."""
        return np.array([self.cycle.centre_pitch, self.cycle.centre_roll])

    @property
    def looks_ahead(self) -> bool:
        """Whether the running skill takes trials, or may after a switch that waits; not once it fell."""
        header = self.row.header[0]
        active, waits = int(header.active), header.pending != 0.0 or header.handover == ASKED
        return not self.has_fallen and (self._tries(active) or (waits and self._tries(1 - active)))

    @property
    def has_fallen(self) -> bool:
        """Whether it fell."""
        return bool(self.row.clock[0].fallen_at < np.inf)

    def _tries(self, slot: int) -> bool:
        return bool(self.row.slots[slot, 0] == self._number and self._regulations[slot].mode == TRIALS)

    @property
    def is_due(self) -> bool:
        """Whether a step has begun whose perturbation is not known yet."""
        tries = self._tries(int(self.row.header[0].active))
        return tries and bool(self.cycle.asked != 0.0) and not self.has_fallen

    def steps_to_next(self, now: float) -> int:
        """Physics steps until the next step may begin, at least 1; NEVER for what takes no trials."""
        if not self.looks_ahead:
            return NEVER
        header = self.row.header[0]
        active = int(header.active)
        if header.pending != 0.0 or header.handover == ASKED or not self._tries(active) or self.cycle.fresh != 0.0:
            return 1  # a switch may come with any physics step
        states, at = self._graphs[active].states, int(self._machine.state)
        left = self._machine.entered - now
        while True:
            state = states[at]
            left += state.duration if state.ending == TIMED else max(0.0, -left) if state.ending == BEARING else 0.0
            at, swing = int(state.next), state.swing
            if states[at].swing != swing:
                return max(1, round(float(left) / self._dt))


class TrialPlanner(Planner):
    """Takes the trial steps of the rows of one scene."""

    def __init__(self, scene: ControlledScene) -> None:
        """Plan the rows of a scene."""
        self._scene, self._number = scene, _number()
        self._watches: WeakKeyDictionary[RowHandle, Watch] = WeakKeyDictionary()
        self._batch: Batch | None = None
        self._trials, self._process = 0, os.getpid()  # rows of the batch, and where its threads run
        self._views: dict[int, Watch] = {}

    def _watch(self, handle: RowHandle) -> Watch | None:
        """What watches a row; None for one that neither runs nor waits for limit cycle control."""
        if handle not in self._watches:
            if self._number not in handle.row.slots[:, 0]:
                return None
            self._watches[handle] = Watch(self._scene, handle.row)
        return self._watches[handle]

    def steps_to_next(self, handle: RowHandle) -> int:
        """Physics steps until the next step of a row may begin."""
        watch = self._watch(handle)
        return NEVER if watch is None else watch.steps_to_next(handle.time)

    def plan(self, handles: Sequence[RowHandle]) -> None:
        """Choose the perturbation of every step of some rows that has just begun."""
        watches = [(handle, self._watch(handle)) for handle in handles]
        due = [(handle, watch) for handle, watch in watches if watch is not None and watch.is_due]
        if not due:
            return
        batch = self._batch_of(4 * len(due))
        batch.state[: 4 * len(due)] = np.repeat([handle.state for handle, _ in due], 4, axis=0)
        for i, (_, watch) in enumerate(due):
            self._begin(i, watch)
        self._run(batch, [watch for _, watch in due])
        for i, (_, watch) in enumerate(due):
            _perturb(watch, np.array([self._end(4 * i + k, watch) for k in range(4)]))

    def _batch_of(self, trials: int) -> Batch:
        """A batch with room for so many trials."""
        if os.getpid() != self._process:  # the threads of a batch stay behind in the process that made it
            _LEFT_BEHIND.append(self._batch)
            self._batch, self._process = None, os.getpid()
        if self._batch is None or trials > self._trials:
            self._batch = Batch(self._scene.model, trials, self._scene.threads)
            self._userdata, self._time = self._batch.bind("userdata"), self._batch.bind("time")
            self._trials, self._views = trials, {}
        return self._batch

    def _trial(self, number: int) -> Watch:
        """A trial's row, whose state has been written."""
        if number not in self._views:
            self._views[number] = Watch(self._scene, userdata.view(self._userdata[number]))
        return self._views[number]

    def _begin(self, i: int, watch: Watch) -> None:
        """Give the four trials of a row their perturbations, and take from them what a row cannot know."""
        for k in range(4):
            trial, now = self._trial(4 * i + k), float(self._time[4 * i + k])
            trial.cycle.pitch, trial.cycle.roll = watch.centre + watch.regulation.trial * _SIGNS[k]
            trial.cycle.asked, trial.row.header[0].planned_until = 0.0, np.inf
            for push in trial.row.pushes:
                if push.start > now:
                    push.stop = push.start = now
                elif push.stop > now:
                    push.stop = trial.row.header[0].pushed_until = np.inf

    def _run(self, batch: Batch, watches: Sequence[Watch]) -> None:
        """Let trials take their step."""
        ids = range(4 * len(watches))
        counts: dict[int, list[int]] = {}
        for number in ids:
            counts.setdefault(self._trial(number).steps_to_next(float(self._time[number])) + 1, []).append(number)
        for count, group in counts.items():
            batch.step(group, nstep=count)
        chunk = max(1, round(_CHUNK / self._scene.model.opt.timestep))
        for _ in range(round(_PATIENCE / _CHUNK)):
            waiting = [number for number in ids if self._is_under_way(number, watches[number // 4])]
            if not waiting:
                return
            batch.step(waiting, nstep=chunk)

    def _is_under_way(self, number: int, watch: Watch) -> bool:
        trial = self._trial(number)
        return bool(trial.cycle.begun == watch.cycle.begun and not trial.has_fallen)

    def _end(self, number: int, watch: Watch) -> tuple[float, float]:
        """What a trial's step ended with; NaN if it did not end, or fell."""
        trial = self._trial(number)
        if self._is_under_way(number, watch) or trial.has_fallen:
            return np.nan, np.nan
        return float(trial.cycle.forward), float(trial.cycle.lateral)


def _number() -> float:
    """The number by which a slot says that it is of limit cycle control."""
    return float(names().index("limit_cycle"))


def _perturb(watch: Watch, ends: np.ndarray) -> None:
    """Make the local model of (4, 2) ends of trials, and write the perturbation that meets the target (figure 11).

    Where a trial was lost, the derivatives are those of the step before.
    """
    cycle, regulation = watch.cycle, watch.regulation
    cycle.asked = 0.0
    known = np.isfinite(ends).all(axis=1)
    if known[:2].all():
        cycle.forward_by_pitch, cycle.lateral_by_pitch = (ends[0] - ends[1]) / (2.0 * regulation.trial)
    if known[2:].all():
        cycle.forward_by_roll, cycle.lateral_by_roll = (ends[2] - ends[3]) / (2.0 * regulation.trial)
    if not known.any():
        cycle.lost += 1.0
        return
    by = np.array([
        [cycle.forward_by_pitch, cycle.forward_by_roll], [cycle.lateral_by_pitch, cycle.lateral_by_roll]
    ])  # fmt: skip
    tried = watch.centre + regulation.trial * _SIGNS
    cycle.nominal_forward, cycle.nominal_lateral = (ends - tried @ by.T)[known].mean(axis=0)
    (a, b), (c, d) = by
    cycle.pitch, cycle.roll, singular = python_impl(solve)(
        regulation, a, b, c, d, cycle.wanted_forward - cycle.nominal_forward,
        cycle.wanted_lateral - cycle.nominal_lateral,
    )  # fmt: skip
    cycle.singular += singular
