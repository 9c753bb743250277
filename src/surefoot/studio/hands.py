"""Hands on the figure, without any page: pull a limb, push, throw a ball, and hear of falls.

All of it is called from the thread that owns the session. Everything a hand does becomes a push or a ball of the
simulation, and so a part of its state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.errors import CommandError
from surefoot.simulation import Simulation
from surefoot.studio.pushing import forward_of, pushed
from surefoot.studio.session import BALLS, FPS, Session
from surefoot.terrains import balls

STRONGEST = 600.0  # [N] a hand can pull with
STIFF = 1000.0  # [N/m] of the spring between the grabbed point and the mouse
FLIGHT, FARTHEST = 0.5, 3.0  # [s] and [m] a ball flies at most until it hits
LYING = 8.0  # [s] after which a thrown ball is taken away
_SILENT = 2.0  # [s] without news of the mouse after which a grip opens
_HELD = 3.0  # [frames] a pull lasts that nobody renews
_CALM = 0.25  # most that a spring may move a part within a frame, as a share of its stretch: more would shake it
_LIGHT = 0.5  # [kg] lighter parts are pulled as if they had this mass


@dataclass
class _Grip:
    """What is held: a point of a body's frame, and where the mouse is on the page [m]."""

    sim: Simulation
    body: int
    point: np.ndarray
    mouse: np.ndarray
    silent: float = 0.0
    pulling: tuple[float, ...] | None = None  # the push that does it: its start, body and point


class Hands:
    """What a person does to the figure.

    Attributes:
        strongest: limit of a pull [N].
        returns: whether it goes back by itself to before a fall.
    """

    def __init__(self, session: Session) -> None:
        """Lay hands on a session."""
        self.session = session
        self.strongest, self.returns = 0.5 * STRONGEST, False
        self._grip: _Grip | None = None
        self._thrown: dict[int, tuple[Simulation, float]] = {}  # by ball: when [s]
        self._moment = 0
        self._fallen = False

    @property
    def holding(self) -> bool:
        """Whether something is held."""
        return self._grip is not None

    def grab(self, body: int, point: np.ndarray, mouse: np.ndarray, origin: np.ndarray) -> None:
        """Take hold of a body at a point of the page (3,); things that are no part of the figure cannot be held.

        Args:
            body: its number.
            point: where it is held [m].
            mouse: where the mouse is [m].
            origin: the place of the world at the page's origin (3,) [m].
        """
        self.release()
        if 1 <= body <= len(self.session.sim.scene.table.segments):
            data = self.session.pose
            held = data.xmat[body].reshape(3, 3).T @ (np.asarray(point) + origin - data.xpos[body])
            self._grip = _Grip(self.session.sim, body, held, np.array(mouse, float))

    def move(self, mouse: np.ndarray) -> None:
        """The mouse is at another point of the page (3,) [m]."""
        if self._grip:
            self._grip.mouse, self._grip.silent = np.array(mouse, float), 0.0

    def keep(self) -> None:
        """Whoever holds is still there, though the mouse does not move."""
        if self._grip:
            self._grip.silent = 0.0

    def release(self) -> None:
        """Let go, at once."""
        if self._grip:
            self._end_pull(self._grip)
        self._grip = None

    def frame(self, origin: np.ndarray, passed: float = 1.0 / FPS) -> None:
        """Before time moves on: renew the pull, take balls away that lie around.

        Args:
            origin: the place of the world at the page's origin (3,) [m].
            passed: real time since the last frame [s].
        """
        grip = self._grip
        if grip:
            grip.silent += passed
            if grip.sim is not self.session.sim or grip.silent > _SILENT:
                self.release()
            elif not self.session.paused and self.session.shown is None:
                self._pull(grip, grip.mouse + origin)
        if not self.session.paused:
            self._take_balls_away()

    def _pull(self, grip: _Grip, to: np.ndarray) -> None:
        """Renew the push towards a place of the world."""
        sim, body = grip.sim, grip.body
        self._moment += 1
        data = sim.scene.posture.of(self, self._moment, sim.data.qpos, sim.data.qvel)
        here = data.xpos[body] + data.xmat[body].reshape(3, 3) @ grip.point
        center, spin, linear = data.subtree_com[sim.model.body_rootid[body]], data.cvel[body, :3], data.cvel[body, 3:]
        moving = linear + np.cross(spin, here - center) - data.subtree_linvel[1]  # as seen by who walks along
        mass, frame = max(float(sim.model.body_mass[body]), _LIGHT), max(self.session.rate, 0.1) / FPS
        k = min(STIFF, _CALM * mass / frame**2)
        force = k * (to - here) - 0.5 * math.sqrt(k * mass) * moving
        if sim.scene.table.root == "planar":
            force[1] = 0.0
        force *= min(1.0, self.strongest / max(float(np.linalg.norm(force)), 1e-9))
        self._end_pull(grip)
        lasts = max(_HELD * self.session.rate / FPS, 2.0 * sim.model.opt.timestep)
        x, y, z = (float(c) for c in grip.point)
        try:
            sim.push((float(force[0]), float(force[1]), float(force[2])), lasts, sim.model.body(body).name, (x, y, z))
        except CommandError:
            self._grip = None
            raise
        grip.pulling = (sim.time, float(body), x, y, z)

    def _end_pull(self, grip: _Grip) -> None:
        """End the push of the last frame now; one of another time, after going back, ends by itself."""
        for push in grip.sim.memory.pushes:
            if (push.start, push.body, push.px, push.py, push.pz) == grip.pulling:
                push.stop = min(push.stop, grip.sim.time)

    def push(
        self,
        newtons: float,
        direction: float,
        duration: float,
        *,
        rise: float = 0.0,
        delay: float = 0.0,
        body: str | None = None,
    ) -> None:
        """Push a part, by default the torso.

        Args:
            newtons: how hard.
            direction: where to, from straight ahead towards its left [rad].
            duration: how long [s].
            rise: of the direction above the horizontal [rad].
            delay: until it begins [s].
            body: a segment's name.
        """
        sim = self.session.sim
        force = newtons * pushed(forward_of(sim) + direction, rise)
        if sim.scene.table.root == "planar" and math.hypot(force[0], force[2]) < 0.1 * newtons:
            raise CommandError(f"{sim.scene.table.name} moves in a plane: it cannot be pushed to a side")
        sim.push((force[0], force[1], force[2]), duration, body or sim.scene.table.anatomy.torso, None, delay)

    def throw(self, direction: float, speed: float, ball: int = 1) -> None:
        """Throw a ball at the torso, at where it will be.

        Args:
            direction: where it comes from, from straight ahead towards its left [rad].
            speed: as the figure sees it come [m/s].
            ball: number among `session.BALLS`.
        """
        if not 1.0 <= speed <= balls.FASTEST:
            raise CommandError(f"a ball is thrown at 1 … {balls.FASTEST:g} m/s, got {speed:g}")
        sim = self.session.sim
        self._moment += 1
        data = sim.scene.posture.of(self, self._moment, sim.data.qpos, sim.data.qvel)
        torso = sim.model.body(sim.scene.table.anatomy.torso).id
        flight = min(FLIGHT, FARTHEST / speed)
        start = data.xipos[torso] + speed * flight * pushed(forward_of(sim) + direction)
        radius = list(BALLS.values())[ball].radius if ball in range(len(BALLS)) else 0.0
        start[2] = max(start[2], float(sim.scene.terrain.height(start[0], start[1])) + 1.5 * radius)
        goal = data.xipos[torso] + flight * data.subtree_linvel[1]
        velocity = (goal - start) / flight - 0.5 * flight * sim.model.opt.gravity
        (x, y, z), (u, v, w) = start.tolist(), velocity.tolist()
        sim.throw((x, y, z), (u, v, w), ball)
        self._thrown[ball] = sim, sim.time

    def _take_balls_away(self) -> None:
        sim = self.session.sim
        for ball, body in enumerate(balls.bodies(sim.model)):
            if not sim.data.xfrc_applied[body].any():
                continue
            of, since = self._thrown.get(ball, (sim, math.inf))
            if of is not sim or since > sim.time:  # another's, or of a time that has not come yet: it went back
                self._thrown[ball] = sim, sim.time
            elif sim.time - since > LYING:
                sim.park(ball)

    def news(self) -> str | None:
        """What there is to say about a fall, once when it happens; looking back is no news."""
        session, sim = self.session, self.session.sim
        if session.shown is not None:
            return None
        is_new, self._fallen = sim.fallen and not self._fallen, sim.fallen
        return f"{sim.fall_cause}, {sim.fallen_at:.1f} s after the start" if is_new else None
