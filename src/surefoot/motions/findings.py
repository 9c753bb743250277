"""What a step of reading or cleaning a clip understood, and what it is unsure of, in sentences for the user."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Findings:
    """Two growing lists of sentences."""

    understood: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)

    def add(self, sentence: str, sure: bool = True) -> None:
        """Append a sentence to `understood`, or to `unsure`."""
        (self.understood if sure else self.unsure).append(sentence)
