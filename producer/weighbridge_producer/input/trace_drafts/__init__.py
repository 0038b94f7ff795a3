"""Drafts of trace mappings, made from the beginning of a file in a format that no importer recognises."""
