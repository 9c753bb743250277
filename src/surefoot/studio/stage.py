"""The stage: figure, ground, distance marks and whatever else is drawn with them, seen by a camera that follows.

The camera stands still and the world moves: the scene's origin follows the figure. So the program never changes a view
that a person has turned, and things beside the figure (boards, words) keep their place on the screen.
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

MARKS = 15  # an odd number: as many ahead of the figure as behind it
_HALF = 1.2  # [m] half the length of a line
_BESIDE = 0.9  # [m] from the middle of the path to the words
_PIECES = 24  # of a line, so that it follows uneven ground
_LIFT, _LABEL_LIFT = 0.006, 0.03  # [m] above the ground
_TURNED = 1.5  # [m] of the path after which the marks choose again between the x and y axes
_COLOR = (150, 142, 130)
Height = Callable[[np.ndarray, np.ndarray], np.ndarray]


class DistanceMarks:
    """Lines across the path at every meter with the distance beside them; a fixed number of nodes moves along."""

    def __init__(self, scene: viser.SceneApi, name: str, height: Height) -> None:
        """Add a node in world coordinates; `height` gives that of the ground at points x, y [m]."""
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
        """All nodes."""
        return [self._lines, *self._labels]

    def set_ground(self, height: Height) -> None:
        """Lie on another ground; the nodes stay the same."""
        self._height = height
        self._written = [None] * MARKS
        self._lines.points = self._points()
        self._write()

    def center_on(self, place: np.ndarray) -> None:
        """Lie around a point (3,) of the world [m]; nothing is sent unless the meter changes."""
        gone = place[:2] - self._begun
        axis = self._axis
        if np.abs(gone).max() > _TURNED:
            axis, self._begun = int(np.abs(gone).argmax()), place[:2].copy()
        middle, lane = round(float(place[axis])), round(float(place[1 - axis]))
        if (axis, lane, middle) != (self._axis, self._lane, self._middle):
            self._axis, self._lane, self._middle = axis, lane, middle
            self._lines.points = self._points()
            self._write()

    def _meters(self) -> range:
        return range(self._middle - MARKS // 2, self._middle + MARKS // 2 + 1)

    def _on_ground(self, along: np.ndarray, across: np.ndarray) -> np.ndarray:
        """(n, 3) points of the world just above the ground."""
        x, y = (along, across) if self._axis == 0 else (across, along)
        return np.column_stack([x, y, self._height(x, y) + _LIFT])

    def _points(self) -> np.ndarray:
        """(MARKS · _PIECES, 2, 3) segments of all lines."""
        across = self._lane + np.linspace(-_HALF, _HALF, _PIECES + 1)
        lines = [self._on_ground(np.full_like(across, meter), across) for meter in self._meters()]
        return np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]).astype(np.float32)

    def _write(self) -> None:
        """Write the distances; each meter always has the same label, so that only few change."""
        for meter in self._meters():
            what = (self._axis, self._lane, meter)
            at = meter % MARKS
            if self._written[at] != what:
                self._written[at] = what
                side = -_BESIDE if self._axis == 0 else _BESIDE  # on the right, seen along the path
                place = self._on_ground(np.array([float(meter)]), np.array([self._lane + side]))[0]
                self._labels[at].position = (place[0], place[1], place[2] + _LABEL_LIFT)
                if self._labels[at].text != f"{meter} m":
                    self._labels[at].text = f"{meter} m"


DrawCallback = Callable[[Session, mujoco.MjData, np.ndarray], None]  # gets the pose and the origin too
VIEWS = ("side", "front", "back", "top")
_SOFT = 0.25  # [s] in which the camera catches up with the figure
_PACE = 0.03  # share of a frame in the estimate of the distance per frame
_FAR, _ASIDE = 2.0, 0.6  # [m] from the figure beyond which the camera jumps there; the same while paused
_SKY, _HAZE = (246, 244, 240), (235, 231, 222)  # look the same: the page takes the color of the haze as linear light
_FOV = math.radians(40.0)  # vertical
_TALL = 1.75  # [m] of a person
_CLOSE = (0.92, 3.3)  # [m] height of the view's center, and its extent, for a person
_BOARDS = (1.55, 4.0)  # the same with boards above the figure
_EYES = {  # directions from the figure to the camera
    "side": (0.16, -1.0, 0.10), "front": (1.0, -0.12, 0.12), "back": (-1.0, -0.12, 0.16), "top": (0.0, -0.02, 1.0),
}  # fmt: skip


class Stage:
    """What the page shows of a session.

    Attributes:
        scene: of the page.
        follows: whether the camera follows the figure.
        origin: the point of the world (3,) at the scene's origin [m].
        view: one of `VIEWS`.
        has_headroom: whether the view leaves room for boards above the figure.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        """Set the lights and the camera of a page."""
        self.scene = server.scene
        self._server = server
        self.follows = True
        self.origin = np.zeros(3)
        self.view, self.has_headroom = "side", False
        self._boards: set[str] = set()
        self._size = _TALL  # [m] height of the figure
        self._was, self._pace = np.zeros(3), np.zeros(3)
        self._figure: BodyView | None = None
        self._sim: Simulation | None = None
        self._dragged: BodyDragCallback | None = None
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

    def on_drag(self, dragged: BodyDragCallback) -> None:
        """Call `dragged` when the mouse drags a body."""
        self._dragged = dragged
        if self._figure:
            self._figure.on_drag(dragged)

    def on_draw(self, also: DrawCallback) -> None:
        """Call `also` with every frame."""
        self._also.append(also)

    def set_shadows(self, shown: bool) -> None:
        """Switch shadows on or off; they cost the browser time."""
        self.scene.configure_default_lights(True, cast_shadow=shown)

    def show_boards(self, shown: bool, whose: str) -> None:
        """Leave room above the figure as long as anybody (`whose`) shows a board there."""
        (self._boards.add if shown else self._boards.discard)(whose)
        if bool(self._boards) != self.has_headroom:
            self.set_headroom(bool(self._boards))

    def set_headroom(self, has_headroom: bool) -> None:
        """Show the whole figure, with or without room above it."""
        self.has_headroom = has_headroom
        self._aim()

    def look_from(self, view: str) -> None:
        """Look from one of `VIEWS`, for all clients and those that connect later."""
        self.view = view
        self._aim()

    def camera_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Position of the camera in the present view and the point it looks at, in the scene [m]."""
        scale = self._size / _TALL
        middle, height = (scale * length for length in _CLOSE)
        if self.has_headroom:
            middle, height = max(middle, _BOARDS[0]), max(height, _BOARDS[1])
        way = np.array(_EYES[self.view])
        target = np.array([0.0, 0.0, middle])
        return target + way / np.linalg.norm(way) * 0.5 * height / math.tan(0.5 * _FOV), target

    def _aim(self) -> None:
        """Give the present view to all cameras, and to those of clients that connect later."""
        place, target = self.camera_pose()
        first = self._server.initial_camera
        first.fov, first.position, first.look_at = _FOV, place, target
        for client in self._server.get_clients().values():
            with contextlib.suppress(Exception), client.atomic():  # it may have gone meanwhile
                client.camera.position, client.camera.look_at = place, target

    def draw(self, session: Session) -> None:
        """Draw the moment that the session shows; nothing is sent while nothing moves."""
        if session.sim is not self._sim:
            self._reload(session.sim)
        data = session.pose
        root = data.xpos[1].copy()
        if self.follows:
            root[2] = float(session.sim.scene.terrain.height(root[0], root[1]))
            self._follow(root, session.paused)
        shown = np.append(np.round(self.origin, 5), data.qpos)
        with self._server.atomic():
            if self._figure and self._ground and self._ruler and not np.array_equal(shown, self._drawn):
                self._drawn = shown
                self._figure.update(data, self.origin)
                self._world.position = -self.origin
                self._ground.center_on(root)
                self._ruler.center_on(root)
            for draw in self._also:
                draw(session, data, self.origin)

    def _follow(self, root: np.ndarray, still: bool) -> None:
        """Follow the figure at its mean pace without its sway; while paused, stay as long as it is in view."""
        share = 1.0 - math.exp(-1.0 / FPS / _SOFT)
        if np.linalg.norm(root - self.origin) > (_ASIDE if still else _FAR):
            self.origin, self._pace = root.copy(), np.zeros(3)
        elif not still:
            self._pace += _PACE * (root - self._was - self._pace)
            self.origin += share * (root - self.origin) + (1.0 - share) * self._pace
        self._was = root.copy()

    def _reload(self, sim: Simulation) -> None:
        """Draw another body or ground; a body that only changed its sizes keeps its nodes."""
        same_ground = self._sim is not None and looks_same(self._sim.model, sim.model)
        self._sim, self._drawn = sim, np.empty(0)
        with self._server.atomic():
            if not (self._figure and self._figure.rescale(sim.model)):
                self._reload_figure(sim)
            if not same_ground:
                self._reload_ground(sim)
        size = figure_height(sim)
        if abs(size - self._size) > 0.1 * self._size:
            self._size = size
            self._aim()

    def _reload_figure(self, sim: Simulation) -> None:
        if self._figure:
            self._figure.remove()
        moving = set(range(1, sim.model.nbody)) - fixed_bodies(sim.model)
        self._figure = BodyView(self.scene, "/figure", sim.model, moving, limb_bodies(sim))
        if self._dragged:
            self._figure.on_drag(self._dragged)

    def _reload_ground(self, sim: Simulation) -> None:
        if self._ground:
            self._ground.remove()
        self._grounds += 1  # every name is used once, so that removed and added nodes are never confused
        self._ground = GroundView(self.scene, f"/ground/{self._grounds}", sim.model)
        if self._ruler:
            self._ruler.set_ground(sim.scene.terrain.height)
        else:
            self._ruler = DistanceMarks(self.scene, "/ground/ruler", sim.scene.terrain.height)


def figure_height(sim: Simulation) -> float:
    """Height of a figure in its model's rest pose, about, from its lowest to its highest geom [m]."""
    model, data = sim.model, mujoco.MjData(sim.model)
    mujoco.mj_kinematics(model, data)
    own = model.body_rootid[model.geom_bodyid] == model.body_rootid[1]
    return float(np.ptp(data.geom_xpos[own, 2])) + 0.15


def limb_bodies(sim: Simulation) -> tuple[set[int], set[int]]:
    """The bodies of the left limbs and those of the right ones, with hands and feet."""
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
