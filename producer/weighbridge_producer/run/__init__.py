"""`weighbridge run`: a private server and workers, state that survives a crash, output files."""
