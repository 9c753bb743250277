"""§6.4, figures 21 and 23: legs shorter and longer, and a crouch to half the leg length."""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, STAND, WALK

CLOSE, _LOOK = 0.05, 0.1  # of the leg length, that the longer leg may have more; [s] between looks
LEGS, SECONDS, SPEED = (0.7, 0.85, 1.15, 1.3), 60.0, 0.5  # × length, [s], [m/s]
CROUCHES = ((WALK, 0.8, True), (WALK, 0.65, True), (STAND, 0.65, True), (STAND, 0.5, True), (WALK, 0.5, False))
"""Skill, share of the leg length, and whether it has a bar: walking at half length is only shown (figure 23)."""


def run(result: Result, setting: Setting) -> None:
    """Walk on all legs, then crouch."""
    seconds = 10.0 if setting.quick else SECONDS
    for i, legs in enumerate(LEGS):
        setting.progress(f"legs × {legs:g}", i / (len(LEGS) + len(CROUCHES)))
        fell, speed, _ = lasted(WALK, seconds, {"speed": SPEED}, legs, setting, f"legs-{legs:g}")
        holds = math.isinf(fell) and speed >= 0.7 * SPEED
        ours = f"{speed:.2f} m/s" if math.isinf(fell) else f"fell at {fell:.1f} s"
        result.add_row(f"legs × {legs:g} walk", "adapts to other legs", ours, f"{seconds:g} s at {SPEED:g} m/s", holds)
    for i, (skill, share, barred) in enumerate(CROUCHES):
        setting.progress(f"{skill}, crouched", (len(LEGS) + i) / (len(LEGS) + len(CROUCHES)))
        told = {"crouch": share} | ({"speed": 0.3} if skill == WALK else {})
        fell, speed, used = lasted(skill, seconds, told, 1.0, setting, f"crouch-{skill}-{share:g}")
        ours = f"{speed:.2f} m/s, legs at {used:.2f}" if math.isinf(fell) else f"fell at {fell:.1f} s"
        holds = math.isinf(fell) and used <= share + CLOSE
        case = f"{skill}s crouched to {share:g} of the leg length"
        if barred:
            result.add_row(case, "walks with legs of half their length", ours, f"{seconds:g} s", holds)
        else:
            result.add_note(case, ours + (", holds" if holds else ", does not hold"), f"{seconds:g} s")


def lasted(
    skill: str, seconds: float, told: dict[str, float], legs: float, setting: Setting, name: str
) -> tuple[float, float, float]:
    """When it fell [s], inf if not; mean speed along x over the second half [m/s]; how long the legs were, of all."""
    proportions = {"thigh_length": legs, "shin_length": legs}
    sim = Simulation(CHARACTER, skill, seed=setting.seed, proportions=proportions)
    sim.command(**told)
    sim.step(round(0.5 * seconds / sim.model.opt.timestep))
    before = float(sim.memory.com[0])
    motion = sim.run(4.0, fps=30.0)
    figures.save_filmstrip(setting.figure_path("stepping/proportions", f"{name}.png"), motion, name)
    used = []
    for _ in range(round((0.5 * seconds - 4.0) / _LOOK)):
        sim.step(round(_LOOK / sim.model.opt.timestep))
        used.append(max(leg_length(sim, "left"), leg_length(sim, "right")))
    return sim.fallen_at, (float(sim.memory.com[0]) - before) / (0.5 * seconds), float(np.mean(used))


def leg_length(sim: Simulation, side: str) -> float:
    """From hip to ankle, of the length of thigh and shin."""
    hip, knee, ankle = (sim.data.xpos[sim.model.body(f"{side}_{part}").id] for part in ("thigh", "shin", "foot"))
    whole = np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee)
    return float(np.linalg.norm(ankle - hip) / whole)
