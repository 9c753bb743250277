"""Memory records of GENBICON: the walker's state, and what tasks tell the walker and its hands."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.native.kernels import kernel

STAND, SHIFT, STEP = 0.0, 1.0, 2.0  # on two feet; shifting the weight to begin; one foot swings


def _record(*names: str) -> np.dtype[Any]:
    return np.dtype([(name, "f8") for name in names])


WALKER = _record(
    "mode", "since", "swing", "steps", "step_start", "period", "phase", "heading", "unloaded", "ground", "lift_ground",
    "x0", "y0", "z0", "mark_x", "mark_y", "mark_time", "integral", "speed", "aim_x", "aim_y",
    "load", "wish", "knee", "usual", "met", "met_by", "met_at", "pushing", "release",
    "lift_speed", "lift_rise", "lift_pitch", "ease", "pace", "begun",
    "middle_x", "middle_y", "side_integral",
)  # fmt: skip
"""Mode and since when; which foot swings; steps taken; this step's beginning and wanted duration [s]; its phase; the
character frame's yaw [rad]; whether the swing foot has left the ground; height of the ground under the stance foot and
under the foot where it lifted off [m]; where the ankle was then; where and when the last step began; what the speed
controller has added [m/s]; speed it tries to keep [m/s]; where the swing ankle is going [m]; share of the weight on
the left foot; 1 while it is to walk; how far the stance knee was bent at footstrike [rad]; how long its steps usually
are [m]; the thing that was touched last, the body that touched it, and when [s]; 1 while the foot that
will swing still pushes off; the phase at which it was let go, its speed along the heading
and upwards then [m/s], and how much its pitch then differed from the style's [rad]; how far it walks at ease, so that
its feet may roll, 0 … 1, its mean speed along the heading in the last step [m/s], since when it has the body [s];
the middle between its ankles at the last footstrike [m], and what the sideways speed controller has added [m/s]."""

INTENT = _record(
    "bend", "bend_roll", "twist", "nod", "crouch", "foothold", "fx", "fy", "over", "from_x", "to_x", "clear",
    "clear_to", "rise", "load_body", "load_mass", "alpha", "force", "force_height", "hold",
)  # fmt: skip
"""Written by tasks: forward bend of the body [rad], to the side, twist, more of the head's forward; bend of the stance
knee [rad]; whether the next foothold is given, 1 as a place, 2 only along the heading, and where [m]; whether the foot
has to pass over something, between which places of the ankle along the heading and how high above the stance foot's
ground at the one and the other [m]; height of the next foothold above that ground [m]; a body it carries and its mass
[kg]; more of α in equation 7 [s]; a lasting force of the world on the body along its heading [N], against which it
leans, and how high above the ground that acts [m]; 1 keeps standing."""

HAND = _record("reach", "x", "y", "z", "fx", "fy", "fz", "swivel", "stiff")
"""Of each hand, written by tasks: share of the way from the style's arm to reaching; where to [m]; the force it has to
exert on the world [N]; the elbow's turn about the line from shoulder to hand [rad]; how many times stiffer it is."""


@kernel
def begin_step(walker: Any, swing: int, ankle: Any, time: float, x: float, y: float) -> None:
    """Let a foot swing from where it is; (x, y) is the COM [m]."""
    walker.mode, walker.since = STEP, time
    walker.swing = float(swing)
    walker.steps += 1.0
    walker.step_start = time
    walker.phase = 0.0
    walker.unloaded = 0.0
    walker.pushing, walker.release = 0.0, 0.0
    walker.lift_speed, walker.lift_rise, walker.lift_pitch = 0.0, 0.0, 0.0
    walker.x0, walker.y0, walker.z0 = ankle[0], ankle[1], ankle[2]
    walker.aim_x, walker.aim_y = ankle[0], ankle[1]
    walker.mark_x, walker.mark_y, walker.mark_time = x, y, time


@kernel
def begin_stand(walker: Any, time: float) -> None:
    """Stand on both feet."""
    walker.mode, walker.since = STAND, time
    walker.phase = 0.0
    walker.integral = 0.0
    walker.speed = 0.0
