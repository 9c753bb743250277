"""Go back in time: one walk, many futures, each replayed to the last bit.

A snapshot holds everything: the body, the controller's memory, the pushes still to come.
Usage: python 06_snapshots.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

sim = sf.Simulation(skill="walk")
sim.run(2.0)
here = sim.snapshot()

for force in (-200.0, 0.0, 200.0):  # three futures of one moment
    sim.restore(here)
    if force:
        sim.push((force, 0.0, 0.0), duration=0.1)
    motion = sim.run(2.0)
    motion.save(folder / f"future-{force:+.0f}.npz")
    outcome = "fallen" if sim.fallen else "upright"
    print(f"pushed with {force:+.0f} N: at x = {motion.root_position[-1, 0]:.3f} m, {outcome}")

sim.restore(here)
again = sim.run(2.0)
undisturbed = sf.load_motion(folder / "future-+0.npz")
print("replayed bit for bit:", np.array_equal(again.qpos, undisturbed.qpos))
