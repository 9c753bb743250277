"""Many simulations at once, on all cores, bit-identical to one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from mujoco.batch import Batch

from surefoot.errors import SurefootError
from surefoot.foresight import Foresight
from surefoot.intentions import NEVER
from surefoot.motions.motion import Motion
from surefoot.motions.recorder import Recorder, check_seconds, frame_steps
from surefoot.native import callback, memory
from surefoot.row_options import Proportions, Tasks, per_body, per_row, tasks_per_row
from surefoot.scene import Push, Scene
from surefoot.skills import varied
from surefoot.skills.schema import Skill
from surefoot.stylized.action_graph import ActionGraph
from surefoot.tasks.actor import Actor
from surefoot.tasks.agenda import Agenda, check_walks
from surefoot.tasks.task import Task
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import Terrain

_SLICE = 0.25  # [s] how often rows that fell are dropped when asked to


class Population:
    """n rows of one character on one terrain; skills, parameters, proportions, starts and pushes may differ by row."""

    def __init__(
        self,
        n: int,
        character: str | None = None,
        skill: str | Path | Skill | Sequence[str | Skill] | None = None,
        terrain: str | Terrain = "flat",
        parameters: Mapping[str, Sequence[float] | np.ndarray] | None = None,
        pushes: Sequence[Push] | Sequence[Sequence[Push]] = (),
        seed: int = 0,
        *,
        tasks: Tasks = (),
        proportions: Proportions | Sequence[Proportions] | None = None,
        timestep: float | None = None,
        threads: int = 0,
        backpack: float = 0.0,
        self_collision: bool = False,
        graph: ActionGraph | None = None,
    ) -> None:
        """Build it and put every row into its start state.

        Args:
            n: number of rows.
            character: name of a body; by default the one the skill is for.
            skill: one skill for all rows, or one for each; by default a walk, or an action graph's first node.
            terrain: description or object, the same for all rows.
            parameters: values for each row (n,) by dotted path (`states.1.cd`).
            pushes: pushes for all rows, or a list for each.
            seed: of everything random; row i is the simulation of seed + i.
            tasks: tasks of which every row gets its own copies, a list for each row, or a function that makes
                those of a row's number.
            proportions: multipliers of lengths and masses for all rows, or those of each; every distinct body is
                compiled once.
            timestep: physics step [s].
            threads: 0 is all cores.
            backpack: mass on its back [kg].
            self_collision: whether its parts collide with each other too.
            graph: of actions, over whose edges rows switch between its nodes.
        """
        if n < 1:
            raise SurefootError(f"a population has at least one row, got {n}")
        skill = skill if skill is not None else "walk" if graph is None else graph.skills[0]
        each: list[str | Path | Skill]
        each = [skill] * n if isinstance(skill, (str, Path, Skill)) else list(skill)
        if len(each) != n:
            raise SurefootError(f"{len(each)} skills for {n} rows")
        distinct = list({id(s): s for s in each}.values())
        if isinstance(terrain, str):
            terrain = load_terrain(terrain)
        self.scenes = per_body(  # of each row; rows of the same body share theirs
            proportions,
            n,
            lambda own: Scene(
                character, each[0], terrain, own, timestep, distinct[1:], backpack, self_collision, graph
            ),
        )
        self.scene = self.scenes[0]
        found = {id(s): self.scene.find(s) for s in distinct}
        self.skills = [found[id(s)] for s in each]
        self._vary(parameters or {})
        self.n, self.seed = n, seed
        self.batch = Batch(self.scene.model, n, threads)
        if any(scene is not self.scene for scene in self.scenes):
            self.batch.set_models([scene.model for scene in self.scenes])
        self.qpos, self.qvel = self.batch.bind("qpos"), self.batch.bind("qvel")  # (n, nq), (n, nv)
        self._userdata, self._time = self.batch.bind("userdata"), self.batch.bind("time")
        self.rows = [
            scene.begin(self.qpos[i], self.qvel[i], self._userdata[i], self.skills[i], seed + i)
            for i, scene in enumerate(self.scenes)
        ]
        for i, queue in enumerate(per_row(pushes, n)):
            for push in queue:
                self.scenes[i].add_push(self.rows[i], push, 0.0)
        self._foresight = Foresight(self.scenes, self.rows, threads)
        self._agendas: dict[int, Agenda] = {}  # of the rows that have tasks
        for i, own in enumerate(tasks_per_row(tasks, n)):
            self._plan(i, own)
        callback.install()
        self.batch.forward()

    def _vary(self, parameters: Mapping[str, Sequence[float] | np.ndarray]) -> None:
        for path, values in parameters.items():
            if len(values) != len(self.skills):
                raise SurefootError(f"parameter {path}: {len(values)} values for {len(self.skills)} rows")
        for i, skill in enumerate(self.skills):
            changes = {path: float(values[i]) for path, values in parameters.items()}
            self.skills[i] = varied(skill, changes) if changes else skill

    def _plan(self, i: int, tasks: Sequence[Task]) -> None:
        if not tasks:
            return
        check_walks(self.skills[i])
        active = self.batch.bind("eq_active")[i]
        self._agendas[i] = Agenda(
            Actor(
                self.scenes[i], self.rows[i], self.qpos[i], self.qvel[i], active,
                lambda: float(self._time[i]), lambda: self.skills[i],
            )
        )  # fmt: skip
        for task in tasks:
            self._agendas[i].add(task)

    @property
    def tasks(self) -> list[tuple[Task, ...]]:
        """The tasks of each row."""
        return [self._agendas[i].tasks if i in self._agendas else () for i in range(self.n)]

    @property
    def time(self) -> np.ndarray:
        """(n,) simulated seconds of each row."""
        return np.array(self._time)

    @property
    def fallen_at(self) -> np.ndarray:
        """(n,) seconds, inf where it did not fall."""
        return np.array([row.clock[0].fallen_at for row in self.rows])

    @property
    def reports(self) -> np.ndarray:
        """(n,) what every row's law reports now, as `memory.REPORT` records."""
        return memory.reports(self._userdata)

    def run(self, seconds: float, fps: float | None = None, stop_fallen: bool = False) -> list[Motion]:
        """Advance all rows natively.

        Args:
            seconds: how long.
            fps: if given, record each row at this rate and return the motions.
            stop_fallen: leave rows that fell as they are (within a quarter of a second).
        """
        check_seconds(seconds)
        dt = self.scene.model.opt.timestep
        recorders = [] if fps is None else [Recorder(scene) for scene in self.scenes]
        self._record(recorders)
        for count in frame_steps(seconds, 1.0 / _SLICE if fps is None else fps, dt):
            upright = np.flatnonzero(np.isinf(self.fallen_at)) if stop_fallen else None
            if upright is not None and not len(upright):
                break
            self.step(upright, count)
            self._record(recorders, upright)
        return [recorder.motion() for recorder in recorders]

    def advance(self, seconds: Sequence[float] | np.ndarray) -> None:
        """Advance each row by its own time [s], (n,)."""
        if len(seconds) != self.n:
            raise SurefootError(f"{len(seconds)} times for {self.n} rows")
        for one in seconds:
            check_seconds(one)
        for i, count in enumerate(np.rint(np.asarray(seconds) / self.scene.model.opt.timestep)):
            if count > 0:
                self.step([i], int(count))

    def step(self, rows: Sequence[int] | np.ndarray | None, count: int) -> None:
        """Advance some rows, or all, by physics steps: natively, or from one intention to the next."""
        callback.install()
        every = range(self.n) if rows is None else rows
        self._tick(every)
        busy = [i for i in every if self._has_intentions(i)]
        if not busy:
            self.batch.step(rows, nstep=count)
            return
        rest = [i for i in every if i not in busy]
        if rest:
            self.batch.step(rest, nstep=count)
        following = {i: self._steps_to_next(i) for i in busy}
        while count:
            stretch = min(count, *following.values())
            self.batch.step(busy, nstep=stretch)
            asked = [i for i, left in following.items() if left == stretch]
            self._tick(asked)
            following = {i: left - stretch for i, left in following.items()}
            following |= {i: self._steps_to_next(i) for i in asked}
            count -= stretch

    def _has_intentions(self, i: int) -> bool:
        """Whether a row has tasks that are not over, or takes trials, or has a skill that thinks."""
        busy = i in self._agendas and not self._agendas[i].is_idle
        return busy or self._foresight.watches[i].looks_ahead or self._thinks(i)

    def _thinks(self, i: int) -> bool:
        return self.scenes[i].thinkers.steps_to_next(self.rows[i], float(self._time[i])) < NEVER

    def _tick(self, rows: Sequence[int] | np.ndarray) -> None:
        """Let the intentions of some rows have their say: trials of steps that have begun, tasks that are due."""
        due = [i for i in rows if self._foresight.watches[i].is_due]
        if due:
            self._foresight.decide(due, self.batch.state)
        for i in rows:
            if i in self._agendas:
                self._agendas[i].tick()
            self.scenes[i].thinkers.think(self.rows[i], self.qpos[i], self.qvel[i], float(self._time[i]))

    def _steps_to_next(self, i: int) -> int:
        """Physics steps until an intention of a row may have to be asked again."""
        now = float(self._time[i])
        following = self.scenes[i].thinkers.steps_to_next(self.rows[i], now)
        following = min(following, self._foresight.watches[i].steps_to_next(now))
        if i in self._agendas and not self._agendas[i].is_idle:
            following = min(following, self._agendas[i].steps_to_next())
        return following

    @property
    def states(self) -> np.ndarray:
        """(n, nstate) a copy of everything in every row, the controllers' memories included."""
        return np.array(self.batch.state)

    def restore(self, states: np.ndarray) -> None:
        """Put all rows into states of a population of the same character and skills that learn alike.

        States know nothing of tasks: once a row with tasks has begun, only a `Simulation` can go back.
        """
        if any(task.status != "waiting" for agenda in self._agendas.values() for task in agenda.tasks):
            raise SurefootError("rows whose tasks have begun cannot be restored; Simulation.restore covers tasks")
        if states.shape != self.batch.state.shape:
            raise SurefootError(f"states of shape {states.shape} do not fit {self.batch.state.shape}")
        self.batch.state[:] = states

    def push(self, push: Push, rows: Sequence[int] | None = None) -> None:
        """Queue a push in some rows, or in all."""
        for i in self._rows(rows):
            self.scenes[i].add_push(self.rows[i], push, float(self._time[i]))

    def switch(self, skill: str | Path | Skill, rows: Sequence[int] | None = None) -> None:
        """Ask some rows, or all, for another skill."""
        wanted = self.scene.find(skill)
        for i in self._rows(rows):
            self.scenes[i].request(self.rows[i], wanted, float(self._time[i]))
            self.skills[i] = wanted

    def _rows(self, rows: Sequence[int] | None) -> Sequence[int]:
        if rows is not None and not all(0 <= i < self.n for i in rows):
            raise SurefootError(f"rows are 0 … {self.n - 1}, got {list(rows)[:10]}")
        return range(self.n) if rows is None else rows

    def _record(self, recorders: list[Recorder], rows: np.ndarray | None = None) -> None:
        for i in range(len(recorders)) if rows is None else rows[: len(recorders)]:
            recorders[i].add(self._time[i], self.qpos[i], self.qvel[i], self._userdata[i])
