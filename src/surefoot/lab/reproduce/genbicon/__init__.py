"""Experiments of GENBICON (Coros, Beaudoin, van de Panne 2010; Yin, Coros, van de Panne, §4)."""
