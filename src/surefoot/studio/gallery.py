"""The gallery: all styles a body can walk in, as pictures, three in a row with a button each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import viser

from surefoot.skills import load, names
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
    """Pictures to choose from. They are drawn while somebody looks at the page."""

    def __init__(self, desk: Desk, take: Callable[[str], None]) -> None:
        """Add a folder for it.

        Args:
            desk: of the panel.
            take: told the full name of the style that was clicked, by the thread that owns the session.
        """
        self._desk, self._take = desk, take
        self._folder = desk.server.gui.add_folder("Styles to start from", expand_by_default=False)
        self._rows: list[tuple[viser.GuiImageHandle, viser.GuiButtonGroupHandle]] = []
        self._cells: dict[str, np.ndarray] = {}
        self._styles: tuple[str, ...] = ()
        self._character = ""
        self._artist: thumbnails.Artist | None = None

    def renew(self, character: str) -> None:
        """Show the styles of a body."""
        if character == self._character:
            return
        self.stop()
        self._character, self._styles = character, styles(character)
        self._folder.visible = bool(self._styles)
        self._cells = {name: thumbnails.blank(load(name).name) for name in self._styles}
        for image, buttons in self._rows:
            image.remove()
            buttons.remove()
        with self._folder:
            self._rows = [self._add_row(first) for first in range(0, len(self._styles), _ROW)]

    def refresh(self) -> None:
        """Begin to draw once somebody looks."""
        if self._artist is None and self._styles and self._desk.server.get_clients():
            character, post = self._character, self._desk.post
            self._artist = thumbnails.Artist(
                character, self._styles, lambda name, cell: post(lambda: self._hang(character, name, cell))
            )

    def stop(self) -> None:
        """Draw no more."""
        if self._artist is not None:
            self._artist.stop()
            self._artist = None

    def _add_row(self, first: int) -> tuple[viser.GuiImageHandle, viser.GuiButtonGroupHandle]:
        gui, row = self._desk.server.gui, self._styles[first : first + _ROW]
        image = gui.add_image(self._picture(first), format="jpeg", jpeg_quality=85)
        by_name = {load(name).name: name for name in row}
        buttons = gui.add_button_group("Take", tuple(by_name), hint=" · ".join(load(name).summary for name in row))
        buttons.on_click(lambda _: self._desk.post(functools.partial(self._take, by_name[buttons.value])))
        return image, buttons

    def _picture(self, first: int) -> np.ndarray:
        """(height, width, 3) the pictures of a row side by side; what the last one lacks is left empty."""
        row = [self._cells[name] for name in self._styles[first : first + _ROW]]
        return np.hstack([*row, *[np.full_like(row[0], 255)] * (_ROW - len(row))])

    def _hang(self, character: str, name: str, cell: np.ndarray) -> None:
        if character == self._character:
            self._cells[name] = cell
            row = self._styles.index(name) // _ROW
            self._rows[row][0].image = self._picture(row * _ROW)
