"""An arm that reaches for a point: inverse kinematics, and what its low gains leave made up for (GENBICON §4.4)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.tasks.actor import Actor

_UP, _DOWN = 1.0, 0.8  # [1/s] of the share, to the point and back
_GAIN = 1.2  # [1/s] of the error that is added to the commanded point
_NEAR = 0.12  # [m] within which the error is integrated: farther off the arm is still on its way
_MOST = 0.2  # [m] that the commanded point may lie beside the wanted one
_LONGEST_LEAD = 0.4  # [m]
_STIFF = 3.0  # times the arm's gains
_SWIVEL = 0.25  # [rad] of the elbow, outward


class Arm:
    """One reaching arm.

    The commanded point is the wanted one, shifted by the integral of what the hand misses it by: what yields in
    servos of low gain, and in the body that carries the arm, is made up for within a second.

    Attributes:
        side: 0 the left one, 1 the right one.
        share: 0 the style's arm, 1 all inverse kinematics.
    """

    def __init__(self, side: int) -> None:
        """Begin with the arm of the style."""
        self.side, self.share = side, 0.0
        self._shift = np.zeros(3)

    def reach(self, actor: Actor, point: Any, dt: float) -> float:
        """Bring the hand a tick of `dt` [s] nearer to a world point; how far it is from it now [m]."""
        off = np.asarray(point, float) - actor.hand(self.side)
        self.share = min(1.0, self.share + _UP * dt)
        if self.share == 1.0 and float(np.linalg.norm(off)) < _NEAR:
            self._shift += _GAIN * dt * off
            self._shift *= min(1.0, _MOST / max(float(np.linalg.norm(self._shift)), 1e-9))
        self._write(actor, np.asarray(point, float) + self._shift + self._lead(actor, point))
        return float(np.linalg.norm(off))

    def _lead(self, actor: Actor, point: Any) -> np.ndarray:
        """(3,) what makes up for the servos' damping, by which a moving body drags the hand along [m]."""
        link = actor.limbs.links[int(actor.limbs.arms[self.side].upper)]
        lead = -float(link["kd"] / link["kp"]) * actor.velocity(int(link["near"]), point)
        return np.asarray(lead * min(1.0, _LONGEST_LEAD / max(float(np.linalg.norm(lead)), 1e-9)))

    def withdraw(self, actor: Actor, dt: float) -> bool:
        """Let the arm go back to its style for a tick of `dt` [s]; whether it is there."""
        self.share = max(0.0, self.share - _DOWN * dt)
        self._shift *= self.share
        hand = actor.hands[self.side]
        hand.reach = _smooth(self.share)
        return self.share == 0.0

    def release(self, actor: Actor) -> None:
        """Take back everything that was told."""
        hand = actor.hands[self.side]
        hand.reach = hand.swivel = hand.stiff = 0.0

    def _write(self, actor: Actor, point: np.ndarray) -> None:
        hand = actor.hands[self.side]
        hand.reach, hand.stiff, hand.swivel = _smooth(self.share), _STIFF, _SWIVEL
        hand.x, hand.y, hand.z = point


def distance_of_reach(actor: Actor, side: int, point: Any, ahead: float = 0.0) -> float:
    """How far a point is from a shoulder, by the arm's reach: above 1 the arm is too short.

    `ahead` [s] looks at where the shoulder will be if it moves on as it does.
    """
    arm, shoulder = actor.limbs.arms[side], actor.shoulder(side)
    moving = actor.velocity(int(actor.limbs.links[int(arm.upper)]["near"]), shoulder)
    return math.dist(shoulder + ahead * moving, point) / float(arm.reach)


def _smooth(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)
