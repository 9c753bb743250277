"""The last minute, moment by moment, so that one can go back to any of them.

What one can do with a simulation in the studio, without any page: run, stop, go back, push, change.

All of it is called from one thread, the loop's.

The thread that owns the session: it lets time pass, sixty times a second, and does what others ask of it.
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
from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation, Snapshot
from surefoot.errors import CommandError, SurefootError
from surefoot.motions.motion import Motion
from surefoot.native.userdata import Row
from surefoot.skills.schema import Skill
from surefoot.terrains import Ball, with_props
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import Terrain

HISTORY_SECONDS = 60.0  # [s]
MAX_BODIES = 12  # simulations whose moments are kept: every change of body or ground makes another


@dataclass(frozen=True)
class Moment:
    """A simulation at one time; `clock` is the studio's, which does not start again with the simulation [s]."""

    sim: Simulation
    clock: float
    _rest: Snapshot
    _base: np.ndarray
    _mask: bytes
    _values: np.ndarray

    def snapshot(self) -> Snapshot:
        """Everything there was to it, bit for bit."""
        state = self._base.copy()
        differs = np.unpackbits(np.frombuffer(self._mask, np.uint8), count=len(state)).astype(bool)
        state[differs] = self._values
        return Snapshot(state, self._rest.skill, self._rest.requested, self._rest.tasks)


class Timeline:
    """Moments in their order. Most numbers of a state never change: only those that did are kept."""

    def __init__(self, seconds: float = HISTORY_SECONDS) -> None:
        """Keep the last so many seconds."""
        self.seconds = seconds
        self._moments: deque[Moment] = deque()
        self._base: np.ndarray = np.empty(0)
        self._of: Simulation | None = None

    def __len__(self) -> int:
        """How many moments there are."""
        return len(self._moments)

    def add(self, sim: Simulation, clock: float) -> Moment:
        """Keep the present moment, forget those that are too old."""
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
        """Of many bodies those that lasted longest are kept: each holds a whole compiled model."""
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
        """The moment nearest to so many seconds before the last one."""
        if not self._moments:
            raise SurefootError("there is nothing to go back to yet")
        clock = self._moments[-1].clock - ago
        return min(self._moments, key=lambda moment: abs(moment.clock - clock))

    def first(self, sim: Simulation, clock: float) -> Moment:
        """The first moment of a simulation that is not before a time of the studio's clock [s]."""
        for moment in self._moments:
            if moment.sim is sim and moment.clock >= clock - 1e-9:
                return moment
        raise SurefootError("there is nothing to go back to yet")

    def forget_after(self, moment: Moment) -> None:
        """Drop what came after a moment: it goes on from there."""
        while self._moments and self._moments[-1] is not moment:
            self._moments.pop()
        self._of = None  # the next moment brings its own base

    def last(self, seconds: float, until: Moment | None = None) -> Iterator[Moment]:
        """The moments of so many seconds up to one of them, by default the last, as far as one simulation ran on."""
        found: list[Moment] = []
        for moment in reversed(self._moments):
            if not found and until is not None and moment is not until:
                continue
            if found and (moment.sim is not found[-1].sim or moment.clock < found[0].clock - seconds - 1e-9):
                break
            found.append(moment)
        return reversed(found)

    def clear(self) -> None:
        """Forget everything."""
        self._moments.clear()
        self._of = None


FPS = 60.0
SLOWEST, FASTEST = 0.02, 4.0  # simulated seconds in one second
_LONGEST = 0.1  # [s] of real time made up for at once; what is late beyond it is lost, not hurried
REWIND_SECONDS = 2.0  # [s]
BALLS = {"small": Ball(0.08), "medium": Ball(0.12), "large": Ball(0.18)}  # always at hand, parked


FIRST_SKILL = "human/fast-walk"  # what the studio opens with unless told


class Session:
    """A simulation one can watch and change.

    Attributes:
        sim: the simulation that runs, or of the moment that is looked at.
        setup: what it was built from.
        timeline: the last minute.
        paused: whether time stands still.
        rate: simulated seconds in one second.
        shown: the moment of the past that is looked at; None: the present.
        clock: seconds simulated since the studio was opened, restarts included.
    """

    def __init__(self, setup: Setup) -> None:
        """Build and stand ready."""
        self.setup = setup
        self.timeline = Timeline()
        self.paused, self.rate, self.clock = False, 1.0, 0.0
        self.shown: Moment | None = None
        self._due = 0.0  # [s] of simulated time that is owed
        self._setups: WeakKeyDictionary[Simulation, Setup] = WeakKeyDictionary()
        self._begin(setup)

    def _begin(self, setup: Setup) -> None:
        sim = self._built(setup)
        self.shown, self._due = None, 0.0
        self._take(sim, setup)
        self.timeline.add(sim, self.clock)

    def _take(self, sim: Simulation, setup: Setup) -> None:
        """Let another simulation be the one that is looked at."""
        self.sim, self.setup, self._pose = sim, setup, mujoco.MjData(sim.model)
        self._setups[sim] = setup

    def _built(self, setup: Setup) -> Simulation:
        return Simulation.from_setup(replace(setup, terrain=self.ground(setup.terrain)))

    def ground(self, terrain: str | Terrain) -> Terrain:
        """A ground, and balls to be thrown.

        Args:
            terrain: description or object.
        """
        found = load_terrain(terrain) if isinstance(terrain, str) else terrain
        return with_props(found, tuple(BALLS.values()))

    def restart(self) -> None:
        """Begin again from the skill's start; what is being edited is kept."""
        self._begin(replace(self.setup, skill=self.sim.skill))

    def rebuild(self, **changes: object) -> None:
        """Begin again with another skill, character, ground or proportions; nothing changes if it cannot be built."""
        self._begin(replace(self.setup, **changes))  # type: ignore[arg-type]

    def advance(self, seconds: float) -> None:
        """Let real time pass."""
        if self.paused or self.shown is not None:
            return
        self._due += min(seconds, _LONGEST) * self.rate
        steps = int(self._due / self.sim.model.opt.timestep + 1e-9)
        if steps:
            self._due -= steps * self.sim.model.opt.timestep
            self.step(steps)

    def step(self, count: int = 1) -> None:
        """Advance by physics steps and keep the moment."""
        self.present()
        before = self.sim.time
        self.sim.step(count)
        self.clock += self.sim.time - before
        self.timeline.add(self.sim, self.clock)

    def frame(self) -> None:
        """Advance by one frame, for looking closely."""
        self.step(max(round(1.0 / FPS / self.sim.model.opt.timestep), 1))

    def look(self, ago: float) -> None:
        """Look at the moment so many seconds ago; time stands still."""
        self._look_at(self.timeline.at(ago))

    def _look_at(self, moment: Moment) -> None:
        self.paused, self.shown = True, moment
        self._restore(moment)

    def present(self) -> None:
        """Go on from the moment that is looked at; what came after it never happened."""
        if self.shown is not None:
            self.timeline.forget_after(self.shown)
            self.clock, self.shown = self.shown.clock, None

    def play(self) -> None:
        """Let time run, from the moment that is looked at."""
        self.present()
        self.paused = False

    def before_fall(self) -> None:
        """Go back to two seconds before it fell, or to its start or as far as is remembered, and go on."""
        if not self.sim.fallen:
            raise CommandError("it has not fallen")
        fell = (self.shown.clock if self.shown else self.clock) - (self.sim.time - self.sim.fallen_at)
        moment = self.timeline.first(self.sim, fell - REWIND_SECONDS)
        if moment.clock > fell:
            raise CommandError(
                f"it fell more than {self.timeline.seconds:g} s ago, which is not remembered; restart it"
            )
        self._look_at(moment)
        self.play()

    def _restore(self, moment: Moment) -> None:
        if moment.sim is not self.sim:
            self._take(moment.sim, self._setups[moment.sim])
        self.sim.restore(moment.snapshot())

    def set_rate(self, rate: float) -> None:
        """Slower or faster than life."""
        if not SLOWEST <= rate <= FASTEST:
            raise CommandError(f"the speed of time is {SLOWEST:g} … {FASTEST:g}, got {rate:g}")
        self.rate = rate

    @property
    def pose(self) -> mujoco.MjData:
        """Where everything is at the moment that is looked at."""
        self._pose.qpos[:] = self.sim.data.qpos
        mujoco.mj_kinematics(self.sim.model, self._pose)
        return self._pose

    @property
    def row(self) -> Row:
        """The controller's memory at the moment that is looked at."""
        return self.sim.memory

    def edit_skill(self, skill: Skill) -> None:
        """Let the running skill be another version of itself, at once; one that does not fit begins again."""
        self.present()
        if self.sim.edit_skill(skill):
            self.setup = replace(self.setup, skill=skill)
        else:
            self.rebuild(skill=skill)

    def reshape(self, proportions: Mapping[str, float]) -> None:
        """Go on in a body of other lengths and masses; nothing changes if it cannot be.

        Args:
            proportions: multipliers of the character's own; those not named are 1.
        """
        sim = self.sim.with_proportions(proportions)
        self.present()
        self._take(sim, replace(self.setup, proportions=dict(proportions)))
        self.timeline.add(sim, self.clock)

    def motion(self, seconds: float) -> Motion:
        """The seconds up to the moment that is looked at, as far as one body ran on without being restarted."""
        return motion_from_moments(self.moments(seconds))

    def moments(self, seconds: float) -> tuple[Moment, ...]:
        """The moments of these seconds, which do not change any more: another thread may have them."""
        if not 0.0 < seconds <= self.timeline.seconds:
            raise CommandError(f"up to {self.timeline.seconds:g} s are remembered, got {seconds:g}")
        return tuple(self.timeline.last(seconds, self.shown))


def motion_from_moments(moments: Sequence[Moment]) -> Motion:
    """What happened in moments of one simulation."""
    if not moments:
        raise SurefootError("nothing has been recorded yet")
    sim = moments[0].sim
    data = mujoco.MjData(sim.model)
    recorder, last = Recorder(sim.scene), -math.inf
    for moment in moments:
        mujoco.mj_setState(sim.model, data, moment.snapshot().state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
        if data.time > last:  # a restart of the same body begins at 0 again
            recorder.add(data.time, data.qpos, data.qvel, data.userdata)
            last = data.time
    return recorder.motion()


T = TypeVar("T")
_log = logging.getLogger(__name__)
_QUIET = 5.0  # [s] after a failure that is none of a person's doing, in which others are not told
_WAITING = 1000  # requests that may wait; more are dropped: the page floods us


class SimulationThread:
    """Runs a session in real time. `post` and `call` may come from any thread, everything else from its own."""

    def __init__(self, session: Session, draw: Callable[[float], None], complain: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            session: what runs.
            draw: called after every advance with the real time [s].
            complain: told in one line what could not be done.
        """
        self.session = session
        self._draw, self._complain = draw, complain
        self.before: list[Callable[[float], object]] = []  # called before every advance with the real time passed [s]
        self._asked: queue.Queue[Callable[[], None]] = queue.Queue(_WAITING)
        self._logged = -_QUIET
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="surefoot-studio", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End and wait for it."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    @property
    def is_running(self) -> bool:
        """Whether time can pass."""
        return self._thread.is_alive()

    def post(self, action: Callable[[], object]) -> None:
        """Have something done before the next frame; a flood of requests is cut."""
        try:
            self._asked.put_nowait(lambda: self._do(action))
        except queue.Full:
            _log.warning("too many requests at once: one was dropped")

    def call(self, action: Callable[[], T], timeout: float = 30.0) -> T:
        """Have something done and wait for what it gives; its errors are raised here."""
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
            self._complain(str(error))
        except Exception:
            if time.monotonic() - self._logged >= _QUIET:  # a page that sends rubbish does not fill the log
                self._logged = time.monotonic()
                _log.exception("a request failed")
                self._complain("that did not work; the log has the details")

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
        """Sleep until the next frame is due, or somebody asks for something."""
        while (left := until - time.perf_counter()) > 0.0 and not self._stop.is_set():
            try:
                self._asked.get(timeout=left)()
            except queue.Empty:
                return
