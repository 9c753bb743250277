"""Limit cycle control (Laszlo, van de Panne, Fiume 1996)."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.limit_cycle import (
    bird,
    combinations,
    cycle,
    human_like,
    linearity,
    open_loop,
    predicted,
    speed,
    styles,
    torso_servo,
    turning,
)

PAPER = "Limit cycle control (Laszlo, van de Panne, Fiume 1996)"

EXPERIMENTS = (
    Experiment("limit_cycle/open-loop", f"{PAPER}, §5.1, figure 10", open_loop.run),
    Experiment("limit_cycle/combinations", f"{PAPER}, §3.2, §3.3, §5.2", combinations.run),
    Experiment("limit_cycle/linearity", f"{PAPER}, §3.1, figure 4", linearity.run),
    Experiment("limit_cycle/cycle", f"{PAPER}, §6, figures 13 to 15", cycle.run),
    Experiment("limit_cycle/torso-servo", f"{PAPER}, §5.3", torso_servo.run),
    Experiment("limit_cycle/speed", f"{PAPER}, §6.2, figure 16", speed.run),
    Experiment("limit_cycle/turning", f"{PAPER}, §6.3, figures 17 to 19", turning.run),
    Experiment("limit_cycle/human-like", f"{PAPER}, §6", human_like.run),
    Experiment("limit_cycle/styles", f"{PAPER}, §6.4, figures 20 and 21", styles.run),
    Experiment("limit_cycle/bird", f"{PAPER}, §4.2, §6.4, figure 22", bird.run),
    Experiment("limit_cycle/predicted", f"{PAPER}, §5.2, what it hoped for", predicted.run),
)
