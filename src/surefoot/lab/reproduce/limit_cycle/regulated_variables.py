"""Which variables are regulated by which perturbations, how linear that is, and the limit cycle that it leads to.

§3.2, §3.3: two choices of regulation variables, two of perturbations; diagonal and full Jacobian. The paper reports
that stance hip and swing hip can be used, without saying with which variables. Here a swing hip has next to no effect
on the up-vector within a step; what happens is printed. A swing-COM that is the same at the end of every step leaves
the speed free to run away, as a pendulum's does; with it the speed is held, by the paper's own law (§6.2). What happens
without is printed.

Figure 4: the regulation variable at the end of a step is linear in the perturbation of that step.
Figures 13 to 15: the limit cycle of the regulation variables, and the paths that other targets lead to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.engine.population import Population
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import root_yaw
from surefoot.lab.learned_step_model import begun_steps, cycle_records
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import Changes, Marches, march, march_population, upright
from surefoot.motions import quaternions as quat
from surefoot.motions.motion import Motion

SECONDS, EACH = 120.0, 2  # [s], replicas with either Jacobian
COM: Changes = {
    "regulation.variable": "swing-com", "regulation.forward": 0.017, "regulation.lateral": -0.217,
    "regulation.recentre": 0.0,
}  # fmt: skip
HELD: Changes = {"speed.usual": 0.2, "speed.bias": 0.02, "speed.slope": -0.12, "speed.integral": 0.0}
SWING: Changes = {"regulation.perturbed": "swing-hip"}
CASES: dict[str, Changes] = {
    "stance hip, up-vector": {},
    "stance hip, swing-COM": {**COM, **HELD, "speed.gain": 0.3},
    "swing hip, swing-COM": {**COM, **HELD, "speed.gain": 0.1, **SWING},
    "swing hip, up-vector": SWING,
}
FREE: dict[str, Changes] = {
    "stance hip, swing-COM": COM,
    "swing hip, swing-COM": {**COM, **SWING, "regulation.lateral": -0.225},
}
_BARRED = 3  # the first so many have to walk
_JACOBIANS = ("diagonal", "full")


def run_combinations(result: Result, setting: Setting) -> None:
    """All combinations at once, with either Jacobian."""
    seconds, replicas = (12.0, 1) if setting.quick else (SECONDS, EACH)
    setting.progress("combinations", 0.05)
    cases = [(name, kind) for name in CASES for kind in _JACOBIANS]
    population = march_population(
        [march({**CASES[name], "regulation.jacobian": kind}) for name, kind in cases], setting.seed, "combinations",
        replicas,
    )  # fmt: skip
    population.run(3.0, stop_fallen=True)
    first = [[float(c[n]) for n in _ENTRIES] for c in cycle_records(population)]
    walks = Marches(population, seconds - 3.0, replicas)
    cycles = cycle_records(population)
    for i, name in enumerate(CASES):
        kept = {}
        for j, kind in enumerate(_JACOBIANS):
            case = len(_JACOBIANS) * i + j
            at, kept[kind] = replicas * case, walks.are_fair(case)
            walks.record(result, f"{name}, {kind}", case)
            jacobian = np.array(first[at]).reshape(2, 2)
            result.add_note(
                f"{name}, {kind} Jacobian", f"{walks.upright(case)}; {walks.quality(case)}",
                f"J after 3 s {np.array2string(jacobian, precision=2, suppress_small=True).replace(chr(10), '')}; "
                f"{sum(int(c.singular) for c in cycles[at : at + replicas])} singular steps",
            )  # fmt: skip
        if i < _BARRED:
            ways = " and ".join(kind for kind in _JACOBIANS if kept[kind]) or "neither"
            result.add_row(f"{name}, {seconds:g} s", "leads to stable walks", f"with the Jacobian: {ways}",
                           f"all {replicas} replicas walk on with one of them", any(kept.values()))  # fmt: skip
    setting.progress("no speed held", 0.9)
    free = march_population([march(change) for change in FREE.values()], setting.seed, "free", 1)
    free.run(min(seconds, 60.0), stop_fallen=True)
    for i, name in enumerate(FREE):
        result.add_note(f"{name}, no speed held, {min(seconds, 60.0):g} s", upright(free, i, 1))


_ENTRIES = ("forward_by_pitch", "forward_by_roll", "lateral_by_pitch", "lateral_by_roll")


CYCLE_SECONDS, START_UP, WITHIN = 60.0, 12, 0.02  # [s], steps, of the target
UP_TARGETS, COM_TARGETS = (0.31, 0.32, 0.33, 0.34, 0.35), (0.0, 0.005, 0.01, 0.015, 0.02)
_UNTWISTED = {"twist.gain": 0.0}  # the paper's walks of these figures hold no heading


def run_cycle(result: Result, setting: Setting) -> None:
    """The march's own cycle, then paths by target."""
    seconds = 12.0 if setting.quick else CYCLE_SECONDS
    setting.progress("limit cycle", 0.05)
    population = march_population([march()], setting.seed, "cycle")
    cycles, missed = cycle_records(population), []
    for i in begun_steps(population, seconds):
        c = cycles[i]
        missed.append((i, float(population.rows[i].report[0].steps), float(c.forward), float(c.lateral)))
    target = march().parameters.regulation
    late = np.array([(f - target.forward, side - target.lateral) for _, n, f, side in missed if n > START_UP])
    fell = np.isfinite(population.fallen_at).any() or not len(late)
    for k, name in enumerate(("forward", "lateral")):
        worst = np.inf if fell else float(np.abs(late[:, k]).max())
        result.add_row(f"{name} at step ends, target {getattr(target, name):g}, after {START_UP} steps",
                       "onto a limit cycle", f"{worst:.3f} off at most",
                       f"of {len(late)} steps of all replicas (≤ {WITHIN:g})", worst <= WITHIN)  # fmt: skip
    result.runs += [{"replica": i, "step": n, "forward": f, "lateral": side} for i, n, f, side in missed]
    sim = Simulation(skill=march(), seed=setting.seed)
    _draw_cycle(setting.figure_path(result.experiment, "cycle.png"), sim.run(seconds / 2, fps=200.0))
    for label, targets, changes in (
        ("up-vector", UP_TARGETS, {}),
        ("swing-COM", COM_TARGETS, FREE["swing hip, swing-COM"]),
    ):
        setting.progress(f"paths of the {label}", 0.4)
        skills = [march({**_UNTWISTED, **changes, "regulation.forward": t}) for t in targets]
        walks = march_population(skills, setting.seed, f"paths {label}", replicas=1)
        motions = walks.run(seconds, fps=20.0, stop_fallen=True)
        for t, motion, fallen in zip(targets, motions, walks.fallen_at, strict=True):
            way = motion.root_position[-1, :2] - motion.root_position[0, :2]
            went = float(np.hypot(*way)) / seconds
            turned = np.degrees(np.ptp(np.unwrap(root_yaw(motion))))
            text = f"fell at {fallen:.1f} s" if np.isfinite(fallen) else f"{went:.2f} m/s, turns by {turned:.0f}°"
            result.add_note(f"{label}, forward target {t:g}", text, f"over {seconds:g} s")
        _draw_paths(setting.figure_path(result.experiment, f"paths-{label}.png"), targets, motions)


@figures.plot(5, 5)
def _draw_cycle(axes: figures.Axes, motion: Motion) -> None:
    """Figure 13: the up-vector's projection on the ground, seen along the pelvis' heading."""
    up = quat.rotate(motion.rotations[:, 0], np.array([0.0, 0.0, 1.0]))
    yaw = root_yaw(motion)
    forward, left = up[:, 0] * np.cos(yaw) + up[:, 1] * np.sin(yaw), up[:, 1] * np.cos(yaw) - up[:, 0] * np.sin(yaw)
    half = len(forward) // 2
    axes.plot(left[:half], forward[:half], "0.75", linewidth=0.6, label="start-up")
    axes.plot(left[half:], forward[half:], "C0", linewidth=0.6, label="later")
    axes.set(xlabel="lateral (left)", ylabel="forward", aspect="equal")
    axes.legend(frameon=False)


@figures.plot(6, 5)
def _draw_paths(axes: figures.Axes, targets: tuple[float, ...], motions: list[Motion]) -> None:
    """Figures 14 and 15: paths of the pelvis from above."""
    for target, motion in zip(targets, motions, strict=True):
        axes.plot(*motion.root_position[:, :2].T, linewidth=1.0, label=f"{target:g}")
    axes.set(xlabel="x [m]", ylabel="y [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(frameon=False, title="forward target")


STEPS, LEVELS, FARTHEST, LEAST = 20, 9, 0.1, 0.95  # steps, perturbations of each, [rad], R²
_AXES = (("pitch", "forward"), ("roll", "lateral"))  # what is perturbed, and what answers
_LONGEST = 1.2  # [s] of a step


def run_linearity(result: Result, setting: Setting) -> None:
    """Twenty consecutive steps of a settled march, each taken with perturbations of ± 0.1 rad."""
    sim = Simulation(skill=march(), seed=setting.seed)
    sim.step(round(5.0 / sim.model.opt.timestep))
    count = 3 if setting.quick else STEPS
    levels = np.linspace(-FARTHEST, FARTHEST, LEVELS)
    trials = Population(2 * LEVELS, skill=march())
    ends = np.empty((count, 2, LEVELS))
    for k in range(count):
        setting.progress("steps", k / count)
        _to_next_step(sim)
        ends[k] = ends_of(trials, sim.snapshot().state, levels)
    for axis, (perturbed, answer) in enumerate(_AXES):
        shares, slopes = zip(*(fit(levels, values) for values in ends[:, axis]), strict=True)
        result.add_row(f"{answer} by {perturbed}, ± {FARTHEST:g} rad, {count} consecutive steps",
                       "a linear model is reasonable", f"R² {min(shares):.3f} … {max(shares):.3f}",
                       f"least R² (≥ {LEAST:g})", bool(np.min(shares) >= LEAST))  # fmt: skip
        result.add_note(f"{answer} by {perturbed}: slope", f"{min(slopes):.2f} … {max(slopes):.2f}", "1/rad")
        result.runs += [
            {"step": k, "perturbed": perturbed, "by": level, "end": end}
            for k in range(count)
            for level, end in zip(levels, ends[k, axis], strict=True)
        ]
    _draw_linearity(setting.figure_path(result.experiment, "linearity.png"), levels, ends)


def _to_next_step(sim: Simulation) -> None:
    steps = sim.memory.report[0].steps
    while sim.memory.report[0].steps == steps:
        sim.step()


def ends_of(trials: Population, state: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(2, levels) what a step ends with, from one state, by its perturbation in pitch and in roll."""
    trials.restore(np.repeat(state[None], trials.n, axis=0))
    cycles = cycle_records(trials)
    for i, cycle in enumerate(cycles):
        cycle.pitch, cycle.roll = (levels[i], 0.0) if i < len(levels) else (0.0, levels[i - len(levels)])
        cycle.asked = 0.0
    begun, ends = float(cycles[0].begun), np.full(trials.n, np.nan)
    for _ in range(round(_LONGEST / 0.05)):
        trials.run(0.05)
        for i, cycle in enumerate(cycles):
            if np.isnan(ends[i]) and cycle.begun != begun:
                ends[i] = cycle.forward if i < len(levels) else cycle.lateral
        if np.isfinite(ends).all():
            break
    return ends.reshape(2, -1)


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """R² and slope of a straight line through points."""
    slope, constant = np.polyfit(x, y, 1)
    return float(1.0 - ((y - slope * x - constant) ** 2).sum() / ((y - y.mean()) ** 2).sum()), float(slope)


@figures.plot(8, 4, 1, 2)
def _draw_linearity(both: Sequence[figures.Axes], levels: np.ndarray, ends: np.ndarray) -> None:
    for axis, (axes, (perturbed, answer)) in enumerate(zip(both, _AXES, strict=True)):
        axes.plot(levels, ends[:, axis].T, "C0.-", linewidth=0.6, markersize=3)
        axes.set(
            xlabel=f"perturbation of the stance hip's {perturbed} [rad]", ylabel=f"{answer} at the end of the step"
        )
