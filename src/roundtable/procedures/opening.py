"""What every procedure is opened with, and what it makes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.control_codes import stray
from ..core.errors import BadSetting, BadTopic
from ..core.events import NoteAdded, TaskLinked
from ..core.naming import line
from ..core.values import Budget, Material, NewsPlan, Options, Pace, Participant
from ..ports import ChosenExperts

MAX_TOPIC = 100_000
"""Characters. Longer material belongs into the context, which is condensed where it must be."""
MAX_CONTEXT = 2_000_000
LARGEST_LIMIT = 10**12
_LANGUAGE = re.compile(r"[^\W\d_]+(?:[ \-][^\W\d_]+){0,3}")


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A topic put to a table."""

    topic: str
    procedure: str = "council"
    context: tuple[Material, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    language: str | None = None
    budget: Budget = field(default_factory=Budget)
    limits_from: Mapping[str, str] = field(default_factory=dict)
    """Where each limit comes from, in words."""
    created_by: str = ""
    account: str = ""
    """Whose it is where users wait for each other; empty: the owner's."""
    priority: int = 0
    """What is taken before others: -1, 0 or 1."""
    search: bool = True
    files: bool = True
    """Whether it leaves files in the workspace."""
    pace: Pace | None = None
    """What the asker says of the time that speakers may take, and of their effort."""
    follows: str = ""
    """The discussion that it goes on from: its id, the beginning of it, or `last`."""
    same_table: bool = False
    """Whether the table that it follows is set once more, in place of one by these options."""
    words: Mapping[str, str] | None = None
    """Where nobody named the procedure: the words of the options that chose it, each as the asker
    writes it. The procedure of a discussion that is followed goes before that choice."""
    here: bool = False
    """Whether what it follows may go to another server than it was held on."""
    context_from: tuple[str, ...] = ()
    """Further discussions whose record is to be in hand."""
    from_files: bool = False
    """Whether results of others stand in its context, taken from files of the workspace."""
    notes: tuple[NoteAdded, ...] = ()
    """What the reader should know of the request itself."""
    news: NewsPlan | None = None
    """Who is told of it. None: nobody, and the reader is told so."""
    task: TaskLinked | None = None
    chosen_experts: ChosenExperts | None = None
    """The experts that were chosen for it, for procedures that wish for some."""
    host_model: str = ""
    """The model that the asker named for the host; empty where none was named."""
    kept_host: str = ""
    """The host's model at the table that it follows, if that is to lead again."""
    host_casts: bool = False
    """Whether the host may cast the table and say what is missing, in a call of its own, where
    nobody named the experts."""
    clarify: bool = False
    """Whether somebody is there to answer what the host asks; else it says what it assumes."""


@dataclass(frozen=True, slots=True)
class Seating:
    """Who sits where, what the procedure must remember, and what the reader should know."""

    participants: tuple[Participant, ...]
    host: Participant
    options: Options
    language: str = "auto"
    notes: tuple[NoteAdded, ...] = ()


def checked_topic(topic: str) -> str:
    """The topic as it will be stored, or BadTopic with what to do instead."""
    _refuse_binary(topic, "The question")
    text = topic.strip()
    if not any(map(str.isalnum, text)):  # signs alone ask nothing, and would be paid for
        raise BadTopic("The question is empty.", 'Ask one: roundtable "Should we …?"')
    if len(text) > MAX_TOPIC:
        raise BadTopic(
            f"The question has {len(text):,} characters; at most {MAX_TOPIC:,} fit.",
            "Ask the question itself, and give the material with --context FILE.",
        )
    return text


def checked_context(material: Material) -> Material:
    """The material as it will be stored, or BadTopic."""
    _refuse_binary(material.text, material.source)
    if len(material.text) > MAX_CONTEXT:
        raise BadTopic(
            f"{material.source} has {len(material.text):,} characters; {MAX_CONTEXT:,} fit.",
            "Give an excerpt of it.",
        )
    if material.source.isprintable():
        return material
    # It stands in prompts, notes and lists, where it has one line and hides nothing.
    return material.model_copy(update={"source": line(material.source) or "document"})


def checked_budget(
    budget: Budget, *, where: str = "budget", called: Mapping[str, str] | None = None
) -> Budget:
    """The limits as they will be stored. BadSetting for one that no number of ours could reach,
    which names it as it is `called` where it was given: whoever wants no limit leaves it out."""
    for name, limit in budget:
        if limit is not None and not limit <= LARGEST_LIMIT:
            expected = f"a number up to {LARGEST_LIMIT:,}; without a limit, leave it out"
            raise BadSetting(where, (called or {}).get(name, name), expected)
    return budget


def checked_amount(usd: float, named: str) -> float:
    """US dollars as they will be stored. BadSetting for what is none, or that nothing of ours could
    reach."""
    if not 0 <= usd <= LARGEST_LIMIT:
        raise BadSetting(named, "its value", f"an amount of US dollars up to {LARGEST_LIMIT:,}")
    return usd


def checked_language(language: str) -> str:
    """A language by its code or name. It stands among the instructions, so it may be no more."""
    if _LANGUAGE.fullmatch(language.strip()):
        return language.strip()
    raise BadSetting("language", "its value", "a language, such as en, German or 中文")


_UNDECODED = ("U+DC8", "U+DC9", "U+DCA", "U+DCB", "U+DCC", "U+DCD", "U+DCE", "U+DCF")
"""Bytes that the terminal's encoding has no letters for."""
_OTHER_LOCALE = (
    "The locale of this terminal may know no such letters: set LC_ALL=C.UTF-8 or PYTHONUTF8=1. "
    "A file that is not UTF-8 text has to be converted first."
)


def _refuse_binary(text: str, what: str) -> None:
    """Control characters and broken UTF-8 are signs of a file that is not text."""
    if found := stray(text):
        raise BadTopic(
            f"{what} contains a character that is not text ({found}).",
            _OTHER_LOCALE
            if found.startswith(_UNDECODED)
            else "Take it out; a file that is not UTF-8 text has to be converted first.",
        )
