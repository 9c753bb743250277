"""Experiments of stylized locomotion (da Silva, Abe, Popović 2008)."""
