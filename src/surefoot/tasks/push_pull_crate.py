"""Push or pull a heavy crate: walk up to it, take its handles, walk against its friction (GENBICON §4.4)."""

from __future__ import annotations

import math

import numpy as np

from surefoot.engine.actor import LEFT, RIGHT, Actor
from surefoot.errors import CommandError
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.tasks.crate_grasp import CrateTask, handle_positions, set_grips
from surefoot.tasks.task_text import TaskText, check_range
from surefoot.terrains.props import Crate, Prop

FARTHEST = 50.0  # [m] to move a crate
_SPEEDS = (0.1, 0.8)  # [m/s]
_STIFF = 5.0  # arms that hold the crate off
_HAND_SPEED = 0.5  # [m/s] at which the hands go for the handles
_CLOSE = 0.03  # [m] from the handles at which the grips close
_RAMP = 2.0  # [s] in which the load is taken up
_ALPHA = 0.15  # [s] more of α in equation 7: 0.2 in place of 0.05
_LEAD = 1.2  # times as early it leans against the load as it pushes
_STRAIGHTEN, _MOST_TURN = 300.0, 40.0  # [N/rad], [N]: difference of the hands' forces against the crate's turn
_ASIDE = 0.5  # [1/s] speed to the side by how far the handles are
_ARM_SPEED = 0.1  # [m/s]
_CROUCH = 0.5  # [rad] of the knees: legs that stand aslant reach less far down
_STAND = 0.5  # [s]


class _MoveCrate(CrateTask):
    """Move a crate over the ground; done when it has moved far enough and the character stands.

    Attributes:
        distance: how far to move the crate [m].
        speed: of the crate [m/s].
        moved: how far it has moved [m].
    """

    direction = 1.0  # along the heading
    stance = 0.40  # [m] from the handles at which it stands
    arm = 0.34  # [m] from the handles at which it walks
    bend = 0.3  # [rad] of the trunk

    def __init__(self, distance: float = 5.0, speed: float = 0.35, timeout: float | None = None) -> None:
        """Set the distance.

        Args:
            distance: how far to move the crate, up to 50 m.
            speed: of the crate, 0.1 … 0.8 m/s.
            timeout: how long it may take [s]; by default 40 s and three times what the distance needs.

        Raises:
            CommandError: an argument is not valid; the message says what is.
        """
        if not 0.0 < distance <= FARTHEST:
            raise CommandError(f"a crate is moved by more than 0 and up to {FARTHEST:g} m, got {distance}")
        self.speed = check_range("the speed to move a crate at", speed, _SPEEDS, "m/s")
        super().__init__(40.0 + 3.0 * distance / speed if timeout is None else timeout, _STIFF)
        self.distance, self.moved = float(distance), 0.0
        self._share = 0.0  # of the load that is taken up

    def props(self) -> tuple[Prop, ...]:
        """A crate of 80 kg, chest-high, with handles on its near side."""
        return (heavy_crate_prop(),)

    def begin(self, actor: Actor) -> None:
        """See where the crate is and in which direction to move it."""
        ends = handle_positions(actor)
        middle, origin = ends.mean(axis=0), actor.position("crate")
        self._yaw = math.atan2(origin[1] - middle[1], origin[0] - middle[0])
        self._ahead = np.array([math.cos(self._yaw), math.sin(self._yaw), 0.0])
        self._left = np.array([-math.sin(self._yaw), math.cos(self._yaw), 0.0])
        self._origin = origin
        geom = int(actor.model.body_geomadr[actor.body("crate")])
        self._friction = float(actor.model.geom_friction[geom, 0]) * actor.mass("crate") * GRAVITY

    def tick(self, actor: Actor) -> None:
        """Go on with the present phase."""
        self.moved = self.direction * float((actor.position("crate") - self._origin) @ self._ahead)
        if self._phase == "walking to the crate":
            place = handle_positions(actor).mean(axis=0) - self.stance * self._ahead
            if self._approach.tick(actor, actor.com, place, self._yaw):
                self._phase = "reaching for the handles"
        elif self._phase == "reaching for the handles":
            actor.intent.bend = min(self.bend, actor.intent.bend + 0.5 * self.period)
            actor.intent.crouch = min(_CROUCH, actor.intent.crouch + 0.5 * self.period)
            if self._hands.move_toward(actor, handle_positions(actor), _HAND_SPEED * self.period) < _CLOSE:
                set_grips(actor, True)
                self._arm = float((handle_positions(actor).mean(axis=0) - actor.com) @ self._ahead)
                self._phase = "moving the crate"
        elif self._phase == "moving the crate":
            self._move(actor)
        elif self._phase == "letting go":
            self._let_go(actor)

    def _move(self, actor: Actor) -> None:
        """Walk, and take up the load gradually; the arms keep the crate at a distance from the body."""
        arrived = self.moved >= self.distance
        change = -3.0 * self.period / _RAMP if arrived else self.period / _RAMP
        self._share = min(max(self._share + change, 0.0), 1.0)
        self._bear(actor)
        speed = 0.0 if arrived else self.direction * self.speed * self._share
        aside = float((handle_positions(actor).mean(axis=0) - actor.com) @ self._left)
        aside = min(max(_ASIDE * aside, -0.1), 0.1)
        actor.command(heading=self._yaw, speed=speed, sideways=aside, stop=1.0 if arrived else 0.0)
        self._arm += min(max(self.arm - self._arm, -_ARM_SPEED * self.period), _ARM_SPEED * self.period)
        self._hands.move_toward(actor, self._held(actor), math.inf)
        if arrived and self._share == 0.0 and actor.standing:
            set_grips(actor, False)
            self._phase = "letting go"

    def _held(self, actor: Actor) -> np.ndarray:
        """(2, 3) where the hands hold the crate: at the handles, but at a set distance from the body [m]."""
        ends = handle_positions(actor)
        along = (actor.com - ends) @ self._ahead + self._arm
        return np.array(ends + along[:, None] * self._ahead)

    def _bear(self, actor: Actor) -> None:
        """Exert the force that the crate needs, more with the hand that lags, and lean into it."""
        force = self.direction * self._share * self._friction
        ends = handle_positions(actor)
        lag = float((ends[RIGHT] - ends[LEFT]) @ self._ahead) / float(np.linalg.norm(ends[RIGHT] - ends[LEFT]))
        turn = self._share * min(max(_STRAIGHTEN * lag, -_MOST_TURN), _MOST_TURN)
        self._hands.exert(actor, np.array([[0.5 * force + turn], [0.5 * force - turn]]) * self._ahead)
        middle = ends.mean(axis=0)
        actor.intent.force = -min(1.0, _LEAD * self._share) * self.direction * self._friction
        actor.intent.force_height = middle[2] - actor.ground(middle[0], middle[1])
        actor.intent.alpha = _ALPHA * self._share

    def _let_go(self, actor: Actor) -> None:
        actor.intent.bend = max(0.0, actor.intent.bend - 0.25 * self.period)
        actor.intent.crouch = max(0.0, actor.intent.crouch - 0.25 * self.period)
        actor.command(stop=1.0, speed=0.0)
        is_relaxed = self._hands.relax(actor, self.period)
        if self._timer.has_stood(actor, _STAND, ready=is_relaxed and actor.intent.crouch <= 0.0):
            self.finish(f"the crate has moved {self.moved:.2f} m in {actor.time - self.began:.1f} s")

    def progress(self) -> str:
        """Its phase, and how far the crate has moved."""
        return f"{self._phase}, {self.moved:.1f} of {self.distance:g} m"


class PushCrate(_MoveCrate):
    """Push a crate ahead; done when it has moved far enough and the character stands."""


class PullCrate(_MoveCrate):
    """Pull a crate, walking backwards; done when it has moved far enough and the character stands."""

    direction = -1.0
    arm = 0.42
    bend = 0.1


def heavy_crate_prop(x: float = 3.0, y: float = 0.0, mass: float = 80.0, friction: float = 0.2) -> Crate:
    """The crate of the paper; its size and handles are chosen here.

    Args:
        x: world x of its middle [m].
        y: world y of its middle [m].
        mass: [kg].
        friction: coefficient.
    """
    handle = (-0.5, 0.2, 0.45)
    return Crate((0.7, 0.6, 1.0), mass, (x, y, 0.0), friction, (handle, (handle[0], -handle[1], handle[2])))


push_from_text, pull_from_text = (
    TaskText(
        f"{name}:DISTANCE with speed=, timeout= if need be", ("speed", "timeout"),
        lambda numbers, task=task, **options: task(*numbers, **options), counts=(0, 1),
    )
    for name, task in (("push-crate", PushCrate), ("pull-crate", PullCrate))
)  # fmt: skip
