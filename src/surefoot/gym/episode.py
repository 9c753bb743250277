"""What a skill needs to become an environment: settings, reward, noise of the start, and `Episodes` over rows.

`Episodes` applies the settings to the rows of a simulation or a population: it starts rows, acts on them and observes
them. `SurefootEnv` and `SurefootVectorEnv` add Gymnasium's interface.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

import numpy as np
from gymnasium.spaces import Box

from surefoot.engine.recorder import Recorder
from surefoot.engine.scene import Scene
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.gym.actions import Action, Residuals
from surefoot.gym.observations import DEFAULT_OBSERVATIONS, OBSERVATION_DTYPE, Measurer, Observations, Rows
from surefoot.motions import video

Reward = Callable[[Mapping[str, Any]], Any]
"""Takes the measurements of one row after a step by name (`surefoot.gym.MEASUREMENTS`), returns its reward, a number.

On a GPU the measurements are tensors, so that one call serves all rows: arithmetic, and functions of torch's.
"""
RESET_OPTIONS = ("commands",)
RENDER_MODES = ("rgb_array",)
NOT_RESET = "reset the environment before its first step"


@dataclass(frozen=True)
class Tracking:
    """alive · [not fallen] + tracking · exp(−((speed − wanted) / width)²) − cost · effort.

    Attributes:
        speed: wanted speed in the direction it faces [m/s].
        alive: reward of every step without a fall.
        tracking: reward of the wanted speed; other speeds earn less.
        width: difference of speed at which `tracking` earns 1/e of it [m/s].
        cost: of `effort` [1/m²].
    """

    speed: float
    alive: float = 1.0
    tracking: float = 1.0
    width: float = 0.5
    cost: float = 1.0

    def __call__(self, measured: Mapping[str, Any]) -> Any:
        """The reward of a step that ended with these measurements: a number, or a tensor of tensors."""
        off = (measured["speed"] - self.speed) / self.width
        alive = self.alive * (measured["fallen"] == 0)
        return alive + self.tracking * _exp(-off * off) - self.cost * measured["effort"]


@dataclass(frozen=True)
class StartNoise:
    """Uniform noise of the start state; 0 is none.

    Angles stay within the joints' limits, and the feet stay as far from the ground as without noise.

    Attributes:
        angle: half-width for every actuated hinge [rad].
        rate: half-width for every actuated hinge [rad/s].
        speed: half-width for the root, along each horizontal axis of the world [m/s].

    Raises:
        SurefootError: a width is negative or not finite.
    """

    angle: float = 0.02
    rate: float = 0.1
    speed: float = 0.05

    def __post_init__(self) -> None:
        """Check the widths."""
        for width in fields(self):
            if not 0.0 <= getattr(self, width.name) < math.inf:
                raise SurefootError(f"start noise {width.name} must be 0 or more, got {getattr(self, width.name)}")

    def apply(self, scene: Scene, qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> None:
        """Add it to a state (nq,), (nv,) in place; the number of random draws does not depend on the widths."""
        model, level = scene.model, 1 if scene.table.root == "planar" else 2  # level: index of the height in qpos
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


@dataclass(frozen=True)
class EnvironmentSettings:
    """How a skill becomes an environment; these are the keyword arguments of both environments.

    Attributes:
        actions: one kind of action, or several that follow one another in the array; None is `Residuals()`.
        observations: names out of `surefoot.gym.OBSERVABLE`.
        reward: takes the measurements by name, returns a number; None is `Tracking` of the skill's measured speed.
        noise: of the start; `StartNoise(0, 0, 0)` is none. Rows of a vector environment draw their own.
        commands: set at every start; `reset(options={"commands": …})` adds to them.
        control_period: time between two actions [s], rounded to whole physics steps.
        time_limit: time after which an episode is truncated [s]; None is never.
        render_mode: `rgb_array` or None.
    """

    actions: Action | Sequence[Action] | None = None
    observations: Sequence[str] = DEFAULT_OBSERVATIONS
    reward: Reward | None = None
    noise: StartNoise | None = None
    commands: Mapping[str, float] | None = None
    control_period: float = 0.02
    time_limit: float | None = 20.0
    render_mode: str | None = None


class SettingsArguments(TypedDict, total=False):
    """Types of the keyword arguments that become `EnvironmentSettings`."""

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
        """Apply the settings; those that do not fit the scene are refused."""
        self._rows, self.scene, self.skill = rows, rows.scene, rows.scene.skill
        chosen = Residuals() if settings.actions is None else settings.actions
        kinds = chosen if isinstance(chosen, Sequence) else (chosen,)
        if not all(isinstance(kind, Action) for kind in kinds):
            raise SurefootError("actions are Commands, Parameters or Residuals, one of them or a list")
        self._bindings = [kind.bind(self.scene, self.skill) for kind in kinds]
        self.action_names = tuple(name for binding in self._bindings for name in binding.names)
        if not self.action_names or len(set(self.action_names)) < len(self.action_names):
            raise SurefootError(f"actions must be one or more, each once; got {', '.join(self.action_names) or 'none'}")
        self.action_space = Box(-1.0, 1.0, (len(self.action_names),), OBSERVATION_DTYPE)
        self._measurer = Measurer(rows, self.skill)
        self.observations = Observations(settings.observations, self._measurer)
        self.reward = settings.reward or Tracking(self.skill.measured.speed or 0.0)
        self._noise, self._commands = settings.noise or StartNoise(), dict(settings.commands or {})
        model = self.scene.model
        scratch = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata)
        self.begin(*scratch, np.random.default_rng(0), None)  # refuse wrong commands now
        timestep, period, limit = self.scene.model.opt.timestep, settings.control_period, settings.time_limit
        if not timestep <= period <= 10.0:
            raise SurefootError(f"the control period must be within {timestep:g} … 10 s, got {period}")
        self.steps = round(period / timestep)
        self.period = self.steps * timestep  # [s]
        if limit is not None and not self.period <= limit < np.inf:
            raise SurefootError(
                f"the time limit must be None or at least the control period {self.period:g} s, got {limit}"
            )
        self.max_steps = np.inf if limit is None else round(limit / self.period)  # of an episode
        if settings.render_mode is not None and settings.render_mode not in RENDER_MODES:
            raise SurefootError(f"unknown render mode {settings.render_mode!r}; valid: None, {', '.join(RENDER_MODES)}")

    @property
    def metadata(self) -> dict[str, Any]:
        """What Gymnasium asks of an environment, with the frame rate of its control period."""
        return {"render_modes": list(RENDER_MODES), "render_fps": max(1, round(1.0 / self.period))}

    def begin(
        self, qpos: np.ndarray, qvel: np.ndarray, memory: np.ndarray, rng: np.random.Generator,
        options: Mapping[str, Any] | None,
    ) -> None:  # fmt: skip
        """Write the skill's start state with noise.

        Args:
            qpos: (nq,) written in place.
            qvel: (nv,) likewise.
            memory: (nuserdata,) likewise.
            rng: all random numbers come from it.
            options: of a reset.
        """
        commands = self._commands | _commands_of(options or {})
        row = self.scene.begin(qpos, qvel, memory, self.skill, int(rng.integers(2**31)))
        self._noise.apply(self.scene, qpos, qvel, rng)
        self.scene.command(row, self.skill, commands)

    def reset_row(self, i: int, rng: np.random.Generator, options: Mapping[str, Any] | None) -> None:
        """Put row i into the skill's start state with noise; all random numbers come from `rng`."""
        rows = self._rows
        self.begin(rows.qpos[i], rows.qvel[i], rows.userdata[i], rng, options)

    def check_actions(self, actions: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Actions as float64 of this shape; another shape, or numbers that are not finite, are refused."""
        try:
            array = np.asarray(actions, dtype=np.float64)
        except (TypeError, ValueError):
            raise SurefootError(f"an action is an array of numbers of shape {shape}") from None
        if array.shape != shape:
            raise SurefootError(f"an action has shape {shape}, got {array.shape}")
        if not np.isfinite(array).all():
            raise SurefootError("an action must be finite, within -1 … 1")
        return array

    def apply_actions(self, which: Any, actions: Any) -> None:
        """Carry out (n, k) actions on those rows whose truth value (n,) is set."""
        at = 0
        for binding in self._bindings:
            binding.apply(self._rows, which, actions[:, at : at + len(binding.names)])
            at += len(binding.names)

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """(n, elements) observations and all measurements of all rows, now."""
        measured = self.measure()
        return self.select(measured), measured

    def measure(self) -> dict[str, Any]:
        """All measurements of all rows, now."""
        return self._measurer.measure()

    def select(self, measured: Mapping[str, Any]) -> Any:
        """(n, elements) the chosen observations out of measurements."""
        return self.observations.select(measured, self._rows.library.shared)

    def render_row(self, i: int) -> np.ndarray:
        """(height, width, 3) bytes: row i from its side."""
        rows, recorder = self._rows, Recorder(self.scene)
        recorder.add(rows.clock()[i], rows.qpos[i], rows.qvel[i], rows.userdata[i])
        return np.array(next(video.frames(recorder.motion(), fps=1.0)).convert("RGB"))


def _exp(x: Any) -> Any:
    """Of a number or a tensor."""
    return x.exp() if hasattr(x, "exp") else math.exp(x)


def row_info(measured: Mapping[str, np.ndarray], i: int) -> dict[str, Any]:
    """Copies of the measurements of row i: numbers and arrays."""
    return {name: a[i].copy() if a.ndim > 1 else a.item(i) for name, a in measured.items()}


def _commands_of(options: Mapping[str, Any]) -> dict[str, float]:
    for name in options:
        if name not in RESET_OPTIONS:
            raise UnknownNameError("option", name, RESET_OPTIONS)
    commands = options.get("commands", {})
    if not isinstance(commands, Mapping):
        raise SurefootError("the option `commands` is a mapping of names to numbers")
    return dict(commands)
