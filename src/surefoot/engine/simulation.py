"""One simulated character: a scene, one row of it, and moments of it to come back to."""

from __future__ import annotations

import copy
import functools
import math
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import mujoco
import numpy as np

from surefoot.controllers.action_graph import ActionGraph
from surefoot.controllers.base import RecordedWalk
from surefoot.engine import callback, carry_object, edit_running_skill, scheduler
from surefoot.engine.actor import Actor
from surefoot.engine.commands import running_part, slot_of
from surefoot.engine.recorder import Recorder, check_seconds, frame_steps
from surefoot.engine.rescale_body import check_can_rescale, skills_needing_most_memory, transfer_state
from surefoot.engine.scene import AnyCharacter, AnySkill, Push, Scene, Setup
from surefoot.engine.scheduler import Row
from surefoot.engine.task import Task, TaskSchedule, TaskSnapshot, check_accepts_tasks
from surefoot.errors import CommandError, SurefootError
from surefoot.motions.motion import Motion
from surefoot.native import userdata
from surefoot.reflexes.handover import ASKED
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill, number_of
from surefoot.terrains import balls
from surefoot.terrains.terrain import Terrain


@dataclass(frozen=True)
class Snapshot:
    """Everything there is to a moment: physics, the controller's memory, pending pushes, tasks, masses of crates."""

    state: np.ndarray
    skill: Skill
    requested: Skill | None
    tasks: tuple[TaskSnapshot, ...] = ()
    masses: tuple[float, ...] = ()
    world: str = ""  # `Scene.fingerprint` of where it was taken; empty fits everywhere


FRAME = 0.02  # [s] simulated between two pictures of the viewer
_UNHEARD = 2000  # physics steps in which Python is not asked: Ctrl-C waits for a tenth of a second
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
T = TypeVar("T", bound=Task)


class Simulation:
    """A simulated character. MuJoCo's own `model` and `data` are yours to read."""

    def __init__(
        self,
        character: AnyCharacter | None = None,
        skill: AnySkill | None = None,
        terrain: str | Terrain = "flat",
        seed: int = 0,
        *,
        proportions: Mapping[str, float] | None = None,
        timestep: float | None = None,
        skills: Sequence[str | Skill] = (),
        backpack: float = 0.0,
        self_collision: bool = False,
        graph: ActionGraph | None = None,
    ) -> None:
        """Build it and put it into the skill's start state.

        Args:
            character: name of a body; by default the one the skill is for.
            skill: name, full name, path or object; by default a walk, or an action graph's first node.
            terrain: description (`slope:6`) or object.
            seed: of everything random; the same seed gives the same bits.
            proportions: multipliers of lengths and masses (`{"thigh_length": 1.1}`).
            timestep: physics step [s]; by default the character's own.
            skills: further skills it will switch to (needed only for those that learn).
            backpack: mass on its back [kg]; the torso is pitched for it.
            self_collision: whether its parts collide with each other, not only with the ground.
            graph: of actions, over whose edges it switches between its nodes.
        """
        self._start(Setup(
            skill, character, terrain, seed, dict(proportions or {}), timestep, skills, backpack, self_collision, graph
        ))  # fmt: skip

    @classmethod
    def from_setup(cls, setup: Setup) -> Self:
        """A simulation of a setup.

        Args:
            setup: what to build.
        """
        new = cls.__new__(cls)
        new._start(setup)
        return new

    def _start(self, setup: Setup) -> None:
        """Build the scene and put its row into the start state."""
        scene = Scene(setup)
        data = mujoco.MjData(scene.model)
        row = scene.begin(data.qpos, data.qvel, data.userdata, scene.skill, setup.seed)
        self._hold(scene, data, row, scene.skill, None)
        self._scheduled.steps_to_next()  # which the row notes
        mujoco.mj_forward(self.model, self.data)

    def _hold(
        self, scene: Scene, data: mujoco.MjData, row: userdata.Row, skill: Skill, requested: Skill | None
    ) -> None:
        """Be the simulation of a row of a scene."""
        self.scene, self.model, self.data, self._row = scene, scene.model, data, row
        self.skill, self._requested, self.seed = skill, requested, scene.setup.seed
        self._scheduled = Row(scene, row, data.qpos, data.qvel, lambda: self.time, self._state)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are equal and independent: model, data, the controller's memory, tasks, all of it."""
        snapshot = self.snapshot()
        return _copied, (type(self), self.scene.setup, self.data, snapshot.skill, snapshot.requested, snapshot.tasks)

    def __copy__(self) -> Self:
        """A copy shares nothing with the original."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        """What it is and how it goes."""
        how = f"fell at {self.fallen_at:.2f} s" if self.fallen else "upright"
        on = self.scene.terrain.description
        return f"<Simulation: {self.skill.full_name} of {self.scene.table.name} on {on}, {self.time:g} s, {how}>"

    @property
    def memory(self) -> userdata.Row:
        """Named views of the controller's memory; writing to them writes the state."""
        return self._row

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return float(self.data.time)

    @property
    def fallen(self) -> bool:
        """True once it fell, until a restore."""
        return bool(self._row.clock[0].fallen_at < np.inf)

    @property
    def fallen_at(self) -> float:
        """When it fell [s]; inf while it did not."""
        return float(self._row.clock[0].fallen_at)

    @property
    def fall_cause(self) -> str:
        """Why it counts as fallen."""
        return userdata.FALL_CAUSES[int(self._row.clock[0].fall_cause)]

    @property
    def requested(self) -> Skill | None:
        """The skill a switch waits for."""
        self._settle()
        return self._requested

    @property
    def running(self) -> Skill:
        """The skill that has the body now: `skill`, or its slow part."""
        return running_part(self.scene, self._row, self.skill)

    def step(self, count: int = 1) -> None:
        """Advance by physics steps.

        Args:
            count: how many.

        Raises:
            SurefootError: a negative count.
        """
        if count < 0:
            raise SurefootError(f"cannot step {count} times")
        callback.install()
        if self._scheduled.is_native:
            self._mj_step(count)
        else:
            scheduler.advance([self._scheduled], count, self._step_natively)
        self._settle()

    def _step_natively(self, rows: Sequence[int], count: int) -> None:
        self._mj_step(count)
        self._settle()

    def _mj_step(self, count: int) -> None:
        """Advance physics and control, in stretches between which Ctrl-C is heard."""
        for begin in range(0, count, _UNHEARD):
            mujoco.mj_step(self.model, self.data, min(_UNHEARD, count - begin))

    @property
    def actor(self) -> Actor:
        """What tasks see of the character, now; only a skill that takes tasks has one."""
        actor = self._planned().actor
        actor.refresh()
        return actor

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks it was given, those that are over too."""
        return self._scheduled.agenda.tasks if self._scheduled.agenda else ()

    def add(self, task: T) -> T:
        """Give it a task, which begins when time moves on; tasks run side by side.

        Args:
            task: one that nobody has begun.

        Returns:
            The same task, whose `status` and `reason` tell how it goes.
        """
        self._planned().add(task)
        return task

    def _planned(self) -> TaskSchedule:
        """The agenda, made when it is first needed."""
        if self._scheduled.agenda is None:
            check_accepts_tasks(self.skill)
            arrays = self.data.qpos, self.data.qvel, self.data.eq_active
            actor = Actor(self.scene, self._row, *arrays, lambda: self.time, lambda: self.skill)
            self._scheduled.agenda = TaskSchedule(actor)
        return self._scheduled.agenda

    def run(self, seconds: float, fps: float = 60.0) -> Motion:
        """Advance and return what happened.

        Args:
            seconds: how long; rounded to whole physics steps.
            fps: frames recorded per second, each at the physics step nearest to its time.
        """
        check_seconds(seconds)
        recorder = Recorder(self.scene)
        recorder.add(self.data.time, self.data.qpos, self.data.qvel, self.data.userdata)
        for count in frame_steps(seconds, fps, self.model.opt.timestep):
            self.step(count)
            recorder.add(self.data.time, self.data.qpos, self.data.qvel, self.data.userdata)
        return recorder.motion()

    def view(self, seconds: float = math.inf, each_frame: Callable[[], object] = lambda: None) -> None:
        """Show it in MuJoCo's own viewer and let it go on in real time until the window is closed.

        Args:
            seconds: how long at most [s].
            each_frame: called before every frame of `FRAME` seconds.

        Raises:
            CommandError: there is no display, or no viewer for it.
        """
        try:
            import mujoco.viewer

            _check_display()
            with mujoco.viewer.launch_passive(self.model, self.data) as window:
                begin, end = time.monotonic() - self.time, self.time + seconds
                while window.is_running() and self.time < end:
                    each_frame()
                    self.step(max(1, round(FRAME / self.model.opt.timestep)))
                    window.sync()
                    time.sleep(max(0.0, begin + self.time - time.monotonic()))
        except (RuntimeError, ImportError, OSError) as error:
            raise CommandError(f"no viewer here: {str(error).splitlines()[0]}") from None

    def push(
        self,
        force: tuple[float, float, float],
        duration: float,
        body: str = "trunk",
        point: tuple[float, float, float] | None = None,
        delay: float = 0.0,
    ) -> None:
        """Push a body; the push lasts an exact number of physics steps.

        Args:
            force: in the world frame [N].
            duration: how long [s].
            body: name of the body that is pushed; `trunk` is the torso of every character.
            point: where, in the body's frame [m]; None is its center of mass.
            delay: from now until it begins [s].

        Raises:
            CommandError: there is no such body, or the numbers are not valid.
        """
        self.scene.add_push(self._row, Push(force, duration, self.time + delay, body, point), self.time)

    def throw(self, position: tuple[float, float, float], velocity: tuple[float, float, float], ball: int = 0) -> None:
        """Throw a ball of the terrain (`terrains.Ball`).

        Args:
            position: where it begins to fly, in the world [m].
            velocity: its velocity there [m/s].
            ball: its number.
        """
        balls.throw(self.model, self.data, ball, position, velocity)

    def remove_ball(self, ball: int = 0) -> None:
        """Take a ball out of the way again.

        Args:
            ball: its number.
        """
        balls.park(self.model, self.data, ball)

    def hold(self, crate: str | None = "crate") -> None:
        """Put a crate of the terrain (`terrains.Crate`, with handles) into the hands.

        Args:
            crate: its name; None lets go of what is held.
        """
        carry_object.hold_crate(self.scene, self.data, self._row, self.skill, crate)

    def set_mass(self, mass: float, crate: str = "crate") -> None:
        """Give a crate another mass, at once.

        Args:
            mass: [kg].
            crate: its name.
        """
        carry_object.set_crate_mass(self.scene, self._row, self.skill, crate, mass)

    def command(self, **values: float) -> None:
        """Tell the running skill something it understands.

        Args:
            values: by name, angles in radians.

        Raises:
            CommandError: an unknown command, with a list of the known ones, or a value out of its limits.
        """
        self.scene.command(self._row, self.skill, values)

    def switch(self, skill: str | Path | Skill) -> None:
        """Ask for another skill; it begins at the next state change, or at the phase it waits for.

        One of another controller begins at the next footstrike, or from quiet standing, without the commands given.
        A node of the action graph is gone to over the graph's edges, and over other nodes if need be.

        Args:
            skill: name, full name, path, object, or node of the action graph.

        Raises:
            CommandError: it is another character's, or needs more memory than this simulation has.
        """
        wanted = self.scene.find(skill)
        self._settle()
        self.scene.request(self._row, wanted, self.time)
        self._requested = wanted

    def blend(self, other: str | Path | Skill, share: float) -> None:
        """Interpolate the running skill's numbers towards those of another skill of the same structure.

        Args:
            other: the other skill.
            share: 0 is the running skill, 1 the other one.

        Raises:
            CommandError: they differ in structure, or the share is not within 0 … 1.
        """
        edit_running_skill.blend(self.scene, self._row, self.skill, self.scene.find(other), share)

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Change the running skill's numbers, at once.

        Args:
            values: by dotted path (`states.1.cd`).

        Raises:
            SkillError: there is no such parameter, or the value is not valid.
        """
        changed = with_parameters(self.skill, values)
        self.scene.fill(self._row, slot_of(self.scene, self._row, self.skill), changed)
        self.skill = changed

    def edit_skill(self, skill: Skill) -> bool:
        """Replace the running skill by another version of itself, at once.

        Args:
            skill: the other version.

        Returns:
            False, and nothing is changed, where it cannot go on from here: it is of another controller, its states
            differ in number, or it needs more memory. Then a new simulation has to begin with it.
        """
        wanted = self.scene.find(skill)
        if not edit_running_skill.edit_skill(self.scene, self._row, self.skill, wanted):
            return False
        self.skill = wanted
        return True

    def with_proportions(self, proportions: Mapping[str, float]) -> Simulation:
        """The same moment with another body, which goes on from here; this simulation stays as it is.

        Args:
            proportions: multipliers of the character's own lengths and masses; those not named are 1.
        """
        check_can_rescale(self)
        self._settle()
        changed = replace(
            self.scene.setup, character=self.scene.character, skill=self.skill, proportions=dict(proportions),
            skills=skills_needing_most_memory(self.scene, self.skill),
        )  # fmt: skip
        new = Simulation.from_setup(changed)
        transfer_state(self, new)
        return new

    def snapshot(self) -> Snapshot:
        """A copy of everything, the controller's memory included."""
        tasks = self._scheduled.agenda.snapshot() if self._scheduled.agenda else ()
        masses = carry_object.crate_masses(self.scene)
        return Snapshot(self._state(), self.skill, self.requested, tasks, masses, self.scene.fingerprint)

    def _state(self) -> np.ndarray:
        state = np.empty(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self.data, state, _STATE)
        return state

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, bit for bit.

        Args:
            snapshot: of this simulation, or of one built alike.

        Raises:
            SurefootError: it is of another kind of simulation.
        """
        if snapshot.state.shape != (mujoco.mj_stateSize(self.model, _STATE),):
            raise SurefootError("the snapshot is of another kind of simulation")
        if snapshot.world not in ("", self.scene.fingerprint):
            raise SurefootError("the snapshot was taken with another body, terrain or physics step")
        mujoco.mj_setState(self.model, self.data, snapshot.state, _STATE)
        carry_object.set_crate_masses(self.scene, snapshot.masses)
        self.skill, self._requested = snapshot.skill, snapshot.requested
        for skill in (snapshot.skill, snapshot.requested):
            if skill is not None:
                self.scene.prepare(skill)
        if snapshot.tasks or self._scheduled.agenda:
            self._planned().restore(snapshot.tasks)

    def _settle(self) -> None:
        """Notice that a requested switch has happened, or that an action has followed another."""
        header, running = self._row.header[0], self.scene.running_skill(self._row)
        waits, wanted = header.pending != 0.0 or header.handover == ASKED, self._requested
        if running is not None:
            self.skill, waits = running, wanted is not None and number_of(running) != number_of(wanted)
        if wanted is not None and not waits:
            self.skill, self._requested = wanted, None


def _check_display() -> None:
    """Refuse to open a window where none can be: MuJoCo's viewer would end the process.

    Raises:
        CommandError: there is no display.
    """
    if sys.platform != "linux":
        return
    import glfw

    with warnings.catch_warnings(action="ignore"):
        works = glfw.init()
    if not works:
        raise CommandError(
            "no display to open a window on; a film needs none (.mp4, .gif), `surefoot studio` a browser"
        )


def _copied(
    kind: type[Simulation], setup: Setup, data: mujoco.MjData, skill: Skill, requested: Skill | None,
    tasks: tuple[TaskSnapshot, ...],
) -> Simulation:  # fmt: skip
    """A simulation that goes on from data of its own."""
    scene, new = Scene(setup, data.model), kind.__new__(kind)
    for known in (skill, requested):
        if known is not None:
            scene.prepare(known)
    new._hold(scene, data, userdata.view(data.userdata), skill, requested)
    if tasks:
        new._planned().restore(tasks)
    return new


def _renamed(old: str, new: str) -> Callable[..., Any]:
    """A method of version 0.2 under its old name, which keeps working for one release."""

    def call(self: Simulation, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"Simulation.{old} is called Simulation.{new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)(*args, **kwargs)

    return call


for _old, _new in {
    "weigh": "set_mass", "park": "remove_ball", "reshaped": "with_proportions", "revise": "edit_skill",
}.items():  # fmt: skip
    setattr(Simulation, _old, _renamed(_old, _new))


@functools.cache
def record_walk(
    character: str | None, skill: str, terrain: str, settle: float, seconds: float, fps: float
) -> RecordedWalk:
    """Run a skill on a terrain by itself and record it once it has settled; once a process for the same arguments.

    Args:
        character: name of a body; None is the one the skill is for.
        skill: full name.
        terrain: description.
        settle: how long it runs before it is recorded [s].
        seconds: how long it is recorded [s].
        fps: recorded frames per second.
    """
    sim = Simulation(character, skill, terrain)
    sim.run(settle, fps=10.0)
    motion = sim.run(seconds, fps=fps)
    return RecordedWalk(sim.scene, motion, sim.fallen)
