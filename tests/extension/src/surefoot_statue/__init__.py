"""A small extension of Surefoot: people who stand like statues, a body on stilts, waves to walk over."""

from __future__ import annotations

from pathlib import Path

SKILLS = Path(__file__).parent / "skills"  # CHARACTER/NAME.yaml
