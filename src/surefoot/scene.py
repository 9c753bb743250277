"""A character on a terrain with the skills it may run: what a simulation and a population share."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from surefoot import controllers
from surefoot.characters import load as load_character
from surefoot.characters.builder import Build, build, proportioned, with_backpack
from surefoot.characters.limbs import of_table
from surefoot.errors import CommandError, SurefootError
from surefoot.intentions import Intention, Thinkers
from surefoot.kit import Kit
from surefoot.kits import KITS
from surefoot.native import callback, laws, memory
from surefoot.placing import clearance, place_root
from surefoot.reflexes.handover import ASKED, NONE
from surefoot.skills import load as load_skill
from surefoot.skills.files import check
from surefoot.skills.schema import BIPED, Skill
from surefoot.stylized.action_graph import ActionGraph
from surefoot.tasks.posture import Posture
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import Terrain

STRONGEST = 1e6  # [N] a push beyond it is a slip of the hand
TRUNK = "trunk"  # stands for the torso of a body that calls it otherwise
PUSHES = 16  # pushes that may be pending or acting at once
_MIN_STEP, _MAX_STEP = 1e-5, 5e-3  # [s]


@dataclass(frozen=True)
class Push:
    """A force [N] in the world frame on a body from `start` on [s], at a point of the body's frame."""

    force: tuple[float, float, float]
    duration: float
    start: float
    body: str = "trunk"
    point: tuple[float, float, float] | None = None


class Scene:
    """A compiled model and the knowledge of how its rows of memory are filled."""

    def __init__(
        self,
        character: str | None,
        skill: str | Path | Skill,
        terrain: str | Terrain,
        proportions: Mapping[str, float] | None = None,
        timestep: float | None = None,
        may_run: Sequence[str | Path | Skill] = (),
        backpack: float = 0.0,
        self_collision: bool = False,
        graph: ActionGraph | None = None,
    ) -> None:
        """Build and compile.

        Args:
            character: a character's name; None is the skill's own.
            skill: the skill it begins with.
            terrain: what it stands on.
            proportions: multipliers of lengths and masses.
            timestep: physics step [s]; by default the character's own.
            may_run: further skills it will switch to; needed for those that learn.
            backpack: mass on its back [kg].
            self_collision: whether its parts collide with each other too.
            graph: of actions, whose nodes are skills too, and over whose edges it switches between them.
        """
        self.graph = graph
        if timestep is not None and not _MIN_STEP <= timestep <= _MAX_STEP:
            raise SurefootError(f"the time step must be within {_MIN_STEP:g} … {_MAX_STEP:g} s, got {timestep}")
        if character is None:
            character = (skill if isinstance(skill, Skill) else self._named(skill) or load_skill(skill)).character
            character = "humanoid" if character == BIPED else character
        self.character, self.proportions = character, dict(proportions or {})
        self.backpack, self.self_collision = backpack, self_collision
        self.table = with_backpack(proportioned(load_character(character), self.proportions), backpack)
        self.terrain = load_terrain(terrain) if isinstance(terrain, str) else terrain
        self.skill = self.find(skill)
        self.may_run = tuple(map(self.find, may_run))
        running = [self.skill, *self.may_run]
        self.timestep = timestep or self.table.timestep
        links = 0 if self.table.root == "planar" else len(of_table(self.table).links)
        self.kits = {name: kit(self.table, links, self.timestep) for name, kit in KITS.items() if self._runs(name)}
        sizes = memory.Sizes(
            actuators=len(self.table.gains), feet=2, pushes=PUSHES,
            slot_size=max(kit.slot_size for kit in self.kits.values()),
            memory_size=max(*(kit.memory_size(None) for kit in self.kits.values()),
                            *(self.kit(skill).memory_size(skill) for skill in running), 0),
            table_size=max(self.kit(skill).table_size(skill) for skill in running),
        )  # fmt: skip
        callback.install()
        self.build: Build = build(self.table, self.terrain, sizes, timestep, self_collision)
        self.model = self.build.model
        self._scratch = mujoco.MjData(self.model)
        self.thinkers = Thinkers(self)
        for one in () if graph is None else graph.skills:
            self.thinkers.meet(self.find(one))

    @functools.cached_property
    def posture(self) -> Posture:
        """Where rows are measured by tasks, one at a time."""
        return Posture(self.model)

    def _named(self, name: str | Path) -> Skill | None:
        """The skill of a node of the action graph."""
        return self.graph.skill(str(name)) if self.graph is not None and str(name) in self.graph.nodes else None

    def find(self, skill: str | Path | Skill) -> Skill:
        """The skill of a name, a node's first, or of a path; another character's is refused."""
        found = check(skill) if isinstance(skill, Skill) else self._named(skill) or load_skill(skill, self.table.name)
        if found.character not in (self.table.name, BIPED if self.table.is_biped else self.table.name):
            raise CommandError(f"skill {found.full_name} is for {found.character!r}, not for {self.table.name!r}")
        return found

    def _runs(self, controller: str) -> bool:
        """Whether this body can run a controller: roles for one, two legs in space for others, both for one."""
        has_roles, is_free = bool(self.table.anatomy.roles), self.table.root == "free"
        biped = self.table.is_biped
        runs = {
            "simbicon": has_roles, "genbicon": biped, "stepping": biped,
            "stylized": has_roles and self.table.foreign is None,
        }  # fmt: skip
        return runs.get(controller, has_roles and is_free)

    def kit(self, skill: Skill) -> Kit:
        """What is around the law of a skill's controller."""
        return self.kits[skill.controller]

    def intention(self, skill: Skill) -> Intention | None:
        """What a skill's controller thinks between native runs, if it does."""
        return self.thinkers.meet(skill)

    def command_ranges(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest value of every command of the first skill's controller."""
        return dict(self.kit(self.skill).ranges)

    def _check_room(self, skill: Skill) -> None:
        """Refuse a skill that needs more memory than the rows were built with."""
        sizes, kit = self.build.sizes, self.kit(skill)
        if kit.table_size(skill) > sizes.table_size:
            raise CommandError(
                f"skill {skill.full_name} learns a table of {kit.table_size(skill)} numbers and this simulation "
                f"has room for {sizes.table_size}; name it in `skills` when building"
            )
        if kit.memory_size(skill) > sizes.memory_size:
            raise CommandError(
                f"skill {skill.full_name} measures {skill.parameters.sensing.delay:g} s late and this simulation "
                "does not remember that long; name it in `skills` when building"
            )

    def has_room(self, skill: Skill) -> bool:
        """Whether the rows were built with enough memory for a skill."""
        try:
            self._check_room(skill)
        except CommandError:
            return False
        return True

    def fill(self, row: memory.Row, slot: int, skill: Skill) -> None:
        """Write a skill's numbers into one of a row's two slots."""
        filled = np.zeros_like(row.slots[slot])
        self.fill_array(filled, skill)
        row.slots[slot][:] = filled

    def fill_array(self, slot: np.ndarray, skill: Skill) -> None:
        """Write a skill's numbers into an array of a slot's size."""
        self._check_room(skill)
        laws.prepare(skill.controller)
        self.kit(skill).fill(slot, skill, self.find)
        self.thinkers.meet(skill)

    def same_structure(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two filled slots have the same states with the same endings, so that they can be blended."""
        if one[0] != other[0]:  # their controllers
            return False
        return self.kits[controllers.names()[int(one[0])]].same_structure(one, other)

    def goes_on(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a law that runs with one filled slot can go on with the other from any moment."""
        return one[0] == other[0] and self.kits[controllers.names()[int(one[0])]].goes_on(one, other)

    def begin(self, qpos: np.ndarray, qvel: np.ndarray, userdata: np.ndarray, skill: Skill, seed: int) -> memory.Row:
        """Put a row into a skill's start state, with the feet on the ground; return its views.

        `seed` is that of the noise in what it measures.
        """
        built = self.build
        row = memory.format_row(userdata, built.sizes, built.anatomy_at, built.limbs_at, built.ground_at)
        self.fill(row, 0, skill)
        start, model = skill.start, self.model
        swing = 0 if start.swing == "left" else 1
        by_role = dict(zip(self.table.anatomy.roles, self.table.anatomy.joints(swing), strict=True))
        qpos[:], qvel[:] = model.qpos0, 0.0
        for values, target, address in ((start.joints, qpos, "qposadr"), (start.rates, qvel, "dofadr")):
            for role, value in values.items():
                target[getattr(model.joint(by_role[role]), address)[0]] = value
        if self.table.foreign is not None:
            for joint, angle in self.table.foreign.limbs.neutral.items():
                qpos[model.joint(joint).qposadr[0]] = angle
        height = place_root(self.table, start, qpos, qvel)
        intention = self.intention(skill)
        if intention is not None:
            intention.begin(qpos, qvel)
        qpos[height] += start.lift - self.clearance(qpos)
        row.header[0].seed = seed
        self.kit(skill).begin(row, skill, seed)
        return row

    def clearance(self, qpos: np.ndarray) -> float:
        """How far down a configuration can be moved until a sole touches the ground, a plane below each end [m]."""
        return clearance(self.model, self._scratch, self.table, self.terrain, qpos)

    def add_push(self, row: memory.Row, push: Push, now: float) -> None:
        """Queue a push in a row's first free place."""
        names = [s.name for s in self.table.segments]
        body = self.table.anatomy.torso if push.body == TRUNK and TRUNK not in names else push.body
        if body not in names:
            raise CommandError(f"no body {push.body!r} to push; valid: {', '.join(names)}")
        if np.shape(push.force) != (3,) or np.shape(push.point or (0, 0, 0)) != (3,):
            raise CommandError("a push takes a force of three numbers, and a point of three or none")
        dt, numbers = self.model.opt.timestep, (*push.force, push.duration, push.start, *(push.point or ()))
        if np.max(np.abs(push.force)) > STRONGEST:
            raise CommandError(f"a push has at most {STRONGEST:g} N along each axis")
        if not np.isfinite(numbers).all() or push.duration < dt or push.start < now - 0.5 * dt:
            raise CommandError("a push takes finite numbers, lasts a physics step or more and is not in the past")
        for queued in row.pushes:
            if queued.stop <= now and queued.acting == 0.0:
                queued.start, queued.stop = push.start, push.start + push.duration
                queued.body = self.model.body(body).id
                queued.fx, queued.fy, queued.fz = push.force
                queued.at_point = push.point is not None
                header = row.header[0]
                header.pushed_until = max(header.pushed_until, queued.stop + 2.0 * dt)  # a step later it is cleared
                queued.px, queued.py, queued.pz = push.point or (0.0, 0.0, 0.0)
                return
        raise CommandError(f"at most {len(row.pushes)} pushes can be pending at once")

    def command(self, row: memory.Row, skill: Skill, values: Mapping[str, float]) -> None:
        """Set what the running skill can be told."""
        kit = self.kit(skill)
        for name, value in values.items():
            if name not in skill.commands:
                known = ", ".join(skill.commands) or "none"
                raise CommandError(f"unknown command {name!r}; {skill.full_name} knows: {known}")
            low, high = kit.ranges[name]
            if not low <= value <= high:
                raise CommandError(f"command {name} must be within {low:g} … {high:g}, got {value}")
        for name, value in values.items():
            kit.tell(row, name, value)

    def request(self, row: memory.Row, skill: Skill, now: float) -> None:
        """Ask for a switch: the skill goes into the free slot.

        A law takes it at its next state change; of another controller it waits for the next footstrike.
        """
        header = row.header[0]
        self.fill(row, 1 - int(header.active), skill)
        is_same = row.slots[0, 0] == row.slots[1, 0]  # their controllers
        header.pending, header.handover, header.asked = (1.0, NONE, now) if is_same else (0.0, ASKED, now)
        running = self.thinkers.of(row)
        if running is not None:
            running.ask(row, skill)
