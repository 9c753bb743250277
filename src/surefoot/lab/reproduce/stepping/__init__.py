"""Adaptive stepping from an inverted pendulum with feet (Kenwright, "Watch your step")."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.stepping import (
    balls,
    box,
    comfort,
    cost,
    paper_coupling,
    platform,
    proportions,
    pushes,
    speed,
    stand,
    terrain,
)

PAPER = "Watch your step (Kenwright)"

EXPERIMENTS = (
    Experiment("stepping/stand", f"{PAPER}, §5.1, figures 13 and 14", stand.run),
    Experiment("stepping/speed", f"{PAPER}, §4.1, figure 6", speed.run),
    Experiment("stepping/terrain", f"{PAPER}, §5.2, figures 10 and 12", terrain.run),
    Experiment("stepping/pushes", f"{PAPER}, §6.1, figure 17", pushes.run),
    Experiment("stepping/balls", f"{PAPER}, §6.1, figure 16", balls.run),
    Experiment("stepping/platform", f"{PAPER}, §6.2, figures 18 and 20", platform.run),
    Experiment("stepping/box", f"{PAPER}, §6.3, figures 19 and 22", box.run),
    Experiment("stepping/proportions", f"{PAPER}, §6.4, figures 21 and 23", proportions.run),
    Experiment("stepping/comfort", f"{PAPER}, §5.4, figure 15", comfort.run),
    Experiment("stepping/paper-coupling", f"{PAPER}, §5.3, Table 2", paper_coupling.run),
    Experiment("stepping/cost", f"{PAPER}, §6", cost.run),
)
