"""Views: pure read models of a discussion, one per file."""
