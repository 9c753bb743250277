"""Bodies for the tests of imported bodies, written as MJCF in any axes, without names, among other objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Y_UP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # x left, y up, z forward
SKEW = np.linalg.qr(np.array([[0.3, -0.8, 0.5], [0.9, 0.2, -0.4], [0.1, 0.7, 0.8]]))[0]
SKEW = SKEW * np.sign(np.linalg.det(SKEW))

THIGH, SHIN, ANKLE, HALF_WIDTH = 0.41, 0.39, 0.07, 0.1  # [m]
FEET = 0.045  # [m] how far a foot's bars are from its middle


@dataclass(frozen=True)
class Body:
    """What a test body is like. `axes` takes x forward, y left, z up to the axes of the file."""

    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    ball_hips: bool = False
    split_hips: bool = False  # a body for every hinge, beside each other as in robots
    legs: tuple[float, ...] = (1.0, -1.0)
    knees: bool = True
    arms: bool = True
    spread_arms: bool = False
    mesh_feet: bool = False  # wedges
    chest_root: bool = False
    free: bool = True
    props: bool = True

    def mjcf(self) -> str:
        """The body as the text of a file."""
        legs = "".join(self._leg(side, i) for i, side in enumerate(self.legs))
        arms = "".join(self._arm(side) for side in (1.0, -1.0)) if self.arms else ""
        head = f'<geom type="sphere" size="0.09" pos="{self._v(0.01, 0, 0.55)}"/>'
        root = "<freejoint/>" if self.free else ""
        waist = self._hinges((0, 0, 0), {"xyz"[i]: (-0.6, 0.7) for i in range(3)})
        trunk = self._bar((0, 0, 0.1), (0, 0, 0.32), 0.11) + self._bar((0, -0.12, 0.35), (0, 0.12, 0.35), 0.07)
        pelvis = self._bar((0, -0.08, 0), (0, 0.08, 0), 0.09)
        if self.chest_root:
            down = self._hinges((0, 0, 0.15), {"xyz"[i]: (-0.6, 0.7) for i in range(3)})
            tree = (
                f'<body>{root}{trunk}{head}{arms}<body pos="{self._v(0, 0, -0.15)}">{down}{pelvis}{legs}</body></body>'
            )
        else:
            above = f'<body pos="{self._v(0, 0, 0.15)}">{waist}{trunk}{head}{arms}</body>'
            tree = f"<body>{root}{pelvis}{above}{legs}</body>"
        props = '<geom type="plane" size="3 3 .1"/><light pos="0 0 3"/>'
        props += '<body pos="2 0 0.3"><freejoint/><geom type="box" size=".2 .2 .2" density="9000"/></body>'
        corners = [(x, y, -ANKLE) for x in (-0.06, 0.18) for y in (-FEET, FEET)] + [(0, -0.02, 0), (0, 0.02, 0)]
        wedge = " ".join(self._v(*corner) for corner in corners)
        return (
            '<mujoco><compiler angle="radian" autolimits="true"/><default><geom density="950" friction="0.9"/>'
            f'<joint damping="3" stiffness="7"/></default><asset><mesh name="wedge" vertex="{wedge}"/></asset>'
            f"<worldbody>{props if self.props else ''}{tree}</worldbody></mujoco>"
        )

    def write(self, folder: Path, name: str = "Some_Body 7.xml") -> Path:
        """The file of the body."""
        path = folder / name
        path.write_text(self.mjcf())
        return path

    def _v(self, x: float, y: float, z: float) -> str:
        return " ".join(f"{c:.9g}" for c in self.axes @ np.array([x, y, z], float))

    def _bar(self, start: tuple[float, ...], end: tuple[float, ...], radius: float) -> str:
        return f'<geom type="capsule" size="{radius}" fromto="{self._v(*start)} {self._v(*end)}"/>'

    def _hinges(self, at: tuple[float, ...], ranges: dict[str, tuple[float, float]]) -> str:
        axes = dict(zip("xyz", np.eye(3), strict=True))
        return "".join(
            f'<joint pos="{self._v(*at)}" axis="{self._v(*axes[c])}" range="{low} {high}"/>'
            for c, (low, high) in ranges.items()
        )

    def _leg(self, side: float, number: int) -> str:
        turns = {"y": (-2.0, 0.5), "x": (-0.6, 0.6), "z": (-0.9, 0.8)}
        sole = -ANKLE + 0.02
        bars = "".join(self._bar((-0.05, y, sole), (0.17, y, sole), 0.02) for y in (-FEET, FEET))
        if self.mesh_feet:
            bars = '<geom type="mesh" mesh="wedge"/>'
        ankle = self._hinges((0, 0, 0), {"y": (-0.9, 0.9), "x": (-0.5, 0.5)})
        foot = f'<body pos="{self._v(0, 0, -SHIN)}">{ankle}{bars}</body>'
        bones = self._bar((0, 0, 0), (0, 0, -SHIN + 0.03), 0.045)
        knee = self._hinges((0, 0, 0), {"y": (-0.05, 2.5)}) if self.knees else ""
        shin = f'<body pos="{self._v(0, 0, -THIGH)}">{knee}{bones}{foot}</body>'
        thigh = self._bar((0, 0, 0), (0, 0, -THIGH + 0.05), 0.065)
        at = self._v(0, side * HALF_WIDTH, -0.05)
        if self.ball_hips:
            return f'<body pos="{at}"><joint type="ball" range="0 2"/>{thigh}{shin}</body>'
        if self.split_hips:
            lump = self._bar((0, 0, 0), (-0.02, 0, 0), 0.04)
            swing = self._hinges((0, 0, 0), {"y": turns["y"]})
            inner = f'<body pos="{self._v(0, 0.05 * side, 0)}">{swing}{thigh}{shin}</body>'
            middle = self._hinges((0, 0, 0), {"x": turns["x"]}) + lump + inner
            roll = f'<body pos="{self._v(0.03, 0, 0)}">{middle}</body>'
            return f'<body pos="{at}">{self._hinges((0, 0, 0), {"z": turns["z"]})}{lump}{roll}</body>'
        return f'<body name="limb {number}" pos="{at}">{self._hinges((0, 0, 0), turns)}{thigh}{shin}</body>'

    def _arm(self, side: float) -> str:
        shoulder = self._hinges((0, 0, 0), {"y": (-2.5, 2.0), "x": (-1.9, 1.9), "z": (-1.2, 1.2)})
        way = (0.0, side, 0.0) if self.spread_arms else (0.2, side * 0.3, -0.93)
        elbow, wrist = (tuple(length * np.array(way)) for length in (0.28, 0.25))
        bend = self._hinges((0, 0, 0), {"z" if self.spread_arms else "y": (-2.2, 2.2)})
        hand = f'<geom type="sphere" size="0.04" pos="{self._v(*wrist)}"/>'
        lower = f'<body pos="{self._v(*elbow)}">{bend}{self._bar((0, 0, 0), wrist, 0.03)}{hand}</body>'
        return f'<body pos="{self._v(0, side * 0.2, 0.35)}">{shoulder}{self._bar((0, 0, 0), elbow, 0.04)}{lower}</body>'
