"""The files of an input, and their bytes as lines: remote and compressed files, archives, pipes and streams of events."""
