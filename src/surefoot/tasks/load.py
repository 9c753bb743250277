"""A crate in two hands: its weight taken up little by little, its mass a part of the body's (GENBICON §4.4)."""

from __future__ import annotations

import math

import numpy as np

from surefoot.reflexes.pendulum import GRAVITY
from surefoot.tasks.actor import LEFT, RIGHT, Actor
from surefoot.tasks.hands import Hands, handles

CLOSE, AT_IT = 0.03, 0.012  # [m] from the handles at which the grips may close, and at which they do at once
_LEAD = 0.25  # share of the weight by which the body leans back before the hands lift
_BALANCED, _SLOWLY = 0.04, 0.2  # [m] out of balance at which it takes up the weight slowly, and how slowly
_CARRIED = (0.38, 1.18)  # [m] of the hands: ahead of the COM, above the ground
_ASIDE = 0.1  # [m] from the handles that the hands keep until they are near


class Load:
    """How much of the crate's weight is borne.

    Attributes:
        mass: of the crate [kg].
        share: of it that is borne, 0 … 1.
    """

    def __init__(self) -> None:
        """Nothing is borne."""
        self.mass, self.share = 0.0, 0.0

    def bear(self, actor: Actor, hands: Hands, change: float) -> float:
        """Bear more or less: half the weight with each hand, the mass with the COM; the share that is borne."""
        excess = math.copysign(1.0, change) * self._unbalanced(actor)
        change *= min(max(1.0 - excess / _BALANCED, _SLOWLY), 1.0)
        self.share = min(max(self.share + change, 0.0), 1.0)
        lifted = self.mass * max(0.0, self.share - _LEAD) / (1.0 - _LEAD)
        hands.exert(actor, np.tile([0.0, 0.0, 0.5 * lifted * GRAVITY], (2, 1)))
        actor.intent.load_body, actor.intent.load_mass = actor.body("crate"), self.share * self.mass
        return self.share

    def com(self, actor: Actor) -> np.ndarray:
        """(3,) centre of mass of the body and what it bears of the crate [m]."""
        load, mass = self.share * self.mass, float(actor.limbs.biped[0].mass)
        return np.array((mass * actor.com + load * actor.position("crate")) / (mass + load))

    def _unbalanced(self, actor: Actor) -> float:
        """How far that is ahead of where it stands quietly [m]."""
        biped = actor.limbs.biped[0]
        ahead = np.array([math.cos(actor.heading), math.sin(actor.heading), 0.0])
        return float((self.com(actor) - actor.feet.mean(axis=0)) @ ahead) - 0.4 * float(biped.ahead - biped.behind)


def before_chest(actor: Actor) -> np.ndarray:
    """(2, 3) where the hands hold a crate while the character walks [m]."""
    ends = handles(actor)
    half = 0.5 * float(np.linalg.norm(ends[LEFT] - ends[RIGHT]))
    middle = actor.com + _CARRIED[0] * np.array([math.cos(actor.heading), math.sin(actor.heading), 0.0])
    middle[2] = actor.ground(middle[0], middle[1]) + _CARRIED[1]
    return np.array(middle + outward(actor.heading, half))


def outward(yaw: float, apart: float) -> np.ndarray:
    """(2, 3) to the left and to the right by so much [m]."""
    left = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    return np.array([apart * left, -apart * left])


def distances(actor: Actor) -> np.ndarray:
    """(2,) of the hands from the handles [m]."""
    hands = np.array([actor.hand(LEFT), actor.hand(RIGHT)])
    return np.array(np.linalg.norm(hands - handles(actor), axis=1))


def from_outside(actor: Actor, yaw: float) -> np.ndarray:
    """(2, 3) where hands go for the handles: from above and from the sides, so as not to push the crate [m]."""
    aside = np.clip(distances(actor) - CLOSE, 0.0, _ASIDE)[:, None]
    return np.array(handles(actor) + aside * (outward(yaw, 0.7) + np.array([0.0, 0.0, 0.7])))


def bottom(actor: Actor) -> float:
    """How high the lowest corner of the crate is [m]."""
    geom = int(actor.model.body_geomadr[actor.body("crate")])
    down = np.abs(actor.rotation("crate")[2]) @ actor.model.geom_size[geom]
    return float(actor.position("crate")[2] - down)
