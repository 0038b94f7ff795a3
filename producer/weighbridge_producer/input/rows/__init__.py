"""The rows of tables and JSON documents: the format of a file, and a reader for each."""
