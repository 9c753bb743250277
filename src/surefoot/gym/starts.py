"""How an episode begins: in the skill's start state, a little differently every time."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from surefoot.errors import SurefootError
from surefoot.scene import Scene


@dataclass(frozen=True)
class StartNoise:
    """Half-widths of the uniform noise of a start; 0 is none.

    Angles stay within the joints' limits, where there are any, and the feet are as far from the ground as they were.
    """

    angle: float = 0.02  # [rad] of every actuated hinge
    rate: float = 0.1  # [rad/s] of every actuated hinge
    speed: float = 0.05  # [m/s] of the root, along each axis of the world but the vertical

    def __post_init__(self) -> None:
        """Refuse what is not a width."""
        for field in fields(self):
            if not 0.0 <= getattr(self, field.name) < math.inf:
                raise SurefootError(f"start noise {field.name} must be 0 or more, got {getattr(self, field.name)}")

    def disturb(self, scene: Scene, qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> None:
        """Add it to a state (nq,), (nv,) in place; the number of random draws does not depend on the widths."""
        model, level = scene.model, 1 if scene.table.root == "planar" else 2  # level: the height's place in qpos
        joints = [model.joint(name) for name in scene.table.gains]
        draws = rng.uniform(-1.0, 1.0, (len(joints), 2))
        drift = rng.uniform(-1.0, 1.0, level)
        clearance = scene.clearance(qpos)
        for joint, (angle, rate) in zip(joints, draws, strict=True):
            at, limited = joint.qposadr[0], bool(model.jnt_limited[joint.id])
            if self.angle > 0.0:
                moved = qpos[at] + self.angle * angle
                qpos[at] = np.clip(moved, *joint.range) if limited else moved
            qvel[joint.dofadr[0]] += self.rate * rate
        qvel[:level] += self.speed * drift
        if self.angle > 0.0:
            qpos[level] += clearance - scene.clearance(qpos)
