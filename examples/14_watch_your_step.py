"""No recorded motion at all: it sways under a small push, steps under a large one, walks, and holds a growing box.

Usage: python 14_watch_your_step.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

sim = sf.Simulation("stepper", "stand")
sim.run(1.0)
for force in (40.0, 400.0):
    before = int(sim.memory.report[0].steps)
    sim.push((force, 0.0, 0.0), duration=0.2)
    motion = sim.run(3.0)
    print(f"{0.2 * force:.0f} N·s from behind: {int(sim.memory.report[0].steps) - before} steps")
motion.save(folder / "pushed.png")

sim.command(speed=0.6, heading=np.radians(30.0))
way = sim.run(6.0).com[[0, -1], :2]
print(f"walked {np.linalg.norm(way[1] - way[0]):.1f} m in 6 s")

box = sf.props.Crate(size=(0.3, 0.3, 0.3), mass=1.0, handles=((0.0, 0.19, 0.1), (0.0, -0.19, 0.1)))
sim = sf.Simulation("stepper", "carry", sf.props.with_props(sf.Terrain("flat"), [box]))
sim.hold()
for mass in range(1, 31):
    sim.set_mass(mass)
    sim.run(0.5)
    if mass % 10 == 0:
        knee = -np.degrees(sim.data.joint("left_knee").qpos[0])
        print(f"{mass} kg in its hands: knees bent by {knee:.1f}°")
print("wrote", folder / "pushed.png")
