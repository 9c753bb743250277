"""Terrains by name and arguments: `flat`, `slope:6`, `steps:4,-0.2,8,-0.2`, `rough:7,0.03`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence

import numpy as np

from surefoot.errors import TerrainError, UnknownNameError
from surefoot.terrains.terrain import Terrain

__all__ = ["Terrain", "flat", "load", "names", "profile", "rough", "slope", "steps"]


def flat() -> Terrain:
    """Level ground."""
    return Terrain("flat")


def slope(angle: float, start: float = 2.0, length: float = 500.0) -> Terrain:
    """Level ground that rises (or falls) at `angle` radians from x = `start` on, for `length` metres along x."""
    if not abs(angle) <= math.radians(45.0):
        raise TerrainError(f"a slope must be within ± 45°, got {math.degrees(angle):g}°")
    if not (length > 0.0 and start >= 0.3):
        raise TerrainError("a slope needs start >= 0.3 m and length > 0 m")
    rise = math.tan(angle) * length
    corners = np.array([[start, 0.0], [start + length, rise]])
    return Terrain(f"slope:{math.degrees(angle):g},{start:g},{length:g}", corners)


def steps(places: Sequence[float], heights: Sequence[float]) -> Terrain:
    """Vertical steps: at x = places[i] the ground rises by heights[i] (falls where negative) [m]."""
    if len(places) != len(heights) or not len(places):
        raise TerrainError("steps need as many heights as places, and at least one")
    if any(not abs(h) <= 2.0 for h in heights):
        raise TerrainError("a step's height must be within ± 2 m")
    level, corners = 0.0, []
    for place, rise in zip(places, heights, strict=True):
        corners += [(place, level), (place, level + rise)]
        level += rise
    text = ",".join(f"{x:g},{h:g}" for x, h in zip(places, heights, strict=True))
    return Terrain(f"steps:{text}", np.array(corners))


def rough(seed: int, amplitude: float, spacing: float = 0.5, length: float = 200.0) -> Terrain:
    """Random heights within ± `amplitude` every `spacing` metres, joined by straight lines."""
    if not (0.0 <= amplitude <= 1.0 and 0.05 <= spacing <= 10.0 and 0.0 < length <= 1000.0 and 0 <= seed < 2**53):
        raise TerrainError("rough takes seed >= 0, amplitude 0 … 1 m, spacing 0.05 … 10 m, length up to 1000 m")
    count = max(2, min(int(length / spacing), 4000))
    heights = np.random.default_rng(int(seed)).uniform(-amplitude, amplitude, count)
    heights[0] = heights[-1] = 0.0
    corners = np.column_stack([1.0 + spacing * np.arange(count), heights])
    return Terrain(f"rough:{int(seed)},{amplitude:g},{spacing:g},{length:g}", corners)


def profile(heights: Sequence[float] | np.ndarray, spacing: float = 0.25, start: float = 1.0) -> Terrain:
    """Any height profile: `heights` [m] every `spacing` metres from x = `start` on."""
    z = np.asarray(heights, float)
    if z.ndim != 1 or not len(z) or not spacing > 0.0:
        raise TerrainError("a profile takes a list of heights and a spacing > 0 m")
    return Terrain("profile", np.column_stack([start + spacing * np.arange(len(z)), z]))


_KINDS: dict[str, Callable[..., Terrain]] = {"flat": flat, "slope": slope, "steps": steps, "rough": rough}


def names() -> tuple[str, ...]:
    """All terrains that can be asked for by name."""
    return tuple(_KINDS)


def load(text: str) -> Terrain:
    """The terrain a string describes: a name, and after a colon its numbers (angles in degrees)."""
    name, _, rest = text.partition(":")
    if name not in _KINDS:
        raise UnknownNameError("terrain", name, names())
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise TerrainError(f"terrain {text[:60]!r}: {rest[:40]!r} is not a list of numbers") from None
    if not all(map(math.isfinite, numbers)):
        raise TerrainError(f"terrain {text[:60]!r}: numbers must be finite")
    if name == "steps":
        return steps(numbers[0::2], numbers[1::2])
    if name == "slope" and numbers:
        numbers[0] = math.radians(numbers[0])
    takes = inspect.signature(_KINDS[name]).parameters
    needed = sum(p.default is inspect.Parameter.empty for p in takes.values())
    if not needed <= len(numbers) <= len(takes):
        raise TerrainError(f"terrain {name} takes {', '.join(takes) or 'no numbers'}; got {len(numbers)} numbers")
    return _KINDS[name](*numbers)
