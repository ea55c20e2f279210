"""Schedules: when a question is put again."""
