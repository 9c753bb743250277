"""The humanoid of GENBICON: 37 degrees of freedom with toes and two back joints, 73.5 kg, 1.75 m."""

from __future__ import annotations

from surefoot.characters.measures import Colors, Measures, body_of
from surefoot.characters.table import CharacterTable

MEASURES = Measures(
    name="humanoid",
    summary="3D humanoid with toes and two back joints, 73.5 kg, 31 actuated joints",
    source="GENBICON §4.4; lengths and masses of a slim adult, none are printed",
    colors=Colors((0.24, 0.50, 0.47), ((0.36, 0.42, 0.52), (0.83, 0.52, 0.30)), (0.87, 0.68, 0.56), (0.20, 0.20, 0.23)),
    thigh=0.42, shin=0.42, ankle=0.08, hip_half_width=0.09,
    lower_back=0.12, upper_back=0.18, shoulder=0.22, shoulder_half_width=0.18, neck=0.28, head=0.088,
    upper_arm=0.29, lower_arm=0.40,
    heel=-0.067, ball=0.115, toe=0.175, foot_half_width=0.05,
    masses={
        "pelvis": 10.5, "belly": 10.0, "chest": 16.0, "head": 5.1,
        "thigh": 7.6, "shin": 3.5, "foot": 0.9, "toes": 0.2, "upper_arm": 2.0, "lower_arm": 1.75,
    },
)  # fmt: skip


def table() -> CharacterTable:
    """The humanoid as data."""
    return body_of(MEASURES)
