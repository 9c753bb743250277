"""Stylized locomotion (da Silva, Abe, Popović 2008)."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.stylized import (
    action_graph_walks,
    against_simbicon,
    mocap,
    planar,
    precompute,
    qp,
    slopes,
    standing,
    what_balances,
    worlds,
)

PAPER = "da Silva, Abe, Popović 2008"

EXPERIMENTS = (
    Experiment("stylized/standing", f"{PAPER}, §3.3 and figure 5; §4 standing", standing.run),
    Experiment("stylized/qp", f"{PAPER}, §4.3", qp.run),
    Experiment("stylized/precompute", f"{PAPER}, §3.2", precompute.run),
    Experiment("stylized/planar", f"{PAPER}, §5.1 and Table 1, 2D data", planar.run),
    Experiment("stylized/slopes", f"{PAPER}, §5.2 and figure 6", slopes.run),
    Experiment("stylized/mocap", f"{PAPER}, §5.1 and Table 1", mocap.run),
    Experiment("stylized/worlds", f"{PAPER}, §5.2 and figure 8", worlds.run),
    Experiment("stylized/what-balances", f"{PAPER}, §5.2", what_balances.run),
    Experiment("stylized/against-simbicon", f"{PAPER}, §5.1", against_simbicon.run),
    Experiment("stylized/action-graph", f"{PAPER}, §5.3 and figure 7", action_graph_walks.run),
)
