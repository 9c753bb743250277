"""`surefoot studio`: it prints its address, runs until it is interrupted, and says in one line what is wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from surefoot.cli.bench import _measurements
from surefoot.cli.bench import bench as bench_command
from surefoot.cli.main import main
from surefoot.errors import SurefootError
from surefoot.lab import benchmarks
from surefoot.studio import app
from surefoot.studio.benchmark import Visitor


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The status that the command line ends with, for what must not start."""
    monkeypatch.setattr(sys, "argv", ["surefoot", "studio", "--no-browser", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_it_prints_one_address_and_ends_well_when_interrupted(tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "surefoot", "studio", "planar/walk", "--no-browser", "--port", "8131"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        address = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(address, timeout=1800.0) as page:
            assert b"<html" in page.read()
        visitor = Visitor(int(address.rpartition(":")[2]))  # somebody looks at it
        visitor.look()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=1800.0)
        visitor.close()
    assert (running.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("no-such-skill",), "unknown skill"),
        (("--character", "centaur"), "valid"),
        (("--terrain", "swamp"), "unknown terrain"),
        (("--port", "70000"), "0 … 65535"),
        (("--port", "x"), "--port"),
        (("--host", "203.0.113.7"), "cannot listen on 203.0.113.7"),
        (("--folder", "nowhere"), "folder nowhere"),
        (("--folder", "file"), "folder file"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    tmp_path: Path,
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, *arguments) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_without_viser_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition("surefoot.studio")[:2] == ("", "surefoot.studio")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "viser", None)
    assert call(monkeypatch) == 2
    assert capfd.readouterr() == ("", "surefoot: the studio needs the extra: pip install 'surefoot[studio]'\n")


def served(tmp_path: Path, **options: Any) -> list[str]:
    """What a studio says that runs for a moment."""
    lines: list[str] = []
    end = threading.Event()
    timer = threading.Timer(0.3, end.set)
    timer.start()
    app.run_studio("planar/walk", port=0, folder=tmp_path, say=lines.append, until=end, **options)
    timer.join()
    return lines


def test_on_loopback_it_says_its_address_and_nothing_more(tmp_path: Path) -> None:
    (line,) = served(tmp_path, browser=False)
    assert "http://127.0.0.1:" in line


def test_open_to_others_it_says_what_that_means(tmp_path: Path) -> None:
    address, warning = served(tmp_path, browser=False, host="0.0.0.0")
    assert "http://localhost:" in address
    for words in ("anyone who can reach", str(tmp_path), "no password", "no encryption"):
        assert words in warning


def test_a_browser_is_opened_where_it_can_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def show(address: str) -> bool:
        opened.append(address)
        raise webbrowser.Error("no browser")  # which is nobody's concern

    monkeypatch.setattr(webbrowser, "open", show)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    served(tmp_path)
    assert opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    served(tmp_path, browser=False)
    assert opened == []
    (line,) = served(tmp_path)
    assert len(opened) == 1
    assert opened[0] in line


def test_addresses_are_written_for_a_browser() -> None:
    assert app.url("127.0.0.1", 80) == "http://127.0.0.1:80"
    assert app.url("0.0.0.0", 8080) == app.url("::", 8080) == "http://localhost:8080"
    assert app.url("::1", 8080) == "http://[::1]:8080"
    assert [app.is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "127.1.2.3")] == [True] * 4
    assert [app.is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.5", "example.com")] == [False] * 4


def test_bench_measures_the_studio_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.studio import benchmark

    assert _measurements(None, "cuda") is benchmarks.measure_all
    assert _measurements("studio", "cuda") is benchmark.measure_studio
    with pytest.raises(SurefootError, match="valid: gpu, studio"):
        _measurements("moon", "cuda")


@pytest.mark.parametrize(
    ("share", "delay", "growth", "status"), [(20, 3, 1, 0), (26, 3, 1, 1), (20, 51, 1, 1), (20, 3, 11, 1)]
)
def test_benchmarks_status_follows_the_bars(
    share: float, delay: float, growth: float, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefoot.studio import benchmark

    monkeypatch.setattr(benchmark, "_cpu", lambda setup, seconds: (float(share), 5.0, "60"))
    monkeypatch.setattr(benchmark, "_delays", lambda setup, moves: [1.0, float(delay)])
    monkeypatch.setattr(benchmark, "_growth", lambda setup, seconds, done: float(growth))
    assert bench_command("studio", True, True) == status


def test_a_slider_reaches_the_simulation() -> None:
    from surefoot.engine.scene import Setup
    from surefoot.studio.benchmark import _delays

    delays = _delays(Setup("planar/walk"), 3)
    assert len(delays) == 3
    assert all(delay > 0.0 for delay in delays)
