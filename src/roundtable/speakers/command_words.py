"""Plain words out of what a program writes to its output, as it comes.

Programs that are made for a terminal colour their words, move its cursor and end lines in their
own way. What is left here is text, and the same text however it was cut into pieces.
"""

from __future__ import annotations

import codecs
import re

from ..core.control_codes import ESCAPE, without_escapes

_UNFINISHED = re.compile(r"(?:\x1b|\x9b)[^\x1b\x9b]{0,300}\x1b?\Z|\r\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """The text without escape sequences and control characters, with ordinary line ends."""
    text = without_escapes(text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


class PlainWords:
    """A stream of bytes to a stream of plain words, without the space around the whole."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._space = ""
        self._begun = False

    def take(self, data: bytes) -> str:
        """What can be said by now."""
        text = self._rest + self._decode(data)
        held = self._held(text)
        self._rest = text[len(text) - held :] if held else ""
        return self._trimmed(plain(text[: len(text) - held]))

    def finish(self) -> str:
        """What was held back, now that nothing more comes."""
        rest, self._rest = self._rest + self._decode(b"", True), ""
        return self._trimmed(plain(rest))

    def _held(self, text: str) -> int:
        """How many characters at the end may be the beginning of something else."""
        match = _UNFINISHED.search(text)
        if match is None:
            return 0
        if ESCAPE.match(match[0]):
            return int(text.endswith("\r"))
        return len(match[0])

    def _trimmed(self, text: str) -> str:
        """Space is held back until a word follows."""
        words = self._space + text
        said = words.rstrip()
        self._space = words[len(said) :]
        if not self._begun:
            said = said.lstrip()
            self._space = self._space if said else ""
            self._begun = bool(said)
        return said
