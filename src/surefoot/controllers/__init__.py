"""One file a paper; each has a compiled `law(world, row, is_new)`."""

from __future__ import annotations

import functools
import pkgutil


@functools.cache
def names() -> tuple[str, ...]:
    """All controllers, in the order of their numbers."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
