"""§4.4, "Lifting and moving a crate", figure 16: 5 … 25 kg, from the floor and from a table, over 10 m."""

from __future__ import annotations

import math

from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.genbicon.crates import performed
from surefoot.tasks.carry import Carry
from surefoot.tasks.carry import crate as carried_crate
from surefoot.terrains.props import Prop, Table

_MASSES = (5.0, 10.0, 15.0, 20.0, 25.0)  # [kg]
_WAY, _MORE = 10.0, 0.3  # [m] to carry it at least, and what is asked for beyond
_TABLE = (0.45, 0.8, 0.7)  # [m]
_AT = (2.0, 0.0)  # [m] where the crate is
_REPLICAS = 3
_FROM = {"floor": 0.0, "table": _TABLE[2]}


def run(result: Result, setting: Setting) -> None:
    """Every mass from the floor to the floor, and from a table to a table."""
    masses = _MASSES[::2] if setting.quick else _MASSES
    replicas = 1 if setting.quick else _REPLICAS
    cases = [(start, mass) for start in _FROM for mass in masses]
    for k, (start, mass) in enumerate(cases):
        label = f"{mass:g} kg, {start} to {start}"
        setting.progress(label, k / len(cases))
        runs = performed(*_errand(mass, _FROM[start]), replicas, setting, label)
        result.runs += runs
        good = sum(run["done"] and run["carried"] >= _WAY for run in runs)
        ways = ", ".join(f"{run['carried']:.2f}" if run["done"] else "–" for run in runs)
        result.row(
            label, "lifted and moved", f"{good} of {replicas}: {ways} m", f"carried {_WAY:g} m and put down",
            good == replicas,
        )  # fmt: skip


def _errand(mass: float, height: float) -> tuple[Carry, list[Prop]]:
    """The task, and what it needs: from a table it goes to the left, past which the way is free."""
    x, y = _AT
    way = _WAY + _MORE
    if height == 0.0:
        return Carry((x + way, y)), [carried_crate(mass, x, y)]
    tables = [Table((x + 0.05, y), _TABLE), Table((x, y + way + 0.05), _TABLE, 0.5 * math.pi)]
    return Carry((x, y + way), height=height), [carried_crate(mass, x, y, height), *tables]
