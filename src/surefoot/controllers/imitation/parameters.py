"""Schema of a skill made from a motion-capture clip: a gait cycle, and what makes a body follow it (SIMBICON §5)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from surefoot.controllers.imitation.trajectory import WIDTH
from surefoot.controllers.simbicon.parameters import Feedback, GainModel, Learning, Reaction, Sensing
from surefoot.skills.schema import Angle, Skill, Strict, Text

Phase = Annotated[float, Field(ge=0.0, lt=1.0)]
ROOT = ("surge", "sway", "height", "roll", "pitch", "yaw")  # [m] in a frame that moves on evenly, then [rad]


def _odd(series: np.ndarray) -> Any:
    if not isinstance(series, (list, tuple)):
        return series  # what it should be is told by the type
    if not 1 <= len(series) <= WIDTH or len(series) % 2 == 0:
        raise ValueError(f"a series is its mean, then cosine and sine of each harmonic: 1, 3, 5 … {WIDTH} numbers")
    return list(series)


Coefficient = Annotated[float, Field(ge=-20.0, le=20.0)]
Series = Annotated[list[Coefficient], BeforeValidator(_odd)]


Torque = Annotated[float, Field(ge=-2000.0, le=2000.0)]
Torques = Annotated[
    list[Torque],
    Field(min_length=2, max_length=101),
    BeforeValidator(lambda given: list(given) if isinstance(given, tuple) else given),  # a pair is read as a tuple
]


class Cycle(Strict):
    """One averaged cycle of a gait, as it was captured; at phase 0.25 the right hip is bent most.

    Angles of joints are in each parent's frame. The root is told in a frame that moves on evenly and turns along;
    its pitch is positive forward.
    """

    period: float = Field(gt=0.1, le=10.0)  # [s]
    travel: tuple[float, float] = (0.0, 0.0)  # [m] per cycle, forward and to the left
    turn: Angle = 0.0  # [rad] per cycle, to the left
    lands: tuple[Phase, Phase]  # phases at which the left and the right foot come down
    stays: tuple[Phase, Phase] = (0.0, 0.0)  # [cycles] that each foot stays after the other has come down
    root: dict[str, Series]
    joints: dict[str, Series]


class ImitationParameters(Strict):
    """A cycle, and how it is followed.

    `offsets` [rad] are added to the targets of roles, `feedback` (cd, cv) answers by how much d and v differ from the
    cycle's; `cd` … `cv_lateral` are those of the swing hip. A footstrike counts from the share `earliest` of a step
    on; a late step waits for it `overrun` cycles after the clip's own. `feedforward` [N·m] is added to the torques of
    roles: a table over a step, from its beginning to its end at even shares; `feedforward_share` scales all of it.
    """

    cycle: Cycle
    begins: Phase  # the phase of the start
    tempo: float = Field(1.0, ge=0.5, le=2.0)  # how much faster than in the clip
    earliest: float = Field(0.6, ge=0.1, le=1.0)
    overrun: float = Field(0.02, ge=0.0, le=0.5)  # [cycles]
    handoff: float = Field(0.0, ge=0.0, le=1.0)  # share of `stays` for which a leg goes on bearing
    catch_up: float = Field(3.0, ge=1.0, le=100.0)  # how much faster the phase goes after an early footstrike
    reach: float = Field(1.5, ge=0.0, le=20.0)  # [rad/s] knees move to bring a late foot down
    clearance: Angle = 0.0  # [rad] the swing thigh is lifted further in the middle of a step
    tuck: Angle = 0.0  # [rad] the swing knee is bent further there
    support: float = Field(2.0, ge=0.0, le=20.0)  # [rad/m] the stance knee straightens for hips that are too low
    cd: Feedback = 0.5
    cv: Feedback = 0.2
    cd_lateral: Feedback = 0.5
    cv_lateral: Feedback = 0.2
    feedback: dict[str, tuple[Feedback, Feedback]] = Field(default_factory=dict)
    offsets: dict[str, Angle] = Field(default_factory=dict)
    feedforward: dict[str, Torques] = Field(default_factory=dict)
    feedforward_share: float = Field(1.0, ge=0.0, le=2.0)
    torso: Angle = 0.0  # [rad] added to the torso's pitch, back positive
    torso_roll: Angle = 0.0  # [rad] added to its roll, left side up
    speed: float = Field(0.0, ge=-2.0, le=2.0)  # [m/s] added to the clip's own, for the feedback
    drift: float = Field(0.0, ge=-2.0, le=2.0)  # [m/s] the same to the left
    gains: dict[str, GainModel] = Field(default_factory=dict)
    torso_gain: GainModel = GainModel(kp=None, kd=None, limit=None)
    hip_targets: tuple[Angle, Angle] | None = None
    learning: Learning | None = None
    displaces: float = Field(1.0, ge=0.0, le=1.0)  # share by which what learns adapts its targets to what it does
    reaction: Reaction | None = None
    sensing: Sensing = Sensing(point="hips", delay=0.0, noise_distance=0.0, noise_velocity=0.0)
    turn_rate: float = Field(0.6, gt=0.0, le=10.0)  # [rad/s] at which a commanded heading is approached


class ImitationSkill(Skill):
    """A gait captured from a person."""

    controller: Literal["imitation"]
    credit: Text = ""  # what the licence of the clip asks for
    clip: Text = ""  # the name of the file it was made of, without its suffix
    in_place: bool = False  # whether the clip's travel was taken out
    parameters: ImitationParameters
