"""The stage: figure, ground and what is drawn with them, seen by a camera that walks along.

The camera stands still and the world moves: the origin of the page follows the figure. So a person's own turning
of the view is never fought over, and things beside the figure (boards, words) stay where they are on the screen.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import mujoco
import numpy as np
import viser

from surefoot.characters.limbs import LEFT, RIGHT, of_table
from surefoot.simulation import Simulation
from surefoot.studio.figure import Figure, Grab
from surefoot.studio.ground import Ground, fixed_bodies, same
from surefoot.studio.ruler import Ruler
from surefoot.studio.session import FPS, Session

Also = Callable[[Session, mujoco.MjData, np.ndarray], None]  # what is drawn with it: from where all is, and the origin
VIEWS = ("side", "front", "back", "top")
_SOFT = 0.25  # [s] in which the camera catches up with the figure's sway
_PACE = 0.03  # share of a frame in the estimate of how far it goes a frame
_FAR, _ASIDE = 2.0, 0.6  # [m] beyond which it jumps there; the same while time stands still
_SKY, _HAZE = (246, 244, 240), (235, 231, 222)  # the same to the eye: the page takes the colour of haze as light
_FOV = math.radians(40.0)  # of the height of the stage
_TALL = 1.75  # [m] of a person
_CLOSE = (0.92, 3.3)  # [m] of the stage's middle and of its height, for a person
_BOARDS = (1.55, 4.0)  # the same with boards above the figure
_EYES = {  # directions from which one looks
    "side": (0.16, -1.0, 0.10), "front": (1.0, -0.12, 0.12), "back": (-1.0, -0.12, 0.16), "top": (0.0, -0.02, 1.0),
}  # fmt: skip


class Stage:
    """What the page shows of a session.

    Attributes:
        scene: of the page.
        follows: whether the camera goes with the figure.
        origin: the place of the world (3,) that is at the page's origin [m].
        view: from where it is looked at, one of `VIEWS`.
        tall: whether the view leaves room for boards above the figure.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        """Set the lights and the camera."""
        self.scene = server.scene
        self._server = server
        self.follows = True
        self.origin = np.zeros(3)
        self.view, self.tall = "side", False
        self._boards: set[str] = set()
        self._size = _TALL  # [m] of the figure
        self._was, self._pace = np.zeros(3), np.zeros(3)
        self._figure: Figure | None = None
        self._sim: Simulation | None = None
        self._grabbed: Grab | None = None
        self._also: list[Also] = []
        self._drawn: np.ndarray = np.empty(0)
        self._world = self.scene.add_frame("/ground", show_axes=False)
        self._grounds = 0
        self._ground: Ground | None = None
        self._ruler: Ruler | None = None
        self.scene.set_background_image(np.full((2, 2, 3), _SKY, np.uint8), format="png")
        self.scene.configure_fog(12.0, 45.0, color=_HAZE)
        self.set_shadows(True)
        self._aim()

    def on_grab(self, grabbed: Grab) -> None:
        """Have it reported when a body is dragged with the mouse."""
        self._grabbed = grabbed
        if self._figure:
            self._figure.on_grab(grabbed)

    def on_draw(self, also: Also) -> None:
        """Have something drawn with every frame; it comes with the session's moment."""
        self._also.append(also)

    def set_shadows(self, shown: bool) -> None:
        """Whether things throw shadows, which costs the browser time."""
        self.scene.configure_default_lights(True, cast_shadow=shown)

    def show_boards(self, shown: bool, whose: str) -> None:
        """Make room above the figure as long as anybody shows a board there."""
        (self._boards.add if shown else self._boards.discard)(whose)
        if bool(self._boards) != self.tall:
            self.frame(bool(self._boards))

    def frame(self, tall: bool) -> None:
        """Show the figure whole, with room above it or without."""
        self.tall = tall
        self._aim()

    def look_from(self, view: str) -> None:
        """Show it from one of `VIEWS`; who connects later sees it from there too."""
        self.view = view
        self._aim()

    def eye(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the camera of the present view stands and the point it looks at, on the page [m]."""
        scale = self._size / _TALL
        middle, height = (scale * length for length in _CLOSE)
        if self.tall:
            middle, height = max(middle, _BOARDS[0]), max(height, _BOARDS[1])
        way = np.array(_EYES[self.view])
        target = np.array([0.0, 0.0, middle])
        return target + way / np.linalg.norm(way) * 0.5 * height / math.tan(0.5 * _FOV), target

    def _aim(self) -> None:
        """Let all cameras have the present view, and those of clients to come."""
        place, target = self.eye()
        first = self._server.initial_camera
        first.fov, first.position, first.look_at = _FOV, place, target
        for client in self._server.get_clients().values():
            with contextlib.suppress(Exception), client.atomic():  # it may have gone meanwhile
                client.camera.position, client.camera.look_at = place, target

    def draw(self, session: Session) -> None:
        """Show the moment that is looked at; nothing is sent while nothing moves."""
        if session.sim is not self._sim:
            self._renew(session.sim)
        data = session.pose
        root = data.xpos[1].copy()
        if self.follows:
            root[2] = float(session.sim.scene.terrain.height(root[0], root[1]))
            self._follow(root, session.paused)
        shown = np.append(np.round(self.origin, 5), data.qpos)
        with self._server.atomic():
            if self._figure and self._ground and self._ruler and not np.array_equal(shown, self._drawn):
                self._drawn = shown
                self._figure.place(data, self.origin)
                self._world.position = -self.origin
                self._ground.attend(root)
                self._ruler.attend(root)
            for draw in self._also:
                draw(session, data, self.origin)

    def _follow(self, root: np.ndarray, still: bool) -> None:
        """Go with a figure at its mean pace, its sway smoothed away; of one that stands still stay where it is seen."""
        share = 1.0 - math.exp(-1.0 / FPS / _SOFT)
        if np.linalg.norm(root - self.origin) > (_ASIDE if still else _FAR):
            self.origin, self._pace = root.copy(), np.zeros(3)
        elif not still:
            self._pace += _PACE * (root - self._was - self._pace)
            self.origin += share * (root - self.origin) + (1.0 - share) * self._pace
        self._was = root.copy()

    def _renew(self, sim: Simulation) -> None:
        """Another body or ground; a body that only grew keeps its place on the page."""
        same_ground = self._sim is not None and same(self._sim.model, sim.model)
        self._sim, self._drawn = sim, np.empty(0)
        with self._server.atomic():
            if not (self._figure and self._figure.adopt(sim.model)):
                self._renew_figure(sim)
            if not same_ground:
                self._renew_ground(sim)
        size = size_of(sim)
        if abs(size - self._size) > 0.1 * self._size:
            self._size = size
            self._aim()

    def _renew_figure(self, sim: Simulation) -> None:
        if self._figure:
            self._figure.remove()
        moving = set(range(1, sim.model.nbody)) - fixed_bodies(sim.model)
        self._figure = Figure(self.scene, "/figure", sim.model, moving, sides_of(sim))
        if self._grabbed:
            self._figure.on_grab(self._grabbed)

    def _renew_ground(self, sim: Simulation) -> None:
        if self._ground:
            self._ground.remove()
        self._grounds += 1  # a name is used once: what is taken away and what is added must not be confused
        self._ground = Ground(self.scene, f"/ground/{self._grounds}", sim.model)
        if self._ruler:
            self._ruler.lay_on(sim.scene.terrain.height)
        else:
            self._ruler = Ruler(self.scene, "/ground/ruler", sim.scene.terrain.height)


def size_of(sim: Simulation) -> float:
    """How tall a figure stands in its model's own rest pose, from its lowest to its highest shape [m]."""
    model, data = sim.model, mujoco.MjData(sim.model)
    mujoco.mj_kinematics(model, data)
    own = model.body_rootid[model.geom_bodyid] == model.body_rootid[1]
    return float(np.ptp(data.geom_xpos[own, 2])) + 0.15


def sides_of(sim: Simulation) -> tuple[set[int], set[int]]:
    """The bodies of the left limbs and of the right ones, hands and feet included."""
    table, model = sim.scene.table, sim.model
    found: tuple[set[int], set[int]] = (set(), set())
    if table.root == "planar":
        return found
    for link in of_table(table).links:
        if link.side in (LEFT, RIGHT):
            found[0 if link.side == LEFT else 1].add(model.body(link.body).id)
    for body in range(1, model.nbody):  # parents come before their children
        for side in found:
            if int(model.body_parentid[body]) in side and not any(body in other for other in found):
                side.add(body)
    return found
