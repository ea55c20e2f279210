"""The page and the HTTP service. Importing this imports nothing of the `web` extra."""
