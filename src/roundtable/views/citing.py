"""Citing: a speech with the words in it that are meant, and a text without the marks that cite.

One place says which sentence of a speech stands for it, and whether quoted words are really there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..core.attribution import Citations
from ..core.events import SpeechGiven
from ..core.naming import TURN, ByTurn, line, name_of, names_of, turn_names
from ..core.quotation_marks import passages
from ..core.quotations import Evidence, Quoted, Source, is_quotation
from ..core.quotes import Sources
from ..core.record import record_of
from ..core.state import State
from ..core.text import clip_words, sentences
from ..core.verdict_check import MARKS, NOT_FOUND, TRANSLATION
from ..core.verdict_sources import sources_of
from ..core.wording import worded
from .decision_parts import Check, Cite, short_name
from .emphasis import without_emphasis
from .report_parts import anchor, clean
from .safe_markdown import Labels, Surroundings

LONGEST_QUOTATION = 240
SHORTEST_SENTENCE = 12
ENOUGH = 2
"""Words that a sentence must share with what it is cited for; with fewer, its speaker's declared
position says more."""
_PROTOCOL = re.compile(
    r"^(?:[\[(]?[pco]\d{1,3}[\])]?\s*[:：]|(?:AGREE|DISAGREE|PARTLY|UNSURE)\b|[A-Z_]{4,}:)"
)
"""Lines of earlier versions in which stances were written down: nobody's sentences."""
_BESIDE = re.compile(r"[ \t]*[\[(（【［][ \t;,，；、]*[\])）】］]")
_BEFORE_STOP = re.compile(r"[ \t]+([.,;!?。，；：！？]|:(?![ \t]*\d))")
"""Not before the colon of a vote: 2 : 1."""
_OUR_MARKS = re.compile("|".join(rf"\s*{re.escape(mark)}" for mark in MARKS))
_POINT = re.compile(
    r"[ \t]*[\[(（【［]([pc]\d{1,3}(?:[ \t]*[,;，；、][ \t]*[pc]\d{1,3})*)[\])）】］]"
)
_HEADING = re.compile(r"^#{1,6}\s.*$", re.MULTILINE)
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?!-\s+[$€£¥₹.,]?\d)[-*•]\s+")
_IDS = re.compile(r"(?<![\w/.\-\[“])(?:[Oo]ption )?([opcd]\d{1,3})(?![\w/\-\]”])")


@dataclass(frozen=True, slots=True)
class Cited:
    """A text without its marks, and what they cite."""

    text: str
    cites: tuple[Cite, ...]
    points: tuple[str, ...]
    """The ids of the points that it names."""


def links_of(state: State) -> Mapping[str, str]:
    """Whatever a text may point at, turns and points, with the id of its place in a page."""
    points = {point.id: anchor("point", point.id) for point in record_of(state).points}
    return ByTurn(state.turns, partial(anchor, "turn"), points)


def words_of(state: State) -> dict[str, str]:
    """What was said in each turn, as it may be shown."""
    outside = [speech for speech in state.speeches if speech.round <= 0]
    beside = iter(state.said.grown.of("words outside of rounds", outside, _cleaned))
    within = iter(_in_rounds(state))
    return {s.turn_id: next(within if s.round > 0 else beside) for s in state.speeches}


def said_in(state: State) -> dict[str, str]:
    """The words in which a quotation must be found. Whoever writes a verdict speaks outside the
    rounds: its own words would verify themselves."""
    host, said = state.start.host.id, state.said.in_rounds
    words = _in_rounds(state)
    return {s.turn_id: t for s, t in zip(said, words, strict=True) if s.participant != host}


def _in_rounds(state: State) -> Sequence[str]:
    return state.said.grown.of("words in rounds", state.said.in_rounds, _cleaned)


def _cleaned(_: str | None, __: int, speech: SpeechGiven) -> str:
    return clean(speech.text)


def labels_of(state: State) -> Labels:
    """What people call the turns of the rounds."""
    return state.derived("labels", lambda s: Labels.of(turn_names(s), s.round_turns))


def surroundings_of(state: State) -> Surroundings:
    """What a text of this discussion may refer to, its quotations verified."""
    return state.derived(
        "surroundings",
        lambda s: Surroundings(links_of(s), Sources(said_in(s)), labels=labels_of(s)),
    )


def best_sentence(state: State, turn: str, about: str, *, enough: int = 0) -> str:
    """The sentence of a speech that has most in common with what is said of it; empty if none has
    `enough` words of it."""
    speech = state.speech(turn) if turn else None
    if speech is None:
        return ""
    wanted = set(_telling(about))
    named = set(words_by_id(state))
    shared = {
        each: len(wanted & set(_telling(each)))
        for each in _quotable(speech.text)
        if not named & set(_IDS.findall(each))
    }
    for best in sorted(shared, key=lambda each: -shared[each]):
        if shared[best] < enough:
            break
        # Nobody stands for what it only quotes.
        if checked(state, turn, best) != "second hand":
            return line(best)
    return ""


def _quotable(text: str) -> Iterable[str]:
    for part in clean(text).splitlines():
        part = without_emphasis(part)
        if part.lstrip().startswith(("#", "|", ">", "```", "{", "}")):
            continue
        for each in sentences(part):
            if SHORTEST_SENTENCE <= len(each) <= LONGEST_QUOTATION and not _PROTOCOL.match(each):
                yield each


def _telling(text: str) -> list[str]:
    """Words that tell one sentence from another: short ones stand in all of them."""
    return [key for key in worded(text).keys if len(key) > 3 or not key.isascii() or key.isdigit()]


def cite(
    state: State, turn: str, about: str = "", words: str = "", *, strict: bool = False
) -> Cite | None:
    """A speech of the table, cited for something: with the words that were quoted from it, or the
    sentence in it that says it best; if `strict`, only one that has a third of its words. None if
    there is no such speech."""
    speech = state.speech(turn)
    if speech is None or speech.participant == state.start.host.id:
        return None
    if strict:
        wanted = max(ENOUGH, -(-len(set(_telling(about))) // 3))
        found = best_sentence(state, turn, about, enough=wanted)
    else:
        found = words or _stands_for(state, turn, about)
    name = name_of(state, speech.participant)
    short = short_name(name, frozenset(names_of(state).values()))
    return Cite(
        turn_id=turn,
        participant=speech.participant,
        name=name,
        label=f"{short}, round {speech.round}" if speech.round else short,
        short=short,
        round=speech.round,
        words=line(found),
        check=checked(state, turn, found) if found else "",
        anchor=anchor("turn", turn),
    )


def _stands_for(state: State, turn: str, about: str) -> str:
    if found := best_sentence(state, turn, about, enough=ENOUGH):
        return found
    speech = state.speech(turn)
    declared = speech.declaration.position if speech and speech.declaration else ""
    return clip_words(line(declared), LONGEST_QUOTATION) or best_sentence(state, turn, about)


def checked(state: State, turn: str, words: str) -> Check:
    """How the words stand in a speech and its declaration. What the speaker only quotes from
    somebody else is not its own."""
    evidence = _evidence(state, turn)
    if evidence is None:
        return "not found"
    quoted = Quoted.of(words)
    match evidence.fit(quoted):
        case "own":
            pass
        case "second_hand":
            return "second hand"
        case _:
            return "not found"
    return "shortened" if len(quoted.parts) > 1 or "…" in words else "word for word"


def _evidence(state: State, turn: str) -> Evidence | None:
    """What a turn said, made ready to be searched when it is first asked for: of hundreds of
    speeches a verdict cites a few."""
    known: dict[str, Evidence] = state.derived("evidence", lambda _: {})
    if turn not in known and (said := _said_by(state, turn)) is not None:
        text, speaker = said
        known[turn] = Evidence(Source(id=turn, text=clean(text), speaker=speaker))
    return known.get(turn)


def _said_by(state: State, turn: str) -> tuple[str, str] | None:
    """The words of a turn, and whose they are."""
    sources: dict[str, Source] = state.derived(
        "sources by turn", lambda s: {each.id: each for each in reversed(sources_of(s))}
    )
    if turn in sources:
        return sources[turn].text, sources[turn].speaker
    # Somebody who has no vote: its words are its speech.
    speech = state.speech(turn)
    return (speech.text, speech.participant) if speech is not None else None


def cited(state: State, text: str) -> Cited:
    """A text of the verdict's writer for people: what it cites is taken out of it and given beside
    it, and whatever else has an id is called by its words."""
    labels = surroundings_of(state).labels
    whole = clean(labels.cited(text) if labels else text)
    cites: dict[str, Cite] = {}
    begin, kept, end = 0, "", 0
    bare = _OUR_MARKS.sub("", TURN.sub("", whole))
    for each in Citations(sources_of(state)).within(whole):
        if each.id and (found := _cited_for(state, each.id, whole[begin : each.start], bare)):
            cites.setdefault(each.id, found)
        if each.id in state.turns or not each.id:
            kept += whole[end : each.start]
            end = each.end
        begin = each.end
    text, points = _without_points(state, kept + whole[end:])
    text = _BEFORE_STOP.sub(r"\1", _BESIDE.sub("", _OUR_MARKS.sub("", text)))
    return Cited(called(state, text).strip(), tuple(cites.values()), points)


def _cited_for(state: State, turn: str, before: str, about: str) -> Cite | None:
    """What a citation stands for: the quotation right before it, or all that the text says."""
    quoted = [p for p in passages(before) if p.closed and is_quotation(before[slice(*p.inner)])]
    if not quoted:
        return cite(state, turn, about)
    words = before[slice(*quoted[-1].inner)]
    behind = before[quoted[-1].end :]
    found = cite(state, turn, about, words)
    if found is None or found.check != "not found" or TRANSLATION not in behind:
        return found
    # The check of the verdict could not find it either, and knows why.
    return Cite(
        **{name: getattr(found, name) for name in Cite.__slots__ if name != "check"},
        check="not found" if NOT_FOUND in behind else "translated",
    )


def _without_points(state: State, text: str) -> tuple[str, tuple[str, ...]]:
    record = record_of(state)
    known = {point.id for point in record.points} | {each.id for each in record.conditions}
    found: list[str] = []

    def taken(match: re.Match[str]) -> str:
        ids = re.findall(r"[pc]\d+", match[1])
        if not all(each in known or _given_up(known, each) for each in ids):
            return match[0]
        found.extend(each for each in ids if each in known)
        return ""

    return _POINT.sub(taken, text), tuple(dict.fromkeys(found))


def _given_up(known: set[str], wanted: str) -> bool:
    """Whether an id is one of a point or condition that is no longer on the table."""
    numbers = [int(each[1:]) for each in known if each[0] == wanted[0] and each[1:].isdigit()]
    return bool(numbers) and int(wanted[1:]) <= max(numbers)


def words_by_id(state: State) -> dict[str, str]:
    """Options, points, conditions and decisions, by the ids that programs call them by."""
    return state.derived("words by id", _words_by_id)


def _words_by_id(state: State) -> dict[str, str]:
    record = record_of(state)
    words = {point.id: point.text for point in record.points}
    words.update((each.id, each.text) for each in record.conditions)
    for decision in record.decisions:
        words[decision.id] = decision.question
        words.update((option.id, option.text) for option in decision.options)
    return words


def called(state: State, text: str) -> str:
    """The text with options, points and conditions in their words in place of their ids."""
    words = words_by_id(state)
    for known, text_of in words.items():
        # “with p7: the very words of p7” says it twice.
        begins = re.escape(line(text_of)[:24])
        text = re.sub(rf"\s*\b{re.escape(known)}:\s+(?={begins})", ": ", text)

    def named(match: re.Match[str]) -> str:
        meant = line(words.get(match[1], "")).rstrip(" .。")
        return f"“{clip_words(meant, 80)}”" if meant else match[0]

    return _IDS.sub(named, text) if words else text


def in_words(state: State, text: str) -> str:
    """Somebody's declared words on one line, without the ids in them."""
    return line(called(state, _without_points(state, clean(text))[0]))


def plain(text: str) -> str:
    """Markdown of a few sentences as the words in it. What stands alone is no heading, and no first
    item of a list: “# of seats”, “1. FC Köln”."""
    if "\n" not in text.strip():
        return line(_BULLET.sub("", without_emphasis(text)))
    return line(_LIST_MARK.sub("", without_emphasis(_HEADING.sub("", text))))
