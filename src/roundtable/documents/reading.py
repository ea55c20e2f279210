"""One document: its bytes become its text, in a process of its own where they are not text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ..core.control_codes import stray, without_escapes
from ..program_runner import TooMuchOutput, run_program
from ..programs import python_child
from .gathered import COLOURED
from .kinds import Kind, decoded, kind_of
from .limits import MOST_BYTES, MOST_CHARACTERS, SECONDS
from .read import Blank, NoDocument, Read, Unreadable

WORKER = "roundtable.documents.worker"
_HANDED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""Of the environment: what Python itself needs, and no key."""
_MOST_OUTPUT = 8 * MOST_CHARACTERS


async def read_document(
    name: str, data: bytes, *, seconds: float = SECONDS, env: Mapping[str, str] | None = None
) -> Read:
    """The text of a document. Unreadable says why there is none."""
    if not data:
        raise Blank("is empty")
    if len(data) > MOST_BYTES:
        raise Unreadable(f"is too large: more than {MOST_BYTES // 1_000_000} MB")
    kind = kind_of(name, data)
    return plain(data) if kind == "text" else with_text(await _apart(kind, data, seconds, env))


def plain(data: bytes) -> Read:
    """A text file. Unreadable if it is none, or holds more than fits."""
    text = decoded(data)
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(
            f"has {len(text):,} characters, and {MOST_CHARACTERS:,} fit; give an excerpt of it"
        )
    return with_text(Read(text))


def with_text(read: Read) -> Read:
    """What was read, without the colours of a terminal. Unreadable if nothing stands there, or what
    no text has."""
    text = without_escapes(read.text)
    if not text.strip():
        raise Blank("holds no text")
    if found := stray(text):
        raise Unreadable(f"is no plain text: it holds the control character {found}")
    return read if text == read.text else Read(text, (*read.lines, COLOURED))


async def _apart(kind: Kind, data: bytes, seconds: float, env: Mapping[str, str] | None) -> Read:
    given = os.environ if env is None else env
    few = {name: given[name] for name in _HANDED_ON if name in given}
    heard = bytearray()
    try:
        ended = await run_program(
            python_child(WORKER, [kind], few),
            stdin=data,
            on_output=heard.extend,
            most_output=_MOST_OUTPUT,
            timeout=seconds,
        )
    except TimeoutError:
        raise Unreadable(f"could not be read within {seconds:g} s") from None
    except (TooMuchOutput, OSError):
        raise Unreadable("could not be read") from None
    try:
        told = json.loads(heard)
        text, lines, problem = told["text"], told["lines"], told["problem"]
        kind_of_problem = Unreadable if told["document"] else NoDocument
    except (ValueError, KeyError, TypeError):
        # It was ended for want of memory or time, or by what it read.
        why = "takes too much time" if ended.code in (-24, 152) else "is damaged, or takes too much"
        raise Unreadable(f"{why} to be read") from None
    if problem:
        raise kind_of_problem(str(problem))
    return Read(str(text), tuple(str(each) for each in lines))
