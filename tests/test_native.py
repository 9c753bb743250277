"""The engine room: the layout of MuJoCo's structs, the row of memory, and keeping out of other people's models."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from conftest import graph_of, in_the_air, machine_of
from surefoot.engine import callback
from surefoot.engine.simulation import Simulation
from surefoot.errors import LayoutError
from surefoot.native import layout, physics
from surefoot.native import userdata as memory
from surefoot.native.kernels import block
from surefoot.skills import load, with_parameters

# ---------------------------------------------------------------------------------------------- layout


def test_layout_agrees_with_the_live_structs_in_hundreds_of_fields() -> None:
    assert layout.verify() > 200


@pytest.mark.parametrize("planted", [("mjData", "qpos"), ("mjModel", "nq"), ("mjModel", "geom_bodyid")])
def test_a_planted_wrong_offset_is_refused_with_the_version_of_mujoco(
    planted: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = layout.offset
    monkeypatch.setattr(layout, "offset", lambda name, field: right(name, field) + 8 * ((name, field) == planted))
    layout.verify.cache_clear()
    try:
        with pytest.raises(LayoutError, match=mujoco.__version__) as error:
            layout.verify()
        assert planted[1] in str(error.value)
    finally:
        layout.verify.cache_clear()


def test_a_planted_wrong_contact_layout_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = layout.offset
    monkeypatch.setattr(layout, "offset", lambda name, field: right(name, field) + 8 * (name == "mjContact"))
    layout.verify.cache_clear()
    try:
        with pytest.raises(LayoutError, match="mjContact"):
            layout.verify()
    finally:
        layout.verify.cache_clear()


@pytest.mark.parametrize("path", ["opt.timestep", "opt.cone", "opt.gravity", "stat.extent", "stat.center"])
def test_offset_of_a_nested_field_agrees_with_ctypes(path: str) -> None:
    at, kind = 0, layout.struct("mjModel")
    for part in path.split("."):
        at += getattr(kind, part).offset
        kind = next(field[1] for field in kind._fields_ if field[0] == part)  # type: ignore[assignment,misc]
    assert layout.offset("mjModel", path) == at


def test_nested_offset_finds_the_live_value() -> None:
    model = mujoco.MjModel.from_xml_string('<mujoco><option timestep="0.00173" cone="elliptic"/></mujoco>')
    where = model._address + layout.offset("mjModel", "opt.timestep")
    assert ctypes.c_double.from_address(where).value == 0.00173
    where = model._address + layout.offset("mjModel", "opt.cone")
    assert ctypes.c_int.from_address(where).value == int(mujoco.mjtCone.mjCONE_ELLIPTIC)


def test_contact_type_reads_every_field_of_live_contacts() -> None:
    sim = Simulation("planar")
    sim.step(400)
    assert sim.data.ncon > 0
    address = ctypes.c_size_t.from_address(sim.data._address + layout.offset("mjData", "contact")).value
    kind = layout.contact_dtype()
    raw = np.frombuffer((ctypes.c_ubyte * (kind.itemsize * sim.data.ncon)).from_address(address), kind)
    for field in ("dist", "pos", "frame", "friction", "dim", "geom1", "geom2", "exclude", "efc_address"):
        assert np.array_equal(raw[field], getattr(sim.data.contact, field)), field


def test_a_block_of_a_flat_array_is_the_same_numbers_in_several_dimensions_compiled_or_not() -> None:
    flat, shape = np.random.default_rng(5).normal(size=60), (3, 2, 4)

    def add(flat: Any, start: int, i: int, j: int, k: int) -> float:
        block(flat, start, shape)[i, j, k] += 10.0
        return block(flat, start, shape)[i, j, k]  # type: ignore[no-any-return]

    for act in (add, njit(add)):
        for at, place in enumerate(itertools.product(*map(range, shape))):
            given = flat.copy()
            assert act(given, 7, *place) == given[7 + at] == flat[7 + at] + 10.0
            assert np.count_nonzero(given != flat) == 1


# ------------------------------------------------------------------------------------------ row of memory

_SIZES = st.builds(
    memory.Sizes,
    actuators=st.integers(0, 30), feet=st.integers(1, 4), pushes=st.integers(1, 20),
    slot_size=st.integers(8, 80), memory_size=st.integers(1, 40), table_size=st.integers(0, 60),
)  # fmt: skip


def _sections(row: memory.Row, userdata: np.ndarray) -> list[tuple[int, int, str]]:
    """(begin, end, name) of each section, in float64s from the start of the row."""
    base = userdata.__array_interface__["data"][0]
    found = []
    for name, section in row._asdict().items():
        begin = (section.__array_interface__["data"][0] - base) // 8
        found.append((begin, begin + section.nbytes // 8, name))
    return sorted(found)


@settings(deadline=None, max_examples=60)
@given(sizes=_SIZES)
def test_sections_of_a_row_follow_each_other_without_gap_or_overlap_to_its_very_end(sizes: memory.Sizes) -> None:
    userdata = np.full(sizes.total, np.nan)
    row = memory.format_row(userdata, sizes, anatomy=3)
    sections = [s for s in _sections(row, userdata) if s[1] > s[0]]
    assert sections[0][0] == 0
    for (_, end, name), (begin, _, following) in itertools.pairwise(sections):
        assert end == begin, f"{name} → {following}"
    assert sections[-1][1] == sizes.total


def test_every_named_field_of_a_record_is_a_place_of_its_own() -> None:
    sim = Simulation("planar")
    userdata = np.zeros(sim.model.nuserdata)
    row = memory.format_row(userdata, sim.scene.build.sizes, 0)
    seen: set[int] = set()
    for section in (row.clock, row.report, row.pushes, graph_of(row, 0).head, graph_of(row, 1).states):
        for record in section:
            for field in section.dtype.names:
                before = userdata.copy()
                record[field] = -12.25
                (changed,) = np.flatnonzero(userdata != before)
                assert changed not in seen, field
                seen.add(int(changed))


def test_graph_fills_its_slot_exactly() -> None:
    sim = Simulation("planar")
    graph, slot = graph_of(sim.memory), sim.memory.slots[0]
    assert sum(part.nbytes for part in graph) == slot.nbytes


def test_a_formatted_row_says_its_sizes_and_has_not_fallen() -> None:
    sizes = memory.Sizes(5, 2, 3, 40, 11, 7)
    row = memory.format_row(np.full(sizes.total, 8.5), sizes, anatomy=21)
    header = row.header[0]
    assert header.magic == memory.MAGIC
    assert header.anatomy == 21
    assert tuple(header[name] for name in memory.Sizes._fields) == tuple(sizes)
    assert np.isinf(row.clock[0].fallen_at)
    assert not row.table.any()


def test_writing_gains_by_name_is_what_the_kernel_reads() -> None:
    sim = Simulation("planar")
    in_the_air(sim)
    knee = sim.model.actuator("right_knee").id
    before = sim.data.ctrl.copy()
    role = sim.scene.table.anatomy.roles.index("swing_knee")
    graph_of(sim.memory).gains[role].kp = 0.0
    graph_of(sim.memory).gains[role].kd = 0.0
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.data.ctrl[knee] == 30.0 * sim.data.qvel[sim.model.joint("right_knee").dofadr[0]]
    others = np.arange(6) != knee
    assert np.array_equal(sim.data.ctrl[others], before[others])


def test_writing_commands_pushes_and_machine_by_name_is_what_the_kernel_reads() -> None:
    sim = Simulation("planar")
    in_the_air(sim)
    before = sim.data.ctrl.copy()
    sim.memory.commands[0] = 0.125
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.memory.report[0].feedback != 0.0
    assert np.count_nonzero(sim.data.ctrl != before) == 1  # the stance hip alone answers a lean
    push = sim.memory.pushes[5]
    push.start, push.stop, push.body, push.fz = 0.0, 1.0, 4, 37.5
    sim.memory.header[0].pushed_until = 1.0
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.data.xfrc_applied[4].tolist() == [0.0, 0.0, 37.5, 0.0, 0.0, 0.0]
    assert push.acting == 1.0
    machine_of(sim.memory).state = 1.0  # the left leg's contact state
    mujoco.mj_forward(sim.model, sim.data)
    assert (sim.memory.report[0].state, sim.memory.report[0].swing) == (1.0, 0.0)


def test_writing_a_table_by_name_is_recalled_as_torque() -> None:
    sim = Simulation(skill=with_parameters(load("planar/walk"), {"learning.bins": 10}))
    machine, table = machine_of(sim.memory), sim.memory.table
    assert len(table) == 20
    table[:] = np.arange(20.0) + 0.5
    sim.data.time, machine.step_start, machine.usual_period = 1.0, 0.708, 0.4  # at 0.73 of the step
    machine.entered = 1.0
    mujoco.mj_forward(sim.model, sim.data)
    assert sim.memory.report[0].feedforward == table[10 + 7]  # right leg swings: second half


def test_what_the_kernel_writes_is_read_under_its_name() -> None:
    sim = Simulation("planar")
    sim.step(300)
    mujoco.mj_forward(sim.model, sim.data)
    data, row = sim.data, sim.memory
    assert np.array_equal(row.torque, data.actuator_force)
    assert np.array_equal(row.com, data.subtree_com[1])
    touching = {int(data.contact.geom2[i]) for i in range(data.ncon)} | {int(g) for g in data.contact.geom1}
    for foot, name in enumerate(("left_foot_0", "right_foot_0")):
        assert row.touch[foot] == float(sim.model.geom(name).id in touching)
    assert row.clock[0].advanced == data.time == row.clock[0].sensed


def test_reported_contact_forces_and_center_of_pressure_are_mujocos_own() -> None:
    sim = Simulation("planar")
    for _ in range(6):
        sim.step(211)
        mujoco.mj_forward(sim.model, sim.data)
        force, pressed, total = np.zeros((2, 3)), np.zeros(3), 0.0
        for i in range(sim.data.ncon):
            contact, wrench = sim.data.contact[i], np.zeros(6)
            mujoco.mj_contactForce(sim.model, sim.data, i, wrench)
            foot = sim.model.geom(contact.geom[1]).name.startswith("right")
            force[int(foot)] += contact.frame.reshape(3, 3).T @ wrench[:3]
            pressed += wrench[0] * contact.pos
            total += wrench[0]
        assert sim.memory.contact_force == pytest.approx(force, abs=1e-9)
        assert sim.memory.contact_force[:, 2].sum() >= 0.0
        assert sim.memory.center_of_pressure == pytest.approx(pressed / total if total else np.zeros(3), abs=1e-12)


# ---------------------------------------------------------------------------- other people's models

_FOREIGN = """<mujoco><size nuserdata="{userdata}"/><option timestep="0.002"/>
<worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 .4"><freejoint/><geom size=".1" mass="1"/><body pos=".2 0 0"><joint name="j" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/></body></body></worldbody>
<actuator><motor joint="j" gear="2"/><position joint="j" kp="3"/></actuator>
<sensor><user name="u" dim="2" needstage="acc" datatype="real"/><jointpos joint="j"/></sensor></mujoco>"""


def _foreign_run(userdata: int, content: Callable[[int], np.ndarray]) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(_FOREIGN.format(userdata=userdata))
    data = mujoco.MjData(model)
    data.userdata[:] = content(userdata)
    data.sensordata[:2] = (4.25, -1.5)
    data.xfrc_applied[1, 0] = 0.3
    rows = []
    for step in range(300):
        data.ctrl[:] = np.sin(0.02 * step), 0.2
        mujoco.mj_step(model, data)
        rows.append(np.concatenate([data.qpos, data.qvel, data.ctrl, data.userdata, data.sensordata, data.qacc]))
    return np.array(rows)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda n: np.linspace(-3.0, 7.0, n), id="numbers"),
        pytest.param(lambda n: np.full(n, np.nan), id="nan"),
        pytest.param(lambda n: np.full(n, memory.MAGIC + 1.0), id="nearly-ours"),
    ],
)
@pytest.mark.parametrize("userdata", [0, 1, 63, 64, 2000])
def test_a_foreign_model_moves_the_same_bits_with_and_without_our_callbacks(
    userdata: int, content: Callable[[int], np.ndarray]
) -> None:
    ours = _foreign_run(userdata, content)
    callback.uninstall()
    bare = _foreign_run(userdata, content)
    assert np.array_equal(ours, bare, equal_nan=True)
    assert np.ptp(ours[:, 0]) > 0.0


def test_models_compile_while_the_callbacks_are_installed_and_between_steps_of_ours() -> None:
    sim, alone = Simulation("planar"), Simulation("planar")
    for i in range(20):
        model = mujoco.MjSpec.from_string(_FOREIGN.format(userdata=17 * i)).compile()
        mujoco.mj_step(model, mujoco.MjData(model))
        Simulation("planar", terrain="slope:4")
        sim.step(25)
    alone.step(500)
    assert np.array_equal(sim.snapshot().state, alone.snapshot().state)


def test_a_copy_of_our_data_and_model_runs_on_as_ours_does() -> None:
    sim = Simulation("planar")
    sim.step(333)
    model, data = mujoco.MjModel.__copy__(sim.model), sim.data.__copy__()
    mujoco.mj_step(model, data, 500)
    sim.step(500)
    assert np.array_equal(data.qpos, sim.data.qpos)
    assert np.array_equal(data.userdata, sim.data.userdata)


def test_without_callbacks_nothing_drives_the_body_and_step_puts_them_back() -> None:
    sim = Simulation("planar")
    callback.uninstall()
    before = sim.data.ctrl.copy()
    mujoco.mj_step(sim.model, sim.data, 10)
    assert np.array_equal(sim.data.ctrl, before)
    sim.step()
    assert not np.array_equal(sim.data.ctrl, before)


def test_install_twice_keeps_the_same_callback() -> None:
    callback.install()
    first: Any = mujoco.get_mjcb_control()
    callback.install()
    assert mujoco.get_mjcb_control() is first


def test_anatomy_in_the_model_is_that_of_the_body() -> None:
    sim = Simulation("planar")
    fields = physics.ANATOMY.names or ()
    head = sim.model.numeric_data[sim.scene.build.anatomy_at :][: len(fields)]
    named = dict(zip(fields, head.tolist(), strict=True))
    assert (named["actuators"], named["feet"], named["roles"], named["side_roles"]) == (6, 2, 6, 3)
    assert (named["hip_hinges"], named["knee"], named["ankle"], named["shoulder"]) == (1, 1, 2, -1)
    assert (named["planar"], named["channels"]) == (1, 0)
    assert named["pelvis"] == named["torso"] == sim.model.body("trunk").id
    assert named["standing_height"] == pytest.approx(0.45 + 0.45 + 0.04)
    assert named["sole_depth"] == 0.04
