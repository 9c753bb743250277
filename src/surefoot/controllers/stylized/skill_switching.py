"""From one stylized skill to another (da Silva 2008, §5.3): when the one is left, and how the other begins.

A skill is left when its reference reaches the edge's phase, or at the next landing if no phase is given. The other
begins at the edge's phase, or where its reference is most like the body, and goes on in the direction that the old one
went. The difference between the body and the new reference at that time fades within a fifth of a second, so that
nothing that is followed jumps. All of this is kept in the row's memory.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from scipy.ndimage import uniform_filter1d

from surefoot.controllers.base import ControlledScene
from surefoot.controllers.stylized.contact_patches import FREE
from surefoot.controllers.stylized.law import TrackerState, tracker_memory
from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics
from surefoot.controllers.stylized.reference import Reference, ReferenceFrame
from surefoot.motions import quaternions as quat
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.reflexes.handover import ASKED, TAKEN
from surefoot.skills.schema import Skill

_FADE = 0.2  # [s]
_STRIDE = 1.2  # [s] over which a direction is averaged
_RATES = 0.1  # [s] weight of rates against angles where frames are compared
_SUPPORT = 0.25  # [rad] weight of a foot that bears in one of them only
_UNSPECIFIED = -1.0  # phase
_PENDING, _HANDOVER = ((userdata.HEADER.names or ()).index(name) for name in ("pending", "handover"))


class SkillSwitching:
    """How the tracker of one skill is left and entered."""

    def __init__(self, scene: ControlledScene, body: BodyDynamics, reference: Reference) -> None:
        """Switch from and to a skill's reference on a scene; `body` computes states."""
        self._scene, self._body, self._reference = scene, body, reference
        self._ahead = np.zeros(len(reference.poses)) if body.planar else _directions(reference)

    def request(self, row: userdata.Row, state: Any, wanted: Skill) -> None:
        """Note a requested skill in a row's state record; with an action graph, note the node to go to."""
        header, graph = row.header[0], self._scene.graph
        state.leave, state.enter, state.goal = _UNSPECIFIED, _UNSPECIFIED, 0.0
        if graph is None:
            return
        here, there = graph.node_of_row(row), graph.node_of_skill(wanted)
        if here is not None and there is not None:
            graph.shortest_path(here, there)  # raises if there is none
            state.goal, header.pending = 1.0 + graph.index(there), 0.0

    def leave_if_due(self, row: userdata.Row, state: TrackerState, before: float) -> bool:
        """Leave this skill if another one waits and the reference has just reached the time to leave.

        Args:
            row: that runs the skill.
            state: of the row.
            before: the reference's time at the last look [s].

        Returns:
            Whether it was left: then the tracker of the other skill has to plan at this time too.
        """
        graph, reference = self._scene.graph, self._reference
        pending, handover = (row.header.item()[at] for at in (_PENDING, _HANDOVER))
        if graph is None and not pending:
            return False
        header = row.header[0]
        if graph is not None and not pending and handover != ASKED:
            switch = graph.next_switch(row, int(state.goal), self._is_over(state.clock))
            if switch is None:
                state.goal = 0.0
            else:
                self._scene.fill(row, 1 - int(header.active), switch.skill)
                header.pending, state.leave, state.enter = 1.0, switch.leave, switch.enter
        if header.pending == 0.0 or not self._is_due(state, before):
            return False
        header.active, header.pending = 1.0 - header.active, 0.0
        state.heading += float(self._ahead[reference.index(state.clock)])
        state.began, state.arrives = 0.0, 1.0
        return True

    def _is_over(self, clock: float) -> bool:
        return not self._reference.loops and clock >= self._reference.duration - self._reference.timestep

    def _is_due(self, state: TrackerState, before: float) -> bool:
        reference, clock = self._reference, state.clock
        if len(reference.poses) == 1 or self._is_over(clock):
            return True  # a pose that is held can be left at any time
        if state.leave >= 0.0:
            left, gone, long = state.leave * reference.duration - before, clock - before, reference.duration
            return bool(left % long <= gone % long if reference.loops else 0.0 <= left <= gone)
        was, bears = (reference.bearing[reference.index(at)] != FREE for at in (before, clock))
        return bool((bears & ~was).any())

    def enter(self, row: userdata.Row, state: TrackerState, qpos: np.ndarray, qvel: np.ndarray, time: float) -> None:
        """Begin to follow the reference in a row that another skill, or another controller, has just left."""
        reference, body, taken = self._reference, self._body, row.header[0].handover == TAKEN
        if not state.arrives and not taken:
            return
        if taken:
            state.enter, state.heading = _UNSPECIFIED, 0.0 if body.planar else float(quat.yaw(qpos[None, 3:7])[0])
        given = state.enter
        clock = given * reference.duration if given >= 0.0 else self.most_similar_time(row.touch, qpos, qvel)
        state.clock, state.arrives, state.faded, state.anchored = clock, 0.0, time, 0.0
        state.heading -= float(self._ahead[reference.index(clock)])
        frame = reference.at(clock, state.heading)
        body.set(qpos, qvel)
        left = reference.left_support_share(clock)
        shift = np.array([left, 1.0 - left]) @ (body.xpos[body.legs.feet] - frame.ankles)
        goal, off = qpos.copy(), np.zeros(body.model.nv)
        goal[: len(frame.pose)] = frame.pose
        goal[: len(body.root_axes)] += shift[body.root_axes]
        mujoco.mj_differentiatePos(body.model, off, 1.0, goal, qpos)
        tracked = python_impl(tracker_memory)(row.memory, len(body.dofs))
        tracked.off[: body.count] = off[: body.count]
        tracked.off_rates[: body.count] = qvel[: body.count] - frame.rates

    def most_similar_time(self, touch: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> float:
        """When the reference is most like a body [s]: in its joints, their rates, and which feet bear.

        A reference that ends is not begun in its second half.
        """
        reference, root, n = self._reference, 3 if self._body.planar else 7, self._reference.poses.shape[1]
        rates = slice(root - (n - reference.rates.shape[1]), reference.rates.shape[1])
        off = ((reference.poses[:, root:] - qpos[root:n]) ** 2).sum(axis=1)
        off += _RATES**2 * ((reference.rates[:, rates] - qvel[rates]) ** 2).sum(axis=1)
        off += _SUPPORT**2 * ((reference.bearing != FREE) != (touch != 0.0)).sum(axis=1)
        last = len(off) if reference.loops else (len(off) + 1) // 2
        return float(off[:last].argmin()) * reference.timestep

    def add_fading_offset(self, row: userdata.Row, frame: ReferenceFrame, state: TrackerState, time: float) -> None:
        """Add to a frame what is left of the body's difference from the reference when it began to follow it."""
        s, n, body = (time - state.faded) / _FADE, len(frame.rates), self._body
        if state.faded == 0.0 or s >= 1.0:
            return
        tracked = python_impl(tracker_memory)(row.memory, len(body.dofs))
        off, slope = tracked.off[:n], _FADE * tracked.off_rates[:n]
        place = (2 * s**3 - 3 * s**2 + 1) * off + (s**3 - 2 * s**2 + s) * slope
        rate = ((6 * s**2 - 6 * s) * off + (3 * s**2 - 4 * s + 1) * slope) / _FADE
        change = ((12 * s - 6) * off + (6 * s - 4) * slope) / _FADE**2
        whole, by = body.model.qpos0.copy(), np.zeros(body.model.nv)
        whole[: len(frame.pose)], by[:n] = frame.pose, place
        mujoco.mj_integratePos(body.model, whole, by, 1.0)
        frame.pose[:] = whole[: len(frame.pose)]
        frame.rates[:] += rate
        frame.accelerations[:] += change


def _directions(reference: Reference) -> np.ndarray:
    """(n,) direction that the reference goes in at every frame [rad], without the sway of its strides."""
    yaw = np.unwrap(quat.yaw(reference.poses[:, 3:7]))
    if not reference.loops:
        return np.asarray(uniform_filter1d(yaw, max(1, round(_STRIDE / reference.timestep)), mode="nearest"))
    n = len(yaw)
    three = np.concatenate([yaw + k * reference.turn for k in (-1, 0, 1)])
    return np.asarray(uniform_filter1d(three, n)[n : 2 * n])
