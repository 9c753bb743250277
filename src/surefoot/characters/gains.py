"""How strong the servos of a body are that walks by GENBICON: those of a reference person, scaled to the body."""

from __future__ import annotations

from surefoot.characters.table import Gain
from surefoot.errors import UnknownNameError

REFERENCE_MASS = 73.5  # [kg]
REFERENCE_HIP_HEIGHT = 0.92  # [m] above the soles, standing straight

_REFERENCE = {
    "root": Gain(1000.0, 200.0, 400.0),
    "hip": Gain(600.0, 50.0, 400.0),  # with less, the swing foot lags its target by a hand's breadth
    "knee": Gain(300.0, 35.0, 400.0),
    "ankle": Gain(200.0, 20.0, 200.0),
    "toe": Gain(2.0, 0.2, 20.0),
    "lower_back": Gain(75.0, 17.0, 300.0),
    "upper_back": Gain(75.0, 17.0, 300.0),
    "neck": Gain(10.0, 3.0, 50.0),
    "shoulder": Gain(15.0, 5.0, 100.0),
    "elbow": Gain(5.0, 1.0, 60.0),
    "wrist": Gain(5.0, 0.5, 20.0),
    "other": Gain(10.0, 1.0, 30.0),
}


def gain(kind: str, mass: float, hip_height: float) -> Gain:
    """The servo of a kind of link, or of the `root` that holds the pelvis in the world.

    Args:
        kind: one of `limbs.KINDS`, or `root`.
        mass: of the whole body [kg].
        hip_height: above the soles when the body stands straight [m].

    Stiffness, damping and limit grow with weight times leg length, as the torques that bear the body do.
    """
    if kind not in _REFERENCE:
        raise UnknownNameError("kind of servo", kind, _REFERENCE)
    reference = _REFERENCE[kind]
    k = (mass / REFERENCE_MASS) * (hip_height / REFERENCE_HIP_HEIGHT)
    return Gain(reference.kp * k, reference.kd * k, reference.limit * k)
