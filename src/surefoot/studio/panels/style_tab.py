"""The style editor (GENBICON figure 12): curves with knots to drag, numbers, and a gallery to start from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import viser

from surefoot.skills import load
from surefoot.skills.schema import Skill
from surefoot.studio import style_parameters as curves
from surefoot.studio.boards import CurveBoard
from surefoot.studio.panels.document_controls import DocumentControls
from surefoot.studio.panels.panel import Panel, PanelContext, on_click, on_user_change, set_if_changed
from surefoot.studio.style_gallery import StyleGallery, style_names
from surefoot.studio.style_parameters import CURVE_LABELS, DEGREES, Knots, SliderSpec, slider_specs

_LEAN = {"pelvis": 0.3, "lower_back": 0.7, "upper_back": 1.0, "neck": 0.5}  # shares of one bend (GENBICON §4.1)
_POSTURES = {  # the curve whose mean is shown, all that follow by a share, the bounds [°], a hint
    "Lean (°)": ("upper_back", _LEAN, (-40.0, 60.0), "Of the whole trunk: forward is positive."),
    "Crouch (°)": ("stance_knee", {"stance_knee": 1.0}, (0.0, 80.0), "How far the stance knee is bent."),
}
_ADD, _REMOVE, _FLAT, _MIRROR = "Add knot", "Remove knot", "Flat", "Mirror other side"
_NONE = "This gait has no curves over a step, so there is no style to edit here."


class StyleTab(Panel):
    """The editor of skills whose parameters have curves."""

    title = "Style"

    def build(self, desk: PanelContext) -> None:
        """Add gallery, choice of the curve, sliders, and the controls of the document."""
        self._desk, gui = desk, desk.server.gui
        self._curve, self._chosen, self._held, self._drags = "swing_shoulder", 0, False, 0
        self._words = gui.add_markdown("")
        self._gallery = StyleGallery(gui, desk.post, self.switch_style)
        style_names(desk.session.sim.scene.table.name)  # reading all files takes a moment: not while it walks
        with gui.add_folder("Curve", visible=False) as choice:
            self._add_choice()
        with gui.add_folder("Numbers", visible=False) as self._first:
            self._postures: dict[str, viser.GuiSliderHandle[float]] = {}
            for label, (_, _, (low, high), hint) in _POSTURES.items():
                self._postures[label] = gui.add_slider(label, low, high, 1.0, 0.0, hint=hint)
                on_user_change(desk, self._postures[label], partial(self.set_posture, label))
        self._more = gui.add_folder("More numbers", expand_by_default=False, visible=False)
        self._keeping = DocumentControls()
        with gui.add_folder(None, visible=False) as kept:
            self._keeping.build(desk, self.reload)
        self._editor = (choice, self._first, self._more, kept)
        self._kind: type | None = None
        self._sliders: list[tuple[SliderSpec, viser.GuiSliderHandle[float]]] = []
        self._board = CurveBoard(desk.stage.scene, lambda *drag: desk.post(lambda: self.drag(*drag)))

    def _add_choice(self) -> None:
        desk, gui = self._desk, self._desk.server.gui
        group = CURVE_LABELS[self._curve].group
        self._shown = gui.add_checkbox("Show curve", False, hint="On the stage, with knots to drag")
        self._group = gui.add_dropdown("Part", curves.GROUPS, initial_value=group)
        self._label = gui.add_dropdown(
            "Curve", tuple(curves.labels(group)), initial_value=CURVE_LABELS[self._curve].label,
            hint="Its target over one step. The swing side is the one whose leg swings; sides change every step.",
        )  # fmt: skip
        self._buttons = gui.add_button_group(
            "Knots", (_ADD, _REMOVE, _FLAT, _MIRROR),
            hint="Drag knots on the stage; the orange one is removed. Mirror: the other side's curve, backwards, "
            "so that each begins where the other ends.",
        )  # fmt: skip
        on_user_change(desk, self._group, lambda group: self.choose(next(iter(curves.labels(group).values()))))
        on_user_change(desk, self._label, lambda label: self.choose(curves.labels(self._group.value)[label]))
        self._shown.on_update(lambda _: desk.post(self.reload))
        on_click(desk, self._buttons, self.press)

    @property
    def _skill(self) -> Skill:
        return self._desk.session.sim.skill

    def change(self, values: dict[str, Any], key: object = None) -> None:
        """Change values of the skill that is shown by dotted path; the simulation follows at once."""
        document = self._desk.editing.document_of(self._skill)
        self._desk.editing.run_version(self._desk.session, document.change(values, key))

    def switch_style(self, name: str) -> None:
        """Walk in another style: from here if the running skill has curves, otherwise from the start."""
        session, skill = self._desk.session, load(name)
        if session.sim.fallen or not curves.has_curves(self._skill):
            session.rebuild(skill=skill, character=session.character)
        else:
            session.resume_from_shown()
            session.sim.switch(skill)
            session.setup = replace(session.setup, skill=skill)

    def choose(self, curve: str) -> None:
        """Show another curve."""
        self._curve, self._chosen = curve, 0
        self.reload()

    def drag(self, index: int, to: tuple[float, float], part: str) -> None:
        """Drag a knot to a phase and value; `part` is the start, update or end of the drag."""
        knots = self._knots(self._curve)
        if index >= len(knots):
            return
        self._drags += part == "start"
        self._chosen, self._held = index, part != "end"
        self._set({self._curve: curves.move_knot(knots, index, to, self._limits)}, ("drag", self._drags))
        self.reload()

    def press(self, button: str) -> None:
        """Add or remove a knot, make the curve flat, or mirror the other side's."""
        knots, other = self._knots(self._curve), curves.other_side(self._curve)
        if button == _ADD:
            knots, self._chosen = curves.add_knot(knots, self._limits)
        elif button == _REMOVE:
            knots = curves.remove_knot(knots, min(self._chosen, len(knots) - 1))
        elif button == _FLAT:
            knots = curves.shift_values(curves.flatten(knots), 0.0, self._limits)
        elif other is not None:
            knots = curves.reverse(self._knots(other))
        self._set({self._curve: knots})
        self.reload()

    def _knots(self, curve: str) -> Knots:
        return curves.knots_of(self._skill, curve)

    @property
    def _limits(self) -> tuple[float, float]:
        return curves.curve_limits(self._skill)

    def _set(self, changed: dict[str, Knots], key: object = None) -> None:
        self.change({f"curves.{name}": curves.knots_to_yaml(knots) for name, knots in changed.items()}, key)

    def set_posture(self, label: str, degrees: float) -> None:
        """Bend trunk or knees forward by an angle on average; all curves of the posture follow by their shares."""
        lead, shares, *_ = _POSTURES[label]
        by = -degrees / DEGREES - self._mean(lead)
        shifted = {n: curves.shift_values(self._knots(n), share * by, self._limits) for n, share in shares.items()}
        self._set(shifted, ("posture", label))

    def _mean(self, curve: str) -> float:
        return curves.flatten(self._knots(curve))[0][1]

    def reload(self) -> None:
        """Show the skill as it is now."""
        skill, has = self._skill, curves.has_curves(self._skill)
        character = self._desk.session.sim.scene.table.name
        self._gallery.reload(character)
        invite = " Take one of the styles below to begin." if style_names(character) else ""
        set_if_changed(self._words, f"**{skill.name}**: {skill.summary}" if has else _NONE + invite, "content")
        for folder in self._editor:
            set_if_changed(folder, has, "visible")
        self._board.visible = has and self._shown.value
        self._desk.stage.show_boards(self._board.visible, self.title)
        if not has:
            return
        if type(skill.parameters) is not self._kind:
            self._build_sliders(skill)
        for spec, slider in self._sliders:
            value = getattr(skill.parameters, spec.field) * spec.factor
            set_if_changed(slider, round(value, 3 if spec.factor == 1.0 else 1))
        for label, (lead, _, (low, high), _) in _POSTURES.items():
            set_if_changed(self._postures[label], round(min(max(-self._mean(lead) * DEGREES, low), high)))
        title, knots = CURVE_LABELS[self._curve], self._knots(self._curve)
        self._chosen = min(self._chosen, len(knots) - 1)
        set_if_changed(self._group, title.group)
        set_if_changed(self._label, tuple(curves.labels(title.group)), "options")
        set_if_changed(self._label, title.label)
        pressed = (_ADD, _REMOVE, _FLAT) + ((_MIRROR,) if curves.other_side(self._curve) else ())
        set_if_changed(self._buttons, pressed, "options")
        self._board.show(title, knots, self._chosen, self._limits, self._held)

    def _build_sliders(self, skill: Skill) -> None:
        """Sliders for all numbers of a schema."""
        for _, slider in self._sliders:
            slider.remove()
        self._kind, self._sliders = type(skill.parameters), []
        for spec in slider_specs(skill.parameters):
            with self._first if spec.first else self._more:
                slider = self._desk.server.gui.add_slider(
                    spec.label, spec.low, spec.high, spec.step, spec.low, hint=spec.hint
                )
            self._sliders.append((spec, slider))
            on_user_change(self._desk, slider, partial(self.set_parameter, spec))

    def set_parameter(self, spec: SliderSpec, value: float) -> None:
        """Set a number, given as it is shown."""
        self.change({spec.field: round(value / spec.factor, 4)}, ("slider", spec.field))

    def refresh(self) -> None:
        """Move the dot along the curve."""
        if self._board.visible:
            phase = 2.0 * float(self._desk.session.row.report[0].phase)  # of two steps
            self._board.move_cursor(phase % 1.0)
        if curves.has_curves(self._skill):
            self._keeping.refresh()
