"""Plots: two charts of the last seconds, each of what one chooses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import viser
from viser import uplot

from surefoot.studio import charts
from surefoot.studio.channels import Channels, Window
from surefoot.studio.charts import Chart
from surefoot.studio.panels.panel import Desk, put

_HEIGHT = 186  # [px]
_ROOM = 0.1  # of a portrait's horizontal range, in its own unit: it grows by so much at once
_NOTHING = np.zeros(2)


class Plots:
    """Two plots, which can be held while the simulation goes on."""

    title = "Plots"

    def build(self, desk: Desk) -> None:
        """Add a button and the two plots."""
        self._desk, self._channels, self._held = desk, Channels(), False
        self._plots = [_Plot(desk, charts.BODY), _Plot(desk, charts.FEET)]
        self._hold = desk.server.gui.add_button(
            "Hold the plots", icon=viser.Icon.PLAYER_PAUSE, color="gray",
            hint="The plots stand still while the simulation goes on.",
        )  # fmt: skip
        self._hold.on_click(lambda _: desk.post(self.hold))

    def hold(self) -> None:
        """Stand still, or go on."""
        self._held = not self._held
        put(self._hold, "Go on plotting" if self._held else "Hold the plots", "label")
        put(self._hold, viser.Icon.PLAYER_PLAY if self._held else viser.Icon.PLAYER_PAUSE, "icon")

    def renew(self) -> None:
        """Offer the joints of this body."""
        for plot in self._plots:
            plot.renew()

    def refresh(self) -> None:
        """Show the seconds up to the moment that is looked at."""
        session = self._desk.session
        if self._held:
            return
        window = self._channels.window(session.timeline, session.shown)
        for plot in self._plots:
            plot.show(window)


class _Plot:
    """One chart with its choices."""

    def __init__(self, desk: Desk, kind: str) -> None:
        gui = desk.server.gui
        self._desk = desk
        self._chart = charts.chart(kind, desk.session.sim.scene.table, "", "")
        self._shown: tuple[object, ...] = ()
        self._reach = (0.0, 0.0)  # of a portrait's horizontal axis
        self._kind = gui.add_dropdown("Show", charts.KINDS, initial_value=kind)
        self._joint = gui.add_dropdown("Joint", ("knee",), initial_value="knee", visible=False)
        self._side = gui.add_dropdown(
            "Side", tuple(charts.SIDES), initial_value=next(iter(charts.SIDES)), visible=False,
            hint="The swinging leg is the one that is not stood on; it changes with every step.",
        )  # fmt: skip
        series = _series(self._chart)
        self._handle = gui.add_uplot(
            tuple(_NOTHING for _ in series), series, scales=_scales(self._chart, self._reach), axes=_axes(self._chart),
            legend={"show": True, "live": False, "markers": {"width": 2.0}},
            cursor={"show": False}, height=_HEIGHT, padding=(8, 16, 0, 0),
        )  # fmt: skip
        for choice in (self._kind, self._joint, self._side):
            choice.on_update(lambda _: desk.post(self.renew))

    def renew(self) -> None:
        """Draw another chart if another is wanted or the body is another."""
        table = self._desk.session.sim.scene.table
        kinds = charts.joint_kinds(table)
        if self._joint.options != kinds:
            wanted = self._joint.value if self._joint.value in kinds else "knee" if "knee" in kinds else kinds[0]
            self._joint.options = kinds
            put(self._joint, wanted)
        of_joints = self._kind.value in charts.OF_JOINTS
        put(self._joint, of_joints, "visible")
        put(self._side, of_joints and charts.has_sides(table, self._joint.value), "visible")
        wanted_now = (self._kind.value, self._joint.value, self._side.value, tuple(table.gains))
        if wanted_now != self._shown:
            self._shown = wanted_now
            self._draw(charts.chart(self._kind.value, table, self._joint.value, self._side.value))

    def show(self, window: Window) -> None:
        """Show measurements, unless they are shown already."""
        if len(window) < 2:
            return
        data = self._chart.data(window)
        old = self._handle.data
        if len(old) == len(data) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(old, data, strict=True)):
            return
        if self._chart.is_portrait:
            self._make_room(float(data[0].min()), float(data[0].max()))
        self._handle.data = data

    def _draw(self, chart: Chart) -> None:
        self._chart, self._reach = chart, (0.0, 0.0)
        series = _series(chart)
        with self._desk.server.atomic():
            self._handle.series = series
            self._handle.axes = _axes(chart)
            self._handle.scales = _scales(chart, self._reach)
            self._handle.data = tuple(_NOTHING for _ in series)

    def _make_room(self, low: float, high: float) -> None:
        """Keep a portrait's horizontal range wider than its data, without which it is not drawn whole."""
        reach = self._reach
        if low > reach[0] and high < reach[1]:
            return
        self._reach = (
            min(reach[0], _ROOM * math.floor(low / _ROOM - 0.5)),
            max(reach[1], _ROOM * math.ceil(high / _ROOM + 0.5)),
        )
        self._handle.scales = _scales(self._chart, self._reach)


def _series(chart: Chart) -> tuple[uplot.Series, ...]:
    series: list[uplot.Series] = [{"label": chart.along}]
    for line in chart.lines:
        drawn: uplot.Series = {
            "label": line.label, "stroke": line.color, "width": 0.0 if line.dots else 1.25 if line.dashed else 2.0,
            "scale": "right" if line.right else "y", "points": {"show": False},
        }  # fmt: skip
        if line.dots:
            drawn["points"] = {"show": True, "size": line.dots, "space": 0.0, "width": 0.0, "fill": line.color}
            if line.newest:
                drawn["points"]["filter"] = (0,)
        if line.dashed:
            drawn["dash"] = (4.0, 4.0)
        series.append(drawn)
    return tuple(series)


def _scales(chart: Chart, reach: tuple[float, float]) -> dict[str, uplot.Scale]:
    scales: dict[str, uplot.Scale] = {"x": {"time": False}, "y": {}}
    if chart.is_portrait:
        scales["x"] = {"time": False, "auto": False, "range": reach}
    if chart.right:
        scales["right"] = {}
    return scales


def _axes(chart: Chart) -> tuple[uplot.Axis, ...]:
    common: dict[str, Any] = {
        "font": "11px sans-serif",
        "labelFont": "11px sans-serif",
        "labelSize": 16,
        "stroke": charts.MIDDLE,
    }
    axes: list[uplot.Axis] = [
        {**common, "scale": "x", "label": chart.along, "size": 26, "space": 50},  # type: ignore[typeddict-item]
        {**common, "scale": "y", "label": chart.up, "size": 40, "space": 28},  # type: ignore[typeddict-item]
    ]
    if chart.right:
        axes.append({**common, "scale": "right", "side": 1, "label": chart.right, "size": 40, "grid": {"show": False}})  # type: ignore[typeddict-item]
    return tuple(axes)
