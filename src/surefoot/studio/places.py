"""Names of files that the page may ask for: plain names, in one folder, never beyond it."""

from __future__ import annotations

import re
from pathlib import Path

from surefoot.errors import SurefootError

LONGEST = 80  # characters
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # devices, on Windows
_FORBIDDEN = '/\\:*?"<>|'


def inside(folder: Path, name: str, suffixes: tuple[str, ...]) -> Path:
    """The file of that name in a folder: the only way the studio makes a path from what somebody typed.

    Args:
        folder: an existing folder.
        name: as typed.
        suffixes: allowed endings, lower case, with their dot.

    Raises:
        SurefootError: for anything but a plain name, or one that leads out of the folder by a link.
    """
    endings = " or ".join(suffixes)
    if (
        not name.isprintable() or any(c in _FORBIDDEN for c in name) or name.startswith(".") or name != name.strip()
        or len(name.encode("utf-8", "replace")) > LONGEST or _RESERVED.match(name)
    ):  # fmt: skip
        raise SurefootError(f"{name[:LONGEST]!r} is not a plain file name; valid: letters, digits, - _, then {endings}")
    if not any(name.lower().endswith(suffix) and len(name) > len(suffix) for suffix in suffixes):
        raise SurefootError(f"{name!r} does not end as it should; valid: NAME{endings}")
    path = folder / name
    try:
        leads_out = path.resolve().parent != folder.resolve()
    except (OSError, RuntimeError):  # a link to itself
        leads_out = True
    if leads_out:
        raise SurefootError(f"{name!r} leads out of the folder {folder}; valid: files in it")
    return path


def existing(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Names of the files in a folder that can be loaded, in their order."""
    return sorted(path.name for path in folder.iterdir() if _is_loadable(folder, path, suffixes))


def _is_loadable(folder: Path, path: Path, suffixes: tuple[str, ...]) -> bool:
    try:
        return inside(folder, path.name, suffixes).is_file()
    except (SurefootError, OSError):
        return False
