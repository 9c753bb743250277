"""The page's server."""

from __future__ import annotations

import viser


def open_server(host: str = "127.0.0.1", port: int = 8080) -> viser.ViserServer:
    """Listen on an address."""
    return viser.ViserServer(host=host, port=port, label="Surefoot", verbose=False)
