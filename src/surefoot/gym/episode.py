"""What a step is worth: the default reward, and the form of any other.

How an episode begins: in the skill's start state, a little differently every time.

What one environment and many have in common: acting on rows, beginning them, and looking at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from surefoot.engine.recorder import Recorder
from surefoot.engine.scene import Scene
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.gym.actions import Action, Residuals
from surefoot.gym.observations import OBSERVATION_DTYPE, Measurer, Observations, Rows
from surefoot.motions import video
from surefoot.native import userdata

Reward = Callable[[Mapping[str, Any]], float]
"""Takes the measurements of one row after a step by name (`surefoot.gym.MEASUREMENTS`), gives its reward."""


@dataclass(frozen=True)
class Tracking:
    """alive · [not fallen] + tracking · exp(−((speed − wanted) / width)²) − cost · effort.

    Attributes:
        speed: wanted [m/s], along where it faces.
        alive: for every step without a fall.
        tracking: for the wanted speed, less for others.
        width: [m/s] how far off the speed is when it is worth 1/e of that.
        cost: of `effort` [1/m²].
    """

    speed: float
    alive: float = 1.0
    tracking: float = 1.0
    width: float = 0.5
    cost: float = 1.0

    def __call__(self, measured: Mapping[str, Any]) -> float:
        """The reward of a step that ended with these measurements."""
        off = (measured["speed"] - self.speed) / self.width
        alive = 0.0 if measured["fallen"] else self.alive
        return float(alive + self.tracking * math.exp(-off * off) - self.cost * measured["effort"])


@dataclass(frozen=True)
class StartNoise:
    """Half-widths of the uniform noise of a start; 0 is none.

    Angles stay within the joints' limits, where there are any, and the feet are as far from the ground as they were.
    """

    angle: float = 0.02  # [rad] of every actuated hinge
    rate: float = 0.1  # [rad/s] of every actuated hinge
    speed: float = 0.05  # [m/s] of the root, along each axis of the world but the vertical

    def __post_init__(self) -> None:
        """Refuse what is not a width."""
        for field in fields(self):
            if not 0.0 <= getattr(self, field.name) < math.inf:
                raise SurefootError(f"start noise {field.name} must be 0 or more, got {getattr(self, field.name)}")

    def disturb(self, scene: Scene, qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> None:
        """Add it to a state (nq,), (nv,) in place; the number of random draws does not depend on the widths."""
        model, level = scene.model, 1 if scene.table.root == "planar" else 2  # level: the height's place in qpos
        joints = [model.joint(name) for name in scene.table.gains]
        draws = rng.uniform(-1.0, 1.0, (len(joints), 2))
        drift = rng.uniform(-1.0, 1.0, level)
        clearance = scene.clearance(qpos)
        for joint, (angle, rate) in zip(joints, draws, strict=True):
            at, limited = joint.qposadr[0], bool(model.jnt_limited[joint.id])
            if self.angle > 0.0:
                moved = qpos[at] + self.angle * angle
                qpos[at] = np.clip(moved, *joint.range) if limited else moved
            qvel[joint.dofadr[0]] += self.rate * rate
        qvel[:level] += self.speed * drift
        if self.angle > 0.0:
            qpos[level] += clearance - scene.clearance(qpos)


RESET_OPTIONS = ("commands",)
RENDER_MODES = ("rgb_array",)


@dataclass(frozen=True)
class EnvironmentSettings:
    """How a skill becomes a task; see `SurefootEnv`."""

    actions: Action | Sequence[Action] | None
    observations: Sequence[str]
    reward: Reward | None
    noise: StartNoise | None
    commands: Mapping[str, float] | None
    control_period: float
    time_limit: float | None
    render_mode: str | None


class Episodes:
    """Settings applied to rows of one scene that all begin with its skill."""

    def __init__(self, rows: Rows, settings: EnvironmentSettings) -> None:
        """Refuse settings that do not fit the scene."""
        self._rows, self.scene, self.skill = rows, rows.scene, rows.scene.skill
        chosen = Residuals() if settings.actions is None else settings.actions
        kinds = chosen if isinstance(chosen, Sequence) else (chosen,)
        if not all(isinstance(kind, Action) for kind in kinds):
            raise SurefootError("actions are Commands, Parameters or Residuals, one of them or a list")
        self._channels = [kind.channels(self.scene, self.skill) for kind in kinds]
        self.action_names = tuple(name for channels in self._channels for name in channels.names)
        if not self.action_names or len(set(self.action_names)) < len(self.action_names):
            raise SurefootError(f"actions must be one or more, each once; got {', '.join(self.action_names) or 'none'}")
        self.action_space = Box(-1.0, 1.0, (len(self.action_names),), OBSERVATION_DTYPE)
        self._measurer = Measurer(rows, self.skill)
        self.observations = Observations(settings.observations, self._measurer)
        self.reward = settings.reward or Tracking(self.skill.measured.speed or 0.0)
        self._noise, self._commands = settings.noise or StartNoise(), dict(settings.commands or {})
        self.scene.command(userdata.view(rows.userdata[0].copy()), self.skill, self._commands)  # refuses wrong ones now
        self.steps = _steps(settings.control_period, self.scene.model.opt.timestep)
        self.period = self.steps * self.scene.model.opt.timestep  # [s]
        self.limit = _limit(settings.time_limit, self.period)
        if settings.render_mode is not None and settings.render_mode not in RENDER_MODES:
            raise SurefootError(f"unknown render mode {settings.render_mode!r}; valid: None, {', '.join(RENDER_MODES)}")

    def begin(self, i: int, rng: np.random.Generator, options: Mapping[str, Any] | None) -> None:
        """Put row i into the skill's start state, disturbed; what is random comes from `rng`."""
        rows, told = self._rows, self._commands | _commands_of(options or {})
        seed = int(rng.integers(2**31))
        self.scene.begin(rows.qpos[i], rows.qvel[i], rows.userdata[i], self.skill, seed)
        self._noise.disturb(self.scene, rows.qpos[i], rows.qvel[i], rng)
        self.scene.command(rows.memory[i], self.skill, told)

    def checked(self, actions: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Actions as float64 of this shape; another, or numbers that are none, are refused."""
        try:
            array = np.asarray(actions, dtype=np.float64)
        except (TypeError, ValueError):
            raise SurefootError(f"an action is an array of numbers of shape {shape}") from None
        if array.shape != shape:
            raise SurefootError(f"an action has shape {shape}, got {array.shape}")
        if not np.isfinite(array).all():
            raise SurefootError("an action must be finite, within -1 … 1")
        return array

    def act(self, i: int, action: np.ndarray) -> None:
        """Have row i obey a checked action."""
        at = 0
        for channels in self._channels:
            channels.apply(self._rows.memory[i], action[at : at + len(channels.names)])
            at += len(channels.names)

    def look(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(n, elements) observations and all measurements of all rows, at this moment."""
        measured = self._measurer.measure()
        return self.observations.of(measured), measured

    def picture(self, i: int) -> np.ndarray:
        """(height, width, 3) bytes: row i from its side."""
        rows, recorder = self._rows, Recorder(self.scene)
        recorder.add(rows.clock()[i], rows.qpos[i], rows.qvel[i], rows.userdata[i])
        return np.array(next(video.frames(recorder.motion(), fps=1.0)).convert("RGB"))


def row_info(measured: Mapping[str, np.ndarray], i: int) -> dict[str, Any]:
    """The measurements of row i: plain numbers and arrays of one's own."""
    return {name: a[i].copy() if a.ndim > 1 else a.item(i) for name, a in measured.items()}


def _commands_of(options: Mapping[str, Any]) -> dict[str, float]:
    for name in options:
        if name not in RESET_OPTIONS:
            raise UnknownNameError("option", name, RESET_OPTIONS)
    commands = options.get("commands", {})
    if not isinstance(commands, Mapping):
        raise SurefootError("the option `commands` is a mapping of names to numbers")
    return dict(commands)


def _steps(period: float, timestep: float) -> int:
    if not timestep <= period <= 10.0:
        raise SurefootError(f"the control period must be within {timestep:g} … 10 s, got {period}")
    return round(period / timestep)


def _limit(seconds: float | None, period: float) -> float:
    """Control steps of an episode; inf is no limit."""
    if seconds is None:
        return np.inf
    if not period <= seconds < np.inf:
        raise SurefootError(f"the time limit must be None or at least a control period of {period:g} s, got {seconds}")
    return round(seconds / period)
