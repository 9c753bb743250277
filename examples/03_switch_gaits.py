"""Change the gait on the way, tell it a speed, and see when the switch really happened.

A switch waits for the next state change, so that the new skill finds the legs where it expects them.
Usage: python 03_switch_gaits.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

sim = sf.Simulation(skill="walk")
sim.command(speed=0.9)  # [m/s]; what a skill can be told is listed in its file
for skill in ("walk", "fast-walk", "walk"):
    if skill != sim.skill.name:
        sim.switch(skill)
        asked = sim.time
        while sim.requested is not None and sim.time < asked + 2.0:
            sim.step()
        print(f"asked for {skill} at {asked:.3f} s, got it at {sim.time:.3f} s")
    motion = sim.run(4.0)
    speed = (motion.root_position[-1, 0] - motion.root_position[0, 0]) / (motion.time[-1] - motion.time[0])
    print(f"{sim.skill.name}: {speed:.2f} m/s, {'fallen' if sim.fallen else 'upright'}")

motion.save(folder / "last-gait.csv")
print("wrote", folder / "last-gait.csv")
