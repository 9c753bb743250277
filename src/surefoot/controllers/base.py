"""The interface between Surefoot and a controller, and the registry of controllers.

A controller is a compiled law, the model of its skills' parameters, and a few numbers around both. The built-in
ones are registered by entry points like those of any other package (`surefoot.plugins`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import mujoco
import numpy as np

from surefoot import plugins
from surefoot.characters.table import CharacterTable
from surefoot.controllers.command import Command
from surefoot.native import userdata
from surefoot.native.kernels import records
from surefoot.skills.schema import Problem, Skill
from surefoot.terrains.terrain import Terrain

if TYPE_CHECKING:
    from surefoot.motions.motion import Motion

NEVER = 1 << 60  # [physics steps] until a planner wants to be asked that has nothing to decide


class ControlledScene(Protocol):
    """What a controller may use of the scene it runs in; `surefoot.engine.scene.Scene` is one."""

    model: mujoco.MjModel
    table: CharacterTable
    terrain: Terrain
    timestep: float  # [s]
    character: Any  # what the body was loaded from: a name, a path or a table
    threads: int  # of batches, 0 for all cores
    graph: Any  # the action graph over which skills are switched, or None

    def begin(self, qpos: np.ndarray, qvel: np.ndarray, userdata: np.ndarray, skill: Skill, seed: int) -> userdata.Row:
        """Put a row into a skill's start state."""

    def fill(self, row: userdata.Row, slot: int, skill: Skill) -> None:
        """Write a skill's numbers into one of a row's two slots."""

    def prepare(self, skill: Skill) -> Planner | None:
        """Make ready for a skill that a row may run; returns its controller's planner, if it has one."""

    def controller(self, skill: Skill) -> Controller:
        """The controller of a skill, made for this scene's body."""

    def record_walk(self, skill: str, terrain: str, settle: float, seconds: float, fps: float) -> RecordedWalk:
        """Run a skill on a terrain by itself and record it once it has settled; the same call gives the same object."""


@dataclass(frozen=True, eq=False)
class RecordedWalk:
    """What a skill did by itself, the scene it did it in, and whether it fell."""

    scene: ControlledScene
    motion: Motion
    fallen: bool


class RowHandle(Protocol):
    """One simulated row, as a planner sees it between native runs."""

    row: userdata.Row
    qpos: np.ndarray  # (nq,)
    qvel: np.ndarray  # (nv,)

    @property
    def time(self) -> float:
        """Simulated seconds."""

    @property
    def state(self) -> np.ndarray:
        """(nstate,) MuJoCo's integration state of the row."""


class Planner(ABC):
    """What a controller decides in Python between native runs, for the rows of one scene.

    All that it knows of a row lies in the row's memory, so that one planner serves many rows and a restored row goes on
    as it would have.
    """

    @abstractmethod
    def steps_to_next(self, handle: RowHandle) -> int:
        """Physics steps from now until this row has to be planned again, at least 1; NEVER if it need not be."""

    @abstractmethod
    def plan(self, handles: Sequence[RowHandle]) -> None:
        """Plan those of some rows that are due now; planning twice at the same moment is planning once."""

    def prepare(self, skill: Skill) -> None:  # noqa: B027
        """Make ready for a skill that a row may run."""

    def begin(self, skill: Skill, qpos: np.ndarray, qvel: np.ndarray) -> None:  # noqa: B027
        """Change a row's start state, if the skill's own is not where it begins."""

    def request(self, row: userdata.Row, skill: Skill) -> None:  # noqa: B027
        """Take note that another skill waits in the free slot of a row that this controller drives."""

    def running_skill(self, row: userdata.Row) -> Skill | None:
        """The skill that runs in a row, if the planner itself changes it."""
        return None


class Entered(NamedTuple):
    """When a row began to follow a reference after another one [s], and at which share of it."""

    time: float
    phase: float


@dataclass(frozen=True)
class ReferenceSpan:
    """The reference that a skill follows.

    Attributes:
        duration: its length [s].
        loops: whether it begins again.
        over_at: its own time from which one that does not loop is over [s].
        is_held: whether it is one pose.
    """

    duration: float
    loops: bool
    over_at: float
    is_held: bool = False


class ReferencePlanner(Planner):
    """A planner of skills that follow references: they can be the nodes of an action graph."""

    @abstractmethod
    def span(self, skill: Skill) -> ReferenceSpan:
        """The reference that a skill follows."""

    @abstractmethod
    def clock(self, row: userdata.Row) -> float:
        """How far the running skill's reference is [s]."""

    @abstractmethod
    def entered(self, row: userdata.Row) -> Entered:
        """When and where a row began to follow its reference after another one."""

    @abstractmethod
    def set_phases(self, row: userdata.Row, leave: float, enter: float) -> None:
        """Say where the running reference is left for a requested skill, and where that begins.

        Args:
            row: that waits for the skill.
            leave: share of the running reference; −1 is the next footstrike.
            enter: share of the requested one; −1 is where it is most like the body.
        """

    def is_over(self, skill: Skill, row: userdata.Row) -> bool:
        """Whether a row has come to the end of the reference of the skill that it runs."""
        span = self.span(skill)
        return not span.loops and self.clock(row) >= span.over_at


class Controller(ABC):
    """Everything Surefoot asks of a controller; an instance serves one body at one time step.

    Attributes:
        name: as registered, and as skill files write it.
        skill_class: model of its skill files, with their parameters.
        law_module: the module whose kernel `law(world, row, is_new)` drives the joints; imported when first needed.
        commands: what its skills can be told, in the order of their places in a row's commands.
        any_biped: whether its skills may be for `biped`: any body with two legs.
        takes_tasks: whether tasks can be given to its skills.
        has_references: whether its skills follow references, by which action graphs can leave and enter them: its
            planner is a `ReferencePlanner`.
    """

    name: ClassVar[str]
    skill_class: ClassVar[type[Skill]]
    law_module: ClassVar[str]
    commands: ClassVar[Mapping[str, Command]] = {}
    any_biped: ClassVar[bool] = False
    takes_tasks: ClassVar[bool] = False
    has_references: ClassVar[bool] = False

    def __init__(self, table: CharacterTable, links: int, timestep: float) -> None:
        """Make it for a body.

        Args:
            table: the body.
            links: number of its links, 0 for a planar body.
            timestep: physics step [s].
        """
        self.table, self.links, self.timestep = table, links, timestep
        self.roles, self.actuators = len(table.anatomy.roles), len(table.gains)
        self.tables = dict[str, int]()  # where in the model's numeric data the scene has put tables, by their names

    @classmethod
    @abstractmethod
    def unsupported(cls, table: CharacterTable) -> str:
        """Why it cannot drive a body, in one line; empty if it can."""

    @classmethod
    def validate(cls, skill: Skill, table: CharacterTable) -> Iterator[Problem]:
        """What in a skill does not fit the body, with its place in the file; the schema has been checked."""
        yield from unknown_start_roles(skill, table)
        yield from unknown_commands(skill, cls.commands)

    @property
    @abstractmethod
    def slot_size(self) -> int:
        """Numbers of a parameter slot."""

    @abstractmethod
    def memory_size(self, skill: Skill | None) -> int:
        """Numbers it remembers while it runs a skill; None: any skill that needs no more than usual."""

    def table_size(self, skill: Skill) -> int:
        """Numbers it learns while it runs a skill."""
        return 0

    def constants(self, skill: Skill) -> tuple[str, np.ndarray] | None:
        """A table (n,) that a skill reads and nothing changes, under a name of its own; None if it has none.

        The scene puts it into the model, where all rows share it, and says in `tables` where.
        """
        return None

    @abstractmethod
    def write_slot(self, slot: np.ndarray, skill: Skill, find: Callable[[str], Skill]) -> None:
        """Write a skill's numbers into a slot, in place.

        Args:
            slot: (slot_size,) or longer; `write_header` writes what every slot begins with.
            skill: what to write.
            find: gives the skill of a name, for skills that name others.
        """

    @abstractmethod
    def begin(self, row: userdata.Row, skill: Skill, seed: int) -> None:
        """Write what a row remembers at its start; its memory is zero before."""

    def rescale(self, row: userdata.Row, length: float, torque: float) -> None:  # noqa: B027
        """Let a row's memory follow a body whose legs and torques are so many times what they were."""

    def set_command(self, row: userdata.Row, name: str, value: float) -> None:
        """Set a command of a row; the value is within its limits."""
        row.commands[list(self.commands).index(name)] = value
        given = self.given_at(name)
        if given is not None:
            row.commands[given] = 1.0

    def given_at(self, name: str) -> int | None:
        """Place in a row's commands of the number that becomes 1 when a command is set; None if it has none."""
        return userdata.COMMAND_GIVEN + list(self.commands).index(name)

    def get_command(self, row: userdata.Row, skill: Skill, name: str) -> float | None:
        """What a command of a row was set to; None while it is as the skill has it."""
        at = list(self.commands).index(name)
        return float(row.commands[at]) if row.commands[userdata.COMMAND_GIVEN + at] else None

    def usual_command(self, skill: Skill, name: str) -> float | None:
        """The value of a command that a skill uses while nobody sets it; None if its parameters do not say."""
        value = getattr(skill.parameters, name, None)
        return value if isinstance(value, (int, float)) else None

    def clear_command(self, row: userdata.Row, skill: Skill, name: str) -> None:
        """Leave a command of a row to the skill again."""
        at = list(self.commands).index(name)
        row.commands[at], row.commands[userdata.COMMAND_GIVEN + at] = default_command(skill, name), 0.0

    @abstractmethod
    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the numbers of two written slots can be interpolated."""

    def is_compatible(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a law that runs with one written slot can go on with the other from any moment."""
        return True

    def is_standing(self, row: userdata.Row) -> bool:
        """Whether the character of a row stands on both feet and does not step."""
        return False

    def planner(self, scene: ControlledScene) -> Planner | None:
        """What decides between native runs in a scene, if anything does."""
        return None

    def references(self, scene: ControlledScene) -> ReferencePlanner | None:
        """What knows the references of its skills, if they have any (`has_references`)."""
        return None


def names() -> tuple[str, ...]:
    """All controllers, in the order of their numbers."""
    return plugins.names(plugins.CONTROLLERS)


def load(name: str) -> type[Controller]:
    """The controller of a name.

    Raises:
        UnknownNameError: there is none; the message lists the valid names.
    """
    found: type[Controller] = plugins.load(plugins.CONTROLLERS, name)
    return found


def write_header(slot: np.ndarray, skill: Skill) -> None:
    """Clear a slot and write what every slot begins with: the controller's number and the limits of posture.

    Args:
        slot: (n,) written in place.
        skill: whose slot it is.
    """
    slot[:] = 0.0
    head = records(slot, 0, 1, userdata.SLOT)[0]
    head.controller = names().index(skill.controller)
    head.fall_height, head.fall_tilt_time = skill.fall.height, skill.fall.tilt_time
    head.fall_touch = float(skill.fall.touch)
    head.fall_tilt_cosine = math.cos(min(skill.fall.tilt, math.pi))


def default_command(skill: Skill, name: str) -> float:
    """What a command is that nobody has set."""
    return skill.start.heading if name == "heading" else 0.0


def unknown_names(
    place: tuple[str | int, ...], given: Iterable[str], valid: Sequence[str], what: str
) -> Iterator[Problem]:
    """A problem for each name at a place of a skill file that is not valid there.

    Args:
        place: keys that lead to the names.
        given: the names.
        valid: names that would have been valid.
        what: what they name: "role".
    """
    for name in given:
        if name not in valid:
            yield (*place, name), f"unknown {what} {name!r}; valid: {', '.join(valid)}"


def unknown_start_roles(skill: Skill, table: CharacterTable) -> Iterator[Problem]:
    """Joints of a skill's start that the body does not have."""
    for place in ("joints", "rates"):
        yield from unknown_names(("start", place), getattr(skill.start, place), table.anatomy.roles, "role")


def unknown_commands(skill: Skill, valid: Iterable[str]) -> Iterator[Problem]:
    """Commands of a skill that its controller does not know."""
    known = tuple(valid)
    for i, name in enumerate(skill.commands):
        if name not in known:
            yield ("commands", i), f"unknown command {name!r}; valid: {', '.join(known)}"
