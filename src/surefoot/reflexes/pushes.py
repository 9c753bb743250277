"""Timed pushes that begin and end on exact physics steps."""

from __future__ import annotations

from typing import Any

from surefoot.native.pointers import kernel


@kernel
def apply_pushes(world: Any, row: Any) -> None:
    """Write the wrench of every push that acts during this step; clear those that ended.

    Bodies no push acts on are left alone, so that a viewer's own perturbation survives.
    """
    if world.time > row.header[0].pushed_until:  # the usual case: nothing is pending, nothing to clear
        return
    pushes = row.pushes
    for i in range(len(pushes)):
        push = pushes[i]
        due = push.start - 0.5 * world.dt <= world.time < push.stop - 0.5 * world.dt
        if due or push.acting != 0.0:
            for k in range(6):
                world.xfrc[int(push.body), k] = 0.0
    for i in range(len(pushes)):
        push = pushes[i]
        push.acting = 0.0
        if push.start - 0.5 * world.dt <= world.time < push.stop - 0.5 * world.dt:
            push.acting = 1.0
            _add_wrench(world, push)


@kernel
def _add_wrench(world: Any, push: Any) -> None:
    """Add force, and its moment about the body's COM if it acts at another point of the body."""
    body = int(push.body)
    wrench = world.xfrc[body]
    wrench[0] += push.fx
    wrench[1] += push.fy
    wrench[2] += push.fz
    if push.at_point != 0.0:
        axes, origin, center = world.xmat[body], world.xpos[body], world.xipos[body]
        rx = origin[0] + axes[0] * push.px + axes[1] * push.py + axes[2] * push.pz - center[0]
        ry = origin[1] + axes[3] * push.px + axes[4] * push.py + axes[5] * push.pz - center[1]
        rz = origin[2] + axes[6] * push.px + axes[7] * push.py + axes[8] * push.pz - center[2]
        wrench[3] += ry * push.fz - rz * push.fy
        wrench[4] += rz * push.fx - rx * push.fz
        wrench[5] += rx * push.fy - ry * push.fx
