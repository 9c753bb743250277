"""Experiments of limit cycle control (Laszlo, van de Panne, Fiume 1996)."""
