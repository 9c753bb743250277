"""What one can do with a simulation in the studio, without any page: run, stop, go back, push, change.

All of it is called from one thread, the loop's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from weakref import WeakKeyDictionary

import mujoco

from surefoot.errors import CommandError, SurefootError
from surefoot.motions.motion import Motion
from surefoot.motions.recorder import Recorder
from surefoot.native.memory import Row
from surefoot.simulation import Simulation
from surefoot.skills.schema import Skill
from surefoot.studio.timeline import Moment, Timeline
from surefoot.terrains import Ball, with_props
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import Terrain

FPS = 60.0
SLOWEST, FASTEST = 0.02, 4.0  # simulated seconds in one second
_LONGEST = 0.1  # [s] of real time made up for at once; what is late beyond it is lost, not hurried
BEFORE_FALL = 2.0  # [s]
BALLS = {"small": Ball(0.08), "medium": Ball(0.12), "large": Ball(0.18)}  # always at hand, parked


@dataclass(frozen=True)
class Setup:
    """What a simulation is built from."""

    skill: str | Path | Skill = "human/fast-walk"
    character: str | None = None
    terrain: str = "flat"
    proportions: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0


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
        return Simulation(
            setup.character, setup.skill, self.ground(setup.terrain), setup.seed, proportions=setup.proportions
        )

    def ground(self, description: str) -> Terrain:
        """The ground a description stands for, and balls to be thrown."""
        return with_props(load_terrain(description), tuple(BALLS.values()))

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
        moment = self.timeline.first(self.sim, fell - BEFORE_FALL)
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

    def revise(self, skill: Skill) -> None:
        """Let the running skill be another version of itself, at once; one that does not fit begins again."""
        self.present()
        if self.sim.revise(skill):
            self.setup = replace(self.setup, skill=skill)
        else:
            self.rebuild(skill=skill)

    def reshape(self, proportions: Mapping[str, float]) -> None:
        """Go on in a body of other lengths and masses; nothing changes if it cannot be.

        Args:
            proportions: multipliers of the character's own; those not named are 1.
        """
        sim = self.sim.reshaped(proportions)
        self.present()
        self._take(sim, replace(self.setup, proportions=dict(proportions)))
        self.timeline.add(sim, self.clock)

    def motion(self, seconds: float) -> Motion:
        """The seconds up to the moment that is looked at, as far as one body ran on without being restarted."""
        return motion_of(self.moments(seconds))

    def moments(self, seconds: float) -> tuple[Moment, ...]:
        """The moments of these seconds, which do not change any more: another thread may have them."""
        if not 0.0 < seconds <= self.timeline.seconds:
            raise CommandError(f"up to {self.timeline.seconds:g} s are remembered, got {seconds:g}")
        return tuple(self.timeline.last(seconds, self.shown))


def motion_of(moments: Sequence[Moment]) -> Motion:
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
