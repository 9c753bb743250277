"""Walk with a body of your own: it takes an MJCF file, and the names in it mean nothing.

This body has no arms. Its position motors are replaced by torque motors as strong as its weight and legs need.
Usage: python 11_imported_body.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import surefoot as sf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="surefoot-"))

path = folder / "mine.xml"
path.write_text("""<mujoco><worldbody><body pos="0 0 .8"><freejoint/>
  <geom type="box" size=".09 .14 .2" pos="0 0 .22" mass="18"/>
  <replicate count="2" offset="0 -.2 0"><body pos="0 .1 0">
    <joint name="a" axis="0 0 1" range="-40 40"/><joint name="b" axis="1 0 0" range="-30 30"/>
    <joint name="c" axis="0 1 0" range="-90 40"/><geom type="capsule" size=".05" fromto="0 0 0 0 0 -.3" mass="4"/>
    <body pos="0 0 -.36"><joint name="d" axis="0 1 0" range="0 140"/>
      <geom type="capsule" size=".04" fromto="0 0 0 0 0 -.32" mass="2"/>
      <body pos="0 0 -.34"><joint name="e" axis="0 1 0" range="-45 45"/><joint name="f" axis="1 0 0" range="-25 25"/>
        <geom type="box" size=".11 .05 .02" pos=".04 0 -.05" mass=".8"/></body></body></body></replicate>
</body></worldbody><actuator><position joint="a" kp="200"/><position joint="b" kp="200"/><position joint="c" kp="200"/>
  <position joint="d" kp="200"/><position joint="e" kp="80"/><position joint="f" kp="80"/></actuator></mujoco>""")

sim = sf.Simulation(character=str(path), skill="zero-walk")  # a skill for any body with two legs
for note in sim.scene.table.imported.notes:
    print("found:", note)

sim.command(speed=0.5)
motion = sim.run(8.0)
distance = motion.root_position[-1, 0] - motion.root_position[0, 0]
print(f"walked {distance:.2f} m in {motion.time[-1]:.1f} s, {'and fell' if sim.fallen else 'and goes on'}")

motion.save(folder / "mine.png")
print("wrote", folder / "mine.png")
