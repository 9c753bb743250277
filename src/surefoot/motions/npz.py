"""Arrays in npz files: written to bytes, and read so that no damage to a file ends in anything but one clear line."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from surefoot.errors import OutputError

# What NumPy and the zip reader raise for damaged files; a RuntimeError is an encrypted member, a NotImplementedError
# an unknown compression, a MemoryError an absurd shape.
_DAMAGE = (
    OSError, ValueError, KeyError, TypeError, EOFError, SyntaxError, RuntimeError, NotImplementedError, MemoryError,
    OverflowError, IndexError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def npz_bytes(arrays: Mapping[str, np.ndarray], compressed: bool = False) -> bytes:
    """The content of an npz file of arrays."""
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **arrays)
    return file.getvalue()


def load_arrays(path: Path, what: str) -> dict[str, np.ndarray]:
    """All arrays of an npz file by name.

    Args:
        path: of the file.
        what: what it should be, for the error.

    Raises:
        OutputError: the file cannot be read.
    """
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise OutputError(f"cannot read {path} as {what}: it holds one array without a name")
        with archive:
            return {str(name): np.asarray(archive[name]) for name in archive.files}
    except _DAMAGE as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise OutputError(f"cannot read {path} as {what}: {' '.join(str(reason).split())[:200]}") from None
