"""GENBICON: generalized biped walking control (Coros, Beaudoin, van de Panne 2010; Yin, Coros, van de Panne, §4).

A motion generator gives target curves, an inverted pendulum the foothold, a closed-form IK the swing leg, a virtual
force on the COM the fine tuning, gravity compensation everything else. All of it is told in the character frame: x the
heading, y left, z up. Flexion is positive forward (arms, thighs) and back (trunk), a knee's bend negative; roll and
yaw of limbs count outward, those of the middle are given for a left foot that swings.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.controllers.command import DEGREES, Command
from surefoot.controllers.genbicon import stance, swing
from surefoot.controllers.genbicon import stance as standing
from surefoot.controllers.genbicon.memory import HAND, INTENT, STEP, WALKER, begin_stand
from surefoot.controllers.genbicon.steps import lift, slow, take_steps, velocity_ahead
from surefoot.controllers.genbicon.style import (
    LOWER_BACK,
    NECK,
    STANCE_ELBOW,
    STANCE_SHOULDER,
    STANCE_WRIST,
    SWING_ELBOW,
    SWING_SHOULDER,
    SWING_WRIST,
    UPPER_BACK,
    style_of,
    value,
)
from surefoot.native.kernels import array_kernel, block, kernel, noinline, records
from surefoot.native.links import limbs_of
from surefoot.native.physics import ELSEWHERE, GROUND
from surefoot.native.vectors import add, from_axis_angle, from_yaw_roll_pitch, multiply
from surefoot.reflexes.displacement import steer
from surefoot.reflexes.handover import NONE, TAKEN
from surefoot.reflexes.limb_servo import (
    balance_point,
    com_state,
    drive,
    framed_target,
    framed_torque,
    hand_point,
    hand_torque,
    link_torque,
    relative_target,
    weight_torque,
)

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
SPEED, HEADING, LEAN, STEP_TIME, STEP_HEIGHT, STEP_WIDTH, SIDEWAYS, STOP = 0, 1, 2, 3, 4, 5, 6, 7

# The memory: a WALKER, an INTENT, two HANDs, a torque vector for every link.
_WALKER, _INTENT, _HAND = WALKER.itemsize // 8, INTENT.itemsize // 8, HAND.itemsize // 8
_HANDS = _WALKER + _INTENT
_TORQUES = _HANDS + 2 * _HAND

_BACK, _UPPER, _NECK, _HIP, _KNEE, _ANKLE, _TOE, _SHOULDER, _ELBOW, _WRIST = range(10)  # places in `limbs.KINDS`
SHARES = (0.8, 1.0, 0.6)  # of a bend, by lower back, upper back and neck


def memory_size(links: int) -> int:
    """Numbers it remembers for a body of so many links."""
    return _TORQUES + 3 * links


@array_kernel
def walker_of(memory: Any) -> Any:
    """(1,) WALKER of a memory."""
    return records(memory, 0, 1, WALKER)


@array_kernel
def intent_of(memory: Any) -> Any:
    """(1,) INTENT of a memory, for tasks to write."""
    return records(memory, _WALKER, 1, INTENT)


@array_kernel
def hands_of(memory: Any) -> Any:
    """(2,) HAND of a memory, for tasks to write."""
    return records(memory, _HANDS, 2, HAND)


@kernel
def law(world: Any, row: Any, is_new: bool) -> None:
    """One control step; `is_new` is false when the same moment is evaluated again."""
    _walk(world, row, is_new)


@noinline
def _walk(world: Any, row: Any, is_new: bool) -> None:
    limbs = limbs_of(world.numeric, int(row.header[0].limbs))
    walker, intent = walker_of(row.memory)[0], intent_of(row.memory)[0]
    com, velocity, mass = com_state(world, int(limbs.biped[0].pelvis), intent)
    if is_new and row.header[0].handover == TAKEN:
        _take_over(world, row, limbs, walker, com, velocity)
    if is_new:
        style = style_of(row.slots[int(row.header[0].active)])
        steer(walker, row.commands[HEADING], style.numbers[0].turn_rate, world.dt)
        poised = balance_point(com, mass, walker.heading, intent)
        take_steps(world, row, limbs, style, walker, intent, poised, velocity)
        _meet(world, walker)
    style = style_of(row.slots[int(row.header[0].active)])
    frame = from_axis_angle((0.0, 0.0, 1.0), walker.heading)
    torques = block(row.memory, _TORQUES, (len(limbs.links), 3))
    upper_body(world, row, limbs, style, walker, intent, frame, torques)
    poised = balance_point(com, mass, walker.heading, intent)
    if walker.mode == STEP:
        point = stance.stepping_point(world, row, limbs, style, walker, intent, poised, velocity)
        swing.swing_leg(world, row, limbs, style, walker, intent, poised, velocity, point, frame, torques)
        stance.bearing_leg(world, row, limbs, style, walker, intent, com, mass, point, torques)
    else:
        standing.on_two_feet(world, row, limbs, style, walker, intent, com, poised, velocity, mass, torques)
    stance.hold_pelvis(world, row, limbs, style, walker, intent, com, velocity, mass, frame, torques)
    for i in range(len(limbs.links)):
        drive(world, row, limbs.links[i], (torques[i, 0], torques[i, 1], torques[i, 2]))
    _report(row, limbs, walker, com, velocity, world)


@noinline
def _take_over(world: Any, row: Any, limbs: Any, walker: Any, com: Any, velocity: Any) -> None:
    """Begin from the step that another controller has just begun, or from two feet."""
    row.header[0].handover = NONE
    walker.heading = row.commands[HEADING] = row.report[0].heading
    walker.load = 0.5
    hands = hands_of(row.memory)
    for i in range(2):
        hands[i].stiff = 1.0
    if row.touch[0] != 0.0 and row.touch[1] != 0.0 and slow(velocity):
        begin_stand(walker, world.time)
    else:
        walker.speed = velocity_ahead(walker, velocity)
        lift(world, limbs, walker, int(row.report[0].swing), com)


@kernel
def _meet(world: Any, walker: Any) -> None:
    """Remember what it touches; tasks look less often."""
    thing, body = find_touched_object(world)
    if thing > 0:
        walker.met, walker.met_by, walker.met_at = float(thing), float(body), world.time


@kernel
def _report(row: Any, limbs: Any, walker: Any, com: Any, velocity: Any, world: Any) -> None:
    report, swinging = row.report[0], int(walker.swing)
    ankle = world.xanchor[int(limbs.links[int(limbs.legs[1 - swinging].end)].joint)]
    c, s = math.cos(walker.heading), math.sin(walker.heading)
    x, y = com[0] - ankle[0], com[1] - ankle[1]
    report.state, report.swing, report.steps = walker.mode, walker.swing, walker.steps
    report.phase = 0.5 * (min(walker.phase, 1.0 - 1e-9) + (1.0 if swinging == 0 else 0.0))
    report.distance, report.velocity = c * x + s * y, c * velocity[0] + s * velocity[1]
    report.lateral_distance, report.lateral_velocity = c * y - s * x, c * velocity[1] - s * velocity[0]
    report.heading = walker.heading


@kernel
def triple(style: Any, curve: int, phase: float, mirror: float) -> Any:
    """Rotation of three curves: flexion, roll and yaw; `mirror` is −1 where roll and yaw turn the other way."""
    return from_yaw_roll_pitch(
        mirror * value(style, curve + 2, phase), mirror * value(style, curve + 1, phase), value(style, curve, phase)
    )


@noinline
def upper_body(
    world: Any, row: Any, limbs: Any, style: Any, walker: Any, intent: Any, frame: Any, torques: Any
) -> None:
    """Targets and torques of trunk, head and arms, gravity compensated (§4.1, §4.3)."""
    phase, swinging = walker.phase, int(walker.swing)
    mirror = 1.0 if swinging == 0 else -1.0
    lean = row.commands[LEAN] - intent.bend
    hands = hands_of(row.memory)
    for i in range(len(limbs.links)):
        link = limbs.links[i]
        if link.leg >= 0.0:
            continue
        kind, side = int(link.kind), int(link.side)
        kp, kd = link.kp, link.kd
        if kind <= _NECK:
            curve = LOWER_BACK if kind == _BACK else UPPER_BACK if kind == _UPPER else NECK
            share = SHARES[kind]
            nod = intent.nod if kind == _NECK else 0.0
            turn = multiply(
                from_yaw_roll_pitch(share * intent.twist, share * intent.bend_roll, share * lean - nod),
                triple(style, curve, phase, mirror),
            )
            torque = framed_torque(world, link, framed_target(frame, link, turn), kp, kd)
        else:
            swings = side == swinging
            outward = 1.0 if side == 0 else -1.0
            turn = (1.0, 0.0, 0.0, 0.0)
            if kind == _SHOULDER:
                turn = triple(style, SWING_SHOULDER if swings else STANCE_SHOULDER, phase, outward)
            elif kind == _ELBOW:
                turn = _bent(limbs.arms[side], value(style, SWING_ELBOW if swings else STANCE_ELBOW, phase))
            elif kind == _WRIST:
                turn = from_yaw_roll_pitch(0.0, 0.0, value(style, SWING_WRIST if swings else STANCE_WRIST, phase))
            target = relative_target(world, link, turn)
            if side >= 0 and hands[side].reach > 0.0 and kind in (_SHOULDER, _ELBOW):
                target = swing.reaching(world, limbs, hands[side], side, kind == _ELBOW, link, target, frame)
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
def _bent(chain: Any, angle: float) -> Any:
    """Rotation of an elbow bent by an angle, whichever way its axis points."""
    return from_axis_angle((chain.nx, chain.ny, chain.nz), chain.bend * angle)


@kernel
def find_touched_object(world: Any) -> tuple[int, int]:
    """A thing that the character touches, and with which body; 0 and 0 if there is none."""
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
