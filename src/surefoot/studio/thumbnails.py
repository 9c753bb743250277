"""Small pictures of how a style walks, drawn one after the other by a thread that leaves the others their time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from surefoot.errors import SurefootError
from surefoot.motions import figure, painter
from surefoot.motions.facing import mean_facing
from surefoot.motions.motion import Motion
from surefoot.simulation import Simulation
from surefoot.skills import load

_log = logging.getLogger(__name__)
WIDTH, HEIGHT = 232, 240  # [px]
_FOOT = 44  # [px] below the ground, for the name
_SECONDS, _STEP = 2.6, 0.6  # [s] walked, and over which the poses lie
_POSES = ((2.0, 0.75), (1.0, 0.5), (0.0, 0.0))  # how many halves of that before the end, and how faint
_REST = 4.0  # between two pictures, by the time one took: a fifth of a core at most
Drawn = Callable[[str, np.ndarray], None]


def blank(name: str) -> np.ndarray:
    """(HEIGHT, WIDTH, 3) bytes: a name and nothing else yet."""
    return np.asarray(_sheet(name).image(quick=True))


def thumbnail(motion: Motion, name: str) -> np.ndarray:
    """(HEIGHT, WIDTH, 3) bytes: three poses of the end of a motion, the earlier fainter, from the side."""
    canvas, actor = _sheet(name), figure.actor_of(motion)
    end = float(motion.time[-1])
    times = [max(end - 0.5 * _STEP * back, 0.0) for back, _ in _POSES]
    yaw = mean_facing(motion, times[0], end)
    poses = [actor.limbs(time) for time in times]
    tall = max(painter.extent(limbs, 2)[1] for limbs in poses)
    ends = [place for limbs in poses for place in painter.extent(limbs, 0, yaw)]
    ground = HEIGHT - _FOOT
    scale = min((ground - 8) / max(tall, 1.0), (WIDTH - 16) / (max(ends) - min(ends)))
    left = 0.5 * (max(ends) + min(ends)) - 0.5 * WIDTH / scale
    camera = painter.Camera("side", scale, left, ground / scale, yaw)
    for limbs, (_, fade) in zip(poses, _POSES, strict=True):
        painter.paint_body(canvas, limbs, camera, fade)
    return np.asarray(canvas.image(quick=True))


def _sheet(name: str) -> painter.Canvas:
    canvas = painter.Canvas(WIDTH, HEIGHT, oversampling=2)
    ground = HEIGHT - _FOOT
    canvas.line([(12.0, ground), (WIDTH - 12.0, ground)], painter.FAINT, 1.5)
    canvas.text(0.5 * WIDTH, ground + 24.0, name, 25.0)
    return canvas


class Artist:
    """Draws styles on one body, in the background."""

    def __init__(self, character: str, styles: Sequence[str], drawn: Drawn) -> None:
        """Begin.

        Args:
            character: the body they are shown on.
            styles: full names.
            drawn: called by another thread with every picture, as soon as it is there.
        """
        self._character, self._styles, self._drawn = character, tuple(styles), drawn
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="surefoot-thumbnails", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more of them."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait until all are drawn; False if that takes longer."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _draw(self) -> None:
        try:
            sim = Simulation(self._character, self._styles[0]) if self._styles else None
            start = sim.snapshot() if sim else None
            took = 0.0
            for name in self._styles:
                if self._stop.wait(_REST * took) or sim is None or start is None:
                    return
                began = time.perf_counter()
                skill = load(name)
                sim.restore(start)
                if not sim.revise(skill):
                    sim = Simulation(self._character, skill)
                    start = sim.snapshot()
                self._drawn(name, thumbnail(sim.run(_SECONDS, 30.0), skill.name))
                took = time.perf_counter() - began
        except SurefootError:
            _log.exception("a style could not be drawn")
