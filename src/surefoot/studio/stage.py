"""The stage: figure, ground and what is drawn with them, seen by a camera that walks along.

The camera stands still and the world moves: the origin of the page follows the figure. So a person's own turning
of the view is never fought over, and things beside the figure (boards, words) stay where they are on the screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import mujoco
import numpy as np
import viser

from surefoot.simulation import Simulation
from surefoot.studio.figure import Figure, Grab
from surefoot.studio.session import Session

Also = Callable[[Session, mujoco.MjData, np.ndarray], None]  # what is drawn with it: from where all is, and the origin
_SOFT = 0.25  # [s] in which the camera catches up with the figure's sway


class Stage:
    """What the page shows of a session.

    Attributes:
        follows: whether the camera goes with the figure.
        origin: the place of the world (3,) that is at the page's origin [m].
    """

    def __init__(self, server: viser.ViserServer) -> None:
        """Set the lights and the camera."""
        self.scene = server.scene
        self._server = server
        self.follows = True
        self.origin = np.zeros(3)
        self._figure: Figure | None = None
        self._sim: Simulation | None = None
        self._grabbed: Grab | None = None
        self._also: list[Also] = []
        self._clock = 0.0
        server.initial_camera.position = (1.0, -3.8, 1.35)
        server.initial_camera.look_at = (0.0, 0.0, 0.95)
        self._ground = self.scene.add_grid(
            "/ground", infinite_grid=True, cell_size=0.25, section_size=1.0, plane="xy", fade_distance=20.0
        )

    def on_grab(self, grabbed: Grab) -> None:
        """Have it reported when a body is dragged with the mouse."""
        self._grabbed = grabbed
        if self._figure:
            self._figure.on_grab(grabbed)

    def on_draw(self, also: Also) -> None:
        """Have something drawn with every frame; it comes with the session's moment."""
        self._also.append(also)

    def draw(self, session: Session) -> None:
        """Show the moment that is looked at."""
        if session.sim is not self._sim:
            self._renew(session.sim)
        data = session.pose
        root = data.xpos[1] * (1.0, 1.0, 0.0)
        if self.follows:
            passed = abs(session.clock - self._clock)
            far = np.linalg.norm(root - self.origin) > 2.0
            self.origin += (1.0 if far else 1.0 - math.exp(-passed / _SOFT)) * (root - self.origin)
        self._clock = session.clock
        with self._server.atomic():
            if self._figure:
                self._figure.place(data, self.origin)
            self._ground.position = -self.origin
            for draw in self._also:
                draw(session, data, self.origin)

    def _renew(self, sim: Simulation) -> None:
        """Another body or ground; one that only grew keeps its place on the page."""
        self._sim = sim
        if self._figure and self._figure.adopt(sim.model):
            return
        if self._figure:
            self._figure.remove()
        self._figure = Figure(self.scene, "/figure", sim.model, set(range(1, sim.model.nbody)))
        if self._grabbed:
            self._figure.on_grab(self._grabbed)
