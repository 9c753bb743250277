"""The pose-graph editor: stick figures are the body's own, dragging them sets targets, the simulation follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from surefoot.characters import load as body
from surefoot.characters.table import CharacterTable
from surefoot.controllers.simbicon.parameters import PoseState
from surefoot.engine.scene import Setup
from surefoot.engine.simulation import Simulation
from surefoot.errors import SurefootError
from surefoot.skills import files, library_path, load, names, with_parameters
from surefoot.studio.app import Studio
from surefoot.studio.boards import Board, active_figure, layout_figures
from surefoot.studio.panels.document_controls import difference_table, parse_upload
from surefoot.studio.panels.pose_tab import PoseTab, pose_fields
from surefoot.studio.server import open_server
from surefoot.studio.session import Session
from surefoot.studio.stick_figure import LEFT, RIGHT, draw_pose

PLANAR = {"swing_hip": 0.43, "swing_knee": -0.91, "swing_ankle": 0.23, "stance_knee": -0.37, "stance_ankle": 0.29}
HUMAN = {**PLANAR, "swing_shoulder": -0.6, "swing_elbow": 0.8, "swing_wrist": 0.3, "stance_shoulder": 0.5,
         "stance_elbow": 1.1, "waist": -0.21, "neck": 0.17}  # fmt: skip
BODIES = [("planar", PLANAR), ("human", HUMAN)]


def pose(targets: dict[str, float], torso: float = -0.16, both: bool = False) -> PoseState:
    return PoseState(duration=0.3, torso=torso, targets=targets, both=both)


def forward_kinematics(name: str, state: PoseState, swing: int) -> dict[str, np.ndarray]:
    """Where MuJoCo puts the bodies (x, z), with the stance foot flat and its ankle where the drawing has it."""
    table = body(name)
    model = Simulation(name, f"{name}/walk").model
    data, anatomy = mujoco.MjData(model), table.anatomy
    joints = dict(zip(anatomy.roles, anatomy.joints(swing), strict=True))
    data.qpos[:] = model.qpos0
    pelvis = state.torso - state.targets.get("waist", 0.0)
    if table.root == "planar":
        data.qpos[2] = pelvis  # x, z, pitch
    else:
        data.qpos[3:7] = [math.cos(pelvis / 2), 0.0, -math.sin(pelvis / 2), 0.0]
    angles = dict(state.targets)
    angles["swing_hip"] = state.targets["swing_hip"] - pelvis
    thigh = state.targets["swing_hip"] if state.both else -angles["stance_knee"] - angles["stance_ankle"]
    angles["stance_hip"] = thigh - pelvis
    for role, angle in angles.items():
        data.qpos[model.jnt_qposadr[model.joint(joints[role]).id]] = angle
    mujoco.mj_kinematics(model, data)
    return {s.name: np.array([*data.body(s.name).xpos[[0, 2]]]) for s in table.segments}


@pytest.mark.parametrize(("name", "targets"), BODIES)
@pytest.mark.parametrize("swing", [0, 1])
@pytest.mark.parametrize("both", [False, True])
def test_a_stick_figure_has_its_joints_where_mujoco_has_them(
    name: str, targets: dict[str, float], swing: int, both: bool
) -> None:
    state = pose(targets, both=both)
    bodies, drawn = forward_kinematics(name, state, swing), draw_pose(body(name), state, swing)
    pelvis = body(name).anatomy.pelvis
    assert set(drawn.joint_positions) == set(bodies)
    for part, place in drawn.joint_positions.items():
        wanted = bodies[part] - bodies[pelvis]
        np.testing.assert_allclose(
            np.array(place) - np.array(drawn.joint_positions[pelvis]), wanted, atol=1e-9, err_msg=part
        )


def test_it_stands_on_a_flat_foot_on_the_ground() -> None:
    table = body("human")
    drawn = draw_pose(table, pose(HUMAN), 0)
    assert drawn.pitches["right_foot"] == pytest.approx(0.0, abs=1e-12)
    assert drawn.segments[RIGHT][..., 1].min() == pytest.approx(0.0, abs=1e-9)
    assert drawn.joint_positions["right_foot"] == pytest.approx((0.0, table.sole_depth))


def value_of(state: PoseState, path: str) -> float:
    return state.torso if path == "torso" else state.targets[path.removeprefix("targets.")]


def with_value(state: PoseState, path: str, value: float) -> PoseState:
    if path == "torso":
        return state.model_copy(update={"torso": value})
    return state.model_copy(update={"targets": {**state.targets, path.removeprefix("targets."): value}})


@pytest.mark.parametrize(("name", "targets"), BODIES)
@pytest.mark.parametrize("both", [False, True])
def test_dragging_a_handle_to_where_it_would_be_gives_the_angle(
    name: str, targets: dict[str, float], both: bool
) -> None:
    table, state = body(name), pose(targets, both=both)
    found = draw_pose(table, state, 1, targets).handles
    assert {handle.path for handle in found} >= {"torso", *(f"targets.{role}" for role in PLANAR)}
    for handle in found:
        assert handle.angle(handle.at) == pytest.approx(value_of(state, handle.path), abs=1e-9), handle.name
        for turn in (-0.19, 0.07, 0.11):
            wanted = handle.value + turn
            other = draw_pose(table, with_value(state, handle.path, wanted), 1, targets)
            there = next(h for h in other.handles if h.name == handle.name)
            assert math.dist(there.at, handle.at) > 1e-3
            assert there.pivot == pytest.approx(handle.pivot, abs=1e-9), handle.name
            assert handle.angle(there.at) == pytest.approx(wanted, abs=1e-6), handle.name


def test_a_pose_that_pushes_off_stands_on_its_toes_and_they_can_be_dragged() -> None:
    table, state = body("planar"), pose({**PLANAR, "stance_ankle": -0.9})
    drawn = draw_pose(table, state, 0)
    assert drawn.pitches["right_foot"] == pytest.approx(-0.55)
    assert drawn.pitches["right_shin"] == pytest.approx(0.35)
    toe = next(h for h in drawn.handles if h.path == "targets.stance_ankle")
    other = draw_pose(table, pose({**PLANAR, "stance_ankle": -0.7}), 0)
    there = next(h for h in other.handles if h.path == "targets.stance_ankle")
    assert toe.angle(toe.at) == pytest.approx(-0.9, abs=1e-9)
    assert toe.angle(there.at) == pytest.approx(-0.7, abs=1e-6)


def test_dragging_beyond_a_joints_range_stops_at_its_end() -> None:
    table, state = body("planar"), pose(PLANAR)
    ankle = next(h for h in draw_pose(table, state, 0).handles if h.path == "targets.swing_knee")
    knee, up = ankle.pivot, draw_pose(table, state, 0).pitches["left_thigh"]
    straight_on = (knee[0] + math.sin(up + 0.5), knee[1] - math.cos(up + 0.5))  # the knee bent the wrong way
    assert ankle.angle(straight_on) == table.hinges["left_knee"].high == 0.0


def test_a_target_of_more_than_a_turn_is_dragged_on_not_wrapped() -> None:
    state = pose(PLANAR, torso=5.9)
    table = body("planar")
    torso = next(h for h in draw_pose(table, state, 0).handles if h.path == "torso")
    there = next(h for h in draw_pose(table, pose(PLANAR, torso=6.1), 0).handles if h.path == "torso")
    assert torso.angle(there.at) == pytest.approx(6.1, abs=1e-6)


@pytest.mark.parametrize(("name", "targets"), BODIES)
def test_the_mirrored_figure_is_the_same_with_its_sides_exchanged(name: str, targets: dict[str, float]) -> None:
    table, state = body(name), pose(targets)
    own, other = draw_pose(table, state, 0), draw_pose(table, state, 1)
    np.testing.assert_allclose(own.segments[LEFT], other.segments[RIGHT], atol=1e-12)
    np.testing.assert_allclose(own.segments[RIGHT], other.segments[LEFT], atol=1e-12)
    assert not np.allclose(own.segments[LEFT], own.segments[RIGHT])


def table_of(skill: str) -> CharacterTable:
    return body(skill.split("/")[0])


@pytest.mark.parametrize("name", [n for n in names() if load(n).controller == "simbicon"])
def test_every_pose_graph_of_the_library_fits_on_the_board(name: str) -> None:
    skill, table = load(name), table_of(name)
    graph = skill.parameters
    row = layout_figures(table, graph)
    assert len(row) == len(graph.states) * (2 if graph.mirrored else 1)
    assert len({place.at for place in row}) == len(row)
    assert [place.mirrored for place in row].count(True) == (len(graph.states) if graph.mirrored else 0)
    for place in row:
        drawn = draw_pose(table, graph.states[place.state], place.swing, graph.states[place.state].targets)
        assert all(np.isfinite(ends).all() for ends in drawn.segments.values())


def test_the_acting_state_of_either_half_has_its_figure() -> None:
    walk, step = load("planar/walk").parameters, load("planar/big-step").parameters
    assert [active_figure(walk, i) for i in range(4)] == [0, 1, 2, 3]
    assert [active_figure(step, i) for i in range(7)] == [0, 1, 2, 0, 1, 2, -1]  # then it goes on as a walk


def test_there_is_a_control_for_every_number_the_body_can_use() -> None:
    planar = {e.path for e in pose_fields(body("planar"), load("planar/walk").parameters)}
    assert planar == {"duration", "cd", "cv", "torso", *(f"targets.{role}" for role in PLANAR)}
    human = {e.path for e in pose_fields(body("human"), load("human/stand").parameters)}
    assert {"cd_lateral", "torso_roll", "targets.swing_hip_roll", "targets.waist_yaw"} <= human
    assert "feedback.swing_ankle.1" in human
    assert "targets.stance_hip" not in human
    for entry in pose_fields(body("human"), load("human/stand").parameters):
        shown = entry.low + 0.3 * (entry.high - entry.low)
        written = math.degrees(entry.write(shown)) if entry.degrees else entry.write(shown)
        assert written == pytest.approx(shown, abs=0.01), entry.path


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    found = Studio(Setup(skill="planar/walk"), port=0, folder=tmp_path)
    yield found
    found.stop()


def poses_of(studio: Studio) -> PoseTab:
    return next(panel for panel in studio._panels if isinstance(panel, PoseTab))


def do(studio: Studio, action: Callable[[], Any]) -> Any:
    return studio.loop.call(action)


def test_dragging_a_dot_changes_the_running_simulation_without_stopping_it(studio: Studio) -> None:
    panel = poses_of(studio)
    do(studio, lambda: studio.session.step(400))
    sim, before = do(studio, lambda: (studio.session.sim, studio.session.sim.time))
    at = do(studio, lambda: panel._board.handle_position(0, "left_thigh"))
    do(studio, lambda: panel._board.drag(0, "left_thigh", at, "start"))
    assert do(studio, lambda: studio.session.sim.skill) == load("planar/walk")  # nothing moved yet
    do(studio, lambda: panel._board.drag(0, "left_thigh", (at[0] + 0.05, at[1] + 0.03), "update"))
    do(studio, lambda: panel._board.drag(0, "left_thigh", (at[0] + 0.08, at[1] + 0.05), "end"))
    skill = do(studio, lambda: studio.session.sim.skill)
    assert skill.parameters.states[0].targets["swing_hip"] > 0.5
    assert do(studio, lambda: studio.session.sim) is sim
    assert do(studio, lambda: studio.session.sim.time) >= before >= 0.2
    assert do(studio, lambda: len(studio.editing.document._before)) == 1  # one drag, one change
    do(studio, panel._keeping.undo)
    assert do(studio, lambda: studio.session.sim.skill) == load("planar/walk")


def test_edits_outlive_the_renewals_they_cause(studio: Studio) -> None:
    panel = poses_of(studio)
    for angle in (0.45, 0.5):
        do(studio, lambda angle=angle: panel.change(0, {"targets.swing_hip": angle}))
        do(studio, panel.reload)
    assert do(studio, lambda: len(studio.editing.document._before)) == 2
    assert do(studio, lambda: panel.graph.states[0].targets["swing_hip"]) == 0.5  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("skill", "character", "is_graph"),
    [("human/fast-walk", None, True), ("human/cloud-hands", None, True), ("planar/back-flip", None, True),
     ("biped/sneak", "humanoid", False), ("human/stand", None, True)],
)  # fmt: skip
def test_the_tab_takes_the_skill_that_runs(studio: Studio, skill: str, character: str | None, is_graph: bool) -> None:
    panel = poses_of(studio)
    panel._shown.value = True
    do(studio, lambda: studio.session.rebuild(skill=skill, character=character))
    do(studio, panel.reload)
    do(studio, panel.refresh)
    assert do(studio, lambda: studio.editing.document.skill.full_name) == skill
    assert panel._board.visible == studio.stage.has_headroom == is_graph
    assert panel._note.visible != is_graph
    assert panel._state.visible == is_graph


def test_an_ending_can_be_changed_and_the_simulation_goes_on(studio: Studio) -> None:
    panel = poses_of(studio)
    do(studio, lambda: panel.choose(1))
    do(studio, lambda: panel.set_end_condition(None))
    state = do(studio, lambda: studio.session.sim.skill.parameters.states[1])
    assert state.until is None
    assert state.duration == 0.3
    assert panel._state.value == "1 · 0.30 s"


def test_saving_loading_and_comparing_by_the_tab(studio: Studio) -> None:
    keeping, panel = poses_of(studio)._keeping, poses_of(studio)
    do(studio, lambda: panel.change(0, {"targets.swing_hip": 0.47}))
    do(studio, lambda: keeping.save("longer"))
    saved = files.read(studio.folder / "longer.yaml")[0]
    assert saved == do(studio, lambda: studio.session.sim.skill)
    do(studio, lambda: panel.change(0, {"targets.swing_hip": 0.5}))
    assert "| state 0: swing hip | 26.9° | 28.6° |" in difference_table(studio.editing.document)
    do(studio, lambda: keeping.compare(True))
    assert do(studio, lambda: studio.session.sim.skill) == saved
    do(studio, lambda: keeping.compare(False))
    assert do(studio, lambda: studio.session.sim.skill.parameters.states[0].targets["swing_hip"]) == 0.5
    do(studio, keeping.reset)
    assert do(studio, lambda: studio.session.sim.skill) == saved
    do(studio, lambda: studio.session.rebuild(skill="planar/run"))
    do(studio, lambda: keeping.load("longer.yaml"))
    assert do(studio, lambda: studio.session.sim.skill) == saved
    name, content = do(studio, keeping.download)
    assert name == "longer.yaml"
    assert content == (studio.folder / "longer.yaml").read_bytes()


def test_saving_never_overwrites_another_file_and_names_are_names(studio: Studio) -> None:
    keeping = poses_of(studio)._keeping
    (studio.folder / "precious.yaml").write_text("mine")
    with pytest.raises(SurefootError, match="already"):
        do(studio, lambda: keeping.save("precious"))
    for name in ("", "../escape", "Big Step", "a/b", "x" * 64, ".hidden"):
        with pytest.raises(SurefootError, match="small letters"):
            do(studio, lambda name=name: keeping.save(name))
    assert [path.name for path in studio.folder.iterdir()] == ["precious.yaml"]
    assert (studio.folder / "precious.yaml").read_text() == "mine"


WALK = library_path("planar/walk").read_text()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (WALK.replace("swing_knee: -1.10", "swing_nee: -1.10").encode(), "unknown role 'swing_nee'"),
        (WALK.replace("cd: 2.20", "cd: 99").encode(), "less than or equal to 20"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"name: &a walk\nother: *a", "aliases are not allowed"),
        (WALK.encode() + b"#" * files.MAX_BYTES, "at most 64 kB"),
        (b"", "mapping"),
        (WALK.replace("controller: simbicon", "controller: os.system").encode(), "controller"),
    ],
)
def test_a_bad_upload_is_refused_with_the_reason_and_changes_nothing(
    studio: Studio, content: bytes, reason: str
) -> None:
    keeping, running = poses_of(studio)._keeping, do(studio, lambda: studio.session.sim)
    with pytest.raises(SurefootError, match=reason) as caught:
        do(studio, lambda: keeping.upload("their/own\n.yaml", content))
    assert "\n" not in str(caught.value)
    assert do(studio, lambda: studio.session.sim) is running
    assert list(studio.folder.iterdir()) == []


def test_a_good_upload_runs_and_keeps_its_comments(studio: Studio) -> None:
    keeping = poses_of(studio)._keeping
    sent = library_path("human/walk-as-printed").read_text().replace("name: walk", "name: sent # from afar")
    assert parse_upload("sent.yaml", sent.encode())[1].name == "sent"
    do(studio, lambda: keeping.upload("sent.yaml", sent.encode()))
    assert do(studio, lambda: studio.session.sim.skill.full_name) == "human/sent"
    assert b"# from afar" in do(studio, keeping.download)[1]


def walked(change: dict[str, float]) -> tuple[float, float]:
    """Speed [m/s] of the last of 7 s after an edit at 2 s, and the time that has passed [s]."""
    session = Session(Setup(skill="planar/walk"))
    step = session.sim.model.opt.timestep
    session.step(round(2.0 / step))
    time, sim = session.sim.time, session.sim
    session.edit_skill(with_parameters(session.sim.skill, change) if change else session.sim.skill)
    assert session.sim is sim
    assert session.sim.time == time
    session.step(round(5.0 / step))
    assert not session.sim.fallen
    x = float(session.sim.data.qpos[0])
    session.step(round(2.0 / step))
    return (float(session.sim.data.qpos[0]) - x) / 2.0, session.sim.time


def test_an_edited_pose_makes_another_gait_of_the_running_simulation() -> None:
    plain, time = walked({})
    edited, _ = walked({"states.0.targets.swing_hip": 0.6, "states.0.torso": -0.1, "states.1.torso": -0.1})
    assert time == pytest.approx(9.0)
    assert edited > plain + 0.1


def test_a_line_of_sight_meets_a_turned_board_where_it_was_drawn() -> None:
    server = open_server(port=0)
    try:
        board = Board(server.scene, "/board", (-1.3, 0.4, 2.1), turn=0.3)
        for at in ((0.7, 0.2), (2.2, 1.1)):
            eye, there = np.array([1.0, -3.8, 1.35]), np.array(board.to_scene(at))
            assert board._hit(eye, eye + 0.4 * (there - eye)) == pytest.approx(at, abs=1e-9)
    finally:
        server.stop()
