"""Reach for a point: walk up to it, stoop if it is low, hold the hand there, stand upright again (GENBICON §4.4)."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, SIDES, Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.approach import ApproachTarget
from surefoot.tasks.pacing import smoothstep
from surefoot.tasks.stoop import Stoop
from surefoot.tasks.task_text import TaskText, check_range

_UP, _DOWN = 1.0, 0.8  # [1/s] of the share, to the point and back
_GAIN = 1.2  # [1/s] at which the error is integrated into the commanded point
_NEAR = 0.12  # [m] within which the error is integrated: farther off the arm is still on its way
_MOST = 0.2  # [m] that the commanded point may lie beside the wanted one
_LONGEST_LEAD = 0.4  # [m]
_STIFF = 3.0  # times the arm's gains
_SWIVEL = 0.25  # [rad] of the elbow, outward


class ReachingArm:
    """One reaching arm, moved by inverse kinematics.

    The commanded point is the wanted one, shifted by the integral of the hand's error. This makes up within a second
    for servos of low gain and a body that yields.

    Attributes:
        side: 0 the left one, 1 the right one.
        share: 0 the style's arm, 1 all inverse kinematics.
    """

    def __init__(self, side: int) -> None:
        """Start with the arm of the style."""
        self.side, self.share = side, 0.0
        self._shift = np.zeros(3)

    def reach(self, actor: Actor, point: Any, dt: float) -> float:
        """Bring the hand nearer to a world point for a tick of `dt` [s]; returns its distance now [m]."""
        off = np.asarray(point, float) - actor.hand(self.side)
        self.share = min(1.0, self.share + _UP * dt)
        if self.share == 1.0 and float(np.linalg.norm(off)) < _NEAR:
            self._shift += _GAIN * dt * off
            self._shift *= min(1.0, _MOST / max(float(np.linalg.norm(self._shift)), 1e-9))
        self._write(actor, np.asarray(point, float) + self._shift + self._lead(actor, point))
        return float(np.linalg.norm(off))

    def _lead(self, actor: Actor, point: Any) -> np.ndarray:
        """(3,) shift that makes up for the servos' damping, by which a moving body drags the hand along [m]."""
        link = actor.limbs.links[int(actor.limbs.arms[self.side].upper)]
        lead = -float(link["kd"] / link["kp"]) * actor.velocity(int(link["near"]), point)
        return np.asarray(lead * min(1.0, _LONGEST_LEAD / max(float(np.linalg.norm(lead)), 1e-9)))

    def withdraw(self, actor: Actor, dt: float) -> bool:
        """Let the arm go back to its style for a tick of `dt` [s]; True once it is there."""
        self.share = max(0.0, self.share - _DOWN * dt)
        self._shift *= self.share
        hand = actor.hands[self.side]
        hand.reach = smoothstep(self.share)
        return self.share == 0.0

    def clear_commands(self, actor: Actor) -> None:
        """Leave the arm to the style."""
        hand = actor.hands[self.side]
        hand.reach = hand.swivel = hand.stiff = 0.0

    def _write(self, actor: Actor, point: np.ndarray) -> None:
        hand = actor.hands[self.side]
        hand.reach, hand.stiff, hand.swivel = smoothstep(self.share), _STIFF, _SWIVEL
        hand.x, hand.y, hand.z = point


def reach_ratio(actor: Actor, side: int, point: Any, ahead: float = 0.0) -> float:
    """Distance of a point from a shoulder, by the arm's reach: above 1 the arm is too short.

    `ahead` [s] predicts the shoulder's place at its present velocity.
    """
    arm, shoulder = actor.limbs.arms[side], actor.shoulder(side)
    moving = actor.velocity(int(actor.limbs.links[int(arm.upper)]["near"]), shoulder)
    return math.dist(shoulder + ahead * moving, point) / float(arm.reach)


FARTHEST = 1000.0  # [m] from the origin
_SPEEDS, _HOLDS, _TOLERANCES = (0.1, 1.2), (0.0, 60.0), (0.005, 0.5)  # [m/s], [s], [m]
_COMFORT = 0.88  # of the arm's reach: it stoops until the target is so near
_FORESIGHT = 0.35  # [s] in which the body follows what it is told
_PATIENCE, _TRIES = 5.0, 3  # [s] in which the hand has to be there; how often it looks for a better place
_NUDGE = 0.1  # [m] nearer or farther for the next try
_REST, _RISING = 0.3, 3.0  # [s] it stands upright before it is done; that standing up takes
_LOWEST = 0.05  # [m] above the ground, for a hand that does not touch it
Hand = Literal["auto", "left", "right"]


class Reach(Task):
    """Bring a hand to a point of the world and hold it there; done when the character stands upright again.

    Attributes:
        target: (3,) the point [m].
        side: of the hand that reaches, 0 left or 1 right; −1 until it is chosen.
        miss: distance of the hand from the target [m]; NaN before it reaches.
        held: how long the hand has been within the tolerance without a break [s].
        tries: how often it has tried again from another place.
    """

    def __init__(
        self,
        target: Any,
        hand: Hand = "auto",
        hold: float = 0.5,
        tolerance: float = 0.03,
        *,
        speed: float = 0.8,
        timeout: float = 60.0,
    ) -> None:
        """Set the target.

        Args:
            target: (x, y, z) of the world [m].
            hand: `left`, `right`, or `auto` for the hand on the target's side.
            hold: how long the hand stays there, 0 … 60 s.
            tolerance: distance at which the hand counts as there, 0.005 … 0.5 m.
            speed: of walking there, 0.1 … 1.2 m/s.
            timeout: how long all of it may take [s].

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        super().__init__(timeout)
        try:
            self.target = np.array(target, float)
        except (TypeError, ValueError):
            raise CommandError("a target to reach is a point (x, y, z)") from None
        if self.target.shape != (3,):
            raise CommandError(f"a target to reach is a point (x, y, z), got an array of shape {self.target.shape}")
        if not (np.isfinite(self.target).all() and np.abs(self.target).max() <= FARTHEST):
            raise CommandError(f"a target to reach is finite and within ± {FARTHEST:g} m")
        if hand not in ("auto", *SIDES):
            raise CommandError(f"a hand to reach with is auto, left or right, got {hand!r}")
        self.hand: Hand = hand
        self.speed = check_range("a reach's speed", speed, _SPEEDS, "m/s")
        self.hold = check_range("a reach's hold", hold, _HOLDS, "s")
        self.tolerance = check_range("a reach's tolerance", tolerance, _TOLERANCES, "m")
        self.side, self.miss, self.held, self.tries = -1, math.nan, 0.0, 0
        self._state = "walking to the target"
        self._since = 0.0  # [s] for which it has been doing that
        self._late = ""  # why it stands up without having reached

    def begin(self, actor: Actor) -> None:
        """Choose the hand and the place to stand.

        Raises:
            CommandError: no arm of this body reaches the target.
        """
        self.side = self._chosen(actor)
        self._arm, self._stoop = ReachingArm(self.side), Stoop(self.side)
        ground, reach = actor.ground(*self.target[:2]), float(actor.limbs.arms[self.side].reach)
        height, shoulder = float(self.target[2]) - ground, float(actor.shoulder(self.side)[2]) - ground
        highest = shoulder + _COMFORT * reach
        if not _LOWEST <= height <= highest:
            raise CommandError(
                f"the target is {height:.2f} m above the ground; it reaches from {_LOWEST:g} to {highest:.2f} m"
            )
        middle = 0.5 * highest
        place = reach * (0.75 - 0.17 * abs(height - middle) / middle)
        self._approach = ApproachTarget(self.target[:2], self.side, place, self.speed)

    def _chosen(self, actor: Actor) -> int:
        if self.hand != "auto":
            actor.hand(SIDES.index(self.hand))  # refuses an arm it does not have
            return SIDES.index(self.hand)
        near = LEFT if actor.in_heading_frame(self.target)[1] > 0.0 else RIGHT
        if not actor.has_arm(near) and actor.has_arm(1 - near):
            return 1 - near
        actor.hand(near)
        return near

    def tick(self, actor: Actor) -> None:
        """Walk, reach or stand up."""
        self._since += self.period
        if self._state == "walking to the target":
            if self._approach.tick(actor, self.period):
                self._now("reaching for the target")
        elif self._state == "reaching for the target":
            self._reach(actor)
        else:
            self._rise(actor)

    def end(self, actor: Actor) -> None:
        """Stand, with the arm and the body of the style."""
        if hasattr(self, "_approach"):
            self._arm.clear_commands(actor)
            self._stoop.clear_commands(actor)
            self._approach.clear_commands(actor)

    def progress(self) -> str:
        """What it is doing."""
        return self._state

    def _now(self, state: str) -> None:
        self._state, self._since = state, 0.0

    def _reach(self, actor: Actor) -> None:
        far = reach_ratio(actor, self.side, self.target, _FORESIGHT) - _COMFORT
        is_low = self.target[2] < actor.shoulder(self.side)[2]
        self._stoop.change_depth(actor, max(0.0, far) if is_low else 0.0, self.period)
        self.miss = self._arm.reach(actor, self.target, self.period)
        self.held = self.held + self.period if self.miss <= self.tolerance else 0.0
        if self.held >= self.hold:
            self._now("standing up again")
        elif actor.time - self.began > self.timeout - _RISING:  # a body that stoops must not be let go at once
            self._late = f"not done within {self.timeout:g} s, {self._state}"
            self._now("standing up again")
        elif self._since > _PATIENCE + self.hold:
            short = actor.along_heading(self.target - actor.hand(self.side))
            self._approach.place -= min(max(short, -_NUDGE), _NUDGE)
            self._now("standing up again")
        elif not actor.standing:
            self._now("standing up again")

    def _rise(self, actor: Actor) -> None:
        self._stoop.change_depth(actor, -1.0, self.period)
        is_back = self._arm.withdraw(actor, self.period)
        if not (is_back and self._stoop.is_upright and actor.standing):
            self._since = 0.0
        elif self._since > _REST:
            if self.held >= self.hold:
                self.finish(f"held the {SIDES[self.side]} hand within {self.tolerance:g} m of the target")
            elif self._late or self.tries == _TRIES:
                self.fail(self._late or f"the hand stays {self.miss:.2f} m from the target")
            else:
                self.tries += 1
                self._now("walking to the target")


from_text = TaskText(
    "reach:X,Y,Z with speed=, hold=, tolerance=, timeout= if need be", ("speed", "hold", "tolerance", "timeout"),
    Reach, counts=(3,),
)  # fmt: skip
