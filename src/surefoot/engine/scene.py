"""A character on a terrain with the skills it may run: what a simulation and a population share."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco
import numpy as np

from surefoot.characters import load as load_character
from surefoot.characters.builder import CompiledCharacter, build, with_backpack, with_proportions
from surefoot.characters.links import limbs_of_table
from surefoot.characters.table import CharacterTable
from surefoot.controllers import base
from surefoot.controllers.action_graph import ActionGraph
from surefoot.controllers.base import Controller, Planner, RecordedWalk
from surefoot.engine import callback, commands
from surefoot.engine import callback as compiled_laws
from surefoot.engine.actor import RowKinematics
from surefoot.engine.devices import thread_count
from surefoot.engine.initial_pose import clearance, place_root
from surefoot.errors import CommandError, SurefootError
from surefoot.native.userdata import Row, Sizes, format_row
from surefoot.reflexes.handover import ASKED, NONE
from surefoot.skills import BIPED
from surefoot.skills import load as load_skill
from surefoot.skills.check import DEFAULT_BIPED
from surefoot.skills.files import check
from surefoot.skills.schema import Skill
from surefoot.terrains import load as load_terrain
from surefoot.terrains.terrain import Terrain

STRONGEST = 1e6  # [N] a push beyond it is a slip of the hand
_ROUNDED = 1e-6  # share of a push that may be due to rounding
TRUNK = "trunk"  # stands for the torso of a body that calls it otherwise
PUSHES = 16  # pushes that may be pending or acting at once
DEFAULT_SKILL, DEFAULT_BODY = "walk", "human"  # of who names neither a skill nor a character
_MIN_STEP, _MAX_STEP = 1e-5, 5e-3  # [s]
AnyCharacter = str | Path | CharacterTable
AnySkill = str | Path | Skill


@dataclass(frozen=True)
class Push:
    """A force [N] in the world frame on a body from `start` on [s], at a point of the body's frame."""

    force: tuple[float, float, float]
    duration: float
    start: float
    body: str = "trunk"
    point: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Setup:
    """What a simulation is built from; the same for a single one, a population, the studio and environments.

    Attributes:
        skill: name, full name, path or object; None is a walk, or an action graph's first node.
        character: name of a body, path of an MJCF file, or a table; None is the body the skill is for.
        terrain: description (`slope:6`) or object.
        seed: of everything random.
        proportions: multipliers of lengths and masses (`{"thigh_length": 1.1}`).
        timestep: physics step [s]; None is the character's own.
        skills: further skills it will switch to (needed only for those that learn).
        backpack: mass on its back [kg]; the torso is pitched for it.
        self_collision: whether its parts collide with each other, not only with the ground.
        graph: of actions, over whose edges it switches between its nodes.
        threads: of batches; 0 is all cores.
        device: where it runs: `cpu`, or what `Population` takes. On a GPU, rows are no longer than the named skills
            need.
    """

    skill: AnySkill | None = None
    character: AnyCharacter | None = None
    terrain: str | Terrain = "flat"
    seed: int = 0
    proportions: Mapping[str, float] = field(default_factory=dict)
    timestep: float | None = None
    skills: Sequence[AnySkill] = ()
    backpack: float = 0.0
    self_collision: bool = False
    graph: ActionGraph | None = None
    threads: int = 0
    device: str = "cpu"

    @property
    def on_cpu(self) -> bool:
        """Whether MuJoCo itself steps it, with our callbacks."""
        return self.device == "cpu"

    @property
    def first_skill(self) -> AnySkill:
        """The skill it begins with."""
        if self.skill is not None:
            return self.skill
        if self.graph is not None:
            return self.graph.skills[0]
        return DEFAULT_SKILL if self.character is not None else f"{DEFAULT_BODY}/{DEFAULT_SKILL}"


class Scene:
    """A compiled model and the knowledge of how its rows of memory are filled.

    Attributes:
        setup: what it was built from.
        table: the body, with its proportions.
        terrain: what it stands on.
        skill: what rows begin with.
        model: MuJoCo's.
        controllers: those that can drive this body, by name.
        parts: the skills that rows were built for, with the slow parts of theirs.
        planners: those of the controllers met so far that decide between native runs.
    """

    def __init__(self, setup: Setup, model: mujoco.MjModel | None = None) -> None:
        """Build and compile.

        Args:
            setup: what to build.
            model: a copy of the model that this setup builds, to be used in its place.

        Raises:
            SurefootError: something in the setup is not valid; the message says what would have been.
        """
        self.setup, self.graph, self.threads = setup, setup.graph, thread_count(setup.threads)
        timestep, character = setup.timestep, setup.character
        if timestep is not None and not _MIN_STEP <= timestep <= _MAX_STEP:
            raise SurefootError(f"the time step must be within {_MIN_STEP:g} … {_MAX_STEP:g} s, got {timestep}")
        if character is None:
            first = setup.first_skill
            character = (first if isinstance(first, Skill) else self._named(first) or load_skill(first)).character
            character = DEFAULT_BIPED if character == BIPED else character
        self.character = character
        self.table = with_backpack(with_proportions(load_character(character), setup.proportions), setup.backpack)
        self.terrain = load_terrain(setup.terrain) if isinstance(setup.terrain, str) else setup.terrain
        self.skill = self.find(setup.first_skill)
        nodes = () if setup.graph is None else setup.graph.skills
        self.may_run = tuple(map(self.find, (*setup.skills, *nodes)))
        running = [self.skill, *self.may_run]
        self.timestep = timestep or self.table.timestep
        links = 0 if self.table.root == "planar" else len(limbs_of_table(self.table).links)
        kinds = {name: base.load(name) for name in base.names()}
        self.controllers: dict[str, Controller] = {
            name: kind(self.table, links, self.timestep) for name, kind in kinds.items()
            if not kind.unsupported(self.table)
        }  # fmt: skip
        self.parts = tuple(part for skill in running for part in (skill, self._slow_part(skill)) if part is not None)
        used = self.controllers.values() if setup.on_cpu else [self.controller(part) for part in self.parts]
        sizes = Sizes(
            actuators=len(self.table.gains), feet=2, pushes=PUSHES,
            slot_size=max(own.slot_size for own in used),
            memory_size=max(*(own.memory_size(None) for own in used),
                            *(self.controller(skill).memory_size(skill) for skill in self.parts), 0),
            table_size=max(self.controller(skill).table_size(skill) for skill in running),
        )  # fmt: skip
        if setup.on_cpu:
            callback.install()
        constants = self._constants()
        self.build: CompiledCharacter = build(
            self.table, self.terrain, sizes, timestep, setup.self_collision, list(constants.values())
        )
        if model is not None:
            self.build = replace(self.build, model=model)
        self.model = self.build.model
        for (controller, name), at in zip(constants, self.build.constants_at, strict=True):
            self.controllers[controller].tables[name] = at
        self._scratch = mujoco.MjData(self.model)
        self._planners: dict[str, Planner | None] = {}
        self.families: dict[int, commands.Family] = {}  # by the number of the skill's object, which they keep
        for one in () if setup.graph is None else setup.graph.skills:
            self.prepare(self.find(one))

    def _constants(self) -> dict[tuple[str, str], np.ndarray]:
        """Tables that rows share, by the controller and the table's name."""
        found: dict[tuple[str, str], np.ndarray] = {}
        for skill in self.parts:
            table = self.controller(skill).constants(skill)
            if table is not None:
                found[skill.controller, table[0]] = table[1]
        return dict(sorted(found.items()))  # the same places for the same tables: states go from one scene to another

    def _slow_part(self, skill: Skill) -> Skill | None:
        """The skill that has the body at low speeds while another was asked for, if there is one."""
        return None if skill.slow is None else self.find(skill.slow.skill)

    @functools.cached_property
    def posture(self) -> RowKinematics:
        """Where rows are measured by tasks, one at a time."""
        return RowKinematics(self.model)

    @functools.cached_property
    def fingerprint(self) -> str:
        """The same for scenes of the same shapes: body, terrain and time step. Masses may change while it runs."""
        digest, model = hashlib.sha256(self.model.names), self.model
        for array in (model.geom_type, model.geom_size, model.geom_pos, model.geom_quat, model.hfield_data):
            digest.update(array.tobytes())
        digest.update(np.float64(model.opt.timestep).tobytes())
        return digest.hexdigest()

    def _named(self, name: str | Path) -> Skill | None:
        """The skill of a node of the action graph."""
        return self.graph.skill(str(name)) if self.graph is not None and str(name) in self.graph.nodes else None

    def find(self, skill: AnySkill) -> Skill:
        """The skill of a name, a node's first, or of a path.

        Args:
            skill: name, full name, path or object.

        Raises:
            CommandError: it is another character's.
        """
        found = check(skill) if isinstance(skill, Skill) else self._named(skill) or load_skill(skill, self.table.name)
        if found.character not in (self.table.name, BIPED if self.table.is_biped else self.table.name):
            raise CommandError(f"skill {found.full_name} is for {found.character!r}, not for {self.table.name!r}")
        return found

    def controller(self, skill: Skill) -> Controller:
        """The controller of a skill, made for this body.

        Raises:
            CommandError: it cannot drive this body.
        """
        if skill.controller not in self.controllers:
            reason = base.load(skill.controller).unsupported(self.table)
            raise CommandError(f"skill {skill.full_name} cannot run on {self.table.name!r}: {reason}")
        return self.controllers[skill.controller]

    @property
    def planners(self) -> list[Planner]:
        """What decides between native runs, of all controllers met so far."""
        return [planner for planner in self._planners.values() if planner is not None]

    def prepare(self, skill: Skill) -> Planner | None:
        """Make ready for a skill that a row may run: its compiled law, its controller's planner.

        Returns:
            The planner, if the controller has one.
        """
        if self.setup.on_cpu:
            compiled_laws.prepare(skill.controller)
        if skill.controller not in self._planners:
            self._planners[skill.controller] = self.controller(skill).planner(self)
        planner = self._planners[skill.controller]
        if planner is not None:
            planner.prepare(skill)
        return planner

    def running_skill(self, row: Row) -> Skill | None:
        """The skill that runs in a row, if a planner switches skills there by itself."""
        found = (planner.running_skill(row) for planner in self.planners)
        return next((skill for skill in found if skill is not None), None)

    def record_walk(self, skill: str, terrain: str, settle: float, seconds: float, fps: float) -> RecordedWalk:
        """Run a skill on a terrain by itself and record it once it has settled; the same call gives the same object.

        Args:
            skill: a skill of this body, or another body's full name.
            terrain: description.
            settle: how long it runs before it is recorded [s].
            seconds: how long it is recorded [s].
            fps: recorded frames per second.
        """
        from surefoot.engine.simulation import record_walk  # a simulation of its own, built on scenes

        character = None if self.table.root == "planar" else str(self.table.name)
        return record_walk(character, skill, terrain, settle, seconds, fps)

    def _check_room(self, skill: Skill) -> None:
        """Refuse a skill that needs more memory than the rows were built with."""
        sizes, own = self.build.sizes, self.controller(skill)
        if own.table_size(skill) > sizes.table_size:
            raise CommandError(
                f"skill {skill.full_name} learns a table of {own.table_size(skill)} numbers and this simulation "
                f"has room for {sizes.table_size}; name it in `skills` when building"
            )
        if own.memory_size(skill) > sizes.memory_size:
            raise CommandError(
                f"skill {skill.full_name} remembers {own.memory_size(skill)} numbers and this simulation has room for "
                f"{sizes.memory_size}; name it in `skills` when building"
            )
        table = own.constants(skill)
        if table is not None and table[0] not in own.tables:
            raise CommandError(
                f"skill {skill.full_name} reads a table that this simulation was built without; name it in `skills` "
                "when building"
            )

    def has_room(self, skill: Skill) -> bool:
        """Whether the rows were built with enough memory for a skill."""
        try:
            self._check_room(skill)
        except CommandError:
            return False
        return True

    def fill(self, row: Row, slot: int, skill: Skill) -> None:
        """Write a skill's numbers into one of a row's two slots."""
        self.write_slot(row, slot, skill)
        self.prepare(skill)

    def write_slot(self, row: Row, slot: int, skill: Skill) -> None:
        """Write a skill's numbers into one of a row's two slots, without making ready to run it."""
        filled = np.zeros_like(row.slots[slot])
        self._check_room(skill)
        self.controller(skill).write_slot(filled, skill, self.find)
        row.slots[slot][:] = filled

    def fill_array(self, slot: np.ndarray, skill: Skill) -> None:
        """Write a skill's numbers into an array of a slot's size."""
        self._check_room(skill)
        self.controller(skill).write_slot(slot, skill, self.find)
        self.prepare(skill)

    def _controller_of(self, slot: np.ndarray) -> Controller:
        """The controller whose number a written slot begins with."""
        return self.controllers[base.names()[int(slot[0])]]

    def can_blend(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the numbers of two written slots can be interpolated."""
        return bool(one[0] == other[0]) and self._controller_of(one).can_blend(one, other)

    def is_compatible(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a law that runs with one written slot can go on with the other from any moment."""
        return bool(one[0] == other[0]) and self._controller_of(one).is_compatible(one, other)

    def begin(self, qpos: np.ndarray, qvel: np.ndarray, userdata: np.ndarray, skill: Skill, seed: int) -> Row:
        """Put a row into a skill's start state, with the feet on the ground; return its views.

        `seed` is that of the noise in what it measures.
        """
        built = self.build
        row = format_row(userdata, built.sizes, built.anatomy_at, built.limbs_at, built.ground_at)
        self.fill(row, 0, skill)
        start, model = skill.start, self.model
        swing = 0 if start.swing == "left" else 1
        by_role = dict(zip(self.table.anatomy.roles, self.table.anatomy.joints(swing), strict=True))
        qpos[:], qvel[:] = model.qpos0, 0.0
        for values, target, address in ((start.joints, qpos, "qposadr"), (start.rates, qvel, "dofadr")):
            for role, value in values.items():
                target[getattr(model.joint(by_role[role]), address)[0]] = value
        if self.table.imported is not None:
            for joint, angle in self.table.imported.limbs.neutral.items():
                qpos[model.joint(joint).qposadr[0]] = angle
        height = place_root(self.table, start, qpos, qvel)
        planner = self.prepare(skill)
        if planner is not None:
            planner.begin(skill, qpos, qvel)
        qpos[height] += start.lift - self.clearance(qpos)
        row.header[0].seed = seed
        self.controller(skill).begin(row, skill, seed)
        return row

    def clearance(self, qpos: np.ndarray) -> float:
        """How far down a configuration can be moved until a sole touches the ground, a plane below each end [m]."""
        return clearance(self.model, self._scratch, self.table, self.terrain, qpos)

    def add_push(self, row: Row, push: Push, now: float) -> None:
        """Queue a push in a row's first free place."""
        names = [s.name for s in self.table.segments]
        body = self.table.anatomy.torso if push.body == TRUNK and TRUNK not in names else push.body
        if body not in names:
            raise CommandError(f"no body {push.body!r} to push; valid: {', '.join(names)}")
        if np.shape(push.force) != (3,) or np.shape(push.point or (0, 0, 0)) != (3,):
            raise CommandError("a push takes a force of three numbers, and a point of three or none")
        dt, numbers = self.model.opt.timestep, (*push.force, push.duration, push.start, *(push.point or ()))
        if self.table.root == "planar" and abs(push.force[1]) > _ROUNDED * np.max(np.abs(push.force)):
            raise CommandError(f"{self.table.name!r} moves in the plane of x and z: a push along y cannot move it")
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

    def command(self, row: Row, skill: Skill, values: Mapping[str, float]) -> None:
        """Set what a skill can be told; a speed may hand the body over to its slow part, or back."""
        commands.tell(self, row, skill, values)

    def request(self, row: Row, skill: Skill, now: float) -> None:
        """Ask for a switch: the skill goes into the free slot.

        A law takes it at its next state change; of another controller it waits for the next footstrike.
        """
        header = row.header[0]
        header.family, row.other_commands[:] = 0.0, 0.0
        self.fill(row, 1 - int(header.active), skill)
        is_same = row.slots[0, 0] == row.slots[1, 0]  # their controllers
        header.pending, header.handover, header.asked = (1.0, NONE, now) if is_same else (0.0, ASKED, now)
        for planner in self.planners:
            planner.request(row, skill)
