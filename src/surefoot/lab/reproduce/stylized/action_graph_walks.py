"""Figure 7: walk, march, start and stop as an action graph; transitions by hand, then found by trying them.

Walk and stop are of clip 136_21, which walks and then stands; march and start are of 91_19, which stands and then
marches. The stand is the stop's last pose, held. All five are followed with more softness than when each is followed
by itself: that is what lets them take up a body that comes from elsewhere.
"""

from __future__ import annotations

import numpy as np

from surefoot.controllers.action_graph import ActionGraph, Edge
from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.reference import held_pose
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.action_graph_search import (
    SearchBudget,
    followed,
    is_connected,
    prune_by_random_walks,
    search_transitions,
    wander,
)
from surefoot.lab.clip_fragments import cut_clip
from surefoot.lab.experiment import Result, Setting, find_clip
from surefoot.lab.graph_picture import draw_action_graph
from surefoot.lab.reference_tracking import CLIP_TRACKING_PARAMETERS, TOES, reference_folder
from surefoot.motions.painter import View

SEEDS, SECONDS = 10, 60.0
_SEEDS_BY_HAND = 3  # shown beside them
_SOFTNESS = {"start": 0.4, "march": 0.4}  # of the others: 0.1
_CUTS = {"stop": ("136_21", 2.0, np.inf), "start": ("91_19", 1.5, 4.5)}  # clip, from and to [s]
_LOOPS = {"walk": "136_21", "march": "91_19"}
THEN = {"start": "march", "stop": "stand"}  # what follows by itself
_STANDING = 10  # moments before the stop's end: what its filters leave alone
BY_HAND = (  # figure 7
    ("stand", "start"), ("start", "walk"), ("start", "march"), ("walk", "march"), ("march", "walk"), ("walk", "stop"),
    ("march", "stop"), ("stop", "stand"),
)  # fmt: skip
_VIEWS: tuple[View, ...] = ("side", "front")


def nodes(setting: Setting) -> ActionGraph | None:
    """The five actions, without edges but those that follow by themselves; nothing without the clips."""
    sim = Simulation(skill=TOES)
    model, table = sim.model, sim.scene.table
    clips = {stem: find_clip(setting, stem) for stem in sorted(set(_LOOPS.values()))}
    if any(clip is None for clip in clips.values()):
        return None
    found = {stem: reference_sources.retarget_file(clip, table) for stem, clip in clips.items() if clip is not None}
    made = {name: reference_sources.looping_reference(model, table, found[stem]) for name, stem in _LOOPS.items()}
    made |= {
        name: reference_sources.one_shot_reference(model, table, cut_clip(found[stem], *ends))
        for name, (stem, *ends) in _CUTS.items()
    }
    made["stand"] = held_pose(model, table, made["stop"].poses[-_STANDING])
    document: dict[str, object] = {}
    for name in ("stand", "start", "walk", "march", "stop"):
        path = reference_folder(setting) / f"action-{name}.npz"
        made[name].save(path)
        changes = {**CLIP_TRACKING_PARAMETERS, "softness": _SOFTNESS.get(name, 0.1), "reference": str(path)}
        document[name] = {"skill": TOES, "changes": changes}
    return ActionGraph.model_validate({"nodes": document})


def run(result: Result, setting: Setting) -> None:
    """By hand, by trial, and random walks on what was found."""
    graph = nodes(setting)
    if graph is None:
        result.add_missing("action graph", "by hand")
        return
    seeds, seconds = (2, 15.0) if setting.quick else (SEEDS, SECONDS)
    drawn = followed(graph.with_edges(Edge.model_validate({"from": a, "to": b}) for a, b in BY_HAND), THEN)
    draw_action_graph(setting.figure_path(result.experiment, "by-hand.png"), drawn, "transitions by hand (figure 7)")
    plan = SearchBudget(phases=4 if setting.quick else 8, seed=setting.seed)
    pairs = BY_HAND if setting.quick else None
    edges = list[Edge]()
    for one in search_transitions(graph, plan, pairs, lambda label, share: setting.progress(label, 0.4 * share)):
        phases = f"{one.survived} of {one.tried} phases stay up"
        if one.edge is not None:
            edges.append(one.edge)
            leave = "any time" if one.edge.leave is None else f"{one.edge.leave:.2f}"
            phases += f"; kept: leave {leave}, enter {one.edge.enter:.2f}, {one.edge.survival:.0%} of {plan.replicas}"
        result.add_note(f"{one.source} → {one.target}", phases)
        result.runs.append({"from": one.source, "to": one.target, "tried": one.tried, "survived": one.survived})
    found = followed(graph.with_edges(edges), THEN)
    if not is_connected(found):
        result.add_row("a graph whose nodes can all be reached", "by hand", "none was found", "", False)
        return
    pruned = prune_by_random_walks(
        found, 6 if setting.quick else 20, min(30.0, seconds), seed=setting.seed,
        progress=lambda label, share: setting.progress(label, 0.4 + 0.2 * share),
    )  # fmt: skip
    result.add_note("edges that went after random walks with other seeds",
                    ", ".join(map(" → ".join, pruned.dropped)) or "none")  # fmt: skip
    result.add_note("rows of the last of those walks that stayed up", f"{pruned.stayed} of {pruned.rows}")
    found = pruned.graph
    kept = [ends for ends in BY_HAND if found.edge(*ends) is not None]
    result.add_note("transitions of figure 7 among those kept", f"{len(kept)} of {len(BY_HAND)}", paper="by hand")
    result.add_note("kept", ", ".join(f"{edge.source} → {edge.target}" for edge in found.edges))
    draw_action_graph(setting.figure_path(result.experiment, "found.png"), found, "transitions found by trying them")
    if setting.out is not None:
        found.save(setting.out / "references" / "action-graph.yaml")
    _walks(result, setting, "by hand", drawn, min(seeds, _SEEDS_BY_HAND), seconds)
    _walks(result, setting, "found", found, seeds, seconds)


def _walks(result: Result, setting: Setting, label: str, graph: ActionGraph, seeds: int, seconds: float) -> None:
    """Random walks on a graph; those on what was found have a bar."""
    good, falls = 0, list[str]()
    for seed in range(seeds):
        setting.progress(f"random walk {seed}, {label}", 0.6 + (0.2 if label == "found" else 0.0) + 0.2 * seed / seeds)
        fell, been, motion = wander(graph, seconds, setting.seed + seed)
        good += not np.isfinite(fell)
        result.runs.append({"edges": label, "seed": seed, "fallen_at": fell, "nodes": " ".join(been)})
        if np.isfinite(fell):
            falls.append(f"{fell:.0f} s ({been[-2] if len(been) > 1 else ''} → {been[-1]})")
        if seed == 0:
            for view in _VIEWS:
                path = setting.figure_path(result.experiment, f"{label.replace(' ', '-')}-{view}.png")
                begin, end = float(motion.time[0]), float(motion.time[-1])
                figures.save_filmstrip(path, motion, ", ".join(been[:6]), view, begin, min(begin + 15.0, end))
    text, unit = f"{good} of {seeds}", f"without a fall (≥ {seeds})"
    if label == "found":
        result.add_row(f"random walks of {seconds:g} s on the graph found", "video", text, unit, good == seeds)
    else:
        result.add_note(f"random walks of {seconds:g} s on the graph {label}", text, "without a fall")
    if falls:
        result.add_note(f"fell, {label}", ", ".join(falls))
