"""A deliverable: a text, a program or a plan that a speech brings whole, to be kept as it is.

It stands in a block of its own within the speech::

    ~~~~~~~~deliverable NAME
    its lines, as they are to stand in the file
    ~~~~~~~~

Whoever takes up earlier work says so behind the name: `NAME revises w1`, or `revises w1, w2`, with
commas, blanks or "and" between the ids. Between the two lines nothing is read, mended or cut:
blocks of code, headings and declarations in there are part of the work. A line of as many marks as
it began with, or more, ends it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from .pattern import pattern
from .text import WINDOWS_DEVICES
from .values import Value

LABEL = "deliverable"
MARKS = 8
"""Tildes around a deliverable, unless it holds a line of as many itself."""
MAX_BYTES = 4_000_000
"""Of one deliverable. A larger one stays in the answer that brought it."""
MAX_DELIVERABLES = 20
"""In one speech."""
LEFT_OUT = "[deliverable left out]"
CUT = "[deliverable not ended]"
"""What a speech is flagged with."""
MAX_NAME, MAX_NAME_BYTES = 80, 180
UNNAMED, EXAMPLE = "deliverable.txt", "NAME.EXT"

_HEAD = pattern(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*deliverable\b(?P<named>[^\n]*)$", re.IGNORECASE)
_REVISES = pattern(r"[ \t:]+\(?revises\b[ \t:]*", re.IGNORECASE)
_IDS = pattern(r"w\d{1,4}\b(?:(?:[ \t,;&+]|and\b)*w\d{1,4}\b)*", re.IGNORECASE)
_END = pattern(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t\r]*$")
_DECLARES = pattern(r"^ {0,3}(?:`{3,}|~{3,})[ \t]*declaration[ \t\r]*$", re.IGNORECASE)
_ID = pattern(r"w\d{1,4}", re.IGNORECASE)


class Deliverable(Value):
    """One work as a speech brought it."""

    name: str
    """The name of its file: never a path."""
    text: str = ""
    revises: tuple[str, ...] = ()
    """The versions that it takes the place of, as its author says."""
    whole: bool = True
    """Whether its end is there. What was cut off takes no other version's place."""
    left_out: int = 0
    """Its bytes, where it is too large to be kept; then it has no text."""

    @property
    def size(self) -> int:
        return self.left_out or len(self.text.encode("utf-8", "surrogatepass"))

    @property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))


def split_deliverables(text: str) -> tuple[str, tuple[Deliverable, ...]]:
    """The words of a speech with a line for each deliverable in its place, and the deliverables."""
    if LABEL not in text.casefold():
        return text, ()
    lines = text.split("\n")
    words: list[str] = []
    found: list[Deliverable] = []
    number = 0
    while number < len(lines):
        head = _HEAD.match(lines[number]) if len(lines[number]) < 1_000 else None
        if head is None:
            words.append(lines[number])
            number += 1
            continue
        end, whole = _end(lines, number + 1, head["mark"])
        body = lines[number + 1 : end]
        # A file's lines end with a line's end, the last one too.
        work = _kept(head, "\n".join([*body, ""]) if body else "", whole, len(found))
        found.append(work)
        words.append(_place(work))
        number = end + 1 if whole else end
    return "\n".join(words), tuple(found)


def _end(lines: list[str], start: int, mark: str) -> tuple[int, bool]:
    """The line that ends a deliverable. Where it was forgotten, a declaration at the end of the
    speech is not part of the work."""
    for number in range(start, len(lines)):
        end = _END.match(lines[number])
        if end is not None and end["mark"].startswith(mark):
            return number, True
    declares = [n for n in range(start, len(lines)) if _DECLARES.match(lines[n])]
    return (declares[-1] if declares else len(lines)), False


def _kept(head: re.Match[str], text: str, whole: bool, before: int) -> Deliverable:
    # What stands behind the word is never part of the name, whether or not it can be read.
    told, *behind = _REVISES.split(head["named"], maxsplit=1)
    listed = _IDS.match(behind[0]) if behind else None
    ids = _ID.findall(listed[0]) if listed else []
    revises = tuple(dict.fromkeys(each.casefold() for each in ids))
    # Whoever leaves the example's name as it is has named nothing.
    name = told.lstrip(" \t:").rstrip()
    name = "" if name == EXAMPLE else name
    work = Deliverable(name=safe_name(name), text=text, revises=revises, whole=whole)
    if work.size <= MAX_BYTES and before < MAX_DELIVERABLES:
        return work
    return work.model_copy(update={"text": "", "left_out": work.size or 1})


def _place(work: Deliverable) -> str:
    """What stands in the speech where the work stood."""
    if work.left_out:
        return f"[deliverable {work.name}: {work.left_out:,} bytes, too large to be kept]"
    return f"[deliverable {work.name}{'' if work.whole else ', its end is missing'}]"


def flags_of(works: Iterable[Deliverable]) -> tuple[str, ...]:
    """What a speech with these is flagged with."""
    found = [LEFT_OUT if work.left_out else "" if work.whole else CUT for work in works]
    return tuple(dict.fromkeys(flag for flag in found if flag))


def block(name: str, text: str, revises: Iterable[str] = ()) -> str:
    """A deliverable as it stands in a speech, between marks that do not occur in it."""
    inside = [len(m["mark"]) for line in text.split("\n") if (m := _END.match(line))]
    marks = "~" * max(MARKS, *(length + 1 for length in inside), MARKS)
    ids = ", ".join(revises)
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{marks}{LABEL} {name}{f' revises {ids}' if ids else ''}\n{ended}{marks}"


# --- names ---------------------------------------------------------------------------------------

_FORBIDDEN = pattern(r'[<>:"|?*`\[\]{}$%!\\^]+')
_BLANKS = pattern(r"\s+")


def safe_name(given: str, default: str = UNNAMED) -> str:
    """A file's name that a model chose, fit for every platform: no path, nothing hidden, no
    device, nothing that cannot be seen. Letters of all scripts stay."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given).strip().rstrip("/\\"))[-1]
    seen = "".join(char for char in last if unicodedata.category(char)[0] not in "C")
    name = _BLANKS.sub(" ", _FORBIDDEN.sub("-", seen)).strip(" .-~")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem or len(ending) > 12:
        stem, dot, ending = name, "", ""
    if stem.casefold() in WINDOWS_DEVICES or stem.split(".")[0].casefold() in WINDOWS_DEVICES:
        stem = f"file-{stem}"
    room = MAX_NAME_BYTES - len(f"{dot}{ending}".encode())
    stem = stem[:MAX_NAME]
    while len(stem.encode("utf-8", "replace")) > room:
        stem = stem[:-1]
    stem = stem.strip(" .-")
    return f"{stem}{dot}{ending}" if any(map(str.isalnum, stem)) else default


# --- where work is asked for ---------------------------------------------------------------------

_WORKS = (
    r"(?:code|functions?|class|scripts?|programs?|modules?|library|app|parser|api|schema|tests?|query"
    r"|sql|config\w*|files?|page|readme|documents?|documentation|docs|texts?|letters?|e-?mails?|mail"
    r"|articles?|essays?|posts?|speech|memos?|reports?|briefs?|proposals?|polic(?:y|ies)|contracts?"
    r"|papers?|stor(?:y|ies)|poems?|abstract|summar(?:y|ies)|press\s+releases?|plans?|roadmaps?"
    r"|schedules?|agendas?|checklists?|itinerar(?:y|ies)|curriculum|syllabus|budgets?|strateg(?:y|ies)"
    r"|runbooks?|templates?|specs?|specifications?|rfc|adr|architecture|designs?|diagrams?"
    r"|prototypes?|services?|servers?|clients?|tools?|websites?|jobs?|presentations?|slides|manuals?"
    r"|guides?|tutorials?|statements?|announcements?|faqs?|manifestos?|notices?"
    r"|scrapers?|bots?|dashboards?|models?)"
)
_WRITES = r"(?:(?:re)?write|draft|compose|formulate|translate|implement|refactor|polish|proofread)"
"""What is ordered with these is a work, whatever it is called."""
_VERBS = (
    r"(?:code|program|build|create|produce|prepare|generate|develop|design|sketch|outline|plan|make"
    r"|improve|edit|revise|shorten)"
)
# An order, not "should we build": the verb begins a sentence, or somebody is asked to.
_ORDER = r"(?:^|[.!?:;\n]\s*|\b(?:please|you|kindly|help\s+(?:me|us)(?:\s+to)?)\s+)"
_WISH = r"\b(?:(?:i|we)\s+(?:need|want)|give\s+(?:me|us)|provide|deliver)\b"
_ASKS = pattern(
    rf"{_ORDER}{_WRITES}\b|{_ORDER}{_VERBS}\b.{{0,80}}?\b{_WORKS}\b|{_WISH}.{{0,40}}?\b{_WORKS}\b"
    r"|\b(?:schreib(?:e|t|en)?|entwirf|entwerft|verfass\w*|erstell\w*|implementier\w*"
    r"|programmier\w*|formulier\w*)\b"
    r"|\b(?:escrib[ea]\w*|redact[ae]\w*|implement[ae]\b|elabor[ae]\w*)"
    r"|\b(?:écri[sv]\w*|rédige\w*|implémente\w*|élabore\w*)"
    r"|\b(?:напиши|составь|разработай)\w*"
    r"|写一|写个|写出|帮我写|請寫|编写|編寫|起草|撰写|撰寫|拟定|擬定|制定|書いて|作成して|작성해",
    re.IGNORECASE,
)


def asks_for_work(question: str) -> bool:
    """Whether a question asks for a work and not only for an answer. It decides only whether the
    form of a deliverable is offered."""
    return _ASKS.search(question[:20_000]) is not None
