"""Imperfect senses: what a law measures comes late and with noise (SIMBICON §7.4 names both as missing)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.native.pointers import kernel

SAMPLE = np.dtype([(n, "f8") for n in ("d", "v", "lateral_d", "lateral_v")])

_MODULUS, _MULTIPLIER = 2147483647, 48271  # the minimal standard generator (Park and Miller 1988)


@kernel
def seeded(seed: float) -> float:
    """State of the random generator for a seed: never 0."""
    return float((int(seed) * 2654435 + 12345) % (_MODULUS - 1) + 1)


@kernel
def _uniform(machine: Any) -> float:
    machine.random = float((int(machine.random) * _MULTIPLIER) % _MODULUS)
    return machine.random / _MODULUS  # type: ignore[no-any-return]


@kernel
def _gaussian(machine: Any) -> float:
    return math.sqrt(-2.0 * math.log(_uniform(machine))) * math.cos(2.0 * math.pi * _uniform(machine))


@kernel
def sense_balance(machine: Any, ring: Any, head: Any, sample: tuple[float, float, float, float]) -> None:
    """Take a new sample of (d, v, lateral d, lateral v); the machine keeps what the law gets to see of it."""
    late = sample
    if len(ring) > 0:
        at = int(machine.measured) % len(ring)
        ring[at].d, ring[at].v, ring[at].lateral_d, ring[at].lateral_v = sample
        old = ring[(at - min(int(head.delay), int(machine.measured))) % len(ring)]
        late = (old.d, old.v, old.lateral_d, old.lateral_v)
        machine.measured += 1.0
    machine.d, machine.v, machine.lateral_d, machine.lateral_v = late
    if head.noise_distance > 0.0 or head.noise_velocity > 0.0:
        machine.d += head.noise_distance * _gaussian(machine)
        machine.v += head.noise_velocity * _gaussian(machine)
        machine.lateral_d += head.noise_distance * _gaussian(machine)
        machine.lateral_v += head.noise_velocity * _gaussian(machine)
