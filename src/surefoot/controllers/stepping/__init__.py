"""Adaptive stepping from an inverted pendulum with feet (Kenwright, "Watch your step")."""
