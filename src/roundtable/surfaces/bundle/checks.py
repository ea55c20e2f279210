"""What a bundle says, checked: folded, decided and counted anew, citations and quotations found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.chain import canonical
from ...core.decide import Procedure, decide
from ...core.effects import Record
from ...core.errors import RoundtableError
from ...core.events import (
    BallotCast,
    DiscussionOpened,
    SearchFinished,
    StoredEvent,
    VerdictReached,
)
from ...core.quotes import find_quote
from ...core.state import State
from ...core.text import clip, count_words
from ...core.values import Verdict
from ...procedures import procedure_spec
from ...version import __version__
from .counting import counted
from .reading import Bundle, BundleBroken, read_bundle
from .signing import INSTALL, is_genuine

Level = Literal["good", "remark", "wrong"]
_TURN = re.compile(r"(?<![\w/.-])\d{1,3}/[\w-]+/[\w.-]*[\w-]")
_QUOTATION = re.compile(r"[\"“„«「]([^\"“”„«»「」\n]{12,400})[\"”“»」]")
_SHORTEST_QUOTATION = 4
"""Words. Shorter ones are names and terms, not quotations."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked, and what came of it. A remark is nothing that the file does
    wrong, but the reader should know it."""

    check: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A bundle whose chain is whole, and what was found in it."""

    discussion_id: str
    topic: str
    head: str
    signed_by: str | None
    """The public key, if the signature was checked and is genuine."""
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        return not any(finding.level == "wrong" for finding in self.findings)


def check_bundle(data: bytes, *, head: str | None = None, signer: str | None = None) -> Checked:
    """Check everything that can be checked without a key, a database or a network.

    `head` and `signer` are what the caller knows from elsewhere. BundleBroken if the bytes are no
    bundle or their chain is broken; all else is a finding.
    """
    bundle = read_bundle(data)
    replay = _replayed(bundle)
    state = replay.state
    findings = (
        Finding("chain", "good", f"{bundle.lines:,} lines, each follows from the one before"),
        *_head(bundle, head),
        Finding("events", "good", f"{state.seq:,} fold into a discussion that is {state.status}"),
        *_decisions(bundle, replay),
        *_tally(bundle, state),
        *_cites(state),
        *_quotations(state),
        *_redactions(bundle),
        *_signature(bundle, signer),
    )
    genuine = bundle.signature and is_genuine(bundle.signature, bundle.head)
    return Checked(
        discussion_id=bundle.discussion_id,
        topic=state.start.topic,
        head=bundle.head,
        signed_by=bundle.signature.public_key if bundle.signature and genuine else None,
        findings=findings,
    )


@dataclass(frozen=True, slots=True)
class _Replay:
    """The events folded, and the numbers of those that the procedure decided again by itself."""

    state: State
    decided: frozenset[int]
    unknown: str = ""
    """Why nothing could be decided again, if so."""


_FROM_THE_WORLD: frozenset[str] = frozenset(
    [
        "DiscussionOpened",
        "AttemptStarted",
        "AttemptFinished",
        "AttemptFailed",
        "SpeechGiven",
        "SearchFinished",
        "SearchFailed",
        "ChoiceMade",
        "DiscussionPaused",
        "DiscussionResumed",
        "MaterialAdded",
        "RoundsExtended",
        "EndVoted",
        "StopRequested",
    ]
)
"""Events with which no decision of a procedure begins."""


def _replayed(bundle: Bundle) -> _Replay:
    records = bundle.records
    if not records or not isinstance(records[0].event, DiscussionOpened):
        raise BundleBroken("Line 2: the first event does not open a discussion.", line=2)
    procedure, unknown = _procedure(records[0].event.procedure)
    state = State()
    decided: set[int] = set()
    for place, record in enumerate(records):
        event = record.event
        if procedure is not None and not (record.seq in decided or event.type in _FROM_THE_WORLD):
            decided.update(_decided_again(state, procedure, records, place))
        try:
            state.apply(record)
        except (KeyError, IndexError, ValueError):
            raise BundleBroken(
                f"Line {record.seq + 1} (event {record.seq}, {event.type}) cannot follow the "
                "events before it.",
                line=record.seq + 1,
            ) from None
    return _Replay(state, frozenset(decided), unknown)


def _procedure(name: str) -> tuple[Procedure | None, str]:
    try:
        return procedure_spec(name).procedure, ""
    except RoundtableError as error:
        return None, str(error)


def _decided_again(
    state: State, procedure: Procedure, records: Sequence[StoredEvent], place: int
) -> range:
    """The numbers of the events from here on that the procedure decides in this state."""
    try:
        effects = decide(state, procedure)
    except Exception:  # rules that meet what they never wrote may fail in any way
        return range(0)
    events = [event for each in effects if isinstance(each, Record) for event in each.events]
    found = [record.event for record in records[place : place + len(events)]]
    return range(place + 1, place + 1 + len(events)) if found == events else range(0)


def _head(bundle: Bundle, expected: str | None) -> Iterator[Finding]:
    if expected is None:
        return
    if expected.strip().lower() == bundle.head:
        yield Finding("head", "good", "it is the one that was expected")
    else:
        yield Finding("head", "wrong", f"expected {expected}: this is another bundle")


def _decisions(bundle: Bundle, replay: _Replay) -> Iterator[Finding]:
    """Ballots and verdict follow from the speeches by the rules of the procedure."""
    name = replay.state.start.procedure
    if replay.unknown:
        yield Finding("decisions", "remark", f"not decided again: {replay.unknown}")
        return
    ruled = [r for r in bundle.records if isinstance(r.event, BallotCast | VerdictReached)]
    other = [record for record in ruled if record.seq not in replay.decided]
    if not ruled:
        yield Finding("decisions", "remark", "there is neither a ballot nor a verdict yet")
    elif not other:
        ballots = len(replay.state.ballots)
        made = [f"{ballots} ballots"] * bool(ballots) + ["the verdict"] * (len(ruled) > ballots)
        text = f"decided again by the rules of {name}, {' and '.join(made)} came out the same"
        yield Finding("decisions", "good", text)
    else:
        first = other[0]
        text = (
            f"by the rules of {name}, event {first.seq} ({first.event.type}) does not follow from "
            "what was said before it"
        )
        if bundle.program_version != __version__:
            why = f"; version {bundle.program_version} may have had other rules than {__version__}"
            yield Finding("decisions", "remark", text + why)
        elif bundle.redacted:
            yield Finding("decisions", "remark", f"{text}; what was redacted may be the reason")
        else:
            yield Finding("decisions", "wrong", text)


def _tally(bundle: Bundle, state: State) -> Iterator[Finding]:
    for ballot in state.ballots:
        speech = state.speech(ballot.turn_id)
        if speech is None or speech.participant != ballot.participant:
            text = (
                f"{ballot.participant}'s ballot stands in no speech of its own ({ballot.turn_id})"
            )
            yield Finding("ballots", "wrong", text)
    again = counted(state)
    stated = canonical(bundle.tally)
    if canonical(again) != stated:
        yield Finding("tally", "wrong", "counted anew, the ballots come to something else")
        return
    votes = sum(len(each["voters"]) for each in again)
    if not votes:
        yield Finding("tally", "remark", "no ballot has options that could be counted")
        return
    last = [each for each in again if each["voters"]][-1]
    winners = " = ".join(clip(each, 60) for each in last["outcomes"]["plurality"]["winners"])
    text = f"{votes} votes counted anew by {len(last['outcomes'])} rules; the last round: {winners}"
    yield Finding("tally", "good", text + (" (the rules disagree)" if last["alarm"] else ""))


def _cites(state: State) -> Iterator[Finding]:
    verdict = state.verdict
    if verdict is None:
        return
    named = [*verdict.cites, *(each.turn_id for each in verdict.dissent if each.turn_id)]
    missing = [turn for turn in dict.fromkeys(named) if state.speech(turn) is None]
    seats = [each.participant for each in verdict.dissent]
    missing += [who for who in dict.fromkeys(seats) if state.participant(who) is None]
    if missing:
        text = f"the verdict names what is not there: {', '.join(missing)}"
        yield Finding("citations", "wrong", text)
    else:
        count = len(dict.fromkeys(named))
        text = f"all {count} turns that the verdict names were taken"
        yield Finding("citations", "good", text if count else "the verdict names no turn")
    prose = {turn for text in _prose(verdict) for turn in _TURN.findall(text)}
    # Addresses and dates have slashes too: only what names a stage of this discussion is a turn.
    stages = {stage for stage, _ in state.stages}
    lost = sorted(t for t in prose if t.split("/")[1] in stages and state.speech(t) is None)
    if lost:
        yield Finding("citations", "remark", f"in its words it cites turns nobody took: {lost}")


def _quotations(state: State) -> Iterator[Finding]:
    verdict = state.verdict
    if verdict is None:
        return
    host = state.start.host.id
    # Whoever writes a verdict is no source: its own words would verify themselves.
    sources = {
        s.turn_id: s.text for s in state.speeches if s.participant != host or s.stage == "remark"
    }
    sources |= {"question": state.start.topic}
    sources |= {f"context {n}": each.text for n, each in enumerate(state.context)}
    sources |= {f"ballot {b.turn_id}": b.position for b in state.ballots}
    sources |= {
        f"{hit.url}": f"{hit.title}\n{hit.text}"
        for search in state.searches
        if isinstance(search, SearchFinished)
        for hit in search.hits
    }
    quotes = [
        quote
        for text in _prose(verdict)
        for quote in _QUOTATION.findall(text)
        if count_words(quote) >= _SHORTEST_QUOTATION
    ]
    unfound = [quote for quote in quotes if find_quote(quote, sources) is None]
    if unfound:
        shown = "; ".join(f"“{clip(quote, 80)}”" for quote in unfound[:3])
        text = f"{len(unfound)} of {len(quotes)} stand in no speech or source: {shown}"
        yield Finding("quotations", "remark", text)
    elif quotes:
        text = f"all {len(quotes)} stand word for word in the speeches or sources"
        yield Finding("quotations", "good", text)
    else:
        yield Finding("quotations", "good", "the verdict quotes nobody")


def _prose(verdict: Verdict) -> tuple[str, ...]:
    return verdict.answer, verdict.agreement, verdict.gaps


def _redactions(bundle: Bundle) -> Iterator[Finding]:
    if bundle.redacted:
        text = f"{bundle.redacted} texts held something that looks like a secret; it was taken out"
        yield Finding("redaction", "remark", text)


def _signature(bundle: Bundle, signer: str | None) -> Iterator[Finding]:
    signed = bundle.signature
    if signed is None:
        text = (
            "none: whoever has the file could have made it anew, so compare the head with one that "
            "you know from elsewhere"
        )
        yield Finding("signature", "wrong" if signer else "remark", text)
        return
    genuine = is_genuine(signed, bundle.head)
    if genuine is None:
        text = f"by {signed.public_key}, NOT checked: cryptography is missing. {INSTALL}"
        yield Finding("signature", "wrong" if signer else "remark", text)
    elif not genuine:
        yield Finding("signature", "wrong", f"it is not one of {signed.public_key} over this head")
    elif signer is not None and signer.strip().lower() != signed.public_key:
        yield Finding("signature", "wrong", f"genuine, but by {signed.public_key}, not by {signer}")
    elif signer is None:
        text = f"genuine, by the key {signed.public_key}; whose that is, you must know"
        yield Finding("signature", "good", text)
    else:
        yield Finding("signature", "good", f"genuine, by the expected key {signed.public_key}")
