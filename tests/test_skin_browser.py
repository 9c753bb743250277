"""A skinned body in a real browser: drawn by three.js where the body with its plain shapes is drawn."""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browser import PATIENCE, chromium_running, until
from strangers_walk import walk
from surefoot.engine.simulation import Simulation
from surefoot.motions import gltf
from surefoot.motions.forward_kinematics import world_poses
from surefoot.motions.motion import Motion

pytest.importorskip("viser")
pytestmark = pytest.mark.browser

SIZE = (400, 560)
NOTHING_ELSE = """document.querySelectorAll('body *').forEach(e => {
    if (e.tagName != 'CANVAS' && !e.querySelector('canvas')) e.style.visibility = 'hidden' })"""
UPRIGHT = (0.5, 0.5, 0.5, 0.5)  # from glTF's axes to ours
EYE, AIM = np.array([1.5, -1.9, 1.2]), np.array([0.0, 0.0, 0.85])  # [m]


class Stage:
    """A page that shows one GLB file."""

    def __init__(self, server: Any, page: Any) -> None:
        self.server, self.page = server, page
        self.empty = self.picture()

    def picture(self) -> np.ndarray:
        """(height, width, 3)."""
        shot = self.page.locator("canvas").first.screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), float)

    def silhouette(self) -> np.ndarray:
        return np.asarray(np.abs(self.picture() - self.empty).max(axis=2) > 24.0)

    def show(self, file: bytes) -> None:
        self.server.scene.add_glb("/figure", file, wxyz=UPRIGHT)

    def drawn(self, file: bytes, name: str) -> np.ndarray:
        """What a file covers of the picture, once it is there and stays as it is."""
        self.show(file)
        seen = [np.zeros(1)]

        def is_settled() -> bool:
            seen.append(self.silhouette())
            time.sleep(0.3)
            return bool(seen[-1].sum() > 2000 and np.array_equal(seen[-1], self.silhouette()))

        until(is_settled, f"{name} is drawn")
        if folder := os.environ.get("SUREFOOT_PICTURES"):
            Image.fromarray(self.picture().astype(np.uint8)).save(Path(folder) / f"skin-{name}.png")
        found = self.silhouette()
        self.server.scene.remove_by_name("/figure")
        until(lambda: not self.silhouette().any(), "the stage is empty again")
        return found


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    from surefoot.studio.server import open_server

    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(chromium_running())
        server = open_server("127.0.0.1", 0)
        stack.callback(server.stop)
        server.initial_camera.position, server.initial_camera.look_at = tuple(EYE), tuple(AIM)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.set_default_timeout(1000.0 * PATIENCE)
        page.goto(f"http://127.0.0.1:{server.get_port()}")
        page.locator("canvas").first.wait_for()
        until(lambda: server.get_clients(), "the page is open")
        page.wait_for_timeout(3000)
        page.evaluate(NOTHING_ELSE)
        yield Stage(server, page)


def held(motion: Motion, frame: int) -> Motion:
    """Two frames of the same pose, over the origin."""
    place = motion.root_position[frame] * [0.0, 0.0, 1.0]
    return replace(
        motion, time=np.array([0.0, 1.0]), root_position=np.tile(place, (2, 1)), qpos=np.zeros(0),
        rotations=np.repeat(motion.rotations[frame : frame + 1], 2, axis=0),
    )  # fmt: skip


def at_rest(motion: Motion) -> Motion:
    still = np.zeros_like(motion.rotations)
    still[..., 0] = 1.0
    return replace(motion, rotations=still)


def likeness(one: np.ndarray, other: np.ndarray) -> float:
    """How much two silhouettes share of what they cover together."""
    return float((one & other).sum() / (one | other).sum())


def test_a_skinned_body_stands_where_its_shapes_stand(stage: Stage) -> None:
    motion = held(Simulation(skill="human/skip").run(1.7, fps=60), 90)
    shapes = stage.drawn(gltf.encode(motion), "shapes")
    skin = stage.drawn(gltf.encode(motion, skinned=True), "ours")
    rest = stage.drawn(gltf.encode(at_rest(motion), skinned=True), "rest")
    assert likeness(shapes, skin) > 0.93
    assert likeness(rest, skin) < 0.8  # so it is the pose that is seen


def test_the_skin_of_a_strangers_skeleton_covers_its_joints(stage: Stage) -> None:
    motion = held(walk(seconds=1.0)[0], 45)
    seen = stage.drawn(gltf.encode(motion, skinned=True), "stranger")
    ahead = (AIM - EYE) / np.linalg.norm(AIM - EYE)
    right = np.cross(ahead, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(ahead, [0.0, 0.0, 1.0]))
    height, width = seen.shape
    scale = 0.5 * height / np.tan(0.5 * next(iter(stage.server.get_clients().values())).camera.fov)
    for place in world_poses(motion)[0][0]:
        x, y, z = (float((place - EYE) @ axis) for axis in (right, np.cross(ahead, right), ahead))
        column, row = round(0.5 * width + scale * x / z), round(0.5 * height + scale * y / z)
        assert seen[row, column], (place, row, column)
    assert seen.mean() < 0.25


def test_its_animation_plays(stage: Stage) -> None:
    motion = walk(seconds=2.0)[0]
    motion = replace(motion, root_position=motion.root_position * [0.0, 0.0, 1.0])
    stage.show(gltf.encode(motion, skinned=True))
    until(lambda: stage.silhouette().sum() > 2000, "the walker is drawn")
    first = stage.silhouette()
    until(lambda: likeness(first, stage.silhouette()) < 0.85, "it moves")
    stage.server.scene.remove_by_name("/figure")
