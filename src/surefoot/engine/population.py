"""Many simulations at once, on all cores, bit-identical to one at a time."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from mujoco.batch import Batch

from surefoot.controllers.action_graph import ActionGraph
from surefoot.engine import scheduler
from surefoot.engine.actor import Actor
from surefoot.engine.devices import present_device
from surefoot.engine.gpu.linear_start import LinearStart, linear_start
from surefoot.engine.gpu.physics import WarpWorlds
from surefoot.engine.gpu.worlds import GpuWorlds, RowViews, begin_alike, check_device, check_native
from surefoot.engine.recorder import Recorder, check_seconds, frame_steps
from surefoot.engine.scene import AnyCharacter, AnySkill, Push, Scene, Setup
from surefoot.engine.scheduler import Row
from surefoot.engine.task import Task, TaskSchedule, check_accepts_tasks
from surefoot.engine.worlds import BatchWorlds, Worlds
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.motions.motion import Motion
from surefoot.native import userdata
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import Terrain

Proportions = Mapping[str, float]
Tasks = Sequence[Task] | Sequence[Sequence[Task]] | Callable[[int], Sequence[Task]]


def per_body(
    proportions: Proportions | Sequence[Proportions] | None, n: int, make: Callable[[Proportions], Scene]
) -> list[Scene]:
    """The scene of each row, made once for each distinct body."""
    if proportions is None or isinstance(proportions, Mapping):
        return [make(proportions or {})] * n
    if len(proportions) != n:
        raise SurefootError(f"{len(proportions)} bodies for {n} rows")
    made: dict[str, Scene] = {}
    keys = [repr(list(own.items())) for own in proportions]
    for key, own in zip(keys, proportions, strict=True):
        if key not in made:
            made[key] = make(own)
    return [made[key] for key in keys]


def per_row(pushes: Sequence[Push] | Sequence[Sequence[Push]], n: int) -> list[list[Push]]:
    """The pushes of each row."""
    shared = [p for p in pushes if isinstance(p, Push)]
    if len(shared) == len(pushes):
        return [shared] * n
    lists = [list(p) for p in pushes if not isinstance(p, Push)]
    if len(lists) != n:
        raise SurefootError(f"{len(lists)} lists of pushes for {n} rows")
    return lists


def _seeds_per_row(seed: int | Sequence[int], n: int) -> list[int]:
    """The seed of each row."""
    seeds = [int(own) for own in seed] if isinstance(seed, Sequence) else [seed + i for i in range(n)]
    if len(seeds) != n:
        raise SurefootError(f"{len(seeds)} seeds for {n} rows")
    return seeds


def tasks_per_row(tasks: Tasks, n: int) -> list[list[Task]]:
    """The tasks of each row, no two of which share one."""
    if callable(tasks):
        return [list(tasks(i)) for i in range(n)]
    shared = [t for t in tasks if isinstance(t, Task)]
    if len(shared) == len(tasks):
        return [copy.deepcopy(shared) for _ in range(n)]
    lists = [list(t) for t in tasks if not isinstance(t, Task)]
    if len(lists) != n:
        raise SurefootError(f"{len(lists)} lists of tasks for {n} rows")
    return lists


_MANY = 32  # rows from which on their parameters are written all at once on a GPU
_SLICE = 0.25  # [s] how often rows that fell are dropped when asked to


class Population:
    """n rows of one character on one terrain; skills, parameters, proportions, starts and pushes may differ by row."""

    def __init__(
        self,
        n: int,
        character: AnyCharacter | None = None,
        skill: AnySkill | Sequence[AnySkill] | None = None,
        terrain: str | Terrain = "flat",
        parameters: Mapping[str, Sequence[float] | np.ndarray] | None = None,
        pushes: Sequence[Push] | Sequence[Sequence[Push]] = (),
        seed: int | Sequence[int] = 0,
        *,
        tasks: Tasks = (),
        proportions: Proportions | Sequence[Proportions] | None = None,
        timestep: float | None = None,
        threads: int = 0,
        backpack: float = 0.0,
        self_collision: bool = False,
        graph: ActionGraph | None = None,
        skills: Sequence[AnySkill] = (),
        device: str | None = None,
    ) -> None:
        """Build it and put every row into its start state.

        Args:
            n: number of rows.
            character: name of a body; by default the one the skill is for.
            skill: one skill for all rows, or one for each; by default a walk, or an action graph's first node.
            terrain: description or object, the same for all rows.
            parameters: values for each row (n,) by dotted path (`states.1.cd`).
            pushes: pushes for all rows, or a list for each.
            seed: of everything random; row i is the simulation of seed + i, or of the i-th of several seeds.
            tasks: tasks of which every row gets its own copies, a list for each row, or a function that makes
                those of a row's number.
            proportions: multipliers of lengths and masses for all rows, or those of each; every distinct body is
                compiled once.
            timestep: physics step [s].
            threads: 0 is all cores.
            backpack: mass on its back [kg].
            self_collision: whether its parts collide with each other too.
            graph: of actions, over whose edges rows switch between its nodes.
            skills: further skills that rows will be switched to; on a GPU, all of them.
            device: `cpu`, or a GPU: `cuda`, `cuda:1`, …; by default what `using_device` says, which is the CPU
                outside of it.
        """
        if n < 1:
            raise SurefootError(f"a population has at least one row, got {n}")
        device = present_device() if device is None else device
        on_cpu = check_device(device)
        each: list[AnySkill]
        if skill is None or isinstance(skill, (str, Path, Skill)):
            each = [Setup(skill=skill, character=character, graph=graph).first_skill] * n
        else:
            each = list(skill)
        if len(each) != n:
            raise SurefootError(f"{len(each)} skills for {n} rows")
        seeds = _seeds_per_row(seed, n)
        distinct = list({id(s): s for s in each}.values())
        if isinstance(terrain, str):
            terrain = load_terrain(terrain)
        setup = Setup(
            each[0], character, terrain, seeds[0], {}, timestep, [*distinct[1:], *skills], backpack, self_collision,
            graph, threads, device,
        )  # fmt: skip
        # of each row; rows of the same body share theirs
        self.scenes = per_body(proportions, n, lambda own: Scene(replace(setup, proportions=own)))
        self.scene = self.scenes[0]
        found = {id(s): self.scene.find(s) for s in distinct}
        self._first_skills = [found[id(s)] for s in each]
        self.n, self.seeds, self._process, self.graph = n, seeds, os.getpid(), graph
        models = [scene.model for scene in self.scenes]
        self._worlds: Worlds = (
            BatchWorlds(models, self.scene.threads)
            if on_cpu
            else GpuWorlds(models, [part.controller for part in self.scene.parts], device)
        )
        if not on_cpu:
            check_native(self.scene, [*tasks_per_row(tasks, n)], graph)
        self._linear: LinearStart | None = None
        self._rows: Sequence[userdata.Row] = RowViews(self._worlds.userdata)
        self._begin(parameters or {}, per_row(pushes, n))
        for i, own in enumerate(tasks_per_row(tasks, n)):
            self._plan(i, own)
        self._worlds.forward()

    def _begin(
        self, parameters: Mapping[str, Sequence[float] | np.ndarray], pushes: Sequence[Sequence[Push]] = ()
    ) -> None:
        """Put every row into its start state."""
        values = {path: np.asarray(numbers, dtype=float) for path, numbers in parameters.items()}
        for path, numbers in values.items():
            if numbers.shape != (self.n,):
                raise SurefootError(f"parameter {path}: {numbers.size} values for {self.n} rows")
        qpos, qvel, memory = self._worlds.qpos, self._worlds.qvel, self._worlds.userdata
        if self.scene.setup.on_cpu:
            self.skills = self._varied(values)
            self._rows = [
                scene.begin(qpos[i], qvel[i], memory[i], self.skills[i], self.seeds[i])
                for i, scene in enumerate(self.scenes)
            ]
        else:
            linear = self._find_linear(values)
            self.skills = self._first_skills[:] if linear else self._varied(values)
            begin_alike(self.scenes, self.skills, qpos, qvel, memory, self._rows, self.seeds)
            if linear:
                linear.add_changes(np.column_stack(list(values.values())), qpos, qvel, memory)
        for i, queue in enumerate(pushes):
            for push in queue:
                self.scenes[i].add_push(self._rows[i], push, 0.0)
        self._scheduled = [self._schedule(i) for i in range(self.n)] if self.scene.setup.on_cpu else []
        for row in self._scheduled:
            row.steps_to_next()

    def _find_linear(self, values: Mapping[str, np.ndarray]) -> LinearStart | None:
        """What rows begin with as a linear function of their parameters, where it is one and saves work."""
        one_skill = all(skill is self._first_skills[0] for skill in self._first_skills)
        if not values or not one_skill or any(scene is not self.scene for scene in self.scenes) or self.n < _MANY:
            return None
        if self._linear is None or not self._linear.covers(values):
            self._linear = linear_start(self.scene, self._first_skills[0], values)
        return self._linear

    def restart(
        self,
        parameters: Mapping[str, Sequence[float] | np.ndarray] | None = None,
        seed: int | Sequence[int] | None = None,
    ) -> None:
        """Put every row into its start state again, at time 0, with other values of its parameters.

        It costs less than building a population anew. Pushes and commands are forgotten.

        Args:
            parameters: as when it is built; without any, those of the skills.
            seed: as when it is built; by default the same as before.

        Raises:
            SurefootError: rows have tasks or an action graph, or there is no such parameter.
        """
        if self.graph is not None or any(self.tasks):
            raise SurefootError("a population with tasks or an action graph cannot restart; build another one")
        self.seeds = self.seeds if seed is None else _seeds_per_row(seed, self.n)
        self._worlds.reset()
        self._begin(parameters or {})
        self._worlds.forward()

    @property
    def batch(self) -> Batch:
        """MuJoCo's batch that steps the rows, on a CPU.

        Raises:
            SurefootError: the rows are on a GPU.
        """
        if not isinstance(self._worlds, BatchWorlds):
            raise SurefootError("the rows of this population are on a GPU, which has no mujoco.batch.Batch")
        return self._worlds.batch

    @property
    def warp(self) -> WarpWorlds:
        """What steps the rows on a GPU: `mujoco_warp`'s model and data, and arrays of Warp's on the device.

        Raises:
            SurefootError: the rows are on a CPU.
        """
        if not isinstance(self._worlds, GpuWorlds):
            raise SurefootError("the rows of this population are on a CPU; device='cuda' puts them on a GPU")
        return self._worlds.device

    def leave_to_device(self) -> WarpWorlds:
        """What steps the rows on a GPU, for code that writes its arrays itself.

        What was changed here through `qpos`, `rows` and others is brought to the device first, and these are fetched
        anew when they are asked for.

        Raises:
            SurefootError: the rows are on a CPU.
        """
        if not isinstance(self._worlds, GpuWorlds):
            raise SurefootError("the rows of this population are on a CPU; device='cuda' puts them on a GPU")
        return self._worlds.leave_to_device()

    @property
    def qpos(self) -> np.ndarray:
        """(n, nq) positions of the rows; on a GPU a copy of them, valid and writable until the next step."""
        return self._worlds.qpos

    @property
    def qvel(self) -> np.ndarray:
        """(n, nv) velocities, as `qpos`."""
        return self._worlds.qvel

    @property
    def rows(self) -> Sequence[userdata.Row]:
        """Named views of each row's memory, as `qpos`."""
        self._worlds.userdata  # noqa: B018 - a GPU's memory is fetched
        return self._rows

    def _varied(self, values: Mapping[str, np.ndarray]) -> list[Skill]:
        """The skills of all rows with their own values (n,) of parameters."""
        changes = [{path: float(own[i]) for path, own in values.items()} for i in range(self.n)]
        return [
            with_parameters(skill, own) if own else skill
            for skill, own in zip(self._first_skills, changes, strict=True)
        ]

    def _schedule(self, i: int) -> Row:
        return Row(
            self.scenes[i], self._rows[i], self._worlds.qpos[i], self._worlds.qvel[i],
            lambda: self._worlds.row_time(i), lambda: np.asarray(self._worlds.states[i]),
        )  # fmt: skip

    def _plan(self, i: int, tasks: Sequence[Task]) -> None:
        if not tasks:
            return
        check_accepts_tasks(self.skills[i])
        row, active = self._scheduled[i], self.batch.bind("eq_active")[i]
        row.agenda = TaskSchedule(
            Actor(row.scene, row.row, row.qpos, row.qvel, active, lambda: row.time, lambda: self.skills[i])
        )
        for task in tasks:
            row.agenda.add(task)

    def __repr__(self) -> str:
        """How many rows there are, of what, and how many of them fell."""
        fell = int(np.isfinite(self.fallen_at).sum())
        names = ", ".join(sorted({skill.full_name for skill in self.skills}))
        return f"<Population: {self.n} rows of {self.scene.table.name}, {names}; {fell} fell>"

    @property
    def tasks(self) -> list[tuple[Task, ...]]:
        """The tasks of each row."""
        return [row.agenda.tasks if row.agenda else () for row in self._scheduled]

    @property
    def time(self) -> np.ndarray:
        """(n,) simulated seconds of each row."""
        return np.array(self._worlds.time)

    @property
    def fallen_at(self) -> np.ndarray:
        """(n,) seconds, inf where it did not fall."""
        return np.array(self._worlds.columns(*userdata.FALLEN_AT)[:, 0])

    @property
    def reports(self) -> np.ndarray:
        """(n,) what every row's law reports now, as `memory.REPORT` records."""
        return userdata.reports(self._worlds.columns(*userdata.REPORTS))

    def outputs(self, name: str) -> np.ndarray:
        """(n, …) copies of what the last step left in one section of every row.

        Args:
            name: of the section, such as `contact_force`, `com`, `slip` or `torque`.

        Raises:
            SurefootError: there is none of this name.
        """
        if name not in userdata.OUTPUTS:
            raise UnknownNameError("output", name, userdata.OUTPUTS)
        section: np.ndarray = getattr(self._rows[0], name)
        begin, end = userdata.place_of(self._rows[0], section)
        return np.array(self._worlds.columns(begin, end)).reshape(self.n, *section.shape)

    def physics(self, name: str, bodies: Sequence[int] | None = None) -> np.ndarray:
        """(n, bodies, …) numbers that the last physics step computed, to be read only.

        Args:
            name: of an array of `mjData` about bodies, such as `xpos`, `xmat` or `subtree_com`.
            bodies: numbers of those that are wanted; None is all. Of a population on a GPU, only these are fetched.

        Raises:
            SurefootError: there is none of this name.
        """
        return self._worlds.physics(name, bodies)

    def run(
        self, seconds: float, fps: float | None = None, stop_fallen: bool = False, record: Sequence[int] | None = None,
        progress: Callable[[float], object] = lambda share: None,
    ) -> list[Motion]:  # fmt: skip
        """Advance all rows natively.

        Args:
            seconds: how long.
            fps: if given, record at this rate and return the motions.
            stop_fallen: leave rows that fell as they are (within a quarter of a second).
            record: numbers of the rows that are recorded, in the order of the motions; None is all.
            progress: called now and then with the share that is done, 0 … 1.
        """
        check_seconds(seconds)
        if record is not None and fps is None:
            raise SurefootError("rows are recorded at a frame rate: give `fps`, such as 60, with `record`")
        dt = self.scene.model.opt.timestep
        recorders = {} if fps is None else {int(i): Recorder(self.scenes[i]) for i in self._chosen(record)}
        self._record(recorders)
        stretches = list(frame_steps(seconds, 1.0 / _SLICE if fps is None else fps, dt))
        total, done = max(1, sum(stretches)), 0
        for count in stretches:
            progress(done / total)
            done += count
            upright = np.flatnonzero(np.isinf(self.fallen_at)) if stop_fallen else None
            if upright is not None and not len(upright):
                break
            self.step(count, upright)
            self._record(recorders, upright)
        progress(1.0)
        return [recorders[int(i)].motion() for i in (self._chosen(record) if recorders else ())]

    def advance(self, seconds: Sequence[float] | np.ndarray) -> None:
        """Advance each row by its own time.

        Args:
            seconds: (n,) [s].
        """
        if len(seconds) != self.n:
            raise SurefootError(f"{len(seconds)} times for {self.n} rows")
        for one in seconds:
            check_seconds(one)
        counts, done = np.rint(np.asarray(seconds) / self.scene.model.opt.timestep).astype(int), 0
        for until in np.unique(counts[counts > 0]):
            self.step(int(until) - done, np.flatnonzero(counts >= until))
            done = int(until)

    def step(self, count: int = 1, rows: Sequence[int] | np.ndarray | None = None) -> None:
        """Advance some rows, or all, by physics steps: natively, or from one decision of Python's to the next.

        Args:
            count: physics steps.
            rows: numbers of the rows; None is all.

        Raises:
            SurefootError: a negative count, or a row that there is not.
        """
        if not isinstance(count, (int, np.integer)):  # (rows, count), as in version 0.2
            warnings.warn("Population.step takes (count, rows)", DeprecationWarning, stacklevel=2)
            count, rows = cast(int, rows), count
        if count < 0:
            raise SurefootError(f"cannot step {count} times")
        if os.getpid() != self._process:  # its threads stayed behind in the process that made it
            raise SurefootError(
                "a population runs in the process that made it, not in one forked from that: make it there, or use "
                "multiprocessing.get_context('spawn')"
            )
        if not self.scene.setup.on_cpu:
            self._worlds.step(None if rows is None else np.asarray(self._chosen(rows), dtype=int), count)
            return
        chosen = np.array(self._chosen(rows), dtype=int)

        def step(places: Sequence[int], steps: int) -> None:
            self._worlds.step(None if len(places) == self.n else chosen[places], steps)

        scheduler.advance([self._scheduled[i] for i in chosen], count, step)

    @property
    def states(self) -> np.ndarray:
        """(n, nstate) a copy of everything in every row, the controllers' memories included."""
        return np.array(self._worlds.states)

    def restore(self, states: np.ndarray) -> None:
        """Put all rows into states of a population of the same character and skills that learn alike.

        States know nothing of tasks: once a row with tasks has begun, only a `Simulation` can go back.

        Args:
            states: (n, nstate), as `states` gave them.

        Raises:
            SurefootError: they do not fit, or a task has begun.
        """
        if any(task.status != "waiting" for tasks in self.tasks for task in tasks):
            raise SurefootError("rows whose tasks have begun cannot be restored; Simulation.restore covers tasks")
        if states.shape != (fits := self._worlds.states.shape):
            raise SurefootError(f"states of shape {states.shape} do not fit {fits}")
        self._worlds.restore(states)

    def push(self, push: Push, rows: Sequence[int] | None = None) -> None:
        """Queue a push.

        Args:
            push: what acts, and when in the rows' own time.
            rows: numbers of the rows; None is all.
        """
        for i in self._chosen(rows):
            self.scenes[i].add_push(self.rows[i], push, self._worlds.row_time(i))

    def command(self, rows: Sequence[int] | None = None, **values: float) -> None:
        """Tell the running skills of some rows, or of all, something they understand, as `Simulation.command` does.

        Args:
            rows: numbers of the rows; None is all.
            values: by name; an unknown one lists the known ones.
        """
        for i in self._chosen(rows):
            self.scenes[i].command(self.rows[i], self.skills[i], values)

    def switch(self, skill: str | Path | Skill, rows: Sequence[int] | None = None) -> None:
        """Ask for another skill, as `Simulation.switch` does.

        Args:
            skill: name, full name, path or object.
            rows: numbers of the rows; None is all.
        """
        wanted = self.scene.find(skill)
        if not self.scene.setup.on_cpu and wanted.controller not in {part.controller for part in self.scene.parts}:
            raise SurefootError(
                f"rows on a GPU were built without the {wanted.controller} controller of {wanted.full_name}: name the "
                "skill in `skills` when building"
            )
        for i in self._chosen(rows):
            self.scenes[i].request(self.rows[i], wanted, self._worlds.row_time(i))
            self.skills[i] = wanted

    def _chosen(self, rows: Sequence[int] | np.ndarray | None) -> Sequence[int] | np.ndarray:
        if rows is not None and not all(0 <= i < self.n for i in rows):
            raise SurefootError(f"rows are 0 … {self.n - 1}, got {list(rows)[:10]}")
        return range(self.n) if rows is None else rows

    def _record(self, recorders: Mapping[int, Recorder], rows: np.ndarray | None = None) -> None:
        """Add a frame of those of some rows, or of all, that are recorded."""
        wanted = np.array(list(recorders) if rows is None else [i for i in rows if i in recorders], dtype=int)
        if len(wanted):
            for i, *frame in zip(wanted, *self._worlds.frames(wanted), strict=True):
                recorders[i].add(*frame)
