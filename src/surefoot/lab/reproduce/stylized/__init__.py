"""Stylized locomotion (da Silva, Abe, Popović 2008)."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.stylized import standing

PAPER = "da Silva, Abe, Popović 2008"

EXPERIMENTS = (Experiment("stylized/standing", f"{PAPER}, §3.3 and figure 5; §4 standing", standing.run),)
