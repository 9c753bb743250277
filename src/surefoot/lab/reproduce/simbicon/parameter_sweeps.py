"""§7.2, "Parameterization": commands, a backpack, interpolated gaits, styles of the arms, imperfect senses.

The commands: what the walk of Table 1 can be told while it walks, and how well it obeys.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from surefoot.engine.devices import thread_count
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Run, Setting
from surefoot.lab.gait_measures import EVERY, measure_gait, smoothed, track_heading
from surefoot.lab.replicas import SETTLE, replicas_on_cycle, step_period
from surefoot.lab.reproduce.simbicon.gaits import REPLICAS, human, replicas_from_start, skill, upright
from surefoot.lab.robustness import NEEDED, robust_threshold
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

_SIDEWAYS = np.linspace(-0.1, 0.1, 9)  # [rad]
_DIAGONAL = ((0.6, 0.08), (0.6, -0.08))  # [m/s], [rad]
_SIDEWAYS_AT_LEAST = 0.03  # [m/s] across the heading that counts as diagonal
_WIDTHS = (-0.04, 0.0, 0.04, 0.08, 0.12)  # [rad]
_SPEEDS, _SPEED_ERROR = (0.0, 0.3, 0.6, 0.9, 1.2), 0.1  # [m/s]
_TURN, _TURN_SECONDS, _TURN_ERROR = (0.9, math.pi / 12.0), 48.0, 3.0  # [rad], [rad/s]; [s]; [deg] rms


def told(commands: Sequence[Mapping[str, float]], settle: float, seconds: float) -> tuple[np.ndarray, Population]:
    """(n, 2) mean velocities [m/s] of the walk told each of some things, over `seconds` after `settle`."""
    walk = skill("walk-as-printed", "human")
    population = Population(len(commands), skill=[walk] * len(commands))
    for row, values in zip(population.rows, commands, strict=True):
        population.scene.command(row, walk, values)
    population.run(settle, stop_fallen=True)
    before = population.qpos[:, :2].copy()
    population.run(seconds, stop_fallen=True)
    return (population.qpos[:, :2] - before) / seconds, population


def sideways(result: Result, setting: Setting) -> None:
    """Command against measured sideways speed, and both ways at once: diagonally."""
    seconds = 5.0 if setting.quick else 20.0
    commands = [{"sideways": float(s)} for s in _SIDEWAYS]
    both = [{"speed": v, "sideways": s} for v, s in _DIAGONAL]
    velocities, population = told([*commands, *both], SETTLE, seconds)
    going = np.isinf(population.fallen_at)
    across = velocities[: len(_SIDEWAYS), 1]
    told_way = np.abs(_SIDEWAYS) > 1e-9
    follows = bool((np.diff(across) > 0.0).all() and (across * _SIDEWAYS > 0.0)[told_way].all())
    result.add_row(
        "lateral: sideways −0.1 … 0.1 rad", "walks sideways", f"{across[0]:.2f} … {across[-1]:.2f} m/s to the left, "
        + ("in the order of the commands" if follows else "not in the order of the commands"),
        "rising, of the command's sign", follows and bool(going[: len(_SIDEWAYS)].all()),
    )  # fmt: skip
    for command, velocity in zip(commands + both, velocities, strict=True):
        result.runs.append({"case": "sideways"} | command | {"ahead": velocity[0], "left": velocity[1]})
    ahead, left = velocities[len(_SIDEWAYS) :].T
    wanted = np.array(_DIAGONAL)
    good = (np.abs(ahead - wanted[:, 0]) <= _SPEED_ERROR) & (left * np.sign(wanted[:, 1]) >= _SIDEWAYS_AT_LEAST)
    ours = ", ".join(f"{a:.2f} ahead and {b:+.2f} to the left" for a, b in zip(ahead, left, strict=True))
    result.add_row("diagonal: 0.6 m/s and sideways ± 0.08 rad", "walks diagonally", ours,
                   f"m/s (± {_SPEED_ERROR:g} ahead, ≥ {_SIDEWAYS_AT_LEAST:g} across)",
                   bool(good.all() and going[len(_SIDEWAYS) :].all()))  # fmt: skip


def width(result: Result, setting: Setting) -> None:
    """Command against measured width of the steps."""
    _, population = told([{"width": w} for w in _WIDTHS], SETTLE, 2.0)
    motions = population.run(3.0 if setting.quick else 10.0, fps=200)
    found = [measure_gait(m).step_width for m in motions]
    for command, value in zip(_WIDTHS, found, strict=True):
        result.runs.append({"case": "width", "width": command, "step_width": value})
    result.add_row(f"width: {_WIDTHS[0]:g} … {_WIDTHS[-1]:g} rad", "altered stance width",
                   ", ".join(f"{100 * value:.1f}" for value in found), "cm between the feet, rising",
                   bool((np.diff(found) > 0.0).all() and np.isinf(population.fallen_at).all()))  # fmt: skip


def speed(result: Result, setting: Setting) -> None:
    """Command against measured speed."""
    speeds = _SPEEDS[1::2] if setting.quick else _SPEEDS
    settle, seconds = (10.0, 4.0) if setting.quick else (25.0, 15.0)
    velocities, population = told([{"speed": v} for v in speeds], settle, seconds)
    ahead = velocities[:, 0]
    good = bool((np.abs(ahead - speeds) <= _SPEED_ERROR).all() and np.isinf(population.fallen_at).all())
    for command, velocity in zip(speeds, ahead, strict=True):
        result.runs.append({"case": "speed", "speed": command, "ahead": velocity})
    result.add_row(f"speed: {', '.join(f'{v:g}' for v in speeds)} m/s", "", ", ".join(f"{v:.2f}" for v in ahead),
                   f"m/s (error ≤ {_SPEED_ERROR:g})", good)  # fmt: skip


def turning(result: Result, setting: Setting, walk: Skill | None = None, bar: float = _TURN_ERROR) -> None:
    """Figure 9a: the facing direction 0.9 sin(π t / 12), told every 0.05 s; `bar` is for its error [deg]."""
    walk = walk or skill("walk-as-printed", "human")
    seconds = 6.0 if setting.quick else _TURN_SECONDS
    population = Population(REPLICAS, skill=[walk] * REPLICAS)
    population.restore(replicas_on_cycle(walk, REPLICAS, setting.seed))
    begin = population.qpos[0, :2].copy()

    def tell(time: float) -> None:
        population.command(heading=_TURN[0] * math.sin(_TURN[1] * time))

    yaws, places = track_heading(population, seconds, tell)
    wanted = _TURN[0] * np.sin(_TURN[1] * EVERY * np.arange(1, len(yaws) + 1))
    stride = 2.0 * step_period(walk)
    errors = np.degrees(smoothed(yaws, stride) - smoothed(wanted[:, None], stride))
    rms = np.sqrt((errors**2).mean(axis=0))
    kept = int(np.isinf(population.fallen_at).sum())
    for k, error in enumerate(rms):
        result.runs.append({"case": "turning", "replica": k, "rms_deg": error})
    result.add_row(f"{walk.name} turning by 0.9 sin(π t / 12) rad for {seconds:g} s", "figure 9a",
                   f"{rms.max():.2f}° in the worst of {REPLICAS} replicas, {kept} of {REPLICAS} walk",
                   f"rms of the pelvis' yaw, averaged over a stride, from the command (≤ {bar:g}°)",
                   kept == REPLICAS and float(rms.max()) <= bar)  # fmt: skip
    path = setting.figure_path(result.experiment, "turning.png")
    _draw_turn(path, wanted, yaws[:, 0], places[:, 0] - begin)


@figures.plot(9, 3.2, 1, 2)
def _draw_turn(both: Sequence[figures.Axes], wanted: np.ndarray, yaw: np.ndarray, places: np.ndarray) -> None:
    one, other = both
    time = EVERY * np.arange(1, len(wanted) + 1)
    one.plot(time, np.degrees(wanted), "0.6", label="commanded")
    one.plot(time, np.degrees(yaw), "C0", linewidth=0.8, label="pelvis")
    one.set(xlabel="time [s]", ylabel="yaw [°]")
    one.legend(frameon=False, fontsize=8)
    other.plot(places[:, 0], places[:, 1], "C0", linewidth=0.8)
    other.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="path of the pelvis")


_PACK, _PACKS = 10.0, (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0)  # [kg]
_OTHERS = ("crouch-walk", "fast-walk")  # with which the walk is interpolated: the first that there is
_SHARES = np.linspace(0.0, 1.0, 11)
_ARMS = {"straight": {}, "swing": {"arms.swing": 0.4}, "circle": {"arms.circle": 0.5}}
_DELAYS = [0.01 * k for k in range(1, 16)]  # [s]
_NOISES = [0.005 * k for k in range(1, 21)]  # [m] of d; that of v is five times as many m/s
_VELOCITY_NOISE = 5.0  # [1/s]


def run(result: Result, setting: Setting) -> None:
    """Everything that can be laid over the walk of Table 1."""
    parts: tuple[Run, ...] = (sideways, width, turning, speed, _backpack, _interpolation, _arms, _sensing)
    for i, part in enumerate(parts):
        setting.progress(part.__name__.removeprefix("_"), i / len(parts))
        part(result, setting)


def _backpack(result: Result, setting: Setting) -> None:
    seconds, walk, heaviest = (8.0 if setting.quick else 60.0), skill("walk-as-printed", "human"), 0.0
    for mass in (_PACK,) if setting.quick else _PACKS:
        population = replicas_from_start([walk], setting.seed, backpack=mass)
        population.run(seconds, stop_fallen=True)
        kept = upright(population)[0]
        result.runs.append({"case": "backpack", "mass": mass, "kept": kept})
        if mass == _PACK:
            result.add_row(f"backpack of {mass:g} kg", "walks", f"{kept} of {REPLICAS} walk {seconds:g} s", "replicas",
                           kept == REPLICAS)  # fmt: skip
        if kept < REPLICAS:
            if mass >= _PACK:
                break
            continue
        heaviest = mass
    result.add_note("heaviest backpack that all replicas carry", f"{heaviest:g}", "kg")


def _interpolation(result: Result, setting: Setting) -> None:
    """Each share in a simulation of its own, from the walk's start."""
    walk, seconds = skill("walk-as-printed", "human"), 3.0 if setting.quick else 20.0
    other = next((s for s in map(human, _OTHERS) if s and _alike(walk, s)), None)
    case = f"interpolation from walk to {other.name if other else 'another walk'} in {len(_SHARES)} steps"
    if other is None:
        reason = f"there is no human/{' or human/'.join(_OTHERS)} of the same states"
        result.add_missing(case, "interpolates", reason)
        return

    def walked(share: float) -> tuple[bool, float]:
        sim = Simulation(None, walk)
        sim.blend(other, share)
        sim.step(round(0.5 * seconds / sim.model.opt.timestep))
        x = float(sim.data.qpos[0])
        sim.step(round(0.5 * seconds / sim.model.opt.timestep))
        return not sim.fallen, (float(sim.data.qpos[0]) - x) / (0.5 * seconds)

    with ThreadPoolExecutor(thread_count() or os.cpu_count()) as pool:
        found = list(pool.map(walked, _SHARES.tolist()))
    kept = sum(walks for walks, _ in found)
    for share, (walks, speed) in zip(_SHARES, found, strict=True):
        result.runs.append({"case": "interpolation", "share": share, "walks": walks, "speed": speed})
    result.add_row(case, "interpolates", f"{kept} walk {seconds:g} s", f"of {len(_SHARES)}", kept == len(_SHARES))
    result.add_note(f"{case}: speeds", ", ".join(f"{speed:.2f}" for _, speed in found), "m/s")


def _alike(one: Skill, other: Skill) -> bool:
    """Whether two skills can be blended."""
    try:
        Simulation(None, one).blend(other, 0.5)
    except CommandError:
        return False
    return True


def _arms(result: Result, setting: Setting) -> None:
    seconds = 5.0 if setting.quick else 20.0
    skills = [with_parameters(skill("walk-as-printed", "human"), values) for values in _ARMS.values()]
    population = replicas_from_start(skills, setting.seed)
    population.run(seconds, stop_fallen=True)
    kept = upright(population)
    ours = ", ".join(f"{name} {count}" for name, count in zip(_ARMS, kept, strict=True))
    result.add_row(f"arms: each style walks {seconds:g} s", "free for styles", ours, f"of {REPLICAS}",
                   min(kept) == REPLICAS)  # fmt: skip


def _sensing(result: Result, setting: Setting) -> None:
    """How late and how noisy d and v may be measured; each level and all lower ones."""
    walk, seconds = skill("walk-as-printed", "human"), 4.0 if setting.quick else 20.0

    def survivors(values: list[dict[str, float]]) -> list[int]:
        population = replicas_from_start([with_parameters(walk, v) for v in values], setting.seed)
        population.run(seconds, stop_fallen=True)
        return upright(population)

    def late(levels: list[float]) -> list[int]:
        return survivors([{"sensing.delay": level} for level in levels])

    def noisy(levels: list[float]) -> list[int]:
        return survivors([{"sensing.noise_distance": n, "sensing.noise_velocity": _VELOCITY_NOISE * n} for n in levels])

    for what, unit, scale, survives, grid in (
        ("delay of d and v", "ms", 1000.0, late, _DELAYS),
        ("noise of d (that of v is 5/s as large)", "cm", 100.0, noisy, _NOISES),
    ):
        best, tried = robust_threshold(survives, grid[:: 5 if setting.quick else 1])
        result.runs += [{"case": what, "level": level, "kept": count} for level, count in tried]
        result.add_note(f"largest {what}", f"{scale * best:g}", f"{unit}, {NEEDED} of {REPLICAS} walk {seconds:g} s")
