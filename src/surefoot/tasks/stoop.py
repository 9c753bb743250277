"""Stooping: body and knees bend together, as far and as fast as they may (GENBICON §4.4).

Stooping to what the hands cannot reach upright: bent trunk and bent knees, no more than is needed.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, Actor

_BEND, _CROUCH, _ROLL = 1.6, 1.8, 0.3  # [rad] of body, knees, and body towards the hand that reaches, at depth 1
_FASTEST, _ACCELERATION = 0.9, 1.5  # [1/s], [1/s²] of the depth
_HANGS, _FORWARD = 0.75, 0.2  # of the other arm's reach: how far its hand is below and ahead of its shoulder
_SETTLE = 3.0  # [1/s] depth's speed by what is missing


class Stoop:
    """How deep it stoops: 0 stands upright, 1 brings a shoulder down to the hips' height.

    Attributes:
        depth: 0 … 1.
        rate: of the depth [1/s].
        side: of the hand for which it stoops.
    """

    def __init__(self, side: int) -> None:
        """Stand upright."""
        self.side, self.depth, self.rate = side, 0.0, 0.0

    def move(self, actor: Actor, missing: float, dt: float) -> None:
        """Stoop deeper by a missing part of the depth, smoothly, for a tick of `dt` [s]; less if that is negative."""
        room = (0.0 - self.depth, 1.0 - self.depth)
        wanted = _SETTLE * min(max(missing, room[0]), room[1])
        wanted = min(max(wanted, -_FASTEST), _FASTEST)
        self.rate += min(max(wanted - self.rate, -_ACCELERATION * dt), _ACCELERATION * dt)
        self.depth = min(max(self.depth + self.rate * dt, 0.0), 1.0)
        actor.intent.bend, actor.intent.crouch = _BEND * self.depth, _CROUCH * self.depth
        actor.intent.bend_roll = (-_ROLL if self.side == LEFT else _ROLL) * self.depth
        if actor.has_arm(1 - self.side):
            self._hang(actor, 1 - self.side)

    def _hang(self, actor: Actor, side: int) -> None:
        """Let the other arm hang down from a bent body rather than stay in line with it."""
        hand, reach = actor.hands[side], float(actor.limbs.arms[side].reach)
        x, y, z = actor.shoulder(side)
        ahead, share = _FORWARD * reach, min(1.0, 2.0 * self.depth)
        hand.reach, hand.stiff, hand.swivel = share * share * (3.0 - 2.0 * share), 1.0, 0.0
        hand.x, hand.y = x + ahead * math.cos(actor.heading), y + ahead * math.sin(actor.heading)
        hand.z = z - _HANGS * reach

    def is_upright(self) -> bool:
        """Whether nothing is left to rise."""
        return self.depth < 0.005

    def release(self, actor: Actor) -> None:
        """Take back everything that was told."""
        actor.intent.bend = actor.intent.crouch = actor.intent.bend_roll = 0.0
        actor.hands[1 - self.side].reach = actor.hands[1 - self.side].stiff = 0.0


_TWO_HAND_BEND, _TWO_HAND_CROUCH = 1.5, 1.2  # [rad] of trunk and knees, stooped as deep as it goes
_RATE = 0.5  # [1/s] of the way down
_REACH = 0.93  # of the arms' length that may be needed
_GAIN = 10.0  # share of the full rate by what is missing of the reach


class TwoHandStoop:
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
        self._tell(
            actor,
            self.depth + _RATE * period * min(max(_GAIN * (_two_hand_reach_ratio(actor, goals) - _REACH), 0.0), 1.0),
        )

    def up(self, actor: Actor, goals: np.ndarray, period: float) -> None:
        """Come up as far as the hands still reach (2, 3) goals [m]."""
        self._tell(
            actor,
            self.depth - _RATE * period * min(max(_GAIN * (_REACH - _two_hand_reach_ratio(actor, goals)), 0.0), 1.0),
        )

    def rise(self, actor: Actor, period: float) -> None:
        """Come up."""
        self._tell(actor, self.depth - _RATE * period)

    def _tell(self, actor: Actor, depth: float) -> None:
        self.depth = min(max(depth, 0.0), 1.0)
        smooth = 0.5 - 0.5 * math.cos(math.pi * self.depth)
        actor.intent.bend, actor.intent.crouch = _TWO_HAND_BEND * smooth, _TWO_HAND_CROUCH * smooth


def _two_hand_reach_ratio(actor: Actor, goals: np.ndarray) -> float:
    """How long the arms would have to be, by their length."""
    return max(
        float(np.linalg.norm(goals[side] - actor.shoulder(side))) / float(actor.limbs.arms[side].reach)
        for side in (LEFT, RIGHT)
    )
