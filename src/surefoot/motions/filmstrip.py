"""Filmstrips: one wide picture of a motion, with the body at evenly spaced moments side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from surefoot.errors import OutputError
from surefoot.motions import painter, posed_body
from surefoot.motions.motion import Motion
from surefoot.motions.painter import Camera, Canvas, View, mean_facing
from surefoot.motions.posed_body import PosedBody
from surefoot.terrains.terrain import Terrain

MAX_FIGURES = 200
_WINDOW = 2.75  # [s] that are shown by default
_STAGE = 8.5  # [m] that are shown on uneven ground, where positions matter more than the gait
_TOP, _BOTTOM, _EDGE = 40.0, 54.0, 30.0  # [px] for the caption, for the labels, left and right of the figures
_TALL, _HEIGHTS = 250.0, (360, 520)  # [px] of a standing body; least and largest height of the picture
_GAP = 5.0  # [px] between separate grounds
_APART, _CLOSE = 0.85, 0.4  # [body widths] between neighbours at their true positions: by default, and if asked for


@dataclass(frozen=True)
class _Plan:
    """Which moments are shown and where; `places` are the figures' columns [px] if they are not at true positions."""

    times: np.ndarray
    ghosts: np.ndarray
    camera: Camera
    places: np.ndarray | None = None
    pitch: float = 0.0  # [px] between columns


@dataclass(frozen=True)
class _Sizes:
    """Sizes and path of the body in a window, at evenly spaced `times` [s, m]."""

    times: np.ndarray
    along: np.ndarray  # (n,) positions of the root along the picture's right axis
    broad: float
    tall: float  # or long, if it lies
    middle: float  # of the body, from its root
    bottom: float
    top: float

    def ways(self, count: int) -> np.ndarray:
        """(count − 1,) distances between neighbours if `count` figures are shown [m]; 0 for a single one."""
        places = np.interp(np.linspace(self.times[0], self.times[-1], count), self.times, self.along)
        return np.abs(np.diff(places)) if count > 1 else np.zeros(1)


def filmstrip(
    motion: Motion,
    frames: int | None = None,
    view: View = "side",
    *,
    start: float | None = None,
    end: float | None = None,
    width: int = 1600,
    height: int | None = None,
    caption: str | None = None,
) -> Image.Image:
    """Draw a motion as a strip.

    A body that travels far enough stands at its true positions on one long ground, with fainter figures in between;
    otherwise every figure has its own piece of ground.

    Args:
        motion: what to draw; without a scene it is a stick figure on flat ground.
        frames: number of figures; by default as many as fit, about a dozen.
        view: from the `side` or the `front`, relative to where the body faces on average.
        start: first moment [s]; by default 2.75 s before the end, on uneven ground 8.5 m before it.
        end: last moment [s]; by default the motion's last.
        width: of the picture [px].
        height: of the picture [px]; by default 360, more if the ground rises or falls.
        caption: upper left line; by default skill, terrain and mean speed, "" for none.

    Raises:
        OutputError: a size or a moment is out of range, or the motion cannot be drawn.
    """
    if not 200 <= width <= 20_000 or not (height is None or 150 <= height <= 20_000):
        raise OutputError("a filmstrip is 200 … 20000 px wide and 150 … 20000 px high")
    if frames is not None and not 1 <= frames <= MAX_FIGURES:
        raise OutputError(f"a filmstrip has 1 … {MAX_FIGURES} figures, got {frames}")
    actor, terrain = posed_body.posed_body_of(motion), painter.terrain_of(motion)
    window = _window(motion, terrain if view == "side" else None, start, end)
    camera = Camera(view, 1.0, yaw=mean_facing(motion, *window))
    sizes = _measure(actor, terrain, window, camera)
    rise, margin = sizes.top - sizes.bottom, _TOP + _BOTTOM
    scale = min(_TALL / sizes.tall, ((height or _HEIGHTS[1]) - margin) / rise)
    height = height or round(max(_HEIGHTS[0], margin + rise * scale))
    camera = replace(camera, scale=scale)
    moves = terrain is not None and terrain.moves
    stage = None if moves else _on_stage(actor, sizes, frames, camera, width)
    plan = stage or _set_apart(actor, sizes, frames, camera, width)
    plan = replace(plan, camera=replace(plan.camera, top=sizes.bottom + (height - _BOTTOM) / plan.camera.scale))
    canvas = Canvas(width, height)
    cameras = _cameras(plan, actor)
    _paint_grounds(canvas, plan, cameras, actor, terrain)
    for time in plan.ghosts:
        painter.paint_body(canvas, actor.limbs(time), plan.camera, fade=0.72)
    count = len(plan.times)
    for i, (time, camera) in enumerate(zip(plan.times, cameras, strict=True)):
        painter.paint_body(canvas, actor.limbs(time), camera, fade=0.3 * (count - 1 - i) / count)
        column = camera.project(_root(motion, time)[None])[0, 0] if plan.places is None else plan.places[i]
        canvas.text(column, height - 15.0, f"{time:.2f} s", 12.5, painter.INK)
    caption = _caption(motion, window, camera.yaw) if caption is None else caption
    written = canvas.text(_EDGE, 21.0, caption, 17.0, painter.INK, "lm")
    note = "" if plan.places is None or count == 1 else "figures set apart, marks every 0.5 m"
    if written < width - 380.0:
        canvas.text(width - _EDGE, 21.0, note, 12.5, painter.FAINT, "rm")
    return canvas.image()


def _window(motion: Motion, terrain: Terrain | None, start: float | None, end: float | None) -> tuple[float, float]:
    """First and last moment to show [s]."""
    first, last = float(motion.time[0]), float(motion.time[-1])
    end = last if end is None else end
    if start is None:
        start = max(first, end - _WINDOW)
        if not painter.is_flat(terrain):
            near = np.hypot(*(motion.root_position - _root(motion, end))[:, :2].T) < _STAGE
            start = min(start, float(motion.time[near][0])) if near.any() else start
    if not first <= start <= end <= last:
        raise OutputError(f"a filmstrip of this motion lies within {first:g} … {last:g} s, got {start:g} … {end:g} s")
    return start, end


def _measure(actor: PosedBody, terrain: Terrain | None, window: tuple[float, float], camera: Camera) -> _Sizes:
    times = np.linspace(*window, 25)
    bodies, roots = [actor.limbs(t) for t in times], np.array([_root(actor.motion, t) for t in times])
    sides, heights = (
        np.array([painter.extent_along(body, i, camera.yaw) for body in bodies]) for i in (camera.axis, 2)
    )
    along, below = camera.along(roots), painter.ground_heights(terrain, roots)
    broad = float(np.median(np.ptp(sides, axis=1)))
    return _Sizes(
        times=times,
        along=along,
        broad=broad,
        tall=max(float(np.median(heights[:, 1] - below)), broad, 0.5),
        middle=float(np.median(sides.mean(axis=1) - along)),
        bottom=float(min(below.min(), heights.min())),
        top=float(heights.max()),
    )


def _on_stage(actor: PosedBody, sizes: _Sizes, frames: int | None, camera: Camera, width: int) -> _Plan | None:
    """Figures at their true positions, as many as stand well apart; None if they would not fill the picture."""
    counts, apart = ([frames], _CLOSE) if frames else (list(range(6, 17)), _APART)
    fitting = [n for n in counts if sizes.ways(n).min() >= apart * sizes.broad][-5:]
    room, reach = width - 2 * _EDGE, float(np.ptp(sizes.along)) + 1.4 * sizes.broad
    if not fitting or not 0.6 * room < reach * camera.scale < 1.5 * room:
        return None
    times = _liveliest(actor, sizes, fitting)
    ghosts = 0.5 * (times[1:] + times[:-1])[sizes.ways(len(times)) >= _APART * sizes.broad]
    scale = min(camera.scale, room / reach)
    left = 0.5 * float(sizes.along.min() + sizes.along.max()) - 0.5 * width / scale
    return _Plan(times, ghosts, replace(camera, scale=scale, left=left))


def _set_apart(actor: PosedBody, sizes: _Sizes, frames: int | None, camera: Camera, width: int) -> _Plan:
    """Figures in evenly spaced columns."""
    room = width - 2 * _EDGE
    most = int(np.clip(room / (1.12 * sizes.broad * camera.scale), 5, 12))
    times = _liveliest(actor, sizes, [frames] if frames else [most - 1, most])
    pitch = room / len(times)
    scale = min(camera.scale, 1.6 * pitch / sizes.broad)
    places = 0.5 * width + pitch * (np.arange(len(times)) - 0.5 * (len(times) - 1))
    return _Plan(times, times[:0], replace(camera, scale=scale, left=sizes.middle), places, pitch)


def _liveliest(actor: PosedBody, sizes: _Sizes, counts: list[int]) -> np.ndarray:
    """The moments for the number of figures whose neighbours differ most, which avoids multiples of the step's time."""
    if sizes.times[0] == sizes.times[-1]:
        return sizes.times[:1]
    best, most = np.zeros(0), -1.0
    for count in counts:
        times = np.linspace(sizes.times[0], sizes.times[-1], count)
        bodies = [np.vstack([s.points for limb in actor.limbs(t) for s in limb.shapes]) for t in times]
        poses = np.array([body - body[0] for body in bodies])
        change = float(np.linalg.norm(np.diff(poses, axis=0), axis=2).mean()) if count > 1 else 0.0
        if change > most:
            best, most = times, change
    return best


def _cameras(plan: _Plan, actor: PosedBody) -> list[Camera]:
    """A camera for each figure: the same for all, or one that puts the figure into its column."""
    if plan.places is None:
        return [plan.camera] * len(plan.times)
    roots = plan.camera.along(np.array([_root(actor.motion, t) for t in plan.times]))
    return [
        replace(plan.camera, left=float(left)) for left in plan.camera.left + roots - plan.places / plan.camera.scale
    ]


def _paint_grounds(
    canvas: Canvas, plan: _Plan, cameras: list[Camera], actor: PosedBody, terrain: Terrain | None
) -> None:
    """Draw one long ground, or a piece for each figure."""
    if plan.places is None:
        path = np.array([_root(actor.motion, t) for t in plan.times])
        painter.paint_ground(canvas, terrain, plan.camera, 0.0, float(canvas.width), path)
        return
    half = 0.5 * (plan.pitch - _GAP)
    for time, place, camera in zip(plan.times, plan.places, cameras, strict=True):
        now = terrain.at(time) if terrain else None
        painter.paint_ground(canvas, now, camera, place - half, place + half, _root(actor.motion, time)[None])


def _root(motion: Motion, time: float) -> np.ndarray:
    """(3,) the root's position at a time [m]."""
    return np.array([np.interp(time, motion.time, motion.root_position[:, i]) for i in range(3)])


def _caption(motion: Motion, window: tuple[float, float], facing: float) -> str:
    """Skill, ground and mean speed in the direction of facing, as far as they are known."""
    parts = []
    if motion.scene is not None:
        parts.append(motion.scene.skill.full_name)
        if not painter.is_flat(motion.scene.terrain):
            parts.append(motion.scene.terrain.description)
    if window[1] > window[0]:
        way = painter.in_yaw_frame((_root(motion, window[1]) - _root(motion, window[0]))[None], facing)[0, 0]
        parts.append(f"{abs(way) / (window[1] - window[0]):.2f} m/s")
    return "  ·  ".join(parts)
