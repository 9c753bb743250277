"""Duck under bars: the body bends as a linear function of the distance to the bar (GENBICON §4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.errors import CommandError
from surefoot.tasks.actor import Actor
from surefoot.tasks.ducking import Duck, duck_under
from surefoot.tasks.task import Task
from surefoot.tasks.texts import arguments
from surefoot.terrains.props import Bar, Prop

USAGE = "duck-under:X,HEIGHT,X,HEIGHT,… with timeout= if need be"
_DOWN, _UP = 1.0, 1.4  # [m] of the way on which it bends, and on which it comes up again
_BEFORE, _BEHIND = 0.10, 0.12  # [m] of the bar where it is fully bent, as seen from head and back


class DuckUnder(Task):
    """Bend while a bar is near; done when all bars are behind it.

    It says nothing of where to go and how fast, so that it runs beside whatever does.

    Attributes:
        bars: in the order in which they are met along x.
        passed: how many of them are behind it.
    """

    def __init__(self, bars: Sequence[Bar], timeout: float = 120.0) -> None:
        """Sort the bars.

        Args:
            bars: across the way along x.
            timeout: how long it may take [s].
        """
        if not bars or not all(isinstance(bar, Bar) for bar in bars):
            raise CommandError("ducking under takes one or more bars, as of surefoot.props.Bar")
        super().__init__(timeout)
        self.bars = tuple(sorted(bars, key=lambda bar: bar.x))
        self.passed = 0
        self._ducks: tuple[Duck, ...] = ()

    def props(self) -> tuple[Prop, ...]:
        """The bars."""
        return self.bars

    def begin(self, actor: Actor) -> None:
        """Find out how far it has to bend for each bar."""
        self._ducks = tuple(duck_under(actor, bar.height) for bar in self.bars)

    def tick(self, actor: Actor) -> None:
        """Bend as much as the nearest bars ask for."""
        at = float(actor.position(actor.pelvis)[0])
        shares = [_share(bar, duck, at) for bar, duck in zip(self.bars, self._ducks, strict=True)]
        self.passed = sum(at > bar.x and not share for bar, share in zip(self.bars, shares, strict=True))
        most = max(range(len(shares)), key=lambda i: shares[i] * self._ducks[i].bend)
        duck, share = self._ducks[most], shares[most]
        actor.intent.bend, actor.intent.nod = share * duck.bend, share * duck.nod
        actor.intent.crouch = share * duck.crouch
        if self.passed == len(self.bars):
            self.finish(f"passed under {self.passed} bars")

    def end(self, actor: Actor) -> None:
        """Come up."""
        actor.intent.bend = actor.intent.nod = actor.intent.crouch = 0.0

    def doing(self) -> str:
        """What it is at."""
        return f"on the way to bar {self.passed + 1} of {len(self.bars)}"


def _share(bar: Bar, duck: Duck, at: float) -> float:
    """How far it is bent of what the bar asks for, with the pelvis at a place [m]."""
    if duck.bend == 0.0:
        return 0.0
    to_go = bar.x - 0.5 * bar.thickness - at - duck.ahead - _BEFORE
    gone = at - bar.x - 0.5 * bar.thickness - duck.behind - _BEHIND
    return min(max(1.0 - max(to_go / _DOWN, gone / _UP), 0.0), 1.0)


def from_text(text: str) -> DuckUnder:
    """The task of what stands behind `duck-under:` on the command line."""
    numbers, options = arguments("duck-under", text, ("timeout",), USAGE)
    if not numbers or len(numbers) % 2:
        raise CommandError(f"task duck-under is {USAGE}, got {len(numbers)} numbers")
    return DuckUnder([Bar(x, height) for x, height in zip(numbers[::2], numbers[1::2], strict=True)], **options)
