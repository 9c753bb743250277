"""One skill of a clip by whatever way does it best (`surefoot learn`): every way that fits is tried and judged alike.

A way is an object with the attributes of `Way`; `WAYS` lists them in the order in which they are tried. A further one
is added there, and nowhere else.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from surefoot.atomic_file import replace_file
from surefoot.errors import SurefootError, UnknownNameError
from surefoot.lab import clip_skills
from surefoot.lab.clip_following import BASES, ClipToFollow, make_following_skill
from surefoot.lab.judging import LOOPED, Verdict, judge
from surefoot.lab.tracking_skill import clip_on_body, make_tracking_skill, remove_search
from surefoot.motions.clip_reading import ReadClip
from surefoot.skills import files, load

Report = Callable[[str, float], None]


@dataclass(frozen=True)
class Wish:
    """What a skill is to be made for.

    Attributes:
        path: of the skill's file; what lies beside it has its name too, with other suffixes.
        credit: line that the clip's licence asks for.
        once: do the clip from beginning to end, even if it has a gait cycle.
        seconds: how long a motion that loops must last [s].
        seed: of searches and of disturbances.
        checkpoint: a stopped search goes on from files whose names begin so.
    """

    path: Path
    credit: str = ""
    once: bool = False
    seconds: float = LOOPED
    seed: int = 0
    checkpoint: Path | None = None


@dataclass(frozen=True)
class Made:
    """A skill that a way made: its document, and the judge's verdict. Files it needs lie beside its path."""

    document: dict[str, Any]
    verdict: Verdict


class Way(Protocol):
    """A way from a clip to a skill."""

    name: str  # of its command

    def misfit(self, clip: ReadClip, wish: Wish) -> str:
        """Why it cannot be tried on a clip; nothing if it can."""

    def make(self, clip: ReadClip, wish: Wish, report: Report) -> Made:
        """Make the best skill that it finds, and write what the skill needs beside its path."""


class Following:
    """A quadratic program follows the clip frame by frame."""

    name = "follow"

    def misfit(self, clip: ReadClip, wish: Wish) -> str:
        """It has bodies of its own."""
        bodies = ", ".join(BASES)
        return "" if clip.table.name in BASES else f"it is for the bodies {bodies}, not for {clip.table.name}"

    def make(self, clip: ReadClip, wish: Wish, report: Report) -> Made:
        """Try legs and softnesses."""
        to_follow = ClipToFollow(clip, not wish.once and clip.cycle is not None)
        done = make_following_skill(to_follow, wish.path, wish.credit, wish.seconds, seed=wish.seed, report=report)
        return Made(done.document, done.verdict)


class Imitation:
    """SIMBICON's feedback around the averaged gait cycle."""

    name = "imitate"

    def misfit(self, clip: ReadClip, wish: Wish) -> str:
        """It takes a gait, of a body in space."""
        if wish.once:
            return "it loops a gait cycle, and the clip is to be done once"
        if clip.table.root == "planar":
            return "it is for bodies in space"
        return str(clip.not_cyclic or "")

    def make(self, clip: ReadClip, wish: Wish, report: Report) -> Made:
        """Search for the parameters."""
        found = clip_skills.gait_of(clip)
        documents, cycle = clip_skills.untuned_skills(found, wish.path.stem, wish.credit)
        done = clip_skills.make_imitation_skill(
            documents, cycle, wish.seconds, seed=wish.seed, checkpoint=wish.checkpoint, report=report
        )
        return Made(done.document, done.walk.verdict)


class Tracking:
    """The clip is reconstructed by sampling, and learned feedback keeps it up."""

    name = "track"

    def misfit(self, clip: ReadClip, wish: Wish) -> str:
        """It is made for one body."""
        return "" if clip.table.name == "human" else f"it is for the body human, not for {clip.table.name}"

    def make(self, clip: ReadClip, wish: Wish, report: Report) -> Made:
        """Reconstruct, and learn feedback."""
        on_body = clip_on_body(clip, wish.once)
        search = wish.checkpoint and wish.checkpoint.with_name(f"{wish.checkpoint.name}-track")
        document = make_tracking_skill(
            on_body, wish.path, wish.path.stem, clip.source.clip.stem, wish.credit, wish.seed, report, search
        ).document
        target = ClipToFollow(clip, on_body.loops).target
        verdict = judge(load(wish.path), target, wish.seconds if on_body.loops else None, seed=wish.seed)
        if search is not None:
            remove_search(search)
        return Made(document, verdict)


WAYS: tuple[Way, ...] = (Following(), Imitation(), Tracking())


@dataclass(frozen=True)
class Attempt:
    """What became of a way: the verdict on its skill, or why there is none."""

    way: str
    verdict: Verdict | None
    reason: str = ""

    def __str__(self) -> str:
        """In words."""
        return f"{self.way}: {self.verdict or self.reason}"


@dataclass(frozen=True)
class Learned:
    """The best skill of a clip, and what became of every way."""

    way: str
    verdict: Verdict
    attempts: tuple[Attempt, ...]

    @property
    def why(self) -> str:
        """Why this one was kept, in words."""
        others = [one for one in self.attempts if one.verdict is not None and one.way != self.way]
        if not others:
            return f"{self.way} is kept: no other way made a skill"
        if not self.verdict.stays_up:
            return f"{self.way} is kept: it lasts longest, but it falls"
        if any(one.verdict is not None and one.verdict.stays_up for one in others):
            return f"{self.way} is kept: of those that stay up it is most like the clip"
        return f"{self.way} is kept: it alone stays up"


class NoWayError(SurefootError):
    """A clip of which no way makes a skill."""


def choose_ways(names: Sequence[str]) -> tuple[Way, ...]:
    """The ways of some names, in their usual order; all without a name.

    Raises:
        UnknownNameError: there is no such way.
    """
    known = {way.name: way for way in WAYS}
    for name in names:
        if name not in known:
            raise UnknownNameError("way", name, known)
    return tuple(way for way in WAYS if not names or way.name in names)


def learn_clip(clip: ReadClip, wish: Wish, ways: Sequence[Way], report: Report) -> Learned:
    """Make a skill of a clip by every way that fits, and write the best one.

    Args:
        clip: read and retargeted.
        wish: what the skill is to be like, and where it is written.
        ways: to be tried.
        report: called with what is done and the share of the work.

    Raises:
        NoWayError: no way makes a skill; the message says why not.
    """
    attempts, best = list[Attempt](), list[tuple[Made, Path, str]]()
    workshop = wish.path.with_suffix(".learning")
    try:
        for i, way in enumerate(ways):
            reason = way.misfit(clip, wish)
            if reason:
                attempts.append(Attempt(way.name, None, f"not tried, {reason}"))
                continue
            folder = workshop / way.name
            folder.mkdir(parents=True, exist_ok=True)
            own = replace(wish, path=folder / wish.path.name)
            try:
                made = way.make(clip, own, _part(report, way.name, i, len(ways)))
            except SurefootError as error:
                attempts.append(Attempt(way.name, None, str(error)))
                continue
            attempts.append(Attempt(way.name, made.verdict))
            if not best or made.verdict.rank > best[0][0].verdict.rank:
                best = [(made, folder, way.name)]
        if not best:
            raise NoWayError(f"no way makes a skill of {clip.source.clip.name}: {'; '.join(map(str, attempts))}")
        made, folder, name = best[0]
        for file in sorted(folder.iterdir()):
            if file.name != wish.path.name:
                replace_file(wish.path.with_name(file.name), file.read_bytes())
        files.write(made.document, wish.path)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return Learned(name, made.verdict, tuple(attempts))


def _part(report: Report, name: str, number: int, count: int) -> Report:
    """Progress of one way as a part of that of all."""
    return lambda text, share: report(f"{name}: {text}", (number + share) / count)
