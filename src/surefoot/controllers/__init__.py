"""Controllers: one package for each paper, all behind the interface in `base`."""
