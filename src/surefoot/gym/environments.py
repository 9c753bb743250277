"""One character as a Gymnasium environment.

Many characters as one Gymnasium vector environment, advanced natively on all cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from surefoot.engine import callback
from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.gym.actions import Action
from surefoot.gym.episode import RENDER_MODES, EnvironmentSettings, Episodes, Reward, StartNoise, row_info
from surefoot.gym.observations import DEFAULT_OBSERVATIONS, population_rows, simulation_rows
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
        observations: Sequence[str] = DEFAULT_OBSERVATIONS,
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
        settings = EnvironmentSettings(
            actions, observations, reward, noise, commands, control_period, time_limit, render_mode
        )
        self._task = Episodes(simulation_rows(self.simulation), settings)
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
        return observed[0], row_info(measured, 0)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Act, and advance by one control period."""
        if self._taken < 0:
            raise SurefootError("reset the environment before its first step")
        self._task.act(0, self._task.checked(action, self._task.action_space.shape))
        self.simulation.step(self._task.steps)
        self._taken += 1
        observed, measured = self._task.look()
        info = row_info(measured, 0)
        return observed[0], float(self._task.reward(info)), info["fallen"], self._taken >= self._task.limit, info

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """(360, 640, 3) bytes: the character from its side; None unless the render mode is `rgb_array`."""
        return None if self.render_mode is None else self._task.picture(0)


class SurefootVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Rows of a population; row i reset with a seed gives the bits of a `SurefootEnv` reset with that seed.

    The step after a row's episode has ended begins its next one and ignores its action. `info` holds the measurements
    as arrays (n, …). `population` is the population behind it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        skill: str | Path | Skill = "human/walk",
        character: str | None = None,
        terrain: str | Terrain = "flat",
        *,
        actions: Action | Sequence[Action] | None = None,
        observations: Sequence[str] = DEFAULT_OBSERVATIONS,
        reward: Reward | None = None,
        noise: StartNoise | None = None,
        commands: Mapping[str, float] | None = None,
        control_period: float = 0.02,
        time_limit: float | None = 20.0,
        render_mode: str | None = None,
        threads: int = 0,
    ) -> None:
        """Build it; all other arguments are those of `SurefootEnv`.

        Args:
            num_envs: number of rows.
            skill: of all rows.
            character: of all rows.
            terrain: of all rows.
            actions: kinds of actions.
            observations: names of measurements.
            reward: called once for each row.
            noise: of the starts, different by row.
            commands: told at every start, the automatic ones too.
            control_period: [s] between two actions.
            time_limit: [s] or None.
            render_mode: `rgb_array` or None.
            threads: 0 is all cores.
        """
        if not isinstance(skill, (str, Path, Skill)):
            raise SurefootError("all rows of a vector environment have one skill: a name, a path or a skill")
        self.num_envs, self.render_mode = num_envs, render_mode
        self.population = Population(num_envs, character, skill, terrain, threads=threads)
        settings = EnvironmentSettings(
            actions, observations, reward, noise, commands, control_period, time_limit, render_mode
        )
        self._task = Episodes(population_rows(self.population), settings)
        self._fresh = self.population.states[0]
        self._generators: list[np.random.Generator] = []
        self._taken = np.zeros(num_envs, int)
        self._ended = np.zeros(num_envs, bool)
        self.single_action_space, self.single_observation_space = self._task.action_space, self._task.observations.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_names, self.observation_names = self._task.action_names, self._task.observations.names
        self.control_period = self._task.period
        self.metadata = {**type(self).metadata, "render_fps": max(1, round(1.0 / self.control_period))}

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in every row; an integer seeds row i with seed + i, a list has one seed for each."""
        n = self.num_envs
        each = _seeds(seed, n)
        if not self._generators:
            self._generators = [seeding.np_random(one)[0] for one in each]
        for i, one in enumerate(each):
            if one is not None:
                self._generators[i] = seeding.np_random(one)[0]
        self._begin(list(range(n)), options)
        observed, measured = self._task.look()
        return observed, _infos(measured)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Act in every row and advance by one control period; rows whose episode had ended begin anew instead."""
        if not self._generators:
            raise SurefootError("reset the environment before its first step")
        checked = self._task.checked(actions, self.action_space.shape or ())
        begun, going = np.flatnonzero(self._ended).tolist(), np.flatnonzero(~self._ended).tolist()
        for i in going:
            self._task.act(i, checked[i])
        if going:
            callback.install()
            self.population.step(self._task.steps, going)
        self._taken[going] += 1
        self._begin(begun, None)
        observed, measured = self._task.look()
        rewards = np.zeros(self.num_envs)
        for i in going:
            rewards[i] = self._task.reward(row_info(measured, i))
        terminated, truncated = measured["fallen"].copy(), self._taken >= self._task.limit
        self._ended = terminated | truncated
        return observed, rewards, terminated, truncated, _infos(measured)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of every row, (360, 640, 3) bytes; None unless the render mode is `rgb_array`."""
        return None if self.render_mode is None else tuple(self._task.picture(i) for i in range(self.num_envs))

    def _begin(self, which: list[int], options: dict[str, Any] | None) -> None:
        for i in which:
            self.population.batch.state[i] = self._fresh
            self._task.begin(i, self._generators[i], options)
        if which:
            callback.install()
            self.population.batch.forward(which)
        self._taken[which], self._ended[which] = 0, False


def _seeds(seed: int | Sequence[int | None] | None, n: int) -> list[int | None]:
    """One seed for each row; None goes on with the random numbers the row has."""
    if seed is None:
        return [None] * n
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(n)]
    if len(seed) != n:
        raise SurefootError(f"{len(seed)} seeds for {n} rows")
    return list(seed)


def _infos(measured: dict[str, np.ndarray]) -> dict[str, Any]:
    """Measurements with Gymnasium's masks: every row has all of them."""
    everywhere = {f"_{name}": np.ones(len(array), bool) for name, array in measured.items()}
    return measured | everywhere
