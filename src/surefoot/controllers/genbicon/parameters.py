"""Schema of a GENBICON skill: a style, as an animator would write it down."""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from surefoot.controllers.genbicon.style import CURVES, KNOTS, STRIDE_CURVES
from surefoot.skills.schema import Skill, Start, Strict

Phase = Annotated[float, Field(ge=0.0, le=1.0)]
Value = Annotated[float, Field(ge=-3.2, le=3.2)]


def _known(name: str) -> str:
    if name not in CURVES:
        raise ValueError(f"unknown curve {name!r}; valid: {', '.join(CURVES)}")
    return name


def _known_of_stride(name: str) -> str:
    if name not in STRIDE_CURVES:
        raise ValueError(f"unknown curve of a stride {name!r}; valid: {', '.join(STRIDE_CURVES)}")
    return name


def _rising(knots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if not 1 <= len(knots) <= KNOTS or any(b[0] <= a[0] for a, b in itertools.pairwise(knots)):
        raise ValueError(f"a curve takes 1 … {KNOTS} knots [phase, value] of rising phase")
    return knots


Curve = Value | Annotated[list[tuple[Phase, Value]], AfterValidator(_rising)]


ROLL: dict[str, Curve] = {
    "swing_ankle": [(0.0, -0.55), (0.22, -1.16), (0.4, -0.91), (0.65, 0.0), (0.85, 0.33), (1.0, 0.336)],
    "stance_ankle": [
        (0.0, 0.316), (0.1, 0.146), (0.2, 0.06), (0.35, 0.01), (0.5, 0.0), (0.68, -0.15), (0.85, -0.314), (1.0, -0.5),
    ],
    "height": [(0.0, 0.0), (0.08, 0.4), (0.25, 0.75), (0.5, 0.9), (0.85, 0.088), (1.0, -0.373)],
    "swing_out": 0.0,
    "pressure": [(0.0, -1.0), (0.2, 0.0), (0.55, 1.0), (0.7, 1.0)],
}  # fmt: skip
"""How a foot rolls in an ordinary walk."""


def _completed(curves: Any) -> Any:
    return ROLL | dict(curves) if isinstance(curves, dict) else curves


class Stride(Strict):
    """What differs while a walk is at ease and its feet roll: numbers of the gait, and curves of the rolling foot.

    The defaults are those of the library's ordinary walk. `rolling_speed` is the speed from which on it rolls fully.
    Time, width and height of its steps are given as multiples of those of the style.
    """

    rolling_speed: float = Field(1.0, gt=0.0, le=2.0)  # [m/s]
    step_time: float = Field(1.17, ge=0.5, le=2.0)  # of the style's, as the next two
    step_width: float = Field(0.92, ge=0.0, le=3.0)
    step_height: float = Field(0.714, ge=0.0, le=3.0)
    speed_force: float = Field(0.213, ge=0.0, le=2.0)
    speed_integral: float = Field(0.03, ge=0.0, le=1.0)
    knee_support: float = Field(0.905, ge=0.0, le=1.5)
    yielding: float = Field(0.64, ge=0.0, le=1.0)
    yaw_limit: float = Field(0.027, ge=0.0, le=1.0)
    loss: float = Field(0.12, ge=0.0, le=1.0)
    levelling: float = Field(0.27, ge=0.0, le=1.2)
    foresight: float = Field(0.78, ge=0.0, le=1.5)
    side_foresight: float = Field(0.95, ge=0.0, le=1.5)
    alpha: float = Field(-0.02, ge=-0.3, le=0.5)
    quicker: float = Field(0.2, ge=0.0, le=0.5)
    softening: float = Field(0.0, ge=0.0, le=1.0)
    drag: float = Field(0.23, ge=0.0, le=1.5)  # [m/s] that double support takes
    double_support: float = Field(0.15, ge=0.0, le=0.45)  # [phase] for which a foot pushes off after footstrike
    push_force: float = Field(1.33, ge=0.0, le=3.0)  # of an ankle, by the force with which it bears its load
    push_knee: float = Field(0.8, ge=-1.0, le=1.5)  # share of its load that the knee of a leg bears while it pushes off
    knee_give: float = Field(0.0, ge=0.0, le=1.0)  # share of its damping that the stance knee lacks at footstrike
    curves: Annotated[dict[Annotated[str, AfterValidator(_known_of_stride)], Curve], BeforeValidator(_completed)] = (
        Field(default_factory=lambda: dict(ROLL))
    )


class GenbiconParameters(Strict):
    """Numbers of the gait and curves over the phase of a step.

    Lengths and times are for a person with legs of 0.92 m: widths grow with the legs, times with their root. A curve
    is a number, or a list of knots [phase, value] through which a Catmull-Rom spline goes; one that is not given is
    zero, and with all of them zero it walks (the zero gait), but for `height`.
    """

    walks: bool = True  # false: it stands until it is pushed
    speed: float = Field(0.6, ge=-1.5, le=2.5)  # [m/s]
    step_time: float = Field(0.5, ge=0.3, le=1.0)  # [s]
    step_width: float = Field(0.12, ge=0.0, le=0.5)  # [m]
    step_height: float = Field(0.07, ge=0.0, le=0.4)  # [m] what a `height` of 1 means
    knee_twist: float = Field(0.0, ge=-1.2, le=1.2)  # [rad] of the knees outward: bow-legged, or knock-kneed
    toe_out: float = Field(0.0, ge=-0.8, le=0.8)  # [rad]
    turn_rate: float = Field(1.0, gt=0.0, le=5.0)  # [rad/s] at which a commanded heading is approached
    push_off: float = Field(0.8, ge=0.0, le=3.0)  # [rad] by phase and m/s above 0.8 m/s, of the stance ankle
    longest_step: float = Field(0.65, ge=0.1, le=1.0)  # of the leg's length
    narrowest: float = Field(-0.35, ge=-0.5, le=0.3)  # [m] that a foot is set outward of the other
    speed_force: float = Field(1.0, ge=0.0, le=2.0)  # share of the virtual force that would hit the speed
    sway_force: float = Field(1.0, ge=0.0, le=2.0)  # share of the one that would hit the sway
    speed_integral: float = Field(0.15, ge=0.0, le=1.0)  # of the speed missed in a step, added to all that follow
    knee_support: float = Field(0.6, ge=0.0, le=1.5)
    hip_support: float = Field(1.0, ge=0.0, le=1.5)
    stand_stiffness: float = Field(3.0, ge=0.0, le=10.0)
    stand_damping: float = Field(1.2, ge=0.0, le=5.0)
    yielding: float = Field(0.45, ge=0.0, le=1.0)  # phase until which the stance knee yields to a footstrike
    yaw_gain: float = Field(1.0, ge=0.0, le=1.0)  # of the pelvis, against its other axes
    yaw_limit: float = Field(0.05, ge=0.0, le=1.0)  # of its yaw torque, by weight and leg
    loss: float = Field(0.12, ge=0.0, le=1.0)  # [s/m] of the speed that footstrikes take, by its square
    levelling: float = Field(0.8, ge=0.0, le=1.2)  # share of the hips' rise over the stance leg that its knee takes up
    foresight: float = Field(0.45, ge=0.0, le=1.5)  # share of the rest of a step over which the pendulum is carried on
    side_foresight: float = Field(0.45, ge=0.0, le=1.5)  # the same of its sideways part
    eager: float = Field(0.5, ge=0.0, le=1.0)  # how much of its way a swing foot goes at once
    alpha: float = Field(0.0, ge=-0.3, le=0.5)  # [s] added to α of equation 7
    hurry: float = Field(2.0, ge=0.0, le=5.0)  # by metres off the usual foothold, how much faster a step goes
    quicker: float = Field(0.22, ge=0.0, le=0.5)  # share of the step time by which steps of very fast walks are shorter
    softening: float = Field(1.0, ge=0.0, le=1.0)  # how far the stance knee of very fast walks gives way
    settle: float = Field(0.0, ge=0.0, le=5.0)  # [s] in which trunk and head take up their curves from a start on
    stride: Stride | None = None  # how its feet roll while it walks at ease; without it they stay flat
    curves: dict[Annotated[str, AfterValidator(_known)], Curve] = Field(default_factory=dict)


class GenbiconSkill(Skill):
    """A style of walking, for any body with two legs."""

    controller: Literal["genbicon"]
    start: Start = Start()  # type: ignore[call-arg]
    parameters: GenbiconParameters
