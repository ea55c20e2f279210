"""Chosen experts: of the library, and such of whom only a name is known, as seats need them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ..core.errors import UsageError
from ..core.text import as_sentence, clip, slug
from ..ports import ChosenExpert
from .expert import Expert

DESCRIBES = ": "
_MARKUP = re.compile(r"[<>`*\[\]{}|\\]")
LONGEST_SENTENCE = 300
"""Characters of the sentence by which somebody describes an expert of their own."""
ASKED_FOR = "asked for"
DESCRIBED = "described by whoever asks"
"""Why somebody sits here of whom whoever asks wrote a sentence."""
UNKNOWN = "asked for by name, which nobody in the library has"
"""Why somebody sits here of whom nothing but the name is known."""

OF_A_MODEL = f"{UNKNOWN}: it looks like a model's"
"""The same where a model is called so, or might be."""
_NEAREST = "asked for by name; nearest in the library: "
_VERSIONED = re.compile(
    r"[a-z][\w.-]*:[a-z0-9][\w.-]*"
    r"|[a-z]+(?:-[a-z]+)*(?:\d+(?:\.\d+)?[a-z]?|-\d+(?:\.\d+)?[a-z]?(?:-[a-z0-9.]+)*)",
    re.I,
)
"""How names of models look: `name:tag`, or letters and then a number."""


def nearest(expert: Expert) -> str:
    """Why somebody sits here who has the guidance of another expert."""
    return f"{_NEAREST}{expert.name}"


def nearest_of(persona: ChosenExpert) -> str:
    """The name of the expert whose guidance it has; empty: it has its own."""
    return persona.reason.removeprefix(_NEAREST) if persona.reason.startswith(_NEAREST) else ""


def like_a_model(name: str) -> bool:
    """Whether a name looks like a model's: `qwen3:8b`, `claude-opus-5`, `gpt-5`."""
    return _VERSIONED.fullmatch(name.strip()) is not None


def is_described(named: str) -> bool:
    """Whether it is a name with a sentence after a colon and a blank: a colon alone may belong to
    the name."""
    return all(part.strip() for part in named.partition(DESCRIBES))


_PART = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"\s*|(?P<bare>[^,，、;；]*))(?P<end>[,，、;；]|$)')


def listed_experts(text: str, is_known: Callable[[str], bool]) -> tuple[str, ...]:
    """The experts of a list in one text, some with a sentence of their own. A sentence has commas:
    what follows one belongs to it, unless it is an expert whom `is_known` knows, has a sentence
    itself, or stands in quotation marks. So nobody is seated whom nobody named."""
    found: list[str] = []
    in_sentence, comma = False, ""
    for part in _PART.finditer(text):
        said = " ".join((part["quoted"] or part["bare"] or "").split())
        if not said:
            continue
        own = part["quoted"] is not None or is_described(said) or is_known(said)
        if in_sentence and not own:
            blank = " " if text[part.start()].isspace() else ""
            found[-1] += f"{comma}{blank}{said}"
        else:
            found.append(said)
            in_sentence = part["quoted"] is None and is_described(said)
        comma = part["end"]
    return tuple(found)


def bare_name(named: str) -> str:
    """The name alone, without a colon that nothing follows. UsageError if there is none, or if it
    holds marks of which a page or a prompt makes something."""
    before = named.partition(DESCRIBES)[0] if is_described(named) else named.strip().rstrip(":：")
    name = before.strip()
    if not name:
        raise UsageError(f"{named!r} names no expert.", "Write a name, or `Name: a sentence`.")
    if _MARKUP.search(name):
        raise UsageError(
            f"{clip(name, 60)!r} cannot be the name of an expert: it holds markup.",
            "Write the name without any of < > ` * [ ] { } | \\.",
        )
    return name


def chosen_expert(expert: Expert, reason: str = "") -> ChosenExpert:
    """An expert of the library at a table."""
    return ChosenExpert(
        id=expert.id,
        name=expert.name,
        domain=expert.domain,
        perspective=expert.perspective,
        asks=expert.asks,
        blind_spot=expert.blind_spot,
        guidance=expert.guidance,
        needs=expert.needs,
        reason=reason,
    )


def named_expert(named: str) -> ChosenExpert:
    """An expert of whom only the name is known, or a name and a sentence after a colon and a blank:
    `Beekeeper: asks what it does to the bees`."""
    if is_described(named):
        name, sentence = bare_name(named), named.partition(DESCRIBES)[2].strip()
        return ChosenExpert(
            id=slug(name, default="expert"),
            name=name,
            perspective=as_sentence(clip(" ".join(sentence.split()), LONGEST_SENTENCE)),
            guidance=f"Argue as {name}, from the working practice of whoever that is.",
            reason=DESCRIBED,
        )
    name = bare_name(named)
    return ChosenExpert(
        id=slug(name, default="expert"),
        name=name,
        perspective=f"what matters to the role “{name}”",
        asks=(f"What would the role “{name}” notice first that the others miss?",),
        guidance=f"Argue from the working practice of the role “{name}”: its methods, its "
        "measures, its usual failures.",
        reason="asked for by name",
    )


def unknown_expert(named: str) -> ChosenExpert:
    """The same of somebody who was looked for in the library, and is not there."""
    return _because(named_expert(named), UNKNOWN)


def named_like_a_model(named: str) -> ChosenExpert:
    """The same of somebody who has the name of a model."""
    return _because(named_expert(named), OF_A_MODEL)


def _because(found: ChosenExpert, why: str) -> ChosenExpert:
    return found if found.reason == DESCRIBED else replace(found, reason=why)
