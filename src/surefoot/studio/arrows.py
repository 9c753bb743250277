"""Draws the forces that act on the figure as arrows with their newtons; each stays a moment longer, paler."""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np
import viser

from surefoot.studio.pushing import Acting, acting, forward_of, in_words
from surefoot.studio.session import Session

METRES = 0.002  # [m/N] length of an arrow
_SHORTEST = 0.12  # [m] shorter ones could not be seen
_STAYS = 0.6  # [s] of real time that an arrow stays after its force
_NOW, _PAST = (200, 60, 40), (222, 178, 168)
_MOST = 16
_ABOVE = np.array([0.0, 0.0, 0.06])  # [m] from an arrow's tip to its words


@dataclass
class _Seen:
    """A force as it was last seen, and when [s]."""

    force: Acting
    words: str
    at: float


class Arrows:
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
        for force in acting(sim):
            self._seen[force.body, force.point] = _Seen(force, in_words(force.force, forward_of(sim)), now)
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


def _ends(force: Acting, data: mujoco.MjData) -> np.ndarray:
    """(2, 3) an arrow from the point that is pushed, in the world [m]."""
    size = float(np.linalg.norm(force.force))
    place = force.place(data)
    return np.array([place, place + max(METRES, _SHORTEST / max(size, 1e-9)) * force.force])
