"""Schema of a SIMBICON skill: a pose graph, as a person would write it down."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from surefoot.reflexes.pose_graph import CAPACITY

MAX_STATES = CAPACITY  # of the expanded graph: a row of memory has room for so many

Angle = Annotated[float, Field(ge=-6.3, le=6.3)]
Feedback = Annotated[float, Field(ge=-20.0, le=20.0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class PoseState(_Strict):
    """One row of Table 1. It ends after `duration` seconds or on what `until` says.

    `cd_lateral` and `cv_lateral` are the coronal gains of the swing hip (the rows "lat"). Roll and yaw of the
    middle (`torso_roll`, `torso_yaw`, the targets of waist and neck) are given for a left leg that swings.
    """

    leg: Literal["same", "other"] = "same"  # which leg swings: that of the graph's beginning, or the other
    both: bool = False  # both legs bear and swing together: hops, and standing on two feet
    duration: float | None = Field(None, ge=0.0, le=30.0)
    until: Literal["contact", "landing", "request"] | None = None
    cd: Feedback = 0.0
    cv: Feedback = 0.0
    cd_lateral: Feedback = 0.0
    cv_lateral: Feedback = 0.0
    torso: Angle = 0.0
    torso_roll: Angle = 0.0
    torso_yaw: Angle = 0.0
    targets: dict[str, Angle]
    feedback: dict[str, tuple[Feedback, Feedback]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ends_once(self) -> PoseState:
        if (self.duration is None) == (self.until is None):
            raise ValueError("a state ends either after `duration` seconds or on `until`: give one of them")
        return self


class GainModel(_Strict):
    """Servo gains [N·m/rad], [N·m·s/rad]; torque limit [N·m]."""

    kp: float | None = Field(None, ge=0.0, le=20_000.0)
    kd: float | None = Field(None, ge=0.0, le=2_000.0)
    limit: float | None = Field(None, gt=0.0, le=20_000.0)


class Learning(_Strict):
    """Feedback-error learning of the torso torque, in 3D of the upper body's joints too (§6)."""

    bins: int = Field(ge=2, le=2000)
    rate: float = Field(0.1, ge=0.0, le=1.0)
    limit: float = Field(0.2, ge=0.0, le=3.0)


class Reaction(_Strict):
    """Soft servos of the torso and the upper body, once they have learned, and stiff ones after a surprise (§6).

    `softness` multiplies their gains; a torso error above `alarm` [rad] restores them after `delay` for `time`.
    """

    softness: float = Field(ge=0.0, le=1.0)
    alarm: float = Field(0.0, ge=0.0, le=3.0)
    delay: float = Field(0.15, ge=0.0, le=2.0)
    time: float = Field(2.0, ge=0.0, le=60.0)


class Sensing(_Strict):
    """How d and v are measured: of which point, how late [s], with how much noise (standard deviations [m], [m/s])."""

    point: Literal["hips", "com"] = "hips"
    delay: float = Field(0.0, ge=0.0, le=0.25)
    noise_distance: float = Field(0.0, ge=0.0, le=1.0)
    noise_velocity: float = Field(0.0, ge=0.0, le=5.0)


class Arms(_Strict):
    """What the arms do beside their targets: swing against the legs, or circle, by an angle [rad]."""

    swing: float = Field(0.0, ge=0.0, le=1.5)
    circle: float = Field(0.0, ge=0.0, le=1.2)


class Entry(_Strict):
    """Where a request to switch to this skill waits for: a phase of the present step, then a state."""

    phase: float = Field(ge=0.0, lt=1.0)
    state: int = Field(0, ge=0, le=15)


class Exit(_Strict):
    """Where a request to leave this skill waits for: a phase of its own step, then a state of the other skill."""

    phase: float = Field(ge=0.0, lt=1.0)
    state: int = Field(0, ge=0, le=15)


class SimbiconParameters(_Strict):
    """A pose graph. `mirrored` adds the same states with the legs exchanged, and the cycle closes.

    A graph with `then` ends instead, with either leg, and goes on as the skill of that name.
    """

    states: list[PoseState] = Field(min_length=1, max_length=MAX_STATES)
    mirrored: bool = True
    then: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    gains: dict[str, GainModel] = Field(default_factory=dict)
    torso_gain: GainModel = GainModel(kp=None, kd=None, limit=None)
    hip_targets: tuple[Angle, Angle] | None = None
    learning: Learning | None = None
    reaction: Reaction | None = None
    sensing: Sensing = Sensing(point="hips", delay=0.0, noise_distance=0.0, noise_velocity=0.0)
    arms: Arms = Arms(swing=0.0, circle=0.0)
    turn_rate: float = Field(0.6, gt=0.0, le=10.0)  # [rad/s] at which a commanded heading is approached
    entry: Entry | None = None
    exit: Exit | None = None

    @property
    def halves(self) -> int:
        """How often the states are written: beginning with either leg, or once if both swing in them."""
        return 1 if not self.mirrored and any(s.leg == "other" for s in self.states) else 2

    @model_validator(mode="after")
    def _fits(self) -> SimbiconParameters:
        if len(self.states) * self.halves > MAX_STATES:
            raise ValueError(f"a pose graph has at most {MAX_STATES} states, mirrored ones counted")
        if self.mirrored and self.then:
            raise ValueError("`then` says what follows a graph that ends; a mirrored graph is a cycle")
        if self.mirrored and self.states[-1].leg == "other":
            raise ValueError("the last state of a mirrored graph swings the same leg: the mirrored half is the other's")
        if not any((s.duration or 0.0) > 0.0 or s.until == "request" for s in self.states):
            raise ValueError("at least one state must take time: give it a duration > 0, or until: request")
        return self
