"""What the site does with links that lead out of `docs/`: they become the path in the repository."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Name the file that a link leads to where the site does not have it."""

    def named(match: re.Match[str]) -> str:
        text, path = match[1], match[2]
        return text if text.strip("`") == path else f"{text} (`{path}`)"

    return _OUTSIDE.sub(named, markdown)
