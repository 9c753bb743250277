"""A package that nobody here has seen adds a controller, a body, skills, a terrain and a task (docs/extending.md)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import surefoot

HERE = Path(__file__).parent
PACKAGE = HERE / "extension"
IN_PROCESS = """
import numpy as np
import surefoot as sf
from surefoot.engine.scene import Setup

sim = sf.Simulation(skill="human/statue", seed=3)
sim.command(lean=0.05)
sim.step(300)
population = sf.Population(3, skill="human/statue", seed=3)
population.command(lean=0.05)
population.step(300)
assert all(np.array_equal(sim.data.qpos, row) for row in population.qpos)

sim.switch("stand")  # to a controller of ours, and back
sim.run(2.0)
assert sim.skill.controller == "simbicon", sim.skill
sim.switch("statue")
sim.run(2.0)
assert sim.skill.controller == "statue", sim.skill

task = sf.Simulation(skill="human/statue").add(sf.tasks.load("hold-still:0.2"))
assert task.status == "waiting"

from surefoot.gym import SurefootEnv, SurefootVectorEnv
env = SurefootEnv(skill="human/statue")
env.reset(seed=0)
assert np.isfinite(env.step(env.action_space.sample())[0]).all()
many = SurefootVectorEnv(2, skill="stilter/stroll", terrain="waves")
many.reset(seed=0)
assert np.isfinite(many.step(many.action_space.sample())[0]).all()

from surefoot.studio.app import Studio
studio = Studio(Setup("human/statue"), port=0)
try:
    walk = next(panel for panel in studio._panels if panel.title == "Walk")
    body = next(panel for panel in studio._panels if panel.title == "Body")
    assert set(walk.steering._sliders) == {"lean"}, walk.steering._sliders
    assert "human/statue" in walk.skills._known.values()
    assert "waves" in walk.ground._kind.options
    assert "stilter" in body._who.options
    session, call = studio.session, studio.loop.call  # its own thread steps the session: nothing else may
    call(lambda: session.step(50))
    assert not call(lambda: session.sim.fallen)
    call(lambda: session.rebuild(skill="stilter/stroll", character=None, terrain="waves"))
    call(lambda: session.step(50))
    assert call(lambda: session.sim.scene.table.name) == "stilter"
finally:
    studio.stop()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment of its own, in which the package is installed."""
    root = tmp_path_factory.mktemp("extension")
    venv.create(root / "env", with_pip=False)
    own = next((root / "env").glob("lib/python*/site-packages"))
    around = [path for path in sys.path if path.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({path!r})" for path in around]
    (own / "around.pth").write_text("\n".join([str(Path(surefoot.__file__).parents[1]), *lines]))
    package = shutil.copytree(PACKAGE, root / "package", ignore=shutil.ignore_patterns("__pycache__"))
    python = root / "env" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--no-build-isolation", str(package)], check=True)
    return python


def run(python: Path, *arguments: str, cwd: Path = HERE) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([python, *arguments], cwd=cwd, text=True, capture_output=True, env=os.environ)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def test_all_that_a_package_adds_is_listed(python: Path) -> None:
    found = json.loads(run(python, "-m", "surefoot", "list", "--json").stdout)
    assert "stilter" in found["characters"]
    assert found["skills"]["human/statue"] == "stands like a statue"
    assert "stilter/stroll" in found["skills"]
    assert "waves" in found["terrains"]
    assert "hold-still" in found["tasks"]
    assert "statue" in found["controllers"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("human/statue", "--command", "lean=2", "--task", "hold-still:1"),
        ("stilter/stroll", "--terrain", "waves:0.01,3"),
        ("walk", "--character", "stilter"),
    ],
)
def test_it_runs_from_the_command_line(python: Path, arguments: tuple[str, ...]) -> None:
    done = run(python, "-m", "surefoot", "simulate", *arguments, "--seconds", "2", "--json")
    found = json.loads(done.stdout)
    assert found["fallen_at"] is None
    assert all(task["status"] == "done" for task in found.get("tasks", []))


def test_it_runs_in_populations_environments_and_the_studio(python: Path) -> None:
    run(python, "-c", IN_PROCESS)


def test_it_passes_the_conformance_tests(python: Path) -> None:
    done = run(
        python, "-m", "pytest", "-p", "no:cacheprovider", "test_conformance.py", "-k", "statue or stilter or waves"
    )  # fmt: skip
    assert int(done.stdout.rsplit(" passed", 1)[0].split()[-1]) >= 10


def test_a_package_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from surefoot import plugins

    broken = EntryPoint("broken", "no_such_package:Thing", plugins.TERRAINS)
    monkeypatch.setattr(plugins, "_registered", lambda group: {"broken": broken})
    plugins.load.cache_clear()
    with pytest.raises(surefoot.SurefootError, match=r"terrain 'broken' \(no_such_package:Thing\) cannot be imported"):
        plugins.load(plugins.TERRAINS, "broken")


def test_two_packages_that_register_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint, EntryPoints

    from surefoot import plugins

    both = [EntryPoint("one", value, plugins.TASKS) for value in ("a:b", "c:d")]
    monkeypatch.setattr(plugins, "_installed", lambda: EntryPoints(both))
    plugins._registered.cache_clear()
    try:
        with pytest.raises(surefoot.SurefootError, match="two installed packages register the task 'one': a:b and c:d"):
            plugins.names(plugins.TASKS)
    finally:
        plugins._registered.cache_clear()
