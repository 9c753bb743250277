"""The first tab: which skill, what it is told, what it walks on, and from where one looks."""

from __future__ import annotations

from surefoot.studio.panels.ground_choice import GroundChoice
from surefoot.studio.panels.panel import Desk
from surefoot.studio.panels.skill_choice import SkillChoice
from surefoot.studio.panels.steering import Steering
from surefoot.studio.stage import VIEWS


class Walk:
    """Made of parts that are panels themselves."""

    title = "Walk"

    def __init__(self) -> None:
        """Have the parts ready."""
        self.skills, self.steering, self.ground = SkillChoice(), Steering(), GroundChoice()
        self._parts = (self.skills, self.steering, self.ground)

    def build(self, desk: Desk) -> None:
        """Add the parts and the view."""
        gui, stage = desk.server.gui, desk.stage
        for part in self._parts:
            part.build(desk)
        with gui.add_folder("View"):
            views = gui.add_button_group("From", tuple(view.capitalize() for view in VIEWS))
            follow = gui.add_checkbox("Follow", True, hint="The camera goes with the figure.")
            shadows = gui.add_checkbox("Shadows", True, hint="Switch them off if the picture is not smooth.")
        views.on_click(lambda event: desk.post(lambda view=event.target.value: stage.look_from(view.lower())))  # type: ignore[misc]
        follow.on_update(lambda event: desk.post(lambda: setattr(stage, "follows", follow.value)))
        shadows.on_update(lambda event: desk.post(lambda: stage.set_shadows(shadows.value)))

    def renew(self) -> None:
        """Let every part show the skill, body and ground there are now."""
        for part in self._parts:
            part.renew()

    def refresh(self) -> None:
        """Let every part show the present moment."""
        for part in self._parts:
            part.refresh()
