"""Hands that can take hold of handles: springs and dampers that a task switches on and off (GENBICON §4.4)."""

from __future__ import annotations

import mujoco

from surefoot.characters.limbs import LEFT, RIGHT, Limbs

_TIME = 0.02  # [s] of the spring and damper, which is critically damped
_SIZE = 0.015  # [m] at which a hand's point is drawn


def add_grips(spec: mujoco.MjSpec, limbs: Limbs, crates: list[str]) -> None:
    """Add an open grip between each hand and the handle of its side of each crate.

    The hand's site is `hand_left` or `hand_right`, a handle's `crate_left` or `crate_right`, the grip's name
    `grip_left` or `grip_right`; those of a further crate `crate_1` end in `_1` too.
    """
    for side, name in ((LEFT, "left"), (RIGHT, "right")):
        point, last = limbs.hands[side], limbs.of("wrist", side) or limbs.of("elbow", side)
        if point is None or last is None or not crates:
            continue
        spec.body(last.body).add_site(name=f"hand_{name}", pos=point, size=[_SIZE, _SIZE, _SIZE], rgba=[0, 0, 0, 0])
        for crate in crates:
            spec.add_equality(
                name=f"grip_{name}{crate.removeprefix('crate')}", type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_SITE, name1=f"hand_{name}", name2=f"{crate}_{name}",
                active=False, solref=[_TIME, 1.0],
            )  # fmt: skip
