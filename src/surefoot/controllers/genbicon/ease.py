"""When a foot may roll: only while the body walks at ease.

A rolling foot gives up the flat sole with which the law corrects its balance. So a style that has a stride walks by it
only as far as nothing disturbs the walk: it goes ahead at a steady speed, straight on, over level ground, its next
foothold is where its footholds usually are, and its hands and feet have no other task. One number, `ease`, measures
that. It falls within a tenth of a second and comes back over the steps that follow.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.genbicon.memory import STEP
from surefoot.controllers.genbicon.steps import wanted_width
from surefoot.controllers.genbicon.style import Style
from surefoot.native.kernels import kernel, noinline
from surefoot.native.limb_records import Limbs
from surefoot.native.physics import World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, to_heading_frame
from surefoot.reflexes.handover import command_or
from surefoot.reflexes.pendulum import pendulum_frequency
from surefoot.reflexes.servo import clamp, nearest_turn

# Constants beyond the paper; docs/genbicon.md gives the reason of each.
_FAST_FROM, _FAST_TO = 1.4, 1.6  # [m/s]
_FALL_TIME = 0.1  # [s]
_RISE_TIME = 1.5  # [s]
_EASY_SURGE, _UNEASY_SURGE = 0.2, 0.35  # [m/s]
_EASY_SWAY, _UNEASY_SWAY = 0.1, 0.25  # [m/s]
_EASY_TURN, _UNEASY_TURN = 0.1, 0.4  # [rad]
_EASY_STEP, _UNEASY_STEP = 0.02, 0.06  # [leg]
_HEADING = 1  # place of the command


@kernel
def _within(value: float, easy: float, uneasy: float) -> float:
    """1 up to `easy`, 0 from `uneasy` on."""
    return clamp((uneasy - value) / (uneasy - easy), 0.0, 1.0)  # type: ignore[no-any-return]


@kernel
def roll_share(walker: Any, stride: Any) -> float:
    """How far a foot rolls, 0 … 1: less if it is slow, very fast or not at ease; 0 unless the style has a stride."""
    share = clamp(walker.speed / max(stride.rolling_speed, 1e-3), 0.0, 1.0)
    return stride.rolling * walker.ease * share * _within(walker.speed, _FAST_FROM, _FAST_TO)  # type: ignore[no-any-return]


@kernel
def is_busy(intent: Any, hands: Any) -> bool:
    """Whether a task has told the feet, the trunk or the hands what to do."""
    feet = intent.foothold != 0.0 or intent.over != 0.0 or intent.rise != 0.0 or intent.crouch != 0.0
    trunk = intent.bend != 0.0 or intent.load_mass > 0.0 or intent.force != 0.0
    return feet or trunk or hands[0].reach > 0.0 or hands[1].reach > 0.0  # type: ignore[no-any-return]


@noinline
def calm(
    row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, hands: Any, com: Vector, velocity: Vector
) -> float:
    """How little disturbs the walk now: 1 nothing, 0 too much for a foot to roll."""
    if walker.mode != STEP or walker.wish == 0.0 or is_busy(intent, hands):
        return 0.0
    turn = abs(nearest_turn(command_or(row, _HEADING, walker.heading) - walker.heading))
    ahead, left = to_heading_frame(walker.heading, velocity[0], velocity[1])
    omega = pendulum_frequency(com[2] - walker.ground)
    usual_sway = 0.5 * omega * wanted_width(row, limbs, style, walker) * math.tanh(0.5 * omega * walker.period)
    return (  # type: ignore[no-any-return]
        _within(abs(ahead - walker.pace), _EASY_SURGE, _UNEASY_SURGE)
        * _within(abs(left) - usual_sway, _EASY_SWAY, _UNEASY_SWAY)
        * _within(turn, _EASY_TURN, _UNEASY_TURN)
        * _within(abs(walker.ground - walker.lift_ground) / limbs.biped[0].leg_length, _EASY_STEP, _UNEASY_STEP)
    )


@noinline
def advance_ease(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, hands: Any, com: Vector,
    velocity: Vector,
) -> None:  # fmt: skip
    """Let the ease follow: down at once, up slowly."""
    wanted = calm(row, limbs, style, walker, intent, hands, com, velocity)
    walker.ease += clamp(wanted - walker.ease, -world.dt / _FALL_TIME, world.dt / _RISE_TIME)
