"""Where a swing foot lands: the reference's place, moved by what the balance is off at the landing.

The centre of mass on a leg falls as an inverted pendulum does: what is off of c + ċ/ω grows by e^{ωt} (Pratt and
others 2006, the capture point). If the foot lands by as much farther, the next step begins as the reference's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.stylized.legs import rotation_vector
from surefoot.stylized.reference import Moment, Swing

if TYPE_CHECKING:
    from surefoot.stylized.body_dynamics import BodyDynamics
    from surefoot.stylized.three_link_state import Points

_MOST = 0.3  # [m]
_READY = 0.7  # of a swing, at which the foot is where it will land
_STEPS = np.array([0.5, 10.0])  # its largest step [rad] and change of rates [rad/s]
_GROWTH = 0.5  # of what falling freely would make of it until the landing: feet that bear work against it
_DOWN, _DEEPEST = 0.6, 0.2  # [m/s] and [m] at which a foot looks for ground that is lower than it should be
_LIFT = 0.015  # [m] that a foot is raised on its way
_AHEAD = 0.5  # [s] at most that is looked ahead


class Stepping:
    """Moves the swing leg of a moment."""

    def __init__(self, body: BodyDynamics, gain: float, leading: float, softness: float) -> None:
        """Of one character; a gain of 1 makes up for all that is off, and 0 leads feet only by their joints."""
        self._body, self._gain, self._leading, self._softness = body, gain, leading, softness
        model, table = body.model, body.table
        self._feet = [int(model.body(leg.foot).id) for leg in (table.anatomy.left, table.anatomy.right)]
        self._rows = [0, 2, 4] if body.planar else list(range(6))
        self._dofs, self._places = [], []
        for side in (table.anatomy.left, table.anatomy.right):
            names = [j for j in side.joints if any(part in j for part in ("hip", "knee", "ankle"))]
            self._dofs.append(np.array([int(model.joint(name).dofadr[0]) for name in names]))
            self._places.append(np.array([int(model.joint(name).qposadr[0]) for name in names]))

    def adapt(
        self, qpos: np.ndarray, moment: Moment, swing: Swing, clock: float, shift: np.ndarray, points: Points,
        mass: np.ndarray,
    ) -> None:  # fmt: skip
        """Change the moment's swing leg: the more the later it swings, its foot is led in the world.

        Args:
            qpos: (nq,) of the body.
            moment: the reference, whose root has been set down by `shift`.
            swing: which foot lands, and when.
            clock: the reference's [s].
            shift: (3,) from the reference's places to the world's [m].
            points: of the three links, now, seen from the stance ankle.
            mass: (3,) of the links [kg].
        """
        share, data = mass / mass.sum(), self._body.data
        stance, com, velocity = data.xpos[self._feet[1 - swing.foot]], share @ points.place, share @ points.velocity
        rate = float(np.sqrt(9.81 / max(com[2], 0.3)))
        off = stance + com - moment.com - shift + (velocity - moment.com_velocity) / rate
        left = min(max(swing.strikes - clock, 0.0), _AHEAD)
        ready = min(max((clock - swing.lifted) / (_READY * (swing.strikes - swing.lifted)), 0.0), 1.0)
        ready *= ready * (3.0 - 2.0 * ready)
        move = self._gain * np.exp(_GROWTH * rate * left) * ready * off
        move[2] = 0.0
        move *= min(1.0, _MOST / max(float(np.linalg.norm(move)), 1e-9))
        through = (clock - swing.lifted) / (swing.strikes - swing.lifted)
        move[2] = _LIFT * 4.0 * through * (1.0 - through)
        self._lead(qpos, moment, swing.foot, moment.ankles[swing.foot] + shift + move, self._leading * ready)

    def reach_down(self, qpos: np.ndarray, moment: Moment, foot: int, shift: np.ndarray, late: float) -> None:
        """Let a foot that should have landed `late` [s] ago look for the ground."""
        down = np.array([0.0, 0.0, min(_DOWN * late, _DEEPEST)])
        self._lead(qpos, moment, foot, moment.ankles[foot] + shift - down, 1.0)

    def _lead(self, qpos: np.ndarray, moment: Moment, side: int, place: np.ndarray, share: float) -> None:
        """Change a leg so that its ankle comes to a place (3,) of the world, from where the leg is now."""
        foot, places = self._feet[side], self._places[side]
        here = self._body.data.xpos[foot]
        turn = rotation_vector(moment.axes[side] @ self._body.data.xmat[foot].reshape(3, 3).T)
        six, dofs = self._body.jacobian(foot, here)[self._rows], self._dofs[side]
        qvel = self._body.data.qvel[: self._body.count]
        goals = np.column_stack([np.concatenate([place - here, turn])[self._rows], -six @ qvel])
        goals[:, 1] += moment.twists[side][self._rows]
        leg = six[:, dofs]
        found = leg.T @ np.linalg.solve(leg @ leg.T + self._softness * np.eye(len(leg)), goals)
        found *= np.minimum(1.0, _STEPS / np.maximum(np.abs(found).max(axis=0), 1e-9))
        moment.pose[places] += share * (qpos[places] + found[:, 0] - moment.pose[places])
        moment.rates[dofs] += share * (qvel[dofs] + found[:, 1] - moment.rates[dofs])
