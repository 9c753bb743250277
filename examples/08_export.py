"""Take a skip into Blender or a game engine: the whole of it with its shapes, and one cycle as a skeleton.

Usage: python 08_export.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

sim = sf.Simulation(skill="human/skip")
motion = sim.run(5.0, fps=120)  # record more than is needed: a cycle is cut at recorded frames
print(f"skipped {motion.root_position[-1, 0]:.2f} m, {'and fell' if sim.fallen else 'and goes on'}")

motion.save(folder / "skip.glb", fps=30)
motion.save(folder / "skip-loop.bvh", fps=60, loop=True, root_motion=False)  # repeats without a jump, in place
for name in ("skip.glb", "skip-loop.bvh"):
    print("wrote", folder / name)

clip = sf.load_motion(folder / "skip-loop.bvh")
gap = 2.0 * np.arccos(np.clip(np.abs((clip.rotations[0] * clip.rotations[-1]).sum(axis=1)), 0.0, 1.0))  # (joints,)
print(f"one cycle: {clip.time[-1]:.2f} s, {len(clip)} frames of {len(clip.skeleton.names)} joints")
print(f"last frame against the first: {np.degrees(gap.max()):.4f}° at most")
