"""A motion that is followed, and yet reacts: a recorded walk goes downhill, is pushed, and goes over into another.

Usage: python 15_stylized.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

FOLLOWED = "human/stylized-robust-walk"
sim = sf.Simulation(skill=FOLLOWED, terrain="slope:-5,1.5")
motion = sim.run(8.0)
motion.save(folder / "downhill.png")
print(f"recorded on level ground, followed down 5°: {motion.com[-1, 0] - motion.com[0, 0]:.1f} m in 8 s")

sim = sf.Simulation(skill=FOLLOWED)
sim.run(3.0)
sim.push((0.0, 150.0, 0.0), duration=0.2)
sim.run(5.0).save(folder / "pushed.png")
print("150 N from the side for 0.2 s:", "fell" if sim.fallen else "stepped and went on")

graph = sf.ActionGraph.model_validate({
    "nodes": {
        "step": {"skill": FOLLOWED, "changes": {"softness": 0.1, "reference": "human/in-place-walk"}},
        "walk": {"skill": FOLLOWED, "changes": {"softness": 0.1}},
    },
    "edges": [{"from": "walk", "to": "step"}, {"from": "step", "to": "walk"}],
})  # fmt: skip
sim = sf.Simulation(graph=graph, skill="walk")
for name in ("step", "walk"):
    sim.run(3.0)
    sim.switch(name)
    way = sim.run(4.0).com[[0, -1], 0]
    print(f"asked to {name}: {way[1] - way[0]:.1f} m in 4 s")
print("wrote", folder / "downhill.png", "and", folder / "pushed.png")
