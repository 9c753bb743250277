"""Lift a crate from the floor or a table, carry it somewhere, put it down (GENBICON §4.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, Actor
from surefoot.errors import CommandError
from surefoot.tasks.approach import ApproachPose
from surefoot.tasks.crate_grasp import (
    AT_HANDLE,
    NEAR_HANDLE,
    CarriedLoad,
    CrateTask,
    carry_positions,
    crate_bottom,
    hand_to_handle_distances,
    handle_positions,
    pregrasp_positions,
    set_grips,
    sideways_offsets,
)
from surefoot.tasks.stoop import Stoop
from surefoot.tasks.task_text import TaskText, check_range
from surefoot.terrains.props import Crate, Prop, Table

FARTHEST, HEAVIEST, HIGHEST = 1000.0, 25.0, 0.7  # [m] from the origin, [kg], [m] of a table
_SPEEDS = (0.2, 1.0)  # [m/s]
_STIFF = 10.0  # arms that hold a crate
_HAND_SPEED, _LIFT_SPEED = 0.5, 0.35  # [m/s] of the hands: empty, and with the crate
_TAKE_UP = 2.0  # [s] in which the weight is taken up, or put down
_STAND_OFF = 0.46  # [m] from where it stands to the crate's middle
_NEAR = 0.05  # [m] from its place before the chest at which the crate may be carried off
_DOWN = 0.012  # [m] above its support at which the crate is let down
_STUCK = 3.0  # [s] of waiting after which the hands are sent no farther
_LAG = 0.08  # [m] of the hands behind their targets, from which the targets wait for the body
_TAKING, _PUTTING = (0.06, 0.05), (0.08, 0.2)  # [m] along and across: how well it has to stand for it
_STOPPING, _HEAVIER = 0.3, 0.04  # [s], [s/kg]: how long it takes to stop with a load
_BACK, _BACKWARDS = 0.5, -0.3  # [m], [m/s] from a table
_KNEES = 0.4  # depth of stooping at which the knees are in the way of the crate
_HANGING = 0.6  # [m] below the shoulders, where empty hands are lifted to
_SETTLING = 1.0  # [s] near the handles before the grips close all the same
_STAND = 0.5  # [s]


class Carry(CrateTask):
    """Carry a crate to a place and put it down there; done when the character stands upright again.

    It takes the body `crate` by its two handles; the way has to be free. From a table it first steps back.

    Attributes:
        to: (x, y) where the middle of the crate is put [m].
        height: of its support there, above the ground [m].
        speed: with the crate [m/s].
        carried: how far the crate was carried [m].
    """

    def __init__(
        self, to: Sequence[float] = (12.0, 0.0), height: float = 0.0, speed: float = 0.5, timeout: float | None = None
    ) -> None:
        """Set the place.

        Args:
            to: world x and y of the place, within ± 1000 m.
            height: of the table there, 0 … 0.7 m; 0 is the ground.
            speed: with the crate, 0.2 … 1 m/s.
            timeout: how long it may take [s]; by default 60 s and three times what the way from the origin needs.

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        self.to = np.array(to, float) if np.shape(to) == (2,) else np.full(2, math.nan)
        if not (np.isfinite(self.to).all() and np.abs(self.to).max() <= FARTHEST):
            raise CommandError(f"a crate is carried to a place (x, y) within ± {FARTHEST:g} m, got {to}")
        self.height = check_range("the height to put a crate down at", height, (0.0, HIGHEST), "m")
        self.speed = check_range("the speed to carry a crate at", speed, _SPEEDS, "m/s")
        patience = 60.0 + 3.0 * math.hypot(*self.to) / speed if timeout is None else timeout
        super().__init__(patience, _STIFF, _TAKING)
        self.carried, self._blocked = 0.0, False
        self._stoop, self._load = Stoop(), CarriedLoad()

    def props(self) -> tuple[Prop, ...]:
        """A crate of 15 kg on the floor, and a table if it is to be put on one."""
        table = () if self.height == 0.0 else (Table((self.to[0], self.to[1]), (0.5, 0.8, self.height)),)
        return (carry_crate_prop(15.0), *table)

    def begin(self, actor: Actor) -> None:
        """See where the crate is and how to take it.

        Raises:
            CommandError: the crate is too heavy.
        """
        across = handle_positions(actor)[LEFT] - handle_positions(actor)[RIGHT]
        self._yaw = math.atan2(-across[0], across[1])  # the way it faces with each handle at its own hand
        self._from = actor.position("crate")
        self._load.mass = actor.mass("crate")
        self._from_table = crate_bottom(actor) - actor.ground(self._from[0], self._from[1]) > _DOWN
        if self._load.mass > HEAVIEST + 1e-9:
            raise CommandError(f"it carries up to {HEAVIEST:g} kg, the crate weighs {self._load.mass:g} kg")

    def tick(self, actor: Actor) -> None:
        """Go on with the present phase."""
        self.carried = math.hypot(*(actor.position("crate") - self._from)[:2])
        if self._phase == "walking to the crate":
            self._timer.restart(actor)
            if self._approach.tick(actor, actor.com, self._before(actor.position("crate")[:2]), self._yaw):
                self._phase = "reaching for the handles"
        elif self._phase == "reaching for the handles":
            self._stoop.lower_to(actor, handle_positions(actor), self.period)
            self._hands.move_toward(actor, pregrasp_positions(actor, self._yaw), _HAND_SPEED * self.period)
            if hand_to_handle_distances(actor).max() > NEAR_HANDLE:
                self._timer.restart(actor)
            if hand_to_handle_distances(actor).max() < AT_HANDLE or self._timer.is_over(actor, _SETTLING):
                set_grips(actor, True)
                self._phase = "taking up the weight"
        elif self._phase == "taking up the weight":
            self._hands.move_toward(actor, handle_positions(actor), math.inf)
            if self._load.change_share(actor, self._hands, self.period / _TAKE_UP) == 1.0:
                self._phase = "lifting the crate"
        elif self._phase == "lifting the crate":
            self._lift(actor)
        elif self._phase == "stepping back":
            self._step_back(actor)
        elif self._phase == "carrying the crate":
            self._hands.move_toward(actor, carry_positions(actor), math.inf)
            if self._approach.tick(actor, self._load.com(actor), self._before(self.to), self._yaw):
                self._timer.restart(actor)
                self._lowered = handle_positions(actor)
                self._phase = "putting the crate down"
        elif self._phase == "putting the crate down":
            self._put_down(actor)
        elif self._phase == "letting go of the crate":
            self._hands.move_toward(actor, handle_positions(actor), math.inf)
            if self._load.change_share(actor, self._hands, -self.period / _TAKE_UP) == 0.0:
                set_grips(actor, False)
                self._clear = handle_positions(actor) + sideways_offsets(self._yaw, 0.08)
                self._phase = "standing up"
        else:
            self._stand_up(actor)

    def _before(self, place: np.ndarray) -> np.ndarray:
        """(2,) where to stand before a crate at a place [m]."""
        return np.array(place - _STAND_OFF * np.array([math.cos(self._yaw), math.sin(self._yaw)]))

    def _lift(self, actor: Actor) -> None:
        """Straighten up, and bring the crate past the knees to the chest."""
        goals = carry_positions(actor)
        if self._stoop.depth > _KNEES:
            goals[:, :2] += self._from[:2] - goals.mean(axis=0)[:2]
        off = self._hands.move_toward(actor, goals, _LIFT_SPEED * self.period)
        self._stoop.rise_while_reaching(actor, self._hands.targets, self.period)
        if off < _NEAR and self._stoop.is_upright:
            self._left_at = actor.com[:2]
            self._phase = "stepping back"

    def _step_back(self, actor: Actor) -> None:
        """Step back from the table on which the crate stood, before turning."""
        self._hands.move_toward(actor, carry_positions(actor), math.inf)
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
            self._timer.restart(actor)
            if not self._blocked:
                self._lowered[:, :2] += 0.5 * np.clip(self.to - self._lowered.mean(axis=0)[:2], -most, most)
            self._lowered[:, 2] -= min(most, 0.02 * low + 0.0005)
        elif self._blocked or self._timer.is_over(actor, _STUCK):  # it cannot come nearer: down where it is
            self._blocked = True
            self._lowered += np.clip(lag, -most, most)
        self._stoop.lower_to(actor, self._lowered, self.period)
        self._hands.move_toward(actor, self._lowered, math.inf)

    def _stand_up(self, actor: Actor) -> None:
        if not self._stoop.is_upright:
            self._stoop.rise(actor, self.period)
            hanging = [actor.shoulder(side)[2] - _HANGING for side in (LEFT, RIGHT)]
            self._clear[:, 2] = np.maximum(self._clear[:, 2], hanging)
            self._hands.move_toward(actor, self._clear, _HAND_SPEED * self.period)
            self._timer.restart(actor)
        elif self._timer.has_stood(actor, _STAND, ready=self._hands.relax(actor, self.period)):
            off = math.hypot(*(actor.position("crate")[:2] - self.to))
            self.finish(f"carried {self.carried:.2f} m in {actor.time - self.began:.1f} s, put down {off:.2f} m off")

    def progress(self) -> str:
        """Its phase, and how far the crate has come."""
        return f"{self._phase}, {self.carried:.1f} m from where it was"


def carry_crate_prop(mass: float, x: float = 2.0, y: float = 0.0, above: float = 0.0) -> Crate:
    """A crate to carry.

    Args:
        mass: [kg].
        x: world x of its middle [m].
        y: world y of its middle [m].
        above: height of its bottom above the ground [m].
    """
    return Crate((0.36, 0.36, 0.36), mass, (x, y, above), 0.6, ((0.0, 0.23, 0.18), (0.0, -0.23, 0.18)))


from_text = TaskText(
    "carry:X,Y with height=, speed=, timeout= if need be", ("height", "speed", "timeout"), Carry, counts=(2,)
)
