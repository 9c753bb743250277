"""Every block of the README runs as it is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
SHELL = [line.split(" #")[0].strip() for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
PYTHON = [text for kind, text in BLOCKS if kind == "python"]


def run(*command: str, cwd: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_there_are_commands_and_a_program() -> None:
    assert len(SHELL) >= 5
    assert len(PYTHON) == 1


@pytest.mark.parametrize("line", SHELL)
def test_a_command_of_the_readme_runs(line: str, tmp_path: Path) -> None:
    if line.startswith("make "):  # that it can be made; the tests themselves are run by one of them
        run(shutil.which("make") or "make", "--dry-run", *line.split()[1:], cwd=ROOT)
    elif line.startswith(". "):
        assert line == ". .venv/bin/activate"
    else:
        run(*line.split(), cwd=tmp_path)


@pytest.mark.parametrize("text", PYTHON)
def test_the_program_of_the_readme_runs(text: str, tmp_path: Path) -> None:
    run(sys.executable, "-c", text, cwd=tmp_path)
    assert (tmp_path / "walk.glb").stat().st_size > 10_000


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text()):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_the_reference_and_the_site_s_menu_leave_nothing_out() -> None:
    reference = (ROOT / "docs/api/index.md").read_text()
    for module, name in surefoot._HOMES.values():
        assert f"::: surefoot.{module}.{name}\n" in reference
    menu = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert f": {page.name}\n" in menu, page.name
