"""The trace formats, one importer a module."""
