"""One experiment for every table, figure and claim of the papers.

The table below names them all. A module is imported only when one of its experiments runs, so that listing is cheap.
"""

from __future__ import annotations

from surefoot.errors import UnknownNameError
from surefoot.lab.experiment import Experiment

PAPERS = {
    "genbicon": "GENBICON (Coros, Beaudoin, van de Panne 2010)",
    "limit_cycle": "Limit cycle control (Laszlo, van de Panne, Fiume 1996)",
    "motions": "BVH and ASF/AMC files, read and written",
    "quality": "How people move",
    "scale": "Populations on a GPU",
    "simbicon": "SIMBICON (Yin, Loken, van de Panne 2007)",
    "stepping": "Watch your step (Kenwright)",
    "stylized": "da Silva, Abe, Popović 2008",
    "tracking": "Any captured clip (Liu et al. 2010, 2012, 2016)",
}
_TABLE = (  # name; where in the paper; module of this package and function in it
    ("genbicon/speeds", "§4.4 generalization across gait parameters", "genbicon.speeds:run"),
    ("genbicon/heading", "§4.4 generalization across gait parameters", "genbicon.heading:run"),
    ("genbicon/characters", "§4.4 generalization across characters", "genbicon.bodies:run"),
    ("genbicon/strangers", "§4.4 generalization across characters, files of others", "genbicon.bodies:run_imported"),
    ("genbicon/proportions", "§4.4 generalization across characters, figure 13", "genbicon.bodies:run_proportions"),
    ("genbicon/styles", "§4.4 generalization across style, figure 12", "genbicon.styles:run"),
    ("genbicon/pushes", "§4 robustness, pushed as in SIMBICON §7.2", "genbicon.pushes:run"),
    ("genbicon/reach", "§4.4 reaching, figure 14", "genbicon.reaching:run"),
    ("genbicon/crate-push", "§4.4 pulling and pushing a crate, figure 15", "genbicon.crate_tasks:push"),
    ("genbicon/crate-pull", "§4.4 pulling and pushing a crate, figure 15", "genbicon.crate_tasks:pull"),
    ("genbicon/carry", "§4.4 lifting and moving a crate, figure 16", "genbicon.crate_tasks:carry"),
    ("genbicon/obstacles", "§4.4 navigation over and under obstacles, figure 17", "genbicon.obstacles:run"),
    ("limit_cycle/open-loop", "§5.1, figure 10", "limit_cycle.long_walks:run_open_loop"),
    ("limit_cycle/combinations", "§3.2, §3.3, §5.2", "limit_cycle.regulated_variables:run_combinations"),
    ("limit_cycle/linearity", "§3.1, figure 4", "limit_cycle.regulated_variables:run_linearity"),
    ("limit_cycle/cycle", "§6, figures 13 to 15", "limit_cycle.regulated_variables:run_cycle"),
    ("limit_cycle/torso-servo", "§5.3", "limit_cycle.steering:run_torso_servo"),
    ("limit_cycle/speed", "§6.2, figure 16", "limit_cycle.steering:run_speed"),
    ("limit_cycle/turning", "§6.3, figures 17 to 19", "limit_cycle.steering:run_turning"),
    ("limit_cycle/human-like", "§6", "limit_cycle.long_walks:run_human_like"),
    ("limit_cycle/styles", "§6.4, figures 20 and 21", "limit_cycle.styles:run"),
    ("limit_cycle/bird", "§4.2, §6.4, figure 22", "limit_cycle.long_walks:run_bird"),
    ("limit_cycle/predicted", "§5.2, what it hoped for", "limit_cycle.predicted:run"),
    ("motions/round-trip", "", "round_trip:run"),
    ("quality/people", "captured walks and runs within the bands", "quality.people:run"),
    ("quality/blind", "filmstrips to tell captured walks from simulated ones", "quality.blind:run"),
    ("quality/walks", "the plain walk of every controller", "quality.walks:run_walks"),
    ("quality/speeds", "one walk at all speeds", "quality.walks:run_speeds"),
    ("quality/runs", "the same at running speeds", "quality.walks:run_runs"),
    ("quality/styles", "people's walks among the styles, and caricatures", "quality.styles:run"),
    ("quality/robust", "what the plain walk bears", "quality.robust:run"),
    ("scale/agree", "a GPU gives the figures of a CPU", "scale.agree:run"),
    ("scale/thresholds", "likewise robust thresholds of pushes", "scale.thresholds:run"),
    ("simbicon/planar-gaits", "Table 1", "simbicon.table_gaits:run_planar"),
    ("simbicon/planar-acyclic", "§7.1 acyclic controllers", "simbicon.planar_acyclic:run"),
    ("simbicon/planar-transitions", "§7.1 controller transitions", "simbicon.gait_transitions:run_planar"),
    ("simbicon/planar-terrain", "§7.1 robustness, figure 1a", "simbicon.planar_robustness:run_terrain"),
    ("simbicon/planar-pushes", "§7.1 robustness", "simbicon.planar_robustness:run_pushes"),
    ("simbicon/planar-torque-limit", "§7", "simbicon.planar_robustness:run_torque_limit"),
    ("simbicon/planar-fel", "§7.1 feedback error learning, figure 7", "simbicon.error_learning:run_planar"),
    ("simbicon/planar-gains", "§7.3 (there in 3D), planar", "simbicon.balance_gains:run_planar"),
    ("simbicon/3d-gaits", "§7.2 manual controller design, Table 1", "simbicon.table_gaits:run_spatial"),
    ("simbicon/3d-transitions", "§7.2 manual controller design", "simbicon.gait_transitions:run_spatial"),
    ("simbicon/3d-parameters", "§7.2 parameterization, figure 9", "simbicon.parameter_sweeps:run"),
    ("simbicon/3d-pushes", "§7.2 robustness", "simbicon.spatial_robustness:run_pushes"),
    ("simbicon/3d-terrain", "§7.2 parameterization, manual design", "simbicon.spatial_robustness:run_terrain"),
    ("simbicon/3d-proportions", "§7.2 robustness", "simbicon.spatial_robustness:run_proportions"),
    ("simbicon/3d-fel", "§6, §7.2 feedback error learning", "simbicon.error_learning:run_spatial"),
    ("simbicon/3d-gains", "§7.3", "simbicon.balance_gains:run_spatial"),
    ("simbicon/mocap", "§5, §7.2 motion capture imitation, figure 8", "simbicon.mocap:run_seven"),
    ("simbicon/mocap-more", "§5, on clips of others", "simbicon.mocap:run_more"),
    ("simbicon/mocap-push", "figures 1b and 9", "simbicon.mocap:run_pushed"),
    ("simbicon/fel-mocap", "§7.2 feedback error learning", "simbicon.fel_mocap:run"),
    ("stepping/stand", "§5.1, figures 13 and 14", "stepping.stand:run"),
    ("stepping/speed", "§4.1, figure 6", "stepping.speed:run"),
    ("stepping/terrain", "§5.2, figures 10 and 12", "stepping.terrain_courses:run"),
    ("stepping/pushes", "§6.1, figure 17", "stepping.pushes:run"),
    ("stepping/balls", "§6.1, figure 16", "stepping.thrown_balls:run"),
    ("stepping/platform", "§6.2, figures 18 and 20", "stepping.gyrating_platform:run"),
    ("stepping/box", "§6.3, figures 19 and 22", "stepping.box:run"),
    ("stepping/proportions", "§6.4, figures 21 and 23", "stepping.proportions:run"),
    ("stepping/comfort", "§5.4, figure 15", "stepping.pushes:run_comfort"),
    ("stepping/paper-coupling", "§5.3, Table 2", "stepping.paper_coupling:run"),
    ("stepping/cost", "§6", "stepping.cost:run"),
    ("stylized/standing", "§3.3 and figure 5; §4 standing", "stylized.lean_recovery:run"),
    ("stylized/qp", "§4.3", "stylized.computing_cost:run_qp"),
    ("stylized/precompute", "§3.2", "stylized.computing_cost:run_precompute"),
    ("stylized/planar", "§5.1 and Table 1, 2D data", "stylized.planar_motions:run"),
    ("stylized/slopes", "§5.2 and figure 6", "stylized.worlds:run_slopes"),
    ("stylized/mocap", "§5.1 and Table 1", "stylized.mocap:run"),
    ("stylized/worlds", "§5.2 and figure 8", "stylized.worlds:run"),
    ("stylized/what-balances", "§5.2", "stylized.worlds:run_terms"),
    ("stylized/against-simbicon", "§5.1", "stylized.against_simbicon:run"),
    ("stylized/action-graph", "§5.3 and figure 7", "stylized.action_graph_walks:run"),
    ("tracking/clips", "all clips of a folder", "tracking.clips:run"),
    ("tracking/kinds", "the captured motions of SIMBICON and of da Silva 2008", "tracking.clips:run_kinds"),
    ("tracking/floor", "a knee on the ground, and getting up", "tracking.clips:run_floor"),
    ("tracking/pushes", "what tracked clips bear", "tracking.pushes:run"),
    ("tracking/soft", "half the servos' gains", "tracking.pushes:run_soft"),
    ("tracking/graph", "fragments of clips, joined (Liu et al. 2016, §5)", "tracking.graphs:run"),
    ("tracking/time", "from file to skill", "tracking.costs:run_time"),
    ("tracking/quality", "gait report cards beside the clips'", "tracking.quality:run"),
    ("tracking/cost", "the law beside the bare physics step", "tracking.costs:run_cost"),
)


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of their papers and claims, without importing any of them."""
    found = {}
    for name, where, function in _TABLE:
        paper = PAPERS[name.split("/")[0]]
        found[name] = Experiment(name, f"{paper}, {where}" if where else paper, f"{__name__}.{function}")
    return found


def select(names: list[str]) -> list[Experiment]:
    """Return the experiments asked for.

    Args:
        names: full names, or a paper's name for all of its experiments; an empty list means all.

    Raises:
        UnknownNameError: a name is neither an experiment nor a paper.
    """
    known = experiments()
    chosen: list[Experiment] = []
    for name in names or list(known):
        matching = [e for n, e in known.items() if n == name or n.split("/")[0] == name]
        if not matching:
            raise UnknownNameError("experiment", name, known)
        chosen += [e for e in matching if e not in chosen]
    return chosen
