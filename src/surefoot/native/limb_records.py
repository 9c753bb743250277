"""The links of a body as numbers: what GENBICON's law reads beside the physics, from `mjModel.numeric_data`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot.native.kernels import kernel, records
from surefoot.native.sections import Layout, Section, layer


def _record(*names: str) -> np.dtype[Any]:
    return np.dtype([(name, "f8") for name in names])


BIPED = _record(
    "links", "pelvis", "mass", "leg_length", "height", "ahead", "behind", "half_width",
    "root_kp", "root_kd", "root_limit", "w", "x", "y", "z",
)  # fmt: skip
"""Counts; bodies; [kg]; length of a leg, height of the COM in the neutral posture [m]; reach of the sole ahead of and
behind the ankle, half its width [m]; gains of the pelvis; its neutral orientation."""

LINK = _record(
    "body", "near", "at_pelvis", "first", "count", "joint", "flip", "kind", "side", "leg", "left_hand", "right_hand",
    "w", "x", "y", "z", "bw", "bx", "by", "bz", "child", "distal_mass", "kp", "kd", "limit",
)  # fmt: skip
"""Bodies, its own and the one nearer to the pelvis; its actuators; first joint; −1 where MuJoCo's tree runs the other
way; number in `limbs.KINDS`; 0 left, 1 right, −1 middle; the leg it belongs to or −1; whether a hand hangs on it;
neutral orientations of both bodies; the body below the joint in MuJoCo's tree; mass beyond the joint [kg]; gains."""

CHAIN = _record(
    "upper", "lower", "end", "tip", "ax", "ay", "az", "bx", "by", "bz", "nx", "ny", "nz", "bend", "most", "reach",
    "depth", "ball", "body", "px", "py", "pz",
)  # fmt: skip
"""A leg or an arm: links of hip and knee and ankle and toes (shoulder, elbow, wrist), −1 for none; in the neutral
character frame the vectors hip → knee and knee → ankle [m] and the knee's axis; the sense in which it bends and how
far it can [rad]; its full length [m]; how far the sole is below the ankle, and its ball, or the
sole's front edge where there are no toes, ahead of it [m]; the body that carries the end point and
the point in its frame."""

_BIPED, _LINK, _CHAIN = BIPED.itemsize // 8, LINK.itemsize // 8, CHAIN.itemsize // 8


class Limbs(NamedTuple):
    """Views of one body's links."""

    biped: Any  # (1,) BIPED
    legs: Any  # (2,) CHAIN, left and right
    arms: Any  # (2,) CHAIN
    links: Any  # (links,) LINK


def size(links: int) -> int:
    """Numbers that a body of so many links takes."""
    return _BIPED + 4 * _CHAIN + links * _LINK


_lay = layer(
    Layout(
        Limbs,
        ("count",),
        {
            "biped": Section((1,), BIPED),
            "legs": Section((2,), CHAIN),
            "arms": Section((2,), CHAIN),
            "links": Section(("count",), LINK),
        },
    )
)


@kernel
def limbs_of(numeric: Any, at: int) -> Limbs:
    """The views that begin at an index of the numeric data."""
    return _lay(numeric, at, (int(records(numeric, at, 1, BIPED)[0].links),))  # type: ignore[no-any-return]
