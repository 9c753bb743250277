"""What every skill file holds, whatever its controller. Loading one never executes anything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from surefoot.skills.genbicon import GenbiconParameters
from surefoot.skills.imitation import ImitationParameters
from surefoot.skills.limit_cycle import LimitCycleParameters
from surefoot.skills.simbicon import SimbiconParameters
from surefoot.skills.stepping import SteppingParameters
from surefoot.skills.stylized import StylizedParameters

SCHEMA_VERSION = 1

Text = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Body = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]  # a character's name
Angle = Annotated[float, Field(ge=-6.3, le=6.3)]
Rate = Annotated[float, Field(ge=-100.0, le=100.0)]
Speed = Annotated[float, Field(ge=-20.0, le=20.0)]


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
    """Limits of posture beyond which this skill counts as fallen."""

    height: float = Field(0.35, ge=0.0, le=1.0)
    tilt: float = Field(1.3962634, ge=0.0, le=3.2)
    tilt_time: float = Field(0.5, ge=0.0, le=10.0)


class Measured(Strict):
    """What it did when it was last measured (`surefoot reproduce`)."""

    speed: float | None = None
    cadence: float | None = None
    cost_of_transport: float | None = None


class Skill(Strict):
    """A controller's parameters with everything needed to use and to judge them."""

    version: int = Field(alias="schema", ge=SCHEMA_VERSION, le=SCHEMA_VERSION)
    name: Name
    character: Body
    controller: str
    summary: Text
    provenance: Provenance
    commands: list[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,62}$")]] = Field(default_factory=list)
    fall: Fall = Fall(height=0.35, tilt=1.3962634, tilt_time=0.5)
    start: Start
    measured: Measured = Measured()
    parameters: Any  # of its controller; each has a class of skills

    @property
    def full_name(self) -> str:
        """`character/name`."""
        return f"{self.character}/{self.name}"


class SimbiconSkill(Skill):
    """A pose graph."""

    controller: Literal["simbicon"]
    parameters: SimbiconParameters


class GenbiconSkill(Skill):
    """A style of walking, for any body with two legs."""

    controller: Literal["genbicon"]
    start: Start = Start()  # type: ignore[call-arg]
    parameters: GenbiconParameters


class LimitCycleSkill(Skill):
    """An open-loop gait and how it is regulated."""

    controller: Literal["limit_cycle"]
    parameters: LimitCycleParameters


class ImitationSkill(Skill):
    """A gait captured from a person."""

    controller: Literal["imitation"]
    credit: Text = ""  # what the licence of the clip asks for
    clip: Text = ""  # the name of the file it was made of, without its suffix
    in_place: bool = False  # whether the clip's travel was taken out
    parameters: ImitationParameters


class SteppingSkill(Skill):
    """Standing and walking by an inverted pendulum with feet."""

    controller: Literal["stepping"]
    start: Start = Start()  # type: ignore[call-arg]
    parameters: SteppingParameters


class StylizedSkill(Skill):
    """A reference motion, followed with balance."""

    controller: Literal["stylized"]
    credit: Text = ""  # what the licence of a clip asks for
    clip: Text = ""  # the name of the file it was made of, without its suffix
    parameters: StylizedParameters


class UnknownSkill(Skill):
    """What a document of an unknown controller is held against: that alone is reported."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    controller: Literal["simbicon", "genbicon", "imitation", "limit_cycle", "stepping", "stylized"]


_BY_CONTROLLER: dict[str, type[Skill]] = {
    "simbicon": SimbiconSkill, "genbicon": GenbiconSkill, "imitation": ImitationSkill, "limit_cycle": LimitCycleSkill,
    "stepping": SteppingSkill, "stylized": StylizedSkill,
}  # fmt: skip
BIPED = "biped"  # what a skill is for that any body with two legs can do


def class_of(document: Any) -> type[Skill]:
    """The class of skills that a document claims to be; for an unknown controller, the one whose errors say so."""
    name = document.get("controller") if isinstance(document, dict) else None
    return _BY_CONTROLLER.get(name, UnknownSkill) if isinstance(name, str) else SimbiconSkill
