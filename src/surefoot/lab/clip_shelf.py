"""Where motion-capture clips are: none comes with Surefoot."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.lab.experiment import Setting

CLIPS = "SUREFOOT_CLIPS"  # the variable that names the folder of clips
MISSING = f"not run: neither --clips nor {CLIPS} names a folder of clips"


def clips_folder(setting: Setting) -> Path | None:
    """The folder of clips, if one is named and there."""
    named = setting.clips or Path(os.environ.get(CLIPS) or "")
    return named if (setting.clips or os.environ.get(CLIPS)) and named.is_dir() else None


def find_clip(setting: Setting, stem: str) -> Path | None:
    """The clip of a file name without its suffix."""
    folder = clips_folder(setting)
    return next(iter(sorted(folder.rglob(f"{stem}.bvh"))), None) if folder else None
