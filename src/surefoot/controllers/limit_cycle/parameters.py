"""Schema of a limit-cycle skill: an open-loop pose graph, and how it is regulated."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from surefoot.controllers.simbicon.parameters import GainModel
from surefoot.reflexes.pose_graph import CAPACITY
from surefoot.skills.schema import Angle, Skill, Strict

Number = Annotated[float, Field(ge=-1e4, le=1e4)]


class OpenState(Strict):
    """A pose, held for `duration` seconds, or until the stance foot bears on the ground (S1 and S4 of figure 9)."""

    duration: float | None = Field(None, ge=0.0, le=10.0)
    until: Literal["stance"] | None = None
    targets: dict[str, Angle]

    @model_validator(mode="after")
    def _ends_once(self) -> OpenState:
        if (self.duration is None) == (self.until is None):
            raise ValueError("a state ends either after `duration` seconds or on `until: stance`: give one of them")
        return self


class Regulation(Strict):
    """What is measured at the end of a step, its target values, and what is perturbed (§3.2, §3.3).

    `control` is the source of perturbations: none, trial steps, or the learned `model`. `up-vector` is the pelvis' up
    axis, `torso-up-vector` the torso's (for a bird, the head's). `trial` is the perturbation of trial steps [rad],
    `most` the largest used, in pitch and roll [rad]. Derivatives below `least` count as zero.
    """

    control: Literal["open-loop", "trials", "predicted"] = "trials"
    variable: Literal["up-vector", "torso-up-vector", "swing-com"] = "up-vector"
    perturbed: Literal["stance-hip", "swing-hip"] = "stance-hip"
    jacobian: Literal["diagonal", "full"] = "diagonal"
    forward: float = Field(ge=-1.0, le=1.0)
    lateral: float = Field(0.0, ge=-1.0, le=1.0)  # towards the side of the swing leg
    trial: float = Field(0.1, ge=1e-4, le=0.5)
    most: tuple[float, float] = (0.5, 0.4)
    least: float = Field(0.02, ge=1e-6, le=10.0)
    side_gain: float = Field(0.0, ge=-1.0, le=1.0)  # [s/m] of the lateral target, against going sideways
    bias_rate: float = Field(0.1, ge=0.0, le=1.0)  # share of a prediction error that corrects a model
    recentre: float = Field(0.0, ge=0.0, le=1.0)  # rate at which trials follow the used perturbations


class Speed(Strict):
    """RV_d = bias + slope · v_d + gain · (v_d − v) + ∫ (§6.2), for commanded speeds within a range [m/s]."""

    bias: float = Field(ge=-1.0, le=1.0)
    slope: float = Field(0.0, ge=-2.0, le=2.0)
    gain: float = Field(0.1, ge=-2.0, le=2.0)
    integral: float = Field(0.0, ge=-1.0, le=1.0)
    rise: float = Field(0.05, gt=0.0, le=1.0)  # [m/s] a step, at most, by which v_d approaches what is commanded
    lean: float = Field(0.0, ge=0.0, le=2.0)  # [rad·s/m] by which the servoed torso is pitched forward for speeds above
    upright: float = Field(0.0, ge=-3.0, le=3.0)  # [m/s] this one, and back for those below
    usual: float | None = Field(None, ge=-3.0, le=3.0)  # [m/s] held while none is commanded; else no speed is
    range: tuple[float, float]

    @model_validator(mode="after")
    def _rises(self) -> Speed:
        if not -3.0 <= self.range[0] < self.range[1] <= 3.0:
            raise ValueError("a range of speeds goes from low to high, within ± 3 m/s")
        return self


class Twist(Strict):
    """Hip twists towards the heading: gain [rad/rad], most in a step [rad], rate of a commanded heading [rad/s]."""

    gain: float = Field(0.0, ge=0.0, le=2.0)
    most: float = Field(0.15, ge=0.0, le=0.5)
    turn_rate: float = Field(0.3, gt=0.0, le=5.0)


class Model(Strict):
    """A learned local model of a step (§5.2): outcomes and derivatives, linear in how the step begins.

    Rows of `weights`: forward, lateral, forward by pitch, by roll, lateral by pitch, by roll; the constant is last.
    """

    mean: list[Number]
    scale: list[Annotated[float, Field(gt=0.0, le=1e4)]]
    weights: list[list[Number]] = Field(min_length=6, max_length=6)


class LimitCycleParameters(Strict):
    """The states of one step; those of the other are the same with the legs exchanged."""

    states: list[OpenState] = Field(min_length=1, max_length=CAPACITY // 2)
    regulation: Regulation
    gains: dict[str, GainModel] = Field(default_factory=dict)
    torso_servo: bool = True
    torso: Angle = 0.0  # of the torso in the world, back positive, where it is servoed
    speed: Speed | None = None
    twist: Twist = Twist(gain=0.0, most=0.15, turn_rate=0.3)
    model: Model | None = None

    @model_validator(mode="after")
    def _fits(self) -> LimitCycleParameters:
        if not any((state.duration or 0.0) > 0.0 for state in self.states):
            raise ValueError("at least one state must take time: give it a duration > 0")
        if self.regulation.control == "predicted" and self.model is None:
            raise ValueError("predicted control needs a learned `model`; surefoot.lab.learned_step_model makes one")
        return self


class LimitCycleSkill(Skill):
    """An open-loop gait and how it is regulated."""

    controller: Literal["limit_cycle"]
    parameters: LimitCycleParameters
