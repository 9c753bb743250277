"""The device that these experiments compare with the CPU, and the results that they keep of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from surefoot.atomic_file import replace_file
from surefoot.engine.devices import CPU, present_device, using_device
from surefoot.errors import SurefootError
from surefoot.lab.experiment import Setting
from surefoot.lab.pieces import fingerprint

Figures = dict[str, dict[str, float]]  # by case, then by what was measured


def compared_device() -> str:
    """The GPU: what `--device` names, or the first one."""
    return "cuda" if present_device() == CPU else present_device()


def unusable(device: str) -> str:
    """Why a device cannot be used here; empty if it can."""
    try:
        with using_device(device):
            return ""
    except SurefootError as error:
        return str(error)


def on_both(
    experiment: str, setting: Setting, device: str, pieces: Mapping[str, Callable[[Setting], Figures]]
) -> dict[str, tuple[Figures, Figures]]:
    """Measure pieces of an experiment on the CPU and on a GPU, both at the same time.

    Every piece is kept beside the results as soon as it is done, and taken up again for the same code and seed.

    Args:
        experiment: its name.
        setting: of the experiment.
        device: the GPU.
        pieces: functions by name.

    Returns:
        By piece what the CPU gave and what the GPU gave.
    """
    done = 0

    def measure(name: str, where: str) -> Figures:
        nonlocal done
        figures = _piece(experiment, setting, name, where, pieces[name])
        done += 1
        setting.progress(f"{done} of {2 * len(pieces)} parts", done / (2 * len(pieces)))
        return figures

    with ThreadPoolExecutor(1) as pool:
        try:
            waiting = {name: pool.submit(measure, name, CPU) for name in pieces}
            on_gpu = {name: measure(name, device) for name in pieces}
            return {name: (waiting[name].result(), on_gpu[name]) for name in pieces}
        except BaseException:  # Ctrl-C, or a piece that failed: the others are not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _piece(experiment: str, setting: Setting, name: str, device: str, measure: Callable[[Setting], Figures]) -> Figures:
    """One piece on one device, or what was kept of it."""
    path = setting.figure_path(experiment, f"{name}-{device.replace(':', '')}.json") if setting.out else None
    key = {"seed": setting.seed, "quick": setting.quick, "fingerprint": fingerprint()}
    if path is not None and path.exists():
        kept = json.loads(path.read_text())
        if kept["key"] == key:
            figures: Figures = kept["figures"]
            return figures
    with using_device(device):
        figures = measure(setting)
    if path is not None:
        replace_file(path, json.dumps({"key": key, "figures": figures}, indent=1).encode())
    return figures
