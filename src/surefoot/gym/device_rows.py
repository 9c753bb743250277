"""The rows of a vector environment on a GPU: episodes that begin, go on and end without the host.

A step writes actions, starts rows whose episode has ended, advances the others, measures and rewards all of them, by
array functions over torch's tensors in the memory of the physics. A row begins with a copy of one of the start states
that the host has prepared, with the measurements that belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from surefoot.engine.gpu.physics import WarpWorlds
from surefoot.engine.population import Population
from surefoot.errors import SurefootError
from surefoot.gym.episode import NOT_RESET, EnvironmentSettings, Episodes
from surefoot.gym.observations import Rows
from surefoot.gym.tensors import Tensors

_STATE = ("qpos", "qvel", "userdata")


@dataclass(frozen=True)
class StartStates:
    """Start states on the device.

    Attributes:
        state: positions, velocities and memories, (m, …) each.
        measured: their measurements, (m, …) each.
    """

    state: Mapping[str, Any]
    measured: Mapping[str, Any]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.state["qpos"])


class DeviceRows:
    """The episodes of a population on a GPU.

    Attributes:
        episodes: the settings, applied to the rows.
        device: torch's.
    """

    def __init__(self, population: Population, settings: EnvironmentSettings, starts: int) -> None:
        """Make tensors of the population's arrays.

        Args:
            population: on a GPU.
            settings: of the environment.
            starts: how many start states are kept.

        Raises:
            SurefootError: something in the settings needs Python or the host.
        """
        if settings.render_mode is not None:
            raise SurefootError("rows on a GPU are not drawn: use render_mode=None, or device='cpu'")
        if starts < 1:
            raise SurefootError(f"at least one start state is kept, got {starts}")
        self._population, self._count, self._n = population, starts, population.n
        self._worlds = worlds = population.leave_to_device()
        self._tensors = Tensors(worlds)
        self.device, self._torch = self._tensors.device, self._tensors.shared
        self._rows, self._times = _rows_of(population, worlds, self._tensors), self._tensors.view(worlds.times)
        self._active = self._tensors.view(worlds.active)
        data = worlds.data
        self._cleared = [self._tensors.view(a) for a in (data.ctrl, data.xfrc_applied, data.qacc_warmstart)]
        self.episodes = Episodes(self._rows, settings)
        self._taken = self._torch.zeros(self._n, dtype=self._torch.int64, device=self.device)
        self._ended = self._torch.zeros(self._n, dtype=self._torch.bool, device=self.device)
        self._random = self._torch.Generator(device=self.device)
        self._seed = 0  # of the start states
        self._starts: StartStates | None = None  # until the first reset
        self._check_reward()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every row; this is where the host prepares start states.

        Args:
            seed: of the first start state, the next has seed + 1; None goes on with those that there are.
            options: of a reset.
        """
        kept, which = self._starts, self._choose()
        if kept is None or seed is not None:
            seed = seeding.np_random(None)[1] % 2**31 if seed is None else seed
            if kept is None or seed != self._seed:
                kept = self._starts = self._prepare(seed, None)
                self._seed = seed
            self._random.manual_seed(seed)
            which = self._torch.arange(self._n, device=self.device) % self._count
        starts = self._prepare(self._seed, options) if options else kept
        with self._tensors.physics():
            self._population.leave_to_device()
        everyone = self._torch.ones_like(self._ended)
        self._begin(everyone, starts, which)
        self._taken.zero_()
        self._ended.zero_()
        measured = {name: values[which] for name, values in starts.measured.items()}
        return self.episodes.select(measured), self._infos(measured)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Act by (n, k) elements and advance by one control period; rows whose episode had ended begin anew instead."""
        starts, torch = self._starts, self._torch
        if starts is None:
            raise SurefootError(NOT_RESET)
        self._check_actions(actions)
        with self._tensors.physics():
            self._population.leave_to_device()
        begun, going = self._ended, ~self._ended
        self.episodes.apply_actions(going, torch.nan_to_num(actions.to(torch.float64)))
        which = self._choose()
        self._begin(begun, starts, which)
        self._advance(going, self.episodes.steps)
        measured = {
            name: torch.where(_as_wide_as(values, begun), starts.measured[name][which], values)
            for name, values in self.episodes.measure().items()
        }
        rewards = torch.where(begun, 0.0, self._rewards(measured)).to(torch.float32)
        self._taken = torch.where(begun, 0, self._taken + 1)
        terminated, truncated = measured["fallen"].clone(), self._taken >= self.episodes.max_steps
        self._ended = terminated | truncated
        return self.episodes.select(measured), rewards, terminated, truncated, self._infos(measured)

    def _choose(self) -> Any:
        """(n,) a random start state for each row."""
        return self._torch.randint(self._count, (self._n,), generator=self._random, device=self.device)

    def _advance(self, going: Any, steps: int) -> None:
        self._active.copy_(going)
        with self._tensors.physics():
            self._worlds.keep_still()
            self._worlds.step(steps)

    def _begin(self, begun: Any, starts: StartStates, which: Any) -> None:
        """Put some rows into start states.

        Args:
            begun: (n,) of truth values, the rows.
            starts: the states.
            which: (n,) number of the state of each row.
        """
        for name in ("qpos", "qvel"):
            array = getattr(self._rows, name)
            array.copy_(self._torch.where(begun[:, None], starts.state[name][which], array))
        self._times.masked_fill_(begun, 0.0)
        for array in self._cleared:
            array.masked_fill_(_as_wide_as(array, begun), 0.0)
        with self._tensors.physics():  # a row of memory is too long to be written when it need not be
            lent = (self._tensors.lend(one) for one in (begun, which, starts.state["userdata"]))
            self._worlds.overwrite_rows(*lent)

    def _prepare(self, seed: int, options: dict[str, Any] | None) -> StartStates:
        """Start states of a number of seeds, as a CPU begins them, and what is measured in them.

        Positions, velocities and memories are those before the first physics step. What is derived from them is what
        that step solves for.
        """
        model, torch, count = self._population.scene.model, self._torch, self._count
        qpos, qvel = np.zeros((count, model.nq)), np.zeros((count, model.nv))
        memory = np.zeros((count, model.nuserdata))
        for i in range(count):
            self.episodes.begin(qpos[i], qvel[i], memory[i], seeding.np_random(seed + i)[0], options)
        state = {
            name: torch.as_tensor(array, device=self.device).to(getattr(self._rows, name).dtype)
            for name, array in zip(_STATE, (qpos, qvel, memory), strict=True)
        }
        everyone, parts = torch.ones_like(self._ended), []
        self._population.leave_to_device()
        for first in range(0, count, self._n):
            which = torch.arange(first, first + self._n, device=self.device).clip(max=count - 1)
            self._begin(everyone, StartStates(state, {}), which)
            self._advance(everyone, 1)
            self._rows.qpos.copy_(state["qpos"][which])
            self._rows.qvel.copy_(state["qvel"][which])
            self._times.zero_()
            parts.append({name: values[: count - first] for name, values in self.episodes.measure().items()})
        measured = {name: torch.concatenate([part[name] for part in parts], 0) for name in parts[0]}
        return StartStates(state, measured)

    def _rewards(self, measured: Mapping[str, Any]) -> Any:
        """(n,) by one call of a function that is written for one row."""
        return self._torch.vmap(self.episodes.reward)(dict(measured))

    def _check_reward(self) -> None:
        """Refuse a reward that cannot be computed of tensors."""
        try:
            shape = tuple(self._rewards(self.episodes.measure()).shape)
        except Exception as error:
            reason = str(error).strip().partition("\n")[0]
            raise SurefootError(
                "on a GPU a reward is computed of tensors, by arithmetic and functions of torch's, without float(), "
                f"`if` or the math module: {reason}"
            ) from error
        if shape != (self._n,):
            raise SurefootError(f"a reward is one number for each row, got {shape[1:]}")

    def _check_actions(self, actions: Any) -> None:
        shape = self._n, len(self.episodes.action_names)
        if not isinstance(actions, self._torch.Tensor) or actions.device != self.device:
            kind = actions.device if isinstance(actions, self._torch.Tensor) else type(actions).__name__
            raise SurefootError(
                f"actions are a torch tensor on {self.device}, got {kind}: torch.as_tensor(…, device=…)"
            )
        if tuple(actions.shape) != shape:
            raise SurefootError(f"an action has shape {shape}, got {tuple(actions.shape)}")

    def _infos(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """Measurements with Gymnasium's masks: every row has all of them."""
        return dict(measured) | {f"_{name}": self._torch.ones_like(self._ended) for name in measured}


def _as_wide_as(array: Any, which: Any) -> Any:
    """(n,) truth values with as many dimensions as an array (n, …) has."""
    return which.reshape(-1, *(1,) * (array.ndim - 1))


def _rows_of(population: Population, worlds: WarpWorlds, tensors: Tensors) -> Rows:
    """All rows of a population on a GPU, in the memory of its arrays."""
    scene, data, view = population.scene, worlds.data, tensors.view
    model, times = scene.model, view(worlds.times)
    layout = scene.begin(np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nuserdata), scene.skill, 0)
    arrays = {name: view(getattr(data, name)) for name in ("qpos", "qvel", "xpos", "xipos", "cvel", "subtree_com")}
    return Rows(
        library=tensors, layout=layout, views=[], userdata=view(worlds.rows), scene=scene, clock=times.clone,
        xmat=view(data.xmat).reshape(worlds.n, model.nbody, 9), **arrays,
    )  # fmt: skip
