"""Many rows of one tracking skill, window by window: what reconstruction and learning run on."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from surefoot.characters import load as load_character
from surefoot.controllers.tracking import law
from surefoot.controllers.tracking.table import TrackingTable
from surefoot.engine.population import Population
from surefoot.lab.tracking_document import tracking_document
from surefoot.lab.tracking_states import displaced
from surefoot.native import userdata
from surefoot.native.kernels import python_impl
from surefoot.skills import files

_USERDATA = int(mujoco.mjtState.mjSTATE_USERDATA)


class TrackingRows:
    """Rows of one skill, with their states and the memory of their laws as arrays.

    Attributes:
        population: the rows.
        table: what they follow.
        model: MuJoCo's.
        qpos: (n, nq) live view.
        qvel: (n, nv) live view.
        steps: physics steps of a window.
    """

    def __init__(
        self, n: int, table: TrackingTable, character: str, folder: Path, timestep: float | None = None,
        changes: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        """Make them.

        Args:
            n: how many.
            table: what they follow.
            character: the body's name.
            folder: where the table is written for them.
            timestep: physics step [s]; by default the body's own.
            changes: parameters that differ from those of every tracking skill.
        """
        body, path = load_character(character), folder / "rows.npz"
        table.save(path)
        document = tracking_document(table, body, "rows", str(path), "rows")
        document["parameters"] |= changes or {}
        self.skill = files.validate(document, "rows")
        self.population = Population(n, skill=self.skill, timestep=timestep)
        scene = self.population.scene
        self.n, self.table, self.body, self.model = n, table, body, scene.model
        self.qpos, self.qvel = self.population.qpos, self.population.qvel
        self.joints = np.array([int(self.model.joint(name).qposadr[0]) for name in body.gains])
        self.dofs = np.array([int(self.model.joint(name).dofadr[0]) for name in body.gains])
        self.steps = max(round(table.window / self.model.opt.timestep), 1)
        self._batch, self._rows = self.population.batch, self.population.rows
        self._memory = self._batch.bind("userdata")
        self._at = scene.controllers["tracking"].tables[str(path)]
        actuators = len(body.gains)
        views = python_impl(law.memory_of)(self._rows[0].memory, actuators)
        self._places = {name: userdata.place_of(self._rows[0], getattr(views, name)) for name in views._fields}
        clock = userdata.place_of(self._rows[0], self._rows[0].clock)[0]
        self._advanced = clock + (userdata.CLOCK.names or ()).index("advanced")
        own = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        before = mujoco.mj_stateSize(self.model, own & (_USERDATA - 1))
        slots = userdata.place_of(self._rows[0], self._rows[0].slots)
        keep = np.ones(self._batch.state.shape[1], bool)
        keep[before + slots[0] : before + slots[1]] = False
        self._kept = np.flatnonzero(keep)  # of a state: all but the parameters, which are the same for all rows
        for name in ("xpos", "xmat", "subtree_com"):
            self.population.physics(name)  # from now on they are those of the last step
        self._first = self._batch.state[0, self._kept].copy()
        self.place(np.zeros(n, int))

    def section(self, name: str) -> np.ndarray:
        """(n, …) live view of a section of the laws' memory."""
        begin, end = self._places[name]
        return np.asarray(self._memory[:, begin:end])

    @property
    def fallen(self) -> np.ndarray:
        """(n,) whether a row has fallen."""
        fallen: np.ndarray = np.isfinite(self.population.fallen_at)
        return fallen

    def follow(self, table: TrackingTable) -> None:
        """Let all rows follow another table of the same size from their next window on."""
        numbers = table.packed()
        self.model.numeric_data[self._at : self._at + len(numbers)] = numbers
        self._batch.set_models(self.model)  # which the batch had copied
        self.table = table

    def states(self, rows: np.ndarray) -> np.ndarray:
        """Copies of all that some rows are."""
        states: np.ndarray = self._batch.state[np.ix_(rows, self._kept)]
        return states

    def restore(self, states: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Put rows, by default all, into states that `states` gave."""
        where = np.arange(self.n) if rows is None else rows
        self._batch.state[np.ix_(where, self._kept)] = states

    def place(self, windows: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Put rows, by default all, into the states of windows of the table, with the reference over the origin.

        Args:
            windows: a number for each of the rows.
            rows: numbers of the rows.
        """
        table, where = self.table, np.arange(self.n) if rows is None else rows
        self._batch.state[np.ix_(where, self._kept)] = self._first
        self.qpos[where, :7], self.qvel[where, :6] = table.qpos[windows, :7], table.qvel[windows, :6]
        self.qpos[np.ix_(where, self.joints)] = table.qpos[windows, 7:]
        self.qvel[np.ix_(where, self.dofs)] = table.qvel[windows, 6:]
        tracker, names = self.section("tracker"), law.TRACKER.names or ()
        tracker[where, names.index("clock")] = windows
        tracker[where, names.index("began")] = 2.0
        for name in ("x", "y", "heading"):
            tracker[where, names.index(name)] = 0.0
        self._memory[where, self._advanced] = -1.0  # nothing has been evaluated yet
        begin, end = self._places["applied"]
        self._memory[where, begin:end] = table.offsets[np.where(windows > 0, windows, table.windows) - 1]

    def displace(self, errors: np.ndarray, windows: np.ndarray) -> None:
        """Move all rows, which are placed in the states of windows, by differences as the law measures them.

        Args:
            errors: (n, ROOT + 2 · actuators).
            windows: (n,) where they are.
        """
        pose, rates = displaced(*self.poses(), self.table.headings[windows], errors)
        self.qpos[:, :7], self.qpos[:, self.joints] = pose[:, :7], pose[:, 7:]
        self.qvel[:, :6], self.qvel[:, self.dofs] = rates[:, :6], rates[:, 6:]

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 7 + actuators) root and joints, (n, 6 + actuators) their velocities, joints as in the table."""
        return (
            np.column_stack([self.qpos[:, :7], self.qpos[:, self.joints]]),
            np.column_stack([self.qvel[:, :6], self.qvel[:, self.dofs]]),
        )
