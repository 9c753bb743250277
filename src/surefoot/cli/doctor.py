"""`surefoot doctor`: what is installed, what works here, and what is missing for what."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from surefoot import __version__
from surefoot.cli.options import Json
from surefoot.cli.terminal import print_table
from surefoot.errors import SurefootError

_NEEDED = ("mujoco", "numpy", "scipy", "numba", "pydantic", "ruamel.yaml", "cma", "daqp", "matplotlib", "imageio")
_EXTRAS = {  # packages of an extra, and what they are for
    "gym": (("gymnasium",), "environments for learning"),
    "studio": (("viser",), "the page in the browser"),
    "ray": (("ray",), "work shared by a cluster"),
    "cuda": (("warp-lang", "mujoco-warp", "numba-cuda"), "populations on a GPU"),
}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Finding(NamedTuple):
    """One line: what was looked at, what was found, and what to do where something is missing."""

    what: str
    found: str
    advice: str = ""
    is_fatal: bool = False


def doctor(as_json: Json = False) -> int:
    """Say what is installed, what works on this machine, and what is missing for what; status 1 if nothing can run."""
    findings = [*_versions(), *_extras(), _cache(), _first_step(), _gpu(), _display(), _browser()]
    if as_json:
        sys.stdout.write(json.dumps([one._asdict() for one in findings]) + "\n")
    else:
        print_table(("", "found", "what to do"), [(one.what, one.found, one.advice) for one in findings])
    return 1 if any(one.is_fatal for one in findings) else 0


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _versions() -> list[Finding]:
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    found = [Finding("surefoot", __version__), Finding("system", system)]
    for package in _NEEDED:
        version = _version(package)
        advice = "" if version else "install Surefoot anew: pip install surefoot"
        found.append(Finding(package, version or "missing", advice, not version))
    return found


def _extras() -> list[Finding]:
    found = []
    for extra, (packages, purpose) in _EXTRAS.items():
        missing = [package for package in packages if not _version(package)]
        advice = f"pip install 'surefoot[{extra}]'" if missing else ""
        found.append(Finding(f"{purpose} ({extra})", f"no {', '.join(missing)}" if missing else "installed", advice))
    return found


def _cache() -> Finding:
    """Where compiled controllers are kept."""
    what = "compiled controllers"
    import surefoot

    own = Path(surefoot.__file__).parent
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Finding(what, f"kept in {named}")
    if os.access(own, os.W_OK):
        return Finding(what, f"kept beside the sources in {own}")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if os.access(home if home.exists() else home.parent, os.W_OK):
        return Finding(what, f"kept in {home}")
    return Finding(what, "not kept: every process compiles anew", "name a folder in NUMBA_CACHE_DIR")


def _first_step() -> Finding:
    """Whether a person walks for a moment."""

    def walk() -> str:
        from surefoot.engine.simulation import Simulation

        sim = Simulation("planar", "walk")
        sim.run(0.1)
        return "a body walks" if not sim.fallen else "a body fell"

    return _tried("a first step", walk, is_fatal=True)


def _gpu() -> Finding:
    def look() -> str:
        from surefoot.engine.gpu.physics import check_available

        check_available("cuda")
        return "cuda"

    return _tried("a GPU", look)


def _display() -> Finding:
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or platform.system() in ("Darwin", "Windows")
    return Finding(
        "a display", "yes" if shown else "none", "" if shown else "--view needs one; everything else does not"
    )


def _browser() -> Finding:
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    return Finding("a browser", path or "none of a known name", "" if path else "open the studio's address in yours")


def _tried(what: str, attempt: Callable[[], str], is_fatal: bool = False) -> Finding:
    """What an attempt says, or why it failed."""
    try:
        return Finding(what, attempt())
    except (SurefootError, ImportError, OSError) as error:
        return Finding(what, "no", str(error).splitlines()[0], is_fatal)
