"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from surefoot.errors import OutputError


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: readers see the old file or the new one."""
    try:
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
