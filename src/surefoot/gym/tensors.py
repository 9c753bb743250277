"""torch's tensors as the arrays of an environment, on the device of Warp's arrays and in their memory."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from surefoot.engine.gpu.physics import WarpWorlds
from surefoot.errors import SurefootError
from surefoot.gym.arrays import Height
from surefoot.terrains import ground_shapes
from surefoot.terrains.terrain import Terrain

_GROUNDS = "flat, slopes, profiles (stairs, steps, gaps), height fields (rough, bumps, images), platforms"


def check_torch(device: str) -> None:
    """Refuse a device whose tensors cannot be had.

    Args:
        device: any but `cpu`.

    Raises:
        SurefootError: torch is missing.
    """
    if importlib.util.find_spec("torch") is None:
        raise SurefootError(f"an environment on device {device!r} takes and gives torch tensors: pip install torch")


class Tensors:
    """torch, for the arrays of some worlds on a device.

    Attributes:
        shared: torch itself.
        device: torch's.
    """

    def __init__(self, worlds: WarpWorlds) -> None:
        """Find the device.

        Args:
            worlds: whose arrays become tensors.
        """
        self.shared: Any = importlib.import_module("torch")
        self._warp: Any = importlib.import_module("warp")
        self._worlds = worlds
        self.device = self.shared.device(self._warp.device_to_torch(worlds.device))
        self._constants: dict[bytes, Any] = {}

    def view(self, array: Any) -> Any:
        """The tensor in the memory of one of Warp's arrays."""
        return self._warp.to_torch(array, requires_grad=False)

    def lend(self, tensor: Any) -> Any:
        """The array of Warp's in the memory of a tensor."""
        return self._warp.from_torch(tensor, requires_grad=False)

    def constant(self, values: np.ndarray) -> Any:
        """Fixed numbers as a tensor, brought to the device once."""
        key = repr((values.shape, values.dtype)).encode() + values.tobytes()
        if key not in self._constants:
            self._constants[key] = self.shared.as_tensor(np.array(values), device=self.device)
        return self._constants[key]

    def copy(self, array: Any) -> Any:
        """A copy."""
        return array.clone()

    def cross(self, one: Any, other: Any) -> Any:
        """Cross products of vectors (…, 3)."""
        return self.shared.linalg.cross(one, other)

    def angle(self, sine: Any, cosine: Any) -> Any:
        """(n,) angles [rad] of (n,) sines and cosines."""
        return self.shared.atan2(sine, cosine)

    def sine_and_cosine(self, angle: Any) -> Any:
        """(n, 2) of (n,) angles [rad]."""
        return self.shared.stack([angle.sin(), angle.cos()], 1)

    def remainder(self, angle: Any) -> Any:
        """(n,) angles within ± π of (n,) angles [rad]."""
        turn = 2.0 * math.pi
        return angle - turn * (angle / turn).round()

    def named(self, numbers: Any, names: Sequence[str]) -> Any:
        """(n,) integers, the places of the names: tensors hold no names."""
        return numbers.to(self.shared.int64)

    def ground(self, terrain: Terrain) -> Height:
        """The height of a terrain, for tensors.

        Raises:
            SurefootError: the ground is of a kind of another package.
        """
        ground, shared, double = terrain.ground, self.shared, self.shared.float64
        if isinstance(ground, ground_shapes.Platform):
            return lambda x, y: shared.zeros_like(x)
        if isinstance(ground, ground_shapes.Plane):
            return lambda x, y: ground_shapes.plane_height(ground, x, y)
        if isinstance(ground, ground_shapes.Profile):
            places, heights = map(self.constant, ground.vertices.T)

            def profile(x: Any, y: Any) -> Any:
                along = ground_shapes.distance_along(x.to(double), y.to(double), ground.direction)
                return ground_shapes.profile_height(shared, places, heights, along)

            return profile
        if isinstance(ground, ground_shapes.HeightField):
            heights, lowest = self.constant(ground.normalized), float(ground.above_lowest(np.zeros(()), np.zeros(())))

            def field(x: Any, y: Any) -> Any:
                return ground_shapes.field_height(shared, ground, heights, x.to(double), y.to(double)) - lowest

            return field
        raise SurefootError(
            f"the height of a {type(ground).__name__} cannot be computed with tensors; on a GPU there are: {_GROUNDS}"
        )

    @contextmanager
    def physics(self) -> Iterator[None]:
        """Order what Warp is told within after what torch was told before, and before what torch is told after."""
        if not self._worlds.device.is_cuda:
            yield
            return
        ours, theirs = self._worlds.device.stream, self._warp.stream_from_torch(self.device)
        ours.wait_stream(theirs)
        yield
        theirs.wait_stream(ours)
