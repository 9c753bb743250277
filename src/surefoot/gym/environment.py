"""One character as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

from surefoot.errors import SurefootError
from surefoot.gym.actions import Action
from surefoot.gym.observations import DEFAULT
from surefoot.gym.rewards import Reward
from surefoot.gym.rows import of_simulation
from surefoot.gym.starts import StartNoise
from surefoot.gym.task import RENDER_MODES, Settings, Task, one_of
from surefoot.native import callback
from surefoot.simulation import Simulation
from surefoot.skills.schema import Skill
from surefoot.terrains.terrain import Terrain


class SurefootEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A skill that an agent steers, changes or corrects while it runs.

    An episode terminates when the character has fallen and is truncated at the time limit. `info` holds every
    measurement of `surefoot.gym.MEASUREMENTS` by name. `simulation` is the simulation behind it, to push or to record.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        skill: str | Path | Skill = "human/walk",
        character: str | None = None,
        terrain: str | Terrain = "flat",
        *,
        actions: Action | Sequence[Action] | None = None,
        observations: Sequence[str] = DEFAULT,
        reward: Reward | None = None,
        noise: StartNoise | None = None,
        commands: Mapping[str, float] | None = None,
        control_period: float = 0.02,
        time_limit: float | None = 20.0,
        render_mode: str | None = None,
    ) -> None:
        """Build it; the first `reset` begins the first episode.

        Args:
            skill: name, full name, path or object.
            character: name of a body; by default the one the skill is for.
            terrain: description (`slope:6`) or object.
            actions: one kind of action or several, which follow one another in the array; by default `Residuals()`.
            observations: names out of `surefoot.gym.OBSERVABLE`.
            reward: takes the measurements by name, gives a number; by default `Tracking` of the skill's measured speed.
            noise: of the start; None is the default `StartNoise()`, `StartNoise(0, 0, 0)` is none.
            commands: what the skill is told at every start; `reset(options={"commands": …})` adds to it.
            control_period: [s] between two actions, rounded to whole physics steps.
            time_limit: [s] after which an episode is truncated; None is never.
            render_mode: `rgb_array` or None.
        """
        self.simulation = Simulation(character, skill, terrain)
        settings = Settings(actions, observations, reward, noise, commands, control_period, time_limit, render_mode)
        self._task = Task(of_simulation(self.simulation), settings)
        self._fresh, self._taken = self.simulation.snapshot(), -1
        self.action_space, self.action_names = self._task.action_space, self._task.action_names
        self.observation_space, self.observation_names = self._task.observations.space, self._task.observations.names
        self.control_period, self.render_mode = self._task.period, render_mode
        self.metadata = {**type(self).metadata, "render_fps": max(1, round(1.0 / self.control_period))}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; the same seed gives the same bits from here on."""
        super().reset(seed=seed)
        self.simulation.restore(self._fresh)
        self._task.begin(0, self.np_random, options)
        callback.install()
        mujoco.mj_forward(self.simulation.model, self.simulation.data)
        self._taken = 0
        observed, measured = self._task.look()
        return observed[0], one_of(measured, 0)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Act, and advance by one control period."""
        if self._taken < 0:
            raise SurefootError("reset the environment before its first step")
        self._task.act(0, self._task.checked(action, self._task.action_space.shape))
        self.simulation.step(self._task.steps)
        self._taken += 1
        observed, measured = self._task.look()
        info = one_of(measured, 0)
        return observed[0], float(self._task.reward(info)), info["fallen"], self._taken >= self._task.limit, info

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """(360, 640, 3) bytes: the character from its side; None unless the render mode is `rgb_array`."""
        return None if self.render_mode is None else self._task.picture(0)
