"""Experiments of SIMBICON (Yin, Loken, van de Panne 2007)."""
