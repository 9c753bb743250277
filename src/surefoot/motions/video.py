"""Videos of motions in real time, with a camera that follows the body smoothly."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter1d

from surefoot.errors import OutputError
from surefoot.motions import painter, posed_body
from surefoot.motions.motion import Motion
from surefoot.motions.motion_editing import frame_rate
from surefoot.motions.painter import Camera, Canvas, View, mean_facing

MAX_FRAMES = 20_000
_GIF_FPS, _MP4_FPS, _STILL_FPS = 50.0, 60.0, 25.0  # highest of each format, and that of a motion of one frame
_LAG = 0.35  # [s] before and after over which the camera averages the body's position
_GROUND, _BODY = 0.15, 0.62  # shares of the picture's height below the ground, and of a standing body
_COLORS = 64  # of a GIF: enough for flat colours and their smooth edges


def frames(
    motion: Motion, fps: float, width: int = 640, height: int = 360, view: View = "side"
) -> Iterator[Image.Image]:
    """Draw a motion's pictures one by one.

    Args:
        motion: what to draw.
        fps: pictures per second; between frames the pose is interpolated.
        width: of a picture [px].
        height: of a picture [px].
        view: from the `side` or the `front`, relative to where the body faces on average.

    Raises:
        OutputError: the motion has no frames, numbers that are not finite, or takes too many pictures.
    """
    actor, terrain = posed_body.posed_body_of(motion), painter.terrain_of(motion)
    start, span = float(motion.time[0]), float(np.ptp(motion.time))
    count = int(span * fps + 1e-6) + 1
    if count > MAX_FRAMES:
        raise OutputError(f"a video has at most {MAX_FRAMES} pictures, this motion takes {count}")
    times = start + np.arange(count) / fps
    size = _size(actor.limbs(start))
    camera = Camera(view, _BODY * height / size, yaw=mean_facing(motion))
    path, middles, levels = _path(motion, times, fps, camera)
    half, above = 0.5 * width / camera.scale, (1.0 - _GROUND) * height / camera.scale
    for time, place, middle, level in zip(times, path, middles, levels, strict=True):
        canvas = Canvas(width, height)
        here = replace(camera, left=middle - half, top=level + above)
        painter.paint_ground(canvas, terrain.at(time) if terrain else None, here, 0.0, float(width), place[None])
        painter.paint_body(canvas, [*actor.limbs(time), *actor.flying_balls(time)], here)
        canvas.text(width - 14.0, 20.0, f"{time:.2f} s", 14.0, anchor="rm")
        yield canvas.image(quick=True)


def gif(motion: Motion, width: int = 640, height: int = 360, view: View = "side") -> bytes:
    """A looping GIF. Its clock counts hundredths of a second, so the frame rate is the nearest possible.

    Args:
        motion: what to draw.
        width: [px].
        height: [px].
        view: as in `frames`.
    """
    hundredths = max(round(100.0 / min(_rate(motion), _GIF_FPS)), 2)
    return _encoded_gif(frames(motion, 100.0 / hundredths, width, height, view), hundredths)


def gif_beside(
    motions: Sequence[tuple[str, Motion]], fps: float = 12.5, width: int = 240, height: int = 240, view: View = "side"
) -> bytes:
    """A looping GIF of several motions beside each other, as long as the shortest of them.

    Args:
        motions: what to draw, with captions.
        fps: pictures per second, rounded to what the format knows.
        width: of each [px].
        height: [px].
        view: as in `frames`.
    """
    hundredths = max(round(100.0 / fps), 2)
    each = [frames(motion, 100.0 / hundredths, width, height, view) for _, motion in motions]

    def pictures() -> Iterator[Image.Image]:
        for together in zip(*each, strict=False):
            whole = Image.new("RGB", (width * len(together), height), "white")
            for k, (picture, (caption, _)) in enumerate(zip(together, motions, strict=True)):
                whole.paste(picture, (k * width, 0))
                ImageDraw.Draw(whole).text((k * width + 10, 12), caption, fill="black")
            yield whole

    return _encoded_gif(pictures(), hundredths)


def _encoded_gif(pictures: Iterator[Image.Image], hundredths: int) -> bytes:
    """Pictures as a looping GIF, each shown for some hundredths of a second."""
    first = next(pictures).quantize(_COLORS)
    rest = (picture.quantize(palette=first, dither=Image.Dither.NONE) for picture in pictures)
    file = io.BytesIO()
    first.save(
        file, "GIF", save_all=True, append_images=rest, duration=10 * hundredths, loop=0, disposal=1, optimize=False
    )
    return file.getvalue()


def mp4(motion: Motion, width: int = 640, height: int = 360, view: View = "side") -> bytes:
    """An H.264 video; odd sizes are rounded up, because the format has none.

    Args:
        motion: what to draw.
        width: [px].
        height: [px].
        view: as in `frames`.

    Raises:
        OutputError: the video cannot be encoded.
    """
    import imageio.v2 as imageio

    fps = min(_rate(motion), _MP4_FPS)
    pictures = frames(motion, fps, width + width % 2, height + height % 2, view)
    try:
        with tempfile.TemporaryDirectory(prefix="surefoot-") as folder:
            path = Path(folder) / "motion.mp4"
            film: Any = imageio.get_writer(
                path, format="FFMPEG", fps=fps, codec="libx264", quality=8, macro_block_size=2
            )  # fmt: skip
            with film:
                for picture in pictures:
                    film.append_data(np.asarray(picture))
            return path.read_bytes()
    except (OSError, RuntimeError, ImportError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OutputError(f"cannot encode a video: {reason}") from None


def _rate(motion: Motion) -> float:
    return frame_rate(motion) if len(motion) > 1 else _STILL_FPS


def _size(limbs: list[posed_body.Limb]) -> float:
    """Largest extent of a body along a world axis [m]."""
    return max(0.5, *(high - low for low, high in (painter.extent_along(limbs, axis) for axis in range(3))))


def _path(motion: Motion, times: np.ndarray, fps: float, camera: Camera) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the ground is cut (n, 2), and where the camera looks along the picture (n,) and how high (n,) [m].

    From the side, the cut follows the body without its sway, which would make the ground shake.
    """
    roots = np.column_stack([np.interp(times, motion.time, motion.root_position[:, axis]) for axis in range(2)])
    along, across = camera.along(roots), camera.across(roots)
    level = painter.ground_heights(painter.terrain_of(motion), roots)
    middle, steady, level = (gaussian_filter1d(a, _LAG * fps, mode="nearest") for a in (along, across, level))
    return camera.place(along, steady if camera.view == "side" else across), middle, level
