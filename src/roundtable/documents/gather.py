"""`--context`: the files and folders that somebody named, read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from ..core.errors import BadTopic
from ..core.values import Material
from ..core.visible import shown
from .files import read_file
from .folder import NO_DOCUMENT, NO_ROOM, NOT_UTF8, UNOPENED, look_through
from .gathered import Gathered
from .kinds import DOCUMENTS, kind_of
from .limits import MOST_IN_ALL, SLOW_BYTES
from .read import Blank, NoDocument, NoRoom, OtherEncoding, Read, Unreadable
from .reading import plain, read_document, with_text

_LISTED = 40
"""Lines of an error: who named more has to set so many right first."""
_NAMED = 1_000
"""Files of a folder that are named in one line, which a terminal clips."""


def gather(
    names: Sequence[str],
    read_input: Callable[[], str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Gathered:
    """The documents of these files and folders; `-` is what `read_input` gives. `tell` hears the
    names of those that may take a while. BadTopic for a name that leads nowhere, and if nothing
    could be read: whoever names documents wants them read."""
    if not names:
        return Gathered()
    if "" in names:  # as from a variable that is not set
        raise BadTopic("The name of a document is empty.", "Give it a name, or leave it out.")
    with closing(_Gathering(tell)) as gathering:
        for name in names:
            if name == "-" and read_input is not None:
                gathering.input(read_input())
            elif Path(name).is_dir():
                gathering.folder(name)
            else:
                gathering.file(name)
        if not gathering.materials:
            raise BadTopic(
                _nothing_read(gathering.lines),
                "Fix them, or give other files or the text itself.",
            )
        return Gathered(
            tuple(gathering.materials), tuple(gathering.lines), frozenset(gathering.missed)
        )


def _nothing_read(lines: Sequence[str]) -> str:
    more = len(lines) - _LISTED
    told = "\n".join(["None of the documents could be read.", *(f"{x}." for x in lines[:_LISTED])])
    return f"{told}\nAnd {more} more." if more > 0 else told


def _called(name: str) -> str:
    return "Standard input" if name == "-" else shown(name)


class _Gathering:
    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.materials: list[Material] = []
        self.lines: list[str] = []
        self.missed: set[str] = set()
        self._left = MOST_IN_ALL
        self._runner: asyncio.Runner | None = None

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()

    def input(self, text: str) -> None:
        """What a program hands on."""
        try:
            self.take("-", with_text(Read(text)))
        except Unreadable as why:
            self._miss(_called("-"), why)

    def file(self, name: str) -> None:
        """One that was named: what is wrong with it is said by its name."""
        try:
            self.take(name, self._read(name, read_file(Path(name), follow=True)))
        except OSError as error:
            # A name that was mistyped is no document that is broken.
            raise BadTopic(
                f"{shown(name)} cannot be read: {error.strerror}.", "Check the path."
            ) from None
        except Unreadable as why:
            self._miss(shown(name), why)

    def folder(self, name: str) -> None:
        """What is wrong with its documents and texts is said by their names: somebody may miss
        them. Files that hold nothing to read are counted."""
        looked = look_through(Path(name))
        before = len(self.materials)
        encoded: list[str] = []
        crowded: list[str] = []
        for inside, path in looked.files:
            called = f"{name.rstrip('/')}/{inside}"
            document = path.suffix.lower() in DOCUMENTS
            try:
                data = read_file(path, follow=False)
                self.take(called, self._read(called, data))
            except OSError:
                looked.left_out[UNOPENED] += 1
            except Unreadable as why:
                match why:
                    case Blank() if not document:
                        looked.empty.append(shown(inside))
                    case NoDocument() if not document:
                        looked.left_out[NO_DOCUMENT] += 1
                    case NoRoom() if not document:
                        looked.left_out[NO_ROOM] += 1
                        crowded.append(shown(inside))
                    case OtherEncoding():
                        looked.left_out[NOT_UTF8] += 1
                        encoded.append(shown(inside))
                    case _:
                        self._miss(shown(called), why)
        if looked.line:
            read = len(self.materials) - before
            files = "1 file was" if read == 1 else f"{f'{read:,}' if read else 'No'} files were"
            self.lines.append(f"{files} read from {shown(name)}; left out: {looked.line}")
        elif len(self.materials) == before:
            self.lines.append(f"{shown(name)} contains nothing to read")
        self._miss_all(f"Not UTF-8 text in {shown(name)}, to be converted first", encoded)
        self._miss_all(f"No room was left for these files of {shown(name)}", crowded)

    def _miss_all(self, why: str, names: Sequence[str]) -> None:
        if names:
            more = len(names) - _NAMED
            told = ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
            self.lines.append(f"{why}: {told}")
            self.missed.add(self.lines[-1])

    def _miss(self, name: str, why: Unreadable) -> None:
        told = f"{name} {why}"
        self.lines.append(told)
        self.missed.add(told)

    def take(self, name: str, read: Read) -> None:
        """Unreadable if there is no more room."""
        if len(name) + len(read.text) > self._left:
            raise NoRoom("does not fit any more beside the others")
        self._left -= len(name) + len(read.text)
        self.materials.append(Material(source=name, text=read.text))
        self.lines += [f"{_called(name)} {each}" for each in read.lines]

    def _read(self, name: str, data: bytes) -> Read:
        if data and kind_of(name, data) == "text":
            return plain(data)
        if self._runner is None:
            self._runner = asyncio.Runner()
        if len(data) >= SLOW_BYTES:
            self._tell(shown(name))
        return self._runner.run(read_document(name, data))
