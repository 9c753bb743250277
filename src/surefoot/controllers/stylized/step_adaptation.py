"""When a step comes: sooner where the body is already where the reference's will be.

In single support what is off of c + ċ/ω, seen from the stance foot along the step, grows by e^{ωt}. A body that is
ahead by a share of it is ahead in time by that share of 1/ω: the reference goes on so much faster until the strike.
It never waits: a body that has not got there yet does not get there by waiting.

Where a swing foot lands: the reference's place, moved by what the balance is off at the landing.

The centre of mass on a leg falls as an inverted pendulum does: what is off of c + ċ/ω grows by e^{ωt} (Pratt and
others 2006, the capture point). If the foot lands by as much farther, the next step begins as the reference's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.controllers.stylized.multibody_dynamics import Points, compiled
from surefoot.controllers.stylized.reference import ReferenceFrame, Swing

if TYPE_CHECKING:
    from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, Points

_FASTEST = 1.0  # how much faster than time
_NEAREST = 0.25  # [m] less than which a place of the reference's is not taken for
_SHORTEST = 0.02  # [s] until the strike
_STEP = 0.1  # [m] a step that leads somewhere


def speed_up_step(
    moment: ReferenceFrame,
    swing: Swing,
    clock: float,
    stride: np.ndarray,
    points: Points,
    mass: np.ndarray,
    gain: float,
) -> float:
    """Make a moment faster that is in a swing, in place, and say by how much [1].

    Args:
        moment: the reference.
        swing: that it is in.
        clock: its time [s].
        stride: (3,) from the stance ankle to where the other lands [m].
        points: of the three links, now, seen from the stance ankle.
        mass: (3,) of the links [kg].
        gain: how much of the time that the body is ahead is made up for.
    """
    far = math.hypot(stride[0], stride[1])
    if gain == 0.0 or far < _STEP or not math.isfinite(swing.strikes):
        return 0.0
    way, share = stride[:2] / far, mass / mass.sum()
    com, velocity = share @ points.place, share @ points.velocity
    rate = math.sqrt(9.81 / max(float(com[2]), 0.3))
    from_stance = moment.com - moment.ankles[1 - swing.foot]
    ours, theirs = (
        float(way @ (place[:2] + speed[:2] / rate))
        for place, speed in ((com, velocity), (from_stance, moment.com_velocity))
    )
    sooner = gain * (ours - theirs) / (rate * max(theirs, _NEAREST))
    left = max(swing.strikes - clock, _SHORTEST)
    pace = min(max(left / max(left - sooner, _SHORTEST) - 1.0, 0.0), _FASTEST)
    moment.rates[:] *= 1.0 + pace
    moment.twists[:] *= 1.0 + pace
    moment.accelerations[:] *= (1.0 + pace) ** 2
    return pace


_MOST = 0.3  # [m]
_READY = 0.7  # of a swing, at which the foot is where it will land
_STEPS = (0.5, 10.0)  # its largest step [rad] and change of rates [rad/s]
_GROWTH = 0.5  # of what falling freely would make of it until the landing: feet that bear work against it
_DOWN, _DEEPEST = 0.6, 0.2  # [m/s] and [m] at which a foot looks for ground that is lower than it should be
_LIFT = 0.015  # [m] that a foot is raised on its way
_AHEAD = 0.5  # [s] at most that is looked ahead


class StepAdaptation:
    """Moves the swing leg of a moment."""

    def __init__(self, body: BodyDynamics, gain: float, leading: float, softness: float) -> None:
        """Of one character; a gain of 1 makes up for all that is off, and 0 leads feet only by their joints."""
        self._body, self._gain, self._leading, self._softness = body, gain, leading, softness
        model, table = body.model, body.table
        self._feet = [int(model.body(leg.foot).id) for leg in (table.anatomy.left, table.anatomy.right)]
        self._rows = np.array([0, 2, 4] if body.planar else range(6))
        self._dofs, self._places = [], []
        for side in (table.anatomy.left, table.anatomy.right):
            names = [j for j in side.joints if any(part in j for part in ("hip", "knee", "ankle"))]
            self._dofs.append(np.array([int(model.joint(name).dofadr[0]) for name in names]))
            self._places.append(np.array([int(model.joint(name).qposadr[0]) for name in names]))

    def adapt(
        self, qpos: np.ndarray, moment: ReferenceFrame, swing: Swing, clock: float, shift: np.ndarray, points: Points,
        mass: np.ndarray, elsewhere: Callable[[np.ndarray], np.ndarray] | None = None,
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
            elsewhere: by how much farther (2,) a foot lands that would land so far (3,) from the reference's place.
        """
        place = moment.ankles[swing.foot] + shift
        stance = self._body.xpos[self._feet[1 - swing.foot]] - shift
        ready = adapt_landing(
            place, *points, mass, stance, moment.com, moment.com_velocity, clock, swing.lifted, swing.strikes,
            self._gain,
        )  # fmt: skip
        if elsewhere is not None:
            place[:2] += ready * elsewhere(place - moment.ankles[swing.foot] - shift)
        self._lead(qpos, moment, swing.foot, place, self._leading * ready)

    def reach_down(self, qpos: np.ndarray, moment: ReferenceFrame, foot: int, shift: np.ndarray, late: float) -> None:
        """Let a foot that should have landed `late` [s] ago look for the ground."""
        down = np.array([0.0, 0.0, min(_DOWN * late, _DEEPEST)])
        self._lead(qpos, moment, foot, moment.ankles[foot] + shift - down, 1.0)

    def _lead(self, qpos: np.ndarray, moment: ReferenceFrame, side: int, place: np.ndarray, share: float) -> None:
        """Change a leg so that its ankle comes to a place (3,) of the world, from where the leg is now."""
        body, foot = self._body, self._feet[side]
        move_leg_toward(
            moment.pose, moment.rates, qpos, body.velocity, self._places[side], self._dofs[side], body.jacobian(foot),
            self._rows, place - body.xpos[foot], body.xmat[foot], moment.axes[side], moment.twists[side],
            self._softness, share,
        )  # fmt: skip


@compiled
def adapt_landing(
    goal: Any, place: Any, velocity: Any, mass: Any, ankle: Any, com: Any, com_velocity: Any, clock: float,
    lifted: float, strikes: float, gain: float,
) -> float:  # fmt: skip
    """Move where a swing foot goes, in place, and say how much of that counts yet.

    Args:
        goal: (3,) of the foot in the world [m].
        place: (3, 3) of the links' centres of mass, seen from the stance ankle [m].
        velocity: (3, 3) of them [m/s].
        mass: (3,) of them [kg].
        ankle: (3,) of the stance foot, where the reference is [m].
        com: (3,) the reference's [m].
        com_velocity: (3,) the reference's [m/s].
        clock: the reference's [s].
        lifted: when the foot did [s].
        strikes: when it will [s].
        gain: how much of what is off is made up for.
    """
    here, going = mass @ place / mass.sum(), mass @ velocity / mass.sum()
    rate = math.sqrt(9.81 / max(here[2], 0.3))
    off = ankle + here - com + (going - com_velocity) / rate
    left = min(max(strikes - clock, 0.0), _AHEAD)
    through = (clock - lifted) / (strikes - lifted)
    ready = min(max(through / _READY, 0.0), 1.0)
    ready *= ready * (3.0 - 2.0 * ready)
    move = gain * math.exp(_GROWTH * rate * left) * ready * off[:2]
    goal[:2] += move * min(1.0, _MOST / max(math.hypot(move[0], move[1]), 1e-9))
    goal[2] += _LIFT * 4.0 * through * (1.0 - through)
    return ready


@compiled
def leg_ik_step(
    six: Any, qvel: Any, rows: Any, dofs: Any, way: Any, axes: Any, wanted: Any, twist: Any, softness: float
) -> Any:
    """(leg, 2) changes of a leg's angles [rad] and rates [rad/s] that bring its foot to a place and a motion.

    Args:
        six: (6, nv) Jacobian of the foot.
        qvel: (nv,) of the body.
        rows: which of the six count.
        dofs: of the leg.
        way: (3,) to the place [m].
        axes: (3, 3) of the foot.
        wanted: (3, 3) the same, as they shall be.
        twist: (6,) of the foot, as it shall be [m/s, rad/s].
        softness: damping of the inverse.
    """
    n, turn, now = len(rows), rotation_vector(wanted @ axes.T), six @ qvel
    goals, leg = np.empty((n, 2)), np.empty((n, len(dofs)))
    for i in range(n):
        row = rows[i]
        goals[i, 0] = way[row] if row < 3 else turn[row - 3]
        goals[i, 1] = twist[row] - now[row]
        for j in range(len(dofs)):
            leg[i, j] = six[row, dofs[j]]
    square = leg @ leg.T
    for i in range(n):
        square[i, i] += softness
    solve_spd(square, goals)
    found = leg.T @ goals
    for k in range(2):
        found[:, k] *= min(1.0, _STEPS[k] / max(np.abs(found[:, k]).max(), 1e-9))
    return found


@compiled
def solve_spd(square: Any, columns: Any) -> None:
    """Put the solution of a symmetric positive system (n, n) into the place of its columns (n, m)."""
    n, m = columns.shape
    for k in range(n):
        for i in range(k + 1, n):
            part = square[i, k] / square[k, k]
            for j in range(k + 1, n):
                square[i, j] -= part * square[k, j]
            for c in range(m):
                columns[i, c] -= part * columns[k, c]
    for k in range(n - 1, -1, -1):
        for c in range(m):
            for j in range(k + 1, n):
                columns[k, c] -= square[k, j] * columns[j, c]
            columns[k, c] /= square[k, k]


@compiled
def rotation_vector(matrix: Any) -> Any:
    """(3,) of a rotation (3, 3) of less than half a turn [rad]."""
    out = np.empty(3)
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        out[k] = 0.5 * (matrix[b, a] - matrix[a, b])
    sine, cosine = math.sqrt(out @ out), 0.5 * (matrix[0, 0] + matrix[1, 1] + matrix[2, 2] - 1.0)
    if sine > 1e-12:
        out *= math.atan2(sine, cosine) / sine
    return out


@compiled
def move_leg_toward(
    pose: Any, rates: Any, qpos: Any, qvel: Any, places: Any, dofs: Any, six: Any, rows: Any, way: Any, axes: Any,
    wanted: Any, twist: Any, softness: float, share: float,
) -> None:  # fmt: skip
    """Move a leg of a pose, with its rates, by a share to where `steps` lead from now."""
    change = leg_ik_step(six, qvel, rows, dofs, way, axes, wanted, twist, softness)
    for i in range(len(dofs)):
        pose[places[i]] += share * (qpos[places[i]] + change[i, 0] - pose[places[i]])
        rates[dofs[i]] += share * (qvel[dofs[i]] + change[i, 1] - rates[dofs[i]])
