"""§4.4, "Generalization across characters": one controller and one style for four bodies, no number changed.

Generalization to bodies nobody here has written a number for: those of two other packages, as their files are.

A body is understood from the tree and the shapes of its file, or refused with what it lacks.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from surefoot.characters import load
from surefoot.errors import CharacterError
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.genbicon.walks import (
    SETTLED,
    SKILL,
    SPEED_ERROR,
    Walk,
    farthest,
    grouped,
    quality,
    replica_population,
    run_and_measure,
    upright,
)
from surefoot.motions.motion import Motion

CHARACTERS, SPEEDS = ("humanoid", "robot", "ape", "strider"), (-0.5, 0.0, 0.5, 1.0)  # [m/s]
SECONDS = 60.0


def run(result: Result, setting: Setting) -> None:
    """Every body at every speed, all with the same skill file."""
    speeds = SPEEDS[2:3] if setting.quick else SPEEDS
    for i, character in enumerate(CHARACTERS):
        setting.progress(character, (i + 0.1) / len(CHARACTERS))
        groups, motions = at_speeds(result, setting, character, character, speeds)
        kept = [v for v, walks in zip(speeds, groups, strict=True) if all(w.keeps(v) for w in walks)]
        result.row(
            character, "no tuning by character", f"{len(kept)} of {len(speeds)} speeds: {described(speeds, groups)}",
            f"{', '.join(f'{v:g}' for v in speeds)} m/s (± {SPEED_ERROR:g}), all replicas", len(kept) == len(speeds),
        )  # fmt: skip
        for speed, walks in zip(speeds, groups, strict=True):
            result.show(f"{character} at {speed:g} m/s: how it walks", quality(walks))
        shown = motions[speeds.index(0.5) * (len(motions) // len(speeds))]
        path = setting.figure_path(result.experiment, f"{character}.png")
        figures.save_filmstrip(path, shown, f"{character}, {SKILL}, 0.5 m/s")
    result.show("skill of all four", f"biped/{SKILL}")


def at_speeds(
    result: Result, setting: Setting, name: str, character: str, speeds: tuple[float, ...]
) -> tuple[list[list[Walk]], list[Motion]]:
    """Walks of a body at some speeds, replicas of each, and the motions of their ends."""
    seconds, settled = (9.0, 5.0) if setting.quick else (SECONDS, SETTLED)
    walks, motions = run_and_measure(
        replica_population([{"speed": v} for v in speeds], setting.seed, character), seconds, settled
    )
    groups = grouped(walks)
    for speed, group in zip(speeds, groups, strict=True):
        result.runs += [
            {"character": name, "speed": speed, "replica": k} | walk.record() for k, walk in enumerate(group)
        ]
    return groups, motions


def described(speeds: tuple[float, ...], groups: list[list[Walk]]) -> str:
    """What was measured at each speed."""
    return ", ".join(
        f"{farthest((w.speed for w in walks), v):.2f} m/s"
        + ("" if all(w.is_fair for w in walks) else f" [{upright(walks)}]")
        for v, walks in zip(speeds, groups, strict=True)
    )


WALKERS = (("dm_control", "suite/humanoid.xml"), ("dm_control", "suite/humanoid_CMU.xml"))
REFUSED = ("gymnasium", "envs/mujoco/assets/humanoid.xml")
IMPORTED_SPEEDS = (0.0, 0.5)  # [m/s]


def installed(package: str, file: str) -> Path | None:
    """A file of an installed package, which is not imported; None without it."""
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found else []
    path = Path(places[0]) / file if places else None
    return path if path and path.is_file() else None


def run_imported(result: Result, setting: Setting) -> None:
    """Two bodies that walk and one that cannot."""
    for i, (package, file) in enumerate(WALKERS):
        setting.progress(f"{package} {file}", 0.05 + 0.45 * i)
        path = installed(package, file)
        if path is None:
            _missing(result, package, file)
        else:
            _walker(result, setting, f"{package} {file}", path)
    setting.progress(" ".join(REFUSED), 0.95)
    path = installed(*REFUSED)
    if path is None:
        _missing(result, *REFUSED)
    else:
        refusal(result, " ".join(REFUSED), path)


def _missing(result: Result, package: str, file: str) -> None:
    result.row(f"{package} {file}", "", f"{package} is not installed, or has no {file}", "", False)


def _walker(result: Result, setting: Setting, name: str, path: Path) -> None:
    speeds = IMPORTED_SPEEDS[1:] if setting.quick else IMPORTED_SPEEDS
    body = load(path)
    if body.imported:
        result.show(f"{name}: lacks", ", ".join(body.imported.limbs.missing) or "nothing")
        for note in body.imported.notes:
            if not note.startswith("lacks"):
                result.show(f"{name}: understood", note)
    groups, motions = at_speeds(result, setting, path.name, str(path), speeds)
    seconds = 9.0 if setting.quick else SECONDS
    for speed, walks in zip(speeds, groups, strict=True):
        result.row(
            f"{name} at {speed:g} m/s", "", described((speed,), [walks]),
            f"walks {seconds:g} s (± {SPEED_ERROR:g} m/s), all replicas", all(w.keeps(speed) for w in walks),
        )  # fmt: skip
        result.show(f"{name} at {speed:g} m/s: how it walks", quality(walks))
    figures.save_filmstrip(
        setting.figure_path(result.experiment, f"{path.stem}.png"), motions[-1], f"{path.name}, {SKILL}, 0.5 m/s"
    )


def refusal(result: Result, name: str, path: Path) -> None:
    """The row of a body that has to be refused, with the reason."""
    try:
        load(path)
    except CharacterError as error:
        reason = str(error).removeprefix(f"{path}: ")
        result.row(f"{name} is refused", "", reason, "names the joint that is missing", "ankle" in reason)
    else:
        result.row(f"{name} is refused", "", "it was accepted", "names the joint that is missing", False)
