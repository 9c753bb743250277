"""Push a walker harder and harder: small pushes are absorbed, large ones are not.

A push is a force in newtons in the world frame; it lasts an exact number of physics steps.
Usage: python 02_push.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

for force in (50.0, 500.0, 5000.0):
    sim = sf.Simulation(skill="walk")
    sim.run(2.0)  # into its stride
    sim.push((force, 0.0, 0.0), duration=0.1, body="trunk", delay=0.5)
    motion = sim.run(6.0)
    outcome = f"fell at {sim.fallen_at:.2f} s: {sim.fall_cause}" if sim.fallen else "recovered"
    print(f"{force:6.0f} N for 0.1 s: {outcome}")

motion.save(folder / "push.png")  # the last of them
print("wrote", folder / "push.png")
