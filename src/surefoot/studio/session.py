"""A simulation that one can watch and change, without any page: run, pause, go back, edit.

`Timeline` keeps the last minute moment by moment. `Session` runs a simulation and goes back in the timeline; one thread
calls all of it. `SimulationThread` is that thread: it advances the session sixty times a second and carries out what
other threads post.
"""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from surefoot.engine.recorder import Recorder
from surefoot.engine.scene import AnyCharacter, Setup
from surefoot.engine.simulation import Simulation, Snapshot
from surefoot.errors import CommandError, SurefootError
from surefoot.motions.motion import Motion
from surefoot.native.userdata import Row
from surefoot.skills.schema import Skill
from surefoot.terrains import Ball, with_props
from surefoot.terrains import load as load_terrain

HISTORY_SECONDS = 60.0  # [s]
MAX_BODIES = 12  # simulations whose moments are kept: every change of body or terrain makes another
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@dataclass(frozen=True)
class Moment:
    """A simulation at one time; `clock` is the studio's time, which a restart does not reset [s]."""

    sim: Simulation
    clock: float
    _rest: Snapshot
    _base: np.ndarray
    _mask: bytes
    _values: np.ndarray

    def snapshot(self) -> Snapshot:
        """The whole state, bit for bit."""
        state = self._base.copy()
        differs = np.unpackbits(np.frombuffer(self._mask, np.uint8), count=len(state)).astype(bool)
        state[differs] = self._values
        return Snapshot(state, self._rest.skill, self._rest.requested, self._rest.tasks)

    def load_into(self, data: mujoco.MjData) -> Snapshot:
        """Set MuJoCo's state to that of this moment; returns the snapshot."""
        snapshot = self.snapshot()
        mujoco.mj_setState(self.sim.model, data, snapshot.state, _STATE)
        return snapshot


class Timeline:
    """Moments in their order. Most numbers of a state never change, so only those that did are stored."""

    def __init__(self, seconds: float = HISTORY_SECONDS) -> None:
        """Keep the last seconds."""
        self.seconds = seconds
        self._moments: deque[Moment] = deque()
        self._base: np.ndarray = np.empty(0)
        self._of: Simulation | None = None

    def __len__(self) -> int:
        """How many moments there are."""
        return len(self._moments)

    def add(self, sim: Simulation, clock: float) -> Moment:
        """Store the present moment, and drop those that are too old."""
        snapshot = sim.snapshot()
        if sim is not self._of or len(self._base) != len(snapshot.state):
            self._of, self._base = sim, snapshot.state.copy()
            self._forget_bodies()
        differs = snapshot.state.view(np.int64) != self._base.view(np.int64)
        rest = Snapshot(np.empty(0), snapshot.skill, snapshot.requested, snapshot.tasks)
        mask = np.packbits(differs).tobytes()
        moment = Moment(sim, clock, rest, self._base, mask, snapshot.state[differs])
        self._moments.append(moment)
        while self._moments[0].clock < clock - self.seconds:
            self._moments.popleft()
        return moment

    def _forget_bodies(self) -> None:
        """Keep the moments of the bodies that lasted longest: each holds a whole compiled model."""
        lasted = Counter(moment.sim for moment in self._moments)
        while len(lasted) >= MAX_BODIES:
            briefest = min(lasted, key=lambda sim: lasted[sim])
            del lasted[briefest]
            self._moments = deque(moment for moment in self._moments if moment.sim is not briefest)

    @property
    def span(self) -> float:
        """Seconds from the first moment to the last."""
        return self._moments[-1].clock - self._moments[0].clock if self._moments else 0.0

    def at(self, ago: float) -> Moment:
        """The moment nearest to `ago` seconds before the last one."""
        if not self._moments:
            raise SurefootError("there is nothing to go back to yet")
        clock = self._moments[-1].clock - ago
        return min(self._moments, key=lambda moment: abs(moment.clock - clock))

    def first(self, sim: Simulation, clock: float) -> Moment:
        """The first moment of a simulation at or after a time of the studio's clock [s]."""
        for moment in self._moments:
            if moment.sim is sim and moment.clock >= clock - 1e-9:
                return moment
        raise SurefootError("there is nothing to go back to yet")

    def truncate_after(self, moment: Moment) -> None:
        """Drop what came after a moment; the simulation continues from there."""
        while self._moments and self._moments[-1] is not moment:
            self._moments.pop()
        self._of = None  # the next moment brings its own base

    def last(self, seconds: float, until: Moment | None = None) -> Iterator[Moment]:
        """The moments of one simulation in the seconds up to one of them, by default the last."""
        found: list[Moment] = []
        for moment in reversed(self._moments):
            if not found and until is not None and moment is not until:
                continue
            if found and (moment.sim is not found[-1].sim or moment.clock < found[0].clock - seconds - 1e-9):
                break
            found.append(moment)
        return reversed(found)


FPS = 60.0
SLOWEST, FASTEST = 0.02, 4.0  # simulated seconds in one second
_LONGEST = 0.1  # [s] of real time that is caught up at once; more delay than that is skipped
REWIND_SECONDS = 2.0  # [s]
BALLS = {"small": Ball(0.08), "medium": Ball(0.12), "large": Ball(0.18)}  # parked until they are thrown
FIRST_SKILL = "human/fast-walk"  # what the studio opens with by default


class Session:
    """A simulation one can watch and change.

    Attributes:
        sim: the simulation that runs, or that of the moment shown.
        setup: what it was built from.
        timeline: the last minute.
        paused: whether time stands still.
        rate: simulated seconds per second of real time.
        shown: the past moment that is shown; None is the present.
        clock: seconds simulated since the session began, restarts included.
    """

    def __init__(self, setup: Setup) -> None:
        """Build the simulation.

        Args:
            setup: what to build; balls to throw are added to its terrain.

        Raises:
            SurefootError: it cannot be built.
        """
        self.setup = setup
        self.timeline = Timeline()
        self.paused, self.rate, self.clock = False, 1.0, 0.0
        self.shown: Moment | None = None
        self._due = 0.0  # [s] of simulated time not simulated yet
        self._setups: WeakKeyDictionary[Simulation, Setup] = WeakKeyDictionary()
        self._begin(setup)

    def _begin(self, setup: Setup) -> None:
        terrain = load_terrain(setup.terrain) if isinstance(setup.terrain, str) else setup.terrain
        sim = Simulation.from_setup(replace(setup, terrain=with_props(terrain, tuple(BALLS.values()))))
        self.shown, self._due = None, 0.0
        self._take(sim, setup)
        self.timeline.add(sim, self.clock)

    def _take(self, sim: Simulation, setup: Setup) -> None:
        """Show another simulation."""
        self.sim, self.setup, self._pose = sim, setup, mujoco.MjData(sim.model)
        self._setups[sim] = setup

    @property
    def character(self) -> AnyCharacter:
        """What the present body was loaded from."""
        return self.setup.character or self.sim.scene.table.name

    def restart(self) -> None:
        """Begin again from the running skill's start; edits are kept."""
        self._begin(replace(self.setup, skill=self.sim.skill))

    def rebuild(self, **changes: object) -> None:
        """Begin again with another setup.

        Args:
            changes: fields of `Setup`, such as `skill`, `character`, `terrain` and `proportions`.

        Raises:
            SurefootError: it cannot be built; then nothing changes.
        """
        self._begin(replace(self.setup, **changes))  # type: ignore[arg-type]

    def advance(self, seconds: float) -> None:
        """Simulate while some real time passes.

        Args:
            seconds: of real time.
        """
        if self.paused or self.shown is not None:
            return
        self._due += min(seconds, _LONGEST) * self.rate
        steps = int(self._due / self.sim.model.opt.timestep + 1e-9)
        if steps:
            self._due -= steps * self.sim.model.opt.timestep
            self.step(steps)

    def step(self, count: int = 1) -> None:
        """Advance by physics steps and store the moment.

        Args:
            count: how many steps.
        """
        self.resume_from_shown()
        before = self.sim.time
        self.sim.step(count)
        self.clock += self.sim.time - before
        self.timeline.add(self.sim, self.clock)

    def step_frame(self) -> None:
        """Advance by one frame."""
        self.step(max(round(1.0 / FPS / self.sim.model.opt.timestep), 1))

    def look_back(self, ago: float) -> None:
        """Show a past moment, paused.

        Args:
            ago: how long ago it was [s].
        """
        self._look_at(self.timeline.at(ago))

    def _look_at(self, moment: Moment) -> None:
        self.paused, self.shown = True, moment
        self._restore(moment)

    def resume_from_shown(self) -> None:
        """Continue from the moment that is shown; what came after it is dropped."""
        if self.shown is not None:
            self.timeline.truncate_after(self.shown)
            self.clock, self.shown = self.shown.clock, None

    def play(self) -> None:
        """Run, from the moment that is shown."""
        self.resume_from_shown()
        self.paused = False

    def rewind_before_fall(self) -> None:
        """Go back to two seconds before the fall, or to the first moment there is, and run.

        Raises:
            CommandError: it has not fallen, or the fall is too long ago.
        """
        if not self.sim.fallen:
            raise CommandError("it has not fallen")
        fell = (self.shown.clock if self.shown else self.clock) - (self.sim.time - self.sim.fallen_at)
        moment = self.timeline.first(self.sim, fell - REWIND_SECONDS)
        if moment.clock > fell:
            raise CommandError(f"it fell more than {self.timeline.seconds:g} s ago, which is not stored; restart it")
        self._look_at(moment)
        self.play()

    def _restore(self, moment: Moment) -> None:
        if moment.sim is not self.sim:
            self._take(moment.sim, self._setups[moment.sim])
        self.sim.restore(moment.snapshot())

    def set_rate(self, rate: float) -> None:
        """Run slower or faster than real time.

        Args:
            rate: simulated seconds per second.
        """
        if not SLOWEST <= rate <= FASTEST:
            raise CommandError(f"the speed of time is {SLOWEST:g} … {FASTEST:g}, got {rate:g}")
        self.rate = rate

    @property
    def pose(self) -> mujoco.MjData:
        """Positions of all bodies at the moment that is shown."""
        self._pose.qpos[:] = self.sim.data.qpos
        mujoco.mj_kinematics(self.sim.model, self._pose)
        return self._pose

    def moving_pose(self) -> mujoco.MjData:
        """`pose` with the velocities of bodies (`cvel`) and of their trees (`subtree_linvel`)."""
        model, data = self.sim.model, self.pose
        data.qvel[:] = self.sim.data.qvel
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_subtreeVel(model, data)
        return data

    @property
    def row(self) -> Row:
        """The controller's memory at the moment that is shown."""
        return self.sim.memory

    def edit_skill(self, skill: Skill) -> None:
        """Run another version of the running skill at once; one that cannot continue from here begins again.

        Args:
            skill: the other version.
        """
        self.resume_from_shown()
        if self.sim.edit_skill(skill):
            self.setup = replace(self.setup, skill=skill)
        else:
            self.rebuild(skill=skill)

    def reshape(self, proportions: Mapping[str, float]) -> None:
        """Continue in a body of other lengths and masses.

        Args:
            proportions: multipliers of the character's own; those not named are 1.

        Raises:
            SurefootError: there is no such body; then nothing changes.
        """
        sim = self.sim.with_proportions(proportions)
        self.resume_from_shown()
        self._take(sim, replace(self.setup, proportions=dict(proportions)))
        self.timeline.add(sim, self.clock)

    def motion(self, seconds: float) -> Motion:
        """The motion of the last seconds up to the moment that is shown, of one body since its last restart."""
        return motion_from_moments(self.moments(seconds))

    def moments(self, seconds: float) -> tuple[Moment, ...]:
        """The moments of these seconds; they never change, so other threads may use them.

        Args:
            seconds: how many, up to the timeline's length.
        """
        if not 0.0 < seconds <= self.timeline.seconds:
            raise CommandError(f"up to {self.timeline.seconds:g} s are stored, got {seconds:g}")
        return tuple(self.timeline.last(seconds, self.shown))


def motion_from_moments(moments: Sequence[Moment]) -> Motion:
    """The motion through moments of one simulation."""
    if not moments:
        raise SurefootError("nothing has been recorded yet")
    sim = moments[0].sim
    data = mujoco.MjData(sim.model)
    recorder, last = Recorder(sim.scene), -math.inf
    for moment in moments:
        moment.load_into(data)
        if data.time > last:  # a restart of the same body begins at 0 again
            recorder.add(data.time, data.qpos, data.qvel, data.userdata)
            last = data.time
    return recorder.motion()


T = TypeVar("T")
_log = logging.getLogger(__name__)
_QUIET = 5.0  # [s] after an unexpected failure, in which others are not reported
_WAITING = 1000  # requests that may wait; more than that are dropped


class SimulationThread:
    """Runs a session in real time. Any thread may call `post` and `call`; only its own calls the rest."""

    def __init__(self, session: Session, draw: Callable[[float], None], show_error: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            session: what runs.
            draw: called after every advance with the real time [s].
            show_error: called with one line that says what could not be done.
        """
        self.session = session
        self._draw, self._show_error = draw, show_error
        self.before: list[Callable[[float], object]] = []  # called before every advance with the real time passed [s]
        self._asked: queue.Queue[Callable[[], None]] = queue.Queue(_WAITING)
        self._logged = -_QUIET
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="surefoot-studio", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for it."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    @property
    def is_running(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def post(self, action: Callable[[], object]) -> None:
        """Have something done before the next frame; requests beyond a limit are dropped."""
        try:
            self._asked.put_nowait(lambda: self._do(action))
        except queue.Full:
            _log.warning("too many requests at once: one was dropped")

    def call(self, action: Callable[[], T], timeout: float = 30.0) -> T:
        """Have something done and wait for its result; its errors are raised here."""
        answer: Future[T] = Future()

        def act() -> None:
            try:
                answer.set_result(action())
            except BaseException as error:
                answer.set_exception(error)

        self._asked.put(act, timeout=timeout)
        return answer.result(timeout)

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        except SurefootError as error:
            self._show_error(str(error))
        except Exception:
            if time.monotonic() - self._logged >= _QUIET:  # a page that sends nonsense does not fill the log
                self._logged = time.monotonic()
                _log.exception("a request failed")
                self._show_error("that did not work; the log has the details")

    def _run(self) -> None:
        last = due = time.perf_counter()
        while not self._stop.is_set():
            while not self._asked.empty():
                self._asked.get()()
            now = time.perf_counter()
            passed, last = now - last, now
            for act in (*self.before, self.session.advance):
                self._do(lambda: act(passed))  # noqa: B023
            self._do(lambda: self._draw(now))  # noqa: B023
            due = max(due + 1.0 / FPS, now)
            self._wait(due)

    def _wait(self, until: float) -> None:
        """Carry out requests until the next frame is due."""
        while (left := until - time.perf_counter()) > 0.0 and not self._stop.is_set():
            try:
                self._asked.get(timeout=left)()
            except queue.Empty:
                return
