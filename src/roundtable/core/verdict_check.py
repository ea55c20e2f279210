"""The check of a verdict, one for every procedure: quotations, citations, required parts.

What fails is marked where it stands, so that no surface can show it unmarked. An invention that is
put into somebody's mouth is taken out; words that nobody is said to have spoken lose their
quotation marks; words that were said, but not by that one or not there, stay and are marked.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape

from .attribution import Ascribed, Attribution, Citation, Citations
from .contracts import parse_sections
from .pattern import pattern
from .quotation_marks import Passage, passages
from .quotations import Evidence, Fit, Quoted, Source, is_quotation
from .text import clip, count_words
from .values import Finding, FindingCode
from .wording import worded

NOT_FOUND = "[quotation not found]"
WRONG_SPEAKER = "[said by somebody else]"
WRONG_TURN = "[not in this turn]"
SECOND_HAND = "[not the speaker's own words]"
CUT = "[cut at a negation]"
TRANSLATION = "[translation, not verified]"
UNKNOWN_TURN = "[turn not found]"
MARKS = (NOT_FOUND, WRONG_SPEAKER, WRONG_TURN, SECOND_HAND, CUT, TRANSLATION, UNKNOWN_TURN)

MOST_QUOTATIONS = 500
"""Quotations of one text that are looked up. A verdict with more is none."""
TOLERANCE = 0.1
"""By which a text may pass the length that was asked for."""
_OUR_MARK = pattern("|".join(map(re.escape, MARKS)))
_OUR_MARK_LAST = pattern(rf"\s*(?:{'|'.join(map(re.escape, MARKS))})\s*\Z")
_DECEIVING = pattern("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Characters that nobody sees and that can change what is seen."""
_ENTITY = pattern(
    r"&(?:quot|[lrb]dquo|[lrs]squo|sbquo|apos|[lr]aquo|[lr]saquo|#\d{2,5}|#x[\da-fA-F]{2,4});"
)
_QUOTES = frozenset("“”„«»「」『』\"‘’‚'‹›")
_ASIDE = pattern(r"\[\s*(?:sic|translated|übersetzt|traducido|译)[^\]\n]{0,20}\]", re.IGNORECASE)
_TRANSLATED = pattern(
    r"\btranslat(?:ed|ion)\b|\bübersetz(?:t|ung)\b|\btradu(?:cid[oa]|cción|it|ction)\b|译|翻譯",
    re.IGNORECASE,
)
_DENIAL = pattern(
    r"\b(?:den(?:y|ies|ied)|reject(?:s|ed)?|doubt(?:s|ed)?|dispute[sd]?|oppose[sd]?|refuse[sd]?"
    r"|against|far from|instead of|rather than|bestreitet|gegen|statt|rechaza|niega|contra)\b"
    r"|反对|否认",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VerifiedQuotation:
    """A quotation that stands in a source, and where it stands in the checked text."""

    words: str
    source_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Checked:
    """A text after the check. `text` is what may be shown."""

    text: str
    findings: tuple[Finding, ...] = ()
    cites: tuple[str, ...] = ()
    """Turns and documents that it cites or quotes, in their order, without the host's."""
    quotations: tuple[VerifiedQuotation, ...] = ()
    missing: tuple[str, ...] = ()
    """Required parts that are not there, or empty."""

    @property
    def serious(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.serious)


def check_text(
    text: str, sources: Sequence[Source], *, own_speaker: str = "", required: Sequence[str] = ()
) -> Checked:
    """Check what a text quotes and cites, and mark what fails.

    `own_speaker` is whose words the text gives, such as a dissenter's: its own speeches prove
    nothing that it quotes, unless it cites them. `required` are headings that the text must have.
    """
    return _Check(undeceiving(text), sources, own_speaker).run(required)


def best_of(attempts: Sequence[Checked], *, words: int | None = None) -> int:
    """The position of the best attempt: some words at all, fewest serious findings, fewest missing
    parts, not longer than `words` with some tolerance; of equals the later one."""
    if not attempts:
        raise ValueError("there must be an attempt to choose from")

    def flaws(position: int) -> tuple[bool, int, int, bool, int]:
        attempt = attempts[position]
        length = count_words(attempt.text)
        long = words is not None and length > words * (1 + TOLERANCE)
        return length == 0, len(attempt.serious), len(attempt.missing), long, -position

    return min(range(len(attempts)), key=flaws)


class _Check:
    """One text under the check: edits are gathered and made at the end, so that places stay."""

    def __init__(self, text: str, sources: Sequence[Source], own_speaker: str) -> None:
        self._text, self._own = text, own_speaker
        self._by_id = {source.id: source for source in sources}
        self._proof = [Evidence(each) for each in sources if each.kind != "host"]
        self._host = [Evidence(each) for each in sources if each.kind == "host"]
        self._wording = worded(text)
        self._passages = passages(text)
        self._citations = Citations(sources).within(text)
        ours = [match.span() for match in _OUR_MARK.finditer(text)]
        self._attribution = Attribution(
            self._wording, sources, self._citations, self._passages, ours
        )
        self._findings: list[Finding] = []
        self._edits: list[tuple[int, int, str]] = []
        self._verified: list[tuple[Passage, str, str]] = []
        self._seen: dict[tuple[Quoted, bool], dict[str, Fit]] = {}
        self._taken: list[tuple[int, int]] = []
        self._count = 0

    def run(self, required: Sequence[str]) -> Checked:
        for passage in self._passages:
            self._check_passage(passage)
        self._check_citations()
        found = parse_sections(self._text, required) if required else {}
        missing = tuple(each for each in required if not found.get(each))
        for part in missing:
            self._find("missing_part", f"The part “{part}” is missing or empty.", part)
        text, place = self._edited()
        cites = dict.fromkeys(each for _, each in sorted(self._cited()))
        quotations = tuple(
            VerifiedQuotation(words, source, place(passage.start), place(passage.end - 1) + 1)
            for passage, words, source in self._verified
        )
        return Checked(text, tuple(self._findings), tuple(cites), quotations, missing)

    def _cited(self) -> Iterator[tuple[int, str]]:
        """What the text rests on, each with its place: whoever quotes a speech cites it."""
        for citation in self._citations:
            if citation.id and not self._is_hosts(citation.id):
                yield citation.start, citation.id
        for passage, _, source in self._verified:
            if self._by_id[source].kind != "question":
                yield passage.start, source

    def _check_passage(self, passage: Passage) -> None:
        words = self._words(passage)
        if not is_quotation(words):
            return
        found = self._look_up(passage, words)
        if found is None:
            self._overflowed(passage, words)
            return
        ascribed = self._attribution.of(passage)
        if (told := self._told_inside(passage)) is not None:
            said, source_told = told
            words, ascribed = self._words(said), ascribed.told_inside(source_told)
            if not is_quotation(words):
                return
            found = self._fits(passage, words)
        fits = self._without_own(found, ascribed)
        if passage.block and "own" not in fits.values():
            named = self._after_name(passage)
            if named is not None:
                self._check_passage(named)
                return
        source = self._proven(fits, ascribed)
        if source is not None:
            self._verified.append((passage, words, source))
            return
        if self._says_translated(passage, ascribed) and self._is_foreign(words, ascribed):
            self._mark(passage, ascribed, TRANSLATION)
            self._find("translation", "This is given as a translation; nobody compared it.", words)
            return
        self._refuse(passage, words, ascribed, fits)

    def _words(self, passage: Passage) -> str:
        """A passage without its marks, citations, asides and the marks of a block."""
        start, end = passage.inner
        pieces: list[str] = []
        for citation in self._inside(start, end):
            pieces.append(self._text[start : citation.start])
            start = citation.end
        pieces.append(self._text[start:end])
        return self._bare(passage, " ".join(pieces))

    def _bare(self, passage: Passage, words: str) -> str:
        words = _OUR_MARK.sub(" ", _ASIDE.sub(" ", words))
        words = re.sub(
            r"\[(\w)\](?=\w)", r"\1", words
        )  # “[T]he pool” changes nothing but a capital
        if passage.block:
            words = re.sub(r"(?m)^[ \t]*(?:>[ \t]?)+", "", words)
        return words.strip()

    def _inside(self, start: int, end: int) -> list[Citation]:
        first = bisect_left(self._citations, start, key=lambda each: each.start)
        last = bisect_left(self._citations, end, key=lambda each: each.start)
        return [each for each in self._citations[first:last] if each.end <= end]

    def _after_name(self, passage: Passage) -> Passage | None:
        """The words of a block that begins with who speaks: “> **Ann** (1/answer/ann): …”."""
        start, end = passage.inner
        colon = re.compile(r"[:：][*_]*\s").search(self._text, start, min(start + 100, end))
        if colon is None or "\n" in self._text[start : colon.start()]:
            return None
        at = colon.end()
        named = Passage(at, end, (at, end), block=False)
        return named if self._attribution.of(named).somebody else None

    def _told_inside(self, passage: Passage) -> tuple[Passage, Ascribed] | None:
        """The words of a passage without the source that it names among them, and that source:
        “… (Ann, round 1)”. What a speaker said in just these words names none."""
        told = self._attribution.inside(self._unmarked(passage))
        if told is None:
            return None
        whole = self._bare(passage, self._text[slice(*passage.inner)])
        return None if "own" in self._fits(passage, whole).values() else told

    def _unmarked(self, passage: Passage) -> Passage:
        """Without the marks of an earlier check at its end."""
        start, end = passage.inner
        while marked := _OUR_MARK_LAST.search(self._text[max(start, end - 60) : end]):
            end -= len(marked[0])
        return replace(passage, inner=(start, end))

    def _look_up(self, passage: Passage, words: str) -> dict[str, Fit] | None:
        """How the words fit each source; None beyond the limit."""
        self._count += 1
        return None if self._count > MOST_QUOTATIONS else self._fits(passage, words)

    def _fits(self, passage: Passage, words: str) -> dict[str, Fit]:
        quoted = Quoted.of(words)
        denied = self._is_denied(passage)
        if (quoted, denied) not in self._seen:
            fits = ((each, each.fit(quoted, denied=denied)) for each in self._proof)
            self._seen[quoted, denied] = {
                each.source.id: fit for each, fit in fits if fit is not None
            }
        return self._seen[quoted, denied]

    def _without_own(self, found: dict[str, Fit], ascribed: Ascribed) -> dict[str, Fit]:
        """A speaker's speeches prove nothing that it quotes itself, unless it cites them."""
        return {
            turn: fit
            for turn, fit in found.items()
            if not self._own or self._by_id[turn].speaker != self._own or turn in ascribed.turns
        }

    def _is_denied(self, passage: Passage) -> bool:
        """Whether the sentence around a quotation negates it already: not “a small bet”."""
        wording = self._wording
        first = wording.between(0, passage.start).stop
        start = wording.starts[max(0, first - 8)] if first else 0
        before = re.split(r"[.!?。！？]\s|\n\n", self._text[start : passage.start])[-1]
        near = worded(before)
        behind = worded(self._text[passage.end : passage.end + 12])
        return (
            any(map(near.negates, range(len(near.keys))))
            or (len(behind.keys) > 0 and behind.negates(0))
            or _DENIAL.search(before) is not None
        )

    def _proven(self, fits: dict[str, Fit], ascribed: Ascribed) -> str | None:
        """The source that proves a quotation, where it is ascribed to that one or to nobody."""
        own = [turn for turn, fit in fits.items() if fit == "own"]
        by_named = [turn for turn in own if self._by_id[turn].speaker in ascribed.speakers]
        if ascribed.turns:
            cited = [turn for turn in own if turn in ascribed.turns]
            if ascribed.speakers:
                quoted = any(fits.get(turn) == "second_hand" for turn in ascribed.turns)
                there = [turn for turn in cited if turn in by_named or not self._spoken(turn)]
                return next(iter(there), by_named[0] if quoted and by_named else None)
            return next(iter(cited), None)
        if ascribed.speakers:
            near = [turn for turn in own if turn in ascribed.hints]
            return next(iter((*by_named, *near)), None)
        hinted = [
            turn
            for turn in own
            if turn in ascribed.hints or self._by_id[turn].speaker in (ascribed.hints or ("",))
        ]
        return next(iter((*(t for t in hinted if self._spoken(t)), *own)), None)

    def _spoken(self, turn: str) -> bool:
        return bool(self._by_id[turn].speaker)

    def _refuse(
        self, passage: Passage, words: str, ascribed: Ascribed, fits: dict[str, Fit]
    ) -> None:
        own = [turn for turn, fit in fits.items() if fit == "own"]
        wanted = [
            turn
            for turn in fits
            if turn in ascribed.turns or self._by_id[turn].speaker in ascribed.speakers
        ]
        meant = wanted if own else list(fits)
        quoter = next((turn for turn in meant if fits[turn] == "second_hand"), None)
        if quoter is not None:
            said = (
                f"; they are {self._called(own[0])}"
                if own
                else ", and nobody at the table said them"
            )
            message = f"These words stand in {quoter} only as a quotation{said}."
            self._mark(passage, ascribed, SECOND_HAND)
            self._find("second_hand", message, words)
        elif (
            own
            and ascribed.speakers
            and not any(self._by_id[turn].speaker in ascribed.speakers for turn in own)
        ):
            named = " or ".join(self._name(who) for who in ascribed.speakers)
            message = f"These words are not {named}'s; they are {self._called(own[0])}."
            self._mark(passage, ascribed, WRONG_SPEAKER)
            self._find("wrong_speaker", message, words)
        elif own:
            message = f"These words do not stand in {', '.join(ascribed.turns)}, but in {own[0]}."
            self._mark(passage, ascribed, WRONG_TURN)
            self._find("wrong_turn", message, words)
        elif "cut_negation" in fits.values():
            turn = next(turn for turn, fit in fits.items() if fit == "cut_negation")
            self._mark(passage, ascribed, CUT)
            self._find("negation", f"In {turn} a negation stands right beside these words.", words)
        else:
            self._take_out(passage, ascribed)
            self._find(*self._why(words, fits), words)

    def _why(self, words: str, fits: dict[str, Fit]) -> tuple[FindingCode, str]:
        """What comes closest to words that nobody said."""
        for turn, fit in fits.items():
            if fit == "number":
                return "number", f"In {turn} the number, its sign or its unit is another one."
        for turn, fit in fits.items():
            if fit == "negation":
                return "negation", f"The ellipsis leaves out a negation that stands in {turn}."
        for turn, fit in fits.items():
            if fit == "stitched":
                return "stitched", f"The parts stand in {turn}, but apart or in another order."
        quoted = Quoted.of(words)
        if len(quoted.parts) > 1 and all(
            any(each.holds_part(part) for each in self._proof) for part in quoted.parts
        ):
            return "stitched", "The parts of this quotation come from different speeches."
        if any(each.fit(quoted) == "own" for each in self._host):
            return "not_found", "These words are the host's own; it cannot quote itself as proof."
        return "not_found", "Nobody said these words, and they stand in no document."

    def _says_translated(self, passage: Passage, ascribed: Ascribed) -> bool:
        end = max(passage.end, ascribed.end)
        around = self._text[max(0, passage.start - 40) : passage.start], self._text[end : end + 40]
        before = re.split(r"[.!?。！？]\s|\n\n", around[0])[-1]
        behind = re.split(r"[.!?。！？](?:\s|$)|\n\n", around[1])[0]
        inside = self._text[passage.start : end]
        aside = _ASIDE.search(inside) or _TRANSLATED.search(self._text[passage.end : end])
        return bool(aside or _TRANSLATED.search(before) or _TRANSLATED.search(behind))

    def _is_foreign(self, words: str, ascribed: Ascribed) -> bool:
        """Whether a source that is meant is in another language than the words: only then they can
        be its translation."""
        meant = [
            each
            for each in self._proof
            if each.source.id in (*ascribed.turns, *ascribed.hints)
            or (
                each.source.speaker and each.source.speaker in (*ascribed.speakers, *ascribed.hints)
            )
        ]
        from .languages import language  # its word lists are long, and few verdicts need them

        ours = language(words)
        theirs = {language(each.source.text) for each in meant or self._proof}
        return ours is None or None in theirs or bool(theirs - {ours})

    def _called(self, turn: str) -> str:
        source = self._by_id[turn]
        return f"{source.name}'s ({turn})" if source.name and source.speaker else f"from {turn}"

    def _name(self, speaker: str) -> str:
        return next(
            (s.name for s in self._by_id.values() if s.speaker == speaker and s.name), speaker
        )

    def _is_hosts(self, turn: str) -> bool:
        return self._by_id[turn].kind == "host"

    def _check_citations(self) -> None:
        for citation in self._citations:
            if not citation.id:
                self._find("unknown_turn", "Nobody took this turn.", citation.words)
                if not self._is_taken_out(citation):
                    self._edits.append((citation.start, citation.end, UNKNOWN_TURN))
            elif self._is_hosts(citation.id):
                message = "This turn is the host's own, which proves nothing in its verdict."
                self._find("host_cited", message, citation.words)

    def _mark(self, passage: Passage, ascribed: Ascribed, mark: str) -> None:
        """Put a mark behind a quotation and its citation, if it does not stand there yet."""
        end = max(passage.end, ascribed.end)
        text = self._text
        if not text.startswith(mark, end + 1) and not text.endswith(mark, passage.start, end):
            self._edits.append((end, end, f" {mark}"))

    def _take_out(self, passage: Passage, ascribed: Ascribed) -> None:
        """Leave nothing that looks like a quotation."""
        start, end = passage.inner
        put_into_a_mouth = ascribed.turns or ascribed.speakers or ascribed.end > passage.end
        if put_into_a_mouth or passage.block or passages(self._text[start:end]):
            self._edits.append((passage.start, passage.end, NOT_FOUND))
            self._taken.append((passage.start, passage.end))
        else:
            self._edits.append((passage.start, start, ""))
            self._edits.append((end, passage.end, f" {NOT_FOUND}"))

    def _is_taken_out(self, citation: Citation) -> bool:
        at = bisect_right(self._taken, (citation.start, len(self._text) + 1)) - 1
        return at >= 0 and citation.start < self._taken[at][1]

    def _overflowed(self, passage: Passage, words: str) -> None:
        if self._count == MOST_QUOTATIONS + 1:
            message = f"More than {MOST_QUOTATIONS} quotations; from here on none was looked up."
            self._find("unchecked", message, words)
        self._edits.append((passage.start, passage.end, NOT_FOUND))
        self._taken.append((passage.start, passage.end))

    def _edited(self) -> tuple[str, Callable[[int], int]]:
        """The text with every edit made, and where a place of the old one lies in it."""
        pieces: list[str] = []
        olds: list[int] = []
        shifts: list[int] = []
        at = shift = 0
        for start, end, new in sorted(self._edits):
            pieces += [self._text[at:start], new]
            shift += len(new) - (end - start)
            olds.append(end)
            shifts.append(shift)
            at = end
        pieces.append(self._text[at:])

        def place(old: int) -> int:
            count = bisect_right(olds, old)
            return old + (shifts[count - 1] if count else 0)

        return "".join(pieces), place

    def _find(self, code: FindingCode, message: str, excerpt: str) -> None:
        about = clip(" ".join(excerpt.split()), 160)
        self._findings.append(Finding(code=code, message=message, excerpt=about))


def undeceiving(text: str) -> str:
    """Without characters that deceive the eye, and with quotation marks as marks: Markdown shows
    `&ldquo;` as one."""

    def mark(match: re.Match[str]) -> str:
        char = unescape(match[0])
        return char if char in _QUOTES else match[0]

    return _ENTITY.sub(mark, _DECEIVING.sub("", text))
