"""A control graph of several clips, built without hand work, and random walks over it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from surefoot.characters import load as load_character
from surefoot.controllers.action_graph import ActionGraph
from surefoot.controllers.stylized import reference_sources
from surefoot.errors import SurefootError
from surefoot.lab import figures
from surefoot.lab.action_graph_search import wander
from surefoot.lab.clip_fragments import Fragment, fragments_of
from surefoot.lab.control_graph import GraphWish, build_control_graph
from surefoot.lab.experiment import Result, Setting, find_clip, make_folder
from surefoot.lab.graph_picture import draw_action_graph
from surefoot.lab.pieces import fingerprint
from surefoot.lab.reproduce.tracking.tracked_clips import BODY, Case, tracked_file

JOINED = ("07_01", "16_22", "136_21", "136_25", "91_19", "113_18", "120_13", "132_55")
FEWEST, SEEDS, SECONDS = 8, 20, 300.0  # fragments; random walks, and the length of each [s]
_LOOPS, _BUILT, _SHOWN = 0.4, 0.75, 12.0  # shares of the work; [s] of a filmstrip


def run(result: Result, setting: Setting) -> None:
    """How many fragments were joined, and how many random walks did not fall."""
    stems = JOINED[:2] if setting.quick else JOINED
    if any(find_clip(setting, stem) is None for stem in stems):
        result.add_missing("a graph of clips", f"≥ {FEWEST} fragments")
        return
    fragments = [fragment for i, stem in enumerate(stems) for fragment in _fragments(setting, stem, i / len(stems))]
    folder = (setting.out or Path(tempfile.gettempdir())) / "graphs" / f"{fingerprint()[:16]}-{setting.seed}"
    make_folder(folder)
    wish = GraphWish(folder, seed=setting.seed, seconds=10.0 if setting.quick else 60.0)
    try:
        built = build_control_graph(
            fragments, wish, lambda text, share: setting.progress(text, _LOOPS + (_BUILT - _LOOPS) * share)
        )
    except SurefootError as error:
        result.add_row("fragments joined", f"≥ {FEWEST}", str(error), "", False)
        return
    joined = [name for name, node in built.graph.nodes.items() if not node.bridge]
    result.add_row("fragments joined", f"≥ {FEWEST}", f"{len(joined)}", f"of {len(fragments)}", len(joined) >= FEWEST)
    for line in built.notes:
        result.add_note("while it was built", line)
    draw_action_graph(setting.figure_path(result.experiment, "graph.png"), built.graph)
    _walk(result, setting, built.graph)


def _fragments(setting: Setting, stem: str, begin: float) -> list[Fragment]:
    """Those of a clip; its cycle is the skill that other experiments have too."""
    clip = find_clip(setting, stem)
    if clip is None:
        return []
    found = fragments_of(stem, reference_sources.retarget_file(clip, load_character(BODY)), BODY)
    made = tracked_file(setting, Case(stem), _LOOPS * begin, _LOOPS * begin) if found[0].clip.loops else None
    return [Fragment(found[0].name, stem, found[0].clip, found[0].then, made), *found[1:]]


def _walk(result: Result, setting: Setting, graph: ActionGraph) -> None:
    """Random walks from starts that differ a little."""
    seeds, seconds = (2, 20.0) if setting.quick else (SEEDS, SECONDS)
    good, falls = 0, list[str]()
    for seed in range(seeds):
        setting.progress(f"random walk {seed}", _BUILT + (1.0 - _BUILT) * seed / seeds)
        fell, been, motion = wander(graph, seconds, setting.seed + seed)
        good += not np.isfinite(fell)
        result.runs.append({"seed": seed, "fallen_at": fell, "nodes": " ".join(been)})
        if np.isfinite(fell):
            falls.append(f"{fell:.0f} s ({' → '.join(been[-2:])})")
        if seed == 0:
            path = setting.figure_path(result.experiment, "walk-side.png")
            figures.save_filmstrip(path, motion, ", ".join(been[:6]), "side", 0.0, min(_SHOWN, float(motion.time[-1])))
    result.add_row(f"random walks of {seconds:g} s", f"{seeds}", f"{good}", f"of {seeds} without a fall", good == seeds)
    if falls:
        result.add_note("fell", ", ".join(falls))
