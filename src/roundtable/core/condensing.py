"""Condensing: what experts are shown of documents that do not fit their windows.

The rule. All documents together have the room that every prompt of the discussion leaves beside the
rest of what it holds (`rehearsal.room`), in the smallest window at the table. Whatever is short
stays whole; what is left of the room is shared evenly among the others, of each of which the
passages are shown that share most words with the question, or, where it shares hardly any, passages
from all parts (`excerpt`). Where there are so many that
each would have a few words only, those that have least to do with it are left out. The ledger keeps
all of it whole. Deterministic, without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .effects import Untrusted
from .events import NoteAdded
from .excerpt import excerpt, is_spread, rarity, stems, telling_words
from .text import clip
from .values import Material, Options, Participant, SpeakerRef

CODE, SPREAD = "condensed", "condensed_spread"
"""What a note says of it: all passages were chosen by the question's words, or not all."""
ROOM = "material_tokens"
"""The option under which a discussion keeps how much of its documents is shown, if not all."""
RULE, PRESENT = "material_rule", 4
"""The option under which it keeps by which rule that is chosen, and the number of the present one:
it grows with whatever changes what is shown. Prompts of another rule cannot be rendered again."""
LEAST = 120
"""Tokens: who would have less of a longer document is not shown it at all."""
LEFT_OUT = "documents that do not fit"
_FENCE = 35
"""Tokens around a document that tell where it begins and ends."""
_NAMED = 240
"""Characters in which documents that were left out are named."""
_LISTED = 8
_OWN_WORDS = "Ask in the documents' own words. "


@dataclass(frozen=True, slots=True)
class Cut:
    """A text of which not everything is shown."""

    name: str
    whole: int
    """Characters."""
    shown: int
    spread: bool = False
    """Whether what is shown comes from all parts, because the question shares too few words."""

    def __str__(self) -> str:
        return f"{self.name} {self.shown:,} of {self.whole:,} characters"


@dataclass(frozen=True, slots=True)
class Condensed:
    """Documents as prompts show them, and which of them are not whole."""

    shown: tuple[Untrusted, ...]
    cuts: tuple[Cut, ...] = ()


def tokens_of(text: str) -> int:
    """How many tokens a text has in a prompt at most, by the caution of `estimate_tokens`: whatever
    else stands there may be written in other letters, and then every byte counts alike."""
    return len(text.encode("utf-8", "surrogatepass")) // 3 + 1


def room_taken(context: Iterable[Material]) -> int:
    """The tokens that these documents have in a prompt."""
    return sum(map(_needs, context))


def by_present_rule(options: Options) -> bool:
    """Whether the documents of a discussion with these options are shown as they were then."""
    return ROOM not in options or options.get(RULE) == PRESENT


def whole(context: Iterable[Material]) -> tuple[Untrusted, ...]:
    """The documents of which everything is shown."""
    return tuple(_document(each, each.text) for each in context)


@lru_cache(maxsize=16)
def condensed(context: tuple[Material, ...], question: str, room: int) -> Condensed:
    """The documents within so many tokens."""
    needs = [_needs(each) for each in context]
    if sum(needs) <= room:
        return Condensed(whole(context))
    kept = _worth_showing(context, needs, question, room)
    missing = [each for at, each in enumerate(context) if at not in kept]
    if missing:
        room -= _needs(_named(missing))
    shares = dict(zip(kept, _shares([needs[at] for at in kept], room), strict=True))
    shown: list[Untrusted] = []
    cuts: list[Cut] = []
    for at, each in enumerate(context):
        text = ""
        if at in shares:
            fits = needs[at] <= shares[at]
            within = shares[at] - _around(each)
            text = each.text if fits else _excerpt(each.text, question, within)
            shown.append(_document(each, text))
        if len(text) < len(each.text):
            spread = bool(text) and is_spread(each.text, question)
            cuts.append(Cut(each.source, len(each.text), len(text), spread))
    if missing:
        shown += whole([_named(missing)])
    return Condensed(tuple(shown), tuple(cuts))


def condensed_note(cuts: Sequence[Cut], seats: Iterable[Participant]) -> NoteAdded:
    """What is said of it."""
    smallest = smallest_window(seats)
    spread = [cut for cut in cuts if cut.spread]
    how = "passages that share most words with the question"
    if spread:
        whose = "these documents"
        if len(spread) < len(cuts):
            names = clip(", ".join(dict.fromkeys(cut.name for cut in spread)), _NAMED)
            whose, how = "those", f"{how}, and of {names} passages from all parts"
        else:
            how = "passages from all parts"
        how += f", for the question shares hardly a word with {whose}"
    return NoteAdded(
        code=SPREAD if spread else CODE,
        text="Not everything fits the smallest window at the table "
        f"({smallest.context_window:,} tokens, {smallest.model}) beside the discussion itself. The "
        f"experts are shown the beginning and {how}: "
        f"{listed(cuts)}. The whole text is kept, and quotations are checked against it.",
        remedy=f"{_OWN_WORDS if spread else ''}Give fewer or shorter documents, or only models "
        "with larger windows.",
    )


def listed(cuts: Sequence[Cut]) -> str:
    """How much of each name is shown; of many those that lost most."""
    by_name: dict[str, Cut] = {}
    for cut in cuts:
        known = by_name.get(cut.name, Cut(cut.name, 0, 0))
        by_name[cut.name] = Cut(cut.name, known.whole + cut.whole, known.shown + cut.shown)
    found = list(by_name.values())
    most = sorted(found, key=lambda cut: cut.shown - cut.whole)[:_LISTED]
    told = "; ".join(str(cut) for cut in found if cut in most)
    more = len(found) - len(most)
    return f"{told}; and not all of {more} more" if more else told


def smallest_window(seats: Iterable[Participant]) -> SpeakerRef:
    """Of those that are to speak: who only stands in is told less, if it comes to that."""
    refs = [ref for seat in seats for ref in seat.speakers if not ref.spare]
    return min(refs, key=lambda ref: ref.context_window)


def _document(material: Material, text: str) -> Untrusted:
    cut = len(text) < len(material.text)
    return Untrusted("context", text, material.source, whole=material.text if cut else "")


def _around(material: Material) -> int:
    return _FENCE + tokens_of(material.source)


def _needs(material: Material) -> int:
    return _around(material) + tokens_of(material.text)


def _excerpt(text: str, question: str, tokens: int) -> str:
    """As much of a text as has so many tokens, though its passages may have more than its average
    of them."""
    limit = len(text) * tokens // tokens_of(text)
    while tokens_of(found := excerpt(text, question, limit)) > tokens and limit > 0:
        limit = limit * 9 // 10
    return found


def _worth_showing(
    context: Sequence[Material], needs: Sequence[int], question: str, room: int
) -> list[int]:
    """Where the documents that are shown stand: all of them, unless too little of each would be
    left; then those that have most to do with the question."""
    wanted = [min(need, LEAST + _around(m)) for need, m in zip(needs, context, strict=True)]
    if sum(wanted) <= room:
        return list(range(len(context)))
    asked = telling_words(question)
    found = [asked & stems(f"{each.source}\n{each.text}") for each in context]
    weight = rarity(found)
    scores = [sum(weight.get(word, 0.0) for word in words) for words in found]
    left = room - _around(Material(source=LEFT_OUT, text="")) - _NAMED // 3
    kept: list[int] = []
    for at in sorted(range(len(context)), key=lambda at: (-scores[at], at)):
        if wanted[at] <= left or not kept:
            kept.append(at)
            left -= wanted[at]
    return sorted(kept)


def _named(missing: Sequence[Material]) -> Material:
    """What the experts are told of documents that they are not shown."""
    names = clip("; ".join(each.source for each in missing), _NAMED - 60)
    told = f"[... {len(missing):,} documents left out, for want of room: {names} ...]"
    return Material(source=LEFT_OUT, text=told)


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much each may have: the small ones all that they want, the others the same."""
    shares = [0] * len(sizes)
    left = room
    order = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for place, at in enumerate(order):
        shares[at] = min(sizes[at], left // (len(sizes) - place))
        left -= shares[at]
    return shares
