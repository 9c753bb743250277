"""Surefoot: simulated people who walk, run, stumble and recover by control alone."""

from __future__ import annotations

__version__ = "0.1.0"
