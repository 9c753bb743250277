"""Schema of a tracking skill: the table it follows, and how stiffly."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.skills.schema import Skill, Strict, Text

Factor = Annotated[float, Field(ge=0.0, le=10.0)]


class TrackingParameters(Strict):
    """A table, servos, and limits.

    Attributes:
        reference: file of the table, .npz.
        stiffness: factor of the body's servo gains by kind of joint, `all` for those not named; torque limits are the
            body's.
        softness: further factor of all gains; displacements of the targets, which were learned, exert the same torque
            as before.
        feedback: share of the learned feedback that is used.
        most: largest displacement of a target [rad].
        leash: largest distance from the path that is fed back [m].
        homing: speed towards the path that is asked for, for each metre of distance from it [1/s].
        lost: difference of the root's height from the motion's beyond which it has fallen [m]; 0 is any.
        turn_rate: at which a commanded heading is approached [rad/s].
        speed: that the motion has by itself along its heading [m/s].
        speeds: lowest and highest speed that can be commanded [m/s], as measured; None: it takes none.
    """

    reference: Text
    stiffness: dict[str, Factor] = Field(default_factory=dict)
    softness: float = Field(1.0, ge=0.05, le=2.0)
    feedback: float = Field(1.0, ge=0.0, le=2.0)
    most: float = Field(1.0, ge=0.0, le=3.0)
    leash: float = Field(0.3, ge=0.0, le=10.0)
    homing: float = Field(0.0, ge=0.0, le=5.0)
    lost: float = Field(0.0, ge=0.0, le=10.0)
    turn_rate: float = Field(0.3, gt=0.0, le=10.0)
    speed: float = Field(0.0, ge=-20.0, le=20.0)
    speeds: tuple[float, float] | None = None


class TrackingSkill(Skill):
    """A captured motion that was reconstructed, with the feedback that keeps it up."""

    controller: Literal["tracking"]
    credit: Text = ""  # what the licence of the clip asks for
    clip: Text = ""  # name of the file it was made from, without its suffix
    parameters: TrackingParameters
