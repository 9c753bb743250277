"""When and where a swing foot lands: adapted by how far the balance is off at the landing.

The center of mass on a leg falls as an inverted pendulum does: an error of c + ċ/ω grows by e^{ωt} (Pratt and others
2006, the capture point). If the foot lands by as much farther, the next step begins as the reference's
(`StepAdaptation`). Seen along the step, a body that is ahead by a share of c + ċ/ω is ahead in time by that share of
1/ω: the reference runs so much faster until the strike (`speed_up_step`). It never waits: a body that has not got there
yet does not get there by waiting.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy import ndarray

from surefoot.controllers.stylized.multibody_dynamics import BodyDynamics, LinkComs, compiled
from surefoot.controllers.stylized.reference import ReferenceFrame, Swing
from surefoot.reflexes.pendulum import GRAVITY

_LOWEST = 0.3  # [m] height of a center of mass, at least
_FASTEST = 1.0  # by how much the reference may run faster than time
_NEAREST = 0.25  # [m] capture point of the reference, at least
_SHORTEST = 0.02  # [s] until the strike, at least
_STEP = 0.1  # [m] length of a step that leads somewhere
_MOST = 0.3  # [m] by which a landing is moved at most
_READY = 0.7  # share of a swing at which the foot is where it will land
_STEPS = (0.5, 10.0)  # largest changes of a leg's angles [rad] and rates [rad/s]
_GROWTH = 0.5  # of the growth that falling freely would give: feet that bear work against it
_DOWN, _DEEPEST = 0.6, 0.2  # [m/s] and [m] at which a late foot reaches for ground that is lower than expected
_AHEAD = 0.5  # [s] looked ahead at most


def speed_up_step(
    frame: ReferenceFrame, swing: Swing, clock: float, stride: ndarray, coms: LinkComs, mass: ndarray, gain: float
) -> float:
    """Make a frame of a swing faster, in place.

    Args:
        frame: the reference.
        swing: that it is in.
        clock: its time [s].
        stride: (3,) from the stance ankle to where the other lands [m].
        coms: of the three links, now, seen from the stance ankle.
        mass: (3,) of the links [kg].
        gain: how much of the time that the body is ahead is made up for.

    Returns:
        By how much it is faster than time [1].
    """
    far = math.hypot(stride[0], stride[1])
    if gain == 0.0 or far < _STEP or not math.isfinite(swing.strikes):
        return 0.0
    way, share = stride[:2] / far, mass / mass.sum()
    com, velocity = share @ coms.place, share @ coms.velocity
    rate = math.sqrt(GRAVITY / max(float(com[2]), _LOWEST))
    from_stance = frame.com - frame.ankles[1 - swing.foot]
    ours, theirs = (
        float(way @ (place[:2] + speed[:2] / rate))
        for place, speed in ((com, velocity), (from_stance, frame.com_velocity))
    )
    sooner = gain * (ours - theirs) / (rate * max(theirs, _NEAREST))
    left = max(swing.strikes - clock, _SHORTEST)
    pace = min(max(left / max(left - sooner, _SHORTEST) - 1.0, 0.0), _FASTEST)
    frame.rates[:] *= 1.0 + pace
    frame.twists[:] *= 1.0 + pace
    frame.accelerations[:] *= (1.0 + pace) ** 2
    return pace


class StepAdaptation:
    """Moves the swing leg of a frame."""

    def __init__(self, body: BodyDynamics, gain: float, leading: float, softness: float, lift: float) -> None:
        """Adapt one character's steps by `stepping`, `leading`, `softness` and `lift` of a skill's parameters."""
        self._body, self._gain, self._leading, self._softness, self._lift = body, gain, leading, softness, lift

    def adapt_swing_foot(
        self, qpos: ndarray, frame: ReferenceFrame, swing: Swing, clock: float, shift: ndarray, coms: LinkComs,
        mass: ndarray, elsewhere: Callable[[ndarray], ndarray] | None = None,
    ) -> None:  # fmt: skip
        """Change the swing leg of a frame: the later in the swing, the more its foot is led in the world.

        The frame's root has been moved by `shift` (3,), from the reference's places to the world's [m]. `elsewhere`
        says how much farther (2,) a foot should land that would land so far (3,) from the reference's place. The other
        arguments are those of `speed_up_step`.
        """
        place = frame.ankles[swing.foot] + shift
        stance = self._body.xpos[self._body.legs.feet[1 - swing.foot]] - shift
        ready = adapt_landing(
            place, *coms, mass, stance, frame.com, frame.com_velocity, clock, swing.lifted, swing.strikes, self._gain,
            self._lift,
        )  # fmt: skip
        if elsewhere is not None:
            place[:2] += ready * elsewhere(place - frame.ankles[swing.foot] - shift)
        self._lead(qpos, frame, swing.foot, place, self._leading * ready)

    def reach_down(self, qpos: ndarray, frame: ReferenceFrame, foot: int, shift: ndarray, late: float) -> None:
        """Let a foot that should have landed `late` [s] ago reach for the ground."""
        down = np.array([0.0, 0.0, min(_DOWN * late, _DEEPEST)])
        self._lead(qpos, frame, foot, frame.ankles[foot] + shift - down, 1.0)

    def _lead(self, qpos: ndarray, frame: ReferenceFrame, side: int, place: ndarray, share: float) -> None:
        """Change a leg so that its ankle comes to a place (3,) of the world, from where the leg is now."""
        body, legs = self._body, self._body.legs
        foot = legs.feet[side]
        move_leg_toward(
            frame.pose, frame.rates, qpos, body.velocity, legs.qpos[side], legs.dofs[side], body.jacobian(foot),
            legs.twist_rows, place - body.xpos[foot], body.xmat[foot], frame.axes[side], frame.twists[side],
            self._softness, share,
        )  # fmt: skip


@compiled
def adapt_landing(
    goal: ndarray, place: ndarray, velocity: ndarray, mass: ndarray, ankle: ndarray, com: ndarray,
    com_velocity: ndarray, clock: float, lifted: float, strikes: float, gain: float, lift: float,
) -> float:  # fmt: skip
    """Move the goal (3,) of a swing foot in the world [m], in place; returns how much of that counts yet.

    `place`, `velocity` (3, 3) and `mass` (3,) are those of the links' centers of mass, seen from the stance ankle;
    `ankle`, `com` and `com_velocity` (3,) are the stance ankle and the center of mass as the reference has them. The
    foot `lifted` and `strikes` at times of the reference's `clock` [s]. `gain` is the share of the error made up for,
    `lift` by how much the foot is raised on its way [m].
    """
    here, going = mass @ place / mass.sum(), mass @ velocity / mass.sum()
    rate = math.sqrt(GRAVITY / max(here[2], _LOWEST))
    off = ankle + here - com + (going - com_velocity) / rate
    left = min(max(strikes - clock, 0.0), _AHEAD)
    through = (clock - lifted) / (strikes - lifted)
    ready = min(max(through / _READY, 0.0), 1.0)
    ready *= ready * (3.0 - 2.0 * ready)
    move = gain * math.exp(_GROWTH * rate * left) * ready * off[:2]
    goal[:2] += move * min(1.0, _MOST / max(math.hypot(move[0], move[1]), 1e-9))
    goal[2] += lift * 4.0 * through * (1.0 - through)
    return ready


@compiled
def leg_ik_step(
    six: ndarray, qvel: ndarray, rows: ndarray, dofs: ndarray, way: ndarray, axes: ndarray, wanted: ndarray,
    twist: ndarray, softness: float,
) -> ndarray:  # fmt: skip
    """(leg, 2) changes of a leg's angles [rad] and rates [rad/s] that bring its foot to a place and a motion.

    `six` (6, nv) is the Jacobian of the foot, of which `rows` count; `way` (3,) leads to the place [m]; `wanted` is
    what the foot's `axes` (3, 3) have to become, `twist` (6,) its velocity and spin [m/s, rad/s]. `softness` damps the
    inverse.
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
def solve_spd(square: ndarray, columns: ndarray) -> None:
    """Replace columns (n, m) by the solutions of a symmetric positive definite system (n, n), which is destroyed."""
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
def rotation_vector(matrix: ndarray) -> ndarray:
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
    pose: ndarray, rates: ndarray, qpos: ndarray, qvel: ndarray, places: ndarray, dofs: ndarray, six: ndarray,
    rows: ndarray, way: ndarray, axes: ndarray, wanted: ndarray, twist: ndarray, softness: float, share: float,
) -> None:  # fmt: skip
    """Move a leg of a pose, with its rates, by a share to where `leg_ik_step` leads from now, in place."""
    change = leg_ik_step(six, qvel, rows, dofs, way, axes, wanted, twist, softness)
    for i in range(len(dofs)):
        pose[places[i]] += share * (qpos[places[i]] + change[i, 0] - pose[places[i]])
        rates[dofs[i]] += share * (qvel[dofs[i]] + change[i, 1] - rates[dofs[i]])
