"""Schedules, for every surface: made, shown, stopped, and opened when they are due."""
