"""What an agent observes: named measurements of all rows of a simulation or population, and a choice of them.

`Rows` gives one simulation and a population the same form, so that the same code measures both. Vectors are measured in
the heading frame: its x axis is level and points where the pelvis faces (a planar body's is the world's), y points to
the left, z up. So no measurement depends on where a body is or which way it walks. Time, angles and rates are those of
the present; what MuJoCo derives from them is that of the last solved physics step, one step earlier.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from surefoot.engine.commands import own_commands
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.native import userdata
from surefoot.skills.schema import Skill

_ARRAYS = ("qpos", "qvel", "userdata", "xpos", "xmat", "xipos", "cvel", "subtree_com")


@dataclass(frozen=True)
class Rows:
    """Live arrays over n rows. `qpos`, `qvel` and `userdata` are the present, the rest the last solved physics step."""

    scene: Scene
    memory: Sequence[userdata.Row]
    clock: Callable[[], np.ndarray]  # gives (n,) [s], a copy
    qpos: np.ndarray  # (n, nq)
    qvel: np.ndarray  # (n, nv)
    userdata: np.ndarray  # (n, nuserdata)
    xpos: np.ndarray  # (n, nbody, 3) [m] world, origins of bodies
    xmat: np.ndarray  # (n, nbody, 9) world, axes of bodies
    xipos: np.ndarray  # (n, nbody, 3) [m] world, centers of mass of bodies
    cvel: np.ndarray  # (n, nbody, 6) world, angular and linear velocity at the tree's center of mass
    subtree_com: np.ndarray  # (n, nbody, 3) [m] world

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.qpos)

    def array(self, name: str) -> np.ndarray:
        """(n, …) copy of an array of the controllers' memories (`torque`) in all rows."""
        begin, one = self.offsets[name]
        return self.userdata[:, begin : begin + one.size].reshape(len(self), *one.shape).copy()

    def scalar(self, record: str, name: str) -> np.ndarray:
        """(n,) copy of a number of a record (`report`, `phase`) in all rows."""
        begin, one = self.offsets[record]
        return self.userdata[:, begin + one.dtype.fields[name][1] // 8].copy()

    @functools.cached_property
    def offsets(self) -> dict[str, tuple[int, Any]]:
        """Where in a row of `userdata` each view of a memory begins, and the first row's view."""
        first = self.userdata.__array_interface__["data"][0]
        views = self.memory[0]._asdict()
        return {name: ((view.__array_interface__["data"][0] - first) // 8, view) for name, view in views.items()}


def simulation_rows(sim: Simulation) -> Rows:
    """The one row of a simulation."""
    arrays = {name: getattr(sim.data, name)[None] for name in _ARRAYS}
    return Rows(sim.scene, [sim.memory], lambda: np.array([sim.data.time]), **arrays)


def population_rows(population: Population) -> Rows:
    """All rows of a population."""
    arrays = {name: population.batch.bind(name) for name in _ARRAYS}
    return Rows(population.scene, population.rows, lambda: population.time, **arrays)


MEASUREMENTS = {
    "time": "[s] since the start",
    "position": "[m] of the pelvis in the world",
    "yaw": "[rad] of the heading frame in the world; 0 for a planar body",
    "fallen": "whether it has fallen",
    "fall_cause": "why it counts as fallen",
    "height": "[m] of the pelvis above the ground below it",
    "up": "the pelvis' own upward axis, heading frame",
    "velocity": "[m/s] of the pelvis, heading frame",
    "spin": "[rad/s] angular velocity of the pelvis, heading frame",
    "angles": "[rad] of every actuated hinge",
    "rates": "[rad/s] of every actuated hinge",
    "phase": "sine and cosine of the cycle's phase",
    "contacts": "1 where a foot touches the ground: left, right",
    "load": "vertical force on each foot, in body weights",
    "com": "[m] center of mass from the stance foot's ankle, heading frame",
    "com_velocity": "[m/s] of the center of mass, heading frame",
    "commands": "values of the commands in their units; directions [rad] relative to where it faces",
    "torque": "[N·m] of every actuator",
    "speed": "[m/s] of the pelvis where it faces",
    "effort": "[m²] sum of the squares of torques over body weight",
}


class Measurer:
    """Measures all rows at once, with the same bits whatever their number."""

    def __init__(self, rows: Rows, skill: Skill) -> None:
        """Look up all indices.

        Args:
            rows: what is measured.
            skill: names the commands.
        """
        self._rows, self._skill, model, table = rows, skill, rows.scene.model, rows.scene.table
        self.planar = table.root == "planar"
        self.hinges = tuple(model.actuator(i).name for i in range(model.nu))
        joints = [model.joint(int(model.actuator_trnid[i, 0])) for i in range(model.nu)]
        self._angles, self._rates = [int(j.qposadr[0]) for j in joints], [int(j.dofadr[0]) for j in joints]
        self._feet = [model.body(side.foot).id for side in (table.anatomy.left, table.anatomy.right)]
        self._pelvis = int(model.body(table.anatomy.pelvis).id)
        self._root = int(model.body_rootid[self._pelvis])
        self._bodies = np.flatnonzero(model.body_rootid == self._root)
        self._mass = model.body_mass[self._bodies]
        self._weight = float(model.body_subtreemass[self._root] * np.linalg.norm(model.opt.gravity))
        self.commands, known = tuple(skill.commands), rows.scene.controller(skill).commands
        self._command_indices = [list(known).index(name) for name in self.commands]
        self._directions = [i for i, name in enumerate(self.commands) if known[name].is_direction]

    def measure(self) -> dict[str, np.ndarray]:
        """Every measurement by name: (n,), or (n, elements) of a vector."""
        rows = self._rows
        place, axes = rows.xpos[:, self._pelvis].copy(), rows.xmat[:, self._pelvis].reshape(-1, 3, 3)
        cosine, sine = self._facing(axes[:, :, 0])
        yaw = np.array([math.atan2(s, c) for s, c in zip(sine, cosine, strict=True)])
        torque = rows.array("torque")
        phase = (2.0 * math.pi * rows.scalar("report", "phase")).tolist()
        com = rows.array("com") - self._stance_ankle()
        cause = rows.scalar("clock", "fall_cause").astype(int)
        ahead = _level(self._pelvis_velocity(), cosine, sine)
        turning = _level(rows.cvel[:, self._pelvis, :3], cosine, sine)
        return {
            "time": rows.clock(),
            "position": place,
            "yaw": yaw,
            "fallen": rows.scalar("clock", "fallen_at") < np.inf,
            "fall_cause": np.array([userdata.FALL_CAUSES[i] for i in cause], dtype=object),
            "height": place[:, 2] - rows.scene.terrain.height(place[:, 0], place[:, 1]),
            "up": self._seen(_level(axes[:, :, 2], cosine, sine)),
            "velocity": self._seen(ahead),
            "spin": turning[:, 1:2] if self.planar else turning,
            "angles": rows.qpos[:, self._angles],
            "rates": rows.qvel[:, self._rates],
            "phase": np.array([[math.sin(p), math.cos(p)] for p in phase]),
            "contacts": rows.array("touch"),
            "load": rows.array("contact_force")[:, :, 2] / self._weight,
            "com": self._seen(_level(com, cosine, sine)),
            "com_velocity": self._seen(_level(self._com_velocity(), cosine, sine)),
            "commands": self._commands(yaw),
            "torque": torque,
            "speed": ahead[:, 0].copy(),
            "effort": _sum((torque / self._weight) ** 2),
        }

    def _pelvis_velocity(self) -> np.ndarray:
        """(n, 3) [m/s] world, of the pelvis' origin."""
        rows, at = self._rows, self._pelvis
        arm = rows.xpos[:, at] - rows.subtree_com[:, self._root]
        return np.asarray(rows.cvel[:, at, 3:] + np.cross(rows.cvel[:, at, :3], arm))

    def _facing(self, forward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) cosine and sine of the heading frame's yaw."""
        if self.planar:
            return np.ones(len(forward)), np.zeros(len(forward))
        length = np.sqrt(forward[:, 0] ** 2 + forward[:, 1] ** 2)
        level = length > 1e-9  # else it faces straight up or down, and the world's x is as good as any way
        safe = np.where(level, length, 1.0)
        return np.where(level, forward[:, 0] / safe, 1.0), np.where(level, forward[:, 1] / safe, 0.0)

    def _seen(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors without the sideways component, which a planar body lacks."""
        return vectors[:, [0, 2]] if self.planar else vectors

    def _stance_ankle(self) -> np.ndarray:
        stance = 1 - self._rows.scalar("report", "swing").astype(int)
        return np.asarray(self._rows.xpos[np.arange(len(self._rows)), np.array(self._feet)[stance]])

    def _com_velocity(self) -> np.ndarray:
        """(n, 3) [m/s] world: momentum of all bodies over their mass."""
        rows, mass = self._rows, self._mass[:, None]
        spin, linear = np.split(rows.cvel[:, self._bodies], 2, axis=2)  # (n, bodies, 3)
        arm = rows.xipos[:, self._bodies] - rows.subtree_com[:, self._root, None]
        return np.asarray(_sum(mass * (linear + np.cross(spin, arm))) / self._mass.sum())

    def _commands(self, yaw: np.ndarray) -> np.ndarray:
        if self._skill.slow is None:
            told = self._rows.array("commands")
        else:
            rows = [own_commands(self._rows.scene, row, self._skill) for row in self._rows.memory]
            told = np.array(rows)
        values = told[:, self._command_indices]
        for i in self._directions:
            values[:, i] = [math.remainder(h - y, 2.0 * math.pi) for h, y in zip(values[:, i], yaw, strict=True)]
        return values


def _level(vectors: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """World vectors (n, 3) in frames turned about the vertical."""
    x, y, z = vectors[:, 0], vectors[:, 1], vectors[:, 2]
    return np.stack([cosine * x + sine * y, cosine * y - sine * x, z], axis=1)


def _sum(terms: np.ndarray) -> np.ndarray:
    """(n, …) sum over the second axis, term by term: a reduction's order may depend on the number of rows."""
    return np.asarray(np.add.accumulate(terms, axis=1)[:, -1])


OBSERVATION_DTYPE = np.float32
OBSERVABLE = (
    "height", "up", "velocity", "spin", "angles", "rates", "phase", "contacts", "load", "com", "com_velocity",
    "commands", "torque",
)  # fmt: skip
"""Measurements that do not depend on where a body is, which way it walks, or when."""
DEFAULT_OBSERVATIONS = ("height", "up", "velocity", "spin", "angles", "rates", "phase", "contacts")
_BOUNDS = {"up": (-1.0, 1.0), "phase": (-1.0, 1.0), "contacts": (0.0, 1.0)}  # all others have no bounds


class Observations:
    """A choice of measurements for a body and a skill."""

    def __init__(self, chosen: Sequence[str], measurer: Measurer) -> None:
        """Choose measurements.

        Args:
            chosen: names out of `OBSERVABLE`.
            measurer: gives the names of their elements.

        Raises:
            SurefootError: a name is unknown or given twice, or nothing remains to observe.
        """
        if isinstance(chosen, str) or not chosen or len(set(chosen)) < len(chosen):
            raise SurefootError(f"observations are a list of names, each once, of: {', '.join(OBSERVABLE)}")
        for name in chosen:
            if name not in OBSERVABLE:
                raise UnknownNameError("observation", name, OBSERVABLE)
        elements = {name: _elements(name, measurer) for name in chosen}
        if not any(elements.values()):
            raise SurefootError("the skill has no commands to observe; choose further observations")
        self.names = tuple(element for name in chosen for element in elements[name])
        bounds = [_BOUNDS.get(name, (-np.inf, np.inf)) for name in chosen for _ in elements[name]]
        low, high = np.array(bounds, OBSERVATION_DTYPE).T
        self.space = Box(low, high, dtype=OBSERVATION_DTYPE)
        self._chosen = tuple(chosen)

    def select(self, measured: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, elements) the chosen measurements of all rows."""
        count = len(measured["time"])
        chosen = [measured[name].reshape(count, -1) for name in self._chosen]
        return np.concatenate(chosen, axis=1).astype(OBSERVATION_DTYPE)


def _elements(name: str, measurer: Measurer) -> list[str]:
    """A name for every element of a measurement."""
    axes = ("x", "z") if measurer.planar else ("x", "y", "z")
    ends: dict[str, Sequence[str]] = {
        **dict.fromkeys(("up", "velocity", "com", "com_velocity"), axes), "spin": ("y",) if measurer.planar else axes,
        **dict.fromkeys(("angles", "rates", "torque"), measurer.hinges), "phase": ("sine", "cosine"),
        **dict.fromkeys(("contacts", "load"), ("left", "right")), "commands": measurer.commands,
    }  # fmt: skip
    return [f"{name} {end}" for end in ends[name]] if name in ends else [name]
