"""Deliberation: what the evidence on debate says works, as a procedure."""
