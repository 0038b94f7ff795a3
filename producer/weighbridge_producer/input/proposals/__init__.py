"""Mappings proposed from the names and values of the columns of the first rows."""
