"""SIMBICON (Yin, Loken, van de Panne 2007)."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.simbicon import (
    planar_acyclic,
    planar_fel,
    planar_gains,
    planar_gaits,
    planar_pushes,
    planar_terrain,
    planar_torque_limit,
    planar_transitions,
)

PAPER = "SIMBICON (Yin, Loken, van de Panne 2007)"

EXPERIMENTS = (
    Experiment("simbicon/planar-gaits", f"{PAPER}, Table 1", planar_gaits.run),
    Experiment("simbicon/planar-acyclic", f"{PAPER}, §7.1 acyclic controllers", planar_acyclic.run),
    Experiment("simbicon/planar-transitions", f"{PAPER}, §7.1 controller transitions", planar_transitions.run),
    Experiment("simbicon/planar-terrain", f"{PAPER}, §7.1 robustness, figure 1a", planar_terrain.run),
    Experiment("simbicon/planar-pushes", f"{PAPER}, §7.1 robustness", planar_pushes.run),
    Experiment("simbicon/planar-torque-limit", f"{PAPER}, §7", planar_torque_limit.run),
    Experiment("simbicon/planar-fel", f"{PAPER}, §7.1 feedback error learning, figure 7", planar_fel.run),
    Experiment("simbicon/planar-gains", f"{PAPER}, §7.3 (there in 3D), planar", planar_gains.run),
)
