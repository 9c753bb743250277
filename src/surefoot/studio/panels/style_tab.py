"""The style editor (GENBICON figure 12): curves with knots to drag, numbers, and a gallery to start from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import viser

from surefoot.skills import load
from surefoot.skills.schema import Skill
from surefoot.studio import style_parameters
from surefoot.studio.boards import CurveBoard
from surefoot.studio.panels.document_controls import DocumentControls
from surefoot.studio.panels.panel import PanelContext, set_if_changed
from surefoot.studio.skill_document import SkillDocument
from surefoot.studio.style_gallery import StyleGallery, style_names
from surefoot.studio.style_parameters import CURVE_LABELS, DEGREES, SliderSpec, slider_specs

_LEAN = {"pelvis": 0.3, "lower_back": 0.7, "upper_back": 1.0, "neck": 0.5}  # shares of one bend (GENBICON §4.1)
_POSTURES = {  # a curve that is told by its mean, all that go along by a share, the bounds [°], a hint
    "Lean (°)": ("upper_back", _LEAN, (-40.0, 60.0), "Of the whole trunk: forward is positive."),
    "Crouch (°)": ("stance_knee", {"stance_knee": 1.0}, (0.0, 80.0), "How far the stance knee is bent."),
}
_ADD, _REMOVE, _FLAT, _MIRROR = "Add knot", "Remove knot", "Flat", "Mirror other side"
_NONE = "This gait is not told by curves over a step, so there is no style to edit here."


class StyleTab:
    """The tab of skills whose parameters have curves."""

    title = "Style"

    def build(self, desk: PanelContext) -> None:
        """Add gallery, choice of the curve, sliders and what keeps changes."""
        self._desk, gui = desk, desk.server.gui
        self._curve, self._chosen, self._held, self._drags = "swing_shoulder", 0, False, 0
        self._words = gui.add_markdown("")
        self._gallery = StyleGallery(desk, self.take)
        style_names(desk.session.sim.scene.table.name)  # reading all files takes a moment: not while it walks
        with gui.add_folder("Curve", visible=False) as choice:
            self._add_choice()
        with gui.add_folder("Numbers", visible=False) as self._first:
            self._sliders: dict[str, viser.GuiSliderHandle[float]] = {}
            for label, (_, _, (low, high), hint) in _POSTURES.items():
                slider = gui.add_slider(label, low, high, 1.0, 0.0, hint=hint)
                self._sliders[label] = slider
                self._on_person(slider, lambda value, label=label: self.set_posture(label, value))
        self._more = gui.add_folder("More numbers", expand_by_default=False, visible=False)
        self._keeping = DocumentControls()
        with gui.add_folder(None, visible=False) as kept:
            self._keeping.build(desk, self.document, self._apply, self._load)
        self._editor = (choice, self._first, self._more, kept)
        self._kind: type | None = None
        self._dials: list[tuple[SliderSpec, viser.GuiSliderHandle[float]]] = []
        self._board = CurveBoard(desk.stage.scene, lambda *drag: desk.post(lambda: self.drag(*drag)))

    def _add_choice(self) -> None:
        gui, post = self._desk.server.gui, self._desk.post
        group = CURVE_LABELS[self._curve].group
        self._shown = gui.add_checkbox("Show curve", False, hint="On the stage, with knots to drag")
        self._group = gui.add_dropdown("Part", style_parameters.GROUPS, initial_value=group)
        self._label = gui.add_dropdown(
            "Curve", tuple(style_parameters.labels(group)), initial_value=CURVE_LABELS[self._curve].label,
            hint="What it aims at over one step. The swing side is the one whose leg swings; sides change every step.",
        )  # fmt: skip
        self._buttons = gui.add_button_group(
            "Knots", (_ADD, _REMOVE, _FLAT, _MIRROR),
            hint="Drag knots on the stage; the orange one is removed. Mirror: the other side's curve, backwards, "
            "so that each begins where the other ends.",
        )  # fmt: skip
        self._on_person(self._group, lambda group: self.choose(next(iter(style_parameters.labels(group).values()))))
        self._on_person(self._label, lambda label: self.choose(style_parameters.labels(self._group.value)[label]))
        self._shown.on_update(lambda _: post(self.renew))
        self._buttons.on_click(lambda _: post(lambda: self.press(self._buttons.value)))

    def _on_person(self, handle: Any, act: Any) -> None:
        """Have something done with a control's value, by the session's thread, when a person changed it."""

        @handle.on_update  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            if event.client is not None:
                value = handle.value
                self._desk.post(lambda: act(value))

    def document(self) -> SkillDocument:
        """The skill that runs, under one's hands."""
        return self._desk.editing.of(self._skill)

    @property
    def _skill(self) -> Skill:
        return self._desk.session.sim.skill

    def _apply(self, skill: Skill) -> None:
        self._desk.editing.apply(self._desk.session, skill)

    def _load(self, skill: Skill, origin: Path | None) -> None:
        self._desk.editing.open(self._desk.session, skill, origin)

    def change(self, values: dict[str, Any], key: object = None) -> None:
        """Change values of the skill by dotted path; it walks so at once."""
        self._apply(self.document().change(values, key))

    def take(self, name: str) -> None:
        """Walk in another style: on from here if it walks in one already, from its start otherwise."""
        session, skill = self._desk.session, load(name)
        if session.sim.fallen or not style_parameters.has_curves(self._skill):
            session.rebuild(skill=skill, character=session.sim.scene.table.name)
        else:
            session.present()
            session.sim.switch(skill)
            session.setup = replace(session.setup, skill=skill)

    def choose(self, curve: str) -> None:
        """Show another curve."""
        self._curve, self._chosen = curve, 0
        self.renew()

    def drag(self, index: int, to: tuple[float, float], part: str) -> None:
        """A knot is dragged to a phase and value; `part` is start, update or end of it."""
        knots = style_parameters.knots_of(self._skill, self._curve)
        if index >= len(knots):
            return
        self._drags += part == "start"
        self._chosen, self._held = index, part != "end"
        self._set(
            style_parameters.move_knot(knots, index, to, style_parameters.curve_limits(self._skill)),
            ("drag", self._drags),
        )
        self.renew()

    def press(self, button: str) -> None:
        """Add or remove a knot, make the curve flat, or take the other side's."""
        knots, other = style_parameters.knots_of(self._skill, self._curve), style_parameters.other_side(self._curve)
        within = style_parameters.curve_limits(self._skill)
        if button == _ADD:
            knots, self._chosen = style_parameters.add_knot(knots, within)
        elif button == _REMOVE:
            knots = style_parameters.remove_knot(knots, min(self._chosen, len(knots) - 1))
        elif button == _FLAT:
            knots = style_parameters.shift_values(style_parameters.flatten(knots), 0.0, within)
        elif other is not None:
            knots = style_parameters.reverse(style_parameters.knots_of(self._skill, other))
        self._set(knots)
        self.renew()

    def _set(self, knots: style_parameters.Knots, key: object = None) -> None:
        self.change({f"curves.{self._curve}": style_parameters.knots_to_yaml(knots)}, key)

    def set_posture(self, label: str, degrees: float) -> None:
        """Bend trunk or knees forward by so much on average, all curves of it along."""
        lead, shares, *_ = _POSTURES[label]
        by = -degrees / DEGREES - self._mean(lead)
        within, values = style_parameters.curve_limits(self._skill), {}
        for name, share in shares.items():
            knots = style_parameters.shift_values(style_parameters.knots_of(self._skill, name), share * by, within)
            values[f"curves.{name}"] = style_parameters.knots_to_yaml(knots)
        self.change(values, ("posture", label))

    def _mean(self, curve: str) -> float:
        return style_parameters.flatten(style_parameters.knots_of(self._skill, curve))[0][1]

    def renew(self) -> None:
        """Show the skill as it is now."""
        skill, has = self._skill, style_parameters.has_curves(self._skill)
        character = self._desk.session.sim.scene.table.name
        self._gallery.renew(character)
        invite = " Take one of the styles below to begin." if style_names(character) else ""
        set_if_changed(self._words, f"**{skill.name}**: {skill.summary}" if has else _NONE + invite, "content")
        for folder in self._editor:
            set_if_changed(folder, has, "visible")
        self._board.visible = has and self._shown.value
        self._desk.stage.show_boards(self._board.visible, self.title)
        if not has:
            return
        if type(skill.parameters) is not self._kind:
            self._build_dials(skill)
        for dial, slider in self._dials:
            set_if_changed(
                slider, round(getattr(skill.parameters, dial.field) * dial.factor, 3 if dial.factor == 1.0 else 1)
            )
        for label, (lead, _, (low, high), _) in _POSTURES.items():
            set_if_changed(self._sliders[label], round(min(max(-self._mean(lead) * DEGREES, low), high)))
        title, knots = CURVE_LABELS[self._curve], style_parameters.knots_of(skill, self._curve)
        self._chosen = min(self._chosen, len(knots) - 1)
        set_if_changed(self._group, title.group)
        set_if_changed(self._label, tuple(style_parameters.labels(title.group)), "options")
        set_if_changed(self._label, title.label)
        pressed = (_ADD, _REMOVE, _FLAT) + ((_MIRROR,) if style_parameters.other_side(self._curve) else ())
        set_if_changed(self._buttons, pressed, "options")
        self._board.show(title, knots, self._chosen, style_parameters.curve_limits(skill), self._held)

    def _build_dials(self, skill: Skill) -> None:
        """Sliders for all numbers of the schema, if it is another one."""
        for _, slider in self._dials:
            slider.remove()
        self._kind, self._dials = type(skill.parameters), []
        for dial in slider_specs(skill.parameters):
            with self._first if dial.first else self._more:
                slider = self._desk.server.gui.add_slider(
                    dial.label, dial.low, dial.high, dial.step, dial.low, hint=dial.hint
                )
            self._dials.append((dial, slider))
            self._on_person(slider, lambda value, dial=dial: self.set_number(dial, value))

    def set_number(self, dial: SliderSpec, value: float) -> None:
        """Set a number as it is shown."""
        self.change({dial.field: round(value / dial.factor, 4)}, ("dial", dial.field))

    def refresh(self) -> None:
        """Let the dot run."""
        if self._board.visible:
            phase = 2.0 * float(self._desk.session.row.report[0].phase)  # of two steps
            self._board.run(phase % 1.0)
        if style_parameters.has_curves(self._skill):
            self._keeping.refresh()
