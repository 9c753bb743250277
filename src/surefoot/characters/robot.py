"""The robot of GENBICON: knees high up and ahead of the line from hip to ankle, flat feet without toes."""

from __future__ import annotations

from surefoot.characters.measures import Colors, Measures, body_of
from surefoot.characters.table import CharacterTable

MEASURES = Measures(
    name="robot",
    summary="3D robot with high knees ahead of its legs and no toes, 60 kg, 29 actuated joints",
    source="GENBICON §4.4 has a robot whose knee is placed differently; its measures are chosen here, none are printed",
    colors=Colors((0.55, 0.57, 0.60), ((0.46, 0.48, 0.51), (0.93, 0.49, 0.13)), (0.93, 0.49, 0.13), (0.28, 0.29, 0.31)),
    thigh=0.28, shin=0.44, ankle=0.07, hip_half_width=0.10, knee_ahead=0.06,
    lower_back=0.10, upper_back=0.14, shoulder=0.20, shoulder_half_width=0.20, neck=0.25, head=0.08,
    upper_arm=0.25, lower_arm=0.32,
    heel=-0.08, ball=0.15, toe=0.15, foot_half_width=0.06, girth=1.1,
    masses={
        "pelvis": 9.5, "belly": 7.0, "chest": 14.0, "head": 3.5,
        "thigh": 5.0, "shin": 3.8, "foot": 1.2, "upper_arm": 1.7, "lower_arm": 1.3,
    },
)  # fmt: skip


def table() -> CharacterTable:
    """The robot as data."""
    return body_of(MEASURES)
