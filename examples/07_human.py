"""A human walks, turns to the left, is pushed from its right side, and goes on where it was told to.

World axes: x forward, y left, z up. Commands are radians and metres per second; angles count to the left.
Usage: python 07_human.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

sim = sf.Simulation(skill="human/fast-walk")  # the body is the one the skill is for
sim.run(2.0)


def went(motion: sf.Motion) -> str:
    """How far and which way a motion went, and whether it fell."""
    x, y = (motion.root_position[-1] - motion.root_position[0])[:2]  # [m]
    return f"{np.hypot(x, y):.2f} m towards {np.degrees(np.arctan2(y, x)):.0f}°, {'fell' if sim.fallen else 'upright'}"


print("straight ahead:", went(sim.run(3.0)))

sim.command(heading=np.pi / 2)  # approached at the skill's turn_rate [rad/s]
print("while it turns:", went(sim.run(4.0)))

sim.push((-80.0, 0.0, 0.0), duration=0.4, body="trunk")  # newtons in the world: now a push to its left
motion = sim.run(4.0)
print("pushed to its left:", went(motion))

sim.switch("high-knee-walk")  # a bare name is a skill of the same body
print("lifting its knees:", went(sim.run(4.0)))

motion.save(folder / "pushed.png")
print("wrote", folder / "pushed.png")
