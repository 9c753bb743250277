"""Limit cycle control of an open-loop gait (Laszlo, van de Panne, Fiume 1996)."""
