"""The command that joins clips to a control graph, shows a graph, and lets a body wander over it: `surefoot graph`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.clip_commands import Credit, Fps, KneeBias, Scale, Up, printed_findings
from surefoot.cli.simulate import check_place, check_writable
from surefoot.cli.terminal import Bar, print_table, screen
from surefoot.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.controllers.action_graph import ActionGraph
    from surefoot.lab.clip_fragments import Fragment
    from surefoot.motions.clip_reading import ClipSource

_GRAPHS = (".yaml", ".yml")
_BODY = "human"


def graph(
    clips: Annotated[
        list[str], typer.Argument(help=".bvh files to join; or one graph to show: a file, a folder, or `human`.")
    ],
    save: Annotated[Path | None, typer.Option(help="Folder for the graph and its skills, of clips.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw it: a .png or .svg file.")] = None,
    walk: Annotated[float, typer.Option(min=0.0, max=3600.0, help="Seconds of a random walk over it.")] = 0.0,
    film: Annotated[Path | None, typer.Option(help="Save the random walk: .mp4 .gif .png .npz .bvh …")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    bridges: Annotated[int, typer.Option(min=0, max=1000, help="Learned at most.")] = 12,
    credit: Credit = "",
    scale: Scale = None,
    up: Up = None,
    fps: Fps = None,
    knee_bias: KneeBias = 0.0,
) -> int:
    """Join clips to a control graph: track each, find or learn transitions, prune by random walks; show or walk one."""
    for path in (picture, film):
        if path is not None:
            check_place(path)
    if film is not None:
        check_writable(film)
        if not walk:
            raise CommandError("--film shows a random walk; --walk SECONDS says how long")
    named = _named_graph(clips)
    if named is None:
        from surefoot.motions.clip_reading import ClipSource

        sources = [ClipSource(Path(clip), None, _BODY, False, scale, up, fps, knee_bias) for clip in clips]
        found = _build(sources, save, credit, seed, bridges)
    else:
        from surefoot.controllers.action_graph import load_graph

        if save is not None:
            raise CommandError("--save is for clips; a graph that is there already is shown")
        found = load_graph(named)
    _show(found)
    if picture is not None:
        from surefoot.lab.graph_picture import draw_action_graph

        draw_action_graph(picture, found)
        screen.print(f"drawn in {picture}")
    return _wander(found, walk, film, seed) if walk else 0


def _named_graph(clips: Sequence[str]) -> str | None:
    """The graph that is named in place of clips."""
    from surefoot.controllers.action_graph import is_graph_folder, library_graphs

    known = library_graphs()
    graphs = [name for name in clips if name.endswith(_GRAPHS) or name in known or is_graph_folder(name)]
    if graphs and len(clips) > 1:
        raise CommandError(f"either clips or one graph; {graphs[0]} is a graph")
    return graphs[0] if graphs else None


def _build(sources: Sequence[ClipSource], save: Path | None, credit: str, seed: int, bridges: int) -> ActionGraph:
    """Read clips, and make a graph of their fragments."""
    from surefoot.lab.control_graph import GraphWish, build_control_graph

    folder = save or Path("control-graph")
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--save is a folder, {folder} is a file")
    fragments = [fragment for source in sources for fragment in _fragments(source)]
    names = ", ".join(fragment.name for fragment in fragments)
    screen.print(f"fragments: {names}", highlight=False)
    if len(fragments) < 2:
        raise CommandError("a graph joins two fragments or more; name another clip")
    with Bar() as tick:
        built = build_control_graph(fragments, GraphWish(folder, credit, seed, bridges), tick)
    for line in built.notes:
        screen.print(f"  {line}", highlight=False)
    rows, stayed = built.walked
    screen.print(f"written to {folder / 'graph.yaml'}; of the last {rows} random walks {stayed} stayed up")
    return built.graph


def _fragments(source: ClipSource) -> list[Fragment]:
    """What a clip gives."""
    from surefoot.characters import load as load_character
    from surefoot.lab.clip_fragments import fragments_of
    from surefoot.motions.clip_reading import read_clip_for

    screen.print(f"[bold]{source.clip}[/bold]")
    with printed_findings() as findings:
        read = read_clip_for(load_character(source.character), source, findings)
    return fragments_of(source.clip.stem, read.found, source.character)


def _show(found: ActionGraph) -> None:
    rows = [
        (
            name, "bridge" if node.bridge else "", ", ".join(found.targets(name)),
            node.then or "",
        )
        for name, node in found.nodes.items()
    ]  # fmt: skip
    print_table(("node", "", "leads to", "then"), rows)


def _wander(found: ActionGraph, seconds: float, film: Path | None, seed: int) -> int:
    """Let a body wander, say where it was, and save what it did."""
    from surefoot.lab.action_graph_search import wander

    fell, been, motion = wander(found, seconds, seed)
    screen.print(" → ".join(been), highlight=False)
    if film is not None:
        motion.save(film)
        screen.print(f"saved {film}")
    if math.isfinite(fell):
        screen.print(f"[red]fell at {fell:.1f} s[/red]")
        return 1
    screen.print(f"walked {seconds:g} s and did not fall")
    return 0
