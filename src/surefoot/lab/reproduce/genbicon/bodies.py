"""§4.4, "Generalization across characters": one controller and one style for many bodies, no number changed.

Four bodies are Surefoot's own. Others come from the files of two other packages, as they are: a body is understood from
the tree and the shapes of its file, or refused with what it lacks.

Figure 13: other proportions, arms of different lengths too, all in one population of different bodies. Gains and torque
limits follow a body's weight and the length of its legs. A body walks if it has not fallen and goes on at 70 % of the
commanded speed or more.
"""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import numpy as np

from surefoot.characters import load
from surefoot.engine.population import Population
from surefoot.errors import CharacterError
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.reproduce.genbicon import walks as walking
from surefoot.motions.motion import Motion

CHARACTERS, SPEEDS = ("humanoid", "robot", "ape", "strider"), (-0.5, 0.0, 0.5, 1.0)  # [m/s]
SECONDS = 60.0


def run(result: Result, setting: Setting) -> None:
    """Every body at every speed, all with the same skill file."""
    speeds = SPEEDS[2:3] if setting.quick else SPEEDS
    for character in setting.each(CHARACTERS):
        groups, motions = at_speeds(result, setting, character, character, speeds)
        kept = [v for v, walks in zip(speeds, groups, strict=True) if all(w.keeps(v) for w in walks)]
        result.add_row(
            character, "no tuning by character", f"{len(kept)} of {len(speeds)} speeds: {described(speeds, groups)}",
            f"{', '.join(f'{v:g}' for v in speeds)} m/s (± {walking.SPEED_ERROR:g}), all replicas",
            len(kept) == len(speeds),
        )  # fmt: skip
        for speed, walks in zip(speeds, groups, strict=True):
            result.add_note(f"{character} at {speed:g} m/s: how it walks", walking.quality(walks))
        shown = motions[speeds.index(0.5) * (len(motions) // len(speeds))]
        path = setting.figure_path(result.experiment, f"{character}.png")
        figures.save_filmstrip(path, shown, f"{character}, {walking.SKILL}, 0.5 m/s")
    result.add_note("skill of all four", f"biped/{walking.SKILL}")


def at_speeds(
    result: Result, setting: Setting, name: str, character: str, speeds: tuple[float, ...]
) -> tuple[list[list[walking.Walk]], list[Motion]]:
    """Walks of a body at some speeds, replicas of each, and the motions of their ends."""
    seconds, settled = (9.0, 5.0) if setting.quick else (SECONDS, walking.SETTLED)
    walks, motions = walking.run_and_measure(
        walking.replica_population([{"speed": v} for v in speeds], setting.seed, character), seconds, settled
    )
    groups = walking.grouped(walks)
    for speed, group in zip(speeds, groups, strict=True):
        result.runs += [
            {"character": name, "speed": speed, "replica": k} | walk.record() for k, walk in enumerate(group)
        ]
    return groups, motions


def described(speeds: tuple[float, ...], groups: list[list[walking.Walk]]) -> str:
    """What was measured at each speed."""
    return ", ".join(
        f"{walking.farthest((w.speed for w in walks), v):.2f} m/s"
        + ("" if all(w.is_valid_gait for w in walks) else f" [{walking.upright(walks)}]")
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
            result.add_missing(f"{package} {file}", reason=f"{package} is not installed, or has no {file}")
        else:
            _walker(result, setting, f"{package} {file}", path)
    setting.progress(" ".join(REFUSED), 0.95)
    path = installed(*REFUSED)
    if path is None:
        reason = f"{REFUSED[0]} is not installed, or has no {REFUSED[1]}"
        result.add_missing(" ".join(REFUSED), reason=reason)
    else:
        refusal(result, " ".join(REFUSED), path)


def _walker(result: Result, setting: Setting, name: str, path: Path) -> None:
    speeds = IMPORTED_SPEEDS[1:] if setting.quick else IMPORTED_SPEEDS
    body = load(path)
    if body.imported:
        result.add_note(f"{name}: lacks", ", ".join(body.imported.limbs.missing) or "nothing")
        for note in body.imported.notes:
            if not note.startswith("lacks"):
                result.add_note(f"{name}: understood", note)
    groups, motions = at_speeds(result, setting, path.name, str(path), speeds)
    seconds = 9.0 if setting.quick else SECONDS
    for speed, walks in zip(speeds, groups, strict=True):
        result.add_row(f"{name} at {speed:g} m/s", "", described((speed,), [walks]),
                       f"walks {seconds:g} s (± {walking.SPEED_ERROR:g} m/s), all replicas",
                       all(w.keeps(speed) for w in walks))  # fmt: skip
        result.add_note(f"{name} at {speed:g} m/s: how it walks", walking.quality(walks))
    figures.save_filmstrip(setting.figure_path(result.experiment, f"{path.stem}.png"), motions[-1],
                           f"{path.name}, {walking.SKILL}, 0.5 m/s")  # fmt: skip


def refusal(result: Result, name: str, path: Path) -> None:
    """The row of a body that has to be refused, with the reason."""
    try:
        load(path)
    except CharacterError as error:
        reason = str(error).removeprefix(f"{path}: ")
        result.add_row(f"{name} is refused", "", reason, "names the joint that is missing", "ankle" in reason)
    else:
        result.add_row(f"{name} is refused", "", "it was accepted", "names the joint that is missing", False)


LEGS, ARMS, TORSO = (0.7, 0.9, 1.15, 1.4), (0.5, 1.0, 1.5), (0.5, 1.0, 2.0)  # × length, × length of each, × mass
SHARE, SPEED, SAME_SPEED = 0.95, 0.5, 0.7  # of the bodies; [m/s]; of the speed
PROPORTION_SECONDS, _SETTLED = 30.0, 15.0
_NAMES = ("leg_length", "torso_mass", "left_arm_length", "right_arm_length")


def body_grid(quick: bool = False) -> list[dict[str, float]]:
    """Proportions of all bodies, legs and torso first; a quick look takes the extremes of legs, arms and torso."""
    values: tuple[tuple[float, ...], ...] = (LEGS, TORSO, ARMS, ARMS)
    if quick:
        values = (LEGS[::3], TORSO[::2], ARMS[::2], ARMS[1:2])
    return [dict(zip(_NAMES, one, strict=True)) for one in itertools.product(*values)]


def run_proportions(result: Result, setting: Setting) -> None:
    """All bodies walk side by side."""
    each, seconds, settled = body_grid(setting.quick), PROPORTION_SECONDS, _SETTLED
    if setting.quick:
        seconds, settled = 7.0, 4.0
    setting.progress("building bodies", 0.02)
    population = Population(len(each), "humanoid", walking.SKILL, proportions=each)
    perturb_population(population, [seeded_generator(setting.seed, "proportions", i) for i in range(len(each))])
    population.command(speed=SPEED)
    setting.progress("walking", 0.1)
    walks, motions = walking.run_and_measure(population, seconds, settled)
    good = np.array([walk.is_valid_gait and walk.speed >= SAME_SPEED * SPEED for walk in walks])
    for body, walk, ok in zip(each, walks, good, strict=True):
        result.runs.append(body | {"walks": int(ok)} | walk.record())
    result.add_row(
        f"{len(each)} bodies: legs × {LEGS[0]:g} … {LEGS[-1]:g}, each arm × {ARMS[0]:g} … {ARMS[-1]:g}, "
        f"mass of the torso × {TORSO[0]:g} … {TORSO[-1]:g}",
        "characters of other proportions, asymmetric too", f"{good.sum()} = {100 * good.mean():.0f} %",
        f"walk {seconds:g} s (≥ {100 * SHARE:g} %)", bool(good.mean() >= SHARE),
    )  # fmt: skip
    result.add_note("how they walk", walking.quality(walks))
    speeds = [walk.speed for walk, ok in zip(walks, good, strict=True) if ok]
    if speeds:
        result.add_note("speeds of those that walk", f"{min(speeds):.2f} … {max(speeds):.2f}",
                        f"m/s, commanded {SPEED:g}")  # fmt: skip
    for body, walk, ok in zip(each, walks, good, strict=True):
        if not ok:
            text = ", ".join(f"{name} × {value:g}" for name, value in body.items())
            result.add_note(f"does not walk: {text}", f"{walk.speed:.2f} m/s; {walk.failure() or 'too slow'}")
    if not setting.quick:
        _draw(setting.figure_path(result.experiment, "bodies.png"), walks_until(population, good, seconds))
    for i in (0, len(each) - 1):
        path = setting.figure_path(result.experiment, f"body-{i}.png")
        figures.save_filmstrip(path, motions[i], ", ".join(f"{name} × {value:g}" for name, value in each[i].items()))


def walks_until(population: Population, good: np.ndarray, seconds: float) -> np.ndarray:
    """(legs · torso, arms · arms) seconds until the fall; 0 for a body that stays up but does not walk."""
    lasted = np.where(good, seconds, np.where(np.isinf(population.fallen_at), 0.0, population.fallen_at))
    return lasted.reshape(len(LEGS) * len(TORSO), len(ARMS) ** 2)


@figures.plot(6.5, 5.5)
def _draw(axes: figures.Axes, lasted: np.ndarray) -> None:
    image = axes.imshow(lasted, vmin=0.0, vmax=PROPORTION_SECONDS, cmap="viridis", aspect="auto")
    across = [f"{left:g} | {right:g}" for left, right in itertools.product(ARMS, ARMS)]
    down = [f"{leg:g} | {mass:g}" for leg, mass in itertools.product(LEGS, TORSO)]
    axes.set_xticks(range(len(across)), across, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(down)), down, fontsize=8)
    axes.set(xlabel="length of left | right arm", ylabel="length of legs | mass of torso")
    axes.figure.colorbar(image, label="seconds it walks")
