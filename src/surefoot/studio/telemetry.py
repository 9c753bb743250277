"""Named measurements of the last seconds, for plots. They are read from the timeline, so they go back with it.

`JointTargets` finds target angles and torque limits where the parameters of the running skill give them: for pose
graphs, and for curves of arms. Other skills have no targets, and the limits of their body.
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
from surefoot.controllers.simbicon.parameters import SimbiconParameters
from surefoot.engine.commands import running_part
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.native.kernels import python_impl
from surefoot.native.userdata import Row, view
from surefoot.native.vectors import from_yaw_roll_pitch
from surefoot.reflexes import pose_graph
from surefoot.skills.schema import Skill
from surefoot.studio.session import Moment, Timeline
from surefoot.studio.style_parameters import evaluate_array

_DISPLACED = pose_graph.MACHINE.itemsize // 8  # offset of the targets' displacements in the memory of a pose graph


class JointTargets:
    """Target angles and torque limits of one body's actuators, read from one row of memory."""

    def __init__(self, scene: Scene, row: Row, data: mujoco.MjData) -> None:
        """Read from a row's memory and from the positions of its bodies (`data`, after `mj_kinematics`)."""
        anatomy, hinges = scene.table.anatomy, scene.table.hinges
        self._scene, self._row, self._data, self._table = scene, row, data, scene.table
        self._pelvis = scene.model.body(anatomy.pelvis).id
        self._places = {name: i for i, name in enumerate(scene.table.gains)}
        self._by_role = [np.array([self._places[j] for j in anatomy.joints(swing)], int) for swing in (0, 1)]
        planes = [[hinges[j].plane if j in hinges else SAGITTAL for j in anatomy.joints(swing)] for swing in (0, 1)]
        self._forward = np.array(planes) == SAGITTAL  # (2, roles)
        axes = [[hinges[j].axis if j in hinges else (0.0, 0.0, 0.0) for j in anatomy.joints(s)] for s in (0, 1)]
        self._outward = np.array([[1.0 if x + z >= 0.0 else -1.0 for x, _, z in side] for side in axes])

    def read(self, skill: Skill) -> tuple[np.ndarray, np.ndarray]:
        """(actuators,) present targets [rad], NaN where there is none, and (actuators,) limits [N·m]."""
        targets, limits = np.full(len(self._places), np.nan), self._limits.copy()
        skill = running_part(self._scene, self._row, skill)
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
        """Limits of all actuators; the hinges of a link share the limit of the weakest."""
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
        elif spatial:  # a thigh's target is a world orientation
            turn = rotation_matrix(report.heading + sign[2] * wanted[2], sign[1] * wanted[1], wanted[0])
            wanted[:hips] = hinge_angles(self._data.xmat[self._pelvis].reshape(3, 3).T @ turn, sign[1])
        else:
            xmat = self._data.xmat[self._pelvis]
            wanted[0] -= math.atan2(xmat[6], xmat[0])
        wanted[side : side + hips] = np.nan  # the stance hip has no target: it holds the torso
        targets[places] = wanted
        limits[places] = graph.gains["limit"]

    @functools.cached_property
    def _styles(self) -> list[Any]:
        return [python_impl(style.style_of)(slot) for slot in self._row.slots]

    def _of_arms(self, targets: np.ndarray) -> None:
        """A style: its curves give shoulders, elbows and wrists; other joints depend on more than a curve."""
        report, curves = self._row.report[0], self._styles[int(self._row.header[0].active)].curves
        swing = int(report.swing)
        phase = 2.0 * float(report.phase) - (1.0 if swing == 0 else 0.0)

        def value(curve: int) -> float:
            return evaluate_array(curves[curve], phase)

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


def rotation_matrix(yaw: float, roll: float, pitch: float) -> np.ndarray:
    """(3, 3) the rotation by a flexion, then a roll, then a yaw [rad]."""
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, np.array(python_impl(from_yaw_roll_pitch)(yaw, roll, pitch)))
    return flat.reshape(3, 3)


def hinge_angles(turn: np.ndarray, outward: float) -> tuple[float, float, float]:
    """Angles [rad] of three hinges (flexion, roll, yaw) that make a rotation (3, 3); `outward` is −1 on the right."""
    flexion = -math.atan2(turn[0, 2], turn[2, 2])
    roll = -math.asin(min(max(turn[1, 2], -1.0), 1.0))
    return flexion, outward * roll, outward * math.atan2(turn[1, 0], turn[1, 1])


WINDOW_SECONDS = 5.0  # [s] that a window shows
WINDOW_POINTS = 150  # of a window, at most
_REPORTED = ("distance", "velocity", "lateral_distance", "lateral_velocity", "swing")
_PLAIN = ("time", "height", "speed", "left_force", "right_force", "forward_lean", "left_lean", *_REPORTED)


@dataclass(frozen=True)
class TelemetryWindow:
    """A table of measurements: one row for each moment, one column for each name.

    `time` is the simulation's [s]; `height` of the COM above the ground [m], `speed` along its heading [m/s]; feet's
    vertical forces [N]; the torso's leans [°]; d and v of the balance [m], [m/s]; which foot swings; and for every
    actuator `angle:NAME` and `target:NAME` [°], `torque:NAME` and `limit:NAME` [N·m]. Without a target it is NaN.
    """

    columns: dict[str, int]
    table: np.ndarray

    def __len__(self) -> int:
        """Number of moments."""
        return len(self.table)

    def __getitem__(self, name: str) -> np.ndarray:
        """(n,) one measurement."""
        return np.asarray(self.table[:, self.columns[name]])


class MomentSampler:
    """Measures moments of one simulation without changing it."""

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
        self._upward = self._data.xmat[self._torso].reshape(3, 3).T @ (0.0, 0.0, 1.0)  # world z, in its frame
        self._row: Row
        self._targets: JointTargets | None = None

    def measure(self, moment: Moment) -> np.ndarray:
        """(columns,) measurements of a moment."""
        model, data = self.sim.model, self._data
        snapshot = moment.load_into(data)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_subtreeVel(model, data)
        if self._targets is None:  # now the data's own memory is formatted as a row
            self._row = view(data.userdata)
            self._targets = JointTargets(self.sim.scene, self._row, data)
        row, report = self._row, self._row.report[0]
        targets, limits = self._targets.read(snapshot.skill)
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
    """Measurements of the moments of a timeline; what the timeline drops is dropped here too."""

    def __init__(self) -> None:
        """Begin empty."""
        self._sampler: MomentSampler | None = None
        self._known: dict[int, tuple[Moment, np.ndarray]] = {}  # by identity; holding the moment keeps its id unique

    def window(
        self, timeline: Timeline, until: Moment | None = None, seconds: float = WINDOW_SECONDS,
        points: int = WINDOW_POINTS,
    ) -> TelemetryWindow:  # fmt: skip
        """Measurements of one simulation in the seconds up to a moment, by default the last.

        Of many moments, the first in each of `points` equal intervals of time is taken: always the same ones, so that
        a plot does not flicker.
        """
        chosen = _thinned(list(timeline.last(seconds, until)), seconds / points)
        if not chosen:
            return TelemetryWindow({name: i for i, name in enumerate(_PLAIN)}, np.zeros((0, len(_PLAIN))))
        if self._sampler is None or self._sampler.sim is not chosen[-1].sim:
            self._sampler, self._known = MomentSampler(chosen[-1].sim), {}
        sampler, known = self._sampler, self._known
        self._known = {
            id(moment): known[id(moment)] if id(moment) in known else (moment, sampler.measure(moment))
            for moment in chosen
        }
        return TelemetryWindow(sampler.columns, np.array([row for _, row in self._known.values()]))


def _thinned(moments: list[Moment], every: float) -> list[Moment]:
    """The first moment of each interval of `every` seconds, and the last of all."""
    found: list[Moment] = []
    before = -1
    for moment in moments[:-1]:
        here = math.floor(moment.clock / every)
        if here != before:
            found.append(moment)
            before = here
    return found + moments[-1:]
