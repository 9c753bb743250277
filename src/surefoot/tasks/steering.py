"""Walking towards a place: a heading and a speed, told once per step (GENBICON §4.4)."""

from __future__ import annotations

from typing import Any

from surefoot.tasks.actor import Actor


class Steering:
    """Remembers at which step it last spoke, so that a step is not told twice where to go."""

    def __init__(self) -> None:
        """Speak at the first occasion."""
        self._told = -1

    def toward(self, actor: Actor, point: Any, speed: float) -> None:
        """Head for a place, once per step, at a speed [m/s]."""
        if actor.steps != self._told:
            self._told = actor.steps
            actor.command(heading=actor.yaw_to(point), speed=speed, **({"stop": 0.0} if self.can_stop(actor) else {}))

    def stop(self, actor: Actor) -> None:
        """Come to stand on two feet; what cannot stand goes on the spot."""
        self._told = -1
        actor.command(**({"stop": 1.0} if self.can_stop(actor) else {"speed": 0.0}))

    def can_stop(self, actor: Actor) -> bool:
        """Whether its skill can be told to stand."""
        return "stop" in actor.skill.commands
