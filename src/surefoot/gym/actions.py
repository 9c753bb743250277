"""What an agent can do: set commands, change a skill's numbers, offset joint targets; alone or together.

Every element of an action lies within −1 … 1 and stands for `low + (action + 1) / 2 · (high − low)`; values outside are
clipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from surefoot.engine import commands
from surefoot.engine.scene import Scene
from surefoot.errors import CommandError, SurefootError, UnknownNameError
from surefoot.gym.arrays import NUMPY, Library
from surefoot.gym.command_columns import CommandColumns
from surefoot.gym.observations import Memories
from surefoot.skills import with_parameters
from surefoot.skills.schema import Skill

Write = Callable[[Memories, Any, Any], None]
"""Carries out (n, k) values within low … high on those rows whose truth value (n,) is set."""


@dataclass(frozen=True)
class ActionBinding:
    """An action's elements for one scene."""

    names: tuple[str, ...]
    low: np.ndarray  # (k,) what −1 stands for
    high: np.ndarray  # (k,) what 1 stands for
    write: Write

    def apply(self, rows: Memories, which: Any, actions: Any) -> None:
        """Carry out normalized elements (n, k) on some rows: those whose truth value (n,) is set."""
        library = rows.library
        low, high = library.constant(self.low), library.constant(self.high)
        share = 0.5 * (library.shared.clip(actions, -1.0, 1.0) + 1.0)
        self.write(rows, which, library.shared.clip(low + share * (high - low), low, high))


@runtime_checkable
class Action(Protocol):
    """A kind of action, not yet bound to a body and a skill."""

    def bind(self, scene: Scene, skill: Skill) -> ActionBinding:
        """The elements for a scene and its skill.

        Args:
            scene: whose rows are acted on.
            skill: what the rows run.

        Raises:
            SurefootError: the scene or the skill lacks something that is named, and the message lists what it has; or
                it cannot be done where the scene's rows are.
        """


class Commands:
    """Sets commands by name, in the units of `Simulation.command`."""

    def __init__(self, *names: str, ranges: Mapping[str, tuple[float, float]] | None = None) -> None:
        """Choose commands.

        Args:
            names: of the skill's commands; none means all of them.
            ranges: what −1 and 1 stand for, by name. The default is the controller's whole range, or ± π for a
                direction, whose own range counts whole turns.
        """
        self.names, self.ranges = names, dict(ranges or {})

    def bind(self, scene: Scene, skill: Skill) -> ActionBinding:
        """One element for each command."""
        known = commands.known(scene, skill)
        names = self.names or tuple(skill.commands)
        for name in (*names, *self.ranges):
            if name not in known:
                raise UnknownNameError("command", name, tuple(known))
        if set(self.ranges) - set(names):
            raise CommandError(f"a range is given for commands that are not used; used: {', '.join(names)}")
        bounds = []
        for name in names:
            _, lowest, highest = known[name]
            usual = (-math.pi, math.pi) if known[name].is_direction else (lowest, highest)
            low, high = self.ranges.get(name, usual)
            if not lowest <= low < high <= highest:
                raise CommandError(f"the range of {name} must lie within {lowest:g} … {highest:g}, got {low} … {high}")
            bounds.append((low, high))

        def write(rows: Memories, which: np.ndarray, values: np.ndarray) -> None:
            for i in np.flatnonzero(which).tolist():
                scene.command(rows.views[i], skill, dict(zip(names, values[i].tolist(), strict=True)))

        exact = _binding("command", names, bounds, write)
        if scene.setup.on_cpu:
            return exact
        columns = CommandColumns(scene, skill, names)
        columns.check(exact.low, exact.high)
        return replace(exact, write=columns.write)


@dataclass(frozen=True)
class Parameters:
    """Changes numbers of the skill.

    Attributes:
        bounds: lowest and highest value by dotted path: `{"states.0.cd": (0.0, 1.0)}`.
    """

    bounds: Mapping[str, tuple[float, float]]

    def bind(self, scene: Scene, skill: Skill) -> ActionBinding:
        """One element for each path."""
        paths = tuple(self.bounds)
        for path in paths:
            if path.startswith("start."):
                raise SurefootError(f"{path} is over when an action is taken; use a changed skill instead")

        def slot_with(values: np.ndarray) -> np.ndarray:
            """The numbers that the law reads of the skill with these values."""
            slot = np.zeros(scene.build.sizes.slot_size)
            scene.fill_array(slot, with_parameters(skill, dict(zip(paths, values.tolist(), strict=True))))
            return slot

        def slots_with(rows: Memories, values: np.ndarray) -> np.ndarray:
            return np.array([slot_with(one) for one in values])

        exact = _binding("parameter", paths, list(self.bounds.values()), _writing(scene, skill, slots_with))
        for corner in (exact.low, exact.high):  # refuse bad bounds now rather than in the middle of an episode
            slot_with(corner)
        linear = _linear(slot_with, exact.low, exact.high)
        if linear is None and not scene.setup.on_cpu:
            raise SurefootError(
                f"some numbers that the law reads do not grow in proportion to {', '.join(paths)}, which only Python "
                "can compute: use other parameters, or device='cpu'"
            )
        return replace(exact, write=_writing(scene, skill, linear)) if linear else exact


@dataclass(frozen=True)
class Residuals:
    """Adds offsets to the joint targets of the skill.

    Attributes:
        limit: largest offset either way [rad].
        joints: names of actuators; None is all of them.
    """

    limit: float = 0.2
    joints: Sequence[str] | None = None

    def bind(self, scene: Scene, skill: Skill) -> ActionBinding:
        """One element for each joint."""
        known = [scene.model.actuator(i).name for i in range(scene.model.nu)]
        joints = tuple(known if self.joints is None else self.joints)
        for joint in joints:
            if joint not in known:
                raise UnknownNameError("joint", joint, known)
        if not 0.0 < self.limit <= math.pi:
            raise SurefootError(f"a residual's limit must be within 0 … π rad, got {self.limit}")
        indices = np.array([known.index(joint) for joint in joints], int)

        def write(rows: Memories, which: Any, values: Any) -> None:
            begin, _ = rows.offsets["residual"]
            rows.write(which, rows.library.constant(begin + indices), values)

        return _binding("residual", joints, [(-self.limit, self.limit)] * len(joints), write)


def _binding(kind: str, names: tuple[str, ...], bounds: list[tuple[float, float]], write: Write) -> ActionBinding:
    if not names or len(set(names)) < len(names):
        raise SurefootError(f"an action needs at least one {kind}, and each once; got {', '.join(names) or 'none'}")
    for name, (low, high) in zip(names, bounds, strict=True):
        if not -math.inf < low < high < math.inf:
            raise SurefootError(f"the bounds of {name} must be finite, the lower one first; got {low} … {high}")
    lows, highs = np.array(bounds, float).T
    return ActionBinding(tuple(f"{kind} {name}" for name in names), lows, highs, write)


Slots = Callable[[Memories, Any], Any]  # gives (n, slot_size) the numbers that the law reads, of (n, k) values


def _writing(scene: Scene, skill: Skill, slots_with: Slots) -> Write:
    """Writes the slot for some values over the slot of the skill, also while its slow part runs."""
    family, size = commands.family(scene, skill), scene.build.sizes.slot_size

    def write(rows: Memories, which: Any, values: Any) -> None:
        (begin, _), new = rows.offsets["slots"], slots_with(rows, values)
        is_first = rows.scalar("header", "active") == 0.0
        if family is not None:
            is_first = is_first != rows.is_run_by(family.number)
        for slot, is_it in ((0, is_first), (1, ~is_first)):
            rows.write(which & is_it, slice(begin + slot * size, begin + (slot + 1) * size), new)

    return write


def _linear(slot_with: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> Slots | None:
    """`slot_with` of many rows by interpolation, in microseconds, not a millisecond; None if it is not linear."""
    base, slopes = slot_with(low), []
    for k in range(len(low)):
        raised = low.copy()
        raised[k] = high[k]
        slopes.append((slot_with(raised) - base) / (high[k] - low[k]))

    def interpolated(library: Library, values: Any) -> Any:
        result = library.constant(base)
        for k, slope in enumerate(slopes):
            result = result + (values[:, k] - float(low[k]))[:, None] * library.constant(slope)
        return result

    for shares in ((0.31, 0.77, 0.52), (0.86, 0.13, 0.64)):  # generic points, where a product or a cosine shows
        values = low + np.resize(shares, len(low)) * (high - low)
        if not np.allclose(interpolated(NUMPY, values[None])[0], slot_with(values), rtol=1e-12, atol=1e-12):
            return None
    return lambda rows, values: interpolated(rows.library, values)
