"""What an agent observes: named measurements of all rows of a simulation or population, and a choice of them.

`Rows` gives one simulation, a population and a population on a GPU the same form, so that the same code measures all.
Vectors are measured in the heading frame: its x axis is level and points where the pelvis faces (a planar body's is the
world's), y points to the left, z up. So no measurement depends on where a body is or which way it walks. Time, angles
and rates are those of the present; what MuJoCo derives from them is that of the last solved physics step, one step
earlier.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from surefoot.engine.commands import family
from surefoot.engine.population import Population
from surefoot.engine.scene import Scene
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.gym.arrays import NUMPY, Library
from surefoot.native import userdata
from surefoot.skills.schema import Skill

_ARRAYS = ("qpos", "qvel", "userdata", "xpos", "xmat", "xipos", "cvel", "subtree_com")


@dataclass(frozen=True)
class Memories:
    """The controllers' memories of n rows, as one array of NumPy's or one of torch's tensors on a GPU."""

    library: Library  # of the array
    layout: userdata.Row  # of one row: where in `userdata` everything lies
    views: Sequence[userdata.Row]  # of each row; none if they are on a GPU
    userdata: Any  # (n, nuserdata)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.userdata)

    def array(self, name: str) -> Any:
        """(n, …) copy of an array of the memories (`torque`) in all rows."""
        begin, one = self.offsets[name]
        return self.library.copy(self.userdata[:, begin : begin + one.size].reshape(len(self), *one.shape))

    def place(self, record: str, name: str) -> int:
        """Where in `userdata` a number of a record (`report`, `phase`) lies."""
        begin, one = self.offsets[record]
        return int(begin + one.dtype.fields[name][1] // 8)

    def scalar(self, record: str, name: str) -> Any:
        """(n,) copy of a number of a record in all rows."""
        return self.library.copy(self.userdata[:, self.place(record, name)])

    def write(self, which: Any, columns: Any, values: Any) -> None:
        """Write numbers of some rows.

        Args:
            which: (n,) of truth values, the rows.
            columns: (k,) indices or a slice, what of them.
            values: (n, k) of all rows.
        """
        before = self.userdata[:, columns]
        self.userdata[:, columns] = self.library.shared.where(which[:, None], values, before)

    def is_run_by(self, number: int) -> Any:
        """(n,) whether the controller of a number has the body."""
        begin, slots = self.offsets["slots"]
        numbers = self.userdata[:, begin], self.userdata[:, begin + slots.shape[1]]
        return self.library.shared.where(self.scalar("header", "active") == 0.0, *numbers) == number

    @functools.cached_property
    def offsets(self) -> dict[str, tuple[int, Any]]:
        """Where in a row of `userdata` each view of a memory begins, and the view of the layout."""
        first = self.layout.header.__array_interface__["data"][0]
        views = self.layout._asdict()
        return {name: ((view.__array_interface__["data"][0] - first) // 8, view) for name, view in views.items()}


@dataclass(frozen=True)
class Rows(Memories):
    """Live arrays over n rows. `qpos`, `qvel` and `userdata` are the present, the rest the last solved physics step."""

    scene: Scene
    clock: Callable[[], Any]  # gives (n,) [s], a copy
    qpos: Any  # (n, nq)
    qvel: Any  # (n, nv)
    xpos: Any  # (n, nbody, 3) [m] world, origins of bodies
    xmat: Any  # (n, nbody, 9) world, axes of bodies
    xipos: Any  # (n, nbody, 3) [m] world, centers of mass of bodies
    cvel: Any  # (n, nbody, 6) world, angular and linear velocity at the tree's center of mass
    subtree_com: Any  # (n, nbody, 3) [m] world


def simulation_rows(sim: Simulation) -> Rows:
    """The one row of a simulation."""
    arrays = {name: getattr(sim.data, name)[None] for name in _ARRAYS}
    return Rows(
        library=NUMPY, layout=sim.memory, views=[sim.memory], scene=sim.scene,
        clock=lambda: np.array([sim.data.time]), **arrays,
    )  # fmt: skip


def population_rows(population: Population) -> Rows:
    """All rows of a population on a CPU."""
    arrays = {name: population.batch.bind(name) for name in _ARRAYS}
    rows, scene = population.rows, population.scene
    return Rows(library=NUMPY, layout=rows[0], views=rows, scene=scene, clock=lambda: population.time, **arrays)


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
        library = rows.library
        self._ground = library.ground(rows.scene.terrain)
        joints = [model.joint(int(model.actuator_trnid[i, 0])) for i in range(model.nu)]
        self._angles = library.constant(np.array([int(j.qposadr[0]) for j in joints], int))
        self._rates = library.constant(np.array([int(j.dofadr[0]) for j in joints], int))
        self._left, self._right = (model.body(side.foot).id for side in (table.anatomy.left, table.anatomy.right))
        self._pelvis = int(model.body(table.anatomy.pelvis).id)
        self._root = int(model.body_rootid[self._pelvis])
        bodies = np.flatnonzero(model.body_rootid == self._root)
        self._bodies, self._masses = library.constant(bodies), library.constant(model.body_mass[bodies])
        self._mass = float(model.body_mass[bodies].sum())
        self._weight = float(model.body_subtreemass[self._root] * np.linalg.norm(model.opt.gravity))
        self.commands, known = tuple(skill.commands), rows.scene.controller(skill).commands
        self._command_places = library.constant(np.array([list(known).index(name) for name in self.commands], int))
        self._directions = [i for i, name in enumerate(self.commands) if known[name].is_direction]
        self._family = family(rows.scene, skill)

    def measure(self) -> dict[str, Any]:
        """Every measurement by name: (n,), or (n, elements) of a vector."""
        rows, library = self._rows, self._rows.library
        place, axes = library.copy(rows.xpos[:, self._pelvis]), rows.xmat[:, self._pelvis].reshape(-1, 3, 3)
        cosine, sine = self._facing(axes[:, :, 0])
        yaw = library.angle(sine, cosine)
        torque = rows.array("torque")
        com = rows.array("com") - self._stance_ankle()
        ahead = self._level(self._pelvis_velocity(), cosine, sine)
        turning = self._level(rows.cvel[:, self._pelvis, :3], cosine, sine)
        return {
            "time": rows.clock(),
            "position": place,
            "yaw": yaw,
            "fallen": rows.scalar("clock", "fallen_at") < math.inf,
            "fall_cause": library.named(rows.scalar("clock", "fall_cause"), userdata.FALL_CAUSES),
            "height": place[:, 2] - self._ground(place[:, 0], place[:, 1]),
            "up": self._seen(self._level(axes[:, :, 2], cosine, sine)),
            "velocity": self._seen(ahead),
            "spin": turning[:, 1:2] if self.planar else turning,
            "angles": rows.qpos[:, self._angles],
            "rates": rows.qvel[:, self._rates],
            "phase": library.sine_and_cosine(2.0 * math.pi * rows.scalar("report", "phase")),
            "contacts": rows.array("touch"),
            "load": rows.array("contact_force")[:, :, 2] / self._weight,
            "com": self._seen(self._level(com, cosine, sine)),
            "com_velocity": self._seen(self._level(self._com_velocity(), cosine, sine)),
            "commands": self._commands(yaw),
            "torque": torque,
            "speed": library.copy(ahead[:, 0]),
            "effort": _sum((torque / self._weight) ** 2),
        }

    def _pelvis_velocity(self) -> Any:
        """(n, 3) [m/s] world, of the pelvis' origin."""
        rows, at = self._rows, self._pelvis
        arm = rows.xpos[:, at] - rows.subtree_com[:, self._root]
        return rows.cvel[:, at, 3:] + rows.library.cross(rows.cvel[:, at, :3], arm)

    def _facing(self, forward: Any) -> tuple[Any, Any]:
        """(n,) cosine and sine of the heading frame's yaw."""
        shared = self._rows.library.shared
        if self.planar:
            return shared.ones_like(forward[:, 0]), shared.zeros_like(forward[:, 0])
        length = shared.sqrt(forward[:, 0] ** 2 + forward[:, 1] ** 2)
        level = length > 1e-9  # else it faces straight up or down, and the world's x is as good as any way
        safe = shared.where(level, length, 1.0)
        return shared.where(level, forward[:, 0] / safe, 1.0), shared.where(level, forward[:, 1] / safe, 0.0)

    def _level(self, vectors: Any, cosine: Any, sine: Any) -> Any:
        """World vectors (n, 3) in frames turned about the vertical."""
        x, y, z = vectors[:, 0], vectors[:, 1], vectors[:, 2]
        return self._rows.library.shared.stack([cosine * x + sine * y, cosine * y - sine * x, z], 1)

    def _seen(self, vectors: Any) -> Any:
        """Vectors without the sideways component, which a planar body lacks."""
        return vectors[:, ::2] if self.planar else vectors

    def _stance_ankle(self) -> Any:
        """(n, 3) [m] world."""
        rows, is_left_swing = self._rows, self._rows.scalar("report", "swing") == 0.0
        feet = rows.xpos[:, self._right], rows.xpos[:, self._left]
        return rows.library.shared.where(is_left_swing[:, None], *feet)

    def _com_velocity(self) -> Any:
        """(n, 3) [m/s] world: momentum of all bodies over their mass."""
        rows, masses = self._rows, self._masses[:, None]
        motion = rows.cvel[:, self._bodies]  # (n, bodies, 6)
        arm = rows.xipos[:, self._bodies] - rows.subtree_com[:, self._root, None]
        return _sum(masses * (motion[:, :, 3:] + rows.library.cross(motion[:, :, :3], arm))) / self._mass

    def _commands(self, yaw: Any) -> Any:
        """(n, commands) of the skill that was asked for, also while its slow part runs."""
        rows = self._rows
        told = rows.array("commands")
        if self._family is not None:
            is_slow = rows.is_run_by(self._family.number)[:, None]
            told = rows.library.shared.where(is_slow, rows.array("other_commands"), told)
        values = told[:, self._command_places]
        for i in self._directions:
            values[:, i] = rows.library.remainder(values[:, i] - yaw)
        return values


def _sum(terms: Any) -> Any:
    """(n, …) sum over the second axis, term by term: a reduction's order may depend on the number of rows."""
    return terms.cumsum(1)[:, -1]


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

    def select(self, measured: Mapping[str, Any], shared: Any = np) -> Any:
        """(n, elements) the chosen measurements of all rows.

        Args:
            measured: all of them.
            shared: what the arrays are made of: `numpy`, or a library with its names.
        """
        count = len(measured["time"])
        chosen = [measured[name].reshape(count, -1) for name in self._chosen]
        return shared.asarray(shared.concatenate(chosen, 1), dtype=shared.float32)


def _elements(name: str, measurer: Measurer) -> list[str]:
    """A name for every element of a measurement."""
    axes = ("x", "z") if measurer.planar else ("x", "y", "z")
    ends: dict[str, Sequence[str]] = {
        **dict.fromkeys(("up", "velocity", "com", "com_velocity"), axes), "spin": ("y",) if measurer.planar else axes,
        **dict.fromkeys(("angles", "rates", "torque"), measurer.hinges), "phase": ("sine", "cosine"),
        **dict.fromkeys(("contacts", "load"), ("left", "right")), "commands": measurer.commands,
    }  # fmt: skip
    return [f"{name} {end}" for end in ends[name]] if name in ends else [name]
