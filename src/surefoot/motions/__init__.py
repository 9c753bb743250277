"""Recorded motion: what happened, how it is drawn, and how it is saved."""
