"""Lift a crate from the floor or a table, carry it somewhere, put it down (GENBICON §4.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, Actor
from surefoot.engine.task import Task
from surefoot.errors import CommandError
from surefoot.tasks.approach import ApproachPose
from surefoot.tasks.crate_grasp import (
    AT_HANDLE,
    NEAR_HANDLE,
    CarriedLoad,
    HandPair,
    carry_positions,
    crate_bottom,
    hand_to_handle_distances,
    handle_positions,
    pregrasp_positions,
    set_grips,
    sideways_offsets,
)
from surefoot.tasks.parse_args import parse_args
from surefoot.tasks.stoop import TwoHandStoop
from surefoot.terrains.props import Crate, Prop, Table

USAGE = "carry:X,Y with height=, speed=, timeout= if need be"
FARTHEST, HEAVIEST, HIGHEST = 1000.0, 25.0, 0.7  # [m] from the origin, [kg], [m] of a table
_SPEEDS = (0.2, 1.0)  # [m/s]
_STIFF = 10.0  # arms that hold a crate
_HAND_SPEED, _LIFT_SPEED = 0.5, 0.35  # [m/s] of the hands: empty, and with the crate
_TAKE_UP = 2.0  # [s] in which the weight is taken up, or put down
_STAND_OFF = 0.46  # [m] from where it stands to the crate's middle
_NEAR = 0.05  # [m] from before the chest at which it may go
_DOWN = 0.012  # [m] above what it is put on from where the crate is let down
_STUCK = 3.0  # [s] of waiting after which they are sent no farther
_LAG = 0.08  # [m] of the hands behind where they are sent, from which they wait for the body
_TAKING, _PUTTING = (0.06, 0.05), (0.08, 0.2)  # [m] along and across: how well it has to stand for it
_STOPPING, _HEAVIER = 0.3, 0.04  # [s], [s/kg]: how long it takes to stop with a load
_BACK, _BACKWARDS = 0.5, -0.3  # [m], [m/s] from a table
_KNEES = 0.4  # depth of stooping at which the knees are in the way of the crate
_HANGING = 0.6  # [m] below the shoulders, where empty hands are lifted to
_SETTLING = 1.0  # [s] near the handles before the grips close all the same
_STAND = 0.5  # [s]


class Carry(Task):
    """Carry a crate to a place and put it down there; done when it stands upright again.

    It looks for the body `crate` with its two handles; the way has to be free. From a table it first steps back.

    Attributes:
        to: (x, y) where the middle of the crate is put [m].
        height: of what it is put on, above the ground [m].
        carried: how far the crate was carried [m].
    """

    def __init__(
        self, to: Sequence[float] = (12.0, 0.0), height: float = 0.0, speed: float = 0.5, timeout: float | None = None
    ) -> None:
        """Check what is asked for.

        Args:
            to: world x and y of the place [m].
            height: of the table there; 0 is the ground [m].
            speed: with the crate [m/s].
            timeout: how long it may take [s]; by default 60 s and three times what the way from the origin needs.
        """
        self.to = np.array(to, float) if np.shape(to) == (2,) else np.full(2, math.nan)
        if not (np.isfinite(self.to).all() and np.abs(self.to).max() <= FARTHEST):
            raise CommandError(f"a crate is carried to a place (x, y) within ± {FARTHEST:g} m, got {to}")
        if not 0.0 <= height <= HIGHEST:
            raise CommandError(f"a crate is put down at a height of 0 … {HIGHEST:g} m, got {height}")
        if not _SPEEDS[0] <= speed <= _SPEEDS[1]:
            raise CommandError(f"a crate is carried at {_SPEEDS[0]:g} … {_SPEEDS[1]:g} m/s, got {speed}")
        super().__init__(60.0 + 3.0 * math.hypot(*self.to) / speed if timeout is None else timeout)
        self.height, self.speed, self.carried = float(height), float(speed), 0.0
        self._phase = "walking to the crate"
        self._approach, self._hands, self._stoop = (
            ApproachPose(self.period, tolerance=_TAKING),
            HandPair(_STIFF),
            TwoHandStoop(),
        )
        self._load = CarriedLoad()
        self._since, self._blocked = math.nan, False

    def props(self) -> tuple[Prop, ...]:
        """A crate of 15 kg on the floor, and a table where it is to be put on one."""
        table = () if self.height == 0.0 else (Table((self.to[0], self.to[1]), (0.5, 0.8, self.height)),)
        return (carry_crate_prop(15.0), *table)

    def begin(self, actor: Actor) -> None:
        """See where the crate is and how it is to be taken."""
        across = handle_positions(actor)[LEFT] - handle_positions(actor)[RIGHT]
        self._yaw = math.atan2(-across[0], across[1])  # the way it faces with each handle at its own hand
        self._from = actor.position("crate")
        self._load.mass = actor.mass("crate")
        self._from_table = crate_bottom(actor) - actor.ground(self._from[0], self._from[1]) > _DOWN
        if self._load.mass > HEAVIEST + 1e-9:
            raise CommandError(f"it carries up to {HEAVIEST:g} kg, the crate weighs {self._load.mass:g} kg")

    def tick(self, actor: Actor) -> None:
        """Do what is next."""
        self.carried = math.hypot(*(actor.position("crate") - self._from)[:2])
        if self._phase == "walking to the crate":
            self._since = actor.time
            if self._approach.toward(actor, actor.com, self._before(actor.position("crate")[:2]), self._yaw):
                self._phase = "reaching for the handles"
        elif self._phase == "reaching for the handles":
            self._stoop.down(actor, handle_positions(actor), self.period)
            self._hands.toward(actor, pregrasp_positions(actor, self._yaw), _HAND_SPEED * self.period)
            if hand_to_handle_distances(actor).max() > NEAR_HANDLE:
                self._since = actor.time
            if hand_to_handle_distances(actor).max() < AT_HANDLE or actor.time - self._since > _SETTLING:
                set_grips(actor, True)
                self._phase = "taking up the weight"
        elif self._phase == "taking up the weight":
            self._hands.toward(actor, handle_positions(actor), math.inf)
            if self._load.bear(actor, self._hands, self.period / _TAKE_UP) == 1.0:
                self._phase = "lifting the crate"
        elif self._phase == "lifting the crate":
            self._lift(actor)
        elif self._phase == "stepping back":
            self._step_back(actor)
        elif self._phase == "carrying the crate":
            self._hands.toward(actor, carry_positions(actor), math.inf)
            if self._approach.toward(actor, self._load.com(actor), self._before(self.to), self._yaw):
                self._lowered, self._since = handle_positions(actor), actor.time
                self._phase = "putting the crate down"
        elif self._phase == "putting the crate down":
            self._put_down(actor)
        elif self._phase == "letting go of the crate":
            self._hands.toward(actor, handle_positions(actor), math.inf)
            if self._load.bear(actor, self._hands, -self.period / _TAKE_UP) == 0.0:
                set_grips(actor, False)
                self._clear = handle_positions(actor) + sideways_offsets(self._yaw, 0.08)
                self._phase = "standing up"
        else:
            self._stand_up(actor)

    def _before(self, place: np.ndarray) -> np.ndarray:
        """(2,) where to stand for a crate at a place [m]."""
        return np.array(place - _STAND_OFF * np.array([math.cos(self._yaw), math.sin(self._yaw)]))

    def _lift(self, actor: Actor) -> None:
        """Straighten up, with the crate past the knees and to the chest."""
        goals = carry_positions(actor)
        if self._stoop.depth > _KNEES:
            goals[:, :2] += self._from[:2] - goals.mean(axis=0)[:2]
        off = self._hands.toward(actor, goals, _LIFT_SPEED * self.period)
        self._stoop.up(actor, self._hands.targets, self.period)
        if off < _NEAR and self._stoop.is_upright:
            self._left_at = actor.com[:2]
            self._phase = "stepping back"

    def _step_back(self, actor: Actor) -> None:
        """Away from the table it stood on, before it turns."""
        self._hands.toward(actor, carry_positions(actor), math.inf)
        if self._from_table and math.hypot(*(actor.com[:2] - self._left_at)) < _BACK:
            actor.command(speed=_BACKWARDS, stop=0.0)
            return
        way = self.to - self._load.com(actor)[:2]
        self._yaw = math.atan2(way[1], way[0])
        self._approach = ApproachPose(self.period, self.speed, _PUTTING, _STOPPING + _HEAVIER * self._load.mass)
        self._phase = "carrying the crate"

    def _put_down(self, actor: Actor) -> None:
        """Stoop until the crate stands on something."""
        low, most = crate_bottom(actor) - self.height - actor.ground(*self.to), _LIFT_SPEED * self.period
        lag = handle_positions(actor) - self._lowered
        if low <= _DOWN:
            self._phase = "letting go of the crate"
        elif np.linalg.norm(lag, axis=1).max() < _LAG:
            self._since = actor.time
            if not self._blocked:
                self._lowered[:, :2] += 0.5 * np.clip(self.to - self._lowered.mean(axis=0)[:2], -most, most)
            self._lowered[:, 2] -= min(most, 0.02 * low + 0.0005)
        elif self._blocked or actor.time - self._since > _STUCK:  # it cannot come nearer: down where it is
            self._blocked = True
            self._lowered += np.clip(lag, -most, most)
        self._stoop.down(actor, self._lowered, self.period)
        self._hands.toward(actor, self._lowered, math.inf)

    def _stand_up(self, actor: Actor) -> None:
        if not self._stoop.is_upright:
            self._stoop.rise(actor, self.period)
            hanging = [actor.shoulder(side)[2] - _HANGING for side in (LEFT, RIGHT)]
            self._clear[:, 2] = np.maximum(self._clear[:, 2], hanging)
            self._hands.toward(actor, self._clear, _HAND_SPEED * self.period)
            self._since = actor.time
        elif not self._hands.relax(actor, self.period) or not actor.standing:
            self._since = actor.time
        elif actor.time - self._since > _STAND:
            off = math.hypot(*(actor.position("crate")[:2] - self.to))
            self.finish(f"carried {self.carried:.2f} m in {actor.time - self.began:.1f} s, put down {off:.2f} m off")

    def end(self, actor: Actor) -> None:
        """Let go and stand, whatever came of it."""
        self._hands.drop(actor)
        actor.intent.bend = actor.intent.crouch = 0.0
        if "stop" in actor.skill.commands:
            actor.command(stop=1.0)
        actor.intent.load_body = actor.intent.load_mass = 0.0

    def doing(self) -> str:
        """What it is at."""
        return f"{self._phase}, {self.carried:.1f} m from where it was"


def carry_crate_prop(mass: float, x: float = 2.0, y: float = 0.0, above: float = 0.0) -> Crate:
    """A crate to carry [kg], at a place, so high above the ground [m]."""
    return Crate((0.36, 0.36, 0.36), mass, (x, y, above), 0.6, ((0.0, 0.23, 0.18), (0.0, -0.23, 0.18)))


def from_text(text: str) -> Carry:
    """The task of what stands behind `carry:` on the command line."""
    numbers, options = parse_args("carry", text, ("height", "speed", "timeout"), USAGE)
    if len(numbers) != 2:
        raise CommandError(f"task carry is {USAGE}, got {len(numbers)} numbers")
    return Carry(numbers, **options)
