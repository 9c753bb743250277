"""Work in pieces: done here or elsewhere, kept by name, taken up again."""

from __future__ import annotations

import functools
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ray_pieces import broken, cut, fails, threads_of_a_piece, walked, whole
from surefoot.cli.cluster import name_local_cluster
from surefoot.engine.devices import THREADS_VARIABLE, thread_count
from surefoot.engine.population import Population
from surefoot.errors import CommandError, SurefootError
from surefoot.lab import pieces as pieces_module
from surefoot.lab.experiment import Experiment, Result, Setting, run_experiment, run_experiments
from surefoot.lab.gait_objective import GaitObjective, SturdinessObjective
from surefoot.lab.genbicon_gait_search import StyleObjective
from surefoot.lab.imitation_search import ImitationCost
from surefoot.lab.parameter_tuning import CostFunction, Objective, costs_of, parameter_value, tune
from surefoot.lab.pieces import Piece, Processes, do_pieces, forget, in_full, run_pieces, tell, using_workers
from surefoot.lab.ray_cluster import cores_each
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain
from test_cli import call

APART = Processes(2)


def sweep(folder: Path | None = None, keep: Path | None = None) -> list[Piece[list[float]]]:
    return [Piece(f"walk {i}", walked, (i,), keep, {"folder": folder}) for i in range(4)]


def marks(folder: Path) -> list[int]:
    """The numbers of the pieces that were begun, in order, each as often as it was."""
    return sorted(int(path.name.split("-")[0]) for path in folder.iterdir() if "-" in path.name)


# ------------------------------------------------------------------------------------------------- doing them


def test_results_come_in_order_and_are_the_same_in_other_processes() -> None:
    here = run_pieces(sweep())
    assert here == [walked(i) for i in range(4)]
    assert run_pieces(sweep(), workers=APART) == here


def test_progress_rises_and_a_piece_can_tell_its_own() -> None:
    shares: list[tuple[str, float]] = []
    run_pieces([Piece("one", tell, ("half", 0.5)), Piece("two", tell, ("end", 1.0))], lambda *told: shares.append(told))
    assert shares == [("one", 0.0), ("one: half", 0.25), ("two", 0.5), ("two: end", 1.0)]
    tell("nobody listens", 0.0)


@pytest.mark.parametrize("workers", [None, APART])
def test_an_error_of_a_piece_is_its_outcome_and_does_not_stop_others(workers: Processes | None) -> None:
    mixed: list[Piece[Any]] = [Piece("bad", fails, ("no legs",)), Piece("good", walked, (0,))]
    bad, good = sorted(do_pieces(mixed, workers=workers), key=lambda outcome: outcome.place)
    assert isinstance(bad.error, ZeroDivisionError)
    assert good.result() == walked(0)
    with pytest.raises(ZeroDivisionError, match="no legs"):
        run_pieces(mixed, workers=workers)


# --------------------------------------------------------------------------------------------------- keeping


def test_kept_results_are_not_found_again_and_damaged_ones_are(tmp_path: Path) -> None:
    begun, keep = tmp_path / "begun", tmp_path / "keep"
    begun.mkdir()
    first = run_pieces(sweep(begun, keep))
    files = sorted(keep.iterdir())
    assert run_pieces(sweep(begun, keep)) == first
    assert marks(begun) == [0, 1, 2, 3]
    files[1].write_text(files[1].read_text()[:9])
    files[2].unlink()
    assert run_pieces(sweep(begun, keep)) == first
    assert marks(begun) == [0, 1, 1, 2, 2, 3]
    forget(keep)
    assert not keep.exists()


def test_a_kept_result_belongs_to_its_arguments_and_to_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = Piece("walk", walked, (1,), tmp_path)
    names = {piece.name, replace(piece, arguments=(2,)).name, replace(piece, function=fails).name}
    assert replace(piece, beside={"folder": Path("elsewhere")}).name == piece.name
    monkeypatch.setattr(pieces_module, "fingerprint", lambda: "other code")
    assert len(names | {replace(piece).name}) == 4


def test_a_result_that_is_no_plain_data_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(SurefootError, match=r"hot.*cannot be kept"):
        run_pieces([Piece("hot", Path, ("no text",), tmp_path)])
    assert not list(tmp_path.iterdir())


def test_equal_values_have_equal_names_and_others_have_not(tmp_path: Path) -> None:
    clip, walk = tmp_path / "walk.bvh", load("human/walk")
    clip.write_text("HIERARCHY")
    values: list[Any] = [
        None, True, 1, 1.0, 0.1 + 0.2, 0.3, "1", b"1", (1, 2), {"a": 1}, np.arange(3), np.arange(3.0), clip, walk,
        with_parameters(walk, {"states.0.duration": 0.31}), load("walk"), Objective(3.0), Objective(3.0, 4),
        load_terrain("slope:4"), load_terrain("slope:5"), walked, fails, functools.partial(walked, 3), Objective,
    ]  # fmt: skip
    assert len({in_full(value) for value in values}) == len(values)
    assert in_full(load("human/walk").model_copy(deep=True)) == in_full(walk)
    before = in_full(clip)
    clip.write_text("HIERARCHY 2")
    assert in_full(clip) != before
    for nameless in (lambda: 0, [].append, Population(1).step):
        with pytest.raises(SurefootError, match="cannot be named"):
            in_full(nameless)


# ------------------------------------------------------------------------------------------------- searching


def varied(name: str, path: str, count: int = 3, **others: float) -> list[Skill]:
    """Candidates around a skill."""
    skill, rng = load(name), np.random.default_rng(5)
    value = parameter_value(skill, path)
    return [with_parameters(skill, {path: value + float(rng.normal(0.0, 0.1)), **others}) for _ in range(count)]


NOISE = {"sensing.noise_distance": 0.01, "sensing.noise_velocity": 0.05}
CAPTURED = load("human/captured-forward").parameters.cycle


@pytest.mark.parametrize(
    ("objective", "candidates"),
    [
        (Objective(2.0, 9, 0.9, None, (0.0, 150.0)), varied("walk", "states.1.cd", 4)),
        (Objective(2.0, 3, 1.0), [with_parameters(s, NOISE) for s in varied("human/walk-as-printed", "states.0.cd")]),
        (GaitObjective(0.5, settle=1.0, measured=2.0), varied("human/walk-as-printed", "states.0.cd")),
        (SturdinessObjective(1.0, ((60.0, 0.0),), "steps:{edge},-0.02", 1, 4.0), varied("human/walk", "turn_rate")),
        (ImitationCost(CAPTURED, 2.0, 2, 60.0), varied("human/captured-forward", "cd")),
        (StyleObjective(settle=1.0, measured=2.5), varied("biped/walk", "step_time", 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_cost_of_a_candidate_does_not_depend_on_the_others(
    objective: CostFunction, candidates: list[Skill]
) -> None:
    together = costs_of(candidates, [objective], seed=3)
    alone = [costs_of([candidate], [objective], seed=3)[0] for candidate in candidates]
    assert together.tolist() == alone
    assert np.isfinite(together).all()


def test_workers_find_the_costs_that_one_process_finds(tmp_path: Path) -> None:
    candidates, objectives = varied("walk", "states.1.cd"), [Objective(2.0, 2), Objective(2.0, 1, 0.5)]
    here = costs_of(candidates, objectives, seed=3)
    with using_workers(APART):
        assert costs_of(candidates, objectives, 3, keep=tmp_path).tolist() == here.tolist()
    assert len(list(tmp_path.iterdir())) == len(candidates)


def test_rows_take_the_seeds_they_are_given() -> None:
    noisy = with_parameters(load("human/walk"), NOISE)
    given, counted = Population(3, skill=noisy, seed=(7, 5, 6)), Population(2, skill=noisy, seed=5)
    for population in (given, counted):
        population.run(0.5)
    assert np.array_equal(given.qpos[1:], counted.qpos)
    assert not np.array_equal(given.qpos[0], counted.qpos[0])
    given.restart(seed=(5, 5, 6))
    given.run(0.5)
    assert np.array_equal(given.qpos[[0, 2]], counted.qpos)
    with pytest.raises(SurefootError, match="2 seeds for 3 rows"):
        Population(3, seed=(1, 2))


# ----------------------------------------------------------------------------------------------- experiments


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


EXPERIMENTS = [Experiment(f"made/{name}", "", f"ray_pieces:{name}") for name in ("cut", "whole", "broken")]


def test_experiments_in_other_processes_give_the_same_results_and_files(tmp_path: Path) -> None:
    def run(out: Path) -> list[Result]:
        cases = [(one, Setting(seed, out=out / str(seed))) for one in EXPERIMENTS for seed in (3, 7)]
        found = dict(run_experiments(cases, lambda *_: None))
        return [found[i] for i in range(len(cases))]

    here = run(tmp_path / "here")
    with using_workers(APART):
        there = run(tmp_path / "there")
        again = run(tmp_path / "there")
    assert [result.as_json() for result in here] == [result.as_json() for result in there]
    assert [result.as_json() for result in here] == [result.as_json() for result in again]
    assert [result.holds for result in here] == [True, True, True, False, False, False]
    assert "no legs to stand on" in here[-1].rows[0].ours
    kept = files_of(tmp_path / "here")
    assert kept == files_of(tmp_path / "there")
    parts = ("made-cut/result.json", "made-cut/runs.csv")
    whole_ones = ("made-whole/folder/places.txt", "made-whole/result.json", "made-whole/runs.csv")
    assert set(kept) == {f"{seed}/{name}" for seed in (3, 7) for name in parts + whole_ones}


def test_a_cut_experiment_that_was_stopped_goes_on_with_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def stopped(number: int) -> list[float]:
        done.append(number)
        if len(done) == 3:
            raise KeyboardInterrupt
        return [float(number)]

    monkeypatch.setattr("ray_pieces.walked", stopped)
    monkeypatch.setattr(pieces_module, "in_full", repr)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(EXPERIMENTS[0], Setting(out=tmp_path))
    result = run_experiment(EXPERIMENTS[0], Setting(out=tmp_path))
    assert done == [0, 1, 2, 2, 3]
    assert result.holds
    assert [run["x"] for run in result.runs] == [0.0, 1.0, 2.0, 3.0]
    assert not (tmp_path / "made-cut" / "pieces").exists()


def test_functions_of_experiments_keep_their_names_and_words() -> None:
    assert (cut.__name__, cut.__module__, cut.__doc__) == ("cut", "ray_pieces", "An experiment of several pieces.")
    assert whole.__module__ == broken.__module__ == cut.__module__


def test_several_seeds_are_told_apart_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.lab.reproduce.select", lambda names: EXPERIMENTS[:2])
    arguments = ("--json", "all.json", "--out", "out", "--quick")
    monkeypatch.chdir(tmp_path)
    outcome = call("reproduce", "made", "--seeds", "7,0,1", *arguments)
    found = json.loads(Path("all.json").read_text())
    assert [(one["experiment"], one["seed"]) for one in found] == [
        (name, seed) for name in ("made/cut", "made/whole") for seed in (7, 0, 1)
    ]
    assert outcome.status == 1
    lines = [line.split() for line in outcome.out.splitlines()]
    assert ["case", "seed", "7", "seed", "0", "seed", "1", "all"] in lines
    assert ["walks", "yes", "yes", "yes", "yes"] in lines
    assert ["walk", "NO", "yes", "yes", "NO"] in lines
    assert "1 of 2 experiments hold with all of 3 seeds" in outcome.out
    assert {path.name for path in Path("out").iterdir()} == {"seed-0", "seed-1", "seed-7"}
    for nonsense in ("", "1,1", "1,x", "0.5", "1,-2"):
        assert call("reproduce", "made", "--seeds", nonsense).status == 2
    one = call("reproduce", "made", "--seeds", "1")
    assert one.status == 0
    assert "seed 1" in one.out
    assert call("reproduce", "made", "--seed", "1").out.replace("\n", "") == one.out.replace("  seed 1", "").replace(
        "\n", ""
    )


# --------------------------------------------------------------------------------------------------- machines


def test_threads_are_limited_by_what_is_asked_or_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    assert (thread_count(), thread_count(3)) == (0, 3)
    monkeypatch.setenv(THREADS_VARIABLE, "2")
    assert (thread_count(), thread_count(3), Population(2).scene.threads) == (2, 3, 2)
    assert threads_of_a_piece()[0] == "2"
    monkeypatch.setenv(THREADS_VARIABLE, "many")
    with pytest.raises(SurefootError, match=r"SUREFOOT_THREADS.*'many'"):
        Population(2)


@pytest.mark.parametrize(
    ("nodes", "pieces", "cores"),
    [
        ([64], 1, 64), ([64], 14, 4), ([64], 40, 1), ([64], 1000, 1), ([4, 4, 4], 3, 4), ([4, 4, 4], 5, 2),
        ([3, 3], 3, 1), ([16, 2], 1, 2), ([], 5, 1),
    ],
)  # fmt: skip
def test_cores_of_a_piece_are_all_that_can_be_had_at_once(nodes: list[int], pieces: int, cores: int) -> None:
    assert cores_each(nodes, pieces) == cores


def test_workers_do_not_search_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.engine.devices.present_device", lambda: "cuda")
    with using_workers(APART):
        for search in (
            lambda: costs_of(varied("walk", "states.1.cd"), [Objective(1.0, 1)], seed=0),
            lambda: tune(load("walk"), {"states.1.cd": (0.0, 4.0)}, [Objective(1.0, 1)]),
            lambda: list(run_experiments([(EXPERIMENTS[0], Setting())], lambda *_: None)),
        ):
            with pytest.raises(CommandError, match="leave out --ray or --device"):
                search()


def test_one_module_knows_ray() -> None:
    root = Path(pieces_module.__file__).parents[1]
    knowing = [
        path.name for path in root.rglob("*.py") if re.search(r"^\s*(import|from) ray\b", path.read_text(), re.M)
    ]
    assert knowing == ["ray_cluster.py"]


def test_an_address_is_what_looks_like_one() -> None:
    for given, told in (
        (["reproduce", "--ray"], ["reproduce", "--ray", "local"]),
        (["tune", "--ray", "walk"], ["tune", "--ray", "local", "walk"]),
        (["tune", "--ray", "--seed", "1"], ["tune", "--ray", "local", "--seed", "1"]),
        (["tune", "walk", "--ray", "10.0.0.2:6379"], ["tune", "walk", "--ray", "10.0.0.2:6379"]),
        (["tune", "walk", "--ray", "auto"], ["tune", "walk", "--ray", "auto"]),
        (["reproduce", "--ray", "simbicon/mocap"], ["reproduce", "--ray", "local", "simbicon/mocap"]),
        (["tune", "walk"], ["tune", "walk"]),
    ):
        assert name_local_cluster(given) == told


def test_without_ray_the_option_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)
    for command in (
        ("tune", "walk", "--parameter", "states.1.cd=0:4"), ("find-gait", "walk", "1.0"), ("reproduce", "motions"),
    ):  # fmt: skip
        for option in (("--ray",), ("--ray", "127.0.0.1:6379"), ("--ray", "auto")):
            outcome = call(*command, *option)
            assert outcome.status == 2
            assert outcome.err == "surefoot: Ray is not installed: pip install 'surefoot[ray]'\n"
