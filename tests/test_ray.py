"""Work shared by Ray on a local cluster of three nodes: the same bits, whatever is killed, and nothing left over."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ray_pieces import HANGS, fails, threads_of_a_piece, walked, walked_unless_killed
from surefoot.errors import SurefootError
from surefoot.lab.experiment import Experiment, Setting, run_experiments
from surefoot.lab.parameter_tuning import Objective, TuningResult, tune
from surefoot.lab.pieces import Piece, do_pieces, run_pieces
from surefoot.lab.ray_cluster import RayWorkers, ray_workers
from surefoot.skills import load
from test_pieces import files_of, marks

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find processes"),
]
ENVIRONMENT = {
    "PYTHONPATH": str(Path(__file__).parent),  # workers import the pieces from here
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # nodes that only this machine reaches
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
}
SWEEP = 9


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three nodes of one core each, without a driver."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="surefoot-ray-", dir="/tmp")  # names of sockets in it have to be short
    Path("/tmp/ray").mkdir(exist_ok=True)  # where Ray notes the address, which it does not make
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "temp_dir": folder})
    try:
        for _ in range(2):
            made.add_node(num_cpus=1)
        yield made
    finally:
        made.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def workers(cluster: Any) -> Iterator[RayWorkers]:
    with ray_workers(cluster.address) as joined:
        yield joined


def sweep(begun: Path, keep: Path | None = None) -> list[Piece[list[float]]]:
    return [Piece(f"walk {i}", walked, (i,), keep, {"folder": begun}) for i in range(SWEEP)]


def raylet(node: Any) -> int:
    """The process of a node."""
    (own,) = node.all_processes["raylet"]
    return int(own.process.pid)


def wait_for(what: Callable[[], Any]) -> Any:
    """What is true at last."""
    begun = time.monotonic()
    while not (found := what()):
        assert time.monotonic() - begun < HANGS
        time.sleep(0.02)
    return found


def sweep_while(kill: Callable[[int, int], None], spared: int, begun: Path) -> list[list[float]]:
    """Results of a sweep of which one piece is killed: `kill` is given its process and that of its node."""
    victims: list[tuple[int, int]] = []

    def strike() -> None:
        waits = begun / "waits"
        mark = wait_for(lambda: waits.read_text() if waits.exists() else "")
        process, node = map(int, mark.split("-")[2:])
        victims.append((process, node))
        kill(process, node)

    killer = threading.Thread(target=strike)
    killer.start()
    pieces = [Piece(f"walk {i}", walked_unless_killed, (i, begun, spared)) for i in range(SWEEP)]
    results = run_pieces(pieces)
    killer.join()
    assert len(victims) == 1
    return results


# ------------------------------------------------------------------------------------------------ three nodes


def test_a_sweep_on_three_nodes_has_the_same_bits_and_is_taken_up(workers: RayWorkers, tmp_path: Path) -> None:
    assert workers.nodes() == [1, 1, 1]
    begun, keep = tmp_path / "begun", tmp_path / "keep"
    begun.mkdir()
    found = run_pieces(sweep(begun, keep))
    assert found == [walked(i) for i in range(SWEEP)]
    assert marks(begun) == list(range(SWEEP))
    assert len({path.name.split("-")[3] for path in begun.iterdir()}) == 3  # every node did some
    assert run_pieces(sweep(begun, keep)) == found
    assert marks(begun) == list(range(SWEEP))  # nothing was begun again


def test_a_killed_worker_costs_its_piece_alone(workers: RayWorkers, tmp_path: Path) -> None:
    found = sweep_while(lambda process, node: os.kill(process, signal.SIGKILL), 0, tmp_path)
    assert found == [walked(i) for i in range(SWEEP)]
    begun = marks(tmp_path)
    again = [i for i in range(SWEEP) if begun.count(i) > 1]
    assert len(again) == 1
    assert sorted([*range(SWEEP), *again]) == begun


def test_an_error_comes_back_as_it_was_raised_and_threads_are_as_many_as_cores(workers: RayWorkers) -> None:
    bad, good = sorted(
        do_pieces([Piece("bad", fails, ("no legs",)), Piece("good", threads_of_a_piece)]), key=lambda own: own.place
    )
    assert isinstance(bad.error, ZeroDivisionError)
    assert str(bad.error) == "no legs"
    assert good.result() == ["1", True]


def test_a_worker_with_other_code_is_refused(workers: RayWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.lab.ray_cluster.fingerprint", lambda: "other code")
    with pytest.raises(SurefootError, match="another version of Surefoot"):
        run_pieces([Piece("walk", walked, (0,))])


def test_a_search_and_experiments_give_the_same_on_three_nodes(cluster: Any, tmp_path: Path) -> None:
    bounds = {"states.1.cd": (0.5, 4.0), "states.0.cv": (0.0, 0.8)}
    experiments = [Experiment(f"made/{name}", "", f"ray_pieces:{name}") for name in ("cut", "whole", "broken")]

    def work(folder: Path) -> tuple[TuningResult, list[Any]]:
        folder.mkdir()
        found = tune(
            load("walk"), bounds, [Objective(2.0, 2)], generations=3, popsize=5, checkpoint=folder / "search.json"
        )
        cases = [(one, Setting(seed, out=folder / str(seed))) for one in experiments for seed in (1, 8)]
        results = dict(run_experiments(cases, lambda *_: None))
        return found, [results[i].as_json() for i in range(len(cases))]

    here = work(tmp_path / "here")
    with ray_workers(cluster.address):
        there = work(tmp_path / "there")
    assert here == there
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")


def test_a_killed_node_costs_its_piece_alone(cluster: Any, tmp_path: Path) -> None:
    def kill(_: int, pid: int) -> None:
        node = next(own for own in cluster.worker_nodes if raylet(own) == pid)
        cluster.remove_node(node, allow_graceful=False)  # SIGKILL

    with ray_workers(cluster.address) as workers:
        found = sweep_while(kill, raylet(cluster.head_node), tmp_path)
        assert found == [walked(i) for i in range(SWEEP)]
        begun = marks(tmp_path)
        again = [i for i in range(SWEEP) if begun.count(i) > 1]
        assert len(again) == 1
        assert sorted([*range(SWEEP), *again]) == begun
        wait_for(lambda: workers.nodes() == [1, 1])
        cluster.add_node(num_cpus=1)
        wait_for(lambda: workers.nodes() == [1, 1, 1])


@pytest.mark.parametrize("nowhere", ["here:nowhere", "127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_without_a_cluster_is_refused_in_one_line(nowhere: str) -> None:
    with pytest.raises(SurefootError, match=f"no Ray cluster can be joined at {nowhere}"), ray_workers(nowhere):
        pytest.fail("it was joined")


# ------------------------------------------------------------------------------------------- the command line


def descendants(process: int) -> set[int]:
    """All processes that a process has begun, and theirs."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def cmdline(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def session_folders(processes: set[int]) -> set[str]:
    """The temporary folders that processes were told of."""
    return {folder for one in processes for folder in re.findall(r"[^=\s\0]*/surefoot-ray-\w+", cmdline(one))}


TUNE = ("tune", "walk", "--parameter", "states.1.cd=0:4", "--seconds", "2", "--replicas", "1", "--save", "own.yaml")


@contextlib.contextmanager
def searching(folder: Path, generations: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A search by the command line, once its first generation is done."""
    command = [sys.executable, "-m", "surefoot", *TUNE, "--generations", str(generations), *options]
    with (folder / "said").open("w") as said:
        process = subprocess.Popen(command, cwd=folder, start_new_session=True, stdout=said, stderr=said)
    try:
        wait_for(lambda: (folder / "own.search.json").exists() or process.poll() is not None)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "whole_group", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["the command", "as a terminal does"]
)
def test_ctrl_c_leaves_nothing_running(whole_group: bool, tmp_path: Path) -> None:
    with searching(tmp_path, 9000, "--ray") as process:
        begun = descendants(process.pid)
        folders = session_folders(begun)
        assert len(begun) > 3
        assert len(folders) == 1
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        assert process.wait(HANGS) == 130, (tmp_path / "said").read_text()
        assert (tmp_path / "said").read_text().splitlines()[1:] == []  # but for how many cores there are: no traceback
        wait_for(lambda: not any(is_alive(one) for one in begun))
        assert not any(map(os.path.exists, folders))


@pytest.mark.slow
def test_after_the_head_was_killed_the_same_command_ends_with_the_same_bits(tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    for folder in (undisturbed, killed):
        folder.mkdir()
    with searching(undisturbed, 15) as process:
        assert process.wait(HANGS) == 0
    with searching(killed, 15, "--ray") as process:
        begun = descendants(process.pid)
        folders = session_folders(begun)
        for head in [one for one in begun if re.search(r"/(gcs_server|raylet)\0", cmdline(one))]:
            os.kill(head, signal.SIGKILL)
        assert process.wait(HANGS) != 0
        wait_for(lambda: not any(is_alive(one) for one in begun))
    for folder in folders:  # what a killed head may leave
        shutil.rmtree(folder, ignore_errors=True)
    with searching(killed, 15, "--ray") as process:
        assert process.wait(HANGS) == 0
    for name in ("own.yaml", "own.search.json"):
        assert (killed / name).read_bytes() == (undisturbed / name).read_bytes()
    assert {path.name for path in killed.iterdir()} == {"own.yaml", "own.search.json", "said"}
