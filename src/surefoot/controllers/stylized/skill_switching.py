"""From one stylized skill to another (da Silva 2008, §5.3): when the one is left, and how the other begins.

A skill is left where its reference is at the edge's phase, or with the next landing if nothing says where, and the
other begins at the edge's phase, or where its reference is most like the body. It goes on in the direction that the
old one went. What the body is off the new reference at that moment fades within a fifth of a second, so that nothing
that is followed jumps. All of this lies in the row's memory.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from scipy.ndimage import uniform_filter1d

from surefoot.controllers.stylized.foot_contacts import FREE
from surefoot.controllers.stylized.law import tracker_memory
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame
from surefoot.motions import quaternions as quat
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.reflexes.handover import ASKED, TAKEN

if TYPE_CHECKING:
    from surefoot.controllers.base import ControlledScene
    from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics
    from surefoot.skills.schema import Skill

_FADE = 0.2  # [s]
_STRIDE = 1.2  # [s] over which a direction is averaged
_RATES = 0.1  # [s] by which rates count beside angles where moments are compared
_SUPPORT = 0.25  # [rad] by which a foot counts that bears in one of them only
_UNSAID = -1.0
_PENDING, _HANDOVER = ((userdata.HEADER.names or ()).index(name) for name in ("pending", "handover"))


class SkillSwitching:
    """What one skill's intention does about switches."""

    def __init__(self, scene: ControlledScene, body: BodyDynamics, reference: Reference) -> None:
        """Of a skill's reference on a scene; `body` is where states are computed."""
        self._scene, self._body, self._reference = scene, body, reference
        legs = (scene.table.anatomy.left, scene.table.anatomy.right)
        self._feet = [int(scene.model.body(leg.foot).id) for leg in legs]
        self._actuators = len(scene.table.gains)
        self._planar = scene.table.root == "planar"
        self._slides = [0, 2] if self._planar else [0, 1, 2]
        self._ahead = np.zeros(len(reference.poses)) if self._planar else _ahead(reference)

    def ask(self, row: userdata.Row, tracker: Any, wanted: Skill) -> None:
        """Take note of a request; with an action graph, of its goal, to which the graph has the way."""
        header, graph = row.header[0], self._scene.graph
        tracker.leave, tracker.enter, tracker.goal = _UNSAID, _UNSAID, 0.0
        here, there = (None, None) if graph is None else (graph.node_of(row), graph.node_for(wanted))
        if graph is not None and here is not None and there is not None:
            graph.way(here, there)  # or it says that there is none
            tracker.goal, header.pending = 1.0 + graph.index(there), 0.0

    def leaves(self, row: userdata.Row, tracker: SimpleNamespace, before: float) -> bool:
        """Leave this skill if one waits and the time since `before` [s, of the reference] has come to where it is due.

        Returns:
            Whether it was left: then the one that has the row now has to think at this moment too.
        """
        graph, reference = self._scene.graph, self._reference
        pending, handover = (row.header.item()[at] for at in (_PENDING, _HANDOVER))
        if graph is None and not pending:
            return False
        header = row.header[0]
        if graph is not None and not pending and handover != ASKED:
            over = not reference.loops and tracker.clock >= reference.duration - reference.timestep
            hop = graph.hop(row, int(tracker.goal), over)
            if hop is None:
                tracker.goal = 0.0
            else:
                self._scene.fill(row, 1 - int(header.active), hop.skill)
                header.pending, tracker.leave, tracker.enter = 1.0, hop.leave, hop.enter
        if header.pending == 0.0 or not self._is_due(tracker, before):
            return False
        header.active, header.pending = 1.0 - header.active, 0.0
        tracker.heading += float(self._ahead[reference.index(tracker.clock)])
        tracker.began, tracker.arrives = 0.0, 1.0
        return True

    def _is_due(self, tracker: SimpleNamespace, before: float) -> bool:
        reference, clock, leave = self._reference, tracker.clock, tracker.leave
        if len(reference.poses) == 1:
            return True  # a pose that is held can be left at any time
        if not reference.loops and clock >= reference.duration - reference.timestep:
            return True
        if leave >= 0.0:
            left, gone, long = leave * reference.duration - before, clock - before, reference.duration
            return bool(left % long <= gone % long if reference.loops else 0.0 <= left <= gone)
        was, bears = (reference.bearing[reference.index(at)] != FREE for at in (before, clock))
        return bool((bears & ~was).any())

    def enters(
        self, row: userdata.Row, tracker: SimpleNamespace, qpos: np.ndarray, qvel: np.ndarray, time: float
    ) -> None:
        """Begin to follow the reference in a row that another skill, or another controller, has just left."""
        reference, taken = self._reference, row.header[0].handover == TAKEN
        if not tracker.arrives and not taken:
            return
        if taken:
            tracker.enter, tracker.heading = _UNSAID, 0.0 if self._planar else float(quat.yaw(qpos[None, 3:7])[0])
        said = tracker.enter
        clock = said * reference.duration if said >= 0.0 else self.nearest(row.touch, qpos, qvel)
        tracker.clock, tracker.arrives, tracker.faded, tracker.anchored = clock, 0.0, time, 0.0
        tracker.heading -= float(self._ahead[reference.index(clock)])
        moment, body = reference.at(clock, tracker.heading), self._body
        body.set(qpos, qvel)
        left = reference.leaning(clock)
        shift = np.array([left, 1.0 - left]) @ (body.data.xpos[self._feet] - moment.ankles)
        goal, off = qpos.copy(), np.zeros(body.model.nv)
        goal[: len(moment.pose)] = moment.pose
        goal[: len(self._slides)] += shift[self._slides]
        mujoco.mj_differentiatePos(body.model, off, 1.0, goal, qpos)
        tracked = python_impl(tracker_memory)(row.memory, self._actuators)
        tracked.off[: body.count] = off[: body.count]
        tracked.off_rates[: body.count] = qvel[: body.count] - moment.rates

    def nearest(self, touch: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> float:
        """When the reference is most like a body [s]: in its joints and their rates, and which of its feet bear.

        One that ends is not begun in its second half.
        """
        reference, root, n = self._reference, 3 if self._planar else 7, self._reference.poses.shape[1]
        rates = slice(root - (reference.poses.shape[1] - reference.rates.shape[1]), reference.rates.shape[1])
        off = ((reference.poses[:, root:] - qpos[root:n]) ** 2).sum(axis=1)
        off += _RATES**2 * ((reference.rates[:, rates] - qvel[rates]) ** 2).sum(axis=1)
        off += _SUPPORT**2 * ((reference.bearing != FREE) != (touch != 0.0)).sum(axis=1)
        last = len(off) if reference.loops else (len(off) + 1) // 2
        return float(off[:last].argmin()) * reference.timestep

    def fade(self, row: userdata.Row, moment: ReferenceFrame, tracker: SimpleNamespace, time: float) -> None:
        """Add to a moment what is left of what the body was off when it began to be followed."""
        s, n, body = (time - tracker.faded) / _FADE, len(moment.rates), self._body
        if tracker.faded == 0.0 or s >= 1.0:
            return
        tracked = python_impl(tracker_memory)(row.memory, self._actuators)
        off, slope = tracked.off[:n], _FADE * tracked.off_rates[:n]
        place = (2 * s**3 - 3 * s**2 + 1) * off + (s**3 - 2 * s**2 + s) * slope
        rate = ((6 * s**2 - 6 * s) * off + (3 * s**2 - 4 * s + 1) * slope) / _FADE
        change = ((12 * s - 6) * off + (6 * s - 4) * slope) / _FADE**2
        whole, by = body.model.qpos0.copy(), np.zeros(body.model.nv)
        whole[: len(moment.pose)], by[:n] = moment.pose, place
        mujoco.mj_integratePos(body.model, whole, by, 1.0)
        moment.pose[:] = whole[: len(moment.pose)]
        moment.rates[:] += rate
        moment.accelerations[:] += change


def _ahead(reference: Reference) -> np.ndarray:
    """(n,) the direction that the reference goes in at every moment [rad], without the sway of its strides."""
    yaw = np.unwrap(quat.yaw(reference.poses[:, 3:7]))
    if not reference.loops:
        return np.asarray(uniform_filter1d(yaw, max(1, round(_STRIDE / reference.timestep)), mode="nearest"))
    n = len(yaw)
    three = np.concatenate([yaw + k * reference.turn for k in (-1, 0, 1)])
    return np.asarray(uniform_filter1d(three, n)[n : 2 * n])
