"""What a chat message wants. The same words as the command line, behind a slash or a phrase."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

SLASH = re.compile(r"/(?:roundtable|council)(?:@\w+)?(?=\s|$)", re.IGNORECASE)
BARE = re.compile(r"roundtable(?=\s+\S)", re.IGNORECASE)
PHRASES = ("ask the council", "multi-agent", "get multiple perspectives")
_PHRASE = re.compile(
    rf"(?<![\w-])(?:{'|'.join(re.escape(phrase) for phrase in PHRASES)})(?![\w-])", re.IGNORECASE
)
_FILLER = re.compile(r"^[\s:,;–—-]+|^(?:to|about|on|for|whether|if)\b[\s:,]*", re.IGNORECASE)

Sub = Literal["setup", "config", "help"]


@dataclass(frozen=True, slots=True)
class Asks:
    """A question with its flags, as the words of a command line. A slash means the council where
    nothing else is said; the bare word means the default procedure."""

    words: tuple[str, ...]
    procedure: str | None = None


@dataclass(frozen=True, slots=True)
class Wants:
    """One of the sub-commands, which are handled before anything else is parsed."""

    sub: Sub


def understand(text: str, *, dedicated: bool = False) -> Asks | Wants | None:
    """What a message wants of the table; None if it is not for the table. In a dedicated channel
    every message is a topic."""
    words = text.strip()
    if slash := SLASH.match(words):
        rest = words[slash.end() :].split()
        return _sub(rest) or Asks(tuple(rest), "council")
    if bare := BARE.match(words):
        rest = words[bare.end() :].split()
        # In the middle of a sentence the word is not a command: only flags and
        # sub-commands make it one.
        if (found := _sub(rest)) or rest[0].startswith("--"):
            return found or Asks(tuple(rest))
    if phrase := _PHRASE.search(words):
        question = _without(words, phrase)
        return Asks(tuple(question.split()), "council") if question else Wants("help")
    if dedicated and words and not words.startswith("/"):
        return Asks(tuple(words.split()))
    return None


def _sub(words: list[str]) -> Wants | None:
    if not words:
        return Wants("help")
    match words[0].lower():
        case "setup" | "config" | "help" as sub if len(words) == 1:
            return Wants(sub)
        case _:
            return None


def _without(text: str, phrase: re.Match[str]) -> str:
    """The question without the phrase that called the table: what stands after it, or, where it
    ends the message, what stands before."""
    after = _FILLER.sub("", text[phrase.end() :].strip()).strip()
    return after or text[: phrase.start()].strip(" \t\n,;:–—-")
