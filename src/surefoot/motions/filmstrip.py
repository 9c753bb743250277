"""A motion as one wide picture: the body at evenly spaced moments, side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from surefoot.errors import OutputError
from surefoot.motions.motion import Motion
from surefoot.motions.painter import (
    FAINT, INK, Actor, Camera, Canvas, View, actor_of, extent, paint_body, paint_ground, terrain_of,
)  # fmt: skip
from surefoot.terrains.terrain import Terrain

MAX_FIGURES = 200
_WINDOW = 2.75  # [s] shown unless told otherwise
_STAGE = 8.5  # [m] shown instead on uneven ground, where places matter more than the gait
_TOP, _BOTTOM, _EDGE = 40.0, 54.0, 30.0  # [px] for the caption, for the labels, left and right of the figures
_TALL, _HEIGHTS = 250.0, (360, 520)  # [px] of a standing body, of the picture
_GAP = 5.0  # [px] between grounds that do not belong together
_APART, _CLOSE = 0.8, 0.5  # [widths] between neighbours at their true places: wanted, and allowed if asked for


@dataclass(frozen=True)
class _Plan:
    """Which moments are shown and where; `places` are the figures' columns [px] where places are not true."""

    times: np.ndarray
    ghosts: np.ndarray
    camera: Camera
    places: np.ndarray | None = None
    pitch: float = 0.0  # [px] from one place to the next


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

    A body that travels enough stands at its true places on one long stage, with fainter ones in between;
    otherwise every figure has a piece of ground of its own.

    Args:
        motion: what to draw; without a scene it is a stick figure on flat ground.
        frames: number of figures; by default as many as fit, about a dozen.
        view: from the `side` or the `front`.
        start: first moment [s]; by default 2.75 s before the end, on uneven ground 8.5 m before it.
        end: last moment [s]; by default the motion's last.
        width: of the picture [px].
        height: of the picture [px]; by default 360, more where the ground rises or falls.
        caption: upper left line; by default skill, terrain and mean speed, "" for none.
    """
    if not 200 <= width <= 20_000 or not (height is None or 150 <= height <= 20_000):
        raise OutputError("a filmstrip is 200 … 20000 px wide and 150 … 20000 px high")
    if frames is not None and not 1 <= frames <= MAX_FIGURES:
        raise OutputError(f"a filmstrip has 1 … {MAX_FIGURES} figures, got {frames}")
    actor, terrain = actor_of(motion), terrain_of(motion)
    window = _window(motion, terrain if view == "side" else None, start, end)
    plan, height = _plan(actor, terrain, window, frames, Camera(view, 1.0), width, height)
    canvas = Canvas(width, height)
    cameras = _cameras(plan, actor)
    _paint_grounds(canvas, plan, cameras, actor, terrain)
    for time in plan.ghosts:
        paint_body(canvas, actor.limbs(time), plan.camera, fade=0.72)
    count = len(plan.times)
    for i, (time, camera) in enumerate(zip(plan.times, cameras, strict=True)):
        paint_body(canvas, actor.limbs(time), camera, fade=0.3 * (1.0 - i / max(count - 1, 1)))
        column = camera.project(_root(motion, time)[None])[0, 0]
        canvas.text(column, height - 15.0, f"{time:.2f} s", 12.5, INK)
    written = canvas.text(_EDGE, 21.0, _caption(motion, window) if caption is None else caption, 17.0, INK, "lm")
    note = "" if plan.places is None else "figures set apart, marks every 0.5 m"
    if written < width - 380.0:
        canvas.text(width - _EDGE, 21.0, note, 12.5, FAINT, "rm")
    return canvas.image()


def _window(motion: Motion, terrain: Terrain | None, start: float | None, end: float | None) -> tuple[float, float]:
    """First and last moment to show [s]."""
    first, last = float(motion.time[0]), float(motion.time[-1])
    end = last if end is None else end
    if start is None:
        start = max(first, end - _WINDOW)
        if terrain is not None and terrain.vertices is not None:
            x = motion.root_position[:, 0]
            near = np.abs(x - np.interp(end, motion.time, x)) < _STAGE
            start = float(motion.time[near & (motion.time <= end)][0]) if near.any() else start
    if not first <= start <= end <= last:
        raise OutputError(f"a filmstrip of this motion lies within {first:g} … {last:g} s, got {start:g} … {end:g} s")
    return start, end


def _plan(
    actor: Actor, terrain: Terrain | None, window: tuple[float, float], frames: int | None, camera: Camera, width: int,
    height: int | None,
) -> tuple[_Plan, int]:  # fmt: skip
    """Choose scale, moments and places so that the figures fill the picture; and the picture's height [px]."""
    times, room = np.linspace(*window, 25), width - 2 * _EDGE
    bodies, roots = [actor.limbs(t) for t in times], np.array([_root(actor.motion, t) for t in times])
    broad = float(np.median([np.ptp(extent(b, camera.axis)) for b in bodies]))
    low, high = np.array([extent(b, 2) for b in bodies]).T
    ground = terrain.height(roots[:, 0]) if terrain is not None else np.zeros(len(roots))
    bottom, top = min(float(ground.min()), float(low.min())), float(high.max())
    highest = _HEIGHTS[1] if height is None else height
    scale = min(_TALL / max(float(np.median(high - ground)), 0.5), (highest - _TOP - _BOTTOM) / (top - bottom))
    height = height or round(max(_HEIGHTS[0], _TOP + _BOTTOM + (top - bottom) * scale))

    count, along = frames, roots[:, camera.axis]
    if count is None:
        count = next((n for n in range(16, 1, -1) if _spacing(times, along, n) >= _APART * broad), 1)
    reach = float(np.ptp(along)) + 1.4 * broad
    if count > 2 and _spacing(times, along, count) >= _CLOSE * broad and 0.6 * room < reach * scale < 1.5 * room:
        scale = min(scale, room / reach)
        times = np.linspace(*window, count)
        left = 0.5 * float(along.min() + along.max()) - 0.5 * width / scale
        ghosts = 0.5 * (times[1:] + times[:-1]) if np.ptp(along) / (count - 1) > broad else times[:0]
        return _Plan(
            times, ghosts, replace(camera, scale=scale, left=left, top=bottom + (height - _BOTTOM) / scale)
        ), height

    count = frames or int(np.clip(room / (1.12 * broad * scale), 5, 12))
    pitch = room / count
    scale = min(scale, 1.6 * pitch / broad)
    times = np.linspace(*window, count) if window[1] > window[0] else times[:1]
    places = 0.5 * width + pitch * (np.arange(len(times)) - 0.5 * (len(times) - 1))
    return _Plan(
        times, times[:0], replace(camera, scale=scale, top=bottom + (height - _BOTTOM) / scale), places, pitch
    ), height


def _spacing(times: np.ndarray, along: np.ndarray, count: int) -> float:
    """Least way between neighbours if this many figures are shown [m]."""
    places = np.interp(np.linspace(times[0], times[-1], count), times, along)
    return float(np.abs(np.diff(places)).min()) if count > 1 else 0.0


def _cameras(plan: _Plan, actor: Actor) -> list[Camera]:
    """One camera for each figure: the same, or one that puts it at its place."""
    if plan.places is None:
        return [plan.camera] * len(plan.times)
    middles = [0.5 * sum(extent(actor.limbs(t), plan.camera.axis)) for t in plan.times]
    lefts = np.array(middles) - plan.places / plan.camera.scale
    return [replace(plan.camera, left=float(left)) for left in lefts]


def _paint_grounds(canvas: Canvas, plan: _Plan, cameras: list[Camera], actor: Actor, terrain: Terrain | None) -> None:
    """One long ground, or a piece for each figure."""
    if plan.places is None:
        paint_ground(canvas, terrain, plan.camera, 0.0, float(canvas.width), 0.0)
        return
    half = 0.5 * (plan.pitch - _GAP)
    for time, place, camera in zip(plan.times, plan.places, cameras, strict=True):
        paint_ground(canvas, terrain, camera, place - half, place + half, float(_root(actor.motion, time)[0]))


def _root(motion: Motion, time: float) -> np.ndarray:
    """(3,) the root's position at a time [m]."""
    return np.array([np.interp(time, motion.time, motion.root_position[:, i]) for i in range(3)])


def _caption(motion: Motion, window: tuple[float, float]) -> str:
    """Skill, ground and mean speed, as far as they are known."""
    parts = []
    if motion.scene is not None:
        parts.append(motion.scene.skill.full_name)
        if motion.scene.terrain.vertices is not None:
            parts.append(motion.scene.terrain.description)
    if window[1] > window[0]:
        way = (_root(motion, window[1]) - _root(motion, window[0]))[:2]
        parts.append(f"{math.hypot(*way) / (window[1] - window[0]):.2f} m/s")
    return "  ·  ".join(parts)
