"""Reading and writing skill files: bounded, strict, and with the line of what is wrong."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent

from surefoot.atomic_file import replace_file
from surefoot.errors import SkillError
from surefoot.skills.check import problems
from surefoot.skills.schema import Skill, class_of

MAX_BYTES = 64 * 1024
MAX_DEPTH = 12


def read(path: Path) -> tuple[Skill, Any]:
    """Load and validate a skill file; one that `extends` a registered skill gives what differs from it.

    Returns:
        The skill, and the document it came from with its comments (for saving it changed).
    """
    text = _bounded_text(path)
    document = _extended(parse(text, str(path)), str(path))
    return validate(document, str(path)), document


def _extended(document: Any, label: str) -> Any:
    """A document on top of that of the skill it extends, if it does; that one must stand by itself."""
    name = document.pop("extends", None)
    if name is None:
        return document
    from surefoot.skills import library_path

    base = parse(_bounded_text(library_path(str(name))), str(name))
    if "extends" in base:
        raise SkillError(f"{label}: {name} extends another skill itself; extend that one")
    _lay_over(base, document)
    return base


def _lay_over(below: Any, above: Any) -> None:
    """Replace values of a document by those of another one, mapping by mapping; lists as a whole."""
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _lay_over(below[key], value)
        else:
            below[key] = value


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
    except (RecursionError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise SkillError(
            f"{label}: not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}"
        ) from None
    if not isinstance(document, dict):
        raise SkillError(f"{label}:1: a skill file is a mapping of keys to values")
    return document


def validate(document: Any, label: str) -> Skill:
    """Check a document against the schema and the body it is for; each error with its line."""
    kind = class_of(document)
    try:
        skill = kind.model_validate(_plain(document))
        found = list(problems(skill))
    except ValidationError as error:
        skill, found = None, [(item["loc"], _message(item, kind)) for item in error.errors()]
    if found or skill is None:
        lines = [f"line {_line(document, loc)}: {'.'.join(map(str, loc))}: {text}" for loc, text in found[:5]]
        raise SkillError(f"{label}: {'; '.join(lines)}")
    return skill


def check(skill: Skill) -> Skill:
    """A skill that did not come from a file: the same refusals, without lines."""
    for location, text in problems(skill):
        raise SkillError(f"{skill.full_name}: {'.'.join(map(str, location))}: {text}")
    return skill


def _message(item: Any, kind: type[Skill]) -> str:
    if item["type"] == "extra_forbidden":
        return f"unknown key; valid: {', '.join(_valid_keys(item['loc'][:-1], kind))}"
    return str(item["msg"]).removeprefix("Value error, ")


def _valid_keys(location: tuple[Any, ...], kind: type[Skill]) -> list[str]:
    """Keys of the part of the schema that an error's location leads to."""
    model: Any = kind
    for part in location:
        declared = model.model_fields.get(part) if isinstance(part, str) else None
        if declared is not None:
            model = next((m for m in _models(declared.annotation)), model)
    return [declared.alias or name for name, declared in model.model_fields.items()]


def _models(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def text_of(document: Any) -> str:
    """A document as it is written."""
    buffer = StringIO()
    YAML(typ="rt").dump(document, buffer)
    return buffer.getvalue()


def write(document: Any, path: Path) -> None:
    """Write a document whole or not at all."""
    replace_file(path, text_of(document).encode())


def _bounded_text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise SkillError(f"cannot read {path}: not a file")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise SkillError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
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
    if isinstance(node, (list, tuple)):
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
