"""A march that would fall by itself is balanced by one perturbation of a hip a step: by trial steps, or by a model.

Usage: python 13_limit_cycle.py [FOLDER]
"""

import sys
import tempfile
import time
from pathlib import Path

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))
seconds = 6.0


def walked(label: str, sim: sf.Simulation) -> sf.Motion:
    """Run a simulation and say how long it stayed up, and what that cost."""
    begin = time.perf_counter()
    motion = sim.run(seconds)
    cost = (time.perf_counter() - begin) / seconds
    how = f"fell at {sim.fallen_at:.1f} s" if sim.fallen else f"upright after {seconds:g} s"
    print(f"{label}: {how}; {1000.0 * cost:.0f} ms of computing a second")
    return motion


alone = sf.Simulation(skill="human19/march")
alone.set_parameters({"regulation.control": "open-loop"})  # the same poses and times, nothing that balances them
walked("open loop", alone)

motion = walked("with trial steps", sf.Simulation(skill="human19/march"))
walked("with a learned model", sf.Simulation(skill="human19/march-predicted"))

motion.save(folder / "march.png")
print("wrote", folder / "march.png")
