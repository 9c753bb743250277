"""A beast with short legs, long arms and a heavy trunk: most of its weight is far above its hips."""

from __future__ import annotations

from surefoot.characters.measures import Colors, Measures, body_of
from surefoot.characters.table import CharacterTable

MEASURES = Measures(
    name="ape",
    summary="3D beast with short legs, long arms and a heavy trunk, 110 kg, 31 actuated joints",
    source="GENBICON §4.4 has two beasts; the measures of this one are chosen here, none are printed",
    colors=Colors((0.33, 0.26, 0.22), ((0.38, 0.30, 0.25), (0.52, 0.36, 0.24)), (0.45, 0.36, 0.31), (0.24, 0.20, 0.18)),
    thigh=0.27, shin=0.25, ankle=0.07, hip_half_width=0.11,
    lower_back=0.12, upper_back=0.22, shoulder=0.30, shoulder_half_width=0.26, neck=0.34, head=0.105,
    upper_arm=0.36, lower_arm=0.46,
    heel=-0.09, ball=0.16, toe=0.24, foot_half_width=0.07, girth=1.3,
    masses={
        "pelvis": 15.0, "belly": 18.0, "chest": 30.0, "head": 8.0,
        "thigh": 7.5, "shin": 4.0, "foot": 1.6, "toes": 0.4, "upper_arm": 3.5, "lower_arm": 2.5,
    },
)  # fmt: skip


def table() -> CharacterTable:
    """The ape as data."""
    return body_of(MEASURES)
