"""Mappings from the values of a row to the fields of a case, and those of known datasets."""
