"""What `surefoot tune` does between parsing and searching, and after."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from surefoot.errors import CommandError, OutputError
from surefoot.lab.tune import value_of
from surefoot.skills import files, library_path, load, set_value, varied
from surefoot.skills.schema import Skill


def bounds_of(items: list[str]) -> dict[str, tuple[float, float]]:
    """Bounds of parameters written as PATH=LOW:HIGH."""
    found = {}
    for item in items:
        name, _, span = item.partition("=")
        low, _, high = span.partition(":")
        try:
            found[name] = (float(low), float(high))
        except ValueError:
            raise CommandError(f"a parameter is PATH=LOW:HIGH, got {item!r}") from None
    if not found:
        raise CommandError("name at least one --parameter PATH=LOW:HIGH to tune")
    return found


def check_bounds(skill: Skill, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Refuse a search whose parameters or bounds the schema would refuse, before it begins."""
    for path, (low, high) in bounds.items():
        if not low < high:
            raise CommandError(f"{path}: a range takes low < high, got {low:g}:{high:g}")
        value_of(skill, path)
        for value in (low, high):
            varied(skill, {path: value})


def tuned_name(path: Path) -> str:
    """The name a skill gets from its file's."""
    if path.suffix not in (".yaml", ".yml"):
        raise OutputError(f"cannot write {path}: a skill file ends with .yaml")
    return skill_name(path, "tuned")


def skill_name(path: Path, otherwise: str) -> str:
    """A valid name of a skill, as like a file's as can be; `otherwise` if nothing of that is left."""
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:60] or otherwise


def write_tuned(source: str, values: Mapping[str, float], path: Path) -> None:
    """Write a tuned skill as a file: the beginning's document with the new numbers, comments kept."""
    begin = load(source)
    origin = Path(source) if source.endswith((".yaml", ".yml")) else library_path(begin.full_name)
    document = files.read(origin)[1]
    document["name"] = tuned_name(path)
    document["provenance"]["source"] = f"tuned from {begin.full_name} by surefoot tune"
    document["provenance"].pop("changed", None)
    for name, value in values.items():
        set_value(document, name, round(value, 5))
    files.validate(document, str(path))
    files.write(document, path)
