"""What the arms of a stepper bear of a thing in its hands (Kenwright §6.3)."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import kernel
from surefoot.reflexes.limb_servo import hand_point, hand_torque
from surefoot.reflexes.orientation import Vector
from surefoot.reflexes.pendulum import GRAVITY
from surefoot.reflexes.vectors import add

_CONTACT = 3  # place of the contact scale among a servo's numbers


@kernel
def load_torque(world: Any, limbs: Any, link: Any, stepper: Any) -> Vector:
    """Torque at a link by which the hands that hang on it bear the load, half of it each [N·m]."""
    torque = (0.0, 0.0, 0.0)
    if stepper.load_mass > 0.0:
        half = (0.0, 0.0, 0.5 * stepper.load_mass * GRAVITY)
        for hand in range(2):
            if (link.left_hand if hand == 0 else link.right_hand) != 0.0:
                torque = add(torque, hand_torque(world, link, hand_point(world, limbs.arms[hand]), half))
    return torque


@kernel
def arm_stiffness(servos: Any, link: Any, stepper: Any) -> float:
    """How many times stiffer an arm's joint is: by its contact scale while the hands hold something (Table 2)."""
    return servos[int(link.first), _CONTACT] if stepper.load_mass > 0.0 else 1.0  # type: ignore[no-any-return]
