"""What starting costs, by what is imported: no clock is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from surefoot import skills

HEAVY = ("numpy", "mujoco", "numba", "scipy", "pydantic", "matplotlib", "PIL")


def imported(code: str) -> set[str]:
    """Modules that a program has imported when it ends."""
    end = "\nimport sys; sys.stderr.write('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code + end], text=True, capture_output=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


def command(*arguments: str) -> str:
    return (
        f"import sys; sys.argv = ['surefoot', *{arguments!r}]\n"
        "from surefoot.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0, end.code"
    )


def test_importing_surefoot_imports_nothing_else() -> None:
    found = imported("import surefoot")
    assert not found & set(HEAVY)
    assert {name for name in found if name.startswith("surefoot")} == {"surefoot"}


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("list",), ("list", "--json"), ("simulate", "--help")]
)
def test_commands_that_simulate_nothing_import_no_simulator(arguments: tuple[str, ...]) -> None:
    assert not imported(command(*arguments)) & {"numpy", "mujoco", "numba", "scipy", "matplotlib"}


def test_a_simulation_imports_neither_scipy_s_optimizers_nor_drawing() -> None:
    found = imported("import surefoot as sf\nsf.Simulation('planar').step()")
    assert not found & {"scipy.optimize", "scipy.signal", "scipy.stats", "matplotlib", "PIL", "viser", "gymnasium"}


def test_summaries_are_read_without_checking_files_and_say_the_same() -> None:
    assert {name: skills.summary(name) for name in skills.names()} == {
        name: skills.load(name).summary for name in skills.names()
    }


def test_every_public_name_can_be_imported() -> None:
    imported(
        "import surefoot\nfor name in surefoot.__all__: getattr(surefoot, name)\n"
        "assert set(surefoot.__all__) <= set(dir(surefoot))"
    )
