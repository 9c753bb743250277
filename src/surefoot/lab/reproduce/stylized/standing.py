"""§3.3, figure 5: leans that a regulator of the three-link model recovers from; and the whole character, standing."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from surefoot.controllers.stylized.balance_policy import Costs, Weights
from surefoot.controllers.stylized.law import tracker_state
from surefoot.controllers.stylized.three_link import (
    Joints,
    ThreeLink,
    ThreeLinkDynamics,
    build_three_link,
    equilibrium,
    pitch_roll_rotation,
    three_link_groups,
)
from surefoot.engine.population import Population
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.recoverable_lean import (
    AnkleStand,
    center_offset,
    com_shift_per_radian,
    controllable_dimension,
    largest_lean_bound,
)
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.robustness import NEEDED, REPLICAS, robust_threshold
from surefoot.skills import load

SKILL = "human/stylized-stand"
PAPERS = Weights.uniform(1.0, 0.0, 1.0)  # figure 5: velocity errors are free, position and control count alike
# found by an evolution strategy over these numbers, for the largest lean forward at 300 N·m
SEARCHED = Weights(
    1.0,
    pitch=Costs((15.0, 0.052, 0.44), (0.13, 0.078, 0.038), (4.8e-07, 5.4e-07)),
    roll=Costs((9.6, 0.0017, 0.0017), (58.0, 37.0, 37.0), (1e-5, 1e-5)),
)
_OTHERS = tuple(Weights.uniform(1.0, rates, control) for rates in (0.03, 0.1, 1.0) for control in (1e-4, 1e-5, 1e-6))
_DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "inward": (0.0, 1.0), "outward": (0.0, -1.0)}
_LIMITS = (100.0, 300.0, np.inf)  # [N·m]
_LEAST, _LIMIT = 5.0, 300.0  # [°] that must be recovered from, with so many N·m
_FLEXED = np.pi / 2.0  # [rad] of trunk and swing leg: what a person can do
_MINUTES, _PUSHED, _LASTS, _AFTER, _FORWARD = 10.0, 1.0, 0.4, 10.0, 100.0
_PUSHES = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "sideways": (0.0, 1.0)}
_STANDS = 0.1  # [m] that the pelvis may be from where it began


def run(result: Result, setting: Setting) -> None:
    """Lean, stand, be pushed."""
    link = three_link()
    _reach(result, link)
    _lean(result, setting, link)
    _argue(result, link)
    _stand(result, setting)
    _push(result, setting)


def three_link(joints: Joints = "hinges") -> ThreeLink:
    """Of the human in its standing pose, on its left leg."""
    sim = Simulation(skill=SKILL)
    mujoco.mj_forward(sim.model, sim.data)
    return build_three_link(three_link_groups(sim.model, sim.scene.table, 0), sim.model, sim.data, joints=joints)


def _reach(result: Result, link: ThreeLink) -> None:
    """How much of the state the hips reach, with hinges and with the paper's ball joints: turning is out of reach."""
    ball, (state, control) = three_link("ball"), equilibrium(link)
    turns = np.zeros((3, 4))
    for i in range(3):
        mujoco.mju_mat2Quat(turns[i], pitch_roll_rotation(*state[2 * i : 2 * i + 2]).ravel())
    still = np.concatenate([turns.ravel(), np.zeros(ball.model.nv)])
    torques = ThreeLinkDynamics(ball).inverse_dynamics(still, np.zeros(ball.model.nv))[ball.axes :]
    ranks = controllable_dimension(link, state, control), controllable_dimension(ball, still, torques)
    result.show("dimensions of the state that torques reach: hinges, the paper's ball joints",
                f"{ranks[0]} of {2 * link.model.nv}, {ranks[1]} of {2 * ball.model.nv}")  # fmt: skip


def _lean(result: Result, setting: Setting, link: ThreeLink) -> None:
    best: tuple[float, Weights] = (-1.0, PAPERS)
    for i, weights in enumerate((PAPERS, SEARCHED, *(_OTHERS[::4] if setting.quick else _OTHERS))):
        setting.progress("leaning", i / (2 + len(_OTHERS)))
        lean = AnkleStand(link, weights).largest_lean(np.array(_DIRECTIONS["forward"]), _LIMIT)
        result.runs.append({"weights": repr(weights), "limit": _LIMIT, "lean": lean})
        if weights is PAPERS:
            result.show("lean forward, figure 5's weights, 300 N·m", f"{lean:.2f}", "°", "20")
        best = max(best, (lean, weights), key=lambda pair: pair[0])
    lean, weights = best
    result.row(
        f"lean forward at {_LIMIT:g} N·m, {'weights that a search found' if weights is SEARCHED else weights}",
        "20° = 36 cm", f"{lean:.1f}° = {100 * center_offset(link, lean):.1f} cm", f"(≥ {_LEAST:g}°)", lean >= _LEAST,
    )  # fmt: skip
    stand = AnkleStand(link, weights)
    for way, direction in _DIRECTIONS.items():
        found = [stand.largest_lean(np.array(direction), limit) for limit in _LIMITS]
        result.show(f"lean {way} at 100, 300 N·m and without limit", ", ".join(f"{v:.1f}" for v in found), "°")
    _draw(setting.figure_path("stylized/standing", "leans.png"), stand, lean)


def _argue(result: Result, link: ThreeLink) -> None:
    upper, swing = 100.0 * com_shift_per_radian(link)
    needed = 100.0 * center_offset(link, 20.0)
    turns = needed / (abs(upper) + abs(swing))
    result.show("a swift radian of the upper body, of the swing leg, moves the COM", f"{upper:.1f}, {swing:.1f}", "cm")
    result.show("turns of both that 20° would take, hips of any strength", f"{np.degrees(turns):.0f}", "°")
    result.show("the most that 90° of both can recover from", f"{largest_lean_bound(link, _FLEXED, _FLEXED):.1f}", "°")


def _draw(path: Path | None, stand: AnkleStand, largest: float) -> None:
    """Squared tracking error over time for several leans, and the torques of the largest (figure 5)."""
    if path is None:
        return
    figure = figures.new_figure(8, 3.2)
    errors, torques = figure.subplots(1, 2)
    dt = stand.link.model.opt.timestep
    for share in (0.25, 0.5, 0.75, 0.98):
        fall = stand.lean(share * largest, np.array(_DIRECTIONS["forward"]), _LIMIT)
        error = ((fall.states - stand.state)[:, : stand.link.model.nv] ** 2).sum(axis=1)
        errors.semilogy(dt * np.arange(len(error)), error, label=f"{share * largest:.1f}°")
    errors.set(xlabel="time [s]", ylabel="squared error of angles [rad²]")
    errors.legend(title="lean forward")
    torques.plot(dt * np.arange(len(fall.torques)), fall.torques[:, 0], label="upper body")
    torques.plot(dt * np.arange(len(fall.torques)), fall.torques[:, stand.link.axes], label="swing leg")
    torques.set(xlabel="time [s]", ylabel="hip torque about y [N·m]")
    torques.legend()
    figures.save(figure, path)


def _stand(result: Result, setting: Setting) -> None:
    sim, minutes = Simulation(skill=SKILL), 0.25 if setting.quick else _MINUTES
    for second in range(round(60.0 * minutes)):
        setting.progress("standing", second / (60.0 * minutes))
        sim.step(round(1.0 / sim.model.opt.timestep))
        if sim.fallen:
            break
    tracker = tracker_state(sim.memory.memory)
    held = not sim.fallen and tracker.failures == 0
    text = f"{sim.time / 60.0:.2f}, {int(tracker.failures)} of {int(tracker.solves)} solutions failed"
    result.row("the whole character stands", "", text, f"min (≥ {minutes:g})", held)
    result.show("peak torque while standing", f"{sim.memory.report[0].peak_torque:.0f}", "N·m")


def _push(result: Result, setting: Setting) -> None:
    skill, found = load(SKILL), {}
    for way, (x, y) in _PUSHES.items():

        def survives(levels: list[float], x: float = x, y: float = y, way: str = way) -> list[int]:
            cases = [(level, k) for level in levels for k in range(REPLICAS)]
            pushes = [[Push((x * level, y * level, 0.0), _LASTS, _PUSHED)] for level, _ in cases]
            population = Population(len(cases), skill=skill, pushes=pushes)
            perturb_population(population, [seeded_generator(setting.seed, "stand", way, k) for _, k in cases])
            begin = population.qpos[:, :3].copy()
            population.run(_PUSHED + _LASTS + _AFTER, stop_fallen=True)
            near = np.abs(population.qpos[:, :3] - begin).max(axis=1) < _STANDS
            good = (np.isinf(population.fallen_at) & near).reshape(-1, REPLICAS)
            return [int(count) for count in good.sum(axis=1)]

        setting.progress(f"pushes {way}", 0.0)
        grid = [10.0 * i for i in range(4, 26, 4 if setting.quick else 1)]
        found[way], tried = robust_threshold(survives, grid, 2)
        result.runs += [{"push": way, "newton": level, "survived": count} for level, count in tried]
    result.row(
        f"largest push forward of {_LASTS:g} s, {NEEDED} of {REPLICAS} replicas", "", f"{found['forward']:g}",
        f"N (≥ {_FORWARD:g})", found["forward"] >= _FORWARD,
    )  # fmt: skip
    result.show("largest push backward, sideways", f"{found['backward']:g}, {found['sideways']:g}", "N")
