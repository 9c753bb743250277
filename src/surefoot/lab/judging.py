"""The judge of skills made from clips: whether disturbed runs stay up, and how near their joints are to the clip's.

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
from surefoot.motions.gait_cycle import GaitCycle
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills.schema import Skill

REPLICAS, LOOPED = 3, 60.0  # disturbed runs, and [s] that a motion that loops must last
EARLY = 10.0  # [s] of a first look at one replica: most of what falls has fallen then
_STRETCH = 1.0  # [s] of a motion that is done once, laid where it fits best
_LATE = 0.3  # [s] by which such a stretch may be early or late
_SETTLED = 5.0  # [s] after which a motion that loops is compared
_ENDING = 0.5  # [s] before a fall that are not compared


@dataclass(frozen=True)
class ClipAngles:
    """The joint angles that a skill made from a clip should go through, at even times.

    Attributes:
        angles: (n,) by joint [rad].
        timestep: between frames [s].
        loops: whether it begins again after its end.
    """

    angles: dict[str, np.ndarray]
    timestep: float
    loops: bool

    @property
    def duration(self) -> float:
        """Until it loops or ends [s]."""
        return len(next(iter(self.angles.values()))) * self.timestep


def angles_of_cycle(cycle: GaitCycle, frames: int = 100) -> ClipAngles:
    """The angles of a gait cycle."""
    return ClipAngles(cycle.angles_at(np.arange(frames) / frames), cycle.period / frames, True)


def angles_of_clip(found: RetargetedClip) -> ClipAngles:
    """The angles of a whole clip, done once."""
    return ClipAngles(found.angles, float(np.ptp(found.time)) / max(len(found.time) - 1, 1), False)


@dataclass(frozen=True)
class Verdict:
    """What became of disturbed runs of a skill.

    Attributes:
        seconds: how long each had to last [s].
        fallen_at: when each fell [s], or infinity.
        joints: root mean square difference of the joints from the clip's, over all replicas [rad].
    """

    seconds: float
    fallen_at: tuple[float, ...]
    joints: float

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

        How long they last is a share, so that motions of different lengths compare.
        """
        return self.stays_up, self.lasted / self.seconds, -self.joints

    def __str__(self) -> str:
        """In words."""
        near = f", joints {np.degrees(self.joints):.1f}° from the clip's" if np.isfinite(self.joints) else ""
        count = len(self.fallen_at)
        up = sum(at > self.seconds for at in self.fallen_at)
        if self.stays_up:
            return f"{up} of {count} disturbed runs last {self.seconds:.1f} s{near}"
        fall = f", the first falls at {min(self.fallen_at):.1f} s"
        return f"{up} of {count} disturbed runs last {self.seconds:.1f} s{fall}{near}"


def judge(
    skill: Skill, clip: ClipAngles, seconds: float | None = None, replicas: int = REPLICAS, seed: int = 0
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


def verdict_on(runs: Sequence[Frames], body: BodyPoses, clip: ClipAngles, seconds: float) -> Verdict:
    """The verdict on runs that were to last so many seconds."""
    squares = [square for frames in runs for square in _squares(frames, clip, body, seconds)]
    joints = float(np.sqrt(np.mean(squares))) if squares else float("inf")
    return Verdict(seconds, tuple(frames.fallen_at for frames in runs), joints)


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


def _squares(frames: Frames, clip: ClipAngles, body: BodyPoses, seconds: float) -> list[float]:
    """Mean squares [rad²] of the differences of each stretch of a run, laid where it fits the clip best."""
    names = [name for name in body.joints if name in clip.angles]
    wanted = np.column_stack([clip.angles[name] for name in names])
    seen = frames.qpos[:, [body.joints[name] for name in names]]
    until = min(frames.fallen_at - _ENDING, seconds)
    long, clock = (
        (clip.duration if clip.loops else min(_STRETCH, clip.duration)),
        np.arange(len(wanted)) * clip.timestep,
    )
    begin, found = min(_SETTLED, 0.3 * until) if clip.loops else 0.0, []
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


def _ends(clip: ClipAngles) -> dict[str, float]:
    """How the clip goes on beyond its last frame."""
    return {"period": clip.duration} if clip.loops else {}
