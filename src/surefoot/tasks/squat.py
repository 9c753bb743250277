"""Stooping to what the hands cannot reach upright: bent trunk and bent knees, no more than is needed."""

from __future__ import annotations

import math

import numpy as np

from surefoot.tasks.actor import LEFT, RIGHT, Actor

_BEND, _CROUCH = 1.5, 1.2  # [rad] of trunk and knees, stooped as deep as it goes
_RATE = 0.5  # [1/s] of the way down
_REACH = 0.93  # of the arms' length that may be needed
_GAIN = 10.0  # share of the full rate by what is missing of the reach


class Stoop:
    """How deep it stoops, 0 … 1."""

    def __init__(self) -> None:
        """Upright."""
        self.depth = 0.0

    @property
    def is_upright(self) -> bool:
        """Whether it stands straight."""
        return self.depth == 0.0

    def down(self, actor: Actor, goals: np.ndarray, period: float) -> None:
        """Go down until the hands reach (2, 3) goals [m]."""
        self._tell(actor, self.depth + _RATE * period * min(max(_GAIN * (_needed(actor, goals) - _REACH), 0.0), 1.0))

    def up(self, actor: Actor, goals: np.ndarray, period: float) -> None:
        """Come up as far as the hands still reach (2, 3) goals [m]."""
        self._tell(actor, self.depth - _RATE * period * min(max(_GAIN * (_REACH - _needed(actor, goals)), 0.0), 1.0))

    def rise(self, actor: Actor, period: float) -> None:
        """Come up."""
        self._tell(actor, self.depth - _RATE * period)

    def _tell(self, actor: Actor, depth: float) -> None:
        self.depth = min(max(depth, 0.0), 1.0)
        smooth = 0.5 - 0.5 * math.cos(math.pi * self.depth)
        actor.intent.bend, actor.intent.crouch = _BEND * smooth, _CROUCH * smooth


def _needed(actor: Actor, goals: np.ndarray) -> float:
    """How long the arms would have to be, by their length."""
    return max(
        float(np.linalg.norm(goals[side] - actor.shoulder(side))) / float(actor.limbs.arms[side].reach)
        for side in (LEFT, RIGHT)
    )
