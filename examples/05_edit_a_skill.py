"""A skill is numbers with names: change them, blend two skills, and search for better ones.

Usage: python 05_edit_a_skill.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))


def speed_of(sim: sf.Simulation) -> float:
    """Mean speed over five seconds [m/s], 0 if it falls."""
    motion = sim.run(5.0)
    return 0.0 if sim.fallen else (motion.root_position[-1, 0] - motion.root_position[0, 0]) / 5.0


walk = sf.load_skill("walk")
print("states:", [state.duration or state.until for state in walk.parameters.states])
higher = sf.with_parameters(walk, {"states.0.targets.swing_hip": 0.5, "states.0.duration": 0.28})  # a changed copy
print(
    f"as printed {speed_of(sf.Simulation(skill=walk)):.2f} m/s, changed {speed_of(sf.Simulation(skill=higher)):.2f} m/s"
)

blended = sf.Simulation(skill="walk")
blended.blend("fast-walk", 0.5)
print(f"half way to fast-walk {speed_of(blended):.2f} m/s")

tries = np.linspace(0.24, 0.36, 13)  # [s] duration of the first state: the plainest search there is
population = sf.Population(len(tries), skill="walk", parameters={"states.0.duration": tries})
start = population.qpos[:, 0].copy()
population.run(5.0)
speeds = np.where(np.isinf(population.fallen_at), (population.qpos[:, 0] - start) / 5.0, 0.0)
print(f"fastest of {len(tries)}: {speeds.max():.2f} m/s with {tries[speeds.argmax()]:.2f} s in the first state")
np.savetxt(folder / "search.csv", np.column_stack([tries, speeds]), delimiter=",", header="duration,speed", comments="")
