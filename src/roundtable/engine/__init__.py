"""The shell: it performs what the core decides and appends what came of it."""
