"""A number for every skill: by it a row of memory says which skill it runs, wherever the row came from."""

from __future__ import annotations

import hashlib

from surefoot.native.memory import SLOT
from surefoot.skills.schema import Skill

NUMBER_AT = len(SLOT.names or ())  # in the slots of controllers that think between native runs
_BYTES = 6  # as many as a float64 holds exactly


def number_of(skill: Skill) -> float:
    """The same for skills that are the same in every value, and no other's."""
    text = skill.model_dump_json(by_alias=True).encode()
    return float(int.from_bytes(hashlib.sha256(text).digest()[:_BYTES], "big"))
