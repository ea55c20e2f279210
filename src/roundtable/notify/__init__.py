"""Channels: the places where people hear of discussions. One file each; none is imported before
something is sent through it."""
