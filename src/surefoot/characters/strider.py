"""A beast on stilts, somewhat of an ostrich: long thin legs with longer shins, broad feet, small trunk, short arms.

Its legs are light towards their ends: nothing above is heavy enough to bear the yaw of heavy shins that swing.
"""

from __future__ import annotations

from surefoot.characters.measures import Colors, Measures, body_of
from surefoot.characters.table import CharacterTable

MEASURES = Measures(
    name="strider",
    summary="3D beast with long thin legs, a small trunk and short arms, 45 kg, 31 actuated joints",
    source="GENBICON §4.4 has two beasts; the measures of this one are chosen here, none are printed",
    colors=Colors((0.22, 0.24, 0.30), ((0.74, 0.66, 0.52), (0.86, 0.55, 0.42)), (0.80, 0.70, 0.58), (0.50, 0.40, 0.30)),
    thigh=0.38, shin=0.62, ankle=0.08, hip_half_width=0.085,
    lower_back=0.10, upper_back=0.12, shoulder=0.15, shoulder_half_width=0.13, neck=0.22, head=0.07,
    upper_arm=0.15, lower_arm=0.20,
    heel=-0.08, ball=0.14, toe=0.24, foot_half_width=0.065, girth=0.8,
    masses={
        "pelvis": 9.8, "belly": 6.2, "chest": 10.5, "head": 2.5,
        "thigh": 4.2, "shin": 1.9, "foot": 0.65, "toes": 0.25, "upper_arm": 0.55, "lower_arm": 0.45,
    },
)  # fmt: skip


def table() -> CharacterTable:
    """The strider as data."""
    return body_of(MEASURES)
