"""The page and the HTTP service. Importing this imports nothing of the `web` extra."""

STATE_FILE = "web.json"
"""In a home: where its one server listens, if there is one."""
