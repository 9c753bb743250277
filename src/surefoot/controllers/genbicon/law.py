"""GENBICON: generalized biped walking control (Coros, Beaudoin, van de Panne 2010; Yin, Coros, van de Panne, §4).

A motion generator gives target curves, an inverted pendulum gives the foothold, closed-form inverse kinematics moves
the swing leg, a virtual force on the COM does the fine tuning, and gravity compensation bears the weight of the links.

All targets are in the character frame: x along the heading, y left, z up. Flexion is positive forward for arms and
thighs and backward for the trunk; the bend of a knee is negative. Roll and yaw of limbs are positive outward; those of
pelvis, back and neck are given for a swinging left foot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.genbicon import stance, swing
from surefoot.controllers.genbicon.ease import advance_ease, roll_share
from surefoot.controllers.genbicon.memory import HAND, INTENT, STEP, WALKER, begin_stand
from surefoot.controllers.genbicon.steps import advance_steps, forward_speed, is_slow, lift_foot
from surefoot.controllers.genbicon.style import (
    LOWER_BACK,
    NECK,
    STANCE_ELBOW,
    STANCE_SHOULDER,
    STANCE_WRIST,
    STYLE,
    SWING_ELBOW,
    SWING_SHOULDER,
    SWING_WRIST,
    UPPER_BACK,
    Style,
    blend_numbers,
    blended_style,
    curve_rotation,
    curve_value,
    stride_of,
)
from surefoot.native.kernels import array_kernel, block, kernel, noinline, records
from surefoot.native.limb_records import Limbs, limbs_of
from surefoot.native.physics import ELSEWHERE, GROUND, World
from surefoot.native.userdata import Row
from surefoot.native.vectors import Vector, add, from_axis_angle, from_yaw_roll_pitch, multiply
from surefoot.reflexes.displacement import steer
from surefoot.reflexes.handover import take_over
from surefoot.reflexes.limb_servo import (
    ankle_of,
    com_state,
    drive,
    framed_target,
    framed_torque,
    hand_point,
    hand_torque,
    link_torque,
    loaded_com,
    relative_target,
    weight_torque,
)
from surefoot.reflexes.report import report_com

COMMANDS = {
    "speed": Command("m/s", -1.5, 2.5),  # along the heading
    "heading": Command(DEGREES, -1000.0, 1000.0),  # world yaw
    "lean": Command(DEGREES, -1.0, 1.0),  # of the body, forward negative
    "step_time": Command("s", 0.3, 1.0),
    "step_height": Command("m", 0.01, 0.4),  # of the swing ankle over the ground
    "step_width": Command("m", 0.0, 0.5),
    "sideways": Command("m/s", -0.5, 0.5),  # to the left
    "stop": Command("", 0.0, 1.0),  # 1 stands, 0 walks
}
SPEED, HEADING, LEAN, STEP_TIME, STEP_HEIGHT, STEP_WIDTH, SIDEWAYS, STOP = range(8)

# The memory: a WALKER, an INTENT, two HANDs, the present numbers of the style, a torque vector for every link.
_WALKER, _INTENT, _HAND = WALKER.itemsize // 8, INTENT.itemsize // 8, HAND.itemsize // 8
_HANDS = _WALKER + _INTENT
_NUMBERS = _HANDS + 2 * _HAND
_TORQUES = _NUMBERS + STYLE.itemsize // 8

_BACK, _UPPER, _NECK, _SHOULDER, _ELBOW, _WRIST = 0, 1, 2, 7, 8, 9  # places in `characters.links.KINDS`
BEND_SHARES = (0.8, 1.0, 0.6)  # [bend] of lower back, upper back and neck (§4.1: fixed ratios)


def memory_size(links: int) -> int:
    """Numbers of memory for a body with so many links."""
    return _TORQUES + 3 * links


@array_kernel
def walker_of(memory: np.ndarray) -> Any:
    """(1,) WALKER of a memory."""
    return records(memory, 0, 1, WALKER)


@array_kernel
def intent_of(memory: np.ndarray) -> Any:
    """(1,) INTENT of a memory, for tasks to write."""
    return records(memory, _WALKER, 1, INTENT)


@array_kernel
def hands_of(memory: np.ndarray) -> Any:
    """(2,) HAND of a memory, for tasks to write."""
    return records(memory, _HANDS, 2, HAND)


@kernel
def law(world: World, row: Row, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    _control(world, row, is_new)


@noinline
def _control(world: World, row: Row, is_new: bool) -> None:
    limbs = limbs_of(world.numeric, int(row.header[0].limbs))
    walker, intent = walker_of(row.memory)[0], intent_of(row.memory)[0]
    com, velocity, mass = com_state(world, int(limbs.biped[0].pelvis), intent)
    if is_new and take_over(row, walker, HEADING):
        _begin(world, row, limbs, walker, com, velocity)
    if is_new:
        style = _present_style(row, walker)
        steer(walker, row.commands[HEADING], style.numbers[0].turn_rate, world.dt)
        poised = loaded_com(com, mass, walker.heading, intent)
        advance_ease(world, row, limbs, style, walker, intent, hands_of(row.memory), poised, velocity)
        advance_steps(world, row, limbs, style, walker, intent, poised, velocity)
        _remember_touch(world, walker)
    style = _present_style(row, walker)
    frame = from_axis_angle((0.0, 0.0, 1.0), walker.heading)
    torques = block(row.memory, _TORQUES, (len(limbs.links), 3))
    upper_body_torques(world, row, limbs, style, walker, intent, frame, torques)
    poised = loaded_com(com, mass, walker.heading, intent)
    if walker.mode == STEP:
        point = stance.step_pressure_point(world, row, limbs, style, walker, poised, velocity)
        if walker.phase < swing.SETTLED_PHASE or intent.load_mass > 0.0:  # a load is balanced to the end of the step
            walker.aim_x, walker.aim_y = swing.plan_foothold(row, limbs, style, walker, intent, poised, velocity, point)
        if walker.pushing != 0.0:
            stance.push_off_torques(world, row, limbs, style, walker, com, mass, torques)
        else:
            swing.swing_leg_torques(world, row, limbs, style, walker, intent, frame, torques)
        stance.stance_leg_torques(world, row, limbs, style, walker, intent, com, mass, point, torques)
    else:
        stance.double_stance_torques(world, limbs, style, walker, intent, com, poised, velocity, mass, torques)
    stance.hold_pelvis(world, row, limbs, style, walker, intent, com, mass, frame, torques)
    for i in range(len(limbs.links)):
        drive(world, row, limbs.links[i], (torques[i, 0], torques[i, 1], torques[i, 2]))
    ankle = ankle_of(world, limbs, 1 - int(walker.swing))
    report_com(row, walker, com, velocity, ankle[0], ankle[1])


@kernel
def _present_style(row: Row, walker: Any) -> Style:
    """The active style with the numbers of now: those of its flat-footed walk, of its stride, or between."""
    slot = row.slots[int(row.header[0].active)]
    blend_numbers(slot, row.memory, _NUMBERS, roll_share(walker, stride_of(slot)[0]))
    return blended_style(slot, row.memory, _NUMBERS)  # type: ignore[no-any-return]


@noinline
def _begin(world: World, row: Row, limbs: Limbs, walker: Any, com: Vector, velocity: Vector) -> None:
    """Go on from the step that another controller has just begun, or from two feet."""
    walker.load, walker.begun = 0.5, world.time
    hands = hands_of(row.memory)
    for i in range(2):
        hands[i].stiff = 1.0
    if row.touch[0] != 0.0 and row.touch[1] != 0.0 and is_slow(velocity):
        begin_stand(walker, world.time)
    else:
        walker.speed = forward_speed(walker, velocity)
        lift_foot(world, limbs, walker, int(row.report[0].swing), com)


@kernel
def _remember_touch(world: World, walker: Any) -> None:
    """Remember the last object touched, for tasks, which look less often."""
    thing, body = find_touched_object(world)
    if thing > 0:
        walker.met, walker.met_by, walker.met_at = float(thing), float(body), world.time


@noinline
def upper_body_torques(
    world: World, row: Row, limbs: Limbs, style: Style, walker: Any, intent: Any, frame: Any, torques: np.ndarray
) -> None:
    """Targets and torques of trunk, head and arms, gravity compensated (§4.1, §4.3)."""
    phase, swinging = walker.phase, int(walker.swing)
    mirror = 1.0 if swinging == 0 else -1.0
    lean = row.commands[LEAN] - intent.bend
    hands = hands_of(row.memory)
    taken_up = _share_taken_up(walker, style.numbers[0].settle, world.time)
    for i in range(len(limbs.links)):
        link = limbs.links[i]
        if link.leg >= 0.0:
            continue
        kind, side = int(link.kind), int(link.side)
        kp, kd = link.kp, link.kd
        if kind <= _NECK:
            curve = LOWER_BACK if kind == _BACK else UPPER_BACK if kind == _UPPER else NECK
            share = BEND_SHARES[kind]
            nod = intent.nod if kind == _NECK else 0.0
            turn = multiply(
                from_yaw_roll_pitch(share * intent.twist, share * intent.bend_roll, share * lean - nod),
                curve_rotation(style, curve, phase, mirror, 0.0, taken_up),
            )
            torque = framed_torque(world, link, framed_target(frame, link, turn), kp, kd)
        else:
            swings = side == swinging
            outward = 1.0 if side == 0 else -1.0
            turn = (1.0, 0.0, 0.0, 0.0)
            if kind == _SHOULDER:
                turn = curve_rotation(style, SWING_SHOULDER if swings else STANCE_SHOULDER, phase, outward, 0.0, 1.0)
            elif kind == _ELBOW:
                turn = _elbow_rotation(
                    limbs.arms[side], curve_value(style, SWING_ELBOW if swings else STANCE_ELBOW, phase)
                )
            elif kind == _WRIST:
                turn = from_yaw_roll_pitch(0.0, 0.0, curve_value(style, SWING_WRIST if swings else STANCE_WRIST, phase))
            target = relative_target(world, link, turn)
            if side >= 0 and hands[side].reach > 0.0 and kind in (_SHOULDER, _ELBOW):
                target = swing.reach_target(world, limbs, hands[side], side, kind == _ELBOW, link, target, frame)
                kp, kd = kp * hands[side].stiff, kd * hands[side].stiff
            torque = link_torque(world, link, target, kp, kd)
        torque = add(torque, weight_torque(world, link))
        for hand in range(2):
            carried = link.left_hand if hand == 0 else link.right_hand
            if carried != 0.0:
                force = (hands[hand].fx, hands[hand].fy, hands[hand].fz)
                torque = add(torque, hand_torque(world, link, hand_point(world, limbs.arms[hand]), force))
        torques[i, 0], torques[i, 1], torques[i, 2] = torque


@kernel
def _share_taken_up(walker: Any, settle: float, time: float) -> float:
    """How far trunk and head have taken up the style's curves, `settle` seconds after it was given the body wholly."""
    if settle <= 0.0:
        return 1.0
    s = min((time - walker.begun) / settle, 1.0)
    return s * s * (3.0 - 2.0 * s)  # type: ignore[no-any-return]


@kernel
def _elbow_rotation(chain: Any, angle: float) -> Any:
    """Rotation of an elbow bent by an angle, whichever way its axis points."""
    return from_axis_angle((chain.nx, chain.ny, chain.nz), chain.bend * angle)


@kernel
def find_touched_object(world: World) -> tuple[int, int]:
    """An object that the character touches and the body that touches it; 0 and 0 if there is none."""
    for i in range(len(world.contact)):
        contact = world.contact[i]
        one, two = world.geom_body[contact.geom1], world.geom_body[contact.geom2]
        if world.part[two] == ELSEWHERE:
            one, two = two, one
        if world.part[one] != ELSEWHERE or world.part[two] == ELSEWHERE or world.part[two] == GROUND:
            continue
        if contact.exclude == 0:
            return one, two
    return 0, 0
