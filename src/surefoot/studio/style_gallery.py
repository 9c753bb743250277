"""The gallery: pictures of all styles that a body can walk in, three in a row with a button each.

The pictures are files, so that a running studio draws nothing. `python -m surefoot.studio.style_gallery` draws all of
them anew; do so when a style of the library is new or changed.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import viser
from PIL import Image

from surefoot.atomic_file import replace_file
from surefoot.engine.simulation import Simulation
from surefoot.motions import painter, posed_body
from surefoot.motions.motion import Motion
from surefoot.motions.painter import mean_facing
from surefoot.skills import load, names
from surefoot.skills.schema import Skill
from surefoot.studio.style_parameters import has_curves

_ROW = 3


@functools.cache
def style_names(character: str) -> tuple[str, ...]:
    """Full names of all skills of a character whose parameters have curves."""
    return tuple(name for name in names(character) if has_curves(load(name)))


class StyleGallery:
    """Pictures to choose from."""

    def __init__(
        self, gui: viser.GuiApi, post: Callable[[Callable[[], object]], None], take: Callable[[str], None]
    ) -> None:
        """Add a folder; the session's thread calls `take` with the full name of the style that was clicked."""
        self._gui, self._post, self._take = gui, post, take
        self._folder = gui.add_folder("Styles to start from", expand_by_default=False)
        self._rows: list[tuple[viser.GuiImageHandle, viser.GuiButtonGroupHandle]] = []
        self._styles: tuple[str, ...] = ()

    def reload(self, character: str) -> None:
        """Show the styles of a body; the pictures show the humanoid, whatever the body."""
        wanted = style_names(character)
        if self._folder.visible != bool(wanted):
            self._folder.visible = bool(wanted)
        if not wanted or wanted == self._styles:  # hidden ones may stay
            return
        self._styles = wanted
        for image, buttons in self._rows:
            image.remove()
            buttons.remove()
        skills = [load(name) for name in wanted]
        with self._folder:
            self._rows = [self._add_row(skills[first : first + _ROW]) for first in range(0, len(skills), _ROW)]

    def _add_row(self, row: list[Skill]) -> tuple[viser.GuiImageHandle, viser.GuiButtonGroupHandle]:
        gui, by_name = self._gui, {skill.name: skill.full_name for skill in row}
        image = gui.add_image(_side_by_side([load_thumbnail(skill) for skill in row]), format="jpeg", jpeg_quality=85)
        buttons = gui.add_button_group("Take", tuple(by_name), hint=" · ".join(skill.summary for skill in row))
        buttons.on_click(lambda _: self._post(functools.partial(self._take, by_name[buttons.value])))
        return image, buttons


def _side_by_side(row: list[np.ndarray]) -> np.ndarray:
    """(height, width, 3) a row of pictures; missing ones are left empty."""
    return np.hstack([*row, *[np.full_like(row[0], 255)] * (_ROW - len(row))])


FOLDER = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 232, 240  # [px]
_FOOT = 44  # [px] below the ground, for the name
_SECONDS, _STEP = 2.6, 0.6  # [s] simulated, and from the first pose to the last
_POSES = ((2.0, 0.75), (1.0, 0.5), (0.0, 0.0))  # how many halves of _STEP before the end, and how faint
_COLORS = 32  # of a file


def blank_thumbnail(name: str) -> np.ndarray:
    """(HEIGHT, WIDTH, 3) bytes: only a name."""
    return np.asarray(_sheet(name).image(quick=True))


def thumbnail(motion: Motion, name: str) -> np.ndarray:
    """(HEIGHT, WIDTH, 3) bytes: three poses of the end of a motion, the earlier fainter, from the side."""
    canvas, actor = _sheet(name), posed_body.posed_body_of(motion)
    end = float(motion.time[-1])
    times = [max(end - 0.5 * _STEP * back, 0.0) for back, _ in _POSES]
    yaw = mean_facing(motion, times[0], end)
    poses = [actor.limbs(time) for time in times]
    tall = max(painter.extent_along(limbs, 2)[1] for limbs in poses)
    ends = [place for limbs in poses for place in painter.extent_along(limbs, 0, yaw)]
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


def simulate_thumbnail(skill: Skill) -> np.ndarray:
    """The picture of a style, simulated now on the character it is for, or on the humanoid if it is for all."""
    return thumbnail(Simulation(None, skill).run(_SECONDS, 30.0), skill.name)


def thumbnail_path(skill: Skill) -> Path:
    """The file of the picture of a style of the library."""
    return FOLDER / f"{skill.full_name}.png"


def load_thumbnail(skill: Skill) -> np.ndarray:
    """The picture of a style from its file; only its name if there is none."""
    path = thumbnail_path(skill)
    if not path.exists():
        return blank_thumbnail(skill.name)
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def draw_all() -> None:
    """Write the pictures of all styles of the library, and delete those of styles that no longer exist."""
    wanted = {thumbnail_path(skill): skill for skill in map(load, names()) if has_curves(skill)}
    for old in set(FOLDER.glob("*/*.png")) - set(wanted):
        old.unlink()
    for path, skill in wanted.items():
        content = io.BytesIO()
        Image.fromarray(simulate_thumbnail(skill)).quantize(_COLORS).save(content, "PNG", optimize=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content.getvalue())
        sys.stdout.write(f"{skill.full_name}\n")


if __name__ == "__main__":
    draw_all()
