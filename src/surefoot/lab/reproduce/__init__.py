"""One experiment for every table, figure and claim of the papers."""

from __future__ import annotations

import importlib
import pkgutil

from surefoot.errors import UnknownNameError
from surefoot.lab.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """All experiments by name, in the order of their papers and claims."""
    found: dict[str, Experiment] = {}
    for paper in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        module = importlib.import_module(f"{__name__}.{paper}")
        found |= {e.name: e for e in module.EXPERIMENTS}
    return found


def select(names: list[str]) -> list[Experiment]:
    """The experiments asked for: full names, or a paper's name for all of its; none means all."""
    known = experiments()
    chosen: list[Experiment] = []
    for name in names or list(known):
        matching = [e for n, e in known.items() if n == name or n.split("/")[0] == name]
        if not matching:
            raise UnknownNameError("experiment", name, known)
        chosen += [e for e in matching if e not in chosen]
    return chosen
