"""§7.1: stopping on two feet and on one, a big step, a back-flip, stepping back and forth."""

from __future__ import annotations

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import foot_positions, measure_gait, torso_pitch
from surefoot.lab.replicas import states_at_random_phases
from surefoot.lab.reproduce.simbicon.gaits import skill
from surefoot.motions.foot_contacts import footstrikes
from surefoot.motions.motion import Motion

_PHASES = 5
_LOADED = 20.0  # [N]
_SETTLING = 4.0  # [s] from the request until a stance is judged


def run(result: Result, setting: Setting) -> None:
    """Enter each from random phases of the gait the chain comes from."""
    for part in (_two_feet, _one_foot, _big_step, _back_flip, _back_and_forth):
        part(result, setting)


def _enter(setting: Setting, source: str, *names: str, pause: float = 6.0) -> Population:
    """Rows at random phases of a gait that have been asked for one skill after another."""
    setting.progress(f"{source} → {' → '.join(names)}", 0.1)
    population = Population(_PHASES, skill=[skill(source)] * _PHASES)
    population.restore(states_at_random_phases(skill(source), _PHASES, setting.seed))
    for i, name in enumerate(names):
        if i:
            population.run(pause)
        population.switch(skill(name))
    return population


def _upright(population: Population) -> np.ndarray:
    return np.asarray(np.isinf(population.fallen_at))


def _two_feet(result: Result, setting: Setting) -> None:
    seconds = 5.0 if setting.quick else 30.0
    population = _enter(setting, "in-place-walk", "stand")
    population.run(_SETTLING)
    motions = population.run(seconds, fps=100)
    good = [not footstrikes(m) and bool((m.contact_force[:, :, 2] > _LOADED).all()) for m in motions]
    kept = int((_upright(population) & good).sum())
    drift = max(float(np.ptp(foot_positions(m)[:, :, 0], axis=0).max()) for m in motions)
    result.add_row(f"stands on two feet {seconds:g} s without a step", "stands", f"{kept} of {_PHASES}", "phases",
                   kept == _PHASES)  # fmt: skip
    result.add_note("two feet: largest drift of a foot", f"{1000 * drift:.1f}", "mm")
    _picture(result, setting, "stand", motions[0])


def _one_foot(result: Result, setting: Setting) -> None:
    seconds = 10.0
    population = _enter(setting, "in-place-walk", "stand-on-one-foot")
    population.run(_SETTLING)
    motions = population.run(seconds, fps=100)
    good = []
    for motion in motions:
        loaded = motion.contact_force[:, :, 2] > _LOADED
        good.append(bool((loaded.all(axis=0) | (~loaded).all(axis=0)).all() and (loaded.sum(axis=1) == 1).all()))
    kept = int((_upright(population) & good).sum())
    result.add_row(f"stands on one foot {seconds:g} s", "stands", f"{kept} of {_PHASES}", "phases", kept == _PHASES)
    _picture(result, setting, "stand-on-one-foot", motions[0])


def _big_step(result: Result, setting: Setting) -> None:
    walking = Population(1, skill=[skill("walk")])
    walking.run(8.0)
    usual = measure_gait(walking.run(5.0, fps=200)[0]).foot_spread_at_strike
    population = _enter(setting, "walk", "big-step")
    motions, after = population.run(4.0, fps=200), 5.0 if setting.quick else 20.0
    population.run(after, stop_fallen=True)
    lengths = []
    for motion in motions:
        feet = foot_positions(motion)
        lengths.append(max([abs(feet[f, s, 0] - feet[f, 1 - s, 0]) for f, s in footstrikes(motion)], default=0.0))
    kept = int((_upright(population) & (np.array(lengths) >= 1.5 * usual)).sum())
    result.add_row(f"big step ≥ 1.5 × the walk's step, and walks on {after:g} s", "a single large step",
                   f"{kept} of {_PHASES}; {min(lengths) / usual:.2f} × ({min(lengths):.2f} m)", "phases",
                   kept == _PHASES)  # fmt: skip
    _picture(result, setting, "big-step", motions[0])


def _back_flip(result: Result, setting: Setting) -> None:
    population = _enter(setting, "in-place-walk", "stand", "back-flip")
    motions = population.run(4.0, fps=500)
    still = population.run(5.0, fps=100)
    turns, totals, good = [], [], []
    for motion, after in zip(motions, still, strict=True):
        pitch = np.degrees(np.unwrap(torso_pitch(motion)))
        takeoff, landing = _longest_flight(motion)
        turns.append(pitch[landing] - pitch[takeoff])
        totals.append(pitch[-1] - pitch[0])
        loaded = after.contact_force[:, :, 2] > _LOADED
        good.append(abs(totals[-1] - 360.0) < 30.0 and bool(loaded.any(axis=1).all()) and turns[-1] >= 360.0)
    kept = int((_upright(population) & good).sum())
    result.add_row("back-flip: 360° in flight, lands and stands 5 s", "back-flip",
                   f"{kept} of {_PHASES}; {min(turns):.0f}° in flight, {min(totals):.0f}° in all", "phases",
                   kept == _PHASES)  # fmt: skip
    limits = skill("back-flip").fall
    result.add_note("back-flip: fall limits it declares",
                    f"tilt {np.degrees(limits.tilt):.0f}° for {limits.tilt_time:g} s")  # fmt: skip
    _picture(result, setting, "back-flip", motions[0], 0.0, 2.0)


def _longest_flight(motion: Motion) -> tuple[int, int]:
    """First and last frame of the longest stretch without a loaded foot."""
    flying = ~(motion.contact_force[:, :, 2] > _LOADED).any(axis=1)
    best, start = (0, 0), -1
    for frame, flies in enumerate(np.append(flying, False)):
        if flies and start < 0:
            start = frame
        elif not flies and start >= 0:
            if frame - start > best[1] - best[0]:
                best = (start, min(frame, len(motion) - 1))
            start = -1
    return best


def _back_and_forth(result: Result, setting: Setting) -> None:
    seconds = 10.0 if setting.quick else 60.0
    population = _enter(setting, "in-place-walk", "back-and-forth")
    motions = population.run(seconds, fps=50)
    away = [float(np.abs(m.root_position[:, 0] - m.root_position[0, 0]).max()) for m in motions]
    kept = int((_upright(population) & (np.array(away) <= 1.0)).sum())
    result.add_row(f"steps back and forth {seconds:g} s within ± 1 m", "steps",
                   f"{kept} of {_PHASES}; at most {max(away):.2f} m away", "phases", kept == _PHASES)  # fmt: skip
    swing = [float(np.ptp(m.root_position[-150:, 0])) for m in motions]
    result.add_note("back and forth: travel within 3 s", f"{min(swing):.2f} … {max(swing):.2f}", "m")
    _picture(result, setting, "back-and-forth", motions[0])


def _picture(
    result: Result, setting: Setting, name: str, motion: Motion, start: float | None = None, length: float = 3.0
) -> None:
    begin = motion.time[0] + (start or 0.0)
    path = setting.figure_path(result.experiment, f"{name}.png")
    figures.save_filmstrip(path, motion, f"planar/{name}", start=begin, end=begin + length)
