"""The gallery: all styles a body can walk in, as pictures, three in a row with a button each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import viser

from surefoot.skills import load, names
from surefoot.skills.schema import Skill
from surefoot.studio import thumbnails
from surefoot.studio.curves import has_curves

if TYPE_CHECKING:  # panels import this file
    from surefoot.studio.panels.panel import Desk

_ROW = 3


@functools.cache
def styles(character: str) -> tuple[str, ...]:
    """Full names of all skills of a character that are told by curves."""
    return tuple(name for name in names(character) if has_curves(load(name)))


class Gallery:
    """Pictures to choose from."""

    def __init__(self, desk: Desk, take: Callable[[str], None]) -> None:
        """Add a folder for it.

        Args:
            desk: of the panel.
            take: told the full name of the style that was clicked, by the thread that owns the session.
        """
        self._desk, self._take = desk, take
        self._folder = desk.server.gui.add_folder("Styles to start from", expand_by_default=False)
        self._rows: list[tuple[viser.GuiImageHandle, viser.GuiButtonGroupHandle]] = []
        self._styles: tuple[str, ...] = ()

    def renew(self, character: str) -> None:
        """Show the styles of a body; what they look like is shown on the humanoid, whatever the body."""
        wanted = styles(character)
        if self._folder.visible != bool(wanted):
            self._folder.visible = bool(wanted)
        if not wanted or wanted == self._styles:  # out of sight they may stay
            return
        self._styles = wanted
        for image, buttons in self._rows:
            image.remove()
            buttons.remove()
        skills = [load(name) for name in wanted]
        with self._folder:
            self._rows = [self._add_row(skills[first : first + _ROW]) for first in range(0, len(skills), _ROW)]

    def _add_row(self, row: list[Skill]) -> tuple[viser.GuiImageHandle, viser.GuiButtonGroupHandle]:
        gui, by_name = self._desk.server.gui, {skill.name: skill.full_name for skill in row}
        image = gui.add_image(_side_by_side([thumbnails.kept(skill) for skill in row]), format="jpeg", jpeg_quality=85)
        buttons = gui.add_button_group("Take", tuple(by_name), hint=" · ".join(skill.summary for skill in row))
        buttons.on_click(lambda _: self._desk.post(functools.partial(self._take, by_name[buttons.value])))
        return image, buttons


def _side_by_side(row: list[np.ndarray]) -> np.ndarray:
    """(height, width, 3) a row of pictures; what the last one lacks is left empty."""
    return np.hstack([*row, *[np.full_like(row[0], 255)] * (_ROW - len(row))])
