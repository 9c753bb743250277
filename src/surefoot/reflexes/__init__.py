"""Compiled parts that controllers share; each runs within every physics step."""
