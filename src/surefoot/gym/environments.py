"""Gymnasium environments: `SurefootEnv` has one character, `SurefootVectorEnv` many, on all cores or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from surefoot.engine import callback
from surefoot.engine.gpu.worlds import check_device
from surefoot.engine.population import Population
from surefoot.engine.scene import AnyCharacter, AnySkill, Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.gym.device_rows import DeviceRows
from surefoot.gym.episode import NOT_RESET, RENDER_MODES, EnvironmentSettings, Episodes, SettingsArguments, row_info
from surefoot.gym.observations import population_rows, simulation_rows
from surefoot.gym.tensors import check_torch
from surefoot.skills.schema import Skill
from surefoot.terrains.terrain import Terrain


class SurefootEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A skill that an agent steers, tunes or corrects while it runs.

    An episode terminates when the character has fallen and is truncated at the time limit. `info` holds every
    measurement of `surefoot.gym.MEASUREMENTS` by name; `simulation` is the simulation behind it, to push or to record.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        skill: AnySkill = "human/walk",
        character: AnyCharacter | None = None,
        terrain: str | Terrain = "flat",
        **settings: Unpack[SettingsArguments],
    ) -> None:
        """Build it; the first `reset` begins the first episode.

        Args:
            skill: name, full name, path or object.
            character: name of a body, path of an MJCF file, or a table; by default the body the skill is for.
            terrain: description (`slope:6`) or object.
            settings: actions, observations, reward and more, by the names of `EnvironmentSettings`.

        Raises:
            SurefootError: something does not fit; the message says what would.
        """
        self.simulation = Simulation.from_setup(Setup(skill, character, terrain))
        chosen = EnvironmentSettings(**settings)
        self._episodes = Episodes(simulation_rows(self.simulation), chosen)
        self._fresh, self._taken = self.simulation.snapshot(), -1
        self.action_space, self.action_names = self._episodes.action_space, self._episodes.action_names
        observations = self._episodes.observations
        self.observation_space, self.observation_names = observations.space, observations.names
        self.control_period, self.render_mode = self._episodes.period, chosen.render_mode
        self.metadata = self._episodes.metadata

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; the same seed gives the same bits from here on.

        Args:
            seed: of everything random; None continues with the random numbers there are.
            options: `{"commands": {name: value}}` sets commands in this episode.
        """
        super().reset(seed=seed)
        self.simulation.restore(self._fresh)
        self._episodes.reset_row(0, self.np_random, options)
        callback.install()
        mujoco.mj_forward(self.simulation.model, self.simulation.data)
        self._taken = 0
        observed, measured = self._episodes.observe()
        return observed[0], row_info(measured, 0)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Act by (k,) elements within −1 … 1, and advance by one control period."""
        if self._taken < 0:
            raise SurefootError(NOT_RESET)
        checked = self._episodes.check_actions(action, self.action_space.shape or ())
        self._episodes.apply_actions(np.ones(1, bool), checked[None])
        self.simulation.step(self._episodes.steps)
        self._taken += 1
        observed, measured = self._episodes.observe()
        info = row_info(measured, 0)
        truncated = self._taken >= self._episodes.max_steps
        return observed[0], float(self._episodes.reward(info)), info["fallen"], truncated, info

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """(360, 640, 3) bytes: the character from its side; None unless the render mode is `rgb_array`."""
        return None if self.render_mode is None else self._episodes.render_row(0)


class SurefootVectorEnv(VectorEnv[Any, Any, Any]):
    """Many characters at once; row i reset with a seed gives the bits of a `SurefootEnv` reset with that seed.

    The step after a row's episode has ended begins its next one and ignores its action. `info` holds the measurements
    as arrays (n, …); `population` is the population behind it. On a GPU all arrays are torch tensors there, and
    physics and controllers compute as `Population` does there.
    """

    metadata: dict[str, Any] = SurefootEnv.metadata | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int,
        skill: AnySkill = "human/walk",
        character: AnyCharacter | None = None,
        terrain: str | Terrain = "flat",
        *,
        threads: int = 0,
        device: str = "cpu",
        starts: int = 512,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        """Build it; the first `reset` begins the first episodes.

        Args:
            num_envs: number of rows.
            skill: of all rows.
            character: of all rows.
            terrain: of all rows.
            threads: 0 is all cores.
            device: `cpu`, or a GPU: `cuda`, `cuda:1`, …
            starts: on a GPU, how many start states are kept there for episodes to begin in.
            settings: as for `SurefootEnv`; the reward is called once for each row, on a GPU once for all.

        Raises:
            SurefootError: something does not fit; the message says what would.
        """
        if not isinstance(skill, (str, Path, Skill)):
            raise SurefootError("all rows of a vector environment have one skill: a name, a path or a skill")
        chosen, on_cpu = EnvironmentSettings(**settings), check_device(device)
        if not on_cpu:
            check_torch(device)
        self.num_envs, self.render_mode = num_envs, chosen.render_mode
        self.population = Population(num_envs, character, skill, terrain, threads=threads, device=device)
        self._on_device: DeviceRows | None = None
        if on_cpu:
            self._episodes = Episodes(population_rows(self.population), chosen)
            self._fresh = self.population.states[0]
        else:
            self._on_device = DeviceRows(self.population, chosen, starts)
            self._episodes = self._on_device.episodes
        self._generators: list[np.random.Generator] = []
        self._taken, self._ended = np.zeros(num_envs, int), np.zeros(num_envs, bool)
        observations = self._episodes.observations
        self.single_action_space, self.single_observation_space = self._episodes.action_space, observations.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_names, self.observation_names = self._episodes.action_names, observations.names
        self.control_period = self._episodes.period
        self.metadata = {**type(self).metadata, **self._episodes.metadata}

    @property
    def device(self) -> Any:
        """Where the arrays are: `cpu`, or torch's device."""
        return "cpu" if self._on_device is None else self._on_device.device

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every row.

        Args:
            seed: an integer seeds row i with seed + i; a list has one seed for each row, or None to go on. On a GPU,
                where an integer or None is taken, start states are prepared whenever the seed is another.
            options: `{"commands": {name: value}}` sets commands in these episodes.
        """
        if self._on_device is not None:
            if seed is not None and not isinstance(seed, (int, np.integer)):
                raise SurefootError("on a GPU a seed is an integer or None")
            return self._on_device.reset(None if seed is None else int(seed), options)
        seeds = _seeds(seed, self.num_envs)
        self._generators = self._generators or [seeding.np_random(one)[0] for one in seeds]
        for i, one in enumerate(seeds):
            if one is not None:
                self._generators[i] = seeding.np_random(one)[0]
        self._reset_rows(list(range(self.num_envs)), options)
        observed, measured = self._episodes.observe()
        return observed, _infos(measured)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Act by (n, k) elements and advance by one control period; rows whose episode had ended begin anew instead."""
        if self._on_device is not None:
            return self._on_device.step(actions)
        if not self._generators:
            raise SurefootError(NOT_RESET)
        checked = self._episodes.check_actions(actions, self.action_space.shape or ())
        begun, going = np.flatnonzero(self._ended).tolist(), np.flatnonzero(~self._ended).tolist()
        self._episodes.apply_actions(~self._ended, checked)
        if going:
            self.population.step(self._episodes.steps, going)
        self._taken[going] += 1
        self._reset_rows(begun, None)
        observed, measured = self._episodes.observe()
        rewards = np.zeros(self.num_envs)
        for i in going:
            rewards[i] = self._episodes.reward(row_info(measured, i))
        terminated, truncated = measured["fallen"].copy(), self._taken >= self._episodes.max_steps
        self._ended = terminated | truncated
        return observed, rewards, terminated, truncated, _infos(measured)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of every row, (360, 640, 3) bytes; None unless the render mode is `rgb_array`."""
        return None if self.render_mode is None else tuple(map(self._episodes.render_row, range(self.num_envs)))

    def _reset_rows(self, which: list[int], options: dict[str, Any] | None) -> None:
        for i in which:
            self.population.batch.state[i] = self._fresh
            self._episodes.reset_row(i, self._generators[i], options)
        if which:
            callback.install()
            self.population.batch.forward(which)
        self._taken[which], self._ended[which] = 0, False


def _seeds(seed: int | Sequence[int | None] | None, n: int) -> list[int | None]:
    """One seed for each row; None goes on with the random numbers that the row has."""
    if seed is None:
        return [None] * n
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(n)]
    if len(seed) != n:
        raise SurefootError(f"{len(seed)} seeds for {n} rows")
    return list(seed)


def _infos(measured: dict[str, np.ndarray]) -> dict[str, Any]:
    """Measurements with Gymnasium's masks: every row has all of them."""
    return measured | {f"_{name}": np.ones(len(array), bool) for name, array in measured.items()}
