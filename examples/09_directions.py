"""A population of humans, pushed from eight directions, each harder than the one before.

Usage: python 09_directions.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

angles = np.repeat(np.arange(8) * np.pi / 4, 4)  # (32,) where the push points to: 0 is forward, π/2 left
forces = np.tile([50.0, 150.0, 250.0, 350.0], 8)  # (32,) [N]
pushes = [
    [sf.Push((f * np.cos(a), f * np.sin(a), 0.0), duration=0.4, start=2.0, body="trunk", point=(0.0, 0.0, 0.3))]
    for a, f in zip(angles, forces, strict=True)  # the point: the sternum, in the trunk's frame [m]
]
population = sf.Population(32, skill="human/walk", pushes=pushes)
population.run(5.0, stop_fallen=True)

stands = np.isinf(population.fallen_at)  # (32,)
for k in range(8):
    row = stands[4 * k : 4 * k + 4]
    told = ", ".join(f"{f:.0f} N {'stands' if s else 'falls'}" for f, s in zip(forces[:4], row, strict=True))
    print(f"{45 * k:3d}° to the left of forward: {told}")
print(f"{stands.sum()} of 32 still stand")

table = np.column_stack([np.degrees(angles), forces, population.fallen_at])
np.savetxt(folder / "directions.csv", table, delimiter=",", header="degrees,newtons,fallen_at", comments="")
print("wrote", folder / "directions.csv")
