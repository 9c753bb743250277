"""What stands beside the stage: one panel a file, each on a tab of its own."""

from __future__ import annotations

from surefoot.studio.panels.body_tab import Body
from surefoot.studio.panels.panel import Panel
from surefoot.studio.panels.playback import Play
from surefoot.studio.panels.plot_tab import Plots
from surefoot.studio.panels.pose_tab import Poses
from surefoot.studio.panels.push_tab import PushPanel
from surefoot.studio.panels.record_tab import Record
from surefoot.studio.panels.style_tab import Styles
from surefoot.studio.panels.walk_tab import Walk


def panels() -> tuple[list[Panel], list[Panel]]:
    """Those that are always in sight, and those on tabs, in their order."""
    return [Play()], [Walk(), PushPanel(), Poses(), Styles(), Body(), Plots(), Record()]
