"""Stylized locomotion: a reference motion is tracked by a quadratic program (da Silva, Abe, Popović 2008)."""
