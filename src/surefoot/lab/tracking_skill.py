"""Tracking skills from clips: reconstruct what was captured, learn what keeps it up, measure, write.

`surefoot track` does it: a clip on a body becomes a table (`controllers.tracking.table`) and the file of a skill.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from surefoot.characters import load as load_character
from surefoot.characters.table import CharacterTable
from surefoot.controllers.tracking.controller import table_of_skill
from surefoot.controllers.tracking.table import TrackingTable, load_table
from surefoot.engine.population import Population
from surefoot.engine.scene import Push, Scene, Setup
from surefoot.errors import SurefootError
from surefoot.lab.reconstruction import Reconstruction, Reconstructor
from surefoot.lab.replicas import perturb_population, seeded_generator
from surefoot.lab.skill_metadata import measure_skill
from surefoot.lab.tracking_document import tracking_document
from surefoot.lab.tracking_feedback import FeedbackLearner, Trial, difference_weights
from surefoot.lab.tracking_guess import guessed_offsets
from surefoot.lab.tracking_reference import MotionToTrack, blank_table, looping_motion, whole_motion
from surefoot.lab.tracking_rows import TrackingRows
from surefoot.lab.tracking_states import closed_table, on_path, whole_table
from surefoot.motions import quaternions as quat
from surefoot.motions.clip_reading import ReadClip
from surefoot.motions.gait_search import find_periodic_span
from surefoot.motions.retargeting import RetargetedClip
from surefoot.skills import files
from surefoot.skills.schema import Skill

CLOSELY = 0.25  # mismatch up to which what repeats in a clip is looped
_TIMESTEP = 0.002  # [s] of physics while sampling; feedback is learned at the body's own
_CYCLES = 5  # of a loop, that are reconstructed
_SAMPLES, _KEPT = 400, 80
_HARD, _MORE = 4.5, 3  # mean cost of a reconstruction above which further ones take so many times the samples
_ROWS = 200  # of learning
_ATTEMPTS, _ROBUST = 3, 0.95  # reconstructions at most, and the share of pushed replicas that suffices for a loop
_KICKS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1)  # [m/s] largest kicks of the rounds that make a loop robust
_KICK, _GENTLE = 0.3, 2  # [m/s] that of a motion that is done once, and its rounds
_TRIED = 8.0  # [s] that a loop is tried
_STATES, _LAST = 5, 4  # disturbed states of a window, and rounds whose models are used
_HOW = (_TIMESTEP, _CYCLES, _SAMPLES, _KEPT, _ROWS)  # checkpoints of other numbers are not taken up
Report = Callable[[str, float], None]
Models = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Windows (m,), A and B (m, …) of disturbed states."""


@dataclass(frozen=True)
class Measure:
    """How replicas of a skill followed their clip; errors are of the time that they were up, at window's beginnings.

    Attributes:
        seconds: how long they were to follow it [s].
        fallen_at: when each fell, inf if it did not [s].
        joints: root mean square difference of the joints from the clip of each [rad].
        turn: the same of the root's rotation [rad].
        path: the same of the root's place on the ground [m].
        way: length of the clip's path in this time [m].
    """

    seconds: float
    fallen_at: tuple[float, ...]
    joints: tuple[float, ...]
    turn: tuple[float, ...]
    path: tuple[float, ...]
    way: float

    @property
    def stays_up(self) -> bool:
        """Whether all replicas reached the end."""
        return all(at >= self.seconds for at in self.fallen_at)

    @property
    def is_like(self) -> bool:
        """Whether all replicas stay up, with joints within 8°, the root's rotation within 15°, and on the path."""
        near = max(self.joints) <= JOINTS and max(self.turn) <= TURN and max(self.path) <= PATH + SHARE * self.way
        return self.stays_up and near

    def __str__(self) -> str:
        """In words."""
        first = min(self.fallen_at)
        how = f"{self.seconds:.1f} s" if self.stays_up else f"fell at {first:.1f} of {self.seconds:.1f} s"
        joints, turn = np.degrees(max(self.joints)), np.degrees(max(self.turn))
        return f"{how}, joints {joints:.1f}°, root {turn:.1f}°, path {max(self.path):.2f} m of {self.way:.1f} m"


JOINTS, TURN, PATH, SHARE = float(np.radians(8.0)), float(np.radians(15.0)), 0.3, 0.02


@dataclass(frozen=True)
class ClipOnBody:
    """A retargeted clip, the body it was retargeted to, and whether its best cycle is looped."""

    found: RetargetedClip
    character: str
    loops: bool

    def motion(self, timestep: float) -> MotionToTrack:
        """What is followed, in windows of whole physics steps [s]."""
        table = load_character(self.character)
        return (looping_motion if self.loops else whole_motion)(table, self.found, timestep)


class Trackable(Protocol):
    """What a tracking skill can be made of: a clip on a body, or a bridge between two motions."""

    @property
    def character(self) -> str:
        """Name of the body."""

    def motion(self, timestep: float) -> MotionToTrack:
        """What is followed, in windows of whole physics steps [s]."""


def clip_on_body(read: ReadClip, once: bool = False) -> ClipOnBody:
    """A clip that was read, and whether it is looped: if it repeats so closely that a cycle of it stands for all of it.

    Args:
        read: the clip.
        once: follow it from beginning to end in any case.
    """
    loops = not once and read.cycle is not None and repeats(read.found, read.table)
    return ClipOnBody(read.found, read.source.character, loops)


def repeats(found: RetargetedClip, table: CharacterTable) -> bool:
    """Whether a clip repeats itself so closely that a cycle of it stands for all of it."""
    span = find_periodic_span(found, table)
    return span is not None and span.mismatch <= CLOSELY


@dataclass(frozen=True)
class _Attempt:
    """A reconstruction with its first feedback, how that did, and by how much its mean cost is above what is hard."""

    table: TrackingTable
    trial: Trial
    excess: float

    @property
    def rank(self) -> tuple[float, float]:
        """Large is good: first of all, it lasts."""
        return self.table.duration, self.trial.score - 0.1 * self.excess


@dataclass
class TrackingSearch:
    """Makes the table of a clip: reconstruction, closing of a loop, feedback.

    Attributes:
        clip: on its body.
        folder: where checkpoints are kept; a stopped search resumes from them.
        seed: of everything random.
        report: called with what is done and the share of the work.
        rounds: of feedback.
    """

    clip: Trackable
    folder: Path
    seed: int = 0
    report: Report = lambda text, share: None
    rounds: int = 6
    notes: list[str] = field(default_factory=list)
    key: str = field(default="", init=False)  # of what is searched for, in the names of checkpoints

    def run(self) -> TrackingTable:
        """Reconstruct and learn.

        Raises:
            SurefootError: less than two cycles of a loop could be reconstructed.
        """
        body = load_character(self.clip.character)
        motion = self.clip.motion(_TIMESTEP)
        scene = Scene(Setup(character=self.clip.character, skill="stand"))
        blank = blank_table(scene.model, body, motion)
        guess = replace(blank, offsets=guessed_offsets(scene.model, body, motion))
        numbers = np.concatenate([guess.packed(), [self.seed, self.rounds]])
        self.key = hashlib.sha256(numbers.tobytes() + repr(_HOW).encode()).hexdigest()[:12]
        done = self.folder / f"learned-{self.key}.npz"
        if done.exists():
            return load_table(done)
        table = on_path(self._robust(self._best_attempt(guess)))
        if table.duration < guess.duration:
            self.notes.append(f"reconstructed up to {table.duration:.1f} of {guess.duration:.1f} s")
        table.save(done)
        return table

    def _best_attempt(self, guess: TrackingTable) -> TrackingTable:
        """The table, with its first feedback, of the reconstruction that bears kicks best.

        What was sampled decides how well it can be balanced.

        Raises:
            SurefootError: of no attempt anything was reconstructed.
        """
        best: _Attempt | None = None
        failure: SurefootError | None = None
        is_hard = False
        for number in range(_ATTEMPTS):
            begin, share = 0.5 * number / _ATTEMPTS, 0.5 / _ATTEMPTS
            times = _MORE if is_hard else 1
            try:
                made = self._reconstruct(guess, number, times, self._part(begin, 0.7 * share))
                table = self._begun(guess, made)
                learner = self._learner(table, _TIMESTEP)
                found = learn(learner, table, self.rounds, self._part(begin + 0.7 * share, 0.3 * share))
            except SurefootError as error:
                failure, is_hard = error, True
                continue
            one = _Attempt(*found, max(float(made.costs.mean()) - _HARD, 0.0))
            is_hard = is_hard or one.excess > 0.0
            best = one if best is None or one.rank > best.rank else best
            whole = best.table.duration >= guess.duration and (best.trial.survived >= 1.0).all()
            enough = (best.trial.pushed >= 1.0).mean() >= _ROBUST if guess.loops else best.excess == 0.0
            if whole and enough:
                break
        if best is None:
            raise failure or SurefootError("nothing was reconstructed")
        return best.table

    def _robust(self, table: TrackingTable) -> TrackingTable:
        """The table with feedback for larger and larger disturbances, and for the body's own physics step.

        Coarse steps take half the time; the models they give serve the fine ones too.
        """
        learner = self._learner(table, _TIMESTEP)
        table, others = learn_disturbed(learner, table, self._part(0.5, 0.35))
        fine = self._learner(table, None)
        return learn(fine, table, self.rounds, self._part(0.85, 0.15), others)[0]

    def _learner(self, table: TrackingTable, timestep: float | None) -> FeedbackLearner:
        return FeedbackLearner(TrackingRows(_ROWS, table, self.clip.character, self.folder, timestep), self.seed)

    def _begun(self, guess: TrackingTable, made: Reconstruction) -> TrackingTable:
        """The table with the states and offsets of a reconstruction, before any feedback."""
        count = len(made.offsets)
        if guess.loops:
            if count < 2 * guess.windows:
                raise SurefootError(f"only {count * guess.window:.1f} s of the loop could be reconstructed")
            weights = difference_weights(load_character(self.clip.character))
            return closed_table(guess, made.qpos, made.qvel, made.offsets, weights)
        return whole_table(_shortened(guess, count), made.qpos, made.qvel, made.offsets)

    def _part(self, begin: float, share: float) -> Report:
        """A report of one part of the work."""
        return lambda text, done: self.report(text, begin + share * done)

    def _reconstruct(self, table: TrackingTable, attempt: int, times: int, report: Report) -> Reconstruction:
        rows = TrackingRows(times * _SAMPLES, table, self.clip.character, self.folder, _TIMESTEP)
        windows = table.windows * (_CYCLES if table.loops else 1)
        sampler = Reconstructor(rows, windows, times * _KEPT, self.seed + 1000 * attempt)
        return sampler.run(self.folder / f"sampled-{self.key}-{attempt}-{times}.npz", report)


def _shortened(table: TrackingTable, windows: int) -> TrackingTable:
    """The first windows of a table that does not loop, if it has more."""
    if windows >= table.windows:
        return table
    frames = windows * ((len(table.angles) - 1) // table.windows) + 1
    cut = {name: getattr(table, name)[:windows] for name in ("offsets", "qpos", "qvel", "headings", "gains", "clip")}
    held = max(table.held - table.windows + windows, 0)
    return replace(
        table, back_to=windows - 1, held=held, angles=table.angles[:frames], rates=table.rates[:frames], **cut
    )


def learn(
    learner: FeedbackLearner, begun: TrackingTable, rounds: int, report: Report, others: Models | None = None
) -> tuple[TrackingTable, Trial]:
    """Learn feedback by finite differences around the motion, which moves to where the feedback keeps it.

    Args:
        learner: of the table.
        begun: the motion, with its states.
        rounds: at most.
        report: called with what is done and the share of the work.
        others: models of disturbed states that the feedback is to serve as well.
    """
    current = learner.centered(begun) if begun.gains.any() else begun
    kick = _KICKS[0] if begun.loops else _KICK
    best, found = current, learner.trial(current, _TRIED, kick)
    for i in range(rounds):
        report(f"learn {i + 1}: {found.survived.mean():.0%} of the time up", i / rounds)
        if (found.survived >= 1.0).all() and (others is None or i):
            break
        models, base = learner.differences(current), current.offsets
        regulated = learner.regulated(current, models, base, others)
        centered = learner.centered(regulated)
        for tried in (regulated, centered) if centered is not regulated else (regulated,):
            outcome = learner.trial(tried, _TRIED, kick)
            if outcome.score > found.score:
                best, found = tried, outcome
        current = centered if centered is not regulated else learner.planned(regulated, models, base)
    return best, found


def learn_disturbed(
    learner: FeedbackLearner, begun: TrackingTable, report: Report
) -> tuple[TrackingTable, Models | None]:
    """Feedback that bears more: regulators of models around states that pushed replicas come to and recover from.

    Args:
        learner: of the table.
        begun: with its first feedback.
        report: called with what is done and the share of the work.

    Returns:
        The table that bears kicks best, and the models of the last rounds.
    """
    kicks = _KICKS if begun.loops else (_KICK,) * _GENTLE
    judged = kicks[-1]
    current, rng = begun, seeded_generator(learner.seed, "disturbed")
    best, found = begun, learner.trial(begun, _TRIED, judged)
    gathered: list[Models] = []
    if not (found.survived >= 1.0).all():
        return begun, None
    for i, kick in enumerate(kicks):
        report(f"pushed by up to {kick:.1f} m/s: {(found.pushed >= 1.0).mean():.0%} recover", i / len(kicks))
        windows, errors = learner.disturbed(current, kick, rng, _STATES if begun.loops else _STATES // 2)
        if not len(windows):
            break
        gathered = [*gathered, learner.models_of(current, windows, errors)][-_LAST:]
        windows, a, b = (np.concatenate([one[k] for one in gathered]) for k in range(3))
        current = learner.centered(
            learner.regulated(current, learner.differences(current), current.offsets, (windows, a, b))
        )
        outcome = learner.trial(current, _TRIED, judged)
        if outcome.score > found.score:
            best, found = current, outcome
    return best, (windows, a, b) if gathered else None


def measure(
    skill: Skill, seconds: float | None = None, replicas: int = 3, seed: int = 0, pushes: tuple[Push, ...] = ()
) -> Measure:
    """Let replicas of a skill follow their clip.

    Args:
        skill: of tracking.
        seconds: how long; by default a loop 60 s, any other motion to its end.
        replicas: that begin in slightly different states.
        seed: of their noise.
        pushes: on all of them.
    """
    table = table_of_skill(skill)
    seconds = (60.0 if table.loops else table.duration) if seconds is None else seconds
    population = Population(replicas, skill=skill, pushes=pushes)
    perturb_population(population, [seeded_generator(seed, "track", k) for k in range(replicas)])
    joints = [int(population.scene.model.joint(name).qposadr[0]) for name in population.scene.table.gains]
    steps = max(round(table.window / population.scene.timestep), 1)
    squares, looked = np.zeros((replicas, 3)), np.zeros(replicas)
    turn, way, last = 0.0, 0.0, None
    place = -table.qpos[0, :2]  # the body begins over the origin
    for k in range(int(seconds / table.window) + 1):
        w = k % table.windows if table.loops else min(k, table.windows - 1)
        if k and w == 0 and table.loops:
            c, s = np.cos(turn), np.sin(turn)
            place, turn = place + np.array([[c, -s], [s, c]]) @ table.travel, turn + table.turn
        up = np.flatnonzero(np.isinf(population.fallen_at))
        about, clip = quat.about_vertical(np.array([turn])), table.clip[w]
        where = place + quat.rotate(about, clip[None, :3])[0, :2]
        way, last = way + (0.0 if last is None else float(np.linalg.norm(where - last))), where
        qpos = population.qpos[up]
        off = quat.log(quat.multiply(qpos[:, 3:7], quat.inverse(quat.multiply(about, clip[None, 3:7]))))
        squares[up, 0] += ((qpos[:, joints] - clip[7:]) ** 2).mean(axis=1)
        squares[up, 1] += (off**2).sum(axis=1)
        squares[up, 2] += ((qpos[:, :2] - where) ** 2).sum(axis=1)
        looked[up] += 1
        if not len(up):
            break
        population.step(steps, up)
    found = np.sqrt(squares / looked[:, None])
    joint_errors, turns, paths = (tuple(map(float, found[:, i])) for i in range(3))
    return Measure(seconds, tuple(map(float, population.fallen_at)), joint_errors, turns, paths, way)


_HOMING, _LEASH = 0.3, 0.1  # [1/s]; [m]: a push is answered better where less of what it moved the body by is fed back


def _add_homing(document: dict[str, Any], table: TrackingTable, seed: int) -> Measure:
    """Let a loop come back to its path slowly, in place, if its replicas bear that; returns how they follow it."""
    plain = measure(files.validate(document, document["name"]), seed=seed)
    if not table.loops:
        return plain
    parameters = document["parameters"] | {"homing": _HOMING, "leash": _LEASH}
    found = measure(files.validate(document | {"parameters": parameters}, document["name"]), seed=seed)
    if plain.stays_up and not found.stays_up:
        return plain
    document["parameters"] = parameters
    return found


_PACES = (0.7, 0.8, 0.9, 1.1, 1.2, 1.3)  # that are tried
_TURN_RATES, _QUARTER = (0.6, 0.3, 0.15), 0.5 * np.pi  # [rad/s], [rad]
_COMMANDED, _REPLICAS = 15.0, 3  # [s], how many
_SLOWEST = 0.2  # [m/s] a loop that goes ahead by less takes no speed


def _add_commands(document: dict[str, Any], table: TrackingTable, seed: int) -> None:
    """Let a loop take the speeds and turns that its replicas bear, in place."""
    parameters, name = document["parameters"], document["name"]
    document["commands"] = []
    speed = float(table.travel[0] * np.cos(table.turn / 2) + table.travel[1] * np.sin(table.turn / 2)) / table.duration
    if abs(speed) > _SLOWEST:
        parameters["speed"] = round(speed, 4)
        wide = {**document, "commands": ["speed"], "parameters": parameters | {"speeds": [0.5 * speed, 1.5 * speed]}}
        up = [_bears(files.validate(wide, name), seed, speed=pace * speed) for pace in _PACES]
        slow = [pace for i, pace in enumerate(_PACES) if pace < 1.0 and all(up[i : sum(p < 1.0 for p in _PACES)])]
        fast = [pace for i, pace in enumerate(_PACES) if pace > 1.0 and all(up[sum(p < 1.0 for p in _PACES) : i + 1])]
        if slow or fast:
            ends = (min(slow, default=1.0) * speed, max(fast, default=1.0) * speed)
            parameters["speeds"], document["commands"] = [round(end, 4) for end in ends], ["speed"]
    for rate in _TURN_RATES if abs(table.turn) < _TURNS else ():
        turning = {**document, "commands": ["heading"], "parameters": parameters | {"turn_rate": rate}}
        if all(_bears(files.validate(turning, name), seed, heading=side * _QUARTER) for side in (1.0, -1.0)):
            parameters["turn_rate"], document["commands"] = rate, [*document["commands"], "heading"]
            break


_TURNS = 0.15  # [rad] a cycle; a loop that turns by more goes round by itself


def _bears(skill: Skill, seed: int, **commands: float) -> bool:
    """Whether replicas of a skill stay up that are told something."""
    population = Population(_REPLICAS, skill=skill)
    perturb_population(population, [seeded_generator(seed, "commands", k) for k in range(_REPLICAS)])
    population.run(2.0)
    population.command(None, **commands)
    population.run(_COMMANDED, stop_fallen=True)
    return bool(np.isinf(population.fallen_at).all())


@dataclass(frozen=True)
class Tracked:
    """A tracking skill as it was written, and how it follows its clip."""

    document: dict[str, Any]
    measure: Measure
    notes: tuple[str, ...]


def make_tracking_skill(
    clip: Trackable, path: Path, name: str, stem: str, credit: str = "", seed: int = 0,
    report: Report = lambda text, share: None, folder: Path | None = None, rounds: int = 6,
) -> Tracked:  # fmt: skip
    """Make a skill of a clip; its table is written beside it.

    Args:
        clip: on its body.
        path: of the skill's file.
        name: of the skill.
        stem: the clip's file name without its suffix.
        credit: line that the clip's licence asks for.
        seed: of everything random.
        report: called with what is done and the share of the work.
        folder: where checkpoints are kept; by default none are.
        rounds: of feedback.
    """
    with tempfile.TemporaryDirectory() as temporary:
        where = folder or Path(temporary)
        where.mkdir(parents=True, exist_ok=True)
        search = TrackingSearch(clip, where, seed, report, rounds)
        table = search.run()
    beside = path.with_suffix(".npz")
    table.save(beside)
    document = tracking_document(table, load_character(clip.character), name, str(beside), stem, credit)
    found = _add_homing(document, table, seed + 1)
    if table.loops and found.stays_up:
        report("commands", 1.0)
        _add_commands(document, table, seed + 1)
        card = measure_skill(files.validate(document, name))
        if card is not None:
            document["measured"] = card.model_dump(exclude_none=True)
    document["parameters"]["reference"] = beside.name
    document["provenance"]["why"] = f"followed as measured: {found}"
    files.write(document, path)
    return Tracked(document, found, tuple(search.notes))


def remove_search(folder: Path) -> None:
    """Remove the checkpoints of a finished search."""
    for pattern in ("sampled-*.npz", "learned-*.npz", "rows.npz"):
        for file in folder.glob(pattern):
            file.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
