"""Schema of a stylized skill: the reference to follow, and how closely (da Silva 2008, Table 1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.skills.schema import Skill, Strict, Text

Strength = Annotated[float, Field(ge=0.0, le=1e4)]


class StylizedParameters(Strict):
    """Weights and gains of style, balance and servo.

    Attributes:
        reference: what to follow: `start` holds the start pose; else the name of a skill that walks, or a reference's
            file.
        harmonics: of the averaged steps of a skill that is followed; by default at most 8, which blur its footstrikes.
        style: k_s of eq. 8 [1/s²]; the damping is critical.
        style_weight: w_s of eq. 9a.
        balance_weight: w_b of eq. 9a, in single support.
        root_weight: factor of the style weight for the root's coordinates; the paper's is 1.
        anchoring: 1 places the reference at every tick where the feet are, 0 only once.
        stepping: how much of the balance's error the swing foot makes up for; the paper's is 0.
        leading: from 0 to 1, how much a swing foot follows its path in the world rather than its leg's joints.
        pacing: how much sooner a step comes if the body is ahead of the reference; the paper's is 0.
        early: a swing foot that touches the ground up to so much before the reference's strikes [s]: the reference goes
            on from its own strike. By default it scuffs, and nothing is held until the reference's foot has landed.
        lift: by how much a swing foot is raised on its way [m].
        softness: damping of the inverse kinematics for `leading`: large for legs that swing wildly.
        rate: solutions of the quadratic program a second [1/s].
        settle: rate at which a foot that bears and moves is brought to rest [1/s].
        roll_pitch: pitch of a bearing sole from which on it may roll over its edge [rad]; a sole that is tilted by less
            is held still. By default 7° of the reference's feet and 8° of the body's.
        calm: cost of the horizontal forces by which standing feet push against each other [N⁻²], against w_s.
        handover: cost of loads that are not handed over evenly from one foot to the other while both bear [N⁻²].
        strength: servo stiffness by kind of joint, `all` for those not named, per unit of the inertia that the joint
            moves [1/s²] (Table 2); the damping is critical.
    """

    reference: str = "start"
    harmonics: int | None = Field(None, ge=1, le=60)
    style: float = Field(ge=0.0, le=1e4)
    style_weight: float = Field(0.5, gt=0.0, le=100.0)
    balance_weight: float = Field(0.1, ge=0.0, le=100.0)
    root_weight: float = Field(1.0, gt=0.0, le=1000.0)
    anchoring: float = Field(1.0, ge=0.0, le=1.0)
    stepping: float = Field(0.0, ge=0.0, le=2.0)
    leading: float = Field(1.0, ge=0.0, le=1.0)
    pacing: float = Field(0.0, ge=0.0, le=2.0)
    early: float = Field(0.0, ge=0.0, le=0.2)
    lift: float = Field(0.015, ge=0.0, le=0.1)
    softness: float = Field(1e-3, ge=1e-6, le=1.0)
    rate: float = Field(200.0, ge=10.0, le=2000.0)
    settle: float = Field(20.0, ge=0.0, le=200.0)
    roll_pitch: float | None = Field(None, gt=0.0, le=0.5)
    calm: float = Field(0.0, ge=0.0, le=1.0)
    handover: float = Field(0.0, ge=0.0, le=1.0)
    strength: dict[str, Strength] = Field(default_factory=dict)


class StylizedSkill(Skill):
    """A skill that follows a reference motion and keeps its balance."""

    controller: Literal["stylized"]
    credit: Text = ""  # that the license of a clip asks for
    clip: Text = ""  # name of the file it was made from, without its suffix
    parameters: StylizedParameters
