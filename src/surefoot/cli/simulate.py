"""`surefoot simulate`: run a skill, print what it did, save what was asked for."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from surefoot.cli.options import Character, Json, Skill, Terrain
from surefoot.cli.terminal import Bar, print_table, text
from surefoot.errors import CommandError, OutputError

if TYPE_CHECKING:
    import numpy as np

    from surefoot.engine.scene import Push, Setup
    from surefoot.engine.simulation import Simulation
    from surefoot.motions.motion import Motion
    from surefoot.skills.schema import Skill as AnySkill

_COMMANDS = (
    "NAME=VALUE: speed in m/s; heading, lean, sideways, width, slope, lift in degrees; of a biped skill sideways in "
    "m/s, step_time in s, step_height and step_width in m, stop 0 or 1; of a stepping skill crouch, and pull in N; "
    "repeatable."
)
_TASKS = "NAME:ARGUMENTS, e.g. follow-path:2,0,4,2,speed=0.6 (metres); for skills that any biped can do; repeatable."
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


class _Options(NamedTuple):
    """Everything the command line can say about one simulation."""

    setup: Setup
    seconds: float
    commands: dict[str, float]  # as they are written, angles in degrees
    pushes: list[str]
    switches: list[str]
    tasks: list[str]
    fps: float
    save: list[Path]
    in_place: bool
    loop: bool
    skinned: bool


def simulate(
    skill: Skill = "walk",
    character: Character = None,
    terrain: Terrain = "flat",
    graph: Annotated[
        str | None, typer.Option(help="Action graph over whose edges it switches: a file, or a name of the library.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long.")] = 10.0,
    speed: Annotated[float | None, typer.Option(help="Commanded speed in m/s.")] = None,
    command: Annotated[list[str] | None, typer.Option(help=_COMMANDS)] = None,
    push: Annotated[list[str] | None, typer.Option(help="T,FX,FY,FZ,DURATION in s and N; repeatable.")] = None,
    switch: Annotated[list[str] | None, typer.Option(help="T:SKILL, or a node of the graph; repeatable.")] = None,
    task: Annotated[list[str] | None, typer.Option(help=_TASKS)] = None,
    proportion: Annotated[
        list[str] | None, typer.Option(help="NAME=FACTOR, e.g. thigh_length=1.1; repeatable.")
    ] = None,
    backpack: Annotated[float, typer.Option(help="Mass on its back in kg.")] = 0.0,
    self_collision: Annotated[
        bool, typer.Option("--self-collision", help="Its parts collide with each other.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    fps: Annotated[float, typer.Option(help="Recorded frames per second.")] = 100.0,
    save: Annotated[
        list[Path] | None, typer.Option(help=".npz .csv .png .gif .mp4 .bvh .glb .usda .html; repeatable.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Save it without its travel and turn.")] = False,
    loop: Annotated[bool, typer.Option("--loop", help="Save one whole cycle that ends as it began.")] = False,
    skinned: Annotated[bool, typer.Option("--skinned", help="Save a .glb as one skin over a skeleton.")] = False,
    view: Annotated[bool, typer.Option("--view", help="Watch it in MuJoCo's viewer.")] = False,
    as_json: Json = False,
) -> int:
    """Simulate a skill, print what it did, save what was asked for."""
    from surefoot.controllers.action_graph import load_graph
    from surefoot.engine.scene import Setup

    nodes = None if graph is None else load_graph(graph)
    wanted = [name for _, name in map(_switch, switch or [])]
    setup = Setup(
        None if nodes is not None and skill == "walk" and skill not in nodes.nodes else skill, character, terrain, seed,
        _pairs(proportion or [], "a proportion is NAME=FACTOR"),
        skills=[name for name in wanted if nodes is None or name not in nodes.nodes], backpack=backpack,
        self_collision=self_collision, graph=nodes,
    )  # fmt: skip
    options = _Options(
        setup, seconds, _commands(command or [], speed), push or [], switch or [], task or [], fps, save or [],
        in_place, loop, skinned,
    )  # fmt: skip
    if view:
        from surefoot.engine.simulation import FRAME

        sim, events = _prepare(options._replace(seconds=math.inf))

        def switch_when_due() -> None:
            for at, name in events:
                if at <= sim.time < at + FRAME:
                    sim.switch(name)

        sim.view(each_frame=switch_when_due)
        return 0
    with Bar(hidden=as_json) as tick:
        summary = _run(options, tick)
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        print_table(("", "", "unit"), _rows(summary))
    undone = any(one["status"] != "done" for one in summary.get("tasks", ()))
    return 1 if summary["fallen_at"] is not None or undone else 0


def _run(options: _Options, tick: Callable[[str, float], None]) -> dict[str, Any]:
    """Run, save, and sum up."""
    import numpy as np

    from surefoot.engine.recorder import MAX_SECONDS, frame_steps
    from surefoot.lab.gait_measures import record_for_measuring
    from surefoot.motions import formats

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
    parts: list[Motion] = []
    ending: list[Motion] = []
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
            parts.append(ending[-1].select(frames))
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


def joined(parts: list[Motion]) -> Motion:
    """Consecutive stretches as one motion; each begins with the frame the one before ended with."""
    import numpy as np

    from surefoot.motions.motion import Motion

    first = parts[0]
    names = [name for name in first.arrays() if not name.startswith("skeleton")]
    whole = {name: np.concatenate([getattr(p, name)[(i > 0) :] for i, p in enumerate(parts)]) for name in names}
    return Motion(skeleton=first.skeleton, scene=first.scene, **whole)


def _commands(items: list[str], speed: float | None) -> dict[str, float]:
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
    from surefoot.engine import commands

    known = commands.known(sim.scene, sim.skill)
    return known[name].from_written(name, value) if name in known else value  # the simulation says which it knows


def _prepare(options: _Options) -> tuple[Simulation, list[tuple[float, AnySkill]]]:
    """Build the simulation with its commands, pushes and tasks; when it is to switch to which skill [s]."""
    from surefoot.engine.simulation import Simulation
    from surefoot.tasks import load as load_task
    from surefoot.terrains import load as load_terrain
    from surefoot.terrains.props import with_props

    tasks = [load_task(text) for text in options.tasks]
    props = [prop for task in tasks for prop in task.props()]
    setup = options.setup
    if props and isinstance(setup.terrain, str):
        setup = replace(setup, terrain=with_props(load_terrain(setup.terrain), props))
    sim = Simulation.from_setup(setup)
    told = {name: _commanded(sim, name, value) for name, value in options.commands.items()}
    sim.scene.command(sim.memory, sim.skill, told)
    for one in options.pushes:
        push = _push(one)
        _check_in_time("push", push.start, options.seconds)
        sim.scene.add_push(sim.memory, push, 0.0)
    for task in tasks:
        sim.add(task)
    switches = [_switch(one) for one in options.switches]
    for at, _ in switches:
        _check_in_time("switch", at, options.seconds)
    return sim, [(at, sim.scene.find(name)) for at, name in switches]


def _check_in_time(what: str, at: float, seconds: float) -> None:
    """Refuse what would happen after the end."""
    if at >= seconds:
        raise CommandError(
            f"a {what} at {at:g} s comes after the end at {seconds:g} s; --seconds says how long it runs"
        )


def _push(written: str) -> Push:
    from surefoot.engine.scene import Push

    try:
        start, fx, fy, fz, duration = (float(part) for part in written.split(","))
    except ValueError:
        raise CommandError(f"a push is T,FX,FY,FZ,DURATION, got {written!r}") from None
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
    from surefoot.motions import formats

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


def _summary(sim: Simulation, way: np.ndarray, ending: Motion, options: _Options) -> dict[str, Any]:
    """What is printed of a run: its way (3,) from beginning to end [m], and measures of its last seconds."""
    from surefoot.lab.gait_measures import measure_gait

    ending = ending.select(ending.time >= ending.time[-1] - _JUDGED - 0.5 * sim.model.opt.timestep)
    gait = measure_gait(ending) if not sim.fallen and len(ending) > 2 else None
    planar = sim.scene.table.root == "planar"
    found: dict[str, Any] = {
        "skill": sim.skill.full_name,
        "terrain": options.setup.terrain,
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


_SHOWN = {  # what a person reads of the summary, in this order: its words and its unit
    "skill": ("skill", ""), "terrain": ("terrain", ""), "seconds": ("simulated", "s"), "fallen_at": ("fell at", "s"),
    "fall_cause": ("fall cause", ""), "distance": ("distance from the start", "m"), "speed": ("speed", "m/s"),
    "sideways": ("speed to the left", "m/s"), "cadence": ("cadence", "steps/s"), "step_length": ("step length", "m"),
    "step_width": ("step width", "m"), "narrowest": ("narrowest step", "m"),
    "foot_spread_at_strike": ("feet apart at footstrikes", "m"), "flight": ("flight", "of the time"),
    "torso_sway_deg": ("torso pitch, half its range", "°"), "torso_roll_deg": ("largest roll of the torso", "°"),
    "drift_deg": ("largest turn from its first heading", "°"), "slip": ("slip of loaded feet", "of the way"),
    "cost_of_transport": ("cost of transport", ""), "peak_torque": ("greatest torque of a joint", "N·m"),
}  # fmt: skip


def _rows(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What a person reads of a summary: words, value and unit."""
    rows = []
    for key, (words, unit) in _SHOWN.items():
        value = summary.get(key)
        if key == "fallen_at" and value is None:
            rows.append((words, "did not fall", ""))
        elif value is not None:
            rows.append((words, text(value), unit))
    for task in summary.get("tasks", ()):
        rows.append((f"task {task['task']}", " ".join(filter(None, (task["status"], task["reason"]))), ""))
    return rows + [("saved", path, "") for path in summary["saved"]]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
