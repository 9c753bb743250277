"""The panels beside the stage, one per file, each on a tab of its own."""

from __future__ import annotations

from surefoot.studio.panels.body_tab import BodyTab
from surefoot.studio.panels.panel import Panel
from surefoot.studio.panels.playback import PlaybackPanel
from surefoot.studio.panels.plot_tab import PlotTab
from surefoot.studio.panels.pose_tab import PoseTab
from surefoot.studio.panels.push_tab import PushTab
from surefoot.studio.panels.record_tab import RecordTab
from surefoot.studio.panels.style_tab import StyleTab
from surefoot.studio.panels.walk_tab import WalkTab


def panels() -> tuple[list[Panel], list[Panel]]:
    """The panels that are always visible, and those on tabs, in their order."""
    return [PlaybackPanel()], [WalkTab(), PushTab(), PoseTab(), StyleTab(), BodyTab(), PlotTab(), RecordTab()]
