"""Plots: two charts of the last seconds, each of chosen measurements, in colors and units of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import viser
from viser import uplot

from surefoot.characters.table import CharacterTable
from surefoot.studio.panels.gait_card import GaitCardPanel
from surefoot.studio.panels.panel import Panel, PanelContext, set_if_changed
from surefoot.studio.telemetry import Telemetry, TelemetryWindow

LEFT, RIGHT, MIDDLE, SWING, STANCE, FAINT = "#3f7fb5", "#d9743f", "#5b5f66", "#3a9a6b", "#8a5aa8", "#9aa0a6"
_COLORS = {"left": LEFT, "right": RIGHT, "swing": SWING, "stance": STANCE}
SIDES = {
    "left and right": ("left", "right"), "left": ("left",), "right": ("right",),
    "swinging and standing leg": ("swing", "stance"),
}  # fmt: skip
BODY, FEET, SWAY = "Height and speed", "Feet on the ground", "Sway of the torso"
ANGLE, TORQUE = "Angle of a joint", "Torque of a joint"
BALANCE, SIDEWAYS = "Balance: d and v", "Balance sideways: d and v"
KINDS = (BODY, FEET, SWAY, ANGLE, TORQUE, BALANCE, SIDEWAYS)
JOINT_CHARTS = (ANGLE, TORQUE)


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Attributes:
        values: (n,) of a window.
        right: whether the axis on the right measures it.
        dots: size of dots without a line between them [px]; 0 is a line.
        newest: whether only the last dot is drawn.
    """

    label: str
    color: str
    values: Callable[[TelemetryWindow], np.ndarray]
    dashed: bool = False
    right: bool = False
    dots: float = 0.0
    newest: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines over time, or a phase plot: over another measurement, which may run to and fro."""

    y_label: str
    lines: tuple[Line, ...]
    right_label: str = ""
    x_label: str = "time [s]"
    x_column: str = "time"

    @property
    def is_phase_plot(self) -> bool:
        """Whether the horizontal axis is not time."""
        return self.x_column != "time"

    def data(self, window: TelemetryWindow) -> tuple[np.ndarray, ...]:
        """The horizontal coordinate (n,) and every line (n,); in a phase plot the newest point comes first."""
        found = window[self.x_column], *(line.values(window) for line in self.lines)
        return tuple(line[::-1].copy() for line in found) if self.is_phase_plot else found


def joint_names(table: CharacterTable) -> tuple[str, ...]:
    """The joints of a body without their sides, in the order of its table."""
    return tuple(dict.fromkeys(_kind(joint) for joint in table.gains))


def has_sides(table: CharacterTable, kind: str) -> bool:
    """Whether there are a left and a right joint of this kind."""
    return f"left_{kind}" in table.gains and f"right_{kind}" in table.gains


def make_chart(kind: str, table: CharacterTable, joint: str, side: str) -> Chart:
    """A chart of a kind (`KINDS`) for a body; of joints, that of a joint (`joint_names`) on some `SIDES`."""
    if kind == BODY:
        height = Line("height of the COM", MIDDLE, lambda w: w["height"])
        return Chart("m", (height, Line("speed", SWING, lambda w: w["speed"], right=True)), "m/s")
    if kind == FEET:
        return Chart("N", tuple(Line(f"{s} foot", _COLORS[s], _column(f"{s}_force")) for s in ("left", "right")))
    if kind == SWAY:
        forward = Line("forward", SWING, lambda w: w["forward_lean"])
        return Chart("°", (forward, Line("to the left", LEFT, lambda w: w["left_lean"])))
    if kind in (BALANCE, SIDEWAYS):
        prefix, word = ("lateral_", " to the left") if kind == SIDEWAYS else ("", "")
        velocity = _column(f"{prefix}velocity")
        now = Line("now", RIGHT, velocity, dots=9.0, newest=True)
        lines = (Line("v over d", STANCE, velocity, dots=3.0), now)
        return Chart(f"v{word} [m/s]", lines, x_label=f"d{word} [m]", x_column=f"{prefix}distance")
    sides = SIDES[side] if has_sides(table, joint) else ("",)
    if kind == ANGLE:
        return Chart("°", tuple(line for one in sides for line in _angle(joint, one)))
    limit = _of_joint("limit", joint, sides[0])
    return Chart("N·m", (
        *(Line(_words(one, joint), _COLORS.get(one, MIDDLE), _of_joint("torque", joint, one)) for one in sides),
        Line("limit", FAINT, limit, dashed=True), Line("− limit", FAINT, lambda w: -limit(w), dashed=True),
    ))  # fmt: skip


def _angle(joint: str, side: str) -> list[Line]:
    color, name, angle = _COLORS.get(side, MIDDLE), _words(side, joint), _of_joint("angle", joint, side)
    target = _of_joint("target", joint, side)
    return [
        Line(name, color, angle),
        Line(f"{name} target".strip(), color, lambda w: _filled(target(w), angle(w)), dashed=True),
    ]


def _of_joint(what: str, joint: str, side: str) -> Callable[[TelemetryWindow], np.ndarray]:
    """A measurement of a joint; for the swing or stance leg it changes sides with every step."""
    if side not in ("swing", "stance"):
        return _column(f"{what}:{side}_{joint}" if side else f"{what}:{joint}")
    left_swings = 0.0 if side == "swing" else 1.0
    left, right = f"{what}:left_{joint}", f"{what}:right_{joint}"
    return lambda w: np.where(w["swing"] == left_swings, w[left], w[right])


def _column(name: str) -> Callable[[TelemetryWindow], np.ndarray]:
    return lambda w: w[name]


def _filled(target: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """A target that follows the angle while there is none."""
    return np.where(np.isfinite(target), target, angle)


def _words(side: str, joint: str) -> str:
    return side or joint.replace("_", " ")


def _kind(joint: str) -> str:
    return joint.removeprefix("left_").removeprefix("right_")


_HEIGHT = 186  # [px]
_ROOM = 0.1  # by which a phase plot's horizontal range grows, in its own unit
_NOTHING = np.zeros(2)


class PlotTab(Panel):
    """Two plots, which can be held while the simulation continues."""

    title = "Plots"

    def build(self, desk: PanelContext) -> None:
        """Add a button and the two plots."""
        self._desk, self._channels, self._held = desk, Telemetry(), False
        self._plots = [_Plot(desk, BODY), _Plot(desk, FEET)]
        self._hold = desk.server.gui.add_button(
            "Hold the plots", icon=viser.Icon.PLAYER_PAUSE, color="gray",
            hint="The plots stand still while the simulation continues.",
        )  # fmt: skip
        self._hold.on_click(lambda _: desk.post(self.toggle_hold))
        self.card = GaitCardPanel()
        self.card.build(desk)

    def toggle_hold(self) -> None:
        """Hold the plots, or let them continue."""
        self._held = not self._held
        set_if_changed(self._hold, "Continue plotting" if self._held else "Hold the plots", "label")
        set_if_changed(self._hold, viser.Icon.PLAYER_PLAY if self._held else viser.Icon.PLAYER_PAUSE, "icon")

    def reload(self) -> None:
        """Offer the joints of this body."""
        for plot in self._plots:
            plot.reload()
        self.card.reload()

    def refresh(self) -> None:
        """Show the seconds up to the moment that is shown."""
        session = self._desk.session
        self.card.refresh()
        if self._held:
            return
        window = self._channels.window(session.timeline, session.shown)
        for plot in self._plots:
            plot.show(window)


class _Plot:
    """One chart with its choices."""

    def __init__(self, desk: PanelContext, kind: str) -> None:
        gui = desk.server.gui
        self._desk = desk
        self._chart = make_chart(kind, desk.session.sim.scene.table, "", "")
        self._shown: tuple[object, ...] = ()
        self._reach = (0.0, 0.0)  # of a phase plot's horizontal axis
        self._kind = gui.add_dropdown("Show", KINDS, initial_value=kind)
        self._joint = gui.add_dropdown("Joint", ("knee",), initial_value="knee", visible=False)
        self._side = gui.add_dropdown(
            "Side", tuple(SIDES), initial_value=next(iter(SIDES)), visible=False,
            hint="The swinging leg is the one that is not stood on; it changes with every step.",
        )  # fmt: skip
        series = _series(self._chart)
        self._handle = gui.add_uplot(
            tuple(_NOTHING for _ in series), series, scales=_scales(self._chart, self._reach), axes=_axes(self._chart),
            legend={"show": True, "live": False, "markers": {"width": 2.0}},
            cursor={"show": False}, height=_HEIGHT, padding=(8, 16, 0, 0),
        )  # fmt: skip
        for choice in (self._kind, self._joint, self._side):
            choice.on_update(lambda _: desk.post(self.reload))

    def reload(self) -> None:
        """Draw another chart if one was chosen or the body is another."""
        table = self._desk.session.sim.scene.table
        kinds = joint_names(table)
        if self._joint.options != kinds:
            wanted = self._joint.value if self._joint.value in kinds else "knee" if "knee" in kinds else kinds[0]
            self._joint.options = kinds
            set_if_changed(self._joint, wanted)
        of_joints = self._kind.value in JOINT_CHARTS
        set_if_changed(self._joint, of_joints, "visible")
        set_if_changed(self._side, of_joints and has_sides(table, self._joint.value), "visible")
        wanted_now = (self._kind.value, self._joint.value, self._side.value, tuple(table.gains))
        if wanted_now != self._shown:
            self._shown = wanted_now
            self._draw(make_chart(self._kind.value, table, self._joint.value, self._side.value))

    def show(self, window: TelemetryWindow) -> None:
        """Show measurements, unless they are shown already."""
        if len(window) < 2:
            return
        data = self._chart.data(window)
        old = self._handle.data
        if len(old) == len(data) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(old, data, strict=True)):
            return
        if self._chart.is_phase_plot:
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
        """Keep a phase plot's horizontal range wider than its data; otherwise a part of it is not drawn."""
        reach = self._reach
        if low > reach[0] and high < reach[1]:
            return
        self._reach = (
            min(reach[0], _ROOM * math.floor(low / _ROOM - 0.5)),
            max(reach[1], _ROOM * math.ceil(high / _ROOM + 0.5)),
        )
        self._handle.scales = _scales(self._chart, self._reach)


def _series(chart: Chart) -> tuple[uplot.Series, ...]:
    series: list[uplot.Series] = [{"label": chart.x_label}]
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
    if chart.is_phase_plot:
        scales["x"] = {"time": False, "auto": False, "range": reach}
    if chart.right_label:
        scales["right"] = {}
    return scales


def _axes(chart: Chart) -> tuple[uplot.Axis, ...]:
    def axis(scale: str, label: str, **more: Any) -> uplot.Axis:
        font = "11px sans-serif"
        look = {"font": font, "labelFont": font, "labelSize": 16, "stroke": MIDDLE, "scale": scale, "label": label}
        return cast(uplot.Axis, look | more)

    axes = (axis("x", chart.x_label, size=26, space=50), axis("y", chart.y_label, size=40, space=28))
    right = (axis("right", chart.right_label, side=1, size=40, grid={"show": False}),)
    return axes + right if chart.right_label else axes
