"""SIMBICON: a pose graph with balance feedback, planar and in space (Yin, Loken, van de Panne 2007)."""
