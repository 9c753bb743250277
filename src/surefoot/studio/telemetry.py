"""What is wanted of the joints: target angles and torque limits, as far as the running skill's numbers tell them.

A kind of skill that is not known here has no targets, and the limits of its body.

Named measurements over the last seconds, for plotting: read from the timeline, so they go back when it does.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from surefoot.characters.links import limbs_of_table
from surefoot.characters.table import SAGITTAL
from surefoot.controllers.genbicon import style
from surefoot.controllers.genbicon.parameters import GenbiconParameters
from surefoot.controllers.genbicon.style import KNOTS
from surefoot.controllers.simbicon.parameters import SimbiconParameters
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.native.userdata import Row, view
from surefoot.native.vectors import from_yaw_roll_pitch
from surefoot.reflexes import pose_graph
from surefoot.skills.schema import Skill
from surefoot.studio.session import Moment, Timeline

_DISPLACED = pose_graph.MACHINE.itemsize // 8  # where in the memory of a pose graph its targets' displacements begin


class JointTargets:
    """Target angles and limits of one body's actuators, read from a row of memory that is always the same."""

    def __init__(self, scene: Scene, row: Row, data: mujoco.MjData) -> None:
        """Prepare.

        Args:
            scene: whose body.
            row: views of the memory, whose contents change.
            data: where the bodies are; must have been through `mj_kinematics`.
        """
        anatomy, hinges = scene.table.anatomy, scene.table.hinges
        self._row, self._data, self._table = row, data, scene.table
        self._pelvis = scene.model.body(anatomy.pelvis).id
        self._places = {name: i for i, name in enumerate(scene.table.gains)}
        self._by_role = [np.array([self._places[j] for j in anatomy.joints(swing)], int) for swing in (0, 1)]
        planes = [[hinges[j].plane if j in hinges else SAGITTAL for j in anatomy.joints(swing)] for swing in (0, 1)]
        self._forward = np.array(planes) == SAGITTAL  # (2, roles)
        axes = [[hinges[j].axis if j in hinges else (0.0, 0.0, 0.0) for j in anatomy.joints(s)] for s in (0, 1)]
        self._outward = np.array([[1.0 if x + z >= 0.0 else -1.0 for x, _, z in side] for side in axes])

    def read(self, skill: Skill) -> tuple[np.ndarray, np.ndarray]:
        """(actuators,) targets [rad], NaN where none is told, and (actuators,) limits [N·m], of this moment."""
        targets, limits = np.full(len(self._places), np.nan), self._limits.copy()
        if isinstance(skill.parameters, SimbiconParameters):
            self._of_pose(targets, limits)
        elif isinstance(skill.parameters, GenbiconParameters):
            limits = np.minimum(limits, self._link_limits)
            if self._table.imported is None:
                self._of_arms(targets)
        return targets, limits

    @functools.cached_property
    def _limits(self) -> np.ndarray:
        return np.array([gain.limit for gain in self._table.gains.values()])

    @functools.cached_property
    def _link_limits(self) -> np.ndarray:
        """A link's hinges share the limit of the weakest."""
        found = np.full(len(self._places), np.inf)
        for link in limbs_of_table(self._table).links:
            for joint in link.joints:
                found[self._places[joint]] = link.gain.limit
        return found

    @functools.cached_property
    def _graphs(self) -> list[Any]:
        roles = len(self._table.anatomy.roles)
        return [python_impl(pose_graph.graph_of)(slot, roles) for slot in self._row.slots]

    def _of_pose(self, targets: np.ndarray, limits: np.ndarray) -> None:
        """A pose graph: θd = θd0 + F [d, v] of the present state (SIMBICON eq. 1), in the joint's own coordinate."""
        report, graph = self._row.report[0], self._graphs[int(self._row.header[0].active)]
        at, swing, anatomy = int(report.state), int(report.swing), self._table.anatomy
        places, sign, spatial = self._by_role[swing], self._outward[swing], self._table.root == "free"
        forward = self._forward[swing]
        d = np.where(forward, report.distance, sign * report.lateral_distance)
        v = np.where(forward, report.velocity, sign * report.lateral_velocity)
        wanted = graph.targets[at] + graph.feedback[at, :, 0] * d + graph.feedback[at, :, 1] * v
        if spatial:
            wanted += self._row.memory[_DISPLACED : _DISPLACED + len(wanted)]
        head, hips, side = graph.head[0], anatomy.hip_hinges, len(anatomy.side_roles)
        wanted[0] = min(max(wanted[0], head.hip_low), head.hip_high)
        if graph.states[at].both != 0.0:
            wanted[:hips] = np.nan
        elif spatial:  # a thigh's target is told in the world
            turn = rotation_matrix(report.heading + sign[2] * wanted[2], sign[1] * wanted[1], wanted[0])
            wanted[:hips] = hinge_angles(self._data.xmat[self._pelvis].reshape(3, 3).T @ turn, sign[1])
        else:
            xmat = self._data.xmat[self._pelvis]
            wanted[0] -= math.atan2(xmat[6], xmat[0])
        wanted[side : side + hips] = np.nan  # the stance hip has none: it holds the torso
        targets[places] = wanted
        limits[places] = graph.gains["limit"]

    @functools.cached_property
    def _styles(self) -> list[Any]:
        return [python_impl(style.style_of)(slot) for slot in self._row.slots]

    def _of_arms(self, targets: np.ndarray) -> None:
        """A style: its curves tell shoulders, elbows and wrists from their base; all else depends on more."""
        report, curves = self._row.report[0], self._styles[int(self._row.header[0].active)].curves
        swing = int(report.swing)
        phase = 2.0 * float(report.phase) - (1.0 if swing == 0 else 0.0)

        def value(curve: int) -> float:
            return curve_value(curves[curve], phase)

        for side, name in enumerate(("left", "right")):
            swings, outward = side == swing, 1.0 if side == 0 else -1.0
            shoulder = style.SWING_SHOULDER if swings else style.STANCE_SHOULDER
            hinges = [f"{name}_shoulder{axis}" for axis in ("", "_roll", "_yaw")]
            if all(hinge in self._places for hinge in hinges):
                flexion, roll, yaw = (value(shoulder + k) for k in range(3))
                turn = rotation_matrix(outward * yaw, outward * roll, flexion)
                targets[[self._places[hinge] for hinge in hinges]] = hinge_angles(turn, outward)
            for joint, curve in (
                (f"{name}_elbow", style.SWING_ELBOW if swings else style.STANCE_ELBOW),
                (f"{name}_wrist", style.SWING_WRIST if swings else style.STANCE_WRIST),
            ):
                if joint in self._places:
                    targets[self._places[joint]] = value(curve)


def curve_value(curve: np.ndarray, phase: float) -> float:
    """A style's curve at a phase, as `reflexes.curves.curve_at` has it, which only laws can call."""
    count = int(curve[0])
    if count == 0:
        return 0.0
    at, values = curve[1 : 1 + count], curve[1 + KNOTS : 1 + KNOTS + count]
    if count == 1 or not at[0] < phase < at[-1]:
        return float(values[0] if count == 1 or phase <= at[0] else values[-1])
    k = int(np.searchsorted(at, phase, side="right")) - 1
    low, high = np.maximum([k - 1, k], 0), np.minimum([k + 1, k + 2], count - 1)
    span = at[k + 1] - at[k]
    (m, n), (p, q), s = span * (values[high] - values[low]) / (at[high] - at[low]), values[k : k + 2], phase - at[k]
    s /= span
    return float(p + s * (m + s * (3.0 * (q - p) - 2.0 * m - n + s * (2.0 * (p - q) + m + n))))


def rotation_matrix(yaw: float, roll: float, pitch: float) -> np.ndarray:
    """(3, 3) the rotation by a flexion, then a roll, then a yaw [rad]."""
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, np.array(python_impl(from_yaw_roll_pitch)(yaw, roll, pitch)))
    return flat.reshape(3, 3)


def hinge_angles(turn: np.ndarray, outward: float) -> tuple[float, float, float]:
    """Angles [rad] of three hinges (flexion, roll, yaw) that make up a rotation (3, 3); a right side's turn inward."""
    flexion = -math.atan2(turn[0, 2], turn[2, 2])
    roll = -math.asin(min(max(turn[1, 2], -1.0), 1.0))
    return flexion, outward * roll, outward * math.atan2(turn[1, 0], turn[1, 1])


WINDOW_SECONDS = 5.0  # of a window
WINDOW_POINTS = 150  # of a window, at most
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_REPORTED = ("distance", "velocity", "lateral_distance", "lateral_velocity", "swing")
_PLAIN = ("time", "height", "speed", "left_force", "right_force", "forward_lean", "left_lean", *_REPORTED)


@dataclass(frozen=True)
class TelemetryWindow:
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


class MomentSampler:
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
        self._aims: JointTargets | None = None

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
            self._aims = JointTargets(self.sim.scene, self._row, data)
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


class Telemetry:
    """The measurements of the moments a timeline holds. What the timeline forgets is forgotten here too."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._meter: MomentSampler | None = None
        self._known: dict[int, tuple[Moment, np.ndarray]] = {}  # by identity; the moment is held, so it stays its own

    def window(
        self,
        timeline: Timeline,
        until: Moment | None = None,
        seconds: float = WINDOW_SECONDS,
        points: int = WINDOW_POINTS,
    ) -> TelemetryWindow:
        """The seconds before a moment, by default the last one, as far as one simulation ran on.

        Of many moments the first in each of as many equal stretches of simulated time is taken: always the same
        ones, so that a plot does not flicker.
        """
        chosen = _thinned(list(timeline.last(seconds, until)), seconds / points)
        if not chosen:
            return TelemetryWindow({name: i for i, name in enumerate(_PLAIN)}, np.zeros((0, len(_PLAIN))))
        if self._meter is None or self._meter.sim is not chosen[-1].sim:
            self._meter, self._known = MomentSampler(chosen[-1].sim), {}
        meter, known = self._meter, self._known
        self._known = {
            id(moment): known[id(moment)] if id(moment) in known else (moment, meter.measure(moment))
            for moment in chosen
        }
        return TelemetryWindow(meter.columns, np.array([row for _, row in self._known.values()]))


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
