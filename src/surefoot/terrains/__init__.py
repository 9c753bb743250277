"""Terrains by name and arguments: `flat`, `slope:6`, `stairs:0.15,0.3,10`, `bumps:7,0.03`, `image:hills.png,20,0.5`."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from surefoot import plugins
from surefoot.errors import TerrainError
from surefoot.terrains.balls import Ball
from surefoot.terrains.generators import (
    bumps,
    field,
    flat,
    gaps,
    image,
    incline,
    platform,
    profile,
    rough,
    seesaw,
    slope,
    stairs,
    steps,
)
from surefoot.terrains.props import Bar, Crate, Obstacle, SeeSaw, Table, with_props
from surefoot.terrains.terrain import Terrain

__all__ = [
    "Ball", "Bar", "Crate", "Obstacle", "Parameter", "SeeSaw", "Table", "Terrain", "bumps", "field", "flat", "gaps",
    "image", "incline", "load", "names", "parameters", "platform", "profile", "rough", "seesaw", "slope", "stairs",
    "steps", "with_props",
]  # fmt: skip

sys.modules[__name__].__class__ = plugins.ListedModule

_ANGLES = ("angle", "direction")  # in degrees in a text
_UNITS = dict.fromkeys(_ANGLES, "°") | {"period": "s", "ramp": "s", "damping": "N·m·s"}


def names() -> tuple[str, ...]:
    """The names of all registered terrains."""
    return plugins.names(plugins.TERRAINS)


@dataclass(frozen=True)
class Parameter:
    """An argument of a terrain, in the order of its text.

    Attributes:
        name: as in the signature.
        unit: "°" for angles, "m" for lengths, "s" for times, "N·m·s" for damping, "" for whole numbers and texts.
        kind: whole number, number, or text (a path, or several numbers).
        default: None if it must be given.
    """

    name: str
    unit: str
    kind: type[int] | type[float] | type[str]
    default: float | None


@dataclass(frozen=True)
class TextTerrain:
    """A terrain whose text is more than a list of numbers; other terrains register the function that makes them.

    Attributes:
        parse: makes the terrain from the text behind the name and the colon.
        parameters: its arguments.
    """

    parse: Callable[[str], Terrain]
    parameters: tuple[Parameter, ...]


def parameters(name: str) -> tuple[Parameter, ...]:
    """The arguments of a terrain.

    Args:
        name: of a registered terrain.

    Raises:
        UnknownNameError: no terrain is registered under the name; the message lists the valid ones.
    """
    registered = plugins.load(plugins.TERRAINS, name)
    if isinstance(registered, TextTerrain):
        return registered.parameters
    found = []
    for key, taken in inspect.signature(registered).parameters.items():
        kind = {"int": int, "str | Path": str}.get(taken.annotation, float)
        unit = _UNITS.get(key, "m" if kind is float else "")
        default = None if taken.default is inspect.Parameter.empty else float(taken.default)
        found.append(Parameter(key, unit, kind, math.degrees(default) if default and unit == "°" else default))
    return tuple(found)


def load(text: str) -> Terrain:
    """The terrain that a text describes.

    Args:
        text: a name, and after a colon its numbers, angles in degrees: `stairs:0.15,0.3,10`.

    Raises:
        UnknownNameError: no terrain is registered under the name; the message lists the valid ones.
        TerrainError: the numbers are not valid; the message says what is.
    """
    name, _, rest = text.partition(":")
    registered = plugins.load(plugins.TERRAINS, name)
    if isinstance(registered, TextTerrain):
        return registered.parse(rest)
    numbers = _numbers(text, rest.split(",") if rest else [])
    takes = inspect.signature(registered).parameters
    needed = sum(p.default is inspect.Parameter.empty for p in takes.values())
    if not needed <= len(numbers) <= len(takes):
        raise TerrainError(f"terrain {name} takes {', '.join(takes) or 'no numbers'}; got {len(numbers)} numbers")
    named = zip(takes, numbers, strict=False)  # the last ones may be left out
    made: Terrain = registered(*(math.radians(value) if key in _ANGLES else value for key, value in named))
    return made


def _numbers(text: str, parts: list[str]) -> list[float]:
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        raise TerrainError(f"terrain {text[:60]!r}: {','.join(parts)[:40]!r} is not a list of numbers") from None
    if not all(map(math.isfinite, numbers)):
        raise TerrainError(f"terrain {text[:60]!r}: numbers must be finite")
    return numbers


def _steps_from_text(rest: str) -> Terrain:
    """X,RISE,X,RISE,…."""
    numbers = _numbers(f"steps:{rest}", rest.split(",") if rest else [])
    return steps(numbers[0::2], numbers[1::2])


def _image_from_text(rest: str) -> Terrain:
    """PATH,SIZE,HEIGHT or PATH,SIZE,HEIGHT,WIDTH; the path may have commas of its own."""
    parts, text = rest.split(","), f"image:{rest}"
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


STEPS = TextTerrain(_steps_from_text, (Parameter("places and rises", "", str, None),))
IMAGE = TextTerrain(
    _image_from_text,
    (Parameter("path", "", str, None), Parameter("size", "m", float, None), Parameter("height", "m", float, None)),
)
