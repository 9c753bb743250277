"""Runs of stylized skills that track a reference: joint errors, drift from the path, falls.

References of clips are made once and kept beside the results.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.controllers.stylized import reference_sources
from surefoot.controllers.stylized.controller import tracker_of
from surefoot.controllers.stylized.law import tracker_state
from surefoot.controllers.stylized.reference import Reference
from surefoot.controllers.stylized.reference_balancing import LegExtension
from surefoot.controllers.stylized.three_link import yaw_rotation
from surefoot.engine.scene import Push
from surefoot.engine.simulation import Simulation
from surefoot.lab.experiment import Setting, find_clip, make_folder
from surefoot.lab.pieces import fingerprint
from surefoot.lab.replicas import perturb_state, seeded_generator
from surefoot.skills import load, with_parameters
from surefoot.skills.schema import Skill
from surefoot.terrains.props import SeeSaw, tip_fraction


class PathDrift:
    """Distance of a pelvis from the path of its reference, both from the same place on."""

    def __init__(self, reference: Reference, ways: int, place: np.ndarray) -> None:
        """Start at a place (ways,) of the pelvis [m]; `ways` is 1 for a planar body, 2 in space."""
        self._reference, self._ways, self._turn, self._clock = reference, ways, 0.0, 0.0
        self._begun, self._loop = place - reference.poses[0, :ways], np.zeros(ways)
        self._squares: list[float] = []

    def add(self, clock: float, place: np.ndarray) -> None:
        """Add a place (ways,) of the pelvis [m] at a time of the reference [s]."""
        reference, ways = self._reference, self._ways
        if reference.loops and clock < self._clock:
            path = reference.poses[:, :ways]
            far = path[-1] - path[0] + reference.timestep * reference.rates[-1, :ways]
            first = path[0]
            self._loop = self._loop + self._turned(first + far) - self._rotated(first, reference.turn)
            self._turn += reference.turn
        self._clock = clock
        there = self._begun + self._loop + self._turned(reference.poses[reference.index(clock), :ways])
        self._squares.append(float(((place - there) ** 2).sum()))

    def _turned(self, place: np.ndarray) -> np.ndarray:
        return self._rotated(place, 0.0)

    def _rotated(self, place: np.ndarray, more: float) -> np.ndarray:
        """A place (ways,) of the reference, turned like the loop it is in."""
        return place if self._ways == 1 else np.asarray(yaw_rotation(self._turn + more)[:2, :2] @ place)

    @property
    def drift(self) -> tuple[float, float]:
        """Root mean square of the distances, and the last one [m]."""
        if not self._squares:
            return 0.0, 0.0
        return float(np.sqrt(np.mean(self._squares))), float(np.sqrt(self._squares[-1]))


TOES = "human_toes/stylized-stand"
CLIP_TRACKING_PARAMETERS: dict[str, Any] = {"style": 150.0, "stepping": 0.8, "balance_weight": 0.01, "calm": 0.0}
_LOOK = 1.0 / 30.0  # [s] between two comparisons


@dataclass(frozen=True)
class TrackingRun:
    """How closely a reference was tracked.

    Attributes:
        seconds: how long it was to be tracked [s].
        fallen_at: when it fell, or infinity [s].
        joints: root mean square error of the actuated joints [rad].
        path: length of the pelvis's path, and of the reference's in the same time [m].
        solves: how often the quadratic program was solved.
        failures: how often it had no solution.
        slip: metres that a foot slid under load per metre of the path, the mean of both feet.
        clip: root mean square error against the retargeted clip itself [rad]; 0 without one.
        drift: distance of the pelvis from the reference's: root mean square, and at the end [m].
        place: world x and y of the pelvis at the end [m].
        tipped: largest tilt of a see-saw, 1 for wholly tipped.
    """

    seconds: float
    fallen_at: float
    joints: float
    path: tuple[float, float]
    solves: int
    failures: int
    slip: float = 0.0
    clip: float = 0.0
    drift: tuple[float, float] = (0.0, 0.0)
    place: tuple[float, float] = (0.0, 0.0)
    tipped: float = 0.0

    @property
    def stays_up(self) -> bool:
        """Whether it reached the end."""
        return self.fallen_at > self.seconds

    def __str__(self) -> str:
        """In words."""
        how = f"{self.seconds:.0f} s" if self.stays_up else f"fell at {self.fallen_at:.1f} of {self.seconds:.0f} s"
        far = f"{self.path[0]:.1f} of {self.path[1]:.1f} m"
        clip = f" of the reference, {np.degrees(self.clip):.1f}° of the clip" if self.clip else ""
        drift = f"{self.drift[0]:.2f} m from the reference's (rms), {self.drift[1]:.2f} m at the end"
        return f"{how}, joints {np.degrees(self.joints):.1f}°{clip}, path {far}, {drift}"


def skill_for(reference: Path | str, base: str = TOES, changes: Mapping[str, Any] | None = None) -> Skill:
    """A skill that tracks the reference of a file, with the parameters of clips and further changes."""
    return with_parameters(load(base), {**CLIP_TRACKING_PARAMETERS, **(changes or {}), "reference": str(reference)})


def reference_folder(setting: Setting) -> Path:
    """The folder in which references are kept: that of the results, or a temporary one."""
    folder = (setting.out or Path(tempfile.gettempdir())) / "references"
    make_folder(folder)
    return folder


def clip_reference(
    setting: Setting, stem: str, loops: bool, base: str = TOES, stretch: LegExtension | None = None
) -> Path | None:
    """The file of a clip's reference, made if need be; None without the clip."""
    clip = find_clip(setting, stem)
    if clip is None:
        return None
    sim = Simulation(skill=base)
    made_of = hashlib.sha256(clip.read_bytes() + f"{fingerprint()} {stretch}".encode()).hexdigest()[:16]
    path = reference_folder(setting) / f"{sim.scene.table.name}-{stem}-{'loop' if loops else 'once'}-{made_of}.npz"
    if path.exists():
        return path
    make = reference_sources.looping_reference if loops else reference_sources.one_shot_reference
    make(sim.model, sim.scene.table, reference_sources.retarget_file(clip, sim.scene.table), stretch).save(path)
    return path


def track_reference(
    skill: Skill, seconds: float, terrain: str = "flat", pushes: tuple[Push, ...] = (), replica: int = 0, seed: int = 0
) -> TrackingRun:
    """Run a skill that tracks a reference and compare the two.

    Args:
        skill: a stylized skill.
        seconds: how long [s].
        terrain: the ground.
        pushes: timed from the beginning.
        replica: 0 begins at the start state, others in perturbed ones.
        seed: of the perturbation.
    """
    sim = replica_simulation(skill, terrain, pushes, replica, seed)
    tracker, reference = tracking_state(sim)
    places = np.array([int(sim.model.joint(name).qposadr[0]) for name in sim.scene.table.gains])
    ways = 1 if sim.scene.table.root == "planar" else 2  # coordinates of the root that go along the ground
    squares, went, last = [], 0.0, sim.data.qpos[:ways].copy()
    clip_squares, walked, tip = [], PathDrift(reference, ways, last), 0.0
    has_seesaw = any(isinstance(prop, SeeSaw) for prop in sim.scene.terrain.props)
    while sim.time < seconds - 1e-9 and not sim.fallen:
        sim.step(max(1, round(_LOOK / sim.model.opt.timestep)))
        off = sim.data.qpos[places] - reference.poses[reference.index(float(tracker.clock))][places]
        squares.append(float((off**2).mean()))
        if len(reference.clip):
            off = sim.data.qpos[places] - reference.clip[reference.index(float(tracker.clock))][places]
            clip_squares.append(float((off**2).mean()))
        walked.add(float(tracker.clock), sim.data.qpos[:ways])
        tip = max(tip, tip_fraction(sim.model, sim.data)) if has_seesaw else 0.0
        went += float(np.linalg.norm(sim.data.qpos[:ways] - last))
        last = sim.data.qpos[:ways].copy()
    fallen = sim.fallen_at if sim.fallen else np.inf
    rates = reference.rates if reference.loops else reference.rates[: reference.index(sim.time) + 1]
    speed = np.linalg.norm(rates[:, :ways], axis=1)
    far = float(speed.mean() * (sim.time if reference.loops else len(speed) * reference.timestep))
    return TrackingRun(
        seconds=seconds, fallen_at=float(fallen), joints=float(np.sqrt(np.mean(squares))), path=(went, far),
        solves=int(tracker.solves), failures=int(tracker.failures),
        slip=float(sim.memory.slip.mean() / max(went, 0.1)),
        clip=float(np.sqrt(np.mean(clip_squares))) if clip_squares else 0.0, drift=walked.drift,
        place=(float(sim.data.qpos[0]), float(sim.data.qpos[1]) if ways == 2 else 0.0), tipped=tip,
    )  # fmt: skip


def replica_simulation(
    skill: Skill, terrain: str, pushes: tuple[Push, ...] = (), replica: int = 0, seed: int = 0
) -> Simulation:
    """A simulation of a skill with pushes; replica 0 begins at the start state, others in perturbed ones."""
    sim = Simulation(skill=skill, terrain=terrain)
    if replica:
        perturb_state(
            sim.scene, sim.data.qpos, sim.data.qvel, seeded_generator(seed, "follow", skill.full_name, replica)
        )
    for push in pushes:
        sim.push(push.force, push.duration, delay=push.start)
    return sim


def tracking_state(sim: Simulation) -> tuple[Any, Reference]:
    """The tracker's record in a simulation's memory, and its reference."""
    return tracker_state(sim.memory.memory), tracker_of(sim.scene, sim.skill).reference
