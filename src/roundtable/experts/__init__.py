"""Experts: the library of personas, and who of them should sit at a table."""
