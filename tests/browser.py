"""A person at the studio: Chromium without a window, moved by mouse and keys."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.engine.scene import Setup
from surefoot.studio.app import Studio

_FLAGS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
PATIENCE = 1800.0  # [s] after which something counts as never happening


def chromium() -> str:
    """Where a Chromium is; without one the test is skipped."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = os.environ.get("SUREFOOT_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no Chromium here: none of {', '.join(names)} is on the path, and SUREFOOT_CHROMIUM is not set")
    return found


def until(holds: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Wait for something that becomes true."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"it did not happen within {patience:g} s: {what}")


class Person:
    """Somebody who looks at a studio and has hands."""

    def __init__(self, page: Any, studio: Studio) -> None:
        self.page, self.studio = page, studio

    def ask(self, question: Callable[[], Any]) -> Any:
        """Something of the session, from the thread that owns it."""
        return self.studio.loop.call(question)

    @property
    def words(self) -> str:
        return str(self.page.locator("body").inner_text())

    def seconds(self) -> float:
        """The time that the page shows."""
        found = re.search(r"· ([\d.]+) s", self.words)
        assert found, self.words[:300]
        return float(found[1])

    def picture(self) -> np.ndarray:
        """What the stage looks like, in grey."""
        import io

        from PIL import Image

        shot = self.page.screenshot(clip=self.page.locator("canvas").first.bounding_box())
        return np.asarray(Image.open(io.BytesIO(shot)).convert("L"), float)

    def keep(self, name: str) -> None:
        """Keep a picture of the page, for looking at it, where SUREFOOT_PICTURES says."""
        if folder := os.environ.get("SUREFOOT_PICTURES"):
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def button(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).locator("visible=true").first.click()

    def tick(self, label: str) -> None:
        self.page.get_by_label(label, exact=True).locator("visible=true").first.check()

    def choose(self, label: str, option: str) -> None:
        self.page.get_by_label(label, exact=True).locator("visible=true").first.click()
        self.page.get_by_role("option", name=option, exact=True).locator("visible=true").first.click()

    def write(self, label: str, text: str) -> None:
        """Write into the field behind a label, or into the number beside a slider."""
        row = self.page.get_by_text(label, exact=True).locator("visible=true").first.locator("xpath=ancestor::div[2]")
        field = row.locator("input:not([type=hidden])").last
        field.fill(text)
        field.press("Enter")

    def pixel(self, point: tuple[float, float, float] | np.ndarray) -> tuple[float, float]:
        """Where a point of the page's scene [m] is on the screen."""
        camera = next(iter(self.studio.server.get_clients().values())).camera
        w, x, y, z = camera.wxyz
        axes = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
        right, down, ahead = axes.T @ (np.asarray(point) - camera.position)
        box = self.page.locator("canvas").first.bounding_box()
        scale = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
        return (
            float(box["x"] + 0.5 * box["width"] + scale * right / ahead),
            float(box["y"] + 0.5 * box["height"] + scale * down / ahead),
        )

    def body_pixel(self, name: str) -> tuple[float, float]:
        """Where a part of the figure is on the screen."""
        session, stage = self.studio.session, self.studio.stage
        return self.pixel(self.ask(lambda: session.pose.body(name).xipos - stage.origin))

    def drag(self, start: tuple[float, float], by: tuple[float, float], hold: float = 0.0) -> None:
        """Press, move in steps as a hand does, hold, release."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        for k in range(1, 9):
            mouse.move(start[0] + by[0] * k / 8, start[1] + by[1] * k / 8)
            self.page.wait_for_timeout(60)
        if hold:
            self.page.wait_for_timeout(1000.0 * hold)
        mouse.up()

    def drag_until(
        self, start: Callable[[], tuple[float, float]], by: tuple[float, float], holds: Callable[[], Any], what: str
    ) -> Any:
        """Drag, and if the page was too slow to notice, once more."""
        for _ in range(4):
            self.drag(start(), by)
            with contextlib.suppress(AssertionError):
                return until(holds, what, 8.0)
        raise AssertionError(f"it did not happen: {what}")


@contextlib.contextmanager
def chromium_running() -> Iterator[Any]:
    """A browser."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = chromium()
    with playwright.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=path, args=list(_FLAGS))
        yield browser
        browser.close()


@contextlib.contextmanager
def visit(browser: Any, setup: Setup, folder: Path, size: tuple[int, int] = (1280, 800)) -> Iterator[Person]:
    """A person at a studio of their own."""
    studio = Studio(setup, port=0, folder=folder)
    if not os.environ.get("SUREFOOT_PICTURES"):  # without a graphics card they take most of the time
        studio.loop.call(lambda: studio.stage.set_shadows(False))
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    try:
        page.set_default_timeout(1000.0 * PATIENCE)
        page.goto(studio.url)
        page.get_by_role("tab", name="Walk").wait_for()
        page.locator("canvas").first.wait_for()
        person = Person(page, studio)
        until(lambda: len(np.unique(person.picture())) > 40, "the figure is drawn")
        page.evaluate("document.querySelectorAll('[class*=Notification-closeButton]').forEach(b => b.click())")
        yield person
    finally:
        page.close()
        studio.stop()
