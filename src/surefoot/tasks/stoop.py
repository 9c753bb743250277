"""Stooping: trunk and knees bend together, so that a hand, or both, come down to something low (GENBICON §4.4)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, Actor
from surefoot.tasks.pacing import smoothstep

# A stoop for one hand settles: its depth follows what is missing, within limits of rate and acceleration.
_SETTLE = 3.0  # [1/s] rate of the depth by what is missing
_FASTEST, _ACCELERATION = 0.9, 1.5  # [1/s], [1/s²] of the depth
_HANGS, _FORWARD = 0.75, 0.2  # of the other arm's reach: how far its hand is below and ahead of its shoulder

# A stoop for both hands moves at one rate, slower when little is missing of the reach.
_RATE = 0.5  # [1/s] of the depth
_REACH = 0.93  # of the arms' length that may be needed
_GAIN = 10.0  # share of the full rate by what is missing of the reach


class _Deepest(NamedTuple):
    """The posture at depth 1: bends of trunk and knees, lean towards the hand that reaches [rad]."""

    bend: float
    crouch: float
    roll: float


_ONE_HAND, _BOTH_HANDS = _Deepest(1.6, 1.8, 0.3), _Deepest(1.5, 1.2, 0.0)


class Stoop:
    """How deep a character stoops: 0 is upright, 1 brings the shoulders down to about the height of the hips.

    Attributes:
        side: of the hand for which it stoops; None for both.
        depth: 0 … 1.
        rate: of the depth while it stoops for one hand [1/s].
    """

    def __init__(self, side: int | None = None) -> None:
        """Stand upright."""
        self.side, self.depth, self.rate = side, 0.0, 0.0

    @property
    def is_upright(self) -> bool:
        """Whether nothing is left to rise."""
        return self.depth == 0.0 if self.side is None else self.depth < 0.005

    def change_depth(self, actor: Actor, missing: float, dt: float) -> None:
        """Stoop for one hand, smoothly.

        Args:
            actor: who stoops.
            missing: depth to add; negative to rise.
            dt: time since the last call [s].
        """
        wanted = _SETTLE * min(max(missing, 0.0 - self.depth), 1.0 - self.depth)
        wanted = min(max(wanted, -_FASTEST), _FASTEST)
        self.rate += min(max(wanted - self.rate, -_ACCELERATION * dt), _ACCELERATION * dt)
        self.depth = min(max(self.depth + self.rate * dt, 0.0), 1.0)
        actor.intent.bend, actor.intent.crouch = _ONE_HAND.bend * self.depth, _ONE_HAND.crouch * self.depth
        actor.intent.bend_roll = (-_ONE_HAND.roll if self.side == LEFT else _ONE_HAND.roll) * self.depth
        other = RIGHT if self.side == LEFT else LEFT
        if actor.has_arm(other):
            self._hang(actor, other)

    def _hang(self, actor: Actor, side: int) -> None:
        """Let the other arm hang down from a bent body rather than stay in line with it."""
        hand, reach = actor.hands[side], float(actor.limbs.arms[side].reach)
        x, y, z = actor.shoulder(side)
        ahead = _FORWARD * reach
        hand.reach, hand.stiff, hand.swivel = smoothstep(min(1.0, 2.0 * self.depth)), 1.0, 0.0
        hand.x, hand.y = x + ahead * math.cos(actor.heading), y + ahead * math.sin(actor.heading)
        hand.z = z - _HANGS * reach

    def lower_to(self, actor: Actor, goals: np.ndarray, dt: float) -> None:
        """Go down until both hands reach (2, 3) goals [m]."""
        missing = _two_hand_reach_ratio(actor, goals) - _REACH
        self._bend_for_both(actor, self.depth + _RATE * dt * min(max(_GAIN * missing, 0.0), 1.0))

    def rise_while_reaching(self, actor: Actor, goals: np.ndarray, dt: float) -> None:
        """Come up as far as both hands still reach (2, 3) goals [m]."""
        spare = _REACH - _two_hand_reach_ratio(actor, goals)
        self._bend_for_both(actor, self.depth - _RATE * dt * min(max(_GAIN * spare, 0.0), 1.0))

    def rise(self, actor: Actor, dt: float) -> None:
        """Come up from a stoop for both hands."""
        self._bend_for_both(actor, self.depth - _RATE * dt)

    def _bend_for_both(self, actor: Actor, depth: float) -> None:
        self.depth = min(max(depth, 0.0), 1.0)
        smooth = 0.5 - 0.5 * math.cos(math.pi * self.depth)
        actor.intent.bend, actor.intent.crouch = _BOTH_HANDS.bend * smooth, _BOTH_HANDS.crouch * smooth

    def clear_commands(self, actor: Actor) -> None:
        """Clear the bends, and the hand that hangs while the other one reaches."""
        actor.intent.bend = actor.intent.crouch = actor.intent.bend_roll = 0.0
        if self.side is not None:
            actor.hands[1 - self.side].reach = actor.hands[1 - self.side].stiff = 0.0


def _two_hand_reach_ratio(actor: Actor, goals: np.ndarray) -> float:
    """How long the arms would have to be to reach (2, 3) goals, by their length."""
    return max(
        float(np.linalg.norm(goals[side] - actor.shoulder(side))) / float(actor.limbs.arms[side].reach)
        for side in (LEFT, RIGHT)
    )
