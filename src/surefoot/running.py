"""What `surefoot simulate` does between parsing and printing."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import CommandError, OutputError
from surefoot.lab.measures import measure
from surefoot.motions import formats
from surefoot.motions.motion import Motion
from surefoot.scene import Push
from surefoot.simulation import MAX_SECONDS, Simulation
from surefoot.skills import files, library_path
from surefoot.skills.schema import Skill

_CHUNK = 1.0  # [s] between two ticks of the progress bar
_JUDGED = 5.0  # [s] at the end, over which the gait is measured


@dataclass(frozen=True)
class Options:
    """Everything the command line can say about one simulation."""

    skill: str
    character: str
    terrain: str
    seconds: float
    speed: float | None
    pushes: list[str]
    switches: list[str]
    proportions: dict[str, float]
    seed: int
    fps: float
    save: list[Path]


def simulate(options: Options, tick: Callable[[str, float], None]) -> dict[str, Any]:
    """Run, save, and sum up."""
    if not 0.0 < options.seconds <= MAX_SECONDS:
        raise CommandError(f"seconds must be within 0 … {MAX_SECONDS:g}, got {options.seconds:g}")
    for path in options.save:
        _check_writable(path)
    sim, events = _prepare(options)
    parts: list[Motion] = []
    while sim.time < options.seconds - 1e-9:
        until = min(options.seconds, sim.time + _CHUNK, *[t for t, _ in events if t > sim.time + 1e-9])
        for at, wanted in events:
            if abs(at - sim.time) < 1e-9:
                sim.switch(wanted)
        parts.append(sim.run(until - sim.time, options.fps))
        tick(f"simulating {sim.skill.name}", sim.time / options.seconds)
    motion = joined(parts)
    for path in options.save:
        tick(f"writing {path.name}", 1.0)
        motion.save(path)
    return _summary(sim, motion, options)


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
        name: np.concatenate([getattr(p, name)[(i > 0) :] for i, p in enumerate(parts)])
        for name in first.arrays()
        if not name.startswith("skeleton")
    }
    return Motion(skeleton=first.skeleton, scene=first.scene, **whole)


def bounds_of(items: list[str]) -> dict[str, tuple[float, float]]:
    """Bounds of parameters written as PATH=LOW:HIGH."""
    found = {}
    for item in items:
        name, _, span = item.partition("=")
        low, _, high = span.partition(":")
        try:
            found[name] = (float(low), float(high))
        except ValueError:
            raise CommandError(f"a parameter is PATH=LOW:HIGH, got {item!r}") from None
    if not found:
        raise CommandError("name at least one --parameter PATH=LOW:HIGH to tune")
    return found


def write_tuned(begin: Skill, tuned: Skill, values: dict[str, float], path: Path) -> None:
    """Write a tuned skill as a file: the beginning's document with the new numbers, comments kept."""
    document = files.read(library_path(begin.full_name))[1]
    document["name"] = path.stem if path.stem.replace("-", "").isalnum() else tuned.name
    document["provenance"]["source"] = f"tuned from {begin.full_name} by surefoot tune"
    for name, value in values.items():
        keys: list[Any] = [int(k) if k.isdigit() else k for k in name.split(".")]
        node = document if keys[0] in ("start", "fall") else document["parameters"]
        for key, following in itertools.pairwise(keys):
            if isinstance(node, dict) and node.get(key) is None:
                node[key] = [0.0, 0.0] if isinstance(following, int) else {}
            node = node[key]
        node[keys[-1]] = round(value, 5)
    files.validate(document, str(path))
    files.write(document, path)


def _prepare(options: Options) -> tuple[Simulation, list[tuple[float, Skill]]]:
    switches = [_switch(text) for text in options.switches]
    sim = Simulation(
        options.character, options.skill, options.terrain, options.seed, proportions=options.proportions,
        skills=[name for _, name in switches],
    )  # fmt: skip
    if options.speed is not None:
        sim.command(speed=options.speed)
    for text in options.pushes:
        sim.scene.add_push(sim.memory, _push(text), 0.0)
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


def _check_writable(path: Path) -> None:
    if path.suffix.lower() not in formats.suffixes():
        raise OutputError(f"cannot save as {path.suffix or path.name!r}; valid: {', '.join(formats.suffixes())}")
    if not path.parent.is_dir():
        raise OutputError(f"cannot write {path}: no such folder")


def _summary(sim: Simulation, motion: Motion, options: Options) -> dict[str, Any]:
    late = motion.time >= motion.time[-1] - _JUDGED
    names = [n for n in motion.arrays() if not n.startswith("skeleton")]
    end = Motion(skeleton=motion.skeleton, scene=motion.scene, **{n: getattr(motion, n)[late] for n in names})
    gait = measure(end) if not sim.fallen and len(end) > 2 else None
    return {
        "skill": sim.skill.full_name,
        "terrain": options.terrain,
        "seconds": round(sim.time, 6),
        "fallen_at": round(sim.fallen_at, 4) if sim.fallen else None,
        "fall_cause": sim.fall_cause if sim.fallen else None,
        "distance": float(motion.root_position[-1, 0] - motion.root_position[0, 0]),
        "speed": gait.speed if gait else None,
        "cadence": gait.cadence if gait else None,
        "step_length": gait.step_length if gait else None,
        "torso_sway_deg": gait.sway if gait else None,
        "flight": gait.flight if gait else None,
        "cost_of_transport": gait.cost_of_transport if gait else None,
        "slip": gait.slip if gait else None,
        "peak_torque": float(sim.memory.report[0].peak_torque),
        "saved": [str(path) for path in options.save],
    }
