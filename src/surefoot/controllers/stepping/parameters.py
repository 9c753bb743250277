"""Schema of a stepping skill."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from surefoot.skills.schema import Skill, Start, Strict


class SteppingParameters(Strict):
    """Numbers of the pendulum, of its feet and of the coupling to the body."""

    walks: bool = False  # false: it stands until it is told a speed
    careful: bool = False  # every step begins with the weight over the other foot
    speed: float = Field(0.6, ge=-1.5, le=2.0)  # [m/s]
    step_time: float = Field(0.42, ge=0.2, le=1.0)  # [s] of a walk
    push_time: float = Field(0.35, ge=0.1, le=1.0)  # [s] of a step that balances
    careful_time: float = Field(0.6, ge=0.2, le=2.0)  # [s] of a step for comfort or of a careful walk
    step_width: float = Field(0.2, ge=0.0, le=0.6)  # [m]
    step_height: float = Field(0.07, ge=0.0, le=0.4)  # [m] over the highest ground on the way
    leg: float = Field(0.95, ge=0.4, le=1.0)  # rest length of a leg, of its full length
    level_leg: float = Field(0.0, ge=0.0, le=1.0)  # the same at ease on level ground; 0: as elsewhere
    crouch: float = Field(1.0, ge=0.4, le=1.0)  # of that, which it uses
    walk_ratio: float = Field(0.0, ge=0.0, le=0.01)  # [m/(steps/min)] of a walk on level ground; 0: no strides
    double_support: float = Field(0.2, ge=0.0, le=0.5)  # of a stride's step
    stride_width: float = Field(0.14, ge=0.0, le=0.6)  # [m]
    roll: float = Field(0.12, ge=0.0, le=0.3)  # [m] that a stride's centre of pressure travels along the sole
    strike_pitch: float = Field(0.3, ge=0.0, le=0.8)  # [rad] toes up, of a stride's foot that lands on its heel
    toe_off_pitch: float = Field(0.9, ge=0.0, le=1.4)  # [rad] heel up, of one that leaves the ground
    lean: float = Field(0.0, ge=-1.0, le=1.0)  # [rad] of the trunk, forward negative
    crouch_lean: float = Field(2.6, ge=0.0, le=3.0)  # [rad] of it, by the share that the legs are shortened
    slope_lean: float = Field(0.5, ge=0.0, le=2.0)  # of an uphill slope, by which the trunk leans into it
    turn_rate: float = Field(1.0, gt=0.0, le=5.0)  # [rad/s] at which a new facing direction is approached
    acceleration: float = Field(0.6, gt=0.0, le=5.0)  # [m/s²] of the speed that is asked for
    stiffness: float = Field(1.5, ge=0.0, le=10.0)  # of the ankle torque, k in z = c + (1 + k)(ξ − c)
    still: float = Field(0.004, ge=0.0, le=0.1)  # [m] around the rest, within which nothing is done
    margin: float = Field(-0.015, ge=-0.1, le=0.2)  # [m] beyond what bears of the feet, from where on it steps
    foot_length: float = Field(0.72, gt=0.0, le=1.0)  # of the sole, that bears
    foot_width: float = Field(0.78, gt=0.0, le=1.0)
    longest_step: float = Field(0.75, gt=0.0, le=1.5)  # of the leg, from the mass to the foothold
    foresight: float = Field(1.0, ge=0.0, le=1.5)  # share of the rest of a step over which the pendulum is carried on
    alpha: float = Field(1.0, ge=0.0, le=3.0)  # of the foothold's lead for a speed
    speed_integral: float = Field(0.25, ge=0.0, le=1.0)  # of the speed missed in a step, added to all that follow
    steering: float = Field(1.0, ge=0.0, le=2.0)  # share of the ankle torque that steers a walk
    pull_scale: float = Field(1.0, ge=0.0, le=2.0)  # [m] k_p of equation 3
    spring: float = Field(150.0, gt=0.0, le=2000.0)  # [N/m] of a leg, by kilogram of the body
    damper: float = Field(20.0, ge=0.0, le=200.0)  # [N·s/m] by kilogram
    spring_bias: float = Field(0.5, ge=0.0, le=5.0)  # of the leg's spring error in the step's length
    spring_load: float = Field(0.0, ge=0.0, le=1.0)  # share of what it carries that the legs' springs are made for
    sink: float = Field(0.02, ge=0.0, le=0.1)  # [m] below the ground, where a foot's path ends
    force: float = Field(1.0, ge=0.0, le=1.0)  # share of the pendulum's force fed forward; 0 is the paper's coupling
    pose: float = Field(0.1, ge=0.0, le=5.0)  # of the servos' stiffness in the legs that bear
    hurry: float = Field(1.2, ge=0.0, le=5.0)  # [s/m] by which a step is shorter that begins off balance
    pelvis_kp: float = Field(1000.0, ge=0.0, le=10000.0)  # [N·m/rad] in the world
    pelvis_kd: float = Field(200.0, ge=0.0, le=1000.0)  # [N·m·s/rad]
    swing_kp: float = Field(2.9, ge=0.0, le=10.0)  # of the servos' stiffness in the leg that swings
    swing_kd: float = Field(2.3, ge=0.0, le=10.0)
    comfort: bool = True
    comfort_angle: float = Field(0.2, gt=0.0, le=3.2)  # [rad] from the facing direction that a foot may be turned
    comfort_width: float = Field(0.1, gt=0.0, le=1.0)  # [m] from side by side that feet may be
    arm_out: float = Field(0.1, ge=0.0, le=1.5)  # [rad] of the arms
    arm_swing: float = Field(0.6, ge=0.0, le=2.0)  # [rad] of the arms, by how far the feet are apart along, of a leg
    elbow: float = Field(0.3, ge=0.0, le=1.9)  # [rad]


class SteppingSkill(Skill):
    """Standing and walking by an inverted pendulum with feet."""

    controller: Literal["stepping"]
    start: Start = Start()  # type: ignore[call-arg]
    parameters: SteppingParameters
