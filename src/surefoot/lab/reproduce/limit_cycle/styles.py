"""§6.4: other walks from the same loop: bent knees lifted high, a duck, stride rates, wind, sideways, backward."""

from __future__ import annotations

import numpy as np

from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import Gait, root_yaw
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import REPLICAS, Marches, march, march_population
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion
from surefoot.skills import load
from surefoot.skills.schema import Skill

SECONDS = 60.0  # [s]
HIGH_STEP, DUCK, BACKWARD = "human19/high-step", "human19/duck", "human19/backward"
RATES = {"slower": 1.15, "faster": 0.85}  # by how much the timed states take longer
# [m/s] at the start, and where the up-vector shall point; the state machines are the forward march's
SIDEWAYS: tuple[dict[str, float], dict[str, float]] = (
    {"start.sideways": 0.2, "regulation.forward": 0.315}, {"tilt": -0.04},
)  # fmt: skip
WINDS = (10.0, 20.0, 30.0, 40.0, 50.0, 60.0)  # [N] against the way it faces
_GUST, _CALM, _INTO = 10.0, 4.0, {"speed": 0.4}  # [N] by which wind rises, every so many [s]; [m/s] told meanwhile
_NUDGED = 0.03  # [m/s] that still counts as going the way it was nudged
_LOW = 0.08  # [m] by which ducking lowers the head
_SHARES = 10  # parts in which a walk is blended into another, one a step


def run(result: Result, setting: Setting) -> None:
    """Styles that are skills, rates and nudges at once; then wind, then the duck."""
    seconds, replicas = (12.0, 1) if setting.quick else (SECONDS, REPLICAS)
    setting.progress("styles", 0.02)
    cases = {"knees bent and lifted high": load(HIGH_STEP)} | {
        f"{name} stride rate": stretched(march(), factor) for name, factor in RATES.items()
    }
    change, told = SIDEWAYS
    cases |= {"walks backward": load(BACKWARD), "walks to the left": march(change)}
    commands = [told if "left" in name else {} for name in cases]
    population = march_population(list(cases.values()), setting.seed, "styles", replicas, commands)
    walks = Marches(population, seconds, replicas)
    usual = 1.0 / sum(state.duration or 0.0 for state in march().parameters.states)
    for i, name in enumerate(cases):
        rates = [float(row.report[0].steps) / seconds for row in population.rows[replicas * i :][:replicas]]
        named = [_does(name, g, rate, usual) for g, rate in zip(walks.of(i), rates, strict=True) if g]
        good, text = walks.are_fair(i) and all(named), walks.upright(i)
        if walks.walked(i):
            ahead, left = (float(np.mean([getattr(g, n) for g in walks.walked(i)])) for n in ("speed", "sideways"))
            text += f"; {ahead:.2f} m/s ahead, {left:.2f} m/s to the left, {np.mean(rates):.2f} steps/s"
        result.add_row(f"{name}, {seconds:g} s", "balanced", text, f"replicas ({replicas})", good)
        result.add_note(f"{name}: how it walks", walks.quality(i))
        walks.record(result, name, i)
        path = setting.figure_path(result.experiment, f"{name.replace(' ', '-')}.png")
        figures.save_filmstrip(path, walks.motions[replicas * i], name, view="front" if "left" in name else "side")
    setting.progress("wind", 0.6)
    _wind(result, setting, seconds)
    setting.progress("ducking", 0.8)
    _duck(result, setting)


def stretched(skill: Skill, factor: float) -> Skill:
    """A skill whose timed states take so many times as long."""
    return march({
        f"states.{i}.duration": factor * state.duration
        for i, state in enumerate(skill.parameters.states)
        if state.duration is not None
    })  # fmt: skip


def _does(name: str, gait: Gait, rate: float, usual: float) -> bool:
    """Whether a walk is what its name says, given its steps a second and the march's usual ones."""
    if "backward" in name:
        return gait.speed < -_NUDGED
    if "left" in name:
        return gait.sideways > _NUDGED
    if "faster" in name:
        return rate > 1.05 * usual
    return rate < 0.95 * usual if "slower" in name else True


def _wind(result: Result, setting: Setting, seconds: float) -> None:
    """A lasting force against the trunk that rises by gusts: the lean by force."""
    winds = (0.0, *WINDS)
    population = march_population([march()] * len(winds), setting.seed, "wind", 1, [_INTO] * len(winds))
    for i, force in enumerate(winds):
        for k in range(round(force / _GUST)):
            population.push(Push((-_GUST, 0.0, 0.0), seconds, _CALM * (1 + k)), [i])
    walks = Marches(population, seconds, 1)
    found, leans = walks.gaits, [_lean(motion) for motion in walks.motions]
    for force, gait, lean, at in zip(winds, found, leans, population.fallen_at, strict=True):
        text = f"{lean:.1f}°, goes at {gait.speed:.2f} m/s" if gait else f"fell at {at:.1f} s"
        result.add_note(f"wind of {force:g} N: line from the feet to the COM, forward", text, "of vertical")
    stood = [k for k, gait in enumerate(found) if gait]
    strongest = winds[max(stood)] if stood else 0.0
    leaned = leans[max(stood)] - leans[0] if stood and found[0] else np.nan
    result.add_row(f"into the wind, {seconds:g} s", "visibly leans into the wind",
                   f"up to {strongest:g} N, there {leaned:+.1f}° further forward", "of wind, of lean (> 0)",
                   bool(strongest > 0.0 and leaned > 0.0))  # fmt: skip


def _lean(motion: Motion) -> float:
    """How far the COM is ahead of the centre of pressure, on average, as an angle [deg]."""
    if len(motion) < 2:  # it fell before
        return float("nan")
    yaw = root_yaw(motion)
    off = motion.com - motion.center_of_pressure
    loaded = motion.contact_force[:, :, 2].sum(axis=1) > 1.0
    ahead = (off[:, 0] * np.cos(yaw) + off[:, 1] * np.sin(yaw))[loaded]
    return float(np.degrees(np.arctan2(ahead.mean(), motion.com[loaded, 2].mean())))


def _duck(result: Result, setting: Setting) -> None:
    """Into a bent-over walk and out of it again, by interpolation over some steps."""
    sim, duck, parts = Simulation(skill=march(), seed=setting.seed), load(DUCK), []
    upright_for = 6.0 if setting.quick else 15.0
    parts.append(sim.run(upright_for, fps=50.0))
    for shares in (np.arange(1, _SHARES + 1) / _SHARES, 1.0 - np.arange(1, _SHARES + 1) / _SHARES):
        for share in shares:
            sim.blend(duck, float(share))
            parts.append(sim.run(0.57, fps=50.0))
        parts.append(sim.run(upright_for, fps=50.0))
    heights = [_head(motion) for motion in parts]
    low = heights[0] - heights[1 + _SHARES]
    back = abs(heights[-1] - heights[0])
    fell = f"fell at {sim.fallen_at:.1f} s" if sim.fallen else "upright"
    result.add_row(f"ducks and comes up again, {sim.time:.0f} s", "into and out of a bent-over walk",
                   f"{fell}; head {100 * low:.0f} cm lower, then within {100 * back:.0f} cm of before",
                   f"cm (≥ {100 * _LOW:g})", bool(not sim.fallen and low >= _LOW and back < 0.5 * _LOW))  # fmt: skip
    figures.save_filmstrip(setting.figure_path(result.experiment, "duck.png"), parts[1 + _SHARES], "ducking")


def _head(motion: Motion) -> float:
    """Mean height of the head's place on the trunk over the last two seconds [m]."""
    names = motion.skeleton.names
    trunk = names.index("trunk")
    turns = quat.multiply(motion.rotations[:, 0], motion.rotations[:, trunk])
    base = motion.root_position + quat.rotate(motion.rotations[:, 0], motion.skeleton.offsets[trunk])
    top = base + quat.rotate(turns, motion.skeleton.offsets[names.index("head")])
    return float(top[motion.time >= motion.time[-1] - 2.0, 2].mean())
