"""Metre marks on the ground near the figure: lines across the way, with the distance from the start beside them.

The stage: figure, ground and what is drawn with them, seen by a camera that walks along.

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

from surefoot.characters.links import LEFT, RIGHT, limbs_of_table
from surefoot.engine.simulation import Simulation
from surefoot.studio.model_view import BodyDragCallback, BodyView, GroundView, fixed_bodies, looks_same
from surefoot.studio.session import FPS, Session

MARKS = 15  # an odd number: as many before the figure as behind it
_HALF = 1.2  # [m] of a line
_BESIDE = 0.9  # [m] from the middle of the way to the words
_PIECES = 24  # of a line, which lies on whatever ground there is
_LIFT, _LABEL_LIFT = 0.006, 0.03  # [m] above the ground
_TURNED = 1.5  # [m] of the way after which it is judged anew whether it goes along x or y
_COLOR = (150, 142, 130)
Height = Callable[[np.ndarray, np.ndarray], np.ndarray]


class DistanceMarks:
    """A fixed number of nodes, which are moved in whole metres as the figure goes along."""

    def __init__(self, scene: viser.SceneApi, name: str, height: Height) -> None:
        """Lay it down.

        Args:
            scene: of the page.
            name: of the node; it is in world coordinates.
            height: of the ground at points x, y of the world [m].
        """
        self._height = height
        self._axis, self._lane, self._middle = 0, 0, 0
        self._begun = np.zeros(2)
        self._written: list[tuple[int, int, int] | None] = [None] * MARKS
        self._lines = scene.add_line_segments(f"{name}/lines", self._points(), _COLOR, thickness=0.012)
        self._labels = [
            scene.add_label(
                f"{name}/label_{i}", "", font_size_mode="scene", font_scene_height=0.085, depth_test=True,
                anchor="bottom-center",
            )
            for i in range(MARKS)
        ]  # fmt: skip
        self._write()

    @property
    def nodes(self) -> list[viser.SceneNodeHandle]:
        """All of them."""
        return [self._lines, *self._labels]

    def lay_on(self, height: Height) -> None:
        """Lie on another ground; its nodes stay the same."""
        self._height = height
        self._written = [None] * MARKS
        self._lines.points = self._points()
        self._write()

    def attend(self, place: np.ndarray) -> None:
        """Lie around a place (3,) of the world [m]; nothing is sent unless it is another metre."""
        gone = place[:2] - self._begun
        axis = self._axis
        if np.abs(gone).max() > _TURNED:
            axis, self._begun = int(np.abs(gone).argmax()), place[:2].copy()
        middle, lane = round(float(place[axis])), round(float(place[1 - axis]))
        if (axis, lane, middle) != (self._axis, self._lane, self._middle):
            self._axis, self._lane, self._middle = axis, lane, middle
            self._lines.points = self._points()
            self._write()

    def _metres(self) -> range:
        return range(self._middle - MARKS // 2, self._middle + MARKS // 2 + 1)

    def _on_ground(self, along: np.ndarray, across: np.ndarray) -> np.ndarray:
        """(n, 3) points of the world just above the ground."""
        x, y = (along, across) if self._axis == 0 else (across, along)
        return np.column_stack([x, y, self._height(x, y) + _LIFT])

    def _points(self) -> np.ndarray:
        """(MARKS · _PIECES, 2, 3) pieces of all lines."""
        across = self._lane + np.linspace(-_HALF, _HALF, _PIECES + 1)
        lines = [self._on_ground(np.full_like(across, metre), across) for metre in self._metres()]
        return np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]).astype(np.float32)

    def _write(self) -> None:
        """Let every label name its metre; each metre has always the same label, so that only few change."""
        for metre in self._metres():
            what = (self._axis, self._lane, metre)
            at = metre % MARKS
            if self._written[at] != what:
                self._written[at] = what
                side = -_BESIDE if self._axis == 0 else _BESIDE  # on the right of who looks along the way
                place = self._on_ground(np.array([float(metre)]), np.array([self._lane + side]))[0]
                self._labels[at].position = (place[0], place[1], place[2] + _LABEL_LIFT)
                if self._labels[at].text != f"{metre} m":
                    self._labels[at].text = f"{metre} m"


DrawCallback = Callable[
    [Session, mujoco.MjData, np.ndarray], None
]  # what is drawn with it: from where all is, and the origin
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
        self._figure: BodyView | None = None
        self._sim: Simulation | None = None
        self._grabbed: BodyDragCallback | None = None
        self._also: list[DrawCallback] = []
        self._drawn: np.ndarray = np.empty(0)
        self._world = self.scene.add_frame("/ground", show_axes=False)
        self._grounds = 0
        self._ground: GroundView | None = None
        self._ruler: DistanceMarks | None = None
        self.scene.set_background_image(np.full((2, 2, 3), _SKY, np.uint8), format="png")
        self.scene.configure_fog(12.0, 45.0, color=_HAZE)
        self.set_shadows(True)
        self._aim()

    def on_grab(self, grabbed: BodyDragCallback) -> None:
        """Have it reported when a body is dragged with the mouse."""
        self._grabbed = grabbed
        if self._figure:
            self._figure.on_grab(grabbed)

    def on_draw(self, also: DrawCallback) -> None:
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
        same_ground = self._sim is not None and looks_same(self._sim.model, sim.model)
        self._sim, self._drawn = sim, np.empty(0)
        with self._server.atomic():
            if not (self._figure and self._figure.adopt(sim.model)):
                self._renew_figure(sim)
            if not same_ground:
                self._renew_ground(sim)
        size = figure_height(sim)
        if abs(size - self._size) > 0.1 * self._size:
            self._size = size
            self._aim()

    def _renew_figure(self, sim: Simulation) -> None:
        if self._figure:
            self._figure.remove()
        moving = set(range(1, sim.model.nbody)) - fixed_bodies(sim.model)
        self._figure = BodyView(self.scene, "/figure", sim.model, moving, limb_bodies(sim))
        if self._grabbed:
            self._figure.on_grab(self._grabbed)

    def _renew_ground(self, sim: Simulation) -> None:
        if self._ground:
            self._ground.remove()
        self._grounds += 1  # a name is used once: what is taken away and what is added must not be confused
        self._ground = GroundView(self.scene, f"/ground/{self._grounds}", sim.model)
        if self._ruler:
            self._ruler.lay_on(sim.scene.terrain.height)
        else:
            self._ruler = DistanceMarks(self.scene, "/ground/ruler", sim.scene.terrain.height)


def figure_height(sim: Simulation) -> float:
    """How tall a figure stands in its model's own rest pose, from its lowest to its highest shape [m]."""
    model, data = sim.model, mujoco.MjData(sim.model)
    mujoco.mj_kinematics(model, data)
    own = model.body_rootid[model.geom_bodyid] == model.body_rootid[1]
    return float(np.ptp(data.geom_xpos[own, 2])) + 0.15


def limb_bodies(sim: Simulation) -> tuple[set[int], set[int]]:
    """The bodies of the left limbs and of the right ones, hands and feet included."""
    table, model = sim.scene.table, sim.model
    found: tuple[set[int], set[int]] = (set(), set())
    if table.root == "planar":
        return found
    for link in limbs_of_table(table).links:
        if link.side in (LEFT, RIGHT):
            found[0 if link.side == LEFT else 1].add(model.body(link.body).id)
    for body in range(1, model.nbody):  # parents come before their children
        for side in found:
            if int(model.body_parentid[body]) in side and not any(body in other for other in found):
                side.add(body)
    return found
