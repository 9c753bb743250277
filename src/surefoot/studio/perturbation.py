"""Which pushes act on the figure now, and their directions in words.

Hands on the figure, without any page: pull a limb, push, throw a ball, and hear of falls.

All of it is called from the thread that owns the session. Everything a hand does becomes a push or a ball of the
simulation, and so a part of its state.

Draws the forces that act on the figure as arrows with their newtons; each stays a moment longer, paler.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import mujoco
import numpy as np
import viser

from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.studio.session import BALLS, FPS, Session
from surefoot.terrains import balls

_WAYS = (
    "forward", "forward and left", "to its left", "back and left",
    "back", "back and right", "to its right", "forward and right",
)  # fmt: skip
_STEEP, _RISING = math.radians(65.0), math.radians(20.0)  # [rad] that is simply up, that is worth a word


@dataclass(frozen=True)
class ActivePush:
    """A push that acts: on which point of a body's frame (None: its COM), and its force (3,) [N]."""

    body: int
    point: tuple[float, float, float] | None
    force: np.ndarray

    def place(self, data: mujoco.MjData) -> np.ndarray:
        """(3,) where the point is in the world [m]."""
        if self.point is None:
            return np.array(data.xipos[self.body])
        return np.asarray(data.xpos[self.body] + data.xmat[self.body].reshape(3, 3) @ self.point)


def active_pushes(sim: Simulation) -> list[ActivePush]:
    """All pushes that act on a simulation now, whatever made them."""
    now, dt, row = sim.time, sim.model.opt.timestep, sim.memory
    if now > row.header[0].pushed_until:
        return []
    return [
        ActivePush(
            int(push.body),
            (float(push.px), float(push.py), float(push.pz)) if push.at_point else None,
            np.array([push.fx, push.fy, push.fz]),
        )
        for push in row.pushes
        if push.start - 0.5 * dt <= now < push.stop - 0.5 * dt
    ]


def heading_of(sim: Simulation) -> float:
    """World yaw of straight ahead [rad]."""
    return float(sim.memory.report[0].heading)


def unit_vector(yaw: float, rise: float = 0.0) -> np.ndarray:
    """(3,) unit vector towards a yaw, raised above the horizontal [rad]."""
    return np.array([math.cos(rise) * math.cos(yaw), math.cos(rise) * math.sin(yaw), math.sin(rise)])


def describe_force(force: np.ndarray, forward: float) -> str:
    """How hard and where to, as seen by a figure whose straight ahead is the yaw `forward` [rad]."""
    newtons = f"{np.linalg.norm(force):.0f} N"
    rise = math.atan2(force[2], math.hypot(force[0], force[1]))
    if abs(rise) > _STEEP:
        return f"{newtons}, {'up' if rise > 0.0 else 'down'}"
    way = _WAYS[round((math.atan2(force[1], force[0]) - forward) / (0.25 * math.pi)) % len(_WAYS)]
    height = f", {abs(math.degrees(rise)):.0f}° {'up' if rise > 0.0 else 'down'}" if abs(rise) > _RISING else ""
    return f"{newtons}, {way}{height}"


MAX_PULL = 600.0  # [N] a hand can pull with
SPRING_STIFFNESS = 1000.0  # [N/m] of the spring between the grabbed point and the mouse
FLIGHT_TIME, MAX_THROW_DISTANCE = 0.5, 3.0  # [s] and [m] a ball flies at most until it hits
BALL_LIFETIME = 8.0  # [s] after which a thrown ball is taken away
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


class Perturbation:
    """What a person does to the figure.

    Attributes:
        strongest: limit of a pull [N].
        returns: whether it goes back by itself to before a fall.
    """

    def __init__(self, session: Session) -> None:
        """Lay hands on a session."""
        self.session = session
        self.strongest, self.returns = 0.5 * MAX_PULL, False
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
        data = sim.scene.posture.at(self, self._moment, sim.data.qpos, sim.data.qvel)
        here = data.xpos[body] + data.xmat[body].reshape(3, 3) @ grip.point
        center, spin, linear = data.subtree_com[sim.model.body_rootid[body]], data.cvel[body, :3], data.cvel[body, 3:]
        moving = linear + np.cross(spin, here - center) - data.subtree_linvel[1]  # as seen by who walks along
        mass, frame = max(float(sim.model.body_mass[body]), _LIGHT), max(self.session.rate, 0.1) / FPS
        k = min(SPRING_STIFFNESS, _CALM * mass / frame**2)
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
        force = newtons * unit_vector(heading_of(sim) + direction, rise)
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
        data = sim.scene.posture.at(self, self._moment, sim.data.qpos, sim.data.qvel)
        torso = sim.model.body(sim.scene.table.anatomy.torso).id
        flight = min(FLIGHT_TIME, MAX_THROW_DISTANCE / speed)
        start = data.xipos[torso] + speed * flight * unit_vector(heading_of(sim) + direction)
        radius = list(BALLS.values())[ball].radius if ball in range(len(BALLS)) else 0.0
        start[2] = max(start[2], float(sim.scene.terrain.height(start[0], start[1])) + 1.5 * radius)
        goal = data.xipos[torso] + flight * data.subtree_linvel[1]
        velocity = (goal - start) / flight - 0.5 * flight * sim.model.opt.gravity
        (x, y, z), (u, v, w) = start.tolist(), velocity.tolist()
        sim.throw((x, y, z), (u, v, w), ball)
        self._thrown[ball] = sim, sim.time

    def _take_balls_away(self) -> None:
        sim = self.session.sim
        for ball, body in enumerate(balls.ball_bodies(sim.model)):
            if not sim.data.xfrc_applied[body].any():
                continue
            of, since = self._thrown.get(ball, (sim, math.inf))
            if of is not sim or since > sim.time:  # another's, or of a time that has not come yet: it went back
                self._thrown[ball] = sim, sim.time
            elif sim.time - since > BALL_LIFETIME:
                sim.remove_ball(ball)

    def news(self) -> str | None:
        """What there is to say about a fall, once when it happens; looking back is no news."""
        session, sim = self.session, self.session.sim
        if session.shown is not None:
            return None
        is_new, self._fallen = sim.fallen and not self._fallen, sim.fallen
        return f"{sim.fall_cause}, {sim.fallen_at:.1f} s after the start" if is_new else None


METRES_PER_NEWTON = 0.002  # [m/N] length of an arrow
_SHORTEST = 0.12  # [m] shorter ones could not be seen
_STAYS = 0.6  # [s] of real time that an arrow stays after its force
_NOW, _PAST = (200, 60, 40), (222, 178, 168)
_MOST = 16
_ABOVE = np.array([0.0, 0.0, 0.06])  # [m] from an arrow's tip to its words


@dataclass
class _Seen:
    """A force as it was last seen, and when [s]."""

    force: ActivePush
    words: str
    at: float


class ForceArrows:
    """All arrows of a stage."""

    def __init__(self, scene: viser.SceneApi) -> None:
        """Draw on a page."""
        self._scene = scene
        self._seen: dict[object, _Seen] = {}
        self._arrows: viser.ArrowsHandle | None = None
        self._labels: list[viser.LabelHandle] = []
        self._of: object = None

    def draw(self, session: Session, data: mujoco.MjData, origin: np.ndarray) -> None:
        """Show what acts at the moment that is looked at; the page's origin is at `origin` (3,) [m]."""
        now, sim = time.monotonic(), session.sim
        if self._of is not sim:
            self._of, self._seen = sim, {}
        for force in active_pushes(sim):
            self._seen[force.body, force.point] = _Seen(force, describe_force(force.force, heading_of(sim)), now)
        self._seen = {key: seen for key, seen in self._seen.items() if now - seen.at <= _STAYS}
        if self._seen or self._arrows:
            self._show(list(self._seen.values())[:_MOST], data, origin, now)

    def _show(self, seen: list[_Seen], data: mujoco.MjData, origin: np.ndarray, now: float) -> None:
        for label in self._labels[len(seen) :]:
            label.remove()
        del self._labels[len(seen) :]
        if not seen:
            if self._arrows:
                self._arrows.remove()
            self._arrows = None
            return
        ends = np.array([_ends(item.force, data) - origin for item in seen])
        colors = np.array([_NOW if item.at == now else _PAST for item in seen], np.uint8)
        if self._arrows is None or self._arrows.points.shape != ends.shape:  # one of the same name is replaced
            self._arrows = self._scene.add_arrows(
                "/forces", ends, colors, shaft_radius=0.014, head_radius=0.036, head_length=0.09
            )
        else:
            self._arrows.points = ends.astype(np.float32)
            if not np.array_equal(self._arrows.colors, colors):
                self._arrows.colors = colors
        for i, (item, (_, tip)) in enumerate(zip(seen, ends, strict=True)):
            if i == len(self._labels):
                self._labels.append(self._scene.add_label(f"/force_{i}", item.words, anchor="bottom-center"))
            self._labels[i].position = tip + _ABOVE
            if self._labels[i].text != item.words:
                self._labels[i].text = item.words


def _ends(force: ActivePush, data: mujoco.MjData) -> np.ndarray:
    """(2, 3) an arrow from the point that is pushed, in the world [m]."""
    size = float(np.linalg.norm(force.force))
    place = force.place(data)
    return np.array([place, place + max(METRES_PER_NEWTON, _SHORTEST / max(size, 1e-9)) * force.force])
