"""Reading and writing skill files: bounded, strict, and with the line of what is wrong."""

from __future__ import annotations

import os
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent

from surefoot.errors import OutputError, SkillError
from surefoot.skills.schema import Skill

MAX_BYTES = 256 * 1024
MAX_DEPTH = 12


def read(path: Path) -> tuple[Skill, Any]:
    """Load and validate a skill file.

    Returns:
        The skill, and the document it came from with its comments (for saving it changed).
    """
    text = _bounded_text(path)
    document = parse(text, str(path))
    return validate(document, str(path)), document


def parse(text: str, label: str) -> Any:
    """The YAML document behind a text; aliases, tags and depth are refused before anything is built."""
    yaml = YAML(typ="rt")
    try:
        depth = 0
        for event in yaml.parse(StringIO(text)):
            kind = type(event).__name__
            depth += kind in ("MappingStartEvent", "SequenceStartEvent")
            depth -= kind in ("MappingEndEvent", "SequenceEndEvent")
            line = event.start_mark.line + 1
            if depth > MAX_DEPTH:
                raise SkillError(f"{label}:{line}: nested deeper than {MAX_DEPTH} levels")
            if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
                raise SkillError(f"{label}:{line}: anchors and aliases are not allowed")
            if getattr(event, "tag", None):
                raise SkillError(f"{label}:{line}: tags are not allowed")
        document = YAML(typ="rt").load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise SkillError(f"{label}{where}: not valid YAML: {reason}") from None
    except (RecursionError, ValueError, AttributeError, OverflowError) as error:
        raise SkillError(
            f"{label}: not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}"
        ) from None
    if not isinstance(document, dict):
        raise SkillError(f"{label}:1: a skill file is a mapping of keys to values")
    return document


def validate(document: Any, label: str) -> Skill:
    """Check a document against the schema; all errors at once, each with its line."""
    try:
        return Skill.model_validate(_plain(document))
    except ValidationError as error:
        found = []
        for item in error.errors()[:5]:
            where = ".".join(str(part) for part in item["loc"])
            message = item["msg"].removeprefix("Value error, ")
            found.append(f"line {_line(document, item['loc'])}: {where}: {message}")
        raise SkillError(f"{label}: {'; '.join(found)}") from None


def write(document: Any, path: Path) -> None:
    """Write a document whole or not at all."""
    buffer = StringIO()
    YAML(typ="rt").dump(document, buffer)
    replace_file(path, buffer.getvalue().encode())


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: readers see the old file or the new one."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent or Path(), prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def _bounded_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SkillError(f"cannot read {path}: {error.strerror or error}") from None
    if len(raw) > MAX_BYTES:
        raise SkillError(f"{path}: a skill file has at most {MAX_BYTES // 1024} kB")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillError(f"{path}: not UTF-8 text (byte {error.start})") from None


def _plain(node: Any) -> Any:
    """Plain Python values of a round-trip document (integers where a float is meant become floats)."""
    if isinstance(node, dict):
        return {str(k): _plain(v) for k, v in node.items()}
    if isinstance(node, list):
        items = [_plain(v) for v in node]
        return tuple(items) if _is_pair(items) else items
    if isinstance(node, bool) or node is None:
        return node
    if isinstance(node, float):
        return float(node)
    if isinstance(node, int):
        return int(node)
    return str(node)


def _is_pair(items: list[Any]) -> bool:
    return len(items) == 2 and all(isinstance(i, (int, float)) and not isinstance(i, bool) for i in items)


def _line(document: Any, location: tuple[Any, ...]) -> int:
    """The line of the innermost part of an error's location that is in the document."""
    node: Any = document
    line = 1
    for part in location:
        try:
            is_mapping, is_list = isinstance(node, dict), isinstance(node, list)
            if is_mapping and part in node:
                line, node = node.lc.key(part)[0] + 1, node[part]
            elif is_list and isinstance(part, int) and part < len(node):
                line, node = node.lc.item(part)[0] + 1, node[part]
            else:
                break
        except (AttributeError, KeyError, TypeError):
            break
    return int(line)
