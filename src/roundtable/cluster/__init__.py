"""The same engine on many workers, over the PostgreSQL that holds the ledger.

A queue says who drives what; the lease's epoch only fences. Nothing in here is imported where the
ledger is a file.
"""
