"""What every skill file holds, whatever its controller. Loading one never executes anything.

`number_of` gives every skill a number, by which a row of memory says which skill runs in it.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from surefoot import plugins
from surefoot.native.userdata import SLOT

SCHEMA_VERSION = 1
Problem = tuple[tuple[str | int, ...], str]  # where in a skill file, and what is wrong there
Text = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Body = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]  # a character's name
Angle = Annotated[float, Field(ge=-6.3, le=6.3)]
Rate = Annotated[float, Field(ge=-100.0, le=100.0)]
Speed = Annotated[float, Field(ge=-20.0, le=20.0)]
Command = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,62}$")]


class Strict(BaseModel):
    """No unknown keys, no NaN, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Change(Strict):
    """A printed value that had to change to go on here."""

    parameter: Text
    printed: float
    here: float


class Provenance(Strict):
    """Where the numbers come from."""

    source: Text
    changed: list[Change] = Field(default_factory=list)
    why: Text = ""


class Start(Strict):
    """State to begin in: joints by role, angles in each parent's frame; feet are set on the ground.

    Of the root, seen along `heading`: `torso`, `roll` and `yaw` are pitch (back positive), roll (left side up) and
    yaw (to the left) of the root part; `speed`, `sideways` and `climb` go ahead, to the left and up.
    """

    state: int = Field(0, ge=0, le=15)
    swing: Literal["left", "right"] = "right"
    speed: Speed = 0.0
    sideways: Speed = 0.0
    climb: Speed = 0.0
    lift: float = Field(0.0, ge=-0.05, le=2.0)
    torso: Angle = 0.0
    torso_rate: Rate = 0.0
    heading: Angle = 0.0
    roll: Angle = 0.0
    roll_rate: Rate = 0.0
    yaw: Angle = 0.0
    yaw_rate: Rate = 0.0
    joints: dict[str, Angle] = Field(default_factory=dict)
    rates: dict[str, Rate] = Field(default_factory=dict)


class Fall(Strict):
    """Limits of posture beyond which this skill counts as fallen.

    Attributes:
        height: of the pelvis above the lower foot, as a share of that when standing.
        tilt: of the pelvis [rad].
        tilt_time: for which it may be tilted by more [s].
        touch: whether it has fallen when anything but feet touches the ground.
    """

    height: float = Field(0.35, ge=-1.0, le=1.0)
    tilt: float = Field(1.3962634, ge=0.0, le=3.2)
    tilt_time: float = Field(0.5, ge=0.0, le=10.0)
    touch: bool = True


class SlowPart(Strict):
    """Another skill of the same body, which has it at low speeds, backwards and at rest (`engine.commands`)."""

    skill: Name
    below: Speed  # [m/s] told a lower speed, the other one takes over
    above: Speed  # [m/s] told this speed or more, this one takes over again
    commands: list[Command] = Field(default_factory=list)  # that only the other one takes


class Measured(Strict):
    """What it did when it was last measured (`surefoot.lab.skill_metadata`).

    From `score` on they are of the gait report card (`surefoot gait`), of walks and runs in space only.
    """

    speed: float | None = None  # [m/s]
    cadence: float | None = None  # [steps/s]
    cost_of_transport: float | None = None
    score: float | None = None  # [deg] gait profile score
    walk_ratio: float | None = None  # [m/(steps/min)]
    double_support: float | None = None  # share of the time
    flight: float | None = None  # share of the time
    stance_knee: float | None = None  # [deg]
    strike_pitch: float | None = None  # [deg]
    toe_off_pitch: float | None = None  # [deg]
    lean: float | None = None  # [deg]
    first_peak: float | None = None  # [body weights]
    work: float | None = None  # positive joint work ÷ (weight · distance)
    tremble: float | None = None  # share of the power of joint speeds
    slip: float | None = None  # [m/step]


class Skill(Strict):
    """A controller's parameters with everything needed to use and to judge them."""

    version: int = Field(alias="schema", ge=SCHEMA_VERSION, le=SCHEMA_VERSION)
    name: Name
    character: Body
    controller: str
    summary: Text
    provenance: Provenance
    commands: list[Command] = Field(default_factory=list)
    slow: SlowPart | None = None
    fall: Fall = Fall(height=0.35, tilt=1.3962634, tilt_time=0.5)
    start: Start
    measured: Measured = Measured()
    parameters: Any  # of its controller; each has a class of skills

    @property
    def full_name(self) -> str:
        """`character/name`."""
        return f"{self.character}/{self.name}"


def class_of(document: Any) -> type[Skill]:
    """The model that a skill file claims to fit; for an unknown controller, one whose error says so.

    Args:
        document: the file's mapping.
    """
    name = document.get("controller") if isinstance(document, dict) else None
    if not isinstance(name, str):
        return Skill
    if name not in plugins.names(plugins.CONTROLLERS):
        return _UnknownSkill
    found: type[Skill] = plugins.load(plugins.CONTROLLERS, name).skill_class
    return found


class _UnknownSkill(Skill):
    """What a file of an unknown controller is held against: the controller alone is reported."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    @field_validator("controller")
    @classmethod
    def _is_known(cls, name: str) -> str:
        raise ValueError(f"unknown controller {name!r}; valid: {', '.join(plugins.names(plugins.CONTROLLERS))}")


NUMBER_AT = len(SLOT.names or ())  # in the slots of controllers that think between native runs
_BYTES = 6  # as many as a float64 holds exactly


def number_of(skill: Skill) -> float:
    """The same for skills that are the same in every value, and no other's."""
    text = skill.model_dump_json(by_alias=True).encode()
    return float(int.from_bytes(hashlib.sha256(text).digest()[:_BYTES], "big"))
