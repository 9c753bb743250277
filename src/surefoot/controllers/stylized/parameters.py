"""Schema of a stylized skill: the reference that is followed, and how closely (da Silva 2008, Table 1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.skills.schema import Skill, Strict, Text

Strength = Annotated[float, Field(ge=0.0, le=1e4)]


class StylizedParameters(Strict):
    """Weights and gains of style, balance and servo.

    Attributes:
        reference: what is followed: `start` is the start pose, held; else a skill that walks, or a reference's file.
        style: k_s of eq. 8 [1/s²]; the damping is critical.
        style_weight: w_s of eq. 9a.
        balance_weight: w_b of eq. 9a, in single support.
        root_weight: by which the root's rows of the style term count more than a joint's; the paper's is 1.
        anchoring: from 1 to 0, whether the reference is set down at every tick where the feet are, or only at first.
        stepping: how much of what the balance is off the swing foot makes up for; the paper's is 0.
        leading: from 0 to 1, how much a swing foot follows its way in the world rather than its leg's joints.
        pacing: how much sooner a step comes by which the body gets there too early; the paper's is 0.
        softness: damping of the inverse kinematics by which it does: large for legs that swing wildly.
        rate: solutions of the programme a second [1/s].
        settle: rate at which a foot that bears and moves is brought to rest [1/s].
        calm: cost of the horizontal forces by which feet that stand press against each other [N⁻²], against w_s.
        strength: servo stiffness by kind of joint, `all` for those not named, for a unit of the inertia that hangs on
            the joint [1/s²] (Table 2); the damping is critical.
    """

    reference: str = "start"
    style: float = Field(ge=0.0, le=1e4)
    style_weight: float = Field(0.5, gt=0.0, le=100.0)
    balance_weight: float = Field(0.1, ge=0.0, le=100.0)
    root_weight: float = Field(1.0, gt=0.0, le=1000.0)
    anchoring: float = Field(1.0, ge=0.0, le=1.0)
    stepping: float = Field(0.0, ge=0.0, le=2.0)
    leading: float = Field(1.0, ge=0.0, le=1.0)
    pacing: float = Field(0.0, ge=0.0, le=2.0)
    softness: float = Field(1e-3, ge=1e-6, le=1.0)
    rate: float = Field(200.0, ge=10.0, le=2000.0)
    settle: float = Field(20.0, ge=0.0, le=200.0)
    calm: float = Field(0.0, ge=0.0, le=1.0)
    strength: dict[str, Strength] = Field(default_factory=dict)


class StylizedSkill(Skill):
    """A reference motion, followed with balance."""

    controller: Literal["stylized"]
    credit: Text = ""  # what the licence of a clip asks for
    clip: Text = ""  # the name of the file it was made of, without its suffix
    parameters: StylizedParameters
