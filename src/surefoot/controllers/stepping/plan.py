"""Records of the stepping law: what it remembers, and a skill's numbers in a parameter slot (Kenwright §5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.characters.stepper import CONTACT_SCALE as TABLE_2
from surefoot.characters.table import CharacterTable
from surefoot.controllers.base import write_header
from surefoot.controllers.stepping.parameters import SteppingParameters
from surefoot.native.kernels import block, kernel, python_impl, records
from surefoot.native.userdata import SLOT
from surefoot.skills.schema import Skill

STAND, SHIFT, STEP = 0.0, 1.0, 2.0  # modes: on two feet; shifting the weight over one foot; the other swings
BALANCE, WALK, CAREFUL, COMFORT = 0.0, 1.0, 2.0, 3.0  # purposes of a step


def _record(*names: str) -> np.dtype[Any]:
    return np.dtype([(name, "f8") for name in names])


STEPPER = _record(
    "mode", "since", "kind", "swing", "steps", "duration", "phase", "heading", "unloaded",
    "x0", "y0", "z0", "yaw0", "pitch0", "roll0", "goal_x", "goal_y", "goal_z", "goal_pitch", "goal_roll", "top", "off",
    "speed", "sideways", "integral", "side_integral", "mark_x", "mark_y", "mark_time",
    "x", "y", "z", "share", "height", "height_rate", "lift", "crouch", "lean", "slope",
    "load_body", "load_mass",
    "level", "ease", "firm", "stride", "pace", "both", "strike_pitch", "vx0", "vy0", "vz0", "pitch_rate0",
)  # fmt: skip
"""Mode and since when [s]; what the step is for; which foot swings; steps taken; how long this one lasts [s]; its
phase; the facing direction's yaw [rad]; whether the swing foot has left the ground; where its sole's middle was and how
it was turned when it lifted off; where it goes and how it is turned there [m, rad]; the highest ground on its way, and
how far its goal was moved along for even ground [m]; speeds it tries to keep ahead and to the left, what is added for
what was missed of them [m/s]; where and when the last step began; centre of pressure [m] and the left foot's share of
the load; wanted height of the hips [m], how fast it changes [m/s] and, in a stride, accelerates [m/s²]; share of the
legs' length that it uses; pitch of the trunk, and of the ground under the feet that bear, uphill positive [rad]; a body
it carries and its mass [kg]; how easy its way is; how much at ease it is, and was a moment ago; how much of a stride
its step is; speed in the last step [m/s]; double support of the step [s]; pitch with which the other foot landed [rad];
velocity of the sole's middle [m/s] and rate of its pitch [rad/s] when the swing foot lifted off."""
NUMBERS = tuple(SteppingParameters.model_fields)
PLAN = np.dtype([(n, "f8") for n in (*(SLOT.names or ()), *NUMBERS)])
_PLAN = PLAN.itemsize // 8
KP, KD, LIMIT, CONTACT_SCALE, HIGHEST, GAINS = range(6)  # columns of a servo, and how many there are


def slot_size(actuators: int) -> int:
    """Numbers in a slot: the skill's, then those of every actuator's servo."""
    return _PLAN + GAINS * actuators


@kernel
def plan_of(slot: np.ndarray) -> Any:
    """The skill's numbers."""
    return records(slot, 0, 1, PLAN)[0]


@kernel
def servos_of(slot: np.ndarray, actuators: int) -> tuple[Any]:
    """(actuators, GAINS) servos, in a tuple because a kernel returns no array."""
    return (block(slot, _PLAN, (actuators, GAINS)),)


@kernel
def begin_stand(stepper: Any, time: float) -> None:
    """Stand on both feet."""
    stepper.mode, stepper.since, stepper.phase = STAND, time, 0.0


@kernel
def begin_shift(stepper: Any, time: float, swing: int, kind: float) -> None:
    """Begin to shift the weight over one foot, so that the other can swing."""
    stepper.mode, stepper.since, stepper.phase = SHIFT, time, 0.0
    stepper.swing, stepper.kind = float(swing), kind


def write_slot(slot: np.ndarray, skill: Skill, table: CharacterTable) -> None:
    """Write a skill's numbers and the servos of its body into a slot (slot_size,), in place."""
    write_header(slot, skill)
    plan = python_impl(plan_of)(slot)
    for name in NUMBERS:
        setattr(plan, name, float(getattr(skill.parameters, name)))
    servos = python_impl(servos_of)(slot, len(table.gains))[0]
    highest = {hinge.name: hinge.high for segment in table.segments for hinge in segment.hinges}
    for i, (joint, gain) in enumerate(table.gains.items()):
        kind = joint.removeprefix("left_").removeprefix("right_").split("_")[0]
        servos[i] = gain.kp, gain.kd, gain.limit, TABLE_2.get(kind, 1.0), highest[joint]
