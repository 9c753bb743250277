"""Walk for five seconds, say what happened, and save a filmstrip and the numbers.

Usage: python 01_walk.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

print("characters:", *sf.characters())
print("skills:", *sf.skills("planar"))

sim = sf.Simulation(character="planar", skill="walk", terrain="flat")
motion = sim.run(5.0)  # seconds; everything that happened, frame by frame

distance = motion.root_position[-1, 0] - motion.root_position[0, 0]  # (frames, 3) [m], x is forward
print(f"walked {distance:.2f} m in {motion.time[-1]:.1f} s, {'and fell' if sim.fallen else 'and stands'}")

for name in ("walk.png", "walk.npz"):  # .csv, .gif and .mp4 work the same way
    motion.save(folder / name)
    print("wrote", folder / name)
