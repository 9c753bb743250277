"""SIMBICON (Yin, Loken, van de Panne 2007)."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.simbicon import (
    fel_mocap,
    gait_transitions,
    mocap,
    mocap_more,
    mocap_push,
    planar_acyclic,
    planar_fel,
    planar_gains,
    planar_gaits,
    planar_pushes,
    planar_terrain,
    planar_torque_limit,
    spatial_fel,
    spatial_gains,
    spatial_gaits,
    spatial_parameters,
    spatial_proportions,
    spatial_pushes,
    spatial_terrain,
)

PAPER = "SIMBICON (Yin, Loken, van de Panne 2007)"

EXPERIMENTS = (
    Experiment("simbicon/planar-gaits", f"{PAPER}, Table 1", planar_gaits.run),
    Experiment("simbicon/planar-acyclic", f"{PAPER}, §7.1 acyclic controllers", planar_acyclic.run),
    Experiment("simbicon/planar-transitions", f"{PAPER}, §7.1 controller transitions", gait_transitions.run_planar),
    Experiment("simbicon/planar-terrain", f"{PAPER}, §7.1 robustness, figure 1a", planar_terrain.run),
    Experiment("simbicon/planar-pushes", f"{PAPER}, §7.1 robustness", planar_pushes.run),
    Experiment("simbicon/planar-torque-limit", f"{PAPER}, §7", planar_torque_limit.run),
    Experiment("simbicon/planar-fel", f"{PAPER}, §7.1 feedback error learning, figure 7", planar_fel.run),
    Experiment("simbicon/planar-gains", f"{PAPER}, §7.3 (there in 3D), planar", planar_gains.run),
    Experiment("simbicon/3d-gaits", f"{PAPER}, §7.2 manual controller design, Table 1", spatial_gaits.run),
    Experiment("simbicon/3d-transitions", f"{PAPER}, §7.2 manual controller design", gait_transitions.run_spatial),
    Experiment("simbicon/3d-parameters", f"{PAPER}, §7.2 parameterization, figure 9", spatial_parameters.run),
    Experiment("simbicon/3d-pushes", f"{PAPER}, §7.2 robustness", spatial_pushes.run),
    Experiment("simbicon/3d-terrain", f"{PAPER}, §7.2 parameterization, manual design", spatial_terrain.run),
    Experiment("simbicon/3d-proportions", f"{PAPER}, §7.2 robustness", spatial_proportions.run),
    Experiment("simbicon/3d-fel", f"{PAPER}, §6, §7.2 feedback error learning", spatial_fel.run),
    Experiment("simbicon/3d-gains", f"{PAPER}, §7.3", spatial_gains.run),
    Experiment("simbicon/mocap", f"{PAPER}, §5, §7.2 motion capture imitation, figure 8", mocap.run),
    Experiment("simbicon/mocap-more", f"{PAPER}, §5, on clips of others", mocap_more.run),
    Experiment("simbicon/mocap-push", f"{PAPER}, figures 1b and 9", mocap_push.run),
    Experiment("simbicon/fel-mocap", f"{PAPER}, §7.2 feedback error learning", fel_mocap.run),
)
