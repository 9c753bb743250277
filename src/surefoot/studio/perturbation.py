"""Perturbations of the figure: pull a limb, push, throw a ball; and arrows that show the acting forces.

The session's thread calls all of it. Every perturbation becomes a push or a ball of the simulation, and so a part of
its state. `ForceArrows` draws every acting force as an arrow with its newtons, which stays a moment longer, paler.
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
_STEEP, _RISING = (math.radians(65.0), math.radians(20.0))  # [rad] where a force is called up, or its rise named


@dataclass(frozen=True)
class ActivePush:
    """An acting push: the body, the point in the body's frame (None: its COM), and the force (3,) [N]."""

    body: int
    point: tuple[float, float, float] | None
    force: np.ndarray

    def application_point(self, data: mujoco.MjData) -> np.ndarray:
        """(3,) the point in the world [m]."""
        if self.point is None:
            return np.array(data.xipos[self.body])
        return np.asarray(data.xpos[self.body] + data.xmat[self.body].reshape(3, 3) @ self.point)


def active_pushes(sim: Simulation) -> list[ActivePush]:
    """All pushes that act on a simulation now."""
    now, dt, row = sim.time, sim.model.opt.timestep, sim.memory
    if now > row.header[0].pushed_until:
        return []
    return [
        ActivePush(
            int(push.body), (float(push.px), float(push.py), float(push.pz)) if push.at_point else None,
            np.array([push.fx, push.fy, push.fz]),
        )
        for push in row.pushes
        if push.start - 0.5 * dt <= now < push.stop - 0.5 * dt
    ]  # fmt: skip


def heading_of(sim: Simulation) -> float:
    """World yaw of straight ahead [rad]."""
    return float(sim.memory.report[0].heading)


def unit_vector(yaw: float, rise: float = 0.0) -> np.ndarray:
    """(3,) unit vector towards a yaw, raised above the horizontal [rad]."""
    return np.array([math.cos(rise) * math.cos(yaw), math.cos(rise) * math.sin(yaw), math.sin(rise)])


def describe_force(force: np.ndarray, forward: float) -> str:
    """Strength and direction of a force in words, seen by a figure that faces the yaw `forward` [rad]."""
    newtons = f"{np.linalg.norm(force):.0f} N"
    rise = math.atan2(force[2], math.hypot(force[0], force[1]))
    if abs(rise) > _STEEP:
        return f"{newtons}, {'up' if rise > 0.0 else 'down'}"
    way = _WAYS[round((math.atan2(force[1], force[0]) - forward) / (0.25 * math.pi)) % len(_WAYS)]
    height = f", {abs(math.degrees(rise)):.0f}° {'up' if rise > 0.0 else 'down'}" if abs(rise) > _RISING else ""
    return f"{newtons}, {way}{height}"


MAX_PULL = 600.0  # [N] a hand can pull with
SPRING_STIFFNESS = 1000.0  # [N/m] of the spring between the grabbed point and the mouse
FLIGHT_TIME, MAX_THROW_DISTANCE = 0.5, 3.0  # [s] and [m] that a ball flies at most until it hits
BALL_LIFETIME = 8.0  # [s] after which a thrown ball is removed
_SILENT = 2.0  # [s] without a message from the mouse after which a grip opens
_HELD = 3.0  # [frames] that a pull lasts unless it is renewed
_CALM = 0.25  # largest move of a part by the spring within a frame, as a share of its stretch; more would shake it
_LIGHT = 0.5  # [kg] lighter parts are pulled as if they had this mass


@dataclass
class _Grip:
    """A held body: the point in its frame, and the position of the mouse in the page's scene [m]."""

    sim: Simulation
    body: int
    point: np.ndarray
    mouse: np.ndarray
    silent: float = 0.0
    pulling: tuple[float, ...] | None = None  # identifies the push of the pull: its start, body and point


class Perturbation:
    """What a person does to the figure.

    Attributes:
        max_pull: limit of a pull [N].
        auto_rewind: whether the session goes back by itself to before a fall.
    """

    def __init__(self, session: Session) -> None:
        """Act on a session."""
        self.session = session
        self.max_pull, self.auto_rewind = 0.5 * MAX_PULL, False
        self._grip: _Grip | None = None
        self._thrown: dict[int, tuple[Simulation, float]] = {}  # by ball: when [s]
        self._fallen = False

    @property
    def holding(self) -> bool:
        """Whether something is held."""
        return self._grip is not None

    def grab(self, body: int, point: np.ndarray, mouse: np.ndarray, origin: np.ndarray) -> None:
        """Hold a body of the figure at a point of the page's scene (3,), where the mouse is (3,) [m].

        `origin` is the point of the world at the scene's origin (3,) [m].
        """
        self.release()
        if 1 <= body <= len(self.session.sim.scene.table.segments):
            data = self.session.pose
            held = data.xmat[body].reshape(3, 3).T @ (np.asarray(point) + origin - data.xpos[body])
            self._grip = _Grip(self.session.sim, body, held, np.array(mouse, float))

    def move(self, mouse: np.ndarray) -> None:
        """Move the mouse to another point of the page's scene (3,) [m]."""
        if self._grip:
            self._grip.mouse, self._grip.silent = np.array(mouse, float), 0.0

    def keep_alive(self) -> None:
        """Note that the person who holds is still there, though the mouse does not move."""
        if self._grip:
            self._grip.silent = 0.0

    def release(self) -> None:
        """Let go at once."""
        if self._grip:
            self._end_pull(self._grip)
        self._grip = None

    def update(self, origin: np.ndarray, passed: float = 1.0 / FPS) -> None:
        """Renew the pull and remove old balls, before a frame and after some real time [s]; `origin` as for `grab`."""
        grip = self._grip
        if grip:
            grip.silent += passed
            if grip.sim is not self.session.sim or grip.silent > _SILENT:
                self.release()
            elif not self.session.paused and self.session.shown is None:
                self._pull(grip, grip.mouse + origin)
        if not self.session.paused:
            self._remove_balls()

    def _pull(self, grip: _Grip, to: np.ndarray) -> None:
        """Renew the push towards a point of the world."""
        sim, body, data = grip.sim, grip.body, self.session.moving_pose()
        here = data.xpos[body] + data.xmat[body].reshape(3, 3) @ grip.point
        center, spin, linear = data.subtree_com[sim.model.body_rootid[body]], data.cvel[body, :3], data.cvel[body, 3:]
        moving = linear + np.cross(spin, here - center) - data.subtree_linvel[1]  # relative to the whole body
        mass, frame = max(float(sim.model.body_mass[body]), _LIGHT), max(self.session.rate, 0.1) / FPS
        k = min(SPRING_STIFFNESS, _CALM * mass / frame**2)
        force = k * (to - here) - 0.5 * math.sqrt(k * mass) * moving
        if sim.scene.table.root == "planar":
            force[1] = 0.0
        force *= min(1.0, self.max_pull / max(float(np.linalg.norm(force)), 1e-9))
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
        """End the push of the last frame now; after going back in time it is another push and ends by itself."""
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
            newtons: strength [N].
            direction: where to, from straight ahead towards its left [rad].
            duration: how long [s].
            rise: angle of the direction above the horizontal [rad].
            delay: until it begins [s].
            body: a segment's name.
        """
        sim = self.session.sim
        force = newtons * unit_vector(heading_of(sim) + direction, rise)
        if sim.scene.table.root == "planar" and math.hypot(force[0], force[2]) < 0.1 * newtons:
            raise CommandError(f"{sim.scene.table.name} moves in a plane: it cannot be pushed sideways")
        if sim.scene.table.root == "planar":
            force[1] = 0.0
        sim.push((force[0], force[1], force[2]), duration, body or sim.scene.table.anatomy.torso, None, delay)

    def throw(self, direction: float, speed: float, ball: int = 1) -> None:
        """Throw a ball at the place where the torso will be.

        Args:
            direction: where it comes from, from straight ahead towards its left [rad].
            speed: relative to the figure [m/s].
            ball: index in `session.BALLS`.
        """
        if not 1.0 <= speed <= balls.FASTEST:
            raise CommandError(f"a ball is thrown at 1 … {balls.FASTEST:g} m/s, got {speed:g}")
        sim, data = self.session.sim, self.session.moving_pose()
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

    def _remove_balls(self) -> None:
        sim = self.session.sim
        for ball, body in enumerate(balls.ball_bodies(sim.model)):
            if not sim.data.xfrc_applied[body].any():
                continue
            of, since = self._thrown.get(ball, (sim, math.inf))
            if of is not sim or since > sim.time:  # of another simulation, or a later time
                self._thrown[ball] = sim, sim.time
            elif sim.time - since > BALL_LIFETIME:
                sim.remove_ball(ball)

    def fall_message(self) -> str | None:
        """A message about a fall, once when it happens; looking back gives none."""
        session, sim = self.session, self.session.sim
        if session.shown is not None:
            return None
        is_new, self._fallen = sim.fallen and not self._fallen, sim.fallen
        return f"{sim.fall_cause}, {sim.fallen_at:.1f} s after the start" if is_new else None


METRES_PER_NEWTON = 0.002  # [m/N] length of an arrow
_SHORTEST = 0.12  # [m] shorter arrows could not be seen
_STAYS = 0.6  # [s] of real time that an arrow stays after its force
_NOW, _PAST = (200, 60, 40), (222, 178, 168)
_MOST = 16
_ABOVE = np.array([0.0, 0.0, 0.06])  # [m] from an arrow's tip to its words


@dataclass
class _Seen:
    """A force as it last acted, and when [s]."""

    force: ActivePush
    words: str
    at: float


class ForceArrows:
    """The arrows of a stage."""

    def __init__(self, scene: viser.SceneApi) -> None:
        """Draw on a page."""
        self._scene = scene
        self._seen: dict[object, _Seen] = {}
        self._arrows: viser.ArrowsHandle | None = None
        self._labels: list[viser.LabelHandle] = []
        self._of: object = None

    def draw(self, session: Session, data: mujoco.MjData, origin: np.ndarray) -> None:
        """Show the forces of the moment shown; `origin` (3,) is the point of the world at the scene's origin [m]."""
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
    """(2, 3) start and tip of an arrow from the pushed point, in the world [m]."""
    size = float(np.linalg.norm(force.force))
    place = force.application_point(data)
    return np.array([place, place + max(METRES_PER_NEWTON, _SHORTEST / max(size, 1e-9)) * force.force])
