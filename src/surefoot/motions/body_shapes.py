"""The shapes of a simulated body, joint by joint and colour by colour."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.motions import solids
from surefoot.motions.motion import Motion
from surefoot.motions.solids import Solid

Color = tuple[float, float, float, float]  # red, green, blue, opacity, 0 … 1


def of_body(motion: Motion, model: mujoco.MjModel, spacing: float = np.inf) -> list[dict[Color, Solid]]:
    """For every joint the shapes of its body in its frame, those of one colour as one; what is hidden is left out.

    Args:
        motion: whose joints they are.
        model: has bodies of the joints' names.
        spacing: between the rings of vertices along capsules at most [m], so that they can be bent.
    """
    found = []
    for name in motion.skeleton.names:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        by_color: dict[Color, list[Solid]] = {}
        for geom in np.flatnonzero(model.geom_bodyid == body) if body > 0 else ():
            solid, (r, g, b, a) = solids.of_geom(model, int(geom), spacing), model.geom_rgba[geom].tolist()
            if solid is not None and a > 0.0:
                by_color.setdefault((r, g, b, a), []).append(solid)
        found.append({color: solids.joined(parts) for color, parts in by_color.items()})
    return found
