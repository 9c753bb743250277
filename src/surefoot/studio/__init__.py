"""The studio: a page in the browser where one watches a character walk, pushes it, edits its skill and saves it.

Needs the optional dependency viser: `pip install 'surefoot[studio]'`.
"""

from __future__ import annotations

from surefoot.errors import SurefootError

try:
    import viser as _viser  # noqa: F401
except ImportError:
    raise SurefootError("the studio needs the extra: pip install 'surefoot[studio]'") from None
