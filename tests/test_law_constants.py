"""Every number that a law has beyond its paper is named, and its page says what it is for."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("genbicon", "limit_cycle", "stepping")
ROW = re.compile(r"^\| `([a-z_]+\.[A-Z_0-9]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
Value = float | tuple[float, ...]


def constants(package: str) -> dict[str, Value]:
    """Numeric constants of a package's modules; not enumerations (1.0, 2.0, …) nor places in other tables."""
    found: dict[str, Value] = {}
    for path in sorted((ROOT / "src/surefoot/controllers" / package).glob("*.py")):
        text = path.read_text()
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and "# place" not in text.splitlines()[node.lineno - 1]:
                found |= {f"{path.stem}.{name}": value for name, value in _numbers(node).items()}
    return found


def _numbers(node: ast.Assign) -> dict[str, Value]:
    try:
        value = ast.literal_eval(node.value)
    except ValueError:
        return {}
    target = node.targets[0]
    if isinstance(target, ast.Tuple):
        if not all(_is_number(v) for v in value) or list(value) in (_counted(value, 0), _counted(value, 1)):
            return {}
        return {name.id: v for name, v in zip(target.elts, value, strict=True) if isinstance(name, ast.Name)}
    is_numeric = _is_number(value) or (isinstance(value, tuple) and all(_is_number(v) for v in value))
    return {target.id: value} if is_numeric and isinstance(target, ast.Name) else {}


def _counted(values: tuple[float, ...], begin: int) -> list[float]:
    return [float(begin + i) for i in range(len(values))]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def table(package: str) -> dict[str, tuple[str, ...]]:
    page = (ROOT / "docs" / f"{package}.md").read_text()
    section = page[page.index("## Beyond the paper") :]
    return {name: cells for name, *cells in ROW.findall(section[: section.index("\n## ", 3)])}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_constant_of_a_law_is_in_its_pages_table_and_no_other(package: str) -> None:
    assert sorted(table(package)) == sorted(constants(package))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_table_has_the_values_of_the_code_and_says_why(package: str) -> None:
    rows = table(package)
    for name, value in constants(package).items():
        written, unit, does, reason = (cell.strip() for cell in rows[name])
        numbers = tuple(float(part.replace("−", "-")) for part in written.split(","))
        assert numbers == (value if isinstance(value, tuple) else (value,)), name
        assert unit, name
        assert len(does) > 5, name
        assert len(reason) > 2, name


@pytest.mark.parametrize("package", PACKAGES)
def test_no_kernel_of_a_law_has_a_magic_number(package: str) -> None:
    """Literals in functions are 0, 1, halves, small integers of formulas, and rounding guards up to 1e-3."""
    allowed = {0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0}
    for path in (ROOT / "src/surefoot/controllers" / package).glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef) or not _is_kernel(function):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Constant) and isinstance(node.value, float):
                    guard = 0.0 < node.value <= 1e-3 or node.value >= 1e9
                    assert node.value in allowed or guard, (path.name, node.lineno, node.value)


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("kernel", "noinline") for d in function.decorator_list)
