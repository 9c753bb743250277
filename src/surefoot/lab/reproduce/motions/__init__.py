"""Motions in files: nothing of them may be lost on the way."""

from __future__ import annotations

from surefoot.lab.experiment import Experiment
from surefoot.lab.reproduce.motions import round_trip

EXPERIMENTS = (Experiment("motions/round-trip", "BVH and ASF/AMC files, read and written", round_trip.run),)
