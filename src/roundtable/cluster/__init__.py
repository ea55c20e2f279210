"""The same engine on many machines: what they share, and who drives what."""
