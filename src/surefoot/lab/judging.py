"""The judge of skills made from clips: whether disturbed runs stay up, and how like the clip joints and travel are.

One undisturbed run proves little: skills that were called good after 20 s fell at 21.7 s. So every way of making a
skill is judged alike: replicas begin in slightly different states (`replicas`), a motion that loops must last 60 s, one
that is done once must reach its end. The measure of likeness needs no controller's own phase: each stretch of a run is
laid where it fits the clip best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.engine.population import Population
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.tracking_error import BodyPoses, Frames, record_frames
from surefoot.motions import quaternions as quat
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills.schema import Skill

REPLICAS, LOOPED = 3, 60.0  # disturbed runs, and [s] that a motion that loops must last
EARLY = 10.0  # [s] of a first look at one replica: most of what falls has fallen then
_STRETCH = 1.0  # [s] of a motion that is done once, laid where it fits best
_LATE = 0.3  # [s] by which such a stretch may be early or late
_SETTLED = 5.0  # [s] after which a motion that loops is compared
_ENDING = 0.5  # [s] before a fall that are not compared
_JOINTS, _TRAVEL = float(np.radians(8.0)), 0.15  # [rad], [m/s] that weigh alike where likeness is compared


@dataclass(frozen=True)
class ClipTarget:
    """What a skill made from a clip should go through, at even times.

    Attributes:
        angles: (n,) of its joints by name [rad].
        timestep: between frames [s].
        loops: whether it begins again after its end.
        velocity: (2,) on average, forward and to the left of where the body faces [m/s].
    """

    angles: dict[str, np.ndarray]
    timestep: float
    loops: bool
    velocity: np.ndarray

    @property
    def duration(self) -> float:
        """Until it loops or ends [s]."""
        return len(next(iter(self.angles.values()))) * self.timestep


def target_of_cycle(cycle: GaitCycle, frames: int = 100) -> ClipTarget:
    """A gait cycle, looped."""
    angles = cycle.angles_at(np.arange(frames) / frames)
    return ClipTarget(angles, cycle.period / frames, True, cycle.travel[:2] / cycle.period)


def target_of_clip(found: RetargetedClip) -> ClipTarget:
    """A whole clip, done once."""
    velocity = _mean_velocity(found.time, found.root_position[:, :2], quat.yaw(found.root_rotation))
    return ClipTarget(found.angles, float(np.ptp(found.time)) / max(len(found.time) - 1, 1), False, velocity)


def _mean_velocity(time: np.ndarray, place: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """(2,) forward and to the left of a heading (n,) [rad], of a body at (n, 2) [m/s]."""
    steps = np.diff(place, axis=0) @ [1.0, 1.0j] * np.exp(-1.0j * heading[:-1])
    mean = complex(steps.sum() / max(float(np.ptp(time)), 1e-9))
    return np.array([mean.real, mean.imag])


@dataclass(frozen=True)
class Verdict:
    """What became of disturbed runs of a skill.

    Attributes:
        seconds: how long each had to last [s].
        fallen_at: when each fell [s], or infinity.
        joints: root mean square difference of the joints from the clip's, over all replicas [rad].
        travel: difference of the mean velocity, as the body faces, from the clip's: the largest of a replica that
            lasted long enough to be compared [m/s].
    """

    seconds: float
    fallen_at: tuple[float, ...]
    joints: float
    travel: float = float("inf")

    @property
    def stays_up(self) -> bool:
        """Whether no replica fell."""
        return all(at > self.seconds for at in self.fallen_at)

    @property
    def lasted(self) -> float:
        """How long the replicas stayed up, on average [s]."""
        return float(np.mean([min(at, self.seconds) for at in self.fallen_at]))

    @property
    def rank(self) -> tuple[bool, float, float]:
        """The larger, the better: staying up, then lasting long or, of those that stay up, likeness to the clip.

        How long they last is a share, so that motions of different lengths compare. Of likeness, 8° of the joints and
        0.15 m/s of travel weigh alike.
        """
        return self.stays_up, self.lasted / self.seconds, -(self.joints / _JOINTS + self.travel / _TRAVEL)

    def __str__(self) -> str:
        """In words."""
        near = ""
        if np.isfinite(self.joints + self.travel):
            near = f", joints {np.degrees(self.joints):.1f}° and travel {self.travel:.2f} m/s from the clip's"
        count = len(self.fallen_at)
        up = sum(at > self.seconds for at in self.fallen_at)
        if self.stays_up:
            return f"{up} of {count} disturbed runs last {self.seconds:.1f} s{near}"
        fall = f", the first falls at {min(self.fallen_at):.1f} s"
        return f"{up} of {count} disturbed runs last {self.seconds:.1f} s{fall}{near}"


def judge(
    skill: Skill, clip: ClipTarget, seconds: float | None = None, replicas: int = REPLICAS, seed: int = 0
) -> Verdict:
    """Let replicas of a skill run, and compare them with the clip it was made from.

    Args:
        skill: made from a clip.
        clip: what it should go through.
        seconds: how long it must last [s]; by default 60 s if the clip loops, else until its end.
        replicas: disturbed runs.
        seed: of the disturbances.
    """
    lasts = seconds if seconds is not None else LOOPED if clip.loops else clip.duration
    body, runs = disturbed_runs(skill, lasts, replicas, seed)
    return verdict_on(runs, body, clip, lasts)


def verdict_on(runs: Sequence[Frames], body: BodyPoses, clip: ClipTarget, seconds: float) -> Verdict:
    """The verdict on runs that were to last so many seconds."""
    squares = [square for frames in runs for square in _squares(frames, clip, body, seconds)]
    joints = float(np.sqrt(np.mean(squares))) if squares else float("inf")
    off = [float(np.linalg.norm(_velocity(frames, clip, body, seconds) - clip.velocity)) for frames in runs]
    travel = max((one for one in off if np.isfinite(one)), default=float("inf"))
    return Verdict(seconds, tuple(frames.fallen_at for frames in runs), joints, travel)


def _velocity(frames: Frames, clip: ClipTarget, body: BodyPoses, seconds: float) -> np.ndarray:
    """(2,) mean velocity of a run, as the body faces, from when it is compared on [m/s]."""
    until = min(frames.fallen_at - _ENDING, seconds)
    inside = (frames.time >= _begin(clip, until)) & (frames.time <= until + 1e-9)
    qpos = frames.qpos[inside]
    if len(qpos) < 2:
        return np.full(2, np.inf)
    if body.is_planar:
        return np.array([(qpos[-1, 0] - qpos[0, 0]) / float(np.ptp(frames.time[inside])), 0.0])
    return _mean_velocity(frames.time[inside], qpos[:, :2], quat.yaw(qpos[:, 3:7]))


def _begin(clip: ClipTarget, until: float) -> float:
    """When a run is compared from on, if it lasts until then [s]: what loops is let settle."""
    return min(_SETTLED, 0.3 * until) if clip.loops else 0.0


def disturbed_runs(skill: Skill, seconds: float, replicas: int, seed: int) -> tuple[BodyPoses, list[Frames]]:
    """The body and the frames of runs that begin in slightly different states.

    Args:
        skill: of any controller.
        seconds: how long [s].
        replicas: how many.
        seed: of the disturbances.
    """
    population = Population(replicas, skill=skill)
    perturb_population(population, [seeded_generator(seed, "imitate", k) for k in range(replicas)])
    return BodyPoses(population.scene), record_frames(population, seconds)


def _squares(frames: Frames, clip: ClipTarget, body: BodyPoses, seconds: float) -> list[float]:
    """Mean squares [rad²] of the differences of each stretch of a run, laid where it fits the clip best."""
    names = [name for name in body.joints if name in clip.angles]
    wanted = np.column_stack([clip.angles[name] for name in names])
    seen = frames.qpos[:, [body.joints[name] for name in names]]
    until = min(frames.fallen_at - _ENDING, seconds)
    long, clock = (
        (clip.duration if clip.loops else min(_STRETCH, clip.duration)),
        np.arange(len(wanted)) * clip.timestep,
    )
    begin, found = _begin(clip, until), list[float]()
    while begin + long <= until + 1e-9:
        inside = (frames.time >= begin - 1e-9) & (frames.time < begin + long - 1e-9)
        shifts = np.arange(0.0, clip.duration, 0.02) if clip.loops else np.arange(-_LATE, _LATE + 1e-9, 0.02)
        best = np.inf
        for shift in shifts:
            at = frames.time[inside] + shift
            at = (at - begin) % clip.duration if clip.loops else at
            there = np.column_stack([np.interp(at, clock, column, **_ends(clip)) for column in wanted.T])
            best = min(best, float(((seen[inside] - there) ** 2).mean()))
        found.append(best)
        begin += long
    return found


def _ends(clip: ClipTarget) -> dict[str, float]:
    """How the clip goes on beyond its last frame."""
    return {"period": clip.duration} if clip.loops else {}
