"""The beginning of the HTML report: the decision as the page shows it, without any script.

Question, answer, votes, confidence and flags; then why, who disagrees, what would change it, next
steps and the experts. What is cited is a chip with its quotation; on paper the quotations follow as
numbered notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .decision import Decision
from .decision_parts import (
    Cite,
    DissentPair,
    ExpertLine,
    Flag,
    Piece,
    PieceSide,
    Side,
    Step,
    Sure,
    Vote,
    short_name,
)
from .report_style import SEATS
from .report_text import escaped, lang
from .safe_markdown import reference

NAMED_PIECES = 4
"""Seats up to which the bar of a vote has room for names; more are told by their initials."""
_COUNTED = ("decided", "split", "hollow", "uncounted", "demonstration")
_PIECES: dict[PieceSide, str] = {
    "answer": "pro",
    "other": "con",
    "own": "con own",
    "rejects": "con own",
    "any": "out",
    "abstains": "out",
    "undeclared": "out",
    "none": "out",
    "demonstration": "con",
    "absent": "out",
}
_PLAIN = ("Kept", "Absent", "Not asked", "No vote", "Abstained", "No preference")
"""What is said of an expert without a colour."""
_PILLS = {
    "decided": "",
    "split": " warn",
    "hollow": " warn",
    "failed": " bad",
    "stopped": " bad",
    "interrupted": " bad",
}
_FINDING = {
    "word for word": "word for word in the speech",
    "shortened": "shortened",
    "translated": "translated, not checked",
    "second hand": "quoted there from somebody else",
    "not found": "not found in the speech",
    "": "",
}


class DecisionHtml:
    """One decision being written. Citations are numbered as they come."""

    def __init__(self, decision: Decision, seats: Mapping[str, int], language: str) -> None:
        self._decision, self._seats, self._language = decision, seats, language
        self._notes: dict[tuple[str, str], tuple[int, Cite]] = {}
        self._parts = [
            (place, title, "".join(body))
            for place, title, body in (
                ("why", "Why", list(self._why())),
                ("dissent", "Who disagrees, and why", list(self._dissent())),
                ("change", "What would change it", list(self._change())),
                ("next", "Next steps", list(self._next())),
                ("experts", "The experts", list(self._experts())),
            )
            if body
        ]

    @property
    def sections(self) -> list[tuple[str, str]]:
        """The id and the title of each part below the first screen."""
        return [(place, title) for place, title, _ in self._parts]

    # The first screen

    def header(self) -> Iterator[str]:
        decision = self._decision
        pill = _PILLS.get(decision.kind, " plain")
        yield '<header class="first" id="decision">\n'
        yield f'<p class="meta"><span class="chip{pill}">{escaped(decision.state)}</span> '
        yield " ".join(f"<span>{escaped(each)}</span>" for each in self._facts())
        yield "</p>\n"
        question = decision.question
        yield f'<h1 class="q" dir="auto"{lang(question.short, "")}>{escaped(question.short)}</h1>\n'
        if question.cut:
            yield '<details class="whole"><summary>Whole question</summary>'
            tongue = lang(question.whole, "")
            yield f'<p dir="auto"{tongue}>{escaped(question.whole)}</p></details>\n'
        answer = decision.answer
        second = f" <span>{escaped(answer.second)}</span>" if answer.second else ""
        tongue = lang(answer.first, self._language)
        yield f'<p class="answer" dir="auto"{tongue}>{escaped(answer.first)}{second}</p>\n'
        if decision.cause is not None:
            for told in filter(None, (decision.cause.more, decision.cause.remedy)):
                yield f'<p class="remedy" dir="auto">{escaped(told)}</p>\n'
        yield from self._band()
        if decision.flags:
            flags = "".join(map(_flag, decision.flags))
            yield f'<ul class="flags" aria-label="To know">\n{flags}</ul>\n'
        yield "</header>\n"

    def _facts(self) -> Iterator[str]:
        facts = self._decision.facts
        rounds = f", {_count(facts.rounds, 'round')}" if facts.rounds else ""
        absent = self._decision.votes[0].counts.absent if self._decision.votes else 0
        there = f"{facts.seats - absent} of " if absent else ""
        yield f"{there}{_count(facts.seats, 'expert')}{rounds}"
        if facts.opened_at is not None:
            took = f", {_duration(facts.seconds)}" if facts.seconds is not None else ""
            yield f"{facts.opened_at.day} {facts.opened_at:%B %Y}{took}"

    def _band(self) -> Iterator[str]:
        decision = self._decision
        if decision.kind not in _COUNTED:
            return
        votes = [vote for vote in decision.votes if vote.pieces]
        if not votes:
            return
        yield '<div class="band">\n'
        for vote in votes[:2]:
            yield from self._vote(vote)
        yield from self._confidence(decision.confidence)
        yield "</div>\n"
        if further := votes[2:]:
            yield '<div class="band further">\n'
            for vote in further:
                yield from self._vote(vote)
            yield "</div>\n"

    def _vote(self, vote: Vote) -> Iterator[str]:
        many = " many" if len(vote.pieces) > NAMED_PIECES else ""
        yield '<div class="vote">\n<p class="vote-h">'
        yield f'<span dir="auto">{escaped(vote.title)}</span>'
        yield f"<strong>{escaped(vote.figure)}</strong></p>\n"
        yield f'<div class="votes{many}" role="img" aria-label="{escaped(vote.told)}">'
        hatched = self._second(vote)
        yield "".join(_piece(each, each.option in hatched) for each in vote.pieces)
        yield f'</div>\n<p class="key">{self._key(vote, hatched)}</p>\n'
        if vote.before:
            yield f'<p class="pre" dir="auto">{escaped(vote.before_told)}</p>\n'
        yield "</div>\n"

    @staticmethod
    def _second(vote: Vote) -> frozenset[str]:
        """Every other one of the options that do not prevail: told apart without a colour."""
        losing = [each.id for each in vote.options if not each.delivered]
        return frozenset(losing[1::2])

    @staticmethod
    def _key(vote: Vote, hatched: frozenset[str]) -> str:
        told = []
        for option in vote.options:
            if not option.delivered and not option.count:
                continue
            kind = "pro" if option.delivered else "con b" if option.id in hatched else "con"
            words = f"{escaped(option.label)} {option.count}"
            words = f"<strong>{words}</strong>" if option.delivered else words
            told.append(f'<span class="{kind}" dir="auto">{words}</span>')
        others = vote.counts.own + sum(o.count for o in vote.options if not o.delivered)
        if vote.settled and not others:
            told.append('<span class="con">Other 0</span>')
        counts = vote.counts
        for kind, name, count in (
            ("con", "An answer of its own", counts.own),
            ("con", "Rejects it", counts.rejects),
            ("out", "Any of them", counts.any),
            ("out", "Abstained", counts.abstains),
            ("out", "Not counted", counts.undeclared),
            ("con", "Demonstration", counts.demonstration),
        ):
            if count:
                told.append(f'<span class="{kind}">{name} {count}</span>')
        told.append(f'<span class="out">Absent {counts.absent}</span>')
        return " ".join(told)

    @staticmethod
    def _confidence(sure: Sure) -> Iterator[str]:
        word, band, said = sure.word.capitalize(), "", "No confidence"
        if sure.low is not None and sure.high is not None:
            low, high = round(sure.low * 100), round(sure.high * 100)
            word += f", {low}–{high} %"
            said = f"Confidence between {low} and {high} percent"
            band = f'<rect class="range" x="{low}" width="{max(high - low, 1)}" height="4"/>'
        elif sure.word != "none":
            said = f"Confidence: {sure.word}"
        yield '<div class="sure">\n<p class="vote-h"><span>Confidence</span>'
        yield f"<strong>{word}</strong></p>\n"
        empty = " empty" if not band else ""
        yield (
            f'<svg class="conf{empty}" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" '
            f'aria-label="{said}"><rect class="scale" width="100" height="4"/>{band}</svg>\n'
        )
        yield f'<p dir="auto">{escaped(sure.reason)}</p>\n</div>\n'

    # What follows it

    def body(self) -> Iterator[str]:
        for place, title, body in self._parts:
            yield f'<section id="{place}" class="part" aria-labelledby="{place}-head">\n'
            yield f'<h2 id="{place}-head">{escaped(title)}</h2>\n{body}</section>\n'
        quoted = [each for each in self._notes.values() if each[1].words]
        if quoted:
            yield '<details class="notes"><summary>Quotations</summary>\n<ol>\n'
            for number, cite in quoted:
                yield f'<li value="{number}" id="note-{number}">'
                yield f'<span dir="auto">“{escaped(cite.words)}”</span> {escaped(cite.label)}'
                yield f"{f', {_FINDING[cite.check]}' if cite.check else ''}.</li>\n"
            yield "</ol>\n</details>\n"

    def _why(self) -> Iterator[str]:
        decision = self._decision
        if decision.why:
            yield '<ol class="why">\n'
            for each in decision.why:
                status = f' <span class="chip">{escaped(each.status)}</span>' if each.status else ""
                about = f"{self._cites(each.cites)}{status}".strip()
                behind = f'<p class="by">{about}</p>' if about else ""
                yield f"<li><div>{each.html}{behind}</div></li>\n"
            yield "</ol>\n"
        if decision.open_points:
            count = len(decision.open_points)
            stay = "1 point stays open" if count == 1 else f"{count} points stay open"
            yield f'<details class="more"><summary>{stay}</summary>\n<ul class="open">\n'
            for point in decision.open_points:
                yield f'<li><span dir="auto">{escaped(point.text)}</span> '
                yield f"<small>{escaped(point.status)}</small></li>\n"
            yield "</ul></details>\n"

    def _dissent(self) -> Iterator[str]:
        decision = self._decision
        if decision.kind in ("live", "paused", "failed", "stopped", "none", "interrupted"):
            return
        dissent = decision.dissent
        yield f'<p class="lead" dir="auto">{escaped(dissent.lead)}</p>\n'
        for pair in dissent.pairs:
            yield from self._pair(pair)
        if dissent.strongest_against is not None:
            against = dissent.strongest_against
            cites = self._cites([against.cite] if against.cite else [])
            yield '<p dir="auto"><strong>The strongest argument against it:</strong> '
            yield f"{escaped(against.text)} {cites}</p>\n"
        if decision.record:
            yield "<h3>For the record</h3>\n"
            for kept in decision.record:
                yield f'<p dir="auto"><strong>{escaped(kept.name)}:</strong> '
                yield f"{escaped(kept.text)}</p>\n"

    def _pair(self, pair: DissentPair) -> Iterator[str]:
        yield '<div class="duel">\n'
        yield from self._side(pair.against)
        yield from self._side(pair.majority)
        if pair.settle:
            yield '<p class="settle" dir="auto"><strong>What would settle it:</strong> '
            yield f"{escaped(pair.settle)}</p>\n"
        yield "</div>\n"

    def _side(self, side: Side) -> Iterator[str]:
        yield f'<div>\n<p class="holder"><strong><bdi>{escaped(side.title)}</bdi></strong> '
        yield f'<small dir="auto">{escaped(side.position)}</small></p>\n'
        for quote in side.quotes:
            yield f'<blockquote dir="auto">“{escaped(quote.words)}”</blockquote>\n'
            yield f'<p class="by">{self._cites([quote])}</p>\n'
        yield "</div>\n"

    def _change(self) -> Iterator[str]:
        decision = self._decision
        if decision.would_change:
            yield '<ul class="ifs">\n'
            for each in decision.would_change:
                about = self._cites(each.cites)
                yield f'<li><span class="if" dir="auto">{escaped(each.when)} {about}</span>'
                if each.then:
                    yield '<span class="arrow" aria-hidden="true">→</span> '
                    yield f'<span class="then" dir="auto">{escaped(each.then)}</span>'
                yield "</li>\n"
            yield "</ul>\n"
        if decision.assumptions:
            yield "<h3>Assumed, because nobody said</h3>\n<ul>\n"
            for text in decision.assumptions:
                rests = " (the answer rests on it)" if text in decision.rests_on else ""
                yield f'<li dir="auto">{escaped(text)}{rests}</li>\n'
            yield "</ul>\n"

    def _next(self) -> Iterator[str]:
        if not self._decision.steps:
            return
        yield '<table class="steps">\n<thead><tr><th scope="col">When</th><th scope="col">What</th>'
        yield '<th scope="col">Owner</th></tr></thead>\n<tbody>\n'
        yield from map(_step, self._decision.steps)
        yield "</tbody></table>\n"

    def _experts(self) -> Iterator[str]:
        if not self._decision.experts:
            return
        yield '<ul class="exp">\n'
        for expert in self._decision.experts:
            yield from self._expert(expert)
        yield "</ul>\n"

    def _expert(self, expert: ExpertLine) -> Iterator[str]:
        warn = " warn" if expert.chip in ("Disagrees", "Gave in") else ""
        plain = " plain" if expert.chip in _PLAIN else ""
        chip = (
            f'<span class="chip{warn or plain}">{escaped(expert.chip)}</span>'
            if expert.chip
            else ""
        )
        yield f'<li class="{self._seat(expert.participant)}"><p class="who">'
        yield f"<strong><bdi>{escaped(expert.name)}</bdi></strong>{chip}</p>\n"
        if expert.opening:
            yield f'<p class="at-first" dir="auto">{escaped(expert.opening)}</p>\n'
        if expert.final:
            yield f'<p class="at-last" dir="auto">{escaped(expert.final)}</p>\n'
        if expert.cause is not None:
            cites = self._cites([expert.cause.cite] if expert.cause.cite else [])
            yield f'<p class="cause" dir="auto">{escaped(expert.cause.text)} {cites}</p>\n'
        for each in expert.conditions:
            yield f'<p class="cause" dir="auto">On the condition: {escaped(each.text)} '
            yield f"({escaped(each.status)})</p>\n"
        yield "</li>\n"

    # Citations

    def _cites(self, cites: Sequence[Cite] | Iterable[Cite]) -> str:
        return " ".join(self._cite(each) for each in cites)

    def _cite(self, cite: Cite) -> str:
        key = cite.turn_id, cite.words
        number, _ = self._notes.setdefault(key, (len(self._notes) + 1, cite))
        said, note = "", ""
        if cite.words:
            said = f' title="“{escaped(cite.words)}” ({_FINDING[cite.check]})"'
            note = f'<small class="note">{number}</small>'
        doubtful = " doubt" if cite.check in ("not found", "second hand") else ""
        return (
            f'<a class="cite {self._seat(cite.participant)}{doubtful}" '
            f'href="{escaped(reference(cite.anchor))}"{said}>{escaped(cite.label)}{note}</a>'
        )

    def _seat(self, participant: str) -> str:
        place = self._seats.get(participant)
        return "host" if place is None else f"seat{place % SEATS}"


def _flag(flag: Flag) -> str:
    remedy = f" <small>{escaped(flag.remedy)}</small>" if flag.remedy else ""
    return f'<li class="flag {flag.level}" dir="auto">{escaped(flag.text)}{remedy}</li>\n'


def _piece(piece: Piece, hatched: bool) -> str:
    kind = _PIECES[piece.side] + (" b" if hatched and piece.side == "other" else "")
    short = short_name(piece.name)
    name = f"<strong>{escaped(short)}</strong><small>{escaped(initials(piece.name))}</small>"
    return f'<span class="{kind}" title="{escaped(piece.name)}">{name}</span>'


def initials(name: str) -> str:
    """Two letters by which a seat is known where there is no room, the same as on the page
    (`initials` in format.js)."""
    words = [word for word in re.split(r"[\s\-_]+", name.strip()) if word]
    if not words:
        return "?"
    if len(words) > 1:
        return f"{words[0][0]}{words[-1][0]}".upper()
    return words[0][: 2 if words[0][0].isascii() else 1].upper()


def _step(step: Step) -> str:
    owner = escaped(step.owner) if step.named else '<span class="unnamed">No owner named</span>'
    return (
        f'<tr><th scope="row" dir="auto">{escaped(step.when) or "—"}</th>'
        f'<td dir="auto">{escaped(step.what)}</td><td dir="auto">{owner}</td></tr>\n'
    )


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return _count(max(1, round(seconds)), "second")
    if seconds < 90 * 60:
        return _count(round(seconds / 60), "minute")
    return _count(round(seconds / 3600), "hour")
