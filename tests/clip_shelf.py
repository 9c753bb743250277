"""The motion-capture clips that tests may use, if there are any."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from surefoot.motions import bvh
from surefoot.motions.motion import Motion

CMU, CENTIMETRES = 1.0 / 0.0564444, 100.0  # units of the files per metre
needs_clips = pytest.mark.skipif(
    not os.environ.get("SUREFOOT_CLIPS"), reason="needs motion-capture clips: set SUREFOOT_CLIPS to their folder"
)


def clip(name: str, fps: float = 60.0) -> Motion:
    """A clip of the shelf by its place there, without the T-pose that CMU files begin with."""
    captured = name.startswith("cmu")
    found = bvh.load(Path(os.environ["SUREFOOT_CLIPS"]) / name, scale=CMU if captured else CENTIMETRES)
    step = max(round(1.0 / (fps * float(np.median(np.diff(found.time))))), 1)
    kept = found.select(slice(1 if captured else 0, None, step))
    return replace(kept, time=kept.time - kept.time[0])
