"""Skill files that are wrong: each is refused in one line that names the file, the line and the reason."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.skills import files, library_path

WALK = re.sub(r"^measured:.*\n", "", library_path("planar/walk").read_text(), flags=re.MULTILINE)
HEAD, STATES = WALK[: WALK.index("    - duration")], WALK[WALK.index("    - duration") :]
SMALL = """\
schema: 1
name: small
character: planar
controller: simbicon
summary: two states
provenance: {source: a test}
commands: [lean, speed]
start: {state: 0, swing: right, speed: 0.5, joints: {stance_knee: -0.1}}
parameters:
  mirrored: true
  gains: {knee: {kp: 250.0}}
  states:
    - {duration: 0.3, cv: 0.2, targets: {swing_hip: 0.4, swing_knee: -1.1}}
    - {until: contact, cd: 2.2, targets: {swing_hip: -0.7}, feedback: {stance_ankle: [0.1, 0.2]}}
"""
ROLES = ("swing_hip", "swing_knee", "swing_ankle", "stance_hip", "stance_knee", "stance_ankle")
FUZZ = settings(max_examples=500, deadline=None, derandomize=True, database=None)
LONG_FUZZ = settings(max_examples=5000, deadline=None, database=None)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wild skills may make MuJoCo write its log: not beside the sources."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "own.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path) -> str:
    """The one printable line with which reading the file, or else using it, is refused."""
    with pytest.raises(sf.SurefootError) as caught:
        sf.Simulation(skill=path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.isprintable(), "control characters reach the terminal"
    assert len(message) < 2000
    return message


def edited(old: str, new: str) -> str:
    assert old in WALK
    return WALK.replace(old, new, 1)


def after(marker: str, line: str) -> str:
    """The walk with a line more, behind the one that holds the marker."""
    end = WALK.index("\n", WALK.index(marker))
    return f"{WALK[:end]}\n{line}{WALK[end:]}"


def with_parameter(line: str) -> str:
    return HEAD.replace("  states:", f"  {line}\n  states:") + STATES


def line_of(text: str, marker: str) -> int:
    return text[: text.index(marker)].count("\n") + 1


def names_line(message: str, path: Path, line: int) -> bool:
    return message.startswith(f"{path}:{line}:") or (message.startswith(f"{path}: ") and f"line {line}: " in message)


def test_the_files_the_refusals_are_made_from_are_themselves_accepted(tmp_path: Path) -> None:
    for text in (WALK, SMALL, "\ufeff" + WALK, WALK.replace("\n", "\r\n")):
        assert sf.load_skill(written(tmp_path, text)).character == "planar"


# --- what is not a text, or not YAML, or not a mapping -----------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "mapping"),
        (b"# nothing but a comment\n", "mapping"),
        (b"- 1\n- 2\n", "mapping"),
        (b"hello", "mapping"),
        (b"3", "mapping"),
        (bytes(range(256)) * 8, "UTF-8"),
        (b"\x7fELF\x02\x01\x01\x00", "YAML"),
        (b"\x89PNG\r\n\x1a\n\x00", "UTF-8"),
        (WALK.encode("utf-16"), "UTF-8"),
        (WALK.replace("forward", "vorwärts").encode("latin-1"), "UTF-8"),
        (b"a: \x00", "YAML"),
        (b'schema: "\\UFFFFFFFF"', "YAML"),
        (edited("cd: 2.20", "cd: " + "9" * 5000).encode(), "YAML"),
        (edited("cd: 2.20", "cd: 2001-99-99").encode(), "YAML"),
        (b"'" * 1000, "mapping"),
    ],
)
def test_what_is_not_a_yaml_mapping_is_refused_by_name_and_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = written(tmp_path, content)
    message = refusal(path)
    assert message.startswith(str(path))
    assert reason in message


@pytest.mark.parametrize(
    ("text", "marker", "reason"),
    [
        (WALK[:-10], "targets: {swing_hip: -0.70", "YAML"),
        (edited("  state: 0", "\tstate: 0"), "\tstate", "YAML"),
        (WALK + "name: again\n", "name: again", "duplicate"),
        (edited("      cd: 2.20", "      cd: 2.20\n      cd: 2.10"), "cd: 2.10", "duplicate"),
        (WALK + "---\n" + WALK, "---", "document"),
        ("%YAML 9.9\n---\n" + WALK, "%YAML", "version"),
        (edited("forward walk", '"\\q"'), '"\\q"', "escape"),
    ],
)
def test_malformed_yaml_is_refused_with_its_line(tmp_path: Path, text: str, marker: str, reason: str) -> None:
    path = written(tmp_path, text)
    message = refusal(path)
    assert names_line(message, path, line_of(text, marker)), message
    assert reason in message


def test_every_truncation_of_a_file_is_refused_or_complete(tmp_path: Path) -> None:
    for length in range(0, len(WALK) - 1, 61):
        path = written(tmp_path, WALK[:length])
        skill, message = judged(functools.partial(sf.load_skill, path))
        assert str(path) in message or len(skill.parameters.states) >= 1  # cut between two states: whole, but shorter


# --- what YAML can do and a skill file must not ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (edited("name: walk", "name: &a walk"), 2, "anchors"),
        ("a: &a [1]\nb: *a\n", 1, "anchors"),
        ("a: *nothing\n", 1, "anchors"),
        ("a: &a [x, x]\n" + "".join(f"a{k + 1}: &a{k + 1} [*a{k}, *a{k}]\n" for k in range(40)), 1, "anchors"),
        (WALK + "<<: *a\n", 30, "anchors"),
        (edited("name: walk", "name: !!str walk"), 2, "tags"),
        (edited("cd: 2.20", "cd: !!float 2.2"), 26, "tags"),
        ("--- !!python/object:os.system\na: 1\n", 1, "tags"),
        ("a: " + "[" * 50 + "]" * 50, 1, "deep"),
        ("[" * 60_000, 1, "deep"),
        ("{a: " * 15_000, 1, "deep"),
        ("- " * 30_000, 1, "deep"),
        ("".join(" " * k + "a:\n" for k in range(300)), 13, "deep"),
    ],
)
def test_anchors_tags_and_depth_are_refused_before_anything_is_built(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = written(tmp_path, text)
    message = refusal(path)
    assert names_line(message, path, line), message
    assert reason in message


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system", "!!python/object/new:os.system", "!python/object/apply:os.system"]
)
def test_loading_never_executes_anything(tmp_path: Path, tag: str) -> None:
    proof = tmp_path / "executed"
    path = written(tmp_path, edited("forward walk", f'{tag} ["touch {proof}"]'))
    assert "tags" in refusal(path)
    assert not proof.exists()


def test_environment_variables_and_includes_stay_text(tmp_path: Path) -> None:
    skill = sf.load_skill(written(tmp_path, edited("forward walk", '"${HOME} `id` !include /etc/passwd"')))
    assert skill.summary == "${HOME} `id` !include /etc/passwd"


# --- what is YAML but not a skill --------------------------------------------------------------------------

WRONG_VALUES: list[tuple[str, str, str, str]] = [  # old, new (its line is the one to be named), field, reason
    ("cd: 2.20", "cd: two", "states.1.cd", "number"),
    ("cd: 2.20", "cd: '2.2'", "states.1.cd", "number"),
    ("cd: 2.20", "cd: true", "states.1.cd", "number"),
    ("cd: 2.20", "cd: null", "states.1.cd", "number"),
    ("cd: 2.20", "cd: [1.0]", "states.1.cd", "number"),
    ("cd: 2.20", "cd: 2001-01-01", "states.1.cd", "number"),
    ("cd: 2.20", "cd: .nan", "states.1.cd", "finite"),
    ("cd: 2.20", "cd: .inf", "states.1.cd", "finite"),
    ("cd: 2.20", "cd: -.inf", "states.1.cd", "finite"),
    ("cd: 2.20", "cd: 1e999", "states.1.cd", "finite"),
    ("cd: 2.20", "cd: 20.5", "states.1.cd", "20"),
    ("cd: 2.20", "cd: -20.5", "states.1.cd", "-20"),
    ("swing_hip: -0.70", "swing_hip: 7.0", "states.1.targets.swing_hip", "6.3"),
    ("duration: 0.30", "duration: -0.3", "states.0.duration", "0"),
    ("duration: 0.30", "duration: 31", "states.0.duration", "30"),
    ("until: contact", "until: never", "states.1.until", "'contact', 'landing' or 'request'"),
    ("until: contact", "until: contact\n      duration: 0.1", "states.1", "either"),
    ("schema: 1", "schema: 2", "schema", "1"),
    ("schema: 1", "schema: '1'", "schema", "1"),
    ("schema: 1", "schema: true", "schema", "1"),
    ("name: walk", "name: ../../walk", "name", "[a-z0-9]"),
    ("name: walk", "name: Walk", "name", "[a-z0-9]"),
    ("name: walk", 'name: "walk\\n"', "name", "[a-z0-9]"),
    ("controller: simbicon", "controller: magic", "controller", "valid: genbicon, imitation, limit_cycle, simbicon"),
    ("summary: forward walk", "summary: " + "x" * 3000, "summary", "2000"),
    ("summary: forward walk", 'summary: "\\ud800"', "summary", "unicode"),
    ("  state: 0", "  state: 16", "start.state", "15"),
    ("  state: 0", "  state: -1", "start.state", "0"),
    ("  state: 0", "  state: 0.5", "start.state", "integer"),
    ("  swing: right", "  swing: both", "start.swing", "'left' or 'right'"),
    ("  speed: 0.98", "  speed: 21.0", "start.speed", "20"),
    ("  torso: 0.051", "  torso: 99", "start.torso", "6.3"),
    ("commands: [lean, speed]", "commands: lean", "commands", "list"),
    ("commands: [lean, speed]", "commands: [lean, fly]", "commands", "speed"),
]


@pytest.mark.parametrize(("old", "new", "field", "reason"), WRONG_VALUES, ids=[c[1][:30] for c in WRONG_VALUES])
def test_a_wrong_value_is_refused_with_its_line_its_field_and_what_would_be_valid(
    tmp_path: Path, old: str, new: str, field: str, reason: str
) -> None:
    text = edited(old, new)
    path = written(tmp_path, text)
    message = refusal(path)
    assert names_line(message, path, line_of(text, new)), message
    assert field in message
    assert reason in message


WRONG_STRUCTURES: list[tuple[str, str, str, str]] = [  # name, text, marker of the line, reason
    ("unknown key", WALK + "wings: 1\n", "wings", "wings"),
    ("unknown key of a state", edited("      cd: 0.0", "      cdd: 0.0"), "cdd", "cdd"),
    ("neither duration nor until", edited("    - duration: 0.30\n      cd", "    - cd"), "- cd", "either"),
    ("no states", HEAD.replace("states:\n", "states: []\n"), "states:", "at least 1"),
    ("states left out", HEAD, "states:", "list"),
    ("states a mapping", HEAD.replace("states:\n", "states: {a: 1}\n"), "states:", "list"),
    ("too many states", HEAD + STATES * 9, "states:", "16"),
    ("too many mirrored states", HEAD + STATES * 5, "parameters:", "16"),
    ("no state takes time", HEAD + "    - {duration: 0, targets: {}}\n", "parameters:", "take time"),
    ("no start", WALK.replace("start:", "fall: {}\nbegin:"), "begin", "start"),
    ("then of a cycle", with_parameter("then: run"), "parameters:", "cycle"),
    ("then a path", with_parameter("mirrored: false\n  then: ../walk"), "then:", "[a-z0-9]"),
    ("negative gain", with_parameter("gains: {all: {kp: -1.0}}"), "gains:", "0"),
    ("three hip targets", with_parameter("hip_targets: [0.0, 1.0, 2.0]"), "hip_targets", "hip_targets"),
    ("hip targets exchanged", with_parameter("hip_targets: [1.0, -1.0]"), "hip_targets", "hip_targets"),
    ("one bin to learn in", with_parameter("learning: {bins: 1}"), "learning:", "2"),
    ("phase out of the cycle", with_parameter("entry: {phase: 1.0}"), "entry:", "1"),
    ("entry into no state", with_parameter("entry: {phase: 0.5, state: 9}"), "entry:", "entry"),
    ("changed to NaN", after("source", "  changed: [{parameter: x, printed: .nan, here: 1.0}]"), "changed:", "finite"),
    ("measured inf", WALK + "measured: {speed: .inf}\n", "measured", "finite"),
    ("feedback of three", after("- until", "      feedback: {stance_ankle: [1, 2, 3]}"), "feedback", "feedback"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "marker", "reason"), [c[1:] for c in WRONG_STRUCTURES], ids=[c[0] for c in WRONG_STRUCTURES]
)
def test_a_wrong_structure_is_refused_with_its_line_and_reason(
    tmp_path: Path, text: str, marker: str, reason: str
) -> None:
    path = written(tmp_path, text)
    message = refusal(path)
    assert names_line(message, path, line_of(text, marker)), message
    assert reason in message


WRONG_NAMES: list[tuple[str, str, str, tuple[str, ...]]] = [  # what names something that is not there
    ("role of a target", edited("swing_knee: -1.10", "tail: -1.10"), "tail", ROLES),
    ("role of a feedback", after("- until", "      feedback: {tail: [1.0, 2.0]}"), "tail", ROLES),
    ("role of a start angle", edited("joints: {swing_hip", "joints: {tail: 1.0, swing_hip"), "tail", ROLES),
    ("role of a start rate", edited("rates: {swing_hip", "rates: {tail: 1.0, swing_hip"), "tail", ROLES),
    ("joint of a gain", with_parameter("gains: {tail: {kp: 1.0}}"), "tail", ("all", "hip", "knee", "ankle", *ROLES)),
    ("skill that follows", with_parameter("mirrored: false\n  then: nope"), "nope", ("planar/walk", "planar/run")),
    ("character", edited("character: planar", "character: centaur"), "centaur", ("planar",)),
    ("state to start in", edited("  state: 0", "  state: 2"), "2", ("2 states",)),
    ("limit above the body's", with_parameter("gains: {all: {limit: 5000.0}}"), "limit", ("1000",)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wrong", "valid"), [c[1:] for c in WRONG_NAMES], ids=[c[0] for c in WRONG_NAMES])
def test_what_the_body_or_the_library_does_not_have_is_refused_with_the_file_and_the_valid_choices(
    tmp_path: Path, text: str, wrong: str, valid: tuple[str, ...]
) -> None:
    path = written(tmp_path, text)
    message = refusal(path)
    assert wrong in message
    assert all(name in message for name in valid), message
    assert path.name in message, "two files may hold skills of one name: the message must say which file"


def test_an_unknown_key_is_refused_with_the_keys_that_would_be_valid(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, edited("      cd: 0.0", "      cdd: 0.0")))
    assert all(key in message.split() or f"{key}," in message for key in ("cd", "cv", "torso", "targets")), message


@pytest.mark.parametrize("key", ['"a\\nb"', '"a\\e[31mb"', '"\\u2028"', "[1, 2]", "~", "{a: 1}"])
def test_a_strange_key_does_not_break_the_message(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, WALK + f"{key}: 1\n")
    assert refusal(path).startswith(str(path))


def test_many_mistakes_are_reported_together_and_not_endlessly(tmp_path: Path) -> None:
    path = written(tmp_path, WALK.replace("cd:", "ce:").replace("cv:", "cw:"))
    message = refusal(path)
    assert names_line(message, path, 21)
    assert names_line(message, path, 27)
    assert len(refusal(written(tmp_path, WALK + "".join(f"key{k}: 1\n" for k in range(500))))) < 1000


# --- what is not a file, or too much of one ----------------------------------------------------------------


def test_a_file_of_100_megabytes_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    tracemalloc.start()
    message = refusal(path)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()
    assert "huge.yaml" in message
    assert "kB" in message


@pytest.mark.parametrize(
    "text",
    ["a: [" + "1," * 80_000 + "1]", "".join(f"k{k}: 1\n" for k in range(25_000)), "#\n" * 120_000],
    ids=["one long list", "many keys", "many comments"],
)
def test_the_largest_file_that_is_read_at_all_is_refused_with_a_reason(tmp_path: Path, text: str) -> None:
    assert refusal(written(tmp_path, text))


def test_a_directory_a_missing_file_and_a_loop_of_links_are_refused_by_name(tmp_path: Path) -> None:
    folder, missing, loop = tmp_path / "folder.yaml", tmp_path / "missing.yaml", tmp_path / "loop.yaml"
    folder.mkdir()
    loop.symlink_to(loop)
    for path in (folder, missing, loop, missing / "below.yaml", tmp_path / ("x" * 300 + ".yaml")):
        assert str(path)[:200] in refusal(path)


def test_a_path_with_a_null_byte_is_refused() -> None:
    with pytest.raises(sf.SurefootError, match="null"):
        sf.load_skill("a\0b.yaml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path, outcome = tmp_path / "pipe.yaml", []
    os.mkfifo(path)

    def attempt() -> None:
        try:
            sf.load_skill(path)
        except Exception as error:
            outcome.append(error)

    reader = threading.Thread(target=attempt, daemon=True)
    reader.start()
    reader.join(3.0)
    waited = reader.is_alive()
    if waited:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))  # lets it go
        reader.join(3.0)
    assert not waited, "opening the pipe blocks until somebody writes to it"
    assert isinstance(outcome[0], sf.SurefootError)


def test_a_path_may_hold_any_unicode_and_is_named_by_it(tmp_path: Path) -> None:
    folder = tmp_path / "süß 走る 🚶"
    folder.mkdir()
    assert sf.load_skill(written(folder, WALK)).name == "walk"
    assert "süß 走る 🚶" in refusal(written(folder, "- 1"))


def test_an_unknown_skill_lists_the_valid_ones() -> None:
    for name in ("nope", "planar/nope", "centaur/walk", "", "/", "planar/../planar/walk", "walk.json"):
        with pytest.raises(sf.SurefootError, match=r"planar/run.*planar/walk"):
            sf.load_skill(name)


# --- anything at all ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def judged(action: Callable[[], Any]) -> tuple[Any, str]:
    """What an action gives, or None and the line with which it was refused; it must print nothing."""
    printed, found, message = io.StringIO(), None, ""
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            found = action()
    except sf.SurefootError as error:
        message = str(error)
    assert printed.getvalue() == ""
    assert len(message.splitlines()) == (found is None)
    return found, message


edits = st.lists(
    st.tuples(
        st.floats(0.0, 1.0),
        st.integers(0, 12),
        st.one_of(
            st.text(max_size=6),
            st.sampled_from(list("\t\n:-[]{}&*!|>%@`'\"#,?~0\x85\u2028\ufeff")),
            st.sampled_from(["\n---\n", "\n...\n", ".nan", "1e400", "- ", "? ", "<<: ", "!!x ", "&a ", "*a ", "null"]),
        ),
    ),
    min_size=1,
    max_size=5,
)


def mutated(text: str, changes: list[tuple[float, int, str]]) -> str:
    for where, cut, new in changes:
        at = int(where * len(text))
        text = text[:at] + new + text[at + cut :]
    return text


def check_text(folder: Path, text: str) -> None:
    path = folder / "own.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    skill, _ = judged(lambda: sf.load_skill(path))
    assert skill is None or isinstance(skill, sf.Skill)


def check_bytes(folder: Path, content: bytes) -> None:
    path = written(folder, content)
    assert judged(lambda: sf.load_skill(path))[0] is None, "random bytes make no skill"


def check_usable(text: str) -> None:
    """What the schema accepts, the engine runs or refuses: a skill from a stranger cannot crash it."""
    skill, _ = judged(lambda: files.validate(files.parse(text, "own.yaml"), "own.yaml"))
    if skill is not None:
        sim, _ = judged(lambda: sf.Simulation(skill=skill))
        if sim is not None:
            sim.step(20)
            assert sim.time == pytest.approx(0.01)


@FUZZ
@given(content=st.binary(max_size=300))
def test_random_bytes_are_refused(folder: Path, content: bytes) -> None:
    check_bytes(folder, content)


@FUZZ
@given(changes=edits)
def test_random_edits_of_a_valid_file_load_or_are_refused(folder: Path, changes: list[tuple[float, int, str]]) -> None:
    check_text(folder, mutated(SMALL, changes))


@pytest.mark.slow
@LONG_FUZZ
@given(content=st.binary(max_size=3000))
def test_many_random_bytes_are_refused(folder: Path, content: bytes) -> None:
    check_bytes(folder, content)


@pytest.mark.slow
@LONG_FUZZ
@given(changes=edits)
def test_many_random_edits_of_a_valid_file_load_or_are_refused(
    folder: Path, changes: list[tuple[float, int, str]]
) -> None:
    check_text(folder, mutated(WALK, changes))


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=8),
    st.sampled_from(["contact", "landing", "request", "left", "right", "simbicon", "planar", "run", 1, 0.0, *ROLES]),
)  # fmt: skip
keys = st.sampled_from([
    "schema", "name", "character", "states", "parameters", "start", "targets", "feedback", "duration", "until", "gains",
    "joints", "learning", "bins", "entry", "phase", "hip_targets", "then", "mirrored", "torso_gain", "fall", *ROLES,
])  # fmt: skip
trees = st.recursive(
    scalars, lambda below: st.lists(below, max_size=3) | st.dictionaries(keys | st.text(max_size=4), below, max_size=4)
)
PLACES: tuple[tuple[Any, ...], ...] = (
    ("parameters",), ("parameters", "states"), ("parameters", "states", 0), ("parameters", "states", 1, "feedback"),
    ("parameters", "states", 0, "targets"), ("parameters", "states", 0, "duration"), ("parameters", "gains"),
    ("parameters", "learning"), ("parameters", "entry"), ("parameters", "hip_targets"), ("parameters", "then"),
    ("parameters", "torso_gain"), ("start",), ("start", "joints"), ("start", "state"), ("start", "lift"), ("fall",),
    ("commands",), ("measured",), ("provenance",), ("schema",), ("name",), ("character",),
)  # fmt: skip


def check_tree(places: list[tuple[tuple[Any, ...], Any]]) -> None:
    document = files.parse(SMALL, "small")
    for keys_to, tree in places:
        node = document
        with contextlib.suppress(KeyError, IndexError, TypeError):  # an earlier change took this place away
            for key in keys_to[:-1]:
                node = node[key]
            node[keys_to[-1]] = tree
    skill, _ = judged(lambda: files.validate(document, "small"))
    assert skill is None or isinstance(skill, sf.Skill)


@FUZZ
@given(places=st.lists(st.tuples(st.sampled_from(PLACES), trees), min_size=1, max_size=3))
def test_random_structures_in_any_place_are_skills_or_refused(places: list[tuple[tuple[Any, ...], Any]]) -> None:
    check_tree(places)


@pytest.mark.slow
@LONG_FUZZ
@given(places=st.lists(st.tuples(st.sampled_from(PLACES), trees), min_size=1, max_size=3))
def test_many_random_structures_in_any_place_are_skills_or_refused(places: list[tuple[tuple[Any, ...], Any]]) -> None:
    check_tree(places)


wild_states = st.lists(
    st.builds(
        "    - {{{}, cd: {!r}, torso: {!r}, targets: {{{}: {!r}}}}}".format,
        st.sampled_from(["duration: 0.0", "duration: 1.0e-300", "duration: 30.0", "duration: 0.01", "until: contact",
                         "until: landing", "until: request"]),
        st.floats(-20.0, 20.0), st.floats(-6.3, 6.3), st.sampled_from(ROLES), st.floats(-6.3, 6.3),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(FUZZ, max_examples=150)
@given(states=wild_states, lift=st.floats(-0.05, 2.0), speed=st.floats(-20.0, 20.0), mirrored=st.booleans())
def test_whatever_the_schema_accepts_can_be_simulated(
    states: list[str], lift: float, speed: float, mirrored: bool
) -> None:
    head = SMALL[: SMALL.index("    - {duration")].replace("mirrored: true", f"mirrored: {str(mirrored).lower()}")
    head = head.replace("speed: 0.5", f"speed: {speed!r}, lift: {lift!r}")
    check_usable(head + "\n".join(states) + "\n")
