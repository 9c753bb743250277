"""Two hands that move together: to handles, with what they hold, and back to the sides."""

from __future__ import annotations

import math

import numpy as np

from surefoot.tasks.actor import LEFT, RIGHT, SIDES, Actor

_LETTING_GO = 1.2  # [s] in which arms go back to what the style does with them


class Hands:
    """Where both hands are sent, and how firmly.

    Attributes:
        targets: (2, 3) where they are sent now [m]; NaN before they were sent anywhere.
    """

    def __init__(self, stiffness: float) -> None:
        """Hang down; `stiffness` is how many times stiffer than usual the arms are while they reach."""
        self.stiffness = stiffness
        self.targets = np.full((2, 3), np.nan)
        self._share = 0.0

    def toward(self, actor: Actor, goals: np.ndarray, most: float) -> float:
        """Send the hands on towards (2, 3) goals by at most `most` [m]; how far the farther hand is from its [m]."""
        if math.isnan(self.targets[0, 0]):
            self.targets = np.array([actor.hand(LEFT), actor.hand(RIGHT)])
        away = goals - self.targets
        length = np.linalg.norm(away, axis=1, keepdims=True)
        self.targets = self.targets + away * np.minimum(1.0, most / np.maximum(length, 1e-9))
        self._share = min(1.0, self._share + 0.05)
        for side in (LEFT, RIGHT):
            hand = actor.hands[side]
            hand.reach, hand.stiff = self._share, self.stiffness
            hand.x, hand.y, hand.z = self.targets[side]
        return max(float(np.linalg.norm(actor.hand(side) - goals[side])) for side in (LEFT, RIGHT))

    def exert(self, actor: Actor, forces: np.ndarray) -> None:
        """Let the hands exert forces (2, 3) on the world [N]."""
        for hand, force in zip(actor.hands, forces, strict=True):
            hand.fx, hand.fy, hand.fz = force

    def relax(self, actor: Actor, period: float) -> bool:
        """Let the arms go back to the style's; True once they have."""
        self._share = max(0.0, self._share - period / _LETTING_GO)
        for hand in actor.hands:
            hand.reach = self._share
        return self._share == 0.0

    def drop(self, actor: Actor) -> None:
        """Open the grips and forget about the hands, at once."""
        if actor.model.neq:
            grip(actor, False)
        for hand in actor.hands:
            hand.reach = hand.stiff = hand.fx = hand.fy = hand.fz = hand.swivel = 0.0


def grip(actor: Actor, on: bool) -> None:
    """Close or open both grips on the first crate."""
    for side in SIDES:
        actor.grip(f"grip_{side}", on)


def handles(actor: Actor, crate: str = "crate") -> np.ndarray:
    """(2, 3) where the left and the right handle of a crate are [m]."""
    return np.array([actor.site(f"{crate}_{side}") for side in SIDES])
