"""A task tells a walker what to do: a humanoid follows a path and stands at its end; so do four more at once.

Usage: python 12_follow_path.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

corners = [(2.0, 0.0), (3.0, 1.5), (3.0, 3.0)]  # [m] world x and y

sim = sf.Simulation(skill="zero-walk")  # a skill for any biped; its body is the humanoid unless another is named
task = sim.add(sf.tasks.FollowPath(corners, speed=0.8))
while not task.is_over:
    sim.run(1.0)
print(f"{task.status}: {task.reason}")
for corner, off in zip(corners, task.missed, strict=True):
    print(f"passed {corner} at {off:.2f} m")

speeds = [0.5, 0.7, 0.9, 1.1]  # [m/s], each in a row of its own
rows = sf.Population(4, skill="zero-walk", tasks=[[sf.tasks.FollowPath(corners, speed)] for speed in speeds])
places = np.array([[m.time, *m.root_position[:, :2].T] for m in rows.run(15.0, fps=5)])  # (rows, 3, frames)
for speed, (one,) in zip(speeds, rows.tasks, strict=True):
    print(f"at {speed:.1f} m/s: {one.reason or one.progress()}")

table = np.column_stack([places[0, 0], *places[:, 1:].reshape(8, -1)])
header = ",".join(["time", *(f"{axis}{row}" for row in range(4) for axis in "xy")])
np.savetxt(folder / "paths.csv", table, delimiter=",", header=header, comments="")
print("wrote", folder / "paths.csv")
