"""Draws the bodies of a simulation on the page: three batches of solids, two messages each a frame."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import viser

from surefoot.motions import solids
from surefoot.studio import shapes

_SOLIDS = {
    shapes.BALL: lambda: solids.ball(np.ones(3)),
    shapes.TUBE: lambda: solids.cylinder(1.0, 1.0),
    shapes.BOX: lambda: solids.box(np.ones(3)),
}
Grab = Callable[["viser.SceneNodeDragEvent[viser.BatchedMeshHandle]", int], None]


class Figure:
    """The moving bodies of one model."""

    def __init__(self, scene: viser.SceneApi, name: str, model: mujoco.MjModel, bodies: set[int]) -> None:
        """Add them to a page.

        Args:
            scene: of the page.
            name: of the node.
            model: whose bodies.
            bodies: which of them.
        """
        self.model, self._bodies = model, bodies
        self._parts: list[tuple[shapes.Instances, viser.BatchedMeshHandle]] = []
        for kind, found in shapes.instances(model, bodies).items():
            solid = _SOLIDS[kind]()
            node = scene.add_batched_meshes_simple(
                f"{name}/{kind}", solid.vertices, solid.triangles, np.tile([1.0, 0.0, 0.0, 0.0], (len(found.geom), 1)),
                np.zeros((len(found.geom), 3)), batched_scales=found.scale, batched_colors=found.color, lod="off",
            )  # fmt: skip
            self._parts.append((found, node))

    def adopt(self, model: mujoco.MjModel) -> bool:
        """Draw another model with what is on the page already.

        Returns:
            False, and nothing is changed, where its shapes differ in more than their sizes.
        """
        old, new = (shapes.instances(each, self._bodies) for each in (self.model, model))
        if [*old] != [*new] or not all(old[kind].same_but_for_size(new[kind]) for kind in old):
            return False
        self.model = model
        self._parts = [(found, node) for found, (_, node) in zip(new.values(), self._parts, strict=True)]
        for found, node in self._parts:
            node.batched_scales = found.scale.astype(np.float32)
        return True

    def place(self, data: mujoco.MjData, origin: np.ndarray) -> None:
        """Put every body where it is, seen from an origin (3,) [m]."""
        for found, node in self._parts:
            node.batched_positions = (found.positions(data) - origin).astype(np.float32)
            node.batched_wxyzs = found.turns(data).astype(np.float32)

    def on_grab(self, grabbed: Grab) -> None:
        """Have dragging reported, with the body that was dragged."""
        for found, node in self._parts:

            @node.on_drag("left")
            def _(event: viser.SceneNodeDragEvent[viser.BatchedMeshHandle], geoms: np.ndarray = found.geom) -> None:
                if event.instance_index is not None:
                    grabbed(event, int(self.model.geom_bodyid[geoms[event.instance_index]]))

    def remove(self) -> None:
        """Take it off the page."""
        for _, node in self._parts:
            node.remove()
