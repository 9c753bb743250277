"""Styles of walking, judged by the report card: people's walks roll their feet, caricatures keep their character.

A style that is a way in which people walk lands on its heel, leaves from its toes, hands its weight over on both feet
and does not stamp. A caricature need not: its point is to walk as nobody does. It has to be told apart from the
ordinary walk, by the measure of `genbicon/styles`.
"""

from __future__ import annotations

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import foot_positions, leg_clearance, mean_cycle, measure_gait
from surefoot.lab.reproduce.genbicon.styles import DIFFERENT, FIFTH, Style, styles, told_apart
from surefoot.lab.reproduce.quality.walks import WALK_BARS, PlainWalk, in_words, judge, measured_replicas, note_card
from surefoot.motions.motion import Motion
from surefoot.skills import load
from surefoot.skills.schema import Skill

BODY, ORDINARY = "humanoid", "walk"
PEOPLE = {
    "walk": "the ordinary walk itself",
    "hurry": "someone late: quick steps, leaning forward, arms pumping",
    "happy": "a bouncing step and swinging arms change nothing of the feet",
    "proud": "chest out; long strides roll most of all",
    "sad": "slow and drooping, but heel first as everybody",
    "ponder": "pacing with the hands behind the back",
    "catwalk": "models roll their feet, on one line",
    "swagger": "shoulders roll, and so do feet",
    "cold": "hugging oneself, trunk bent",
    "surrender": "hands up; below them an ordinary walk",
    "march": "soldiers strike with their heels",
    "old": "bent and short-stepped, but a walk of people",
}
CARICATURES = {
    "backwards": "goes backwards: it lands on its toes",
    "bow-legged": "knees apart as nobody's are",
    "careful-walk": "sets flat feet where a task tells them to go",
    "chicken": "a bird",
    "cowboy": "of the films: knees and feet wide apart",
    "crouch": "deeply bent knees",
    "flat-walk": "the paper's walk, on flat feet",
    "drunk": "reels from foot to foot",
    "duck": "a bird",
    "high-step": "feet come down from above, as into deep snow",
    "knock-kneed": "knees together as nobody's are",
    "limbo": "leans far back on bent knees",
    "mince": "tiny steps, shorter than a foot: there is nothing to roll over",
    "monkey": "an ape",
    "penguin": "a bird",
    "prance": "a horse",
    "robot-walk": "a machine",
    "shuffle": "feet hardly leave the ground",
    "ski": "skis stay flat",
    "sneak": "sets the whole foot down without a sound",
    "stiff-legged": "the knee never bends",
    "tightrope": "feels for the rope with the whole sole",
    "zombie": "drags its feet",
}
BARS = {name: WALK_BARS[name] for name in ("strike_pitch", "toe_off_pitch", "double_support", "first_peak")}
_SETTLED, _RECORDED, _FPS = 8.0, 4.0, 100.0  # [s], [s], frames per second


def run(result: Result, setting: Setting) -> None:
    """Judge people's walks, show that caricatures differ from the ordinary one, and draw all of them."""
    for name in setting.each(tuple(PEOPLE), 0.0, 0.8):
        cards, _ = measured_replicas(PlainWalk(name, f"biped/{name}", BODY), setting)
        judge(result, f"{name}: {PEOPLE[name]}", cards, BARS, in_words(BARS))
        note_card(result, name, cards, BARS)
    setting.progress("caricatures", 0.8)
    rolling = [skill for name in PEOPLE if (skill := load(f"biped/{name}")).parameters.stride is not None]
    motions = _motions([*styles(), load(f"biped/{ORDINARY}")], setting)
    found = {name: style for name, motion in motions.items() if (style := _measured(motion)) is not None}
    for name, reason in CARICATURES.items():
        apart = name in found and ORDINARY in found and told_apart(found[name], found[ORDINARY])
        ours = "fell"
        if name in found:
            ours = f"{found[name].gait.speed:.2f} m/s, feet lifted {100 * found[name].lift:.0f} cm"
        result.add_row(f"{name}: {reason}", "differs from the walk", ours,
                       f"≥ {DIFFERENT:g}° RMSE, or ≥ {100 * FIFTH:g} % in speed, width or height", apart)  # fmt: skip
    for name in (skill.name for skill in rolling):
        gap = found[name].clearance if name in found else -np.inf
        result.add_row(f"{name}: legs nearest to each other", "", f"{100 * gap:.1f}", "cm (≥ 0)", gap >= 0.0)
    figures.save_contact_sheet(setting.figure_path(result.experiment, "styles.png"), motions)


def _motions(skills: list[Skill], setting: Setting) -> dict[str, Motion]:
    """The end of a walk in every style that stays up."""
    population = Population(len(skills), BODY, skills)
    population.run(4.0 if setting.quick else _SETTLED, stop_fallen=True)
    motions = population.run(_RECORDED, fps=_FPS, stop_fallen=True)
    up = np.isinf(population.fallen_at)
    return {skill.name: motion for skill, motion, good in zip(skills, motions, up, strict=True) if good}


def _measured(motion: Motion) -> Style | None:
    """What tells a style apart; None if it never cycles."""
    cycle = mean_cycle(motion)
    if cycle is None:
        return None
    gait, lift = measure_gait(motion), float(np.ptp(foot_positions(motion)[:, :, 2], axis=0).mean())
    return Style(1, gait, lift, gait.slip, leg_clearance(motion), cycle, motion)
