"""Dictionaries of rows: the nested basis that they span, and who enters."""
