"""SQLite databases in which agents keep their sessions: opened, read within limits, and turned into a line for each session."""
