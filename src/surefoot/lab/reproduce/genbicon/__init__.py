"""GENBICON (Coros, Beaudoin, van de Panne 2010; Yin, Coros, van de Panne, §4)."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.genbicon import (
    bodies,
    crate_tasks,
    heading,
    obstacles,
    proportions,
    pushes,
    reach,
    speeds,
    styles,
)

PAPER = "GENBICON (Coros, Beaudoin, van de Panne 2010)"

EXPERIMENTS = (
    Experiment("genbicon/speeds", f"{PAPER}, §4.4 generalization across gait parameters", speeds.run),
    Experiment("genbicon/heading", f"{PAPER}, §4.4 generalization across gait parameters", heading.run),
    Experiment("genbicon/characters", f"{PAPER}, §4.4 generalization across characters", bodies.run),
    Experiment(
        "genbicon/strangers", f"{PAPER}, §4.4 generalization across characters, files of others", bodies.run_imported
    ),
    Experiment("genbicon/proportions", f"{PAPER}, §4.4 generalization across characters, figure 13", proportions.run),
    Experiment("genbicon/styles", f"{PAPER}, §4.4 generalization across style, figure 12", styles.run),
    Experiment("genbicon/pushes", f"{PAPER}, §4 robustness, pushed as in SIMBICON §7.2", pushes.run),
    Experiment("genbicon/reach", f"{PAPER}, §4.4 reaching, figure 14", reach.run),
    Experiment("genbicon/crate-push", f"{PAPER}, §4.4 pulling and pushing a crate, figure 15", crate_tasks.push),
    Experiment("genbicon/crate-pull", f"{PAPER}, §4.4 pulling and pushing a crate, figure 15", crate_tasks.pull),
    Experiment("genbicon/carry", f"{PAPER}, §4.4 lifting and moving a crate, figure 16", crate_tasks.carry),
    Experiment("genbicon/obstacles", f"{PAPER}, §4.4 navigation over and under obstacles, figure 17", obstacles.run),
)
