"""Named measurements over the last seconds, for plotting: read from the timeline, so they go back when it does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.native.memory import Row, view
from surefoot.simulation import Simulation
from surefoot.studio.aims import Aims
from surefoot.studio.timeline import Moment, Timeline

SECONDS = 5.0  # of a window
POINTS = 150  # of a window, at most
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_REPORTED = ("distance", "velocity", "lateral_distance", "lateral_velocity", "swing")
_PLAIN = ("time", "height", "speed", "left_force", "right_force", "forward_lean", "left_lean", *_REPORTED)


@dataclass(frozen=True)
class Window:
    """A table of measurements: a row a moment, a column a name.

    `time` is the simulation's [s]; `height` of the COM above the ground [m], `speed` along its heading [m/s]; feet's
    vertical forces [N]; the torso's leans [°]; d and v of the balance [m], [m/s]; which foot swings; and for every
    actuator `angle:NAME` and `target:NAME` [°], `torque:NAME` and `limit:NAME` [N·m]. A target is NaN where there
    is none.
    """

    columns: dict[str, int]
    table: np.ndarray

    def __len__(self) -> int:
        """How many moments."""
        return len(self.table)

    def __getitem__(self, name: str) -> np.ndarray:
        """(n,) one of the measurements."""
        return np.asarray(self.table[:, self.columns[name]])


class Meter:
    """Measures moments of one simulation, without touching it."""

    def __init__(self, sim: Simulation) -> None:
        """Prepare for its body."""
        self.sim = sim
        self.joints = tuple(sim.scene.table.gains)
        of_joints = [f"{kind}:{joint}" for kind in ("angle", "target", "torque", "limit") for joint in self.joints]
        self.columns = {name: i for i, name in enumerate((*_PLAIN, *of_joints))}
        model = sim.model
        self._addresses = np.array([model.joint(joint).qposadr[0] for joint in self.joints])
        self._torso = model.body(sim.scene.table.anatomy.torso).id
        self._data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, self._data)
        self._upward = self._data.xmat[self._torso].reshape(3, 3).T @ (0.0, 0.0, 1.0)  # of the torso, in its frame
        self._row: Row | None = None
        self._aims: Aims | None = None

    def measure(self, moment: Moment) -> np.ndarray:
        """(columns,) of a moment."""
        model, data, snapshot = self.sim.model, self._data, moment.snapshot()
        mujoco.mj_setState(model, data, snapshot.state, _STATE)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_subtreeVel(model, data)
        if (
            self._row is None or self._aims is None
        ):  # views of the data's own memory, which is that of a row from now on
            self._row = view(data.userdata)
            self._aims = Aims(self.sim.scene, self._row, data)
        row, report = self._row, self._row.report[0]
        targets, limits = self._aims.read(snapshot.skill)
        c, s = math.cos(report.heading), math.sin(report.heading)
        x, y, z = data.xmat[self._torso].reshape(3, 3) @ self._upward
        velocity = data.subtree_linvel[1]
        height = row.com[2] - float(self.sim.scene.terrain.height(row.com[0], row.com[1]))
        return np.concatenate([
            (data.time, height, c * velocity[0] + s * velocity[1], row.contact_force[0, 2], row.contact_force[1, 2],
             math.degrees(math.atan2(c * x + s * y, z)), math.degrees(math.atan2(c * y - s * x, z))),
            [report[name] for name in _REPORTED],
            np.degrees(data.qpos[self._addresses]), np.degrees(targets), row.torque, limits,
        ])  # fmt: skip


class Channels:
    """The measurements of the moments a timeline holds. What the timeline forgets is forgotten here too."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._meter: Meter | None = None
        self._known: dict[int, tuple[Moment, np.ndarray]] = {}  # by identity; the moment is held, so it stays its own

    def window(
        self, timeline: Timeline, until: Moment | None = None, seconds: float = SECONDS, points: int = POINTS
    ) -> Window:
        """The seconds before a moment, by default the last one, as far as one simulation ran on.

        Of many moments the first in each of as many equal stretches of simulated time is taken: always the same
        ones, so that a plot does not flicker.
        """
        chosen = _thinned(list(timeline.last(seconds, until)), seconds / points)
        if not chosen:
            return Window({name: i for i, name in enumerate(_PLAIN)}, np.zeros((0, len(_PLAIN))))
        if self._meter is None or self._meter.sim is not chosen[-1].sim:
            self._meter, self._known = Meter(chosen[-1].sim), {}
        meter, known = self._meter, self._known
        self._known = {
            id(moment): known[id(moment)] if id(moment) in known else (moment, meter.measure(moment))
            for moment in chosen
        }
        return Window(meter.columns, np.array([row for _, row in self._known.values()]))


def _thinned(moments: list[Moment], every: float) -> list[Moment]:
    """The first moment of each stretch of so many seconds, and the last of all."""
    found: list[Moment] = []
    before = -1
    for moment in moments[:-1]:
        here = math.floor(moment.clock / every)
        if here != before:
            found.append(moment)
            before = here
    return found + moments[-1:]
