"""What `surefoot simulate` does between parsing and printing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.engine.recorder import MAX_SECONDS, frame_steps
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.errors import CommandError, OutputError
from surefoot.lab.gait_measures import measure_gait, record_for_measuring
from surefoot.motions import formats
from surefoot.motions.motion import Motion
from surefoot.skills.schema import Skill
from surefoot.tasks import load as load_task
from surefoot.terrains import load as load_terrain
from surefoot.terrains.props import with_props

_CHUNK = 1.0  # [s] between two ticks of the progress bar
_LOOP_FPS = 120.0  # [1/s] recorded at least where a cycle is to be cut
_JUDGED = 5.0  # [s] at the end, over which the gait is measured
_MEASURES = {  # by what the summary calls them
    "speed": "speed", "cadence": "cadence", "step_length": "step_length",
    "foot_spread_at_strike": "foot_spread_at_strike", "torso_sway_deg": "sway",
    "flight": "flight", "cost_of_transport": "cost_of_transport", "slip": "slip",
}  # fmt: skip
_MEASURES_3D = {
    "sideways": "sideways", "step_width": "step_width", "narrowest": "narrowest", "torso_roll_deg": "roll",
    "drift_deg": "drift",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """Everything the command line can say about one simulation."""

    skill: str
    character: str | None
    terrain: str
    seconds: float
    commands: dict[str, float]  # as they are written, angles in degrees
    pushes: list[str]
    switches: list[str]
    proportions: dict[str, float]
    backpack: float
    self_collision: bool
    seed: int
    fps: float
    save: list[Path]
    in_place: bool
    loop: bool
    tasks: list[str] = field(default_factory=list)
    skinned: bool = False


def simulate(options: Options, tick: Callable[[str, float], None]) -> dict[str, Any]:
    """Run, save, and sum up."""
    if not 0.0 < options.seconds <= MAX_SECONDS:
        raise CommandError(f"seconds must be within 0 … {MAX_SECONDS:g}, got {options.seconds:g}")
    for path in options.save:
        check_writable(path)
    if (options.in_place or options.loop) and not options.save:
        raise CommandError("--in-place and --loop say how to save; name a file with --save")
    rigged = {path for path in options.save if options.skinned and path.suffix.lower() in formats.SKINNED}
    if options.skinned and not rigged:
        raise CommandError(f"--skinned needs a --save of a format with a skin: {', '.join(formats.SKINNED)}")
    sim, events = _prepare(options)
    dt = sim.model.opt.timestep
    total, done = max(1, round(options.seconds / dt)), 0
    requests = [(round(at / dt), wanted) for at, wanted in events]
    fps = max(options.fps, _LOOP_FPS) if options.loop and options.fps > 0.0 else options.fps
    parts, ending = list[Motion](), list[Motion]()
    while done < total:
        for at, wanted in requests:
            if at == done:
                sim.switch(wanted)
        until = min(total, done + round(_CHUNK / dt), *[at for at, _ in requests if at > done])
        seconds = (until - done) * dt
        if until <= total - round(_JUDGED / dt):
            parts.append(sim.run(seconds, fps))
        else:  # every physics step, so that what is measured does not depend on --fps
            frames = np.cumsum([0, *frame_steps(seconds, fps, dt)])
            ending.append(record_for_measuring(sim, seconds))
            parts.append(select_frames(ending[-1], frames))
        done = until
        tick(f"simulating {sim.skill.name}", done / total)
    motion = joined(parts)
    for path in options.save:
        tick(f"writing {path.name}", 1.0)
        saved_fps = options.fps if options.loop else None
        motion.save(
            path, fps=saved_fps, root_motion=not options.in_place, loop=options.loop, skinned=path in rigged
        )  # fmt: skip
    return _summary(sim, motion.root_position[-1] - motion.root_position[0], joined(ending), options)


def watch(options: Options) -> None:
    """Show it in MuJoCo's own viewer, in real time, until the window is closed."""
    try:
        import mujoco.viewer

        sim, events = _prepare(options)
        with mujoco.viewer.launch_passive(sim.model, sim.data) as window:
            begin = time.monotonic() - sim.time
            while window.is_running():
                for at, wanted in events:
                    if sim.time <= at < sim.time + 0.02:
                        sim.switch(wanted)
                sim.step(round(0.02 / sim.model.opt.timestep))
                window.sync()
                time.sleep(max(0.0, begin + sim.time - time.monotonic()))
    except (RuntimeError, ImportError, OSError) as error:
        raise CommandError(f"no viewer here: {str(error).splitlines()[0]}") from None


def joined(parts: list[Motion]) -> Motion:
    """Consecutive stretches as one motion; each begins with the frame the one before ended with."""
    first = parts[0]
    whole = {
        name: np.concatenate([getattr(p, name)[(i > 0) :] for i, p in enumerate(parts)]) for name in _frames_of(first)
    }
    return Motion(skeleton=first.skeleton, scene=first.scene, **whole)


def select_frames(motion: Motion, frames: np.ndarray) -> Motion:
    """The motion with some of its frames only: their numbers, or (n,) whether to keep each."""
    return replace(motion, **{name: getattr(motion, name)[frames] for name in _frames_of(motion)})


def _frames_of(motion: Motion) -> list[str]:
    """Names of the arrays that have an entry for every frame."""
    return [name for name in motion.arrays() if not name.startswith("skeleton")]


def factors_of(items: list[str]) -> dict[str, float]:
    """Proportions written as NAME=FACTOR."""
    return _pairs(items, "a proportion is NAME=FACTOR")


def commands_of(items: list[str], speed: float | None) -> dict[str, float]:
    """Commands written as NAME=VALUE, and the one that has an option of its own."""
    found = _pairs(items, "a command is NAME=VALUE")
    if speed is not None:
        if "speed" in found:
            raise CommandError("the command speed is given twice, by --speed and by --command")
        found["speed"] = speed
    return found


def _pairs(items: list[str], what: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for item in items:
        name, _, value = item.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise CommandError(f"{what}, got {item!r}") from None
        if name in found:
            raise CommandError(f"{what}; {name} is given twice")
        found[name] = number
    return found


def _commanded(sim: Simulation, name: str, value: float) -> float:
    """A command as the simulation takes it, from degrees if it is an angle."""
    if name not in sim.skill.commands:
        return value  # the simulation says which it knows
    return sim.scene.controller(sim.skill).commands[name].from_written(name, value)


def _prepare(options: Options) -> tuple[Simulation, list[tuple[float, Skill]]]:
    switches = [_switch(text) for text in options.switches]
    tasks = [load_task(text) for text in options.tasks]
    props = [prop for task in tasks for prop in task.props()]
    terrain = with_props(load_terrain(options.terrain), props) if props else options.terrain
    sim = Simulation(
        options.character, options.skill, terrain, options.seed, proportions=options.proportions,
        skills=[name for _, name in switches], backpack=options.backpack, self_collision=options.self_collision,
    )  # fmt: skip
    told = {name: _commanded(sim, name, value) for name, value in options.commands.items()}
    sim.scene.command(sim.memory, sim.skill, told)
    for text in options.pushes:
        sim.scene.add_push(sim.memory, _push(text), 0.0)
    for task in tasks:
        sim.add(task)
    return sim, [(at, sim.scene.find(name)) for at, name in switches]


def _push(text: str) -> Push:
    try:
        start, fx, fy, fz, duration = (float(part) for part in text.split(","))
    except ValueError:
        raise CommandError(f"a push is T,FX,FY,FZ,DURATION, got {text!r}") from None
    return Push((fx, fy, fz), duration, start)


def _switch(text: str) -> tuple[float, str]:
    at, _, name = text.partition(":")
    try:
        when = float(at)
    except ValueError:
        when = math.nan
    if not (math.isfinite(when) and when >= 0.0 and name):
        raise CommandError(f"a switch is T:SKILL, got {text!r}")
    return round(when, 6), name


def check_writable(path: Path) -> None:
    """Refuse a file that could not be saved, before any work is done."""
    if path.suffix.lower() not in formats.suffixes():
        raise OutputError(f"cannot save as {path.suffix or path.name!r}; valid: {', '.join(formats.suffixes())}")
    check_place(path)


def check_place(path: Path) -> None:
    """Refuse a path that is a folder or lies in none."""
    try:
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: no such folder")
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def _summary(sim: Simulation, way: np.ndarray, ending: Motion, options: Options) -> dict[str, Any]:
    """What is printed of a run: its way (3,) from beginning to end [m], and measures of its last seconds."""
    ending = select_frames(ending, ending.time >= ending.time[-1] - _JUDGED - 0.5 * sim.model.opt.timestep)
    gait = measure_gait(ending) if not sim.fallen and len(ending) > 2 else None
    planar = sim.scene.table.root == "planar"
    found: dict[str, Any] = {
        "skill": sim.skill.full_name,
        "terrain": options.terrain,
        "seconds": round(sim.time, 6),
        "fallen_at": round(sim.fallen_at, 4) if sim.fallen else None,
        "fall_cause": sim.fall_cause if sim.fallen else None,
        "distance": float(way[0] if planar else math.hypot(way[0], way[1])),
    }
    measures = _MEASURES if planar else _MEASURES | _MEASURES_3D
    found |= {name: getattr(gait, field) if gait else None for name, field in measures.items()}
    found |= {
        "peak_torque": float(sim.memory.report[0].peak_torque),
        "saved": [str(path) for path in options.save],
    }
    if options.tasks:
        found["tasks"] = [
            {"task": text, "status": task.status, "reason": task.reason}
            for text, task in zip(options.tasks, sim.tasks, strict=True)
        ]
    return {name: _finite(value) for name, value in found.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
