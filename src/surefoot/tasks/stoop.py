"""Stooping: body and knees bend together, as far and as fast as they may (GENBICON §4.4)."""

from __future__ import annotations

import math

from surefoot.tasks.actor import LEFT, Actor

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
