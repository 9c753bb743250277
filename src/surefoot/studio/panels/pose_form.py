"""Every number of a pose, as a control: generated from the schema and the body's joints."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import viser

from surefoot.characters.table import SAGITTAL, CharacterTable
from surefoot.skills.simbicon import PoseState, SimbiconParameters
from surefoot.studio.panels.panel import put
from surefoot.studio.stick import limits

BALANCE, BENDING, SIDEWAYS, UPPER = "Time and balance", "Pose (°)", "Sideways and twist (°)", "Arms and spine (°)"
_SCALARS: dict[str, tuple[str, str, str]] = {
    "duration": ("Duration (s)", BALANCE, "How long the state lasts"),
    "cd": ("cd", BALANCE, "How far the swing hip answers the distance of the hips from the stance foot [rad/m]"),
    "cv": ("cv", BALANCE, "How far the swing hip answers the speed of the hips [rad·s/m]"),
    "cd_lateral": ("cd lateral", BALANCE, "The same as cd, sideways"),
    "cv_lateral": ("cv lateral", BALANCE, "The same as cv, sideways"),
    "torso": ("Torso", BENDING, "Against upright; forward is negative"),
    "torso_roll": ("Torso roll", SIDEWAYS, "Left side up is positive while the left leg swings"),
    "torso_yaw": ("Torso twist", SIDEWAYS, "To the left is positive while the left leg swings"),
}
_ANSWER = "How far this joint answers where the hips are over the foot (cd) and how fast they are (cv)"
_UPRIGHT = math.pi / 2  # [rad] a torso slider reaches so far


@dataclass(frozen=True)
class Entry:
    """One number of a state: its path within it, and how it is shown."""

    path: str
    label: str
    folder: str
    low: float
    high: float
    step: float
    degrees: bool
    hint: str = ""

    def read(self, state: PoseState) -> float | None:
        """The number as it is shown; None: the state has none."""
        value: Any = state
        for key in self.path.split("."):
            if isinstance(value, dict):
                value = value.get(key, (0.0, 0.0) if self.path.startswith("feedback") else 0.0)
            else:
                value = value[int(key)] if isinstance(value, tuple) else getattr(value, key)
        if value is None:
            return None
        return round(math.degrees(value), 1) if self.degrees else round(float(value), 4)

    def write(self, shown: float) -> float:
        """The number as it stands in the file."""
        return round(math.radians(shown), 4) if self.degrees else round(float(shown), 4)


def entries(table: CharacterTable, parameters: SimbiconParameters) -> list[Entry]:
    """Everything about a state of a graph that can be set on this body."""
    found = []
    for name, (label, folder, hint) in _SCALARS.items():
        low, high = _bounds(name)
        spatial = folder == SIDEWAYS or name.endswith("_lateral")
        if spatial and table.root == "planar":
            continue
        if name.startswith("torso"):
            reach = max(_UPRIGHT, *(abs(getattr(state, name)) for state in parameters.states))
            found.append(_angle(name, label, folder, (-reach, reach), hint))
        else:
            found.append(Entry(name, label, folder, low, high, 0.005, False, hint))
    carried = {f"stance_{role}" for role in table.anatomy.side_roles[: table.anatomy.hip_hinges]}  # by the torso
    for role, joint in zip(table.anatomy.roles, table.anatomy.joints(0), strict=True):
        if role in carried:
            continue
        values = [state.targets.get(role, 0.0) for state in parameters.states]
        reach = (limits(table, role, min(values))[0], limits(table, role, max(values))[1])
        sagittal, upper = table.hinges[joint].plane == SAGITTAL, table.anatomy.kind(role) in table.anatomy.upper
        folder = UPPER if upper else BENDING if sagittal else SIDEWAYS
        hint = "In the world, not against the torso" if role == "swing_hip" else ""
        found.append(_angle(f"targets.{role}", spoken(role), folder, reach, hint))
    for role in dict.fromkeys(role for state in parameters.states for role in state.feedback):
        found += [
            Entry(f"feedback.{role}.{i}", f"{spoken(role)} {gain}", BALANCE, *_bounds(gain), 0.005, False, _ANSWER)
            for i, gain in enumerate(("cd", "cv"))
        ]
    order = (BALANCE, BENDING, SIDEWAYS, UPPER)
    return sorted(found, key=lambda entry: order.index(entry.folder))


def spoken(role: str) -> str:
    """A role as one says it: `swing hip`, begun with a capital."""
    return role.replace("_yaw", " twist").replace("_", " ").capitalize()


def _angle(path: str, label: str, folder: str, reach: tuple[float, float], hint: str) -> Entry:
    low, high = (round(math.degrees(value), 1) for value in reach)
    return Entry(path, label, folder, low, high, 0.5, True, hint)


def _bounds(name: str) -> tuple[float, float]:
    """Lowest and highest value that the schema allows."""
    rules = PoseState.model_fields[name].metadata
    low = next(rule.ge for rule in rules if hasattr(rule, "ge"))
    high = next(rule.le for rule in rules if hasattr(rule, "le"))
    return float(low), float(high)


Changed = Callable[[Entry, float], None]


class PoseForm:
    """The controls of one state at a time."""

    def __init__(self, gui: viser.GuiApi, changed: Changed) -> None:
        """Take a place on the page; `changed` is told what a person sets, from another thread."""
        self._gui, self._changed = gui, changed
        self._box = gui.add_folder(None)
        self._entries: list[Entry] = []
        self._inputs: list[Any] = []
        self._folders: list[viser.GuiFolderHandle] = []

    def renew(self, wanted: list[Entry]) -> None:
        """Make the controls for these numbers; they are kept if they are the same."""
        if wanted == self._entries:
            return
        for folder in self._folders:
            folder.remove()
        self._entries, self._inputs, self._folders = wanted, [], []
        with self._box:
            for title in dict.fromkeys(entry.folder for entry in wanted):
                folder = self._gui.add_folder(title, expand_by_default=title in (BALANCE, BENDING))
                self._folders.append(folder)
                with folder:
                    self._inputs += [self._control(entry) for entry in wanted if entry.folder == title]

    def _control(self, entry: Entry) -> Any:
        make = self._gui.add_slider if entry.degrees else self._gui.add_number
        start = min(max(0.0, entry.low), entry.high)
        bounds = {"min": entry.low, "max": entry.high, "step": entry.step, "initial_value": start}
        control = make(entry.label, **bounds, hint=entry.hint or None)  # type: ignore[arg-type]

        @control.on_update
        def _(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None:  # set by a person, not by us
                self._changed(entry, float(control.value))

        return control

    def fill(self, state: PoseState) -> None:
        """Show a state's numbers."""
        for entry, control in zip(self._entries, self._inputs, strict=True):
            value = entry.read(state)
            put(control, value is not None, "visible")
            if value is not None:
                put(control, min(max(value, entry.low), entry.high))

    def show(self, visible: bool) -> None:
        """Show or hide all of it."""
        put(self._box, visible, "visible")
