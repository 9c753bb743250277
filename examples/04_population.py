"""200 walkers at once, each with its own feedback gain and its own push, on all cores.

A population is a table of rows: bit for bit what 200 single simulations would do, only faster.
Usage: python 04_population.py [FOLDER]
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

gains = np.repeat(np.linspace(0.0, 0.4, 10), 20)  # (200,) velocity feedback of the first state
forces = np.tile(np.linspace(0.0, 3800.0, 20), 10)  # (200,) [N]
pushes = [[sf.Push((force, 0.0, 0.0), duration=0.1, start=1.0)] for force in forces]

begin = time.perf_counter()
population = sf.Population(200, skill="walk", parameters={"states.0.cv": gains}, pushes=pushes)
population.run(3.0, stop_fallen=True)
print(f"{200 * 3.0 / (time.perf_counter() - begin):.0f} simulated seconds per second")

stands = np.isinf(population.fallen_at)  # (200,) seconds, inf where it did not fall
print(f"{stands.sum()} of 200 still stand")
for gain in np.unique(gains):
    print(f"cv = {gain:.2f}: {stands[gains == gain].sum():2d} of 20 pushes survived")

table = np.column_stack([gains, forces, population.fallen_at])
np.savetxt(folder / "population.csv", table, delimiter=",", header="cv,force,fallen_at", comments="")
print("wrote", folder / "population.csv")
