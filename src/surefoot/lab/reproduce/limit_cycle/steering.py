"""The torso servo, commanded speeds, and turning, which is tighter with the servo.

§5.3: a servo at the waist holds the torso upright in the world, and smooths its bobbing. Marches with and without it
take their trials about no perturbation, as the paper's do: about the mean of late ones, the march without the servo
falls.

Figure 16: commanded speeds from rest, RV_d = RV_d* + K (v_d − v); accelerating and braking. A speed is tracked if no
replica falls and each goes at it on average from 15 s on.

Figures 17 to 19: turning by hip twists; a path through six target points.
"""

from __future__ import annotations

import numpy as np

from surefoot.engine.simulation import Simulation
from surefoot.lab import figures
from surefoot.lab.experiment import Result, Setting
from surefoot.lab.gait_measures import root_yaw, torso_pitch
from surefoot.lab.reproduce.limit_cycle.limit_cycle_walks import REPLICAS, Marches, march, march_population
from surefoot.motions.motion import Motion
from surefoot.skills.schema import Skill
from surefoot.tasks.follow_path import FollowPath
from surefoot.tasks.follow_path import Polyline as Way

SPEEDS, BARRED = (-0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.0, 0.5)  # [m/s]
SPEED_SECONDS, SPEED_SETTLED, SHARE, LEAST_ROOM = 40.0, 15.0, 0.10, 0.05  # [s], [s], of the speed, [m/s]
PROFILE = ((0.0, 8.0), (0.4, 12.0), (0.1, 12.0), (0.3, 10.0))  # [m/s] for [s]: accelerating and braking


def run_speed(result: Result, setting: Setting) -> None:
    """All speeds at once, then a profile of them."""
    speeds = (0.0, 0.3) if setting.quick else SPEEDS
    seconds, settled = (14.0, 8.0) if setting.quick else (SPEED_SECONDS, SPEED_SETTLED)
    setting.progress("speeds", 0.05)
    wide = march({"speed.range.0": -0.5, "speed.range.1": 1.0})  # what is out of reach shall show, not be clamped
    population = march_population([wide] * len(speeds), setting.seed, "speed", commands=[{"speed": v} for v in speeds])
    population.run(settled, stop_fallen=True)
    before = population.qpos[:, 0].copy()
    walks = Marches(population, seconds - settled)
    ahead = (population.qpos[:, 0] - before) / (seconds - settled)
    reached = []
    for i, speed in enumerate(speeds):
        room, went = max(SHARE * abs(speed), LEAST_ROOM), ahead[REPLICAS * i :][:REPLICAS]
        worst = float(went[np.abs(went - speed).argmax()])
        holds = walks.are_fair(i) and abs(worst - speed) <= room
        reached += [speed] if holds else []
        walks.record(result, f"{speed:g} m/s", i)
        text = f"{worst:.2f} m/s, {walks.upright(i)}"
        if BARRED[0] <= speed <= BARRED[1]:
            result.add_row(f"commanded {speed:g} m/s", "tracked", text, f"farthest mean (± {room:.2f})", holds)
        else:
            result.add_note(f"commanded {speed:g} m/s", text + (", tracked" if holds else ", not tracked"))
        result.add_note(f"commanded {speed:g} m/s: how it walks", walks.quality(i))
    result.add_note("whole range tracked", f"{min(reached):g} … {max(reached):g}" if reached else "none", "m/s",
                "near stationary (RV 0.25) to fastest (RV 0.30)")  # fmt: skip
    setting.progress("accelerating and braking", 0.8)
    _profile(result, setting)


def _profile(result: Result, setting: Setting) -> None:
    sim, parts = Simulation(skill=march(), seed=setting.seed), []
    for speed, seconds in PROFILE[:2] if setting.quick else PROFILE:
        sim.command(speed=speed)
        parts.append((speed, sim.run(seconds, fps=50.0)))
    ends = [f"{speed:g} → {_speed(motion, 4.0):.2f}" for speed, motion in parts]
    fell = f", fell at {sim.fallen_at:.1f} s" if sim.fallen else ""
    result.add_note("accelerating and braking from rest", ", ".join(ends) + fell, "m/s, mean of the last 4 s of each")
    _draw_speeds(setting.figure_path(result.experiment, "speed.png"), parts)


def _speed(motion: Motion, last: float) -> float:
    late = motion.time >= motion.time[-1] - last
    x, time = motion.root_position[late, 0], motion.time[late]
    return float((x[-1] - x[0]) / (time[-1] - time[0]))


@figures.plot(7, 4)
def _draw_speeds(axes: figures.Axes, parts: list[tuple[float, Motion]]) -> None:
    for speed, motion in parts:
        width = 57  # frames of two steps, over which the swaying is averaged
        if len(motion) > 2 * width:
            v = (motion.root_position[width:, 0] - motion.root_position[:-width, 0]) / (
                motion.time[width:] - motion.time[:-width]
            )
            axes.plot(motion.time[width:], v, "C0", linewidth=0.8)
        axes.plot(motion.time[[0, -1]], [speed, speed], "0.6", linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="speed [m/s], commanded grey")


SERVO_SECONDS, LEAST = 30.0, 0.5  # [s], share by which the range falls
ABOUT_NONE = {"regulation.recentre": 0.0}
WAIST = 0.3  # [rad] back, at which a waist without the servo is held: the pelvis is pitched forward by as much


def run_torso_servo(result: Result, setting: Setting) -> None:
    """The march without the servo and with it."""
    seconds = 12.0 if setting.quick else SERVO_SECONDS
    setting.progress("without and with the servo", 0.1)
    walks = Marches(march_population([without_servo(), march(ABOUT_NONE)], setting.seed, "torso servo"), seconds)
    pairs = zip(walks.gaits, walks.motions, strict=True)
    ranges = [float(np.degrees(np.ptp(torso_pitch(m)))) if g else np.nan for g, m in pairs]
    without, with_it = ranges[:REPLICAS], ranges[REPLICAS:]
    fell = 1.0 - np.max(with_it) / np.min(without)
    result.add_row(
        "range of the torso's pitch", "the servo smooths its bobbing",
        f"{np.min(without):.1f} … {np.max(without):.1f}° without, {np.min(with_it):.1f} … {np.max(with_it):.1f}° with",
        f"falls by {100 * fell:.0f} % at least (≥ {100 * LEAST:g} %)", bool(fell >= LEAST),
    )  # fmt: skip
    for case, label in enumerate(("without", "with")):
        walks.record(result, f"{label} the servo", case)
        result.add_note(f"{label} the servo", walks.upright(case))
        path = setting.figure_path(result.experiment, f"{label}.png")
        figures.save_filmstrip(path, walks.motions[case * REPLICAS], f"{label} torso servo")


def without_servo() -> Skill:
    """The march with its waist held as it is on average, in the pelvis' frame."""
    return march({**ABOUT_NONE, "torso_servo": False} | {f"states.{i}.targets.waist": WAIST for i in range(3)})


TWISTS = (0.03, 0.06, 0.10, 0.15, 0.20, 0.25)  # [rad] of the hips, a step
SECONDS, SETTLED = 40.0, 10.0  # [s]
POINTS = ((2.0, 0.0), (4.0, 1.0), (5.0, 3.0), (4.0, 5.0), (2.0, 5.5), (0.5, 4.5))  # [m] six target points, figure 19
SPEED, OFF = 0.2, 0.5  # [m/s], [m] of the path


def run_turning(result: Result, setting: Setting) -> None:
    """Radii by twist, then the path."""
    _radii(result, setting)
    setting.progress("six-point path", 0.6)
    sim = Simulation(skill=march(), seed=setting.seed)
    points = POINTS[:2] if setting.quick else POINTS
    task = sim.add(FollowPath(points, speed=SPEED, tolerance=0.35))
    parts, limit = [], task.timeout + 5.0
    while not task.is_over and not sim.fallen and sim.time < limit:
        parts.append(sim.run(0.5, fps=20.0))
        setting.progress("six-point path", 0.6 + 0.4 * min(1.0, task.reached / len(points)))
    way = Way(np.array([(0.0, 0.0), *points]))
    places = np.concatenate([m.com[:, :2] for m in parts])
    off = np.array([np.hypot(*(p - way.point_at(way.nearest(p, 0.0, float(way.arc_lengths[-1]))))) for p in places])
    result.add_row(
        f"path through {len(points)} target points", "follows the desired trajectory",
        f"{off.max():.2f} m off at most, {task.reached} of {len(points)} points: {task.reason or 'not done'}",
        f"m, of its COM (≤ {OFF:g})", bool(task.status == "done" and off.max() <= OFF),
    )  # fmt: skip
    result.add_note("points missed by", ", ".join(f"{m:.2f}" for m in task.missed), "m")
    _draw_path(setting.figure_path(result.experiment, "path.png"), way, places)


def _radii(result: Result, setting: Setting) -> None:
    """How tight turns are by the hips' twist, with and without the torso servo."""
    setting.progress("turning radii", 0.05)
    twists, seconds = (TWISTS[2:3], 16.0) if setting.quick else (TWISTS, SECONDS)
    tightest: dict[bool, float] = {True: np.inf, False: np.inf}  # [m]
    for servo in (True, False):
        commands = [{"turn": sign * twist} for twist in twists for sign in (1.0, -1.0)]
        skills = [march() if servo else without_servo()] * len(commands)
        walks = march_population(skills, setting.seed, "turning", 1, commands)
        walks.run(SETTLED if not setting.quick else 6.0, stop_fallen=True)
        motions = walks.run(seconds - SETTLED, fps=20.0, stop_fallen=True)
        for told, motion, fallen in zip(commands, motions, walks.fallen_at, strict=True):
            case = f"twist {told['turn']:+.2f} rad, {'with' if servo else 'without'} torso servo"
            if np.isfinite(fallen):
                result.add_note(case, f"fell at {fallen:.1f} s")
                continue
            rate, speed = _turn(motion)
            radius = abs(speed / rate) if rate else np.inf
            tightest[servo] = min(tightest[servo], radius)
            result.add_note(case, f"{rate:+.2f} rad/s at {speed:.2f} m/s: radius {radius:.2f} m")
            result.runs.append({"twist": told["turn"], "servo": servo, "rate": rate, "speed": speed})
    result.add_note("tightest turn",
                    f"{_metres(tightest[True])} with the torso servo, {_metres(tightest[False])} without", "",
                    "tighter with torso servo")  # fmt: skip


def _metres(radius: float) -> str:
    return f"radius {radius:.2f} m" if np.isfinite(radius) else "none stays upright"


def _turn(motion: Motion) -> tuple[float, float]:
    """Mean yaw rate [rad/s] and mean speed along the path [m/s] of a motion."""
    took = float(motion.time[-1] - motion.time[0])
    yaw = np.unwrap(root_yaw(motion))
    legs = np.diff(motion.root_position[::23, :2], axis=0)  # every 23 frames: two steps
    return float(yaw[-1] - yaw[0]) / took, float(np.hypot(*legs.T).sum()) / took


@figures.plot(6, 5.5)
def _draw_path(axes: figures.Axes, way: Way, places: np.ndarray) -> None:
    axes.plot(*way.points.T, "o-", color="0.7", label="target points")
    axes.plot(*places.T, "C0", linewidth=1.0, label="centre of mass")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.legend(frameon=False)
