"""The two-legged robot like a bird of Laszlo, van de Panne, Fiume 1996, figure 8: 15 degrees of freedom, 53.5 kg."""

from __future__ import annotations

from surefoot.characters.table import (
    Anatomy,
    CharacterTable,
    Gain,
    Segment,
    Shape,
    Vector,
    hinges,
    sole_edges,
    without_side,
)

# Masses and inertias: the paper's Table 1, whose axes are x forward, y up, z lateral; ours are x forward, y left, z up,
# and legs hang down. The lengths are those of boxes and rods with these inertias; no paper prints them.
UPPER_LEG, MID_LEG, LOWER_LEG, ANKLE, FOOT_HEIGHT = 0.316, 0.415, 0.558, 0.36, 0.07  # [m]
HIP_HALF_WIDTH = 0.25  # [m] the lateral base is wide
HEEL, TOE, FOOT_HALF_WIDTH = -0.10, 0.17, 0.09  # [m] corners on which the sole bears, from its joint
_SOLE_RADIUS = 0.012  # [m]
_HEIGHT = 1.364  # [m] of the hips above the soles in the zig-zag of the figure, feet flat below the hips

_BODY, _HEAD, _LEFT, _RIGHT = (0.36, 0.44, 0.36), (0.80, 0.62, 0.30), (0.52, 0.62, 0.70), (0.86, 0.47, 0.27)
_CLAW = (0.25, 0.24, 0.22)

_SIDE_ROLES = ("hip", "hip_roll", "hip_yaw", "knee", "hock", "ankle", "toe")
_MIDDLE = ("neck",)
_KP = {  # [N·m/rad] and limit [N·m] by kind of joint; kd = 0.1 kp. The paper prints none.
    "hip": 500.0, "hip_roll": 800.0, "hip_yaw": 300.0, "knee": 500.0, "hock": 500.0, "ankle": 400.0, "toe": 200.0,
    "neck": 500.0,
}  # fmt: skip


def _leg(side: str, sign: float, color: Vector) -> tuple[Segment, ...]:
    def rod(name: str, parent: str, offset: Vector, joint: str, bend: tuple[float, float], mass: float,
            length: float, inertia: Vector) -> Segment:  # fmt: skip
        return Segment(
            f"{side}_{name}", parent, offset, hinges(f"{side}_{joint}", sign, bend), mass, (0.0, 0.0, -length / 2),
            inertia, (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -length), 0.03),), color,
        )  # fmt: skip

    sole = -FOOT_HEIGHT + _SOLE_RADIUS
    return (
        Segment(
            f"{side}_upper_leg", "body", (0.0, sign * HIP_HALF_WIDTH, 0.0),
            hinges(f"{side}_hip", sign, (-0.8, 2.4), (-0.7, 0.9), (-0.8, 0.8)), 1.2, (0.0, 0.0, -UPPER_LEG / 2),
            (0.01, 0.01, 0.001), (Shape((0.0, 0.0, 0.0), (0.0, 0.0, -UPPER_LEG), 0.04),), color,
        ),
        rod("mid_leg", f"{side}_upper_leg", (0.0, 0.0, -UPPER_LEG), "knee", (-2.7, 0.0), 1.6, MID_LEG,
            (0.023, 0.023, 0.0013)),
        rod("lower_leg", f"{side}_mid_leg", (0.0, 0.0, -MID_LEG), "hock", (0.0, 2.5), 2.2, LOWER_LEG,
            (0.057, 0.057, 0.0018)),
        rod("ankle", f"{side}_lower_leg", (0.0, 0.0, -LOWER_LEG), "ankle", (-2.4, 0.0), 1.4, ANKLE,
            (0.015, 0.015, 0.0012)),
        Segment(
            f"{side}_foot", f"{side}_ankle", (0.0, 0.0, -ANKLE), hinges(f"{side}_toe", sign, (-1.0, 1.8)),
            2.52, (0.035, 0.0, -0.04), (0.0098, 0.016, 0.024),
            (
                *sole_edges(HEEL, TOE, sign * FOOT_HALF_WIDTH, sole, _SOLE_RADIUS),
                Shape((HEEL + 0.03, 0.0, sole + 0.03), (TOE - 0.04, 0.0, sole + 0.015), 0.03, solid=False),
            ), _CLAW,
        ),
    )  # fmt: skip


def _middle() -> tuple[Segment, ...]:
    return (
        Segment(
            "body", "world", (0.0, 0.0, 0.0), (), 14.72, (0.0, 0.0, 0.10), (0.47, 0.40, 0.26),
            (
                Shape((0.0, -0.06, -0.02), (0.0, 0.06, -0.02), 0.125),
                Shape((0.0, -0.06, 0.20), (0.0, 0.06, 0.20), 0.125),
                Shape((0.0, -HIP_HALF_WIDTH, 0.0), (0.0, HIP_HALF_WIDTH, 0.0), 0.045),
            ), _BODY,
        ),
        Segment(
            "head", "body", (0.08, 0.0, 0.35), hinges("neck", 1.0, (-0.8, 0.8)), 20.9, (0.02, 0.0, 0.24),
            (1.11, 0.72, 0.92),
            (
                Shape((0.0, -0.14, 0.12), (0.0, 0.14, 0.12), 0.13),
                Shape((0.02, -0.16, 0.32), (0.02, 0.16, 0.32), 0.14),
                Shape((0.14, 0.0, 0.20), (0.30, 0.0, 0.16), 0.05),
            ), _HEAD,
        ),
    )  # fmt: skip


def table() -> CharacterTable:
    """The bird as data: `body` is its pelvis, the `head` its torso."""
    leg = ("upper_leg", "lower_leg", "foot")
    anatomy = Anatomy.symmetric("body", "head", _SIDE_ROLES, _MIDDLE, 3, upper=_MIDDLE, leg=leg)
    return CharacterTable(
        name="bird",
        summary="two-legged robot like a bird, 53.5 kg, legs of five parts, 15 actuated joints",
        root="free",
        segments=(*_middle(), *_leg("left", 1.0, _LEFT), *_leg("right", -1.0, _RIGHT)),
        anatomy=anatomy,
        gains={joint: Gain.from_stiffness(_KP[without_side(joint)]) for joint in anatomy.joints(0)},
        torso_gain=Gain.from_stiffness(_KP["neck"]),
        hip_targets=(-0.8, 2.4),
        friction=0.8,
        timestep=0.001,
        source="Laszlo, van de Panne, Fiume 1996, §4.2, figure 8 and Table 1",
        sole_depth=FOOT_HEIGHT,
        armature=0.01,
        height=_HEIGHT,
        legs_of_two=False,
    )
