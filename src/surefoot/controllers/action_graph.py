"""Action graphs (da Silva 2008, §5.3 and figure 7), or control graphs (Liu, van de Panne, Yin 2016, §5).

Skills that follow references are the nodes, and edges say where one may be left for another.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML

from surefoot.atomic_file import replace_file
from surefoot.controllers import base
from surefoot.errors import CommandError, SurefootError, UnknownNameError
from surefoot.native import userdata
from surefoot.skills import load, with_parameters
from surefoot.skills.files import parse
from surefoot.skills.schema import NUMBER_AT, Skill, number_of

Phase = Annotated[float, Field(ge=0.0, le=1.0)]
_MOST = 1 << 20  # bytes of a file
_LIBRARY = Path(__file__).parent / "graphs"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True, populate_by_name=True)


class Node(_Part):
    """A skill of the graph.

    Attributes:
        base: name of a skill, or its file; `skill` in files.
        changes: parameters that differ from it, by dotted path; a reference's file is looked for beside the graph's.
        then: the node that follows by itself when the reference ends.
        bridge: whether it was made to lead from one node to another.
    """

    base: str = Field(alias="skill")
    changes: dict[str, float | int | str] = Field(default_factory=dict)
    then: str | None = None
    bridge: bool = False

    @cached_property
    def skill(self) -> Skill:
        """The skill with its changes."""
        return with_parameters(load(self.base), self.changes) if self.changes else load(self.base)


class Edge(_Part):
    """A transition that is allowed.

    Attributes:
        source: the node it leaves; `from` in files.
        target: the node it leads to; `to` in files.
        leave: share of the source's reference at which it is left; by default at its next landing, or its end.
        enter: share of the target's reference at which that begins; by default where it is most like the body.
        survival: share of trials that stayed up; None if there were no trials.
    """

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    leave: Phase | None = None
    enter: Phase | None = None
    survival: Phase | None = None


class Switch(NamedTuple):
    """The skill to switch to, and shares of the references at which to leave and enter, −1 if unspecified."""

    skill: Skill
    leave: float
    enter: float


class ActionGraph(_Part):
    """Skills of one controller and one character, and the transitions between them; immutable.

    Attributes:
        nodes: skills by name; a simulation begins with the first.
        edges: allowed transitions.
    """

    version: Literal[1] = Field(1, alias="schema")
    nodes: dict[str, Node]
    edges: tuple[Edge, ...] = Field((), strict=False)

    @model_validator(mode="after")
    def _fits(self) -> ActionGraph:
        if not self.nodes:
            raise ValueError("an action graph has at least one node")
        known = ", ".join(self.nodes)
        for edge in self.edges:
            for name in (edge.source, edge.target):
                if name not in self.nodes:
                    raise ValueError(f"an edge names {name!r}, which is no node; nodes are: {known}")
            if edge.source == edge.target:
                raise ValueError(f"an edge leads from {edge.source!r} to itself")
        for name, node in self.nodes.items():
            if node.then is not None and (name, node.then) not in self._by_ends:
                raise ValueError(f"no edge leads from {name!r} to {node.then!r}, which is to follow it")
        kinds = {(node.skill.character, node.skill.controller) for node in self.nodes.values()}
        fit = [name for name in base.names() if base.load(name).has_references]
        if len(kinds) > 1 or next(iter(kinds))[1] not in fit:
            raise ValueError(
                f"nodes are skills of one character and one controller that follows references ({', '.join(fit)}), "
                f"not {sorted(kinds)}"
            )
        return self

    @cached_property
    def _by_ends(self) -> Mapping[tuple[str, str], Edge]:
        return {(edge.source, edge.target): edge for edge in self.edges}

    @cached_property
    def _names(self) -> Mapping[float, str]:
        return {number_of(node.skill): name for name, node in self.nodes.items()}

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Skills of the nodes, in their order."""
        return tuple(node.skill for node in self.nodes.values())

    def skill(self, name: str) -> Skill:
        """The skill of a node.

        Raises:
            UnknownNameError: there is no such node.
        """
        if name not in self.nodes:
            raise UnknownNameError("node", name, tuple(self.nodes))
        return self.nodes[name].skill

    def edge(self, source: str, target: str) -> Edge | None:
        """The transition between two nodes; None if it is not allowed."""
        return self._by_ends.get((source, target))

    def targets(self, source: str) -> tuple[str, ...]:
        """Nodes that edges lead to from a node."""
        return tuple(edge.target for edge in self.edges if edge.source == source)

    def with_edges(self, edges: Iterable[Edge]) -> ActionGraph:
        """A copy with more edges.

        Args:
            edges: to add; they replace those between the same nodes.
        """
        merged = dict(self._by_ends) | {(edge.source, edge.target): edge for edge in edges}
        return self.model_validate({"nodes": self.nodes, "edges": tuple(merged.values())})

    def without_edges(self, ends: Collection[tuple[str, str]]) -> ActionGraph:
        """A copy with fewer edges.

        Args:
            ends: source and target of each edge to remove; if a node's `then` needs one of them, another target of
                the node follows instead, if there is one.
        """
        kept = tuple(edge for edge in self.edges if (edge.source, edge.target) not in ends)
        others = {edge.source: edge.target for edge in reversed(kept)}
        nodes = {
            name: node.model_copy(update={"then": others.get(name)}) if (name, node.then) in ends else node
            for name, node in self.nodes.items()
        }
        return self.model_validate({"nodes": nodes, "edges": kept})

    def index(self, name: str) -> int:
        """The index of a node."""
        return list(self.nodes).index(name)

    def node_of_skill(self, skill: Skill) -> str | None:
        """The node that runs a skill; None if no node does."""
        return self._names.get(number_of(skill))

    def node_of_row(self, row: userdata.Row) -> str | None:
        """The node that a row is in; None if its skill is no node's."""
        return self._names.get(float(row.slots[int(row.header[0].active), NUMBER_AT]))

    def shortest_path(self, source: str, target: str) -> tuple[str, ...]:
        """The nodes after `source` up to `target`, over the fewest edges; empty if both are the same.

        Raises:
            CommandError: there is no path; the message lists the nodes that can be reached.
        """
        before, queue = {source: source}, deque([source])
        while queue and target not in before:
            here = queue.popleft()
            for name in self.targets(here):
                if name not in before:
                    before[name] = here
                    queue.append(name)
        if target not in before:
            reached = ", ".join(name for name in before if name != source) or "no node"
            raise CommandError(f"no path leads from {source!r} to {target!r}; it can go to: {reached}")
        found = [target]
        while found[-1] != source:
            found.append(before[found[-1]])
        return tuple(reversed(found[:-1]))

    def next_switch(self, row: userdata.Row, goal: int, is_over: bool) -> Switch | None:
        """The next switch of a row: towards the node of index goal − 1, or to what follows a reference that is over."""
        here = self.node_of_row(row)
        if here is None:
            return None
        ahead = self.shortest_path(here, list(self.nodes)[goal - 1]) if goal else ()
        following = ahead[0] if ahead else self.nodes[here].then if is_over else None
        if following is None:
            return None
        edge = self._by_ends[here, following]
        phases = (-1.0 if phase is None else phase for phase in (edge.leave, edge.enter))
        return Switch(self.nodes[following].skill, *phases)

    def save(self, path: Path | str) -> None:
        """Write a YAML file, whole or not at all.

        Args:
            path: of the file; files of skills and references below its folder are named relative to it.
        """
        path = Path(path)
        document = self.model_dump(by_alias=True, exclude_defaults=True, mode="json")
        folder = path.resolve().parent
        for node in document["nodes"].values():
            for place, key, suffixes in (
                (node, "skill", (".yaml", ".yml")), (node.get("changes", {}), "reference", (".npz",))
            ):  # fmt: skip
                name = place.get(key, "")
                if name.endswith(suffixes) and Path(name).resolve().is_relative_to(folder):
                    place[key] = Path(name).resolve().relative_to(folder).as_posix()
        text = StringIO()
        YAML().dump({"schema": 1, **document}, text)
        replace_file(path, text.getvalue().encode())


def library_graphs() -> list[str]:
    """Names of the graphs that come with the package."""
    return sorted(file.stem for file in _LIBRARY.glob("*.yaml"))


def is_graph_folder(path: Path | str) -> bool:
    """Whether a path is a folder that `surefoot graph` wrote."""
    return (Path(path) / "graph.yaml").is_file()


def load_graph(path: Path | str) -> ActionGraph:
    """Read an action graph.

    Args:
        path: of a YAML file, of a folder with a `graph.yaml`, or the name of a graph of the library (`human`).

    Raises:
        SurefootError: there is no such graph, or it is not valid; the message says why.
    """
    if is_graph_folder(path):
        path = Path(path) / "graph.yaml"
    if not str(path).endswith((".yaml", ".yml")):
        if str(path) not in library_graphs():
            raise UnknownNameError("action graph", str(path), library_graphs())
        path = _LIBRARY / f"{path}.yaml"
    path = Path(path)
    if not path.is_file():
        raise SurefootError(f"no action graph {str(path)!r}: it is a YAML file of nodes and edges")
    if path.stat().st_size > _MOST:
        raise SurefootError(f"{path}: an action graph has at most {_MOST} bytes")
    document = json.loads(json.dumps(parse(path.read_text(encoding="utf-8"), str(path))))
    for node in document.get("nodes", {}).values() if isinstance(document.get("nodes"), dict) else ():
        skill = node.get("skill") if isinstance(node, dict) else None
        if isinstance(skill, str) and skill.endswith((".yaml", ".yml")):
            node["skill"] = str(path.parent / skill)
        changes = node.get("changes", {}) if isinstance(node, dict) else {}
        reference = changes.get("reference", "") if isinstance(changes, dict) else ""
        if isinstance(reference, str) and reference.endswith(".npz"):
            changes["reference"] = str(path.parent / reference)
    try:
        return ActionGraph.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SurefootError(f"{path}: {where + ': ' if where else ''}{first['msg']}") from None
