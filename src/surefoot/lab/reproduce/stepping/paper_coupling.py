"""§5.3: the paper's own coupling, a pose by inverse kinematics and the servos of Table 2 alone, beside ours.

Ours feeds the pendulum's force forward through the legs that bear and holds the pelvis in the world. The paper's cannot
hold a body on one foot: toppling asks for m g h ≈ 860 N·m/rad, an ankle with its contact scale gives 480; nor for long
on two, whose 960 yield with the hips' and knees' servos in a row.
"""

from __future__ import annotations

import math

from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.reproduce.stepping.stepping_trials import CHARACTER, SETTLED, STAND, WALK
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill

SECONDS, IMPULSES = 60.0, (10.0, 20.0, 40.0, 80.0)  # [s], [N·s]
PAPER: dict[str, float | int | str | None] = {
    "force": 0.0, "pose": 1.0, "swing_kp": 1.0, "swing_kd": 1.0, "leg": 0.98,
    **{f"start.joints.{side}_hip": 0.14 for side in ("swing", "stance")},
    **{f"start.joints.{side}_knee": -0.28 for side in ("swing", "stance")},
    **{f"start.joints.{side}_ankle": 0.14 for side in ("swing", "stance")},
}  # fmt: skip
"""What makes a skill the paper's: no force fed forward, all joints by Table 2; on straighter legs it stands longer."""


def run(result: Result, setting: Setting) -> None:
    """Stand, be pushed, walk: by either coupling."""
    seconds = 10.0 if setting.quick else SECONDS
    for name, changes in setting.each((("ours", {}), ("the paper's coupling", PAPER))):

        def add(case: str, paper: str, ours: str, unit: str, holds: bool, is_ours: bool = not changes) -> None:
            if is_ours:
                result.add_row(case, paper, ours, unit, holds)
            else:
                result.add_note(case, ours, unit, paper)

        stands = stood(with_parameters(load(f"{CHARACTER}/{STAND}"), changes), seconds, setting.seed)
        text = "stands" if math.isinf(stands) else f"falls after {stands:.1f} s"
        add("ours stands" if not changes else f"{name}, standing", "stands", text, f"{seconds:g} s", math.isinf(stands))
        skill = with_parameters(load(f"{CHARACTER}/{STAND}"), changes)
        survived = [pushed(skill, impulse, setting.seed) for impulse in IMPULSES]
        text = ", ".join(f"{j:g}: {'kept up' if ok else 'fell'}" for j, ok in zip(IMPULSES, survived, strict=True))
        add(f"{name}, pushed forwards", "recovers", text, "N·s in 0.2 s", all(survived))
        fell, distance = walked(with_parameters(load(f"{CHARACTER}/{WALK}"), changes), seconds, setting.seed)
        text = f"{distance:.1f} m" + ("" if math.isinf(fell) else f", fell at {fell:.1f} s")
        add(f"{name}, walking at 0.5 m/s", "walks", text, f"in {seconds:g} s", math.isinf(fell))


def stood(skill: Skill, seconds: float, seed: int) -> float:
    """When it fell [s]; inf if it did not."""
    sim = Simulation(CHARACTER, skill, seed=seed)
    sim.step(round(seconds / sim.model.opt.timestep))
    return sim.fallen_at


def pushed(skill: Skill, impulse: float, seed: int) -> bool:
    """Whether it outlives a push forwards."""
    sim = Simulation(CHARACTER, skill, seed=seed)
    sim.push((impulse / 0.2, 0.0, 0.0), duration=0.2, delay=SETTLED)
    sim.step(round((SETTLED + 10.0) / sim.model.opt.timestep))
    return not sim.fallen


def walked(skill: Skill, seconds: float, seed: int) -> tuple[float, float]:
    """When it fell [s], and how far it came [m]."""
    sim = Simulation(CHARACTER, skill, seed=seed)
    sim.command(speed=0.5)
    sim.step(round(seconds / sim.model.opt.timestep))
    return sim.fallen_at, float(sim.memory.com[0])
