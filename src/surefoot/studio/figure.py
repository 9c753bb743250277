"""Draws the moving bodies of a simulation on the page: a batch a kind of solid, one or two messages each a frame."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import mujoco
import numpy as np
import viser

from surefoot.studio import shapes

Grab = Callable[["viser.SceneNodeDragEvent[viser.BatchedMeshHandle]", int], None]
_TINT, _TINTED = np.array([70.0, 96.0, 132.0]), 0.55  # a right side that looks like the left one is drawn towards it


class Figure:
    """The moving bodies of one model."""

    def __init__(
        self,
        scene: viser.SceneApi,
        name: str,
        model: mujoco.MjModel,
        bodies: Collection[int],
        sides: tuple[Collection[int], Collection[int]] = ((), ()),
    ) -> None:
        """Add them to a page.

        Args:
            scene: of the page.
            name: of the node.
            model: whose bodies.
            bodies: which of them.
            sides: bodies of the left and of the right limbs. If they have the same colours, the right ones are
                tinted, so that one can tell the legs apart.
        """
        self.model, self._bodies = model, bodies
        self._parts: list[tuple[shapes.Instances, viser.BatchedMeshHandle]] = []
        for kind, found in distinguished(model, shapes.instances(model, bodies), sides).items():
            vertices, triangles = shapes.solid(model, kind)
            node = scene.add_batched_meshes_simple(
                f"{name}/{kind}", vertices, triangles, np.tile([1.0, 0.0, 0.0, 0.0], (len(found.geom), 1)),
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
            if not found.is_round:
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


def distinguished(
    model: mujoco.MjModel,
    parts: dict[str, shapes.Instances],
    sides: tuple[Collection[int], Collection[int]],
) -> dict[str, shapes.Instances]:
    """The same shapes, those of the right side tinted if the left side has the same colours."""
    rows = [
        (int(model.geom_bodyid[geom]), tuple(color))
        for part in parts.values()
        for geom, color in zip(part.geom, part.color, strict=True)
    ]
    left, right = ({color for body, color in rows if body in side} for side in sides)
    if left != right:
        return parts
    found = {}
    for kind, part in parts.items():
        tinted = np.isin(model.geom_bodyid[part.geom], list(sides[1]))[:, None]
        color = np.where(tinted, (1.0 - _TINTED) * part.color + _TINTED * _TINT, part.color).astype(np.uint8)
        found[kind] = replace(part, color=color)
    return found
