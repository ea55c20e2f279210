"""Attribution: to whom, and to which turn or document, a text ascribes the words that it quotes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .pattern import pattern
from .quotation_marks import Passage
from .quotations import Source
from .wording import Wording, vocabulary, worded

_TURN = pattern(
    r"(?<![A-Za-z0-9_/.:-])\d{1,4}/[^\W\d_][\w-]{0,60}/[^\W_](?:[\w.-]{0,80}[\w-])?(?![\w/])"
)
_ASCII = pattern(r"[!-~]+")
_DOCUMENT = pattern(r"\bdocument:(?=\S)", re.IGNORECASE)
_BRACKETED = pattern(r"[\[【［](question|options)[\]】］]", re.IGNORECASE)
_OPENING, _CLOSING = "[(（【［", "])）】］"
_SENTENCE = pattern(
    r"[.!?][\"”’)\]*_]*(?:\s|$)|[。！？]|\n[ \t]*\n|\n[ \t]*(?:[-*+•]\s|#|\||\d{1,3}[.)]\s)"
)
_MANY = 25
"""Words before a quotation in which its speaker is looked for."""
_VERBS = vocabulary(
    "say says said saying argue argues argued write writes wrote written state states stated",
    "claim claims claimed note notes noted put puts warn warns warned insist insists insisted",
    "add adds added reply replies replied answer answers answered ask asks asked object",
    "objects objected conclude concludes concluded explain explains explained hold holds held",
    "think thinks thought maintain maintains maintained observe observes observed concede",
    "concedes conceded admit admits admitted propose proposes proposed demand demands demanded",
    "declare declares declared tell tells told call calls called report reports reported",
    "counter counters countered point points pointed dissents dissented believes believed",
    "sagt sagte schreibt schrieb meint meinte erklärt erklärte betont betonte argumentiert",
    "argumentierte warnt warnte fragt fragte antwortet antwortete findet fand hält behauptet",
    "dice dijo afirma afirmó sostiene sostuvo escribe escribió señala señaló argumenta",
    "argumentó advierte advirtió pregunta preguntó responde respondió opina",
    "dit écrit affirme",
    "说 說 称 写 问 答 示 认 指 调 张",
)
_SPOKEN_TO = vocabulary("tell tells told ask asks asked answer answers answered call calls called")
"""Verbs after which a name is not the speaker's: they told Ann."""
_ACCORDING = vocabulary("laut nach según selon per quote quoting quotes zitiert 据")
_ROUND = vocabulary("round runde ronda")
_LINKS = (
    _VERBS
    | _ROUND
    | vocabulary(
        "in turn see that dass que from by of the at cf source quelle siehe aus von en de turno",
        "ver 见 参 第",
    )
)
"""Words that may stand between a quotation and the turn that is cited for it."""
_AT_END = pattern(
    r"(?:[(（\[【［][^()（）\[\]【】［］\n]{1,120}[)）\]】］]"
    r"|(?:[—–―]|(?<!-)--|(?<=\s)-(?=\s))[^—–―\n]{1,120})[\s.,;*_。]*\Z"
)
"""What may say at the end of quoted words whose they are: “… (Ann, round 1)”, “… — Ann”."""
_AT_BEGINNING = pattern(
    r"[\s>*_]*(?:[(（\[【［][^()（）\[\]【】［］\n]{1,120}[)）\]】］]"
    r"|[^—–―\n]{1,120}?(?:[—–―]|--(?!-)|(?<=\s)-(?=\s)))[\s*_]*"
)
_LONGEST_SOURCE = 200
"""Characters at either end of quoted words in which their source is looked for."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A turn or document that the text names; `id` is empty if there is no such one."""

    start: int
    end: int
    words: str
    id: str


@dataclass(frozen=True, slots=True)
class Ascribed:
    """To whom a quotation is ascribed."""

    turns: tuple[str, ...] = ()
    """Cited right behind it, so that it must stand in one of them."""
    speakers: tuple[str, ...] = ()
    """Named as those who said it, so that it must be one of them."""
    hints: tuple[str, ...] = ()
    """Turns and speakers named nearby, which may as well belong to something else."""
    end: int = 0
    """Where the quotation with its citation ends."""

    @property
    def somebody(self) -> bool:
        return bool(self.turns or self.speakers or self.hints)

    def told_inside(self, inside: Ascribed) -> Ascribed:
        """The same with what the quotation itself says of its source, which comes first."""
        if inside.turns or inside.speakers:
            return replace(self, turns=inside.turns, speakers=inside.speakers)
        return self


class Citations:
    """The turns and documents that can be cited."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._ids = {source.id.casefold(): source.id for source in sources}
        self._stages = {
            source.id.split("/")[1].casefold() for source in sources if source.id.count("/") == 2
        }
        self._documents = sorted(
            (each for each in self._ids if each.startswith("document:")), key=len, reverse=True
        )
        self._called = _called(sources)

    def within(self, text: str) -> list[Citation]:
        """Every citation of a text in its order. A date or an address is none: what stands bare
        must name a stage of this discussion."""
        found = [*self._turns(text), *self._called_turns(text), *self._named_documents(text)]
        found += [
            Citation(match.start(), match.end(), match[1], self._ids.get(match[1].casefold(), ""))
            for match in _BRACKETED.finditer(text)
            if match[1].casefold() in self._ids
        ]
        return sorted(found, key=lambda each: each.start)

    def _turns(self, text: str) -> Iterator[Citation]:
        for match in _TURN.finditer(text):
            words = match[0]
            while words.casefold() not in self._ids and not words[-1].isascii():
                words = words[:-1]  # Chinese goes on without a space
            if words.casefold() not in self._ids and (plain := _ASCII.match(match[0])):
                words = plain[0] if plain[0].count("/") == 2 and plain[0][-1] != "/" else match[0]
            start, end = match.start(), match.start() + len(words)
            bracketed = text[start - 1 : start] in _OPENING and text[end : end + 1] in _CLOSING
            bracketed = bracketed and start > 0 and end < len(text)
            named = text[max(0, start - 5) : start].casefold() == "turn "
            stage = words.split("/")[1].casefold()
            if bracketed or named or stage in self._stages:
                if bracketed:
                    start, end = start - 1, end + 1
                yield Citation(start, end, words, self._ids.get(words.casefold(), ""))

    def _called_turns(self, text: str) -> Iterator[Citation]:
        """Turns as people call them, and as they are shown: “Ann, round 1”. Of somebody who spoke
        twice in a round it is left open which turn is meant."""
        if not self._called or ", round " not in text:
            return
        names = "|".join(map(re.escape, sorted({n for n, _ in self._called}, key=len)[::-1]))
        for match in re.finditer(rf"(?<![\w-])({names}), round (\d{{1,4}})(?!\w)", text):
            turns = self._called.get((match[1], int(match[2])), set())
            if len(turns) != 1:
                continue
            start, end = match.span()
            if start and text[start - 1] in _OPENING and text[end : end + 1] in (*_CLOSING,):
                start, end = start - 1, end + 1
            yield Citation(start, end, match[0], next(iter(turns)))

    def _named_documents(self, text: str) -> Iterator[Citation]:
        for match in _DOCUMENT.finditer(text):
            start = match.start()
            bracketed = start > 0 and text[start - 1] in _OPENING
            longest = text[start : start + 300].casefold()
            known = next((each for each in self._documents if longest.startswith(each)), None)
            if known is not None:
                end = start + len(known)
                whole = bracketed and text[end : end + 1] in (*_CLOSING,)
                words = text[start:end]
                yield Citation(start - whole, end + whole, words, self._ids[known])
            elif bracketed and (closing := re.search(r"[\])）】］\n]", text[start : start + 300])):
                end = start + closing.start()
                yield Citation(start - 1, end + 1, text[start:end], "")


class Attribution:
    """The surroundings of the quotations in one text."""

    def __init__(
        self,
        wording: Wording,
        sources: Sequence[Source],
        citations: Sequence[Citation],
        passages: Sequence[Passage],
        ignored: Iterable[tuple[int, int]] = (),
    ) -> None:
        self._wording, self._citations = wording, citations
        self._speaker_of = {source.id: source.speaker for source in sources}
        self._quoted = [each.start for each in passages]
        cited = [(each.start, each.end) for each in citations]
        # A block may begin with who speaks in it, so its words are looked at.
        quoted = [(each.start, each.end) for each in passages if not each.block]
        self._skipped = _merged([*cited, *quoted, *ignored])
        self._names = _names(sources)
        self._starts = [each.start for each in citations]

    def of(self, passage: Passage) -> Ascribed:
        """To whom this passage is ascribed by what stands beside it."""
        turns, end = self._cited_behind(passage)
        before = self._before(passage)
        behind = self._behind(passage)
        named = self._closest(self._named(before), passage)
        near = self._cited_before(before, passage)
        speakers: tuple[str, ...] = (behind,) if behind else self._said(before, named, passage)
        if not turns and self._is_cited_right_before(near, speakers, passage):
            turns = near
        hints = (*near, *(who for _, _, who in named if who not in speakers))
        return Ascribed(turns, speakers, tuple(dict.fromkeys(hints)), end)

    def inside(self, passage: Passage) -> tuple[Passage, Ascribed] | None:
        """The quoted words without their source, where it stands among them, at the end or at the
        beginning; and that source."""
        text = self._wording.text
        start, end = passage.inner
        turns: list[str] = []
        speakers: list[str] = []

        def takes(first: int, last: int) -> bool:
            source = self._source(first, last)
            if source is not None:
                turns.extend(source.turns)
                speakers.extend(source.speakers)
            return source is not None

        for _ in range(3):  # “… — Ann (round 1) [1/answer/ann]”
            near = max(start, end - _LONGEST_SOURCE)
            last = _AT_END.search(text[near:end])
            if last is None or not takes(near + last.start(), end):
                break
            end = near + last.start()
        if end == passage.inner[1]:
            first = _AT_BEGINNING.match(text[start : min(end, start + _LONGEST_SOURCE)])
            if first is None or not takes(start, start + first.end()):
                return None
            start += first.end()
        if not turns and not speakers:
            return None
        words = replace(passage, inner=(start, end))
        return words, Ascribed(tuple(dict.fromkeys(turns)), tuple(dict.fromkeys(speakers)))

    def _source(self, start: int, end: int) -> Ascribed | None:
        """Whom and what these words name, if they do nothing else."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        cited = self._citations[first:last]
        indices = [
            i
            for i in self._wording.between(start, end)
            if not any(each.start <= self._wording.starts[i] < each.end for each in cited)
        ]
        keys = self._wording.keys
        names = self._named(indices)
        named = {i for first, last, _ in names for i in range(first, last + 1)}
        rounds = {i for i in indices if keys[i].isdigit() and i and keys[i - 1] in _ROUND}
        if not all(i in named or i in rounds or keys[i] in _LINKS for i in indices):
            return None
        turns = tuple(each.id for each in cited if each.id)
        source = Ascribed(turns, tuple(who for _, _, who in names))
        return source if source.somebody or rounds else None

    def _cited_behind(self, passage: Passage) -> tuple[tuple[str, ...], int]:
        """Citations that follow a passage with nothing between but who said it."""
        text, at = self._wording.text, passage.end
        turns: list[str] = []
        for number in range(bisect_right(self._starts, passage.end - 1), len(self._citations)):
            citation = self._citations[number]
            between = text[at : min(citation.start, at + 100)]
            if len(between) > 80 or "\n\n" in between or not self._only_links(at, citation.start):
                break
            if citation.id:
                turns.append(citation.id)
            at = citation.end
        return tuple(turns), at

    def _is_cited_right_before(
        self, near: Sequence[str], speakers: Sequence[str], passage: Passage
    ) -> bool:
        """Whether one turn is cited in front, with nothing between but that its speaker says it."""
        at = bisect_right(self._starts, passage.start) - 1
        return (
            len(near) == 1
            and self._citations[at].id == near[0]
            and set(speakers) <= {self._speaker_of[near[0]]}
            and self._only_links(self._citations[at].end, passage.start)
        )

    def _only_links(self, start: int, end: int) -> bool:
        wording = self._wording
        if bisect_left(self._quoted, start) < bisect_left(self._quoted, end):
            return False
        indices = [i for i in wording.between(start, end) if not self._is_skipped(i)]
        links = [i for i in indices if wording.keys[i] in _LINKS]
        named = {i for first, last, _ in self._named(indices) for i in range(first, last + 1)}
        return len(indices) <= 8 and all(i in named or i in links for i in indices)

    def _is_skipped(self, index: int) -> bool:
        """Whether a word belongs to a citation, to another quotation or to a mark of ours."""
        at = self._wording.starts[index]
        number = bisect_right(self._skipped, (at, len(self._wording.text) + 1)) - 1
        return number >= 0 and self._skipped[number][0] <= at < self._skipped[number][1]

    def _before(self, passage: Passage) -> list[int]:
        """The words of the sentence before a passage, without quotations and citations."""
        wording = self._wording
        first = wording.between(0, passage.start).stop
        found: list[int] = []
        for index in range(first - 1, max(-1, first - 4 * _MANY), -1):
            end = passage.start if index == first - 1 else wording.starts[index + 1]
            gap = wording.text[wording.ends[index] : end]
            introduced = passage.block and index == first - 1 and ":" in gap.replace("：", ":")
            if len(found) >= _MANY or (_SENTENCE.search(gap) and not introduced):
                break
            if not self._is_skipped(index):
                found.append(index)
        return found[::-1]

    def _named(self, indices: Sequence[int]) -> list[tuple[int, int, str]]:
        """Names of speakers among these words: first word, last word, speaker."""
        keys = self._wording.keys
        within = set(indices)
        found: list[tuple[int, int, str]] = []
        taken = -1
        for index in indices:
            if index <= taken:
                continue
            for name, speaker in self._names.get(_bare(keys[index]), ()):
                last = index + len(name) - 1
                spoken = tuple(_bare(key) for key in keys[index : last + 1])
                if spoken == name and last in within and self._is_written_as_name(index):
                    found.append((index, last, speaker))
                    taken = last
                    break
        return found

    def _closest(
        self, named: Sequence[tuple[int, int, str]], passage: Passage
    ) -> Sequence[tuple[int, int, str]]:
        """The names since the quotation before this one, if there are any: each has its own."""
        number = bisect_left(self._quoted, passage.start) - 1
        since = self._quoted[number] if number >= 0 else -1
        return [each for each in named if self._wording.starts[each[0]] > since] or named

    def _is_written_as_name(self, index: int) -> bool:
        wording = self._wording
        at, end = wording.starts[index], wording.ends[index]
        return not wording.text[at].islower() or wording.text[end : end + 1] in (":", "：")

    def _said(
        self, before: Sequence[int], named: Sequence[tuple[int, int, str]], passage: Passage
    ) -> tuple[str, ...]:
        """Who is said to have spoken the words; several where it may be any of them."""
        if not named:
            return ()
        keys = self._wording.keys
        _, last, nearest = named[-1]
        between = [keys[i] for i in before if i > last]
        verbs = sum(key in _VERBS for key in between)
        if not between and keys[last].endswith("'s"):
            return (nearest,)
        others = {who for _, _, who in named} - {nearest}
        if not others:
            return (nearest,) if self._introduces(named[-1], between, passage) else ()
        if verbs == 1 and len(between) <= 4 and between[0] in _VERBS:
            return (nearest,)
        if any(
            self._introduces(each, [keys[i] for i in before if i > each[1]], passage)
            for each in named
        ):
            return tuple(dict.fromkeys(who for _, _, who in named))
        return ()

    def _introduces(
        self, named: tuple[int, int, str], between: Sequence[str], passage: Passage
    ) -> bool:
        first, last, _ = named
        wording = self._wording
        if any(key in _VERBS for key in between[:3]):
            return True
        earlier = wording.keys[first - 1] if first > 0 else ""
        if earlier in _ACCORDING or (
            earlier == "to" and first > 1 and wording.keys[first - 2] == "according"
        ):
            return True
        tail = wording.text[wording.ends[last] : passage.start]
        possessive = wording.keys[last].endswith("'s")
        colon = re.search(r"[:：|]", tail[-6:]) is not None
        if not between and earlier in _VERBS - _SPOKEN_TO:
            return True
        return len(between) <= 3 and (colon or possessive)

    def _behind(self, passage: Passage) -> str:
        """Who is named right behind a passage: “…”, says Ann; “…” (Ann); “…” — Ann."""
        wording = self._wording
        text = wording.text
        start = wording.between(0, passage.end).stop
        after = [
            i for i in range(start, min(start + 12, len(wording.keys))) if not self._is_skipped(i)
        ]
        after = after[:6]
        if not after:
            return ""
        gap = text[passage.end : wording.starts[after[0]]]
        if _SENTENCE.search(gap) or len(gap) > 60:
            return ""
        named = self._named(after)
        if not named:
            return ""
        first, last, who = named[0]
        position = after.index(first)
        if position == 0 and re.search(r"[(（—–][*_\s]*$", gap):
            return who
        if position == 1 and wording.keys[after[0]] in _VERBS:
            return who
        following = after.index(last) + 1
        if position == 0 and following < len(after) and wording.keys[after[following]] in _VERBS:
            verb = after[following]
            rest = text[wording.ends[verb] : wording.ends[verb] + 3]
            return who if not rest.strip() or rest.lstrip()[:1] in ".;)。；" else ""
        return ""

    def _cited_before(self, before: Sequence[int], passage: Passage) -> tuple[str, ...]:
        """Turns cited in the same sentence before a passage."""
        if self._citations and before:
            begin = self._wording.starts[before[0]]
        else:
            begin = max(0, passage.start - 40)
        at = bisect_right(self._starts, passage.start) - 1
        found: list[str] = []
        while at >= 0 and self._citations[at].start >= begin - 40 and len(found) < 4:
            citation = self._citations[at]
            between = self._wording.text[citation.end : passage.start]
            if _SENTENCE.search(between) and not passage.block:
                break
            if citation.id:
                found.append(citation.id)
            at -= 1
        return tuple(found)


def _names(sources: Sequence[Source]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """How each speaker may be called, by the first word, the longest name first."""
    calls: dict[tuple[str, ...], set[str]] = {}
    for source in sources:
        if source.speaker:
            whole = tuple(_bare(key) for key in worded(source.name).keys)
            # An id such as `security` is a plain word too, but one without a capital is no name.
            single = [(key,) for key in (whole[:1] + whole[-1:]) if len(key) > 2]
            own_id = tuple(worded(source.speaker).keys)
            for call in {whole, own_id, *single} - {()}:
                calls.setdefault(call, set()).add(source.speaker)
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for call in sorted(calls, key=lambda each: (-len(each), each)):
        if len(calls[call]) == 1:
            found.setdefault(call[0], []).append((call, next(iter(calls[call]))))
    return found


def _called(sources: Sequence[Source]) -> dict[tuple[str, int], set[str]]:
    """The turns of the rounds by what people call them: a name that only one speaker has, whole or
    in part, and the round."""
    bearers: dict[str, set[str]] = {}
    for source in sources:
        if source.speaker and source.kind == "speech" and source.round > 0:
            words = source.name.split()
            short = [each for each in (words[:1] + words[-1:]) if len(each) > 2]
            for name in filter(None, (source.name, f"{source.name} ({source.speaker})", *short)):
                bearers.setdefault(name, set()).add(source.speaker)
    turns: dict[tuple[str, int], set[str]] = {}
    for name, who in bearers.items():
        for source in sources if len(who) == 1 else ():
            if source.speaker in who and source.kind == "speech" and source.round > 0:
                turns.setdefault((name, source.round), set()).add(source.id)
    return turns


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _bare(key: str) -> str:
    return key.removesuffix("'s").removesuffix("'")
