"""Pieces of work for `test_ray.py` and `test_pieces.py`, which workers import from here."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.engine.devices import THREADS_VARIABLE
from surefoot.engine.population import Population
from surefoot.lab.experiment import Result, Setting, cut_into
from surefoot.lab.pieces import Piece
from surefoot.lab.replicas import perturb_population, seeded_generator

HANGS = 300.0  # [s] after which a piece that nobody kills gives up


def walked(number: int, folder: Path | None = None) -> list[float]:
    """Where a walk is after a while, from a start of its own; leaves a mark in a folder for each time it is done."""
    if folder is not None:
        leave_mark(folder, number)
    population = Population(2, skill="walk", parameters={"states.1.cd": [1.0 + 0.1 * number, 2.0]})
    perturb_population(population, [seeded_generator(number, "made", k) for k in range(2)])
    population.run(1.0)
    return [float(value) for value in population.qpos.ravel()]


def leave_mark(folder: Path, number: int) -> Path:
    """A file for each time that a piece is begun: its number, its process and that process's parent."""
    done = len(list(folder.glob(f"{number}-*")))
    mark = folder / f"{number}-{done}-{os.getpid()}-{os.getppid()}"
    mark.touch()
    return mark


def walked_unless_killed(number: int, folder: Path, spared: int) -> list[float]:
    """As `walked`; the first process in a folder that is not a child of `spared` waits until it is killed.

    Children of `spared` wait until there is one: alone they might do all the pieces before the others have begun.
    """
    mark, waits = leave_mark(folder, number), folder / "waits"
    if os.getppid() == spared:
        _wait_for(waits.exists)
        return walked(number)
    try:
        with waits.open("x") as file:
            file.write(mark.name)
    except FileExistsError:
        return walked(number)
    _wait_for(lambda: False)
    return []


def _wait_for(what: Callable[[], bool]) -> None:
    begun = time.monotonic()
    while not what():
        time.sleep(0.05)
        if time.monotonic() - begun > HANGS:
            raise TimeoutError("nobody killed this piece, or no node began one")


def threads_of_a_piece() -> list[Any]:
    """How many threads populations take here."""
    return [os.environ.get(THREADS_VARIABLE), os.getpid() != os.getppid()]


def fails(message: str) -> None:
    """A piece that ends with an error."""
    raise ZeroDivisionError(message)


def walks(setting: Setting) -> list[Piece[list[float]]]:
    """The pieces of an experiment."""
    return [Piece(f"walk {i}", walked, (setting.seed + i,)) for i in range(4)]


@cut_into(walks)
def cut(result: Result, setting: Setting, found: list[list[float]]) -> None:
    """An experiment of several pieces."""
    result.runs += [{"piece": i, "x": places[0]} for i, places in enumerate(found)]
    result.add_row("walks", "4", str(len(found)), "walks", len(found) == 4)


def whole(result: Result, setting: Setting) -> None:
    """An experiment that is one piece, and writes a file and a folder."""
    places = walked(setting.seed)
    path = setting.figure_path(result.experiment, "folder/places.txt")
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(repr(places))
    result.add_row("walk", "", f"{places[0]:.6f}", "m", setting.seed < 5)
    result.runs.append({"x": places[0]})


def broken(result: Result, setting: Setting) -> None:
    """An experiment that cannot run."""
    raise ZeroDivisionError("no legs to stand on")
