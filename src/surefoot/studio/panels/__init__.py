"""What stands beside the stage: one panel a file, each on a tab of its own."""

from __future__ import annotations

from surefoot.studio.panels.body import Body
from surefoot.studio.panels.panel import Panel
from surefoot.studio.panels.play import Play
from surefoot.studio.panels.plots import Plots
from surefoot.studio.panels.poses import Poses
from surefoot.studio.panels.push import PushPanel
from surefoot.studio.panels.record import Record
from surefoot.studio.panels.styles import Styles
from surefoot.studio.panels.walk import Walk


def panels() -> tuple[list[Panel], list[Panel]]:
    """Those that are always in sight, and those on tabs, in their order."""
    return [Play()], [Walk(), PushPanel(), Poses(), Styles(), Body(), Plots(), Record()]
