"""Surfaces: thin faces over the service and the views."""
