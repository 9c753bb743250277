"""Commands written into many rows at once, as on a GPU, against `engine.commands.tell`, one row at a time."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from surefoot.engine import commands
from surefoot.engine.scene import Scene, Setup
from surefoot.errors import SurefootError
from surefoot.gym.arrays import NUMPY
from surefoot.gym.command_columns import CommandColumns
from surefoot.gym.observations import Memories
from surefoot.native import userdata
from surefoot.reflexes.handover import ASKED, NONE, TAKEN

SKILLS = ("planar/walk", "human/walk", "human/walk-as-printed", "human/captured-walk", "stepper/walk", "biped/walk")


def started(scene: Scene, rows: int) -> np.ndarray:
    """(rows, nuserdata) memories at the start of the scene's skill."""
    memory = np.zeros((rows, scene.model.nuserdata))
    for one in memory:
        row = scene.begin(np.zeros(scene.model.nq), np.zeros(scene.model.nv), one, scene.skill, 0)
        scene.command(row, scene.skill, {})
    return memory


@pytest.mark.parametrize("skill", SKILLS)
def test_many_rows_are_told_the_same_numbers_as_one(skill: str) -> None:
    scene = Scene(Setup(skill))
    known, rng = commands.known(scene, scene.skill), np.random.default_rng(0)
    names = tuple(scene.skill.commands)
    low, high = np.array([known[name][1:] for name in names]).T
    one_by_one = started(scene, 12)
    family = commands.family(scene, scene.skill)
    for i, numbers in enumerate(one_by_one):  # in the middle of things: who has the body, who was asked for
        header = userdata.view(numbers).header[0]
        userdata.view(numbers).clock[0].advanced = 0.5 + i
        if family is not None:
            header.active, header.handover = float(i % 2), (NONE, ASKED, TAKEN)[i % 3]
    at_once = one_by_one.copy()
    views = [userdata.view(numbers) for numbers in at_once]
    columns, rows = CommandColumns(scene, scene.skill, names), Memories(NUMPY, views[0], views, at_once)
    for round_ in range(8):
        values = low + rng.uniform(0.0, 1.0, (12, len(names))) * (high - low)
        if commands.SPEED in names:  # about where the body changes hands, too
            values[:, names.index(commands.SPEED)] *= rng.choice([0.1, 0.3, 1.0], 12)
        which = rng.uniform(size=12) < 0.8
        for i in np.flatnonzero(which):
            told = dict(zip(names, values[i].tolist(), strict=True))
            scene.command(userdata.view(one_by_one[i]), scene.skill, told)
        columns.write(rows, which, values)
        assert np.array_equal(one_by_one, at_once), round_
    assert not np.array_equal(at_once, started(scene, 12))


def test_a_controller_that_does_more_than_to_write_down_a_command_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(Setup("planar/walk"))
    columns = CommandColumns(scene, scene.skill, ("lean",))
    columns.check(np.array([-0.1]), np.array([0.1]))
    kind = type(scene.controller(scene.skill))
    plain = kind.set_command

    def busy(self: object, row: userdata.Row, name: str, value: float) -> None:
        plain(self, row, name, value)  # type: ignore[arg-type]
        row.residual[0] += value

    monkeypatch.setattr(kind, "set_command", busy)
    with pytest.raises(SurefootError, match="does more in Python than to write down lean"):
        columns.check(np.array([-0.1]), np.array([0.1]))
