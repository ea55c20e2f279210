"""The process that reads one document: bytes on standard input, one JSON document on the output.

It is told nothing but the kind, has no key in its environment, and takes its own rights away first:
memory, processor time, and the writing of files. Whatever happens in it costs one document.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterator

from .kinds import EXTRA
from .limits import MEMORY, MOST_CHARACTERS, SECONDS
from .read import NoDocument, Unreadable

IN_TIME = 0.75
"""Of the seconds that a document has: those after which nothing more is read."""
Part = tuple[str, str]
"""Where a piece of text stands, such as `page 4`, and the piece; "" where nothing is to be said."""


class Found:
    """What was read so far."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.parts: list[str] = []
        self.lines: list[str] = []
        self.left = MOST_CHARACTERS
        self.full = False
        """Whether nothing more is taken."""
        self._ends = time.monotonic() + seconds * IN_TIME

    def add(self, parts: Iterator[Part]) -> None:
        """As much of it as fits, and as is read in time: what was read is worth more than nothing
        because of the rest."""
        for where, text in parts:
            whole = f"[{where}]\n{text.strip()}" if where else text.strip()
            late = bool(self.parts) and time.monotonic() > self._ends
            if late or len(whole) + 2 > self.left:
                if not self.parts:
                    self.parts.append(whole[: self.left])
                told = f"was read up to {where}" if where else "was read in part"
                why = "more takes too long" if late else f"{MOST_CHARACTERS:,} characters fit"
                self.lines.append(f"{told}: {why}")
                self.full = True
                return
            self.left -= len(whole) + 2
            self.parts.append(whole)


def main(kind: str) -> int:
    _confine()
    found = Found()
    problem, document = "", True
    try:
        data = sys.stdin.buffer.read()
        _reader(kind, data)(data, found)
    except Unreadable as why:
        problem, document = str(why), not isinstance(why, NoDocument)
    except ImportError:
        problem = f"needs the extra that reads it: {EXTRA}"
    except MemoryError:
        problem = "takes too much memory to be read"
    except RecursionError:
        problem = "is nested too deeply to be read"
    except Exception as error:  # of many libraries: whatever they raise, the file is not sound
        problem = f"is damaged ({type(error).__name__})"
    # Half a character, or a zero, is no text that anybody could store.
    text = "\n\n".join(found.parts).encode("utf-8", "replace").decode().replace("\0", "")
    told = {"text": text, "lines": found.lines, "problem": problem, "document": document}
    sys.stdout.buffer.write(json.dumps(told).encode("ascii"))
    return 0


def _reader(kind: str, data: bytes) -> Callable[[bytes, Found], None]:
    if kind == "pdf":
        from .formats.pdf import read_pdf

        return read_pdf
    if kind == "html":
        from .formats.html import read_html

        return read_html
    from .formats.office import office_reader

    return office_reader(io.BytesIO(data))


def _confine() -> None:
    try:
        import resource
    except ImportError:  # not on Windows: time is bounded from outside
        return
    for what, limit in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, int(SECONDS)),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        lowest = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(what, (lowest, lowest))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
