"""Many who look at one studio at once; run as a program of its own: PORT COUNT SECONDS.

Prints how many were let in and how many messages each was sent, at least.
"""

from __future__ import annotations

import asyncio
import sys

import viser
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from surefoot.studio.benchmark import greeting


async def look(port: int, seconds: float) -> int | None:
    """How many messages came; None if not let in."""
    address, origin = f"ws://127.0.0.1:{port}", f"http://127.0.0.1:{port}"
    try:
        async with connect(
            address, origin=origin, subprotocols=[f"viser-v{viser.__version__}"], compression=None, max_size=None,
            open_timeout=1800.0, proxy=None,
        ) as wire:  # fmt: skip
            await wire.send(greeting())
            count = 0
            try:
                async with asyncio.timeout(seconds):
                    while True:
                        await wire.recv()
                        count += 1
            except TimeoutError:
                return count
    except InvalidStatus:
        return None


async def crowd(port: int, count: int, seconds: float) -> None:
    counts = await asyncio.gather(*(look(port, seconds) for _ in range(count)))
    let_in = [number for number in counts if number is not None]
    sys.stdout.write(f"{len(let_in)} {min(let_in)}\n")


if __name__ == "__main__":
    asyncio.run(crowd(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
