"""How much is read: of one file, of a folder, and in all."""

from __future__ import annotations

MOST_BYTES = 50_000_000
"""Of one document."""
SLOW_BYTES = 500_000
"""Of a document that is no text: what is larger may take a while to read."""
MOST_TEXT_BYTES = 8_000_000
"""Of one text file that was named; the same as four bytes for each character that fits."""
MOST_CHARACTERS = 2_000_000
"""Of one document's text."""
MOST_IN_ALL = 3_900_000
"""Characters of all documents together, a little less than a discussion takes."""
MOST_PAGES = 2_000
"""Of a PDF; and slides, and sheets."""
MOST_ROWS = 20_000
"""Of one sheet."""
MOST_UNPACKED = 300_000_000
"""Bytes that an office file may unpack to."""
MOST_MEMBERS = 10_000
"""Files within an office file."""
SECONDS = 60.0
"""For one document."""
MEMORY = 1_500_000_000
"""Bytes of the process that reads one."""
IN_A_FOLDER = 1_000
"""Files that are read of one folder."""
LARGEST_IN_A_FOLDER = 1_000_000
"""Bytes of a text file in a folder: what is larger is data."""
MOST_ENTRIES = 200_000
"""Files and folders that are looked at in one folder."""
DEEPEST = 40
PIPE_SECONDS = 60.0
"""How long a pipe may keep silent."""
UNWRITTEN_SECONDS = 3.0
"""How long a pipe is waited for that nobody has begun to write to."""
