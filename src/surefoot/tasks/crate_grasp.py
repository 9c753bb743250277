"""A crate in two hands: hands that move together, grips, a weight that is taken up gradually (GENBICON §4.4)."""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, SIDES, Actor
from surefoot.engine.task import Task
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.tasks.approach import ApproachPose
from surefoot.tasks.pacing import Stopwatch

_LETTING_GO = 1.2  # [s] in which arms go back to what the style does with them


class HandPair:
    """Where both hands are sent, and how firmly.

    Attributes:
        stiffness: of the arms while they reach, in multiples of the usual one.
        targets: (2, 3) where the hands are sent now [m]; NaN before they are sent anywhere.
    """

    def __init__(self, stiffness: float) -> None:
        """Leave the arms to the style."""
        self.stiffness = stiffness
        self.targets = np.full((2, 3), np.nan)
        self._share = 0.0

    def move_toward(self, actor: Actor, goals: np.ndarray, most: float) -> float:
        """Move the targets towards (2, 3) goals by at most `most` [m]; returns how far the farther hand is off [m]."""
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
        """Let the arms go back to the style's during `period` [s]; True once they have."""
        self._share = max(0.0, self._share - period / _LETTING_GO)
        for hand in actor.hands:
            hand.reach = self._share
        return self._share == 0.0

    def let_go(self, actor: Actor) -> None:
        """Open the grips and leave the hands to the style, at once."""
        if actor.model.neq:
            set_grips(actor, False)
        for hand in actor.hands:
            hand.reach = hand.stiff = hand.fx = hand.fy = hand.fz = hand.swivel = 0.0


def set_grips(actor: Actor, on: bool) -> None:
    """Close or open both grips on the first crate."""
    for side in SIDES:
        actor.grip(f"grip_{side}", on)


def handle_positions(actor: Actor, crate: str = "crate") -> np.ndarray:
    """(2, 3) positions of the left and the right handle of a crate [m]."""
    return np.array([actor.site(f"{crate}_{side}") for side in SIDES])


NEAR_HANDLE, AT_HANDLE = 0.03, 0.012  # [m] from the handles at which the grips may close, and at which they do at once
_LEAD = 0.25  # share of the weight by which the body leans back before the hands lift
_BALANCED, _SLOWLY = 0.04, 0.2  # [m] out of balance at which it takes up the weight slowly, and how slowly
_CARRIED = (0.38, 1.18)  # [m] of the hands: ahead of the COM, above the ground
_ASIDE = 0.1  # [m] from the handles that the hands keep until they are near


class CrateTask(Task):
    """A task that takes the body `crate` by its two handles; it starts by walking to it."""

    def __init__(self, timeout: float, stiffness: float, tolerance: tuple[float, float] = (0.05, 0.05)) -> None:
        """Set how stiff the arms are, in multiples of the usual, and how exactly it stands before the crate [m]."""
        super().__init__(timeout)
        self._phase, self._timer = "walking to the crate", Stopwatch()
        self._approach, self._hands = ApproachPose(self.period, tolerance=tolerance), HandPair(stiffness)

    def end(self, actor: Actor) -> None:
        """Let go and stand."""
        self._hands.let_go(actor)
        intent = actor.intent
        intent.bend = intent.crouch = intent.force = intent.force_height = intent.alpha = 0.0
        intent.load_body = intent.load_mass = 0.0
        if "stop" in actor.skill.commands:
            actor.command(stop=1.0)


class CarriedLoad:
    """How much of the crate's weight the character bears; the crate's mass becomes part of the body's.

    Attributes:
        mass: of the crate [kg].
        share: of it that is borne, 0 … 1.
    """

    def __init__(self) -> None:
        """Bear nothing."""
        self.mass, self.share = 0.0, 0.0

    def change_share(self, actor: Actor, hands: HandPair, change: float) -> float:
        """Bear more or less: each hand lifts half of the weight, and the COM includes the mass; returns the share."""
        excess = math.copysign(1.0, change) * self._unbalanced(actor)
        change *= min(max(1.0 - excess / _BALANCED, _SLOWLY), 1.0)
        self.share = min(max(self.share + change, 0.0), 1.0)
        lifted = self.mass * max(0.0, self.share - _LEAD) / (1.0 - _LEAD)
        hands.exert(actor, np.tile([0.0, 0.0, 0.5 * lifted * GRAVITY], (2, 1)))
        actor.intent.load_body, actor.intent.load_mass = actor.body("crate"), self.share * self.mass
        return self.share

    def com(self, actor: Actor) -> np.ndarray:
        """(3,) centre of mass of the body and the borne part of the crate [m]."""
        load, mass = self.share * self.mass, float(actor.limbs.biped[0].mass)
        return np.array((mass * actor.com + load * actor.position("crate")) / (mass + load))

    def _unbalanced(self, actor: Actor) -> float:
        """How far the COM is ahead of where it is in quiet standing [m]."""
        biped = actor.limbs.biped[0]
        ahead = np.array([math.cos(actor.heading), math.sin(actor.heading), 0.0])
        return float((self.com(actor) - actor.feet.mean(axis=0)) @ ahead) - 0.4 * float(biped.ahead - biped.behind)


def carry_positions(actor: Actor) -> np.ndarray:
    """(2, 3) where the hands hold a crate while the character walks [m]."""
    ends = handle_positions(actor)
    half = 0.5 * float(np.linalg.norm(ends[LEFT] - ends[RIGHT]))
    middle = actor.com + _CARRIED[0] * np.array([math.cos(actor.heading), math.sin(actor.heading), 0.0])
    middle[2] = actor.ground(middle[0], middle[1]) + _CARRIED[1]
    return np.array(middle + sideways_offsets(actor.heading, half))


def sideways_offsets(yaw: float, apart: float) -> np.ndarray:
    """(2, 3) to the left and to the right by so much [m]."""
    left = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    return np.array([apart * left, -apart * left])


def hand_to_handle_distances(actor: Actor) -> np.ndarray:
    """(2,) distances of the hands from the handles [m]."""
    hands = np.array([actor.hand(LEFT), actor.hand(RIGHT)])
    return np.array(np.linalg.norm(hands - handle_positions(actor), axis=1))


def pregrasp_positions(actor: Actor, yaw: float) -> np.ndarray:
    """(2, 3) where the hands go: to the handles from above and from the sides, so as not to push the crate [m]."""
    aside = np.clip(hand_to_handle_distances(actor) - NEAR_HANDLE, 0.0, _ASIDE)[:, None]
    return np.array(handle_positions(actor) + aside * (sideways_offsets(yaw, 0.7) + np.array([0.0, 0.0, 0.7])))


def crate_bottom(actor: Actor) -> float:
    """Height of the crate's lowest corner [m]."""
    geom = int(actor.model.body_geomadr[actor.body("crate")])
    down = np.abs(actor.rotation("crate")[2]) @ actor.model.geom_size[geom]
    return float(actor.position("crate")[2] - down)
