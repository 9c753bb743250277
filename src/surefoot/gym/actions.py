"""What an agent may do: tell commands, change a skill's numbers, displace joint targets; any of them together.

Every element of an action is within −1 … 1 and stands for `low + (action + 1) / 2 · (high − low)`; what lies outside
is clipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from surefoot.engine.scene import Scene
from surefoot.errors import CommandError, SurefootError, UnknownNameError
from surefoot.native.userdata import Row
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill


@dataclass(frozen=True)
class ActionBinding:
    """Elements of an action that fit a body: their names, what −1 and 1 stand for, and how a row obeys."""

    names: tuple[str, ...]
    low: np.ndarray  # (k,)
    high: np.ndarray  # (k,)
    obey: Callable[[Row, np.ndarray], None]  # takes (k,) values within low … high

    def apply(self, row: Row, action: np.ndarray) -> None:
        """Carry out normalised elements (k,)."""
        share = 0.5 * (np.clip(action, -1.0, 1.0) + 1.0)
        self.obey(row, np.clip(self.low + share * (self.high - self.low), self.low, self.high))


@runtime_checkable
class Action(Protocol):
    """A kind of action, before it is known for whom."""

    def channels(self, scene: Scene, skill: Skill) -> ActionBinding:
        """Its elements for a body and a skill; what they do not know is refused."""


class Commands:
    """Commands by name, in the units of `Simulation.command`."""

    def __init__(self, *names: str, ranges: Mapping[str, tuple[float, float]] | None = None) -> None:
        """Choose commands.

        Args:
            names: of the skill's commands; none is all of them.
            ranges: what −1 and 1 stand for, within the controller's range and by default all of it, except that
                a heading's is ± π: its own counts whole turns.
        """
        self.names, self.ranges = names, dict(ranges or {})

    def channels(self, scene: Scene, skill: Skill) -> ActionBinding:
        """One element for each command."""
        names = self.names or tuple(skill.commands)
        for name in (*names, *self.ranges):
            if name not in skill.commands:
                raise UnknownNameError("command", name, skill.commands)
        if set(self.ranges) - set(names):
            raise CommandError(f"a range is given for commands that are not used; used: {', '.join(names)}")
        widest = scene.command_limits()
        bounds = [self._range(name, *widest[name]) for name in names]

        def obey(row: Row, values: np.ndarray) -> None:
            scene.command(row, skill, dict(zip(names, values.tolist(), strict=True)))

        return _channels("command", names, bounds, obey)

    def _range(self, name: str, lowest: float, highest: float) -> tuple[float, float]:
        usual = (-math.pi, math.pi) if name == "heading" else (lowest, highest)
        low, high = self.ranges.get(name, usual)
        if not lowest <= low < high <= highest:
            raise CommandError(f"the range of {name} must lie within {lowest:g} … {highest:g}, got {low} … {high}")
        return low, high


@dataclass(frozen=True)
class Parameters:
    """Numbers of the skill by dotted path, each with its bounds: `{"states.0.cd": (0.0, 1.0)}`."""

    bounds: Mapping[str, tuple[float, float]]

    def channels(self, scene: Scene, skill: Skill) -> ActionBinding:
        """One element for each path."""
        paths = tuple(self.bounds)
        for path in paths:
            if path.startswith("start."):
                raise SurefootError(f"{path} is over when an action is taken; use a changed skill instead")
        channels = _channels("parameter", paths, list(self.bounds.values()), _exactly(scene, skill, paths))
        for corner in (channels.low, channels.high):  # refused now rather than in the middle of an episode
            _slot(scene, skill, paths, corner)
        linear = _linearly(scene, skill, paths, channels)
        return channels if linear is None else ActionBinding(channels.names, channels.low, channels.high, linear)


@dataclass(frozen=True)
class Residuals:
    """Offsets of joint targets [rad], at most `limit` either way, added to what the skill wants.

    `joints` are names of actuators; None is all of them.
    """

    limit: float = 0.2
    joints: Sequence[str] | None = None

    def channels(self, scene: Scene, skill: Skill) -> ActionBinding:
        """One element for each joint."""
        model = scene.model
        known = [model.actuator(i).name for i in range(model.nu)]
        joints = tuple(known if self.joints is None else self.joints)
        for joint in joints:
            if joint not in known:
                raise UnknownNameError("joint", joint, known)
        if not 0.0 < self.limit <= math.pi:
            raise SurefootError(f"a residual's limit must be within 0 … π rad, got {self.limit}")
        at = [known.index(joint) for joint in joints]

        def obey(row: Row, values: np.ndarray) -> None:
            row.residual[at] = values

        return _channels("residual", joints, [(-self.limit, self.limit)] * len(joints), obey)


def _channels(
    kind: str, names: tuple[str, ...], bounds: list[tuple[float, float]], obey: Callable[[Row, np.ndarray], None]
) -> ActionBinding:
    if not names or len(set(names)) < len(names):
        raise SurefootError(f"an action needs at least one {kind}, and each once; got {', '.join(names) or 'none'}")
    for name, (low, high) in zip(names, bounds, strict=True):
        if not -math.inf < low < high < math.inf:
            raise SurefootError(f"the bounds of {name} must be finite, the lower one first; got {low} … {high}")
    low, high = np.array(bounds, float).T
    return ActionBinding(tuple(f"{kind} {name}" for name in names), low, high, obey)


def _slot(scene: Scene, skill: Skill, paths: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    """The numbers a law reads of a skill with other values."""
    slot = np.zeros(scene.build.sizes.slot_size)
    scene.fill_array(slot, with_parameters(skill, dict(zip(paths, values.tolist(), strict=True))))
    return slot


def _exactly(scene: Scene, skill: Skill, paths: tuple[str, ...]) -> Callable[[Row, np.ndarray], None]:
    """Obedience by writing the skill anew, which takes about a millisecond."""

    def obey(row: Row, values: np.ndarray) -> None:
        row.slots[int(row.header[0].active)][:] = _slot(scene, skill, paths, values)

    return obey


def _linearly(
    scene: Scene, skill: Skill, paths: tuple[str, ...], channels: ActionBinding
) -> Callable[[Row, np.ndarray], None] | None:
    """Obedience by interpolation, which takes microseconds; None if the law's numbers are not linear in the values."""
    low, high = channels.low, channels.high
    base = _slot(scene, skill, paths, low)
    slopes = np.zeros((len(paths), len(base)))
    for k in range(len(paths)):
        raised = low.copy()
        raised[k] = high[k]
        slopes[k] = (_slot(scene, skill, paths, raised) - base) / (high[k] - low[k])
    for shares in ((0.31, 0.77, 0.52), (0.86, 0.13, 0.64)):  # generic points, where a product or a cosine shows
        values = low + np.resize(shares, len(paths)) * (high - low)
        expected = _slot(scene, skill, paths, values)
        if not np.allclose(_interpolated(base, slopes, values - low), expected, rtol=1e-12, atol=1e-12):
            return None

    def obey(row: Row, values: np.ndarray) -> None:
        row.slots[int(row.header[0].active)][:] = _interpolated(base, slopes, values - low)

    return obey


def _interpolated(base: np.ndarray, slopes: np.ndarray, steps: np.ndarray) -> np.ndarray:
    result = base.copy()
    for slope, step in zip(slopes, steps, strict=True):
        result += step * slope
    return result
