"""Terrains by name and arguments: `flat`, `slope:6`, `stairs:0.15,0.3,10`, `bumps:7,0.03`, `image:hills.png,20,0.5`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot.errors import TerrainError, UnknownNameError
from surefoot.terrains.balls import Ball
from surefoot.terrains.kinds import (
    bumps,
    field,
    flat,
    gaps,
    incline,
    platform,
    profile,
    rough,
    seesaw,
    slope,
    stairs,
    steps,
)
from surefoot.terrains.pictures import image
from surefoot.terrains.props import Bar, Crate, Obstacle, Table, with_props
from surefoot.terrains.seesaws import SeeSaw
from surefoot.terrains.terrain import Terrain

__all__ = [
    "Ball", "Bar", "Crate", "Obstacle", "Parameter", "SeeSaw", "Table", "Terrain", "bumps", "field", "flat", "gaps",
    "image", "incline", "load", "names", "parameters", "platform", "profile", "rough", "seesaw", "slope", "stairs",
    "steps", "with_props",
]  # fmt: skip

_KINDS: dict[str, Callable[..., Terrain]] = {
    "flat": flat, "slope": slope, "steps": steps, "rough": rough, "incline": incline, "stairs": stairs,
    "bumps": bumps, "image": image, "gaps": gaps, "platform": platform, "seesaw": seesaw,
}  # fmt: skip
_ANGLES = ("angle", "direction")  # in degrees in a text
_UNITS = dict.fromkeys(_ANGLES, "°") | {"period": "s", "ramp": "s", "damping": "N·m·s"}


def names() -> tuple[str, ...]:
    """All terrains that can be asked for by name."""
    return tuple(_KINDS)


@dataclass(frozen=True)
class Parameter:
    """What a terrain takes, in the order of its text.

    Attributes:
        name: as in the signature.
        unit: "°" for angles, "m" for lengths, "s" for times, "N·m·s" for damping, "" for whole numbers and for
            what is no number.
        kind: whether it is a whole number, a number, or text (a path, or several numbers).
        default: None if it must be given.
    """

    name: str
    unit: str
    kind: type[int] | type[float] | type[str]
    default: float | None


def parameters(name: str) -> tuple[Parameter, ...]:
    """What the terrain of a name takes."""
    if name not in _KINDS:
        raise UnknownNameError("terrain", name, names())
    if name == "steps":
        return (Parameter("places and rises", "", str, None),)
    found = []
    for key, taken in inspect.signature(_KINDS[name]).parameters.items():
        kind = {"int": int, "str | Path": str}.get(taken.annotation, float)
        unit = _UNITS.get(key, "m" if kind is float else "")
        default = None if taken.default is inspect.Parameter.empty else float(taken.default)
        found.append(Parameter(key, unit, kind, math.degrees(default) if default and unit == "°" else default))
    return tuple(found)


def load(text: str) -> Terrain:
    """The terrain a string describes: a name, and after a colon its numbers (angles in degrees)."""
    name, _, rest = text.partition(":")
    if name not in _KINDS:
        raise UnknownNameError("terrain", name, names())
    if name == "image":
        return _image(text, rest)
    numbers = _numbers(text, rest.split(",") if rest else [])
    if name == "steps":
        return steps(numbers[0::2], numbers[1::2])
    takes = inspect.signature(_KINDS[name]).parameters
    needed = sum(p.default is inspect.Parameter.empty for p in takes.values())
    if not needed <= len(numbers) <= len(takes):
        raise TerrainError(f"terrain {name} takes {', '.join(takes) or 'no numbers'}; got {len(numbers)} numbers")
    named = zip(takes, numbers, strict=False)  # the last ones may be left out
    return _KINDS[name](*(math.radians(value) if key in _ANGLES else value for key, value in named))


def _numbers(text: str, parts: list[str]) -> list[float]:
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        raise TerrainError(f"terrain {text[:60]!r}: {','.join(parts)[:40]!r} is not a list of numbers") from None
    if not all(map(math.isfinite, numbers)):
        raise TerrainError(f"terrain {text[:60]!r}: numbers must be finite")
    return numbers


def _image(text: str, rest: str) -> Terrain:
    """PATH,SIZE,HEIGHT or PATH,SIZE,HEIGHT,WIDTH; the path may have commas of its own."""
    parts = rest.split(",")
    count = 3 if len(parts) > 3 and _is_number(parts[-3]) else 2
    if len(parts) <= count:
        raise TerrainError("terrain image takes path, size, height and if need be width: image:hills.png,20,0.5")
    size, height, *width = _numbers(text, parts[-count:])
    return image(",".join(parts[:-count]), (size, width[0]) if width else size, height)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
