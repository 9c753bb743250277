"""Copies of rows of memory on a device, of those worlds alone that a truth value names."""

import functools
import importlib
from typing import Any


def copy_rows(warp: Any, device: Any, which: Any, places: Any, source: Any, target: Any) -> None:
    """Overwrite some rows by rows of another array, without asking on the host which ones they are.

    Args:
        warp: the package.
        device: Warp's, of all arrays.
        which: (n,) truth values, 1 for rows of the target that are overwritten.
        places: (n,) number of the row of the source for each, int64.
        source: (m, width) float64.
        target: (n, width) float64.
    """
    warp.launch(_copy_kernel(), dim=target.shape, inputs=[which, places, source], outputs=[target], device=device)


@functools.cache
def _copy_kernel() -> Any:
    wp: Any = importlib.import_module("warp")

    def copy_begun_rows(
        which: wp.array(dtype=wp.bool),  # type: ignore[valid-type]
        places: wp.array(dtype=wp.int64),  # type: ignore[valid-type]
        source: wp.array2d(dtype=wp.float64),  # type: ignore[valid-type]
        target: wp.array2d(dtype=wp.float64),  # type: ignore[valid-type]
    ) -> None:
        row, column = wp.tid()
        if which[row]:  # type: ignore[index]
            target[row, column] = source[int(places[row]), column]  # type: ignore[index]

    return wp.kernel(copy_begun_rows)
