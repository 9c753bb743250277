"""§6.1, figure 16: balls of 50 kg/m³ and varied size thrown at the trunk of a body that stands or walks."""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.replicas import seeded_generator
from surefoot.lab.reproduce.stepping.stepping_trials import BENT_WALK, CHARACTER, SETTLED, STAND, WALK
from surefoot.terrains import Ball, flat, with_props

COUNT, DENSITY, HEAVY = 200, 50.0, 20.0  # balls, [kg/m³], [N·s]
DIAMETERS, SPEEDS, PAUSES = (0.15, 0.6), (5.0, 10.0), (1.0, 3.0)  # [m], [m/s], [s]
SHARE, WALKING = 0.3, 0.5  # of the balls above HEAVY; [m/s]
_KINDS, _AWAY = 12, 2.5  # sizes to throw; [m] from where


def run(result: Result, setting: Setting) -> None:
    """All balls in a row, at one that stands and at one that walks."""
    count = 10 if setting.quick else COUNT
    for i, (case, skill) in enumerate((("standing", STAND), ("walking", BENT_WALK))):
        survived, heavy, fell = thrown(case, skill, count, setting, 0.4 * i)
        result.add_row(f"{case}: {count} balls in a row", "stays upright under balls of 50 kg/m³",
                       f"{survived} survived" + ("" if math.isinf(fell) else f", fell at {fell:.0f} s"), "balls",
                       survived == count)  # fmt: skip
        result.add_row(f"{case}: balls above {HEAVY:g} N·s", "", f"{100 * heavy:.0f}", f"% (≥ {100 * SHARE:g})",
                       heavy >= SHARE)  # fmt: skip
    survived, _, _ = thrown("walking", WALK, count, setting, 0.8)
    result.add_note("walking in strides: balls in a row", f"{survived} survived")


def sizes() -> np.ndarray:
    """Diameters of the balls there are [m]: more of the large ones, or few would be heavy."""
    return np.linspace(DIAMETERS[0] ** 2, DIAMETERS[1] ** 2, _KINDS) ** 0.5


def thrown(case: str, skill: str, count: int, setting: Setting, begin: float) -> tuple[int, float, float]:
    """How many balls it survived, which share of those was heavy, and when it fell [s]."""
    diameters = sizes()
    each = [Ball(float(0.5 * d), DENSITY) for d in diameters]
    sim = Simulation(CHARACTER, skill, with_props(flat(), each), seed=setting.seed)
    if case == "walking":
        sim.command(speed=WALKING)
    sim.step(round(SETTLED / sim.model.opt.timestep))
    rng, survived, heavy = seeded_generator(setting.seed, "stepping", "balls", case), 0, 0
    trunk = sim.model.body("trunk").id
    for _ in setting.each(range(count), begin, begin + 0.4, case):
        kind, speed, way = int(rng.integers(_KINDS)), float(rng.uniform(*SPEEDS)), float(rng.uniform(-math.pi, math.pi))
        aim = np.array(sim.data.xipos[trunk])
        flight = _AWAY / speed
        ahead = np.array([WALKING * flight if case == "walking" else 0.0, 0.0, 0.0])
        start = aim + _AWAY * np.array([math.cos(way), math.sin(way), 0.0])
        velocity = (aim + ahead - start) / flight + np.array([0.0, 0.0, 0.5 * 9.81 * flight])
        sim.throw((start[0], start[1], start[2]), (velocity[0], velocity[1], velocity[2]), kind)
        sim.step(round(float(rng.uniform(*PAUSES)) / sim.model.opt.timestep))
        sim.remove_ball(kind)
        if sim.fallen:
            break
        survived += 1
        heavy += each[kind].mass * speed > HEAVY
    return survived, heavy / max(survived, 1), sim.fallen_at
