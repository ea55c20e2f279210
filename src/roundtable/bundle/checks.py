"""What a bundle says, checked: folded, decided and counted anew, citations and quotations found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.chain import canonical
from ..core.decide import Procedure, decide
from ..core.effects import Record
from ..core.errors import RoundtableError
from ..core.events import (
    BallotCast,
    DecisionsTabled,
    DiscussionOpened,
    Event,
    PointRaised,
    ScoresGiven,
    SpeechGiven,
    StanceTaken,
    VerdictReached,
)
from ..core.extras import install
from ..core.headline import headline
from ..core.standing import standing_of
from ..core.state import State
from ..core.text import clip
from ..core.turns import UNDECLARED
from ..core.values import ABOUT_THE_COUNT, Verdict
from ..core.values import Finding as Flaw
from ..core.verdict_check import Checked as CheckedText
from ..core.verdict_check import check_text
from ..core.verdict_findings import contradicts, findings_of
from ..core.verdict_sources import sources_of
from ..procedures import procedure_spec
from ..version import __version__
from .counting import counted
from .hearing import Hearing
from .reading import Bundle, BundleBroken, read_bundle
from .signing import is_genuine

Level = Literal["good", "remark", "unverified", "wrong"]
Outcome = Literal["sound", "unverified", "wrong"]
KNOWN_VERSIONS = frozenset({"0.1.0", __version__})
"""The versions whose discussions can be decided again here."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked, and what came of it. A remark is nothing that the file does
    wrong, but the reader should know it. What is unverified may be right or forged: the file gives
    a reason why it cannot be found out, and no reason of its own makes a file sound."""

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
    whose: str
    """Whose key that is, as far as it is known here; "" if it is not."""
    expected: bool
    """Whether it is a key that the caller expected or knows."""
    findings: tuple[Finding, ...]

    decided: bool
    """Whether everything that a procedure decides was decided again. Where it was not, because the
    rules are not known here, a bundle that is sound still says no more than that its parts fit."""

    @property
    def outcome(self) -> Outcome:
        levels = {finding.level for finding in self.findings}
        return "wrong" if "wrong" in levels else "unverified" if "unverified" in levels else "sound"

    @property
    def sound(self) -> bool:
        return self.outcome == "sound"


def check_bundle(
    data: bytes,
    *,
    head: str | None = None,
    signer: str | None = None,
    known: Mapping[str, str] | None = None,
) -> Checked:
    """Check everything that can be checked without a key, a database or a network.

    `head` and `signer` are what the caller knows from elsewhere, `known` says of public keys whose
    they are. BundleBroken if the bytes are no bundle or their chain is broken, BundleUnknown if
    they are one of another time; all else is a finding.
    """
    known = known or {}
    bundle = read_bundle(data)
    replay = _replayed(bundle)
    state = replay.state
    findings = (
        Finding("chain", "good", f"{bundle.lines:,} lines, each follows from the one before"),
        *_head(bundle, head),
        Finding("events", "good", f"{state.seq:,} fold into a discussion that is {state.status}"),
        *_version(bundle, state),
        *_decisions(bundle, replay),
        *_speeches(bundle, replay),
        *_declarations(bundle, replay),
        *_prompts(bundle, replay),
        *_tally(bundle, state),
        *_cites(state),
        *_quotations(state),
        *_answer(state),
        *_redactions(bundle),
        *_signature(bundle, signer, known),
    )
    genuine = bundle.signature and is_genuine(bundle.signature, bundle.head)
    key = bundle.signature.public_key if bundle.signature and genuine else None
    return Checked(
        discussion_id=bundle.discussion_id,
        topic=state.start.topic,
        head=bundle.head,
        signed_by=key,
        whose=known.get(key, "") if key else "",
        expected=key is not None and (_plain(signer) == key if signer else key in known),
        findings=findings,
        decided=any(f.check == "decisions" and f.level == "good" for f in findings),
    )


@dataclass(frozen=True, slots=True)
class _Replay:
    """The events folded, and the numbers of those that the procedure decided again by itself."""

    state: State
    decided: frozenset[int]
    hearing: Hearing
    other: Mapping[int, str]
    """By the number of a verdict that came out otherwise, the parts in which it did."""
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
        "StageReopened",
        "LimitsRaised",
        "CostEstimated",
        "FollowUpOpened",
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
    other: dict[int, str] = {}
    hearing = Hearing(procedure)
    for place, record in enumerate(records):
        event = record.event
        hearing.before(state, event)
        if procedure is not None and not (record.seq in decided or event.type in _FROM_THE_WORLD):
            events = _decided(state, procedure)
            found = [each.event for each in records[place : place + len(events)]]
            if found == events:
                decided.update(range(place + 1, place + 1 + len(events)))
            elif told := _parts_apart(event, events):
                other[record.seq] = told
        try:
            state.apply(record)
        except (KeyError, IndexError, ValueError):
            raise BundleBroken(
                f"Line {record.seq + 1} (event {record.seq}, {event.type}) cannot follow the "
                "events before it.",
                line=record.seq + 1,
            ) from None
        hearing.after(state, event)
    return _Replay(state, frozenset(decided), hearing, other, unknown)


def _procedure(name: str) -> tuple[Procedure | None, str]:
    try:
        return procedure_spec(name).procedure, ""
    except RoundtableError as error:
        return None, str(error)


def _decided(state: State, procedure: Procedure) -> list[Event]:
    """The events that the procedure decides in this state."""
    try:
        effects = decide(state, procedure)
    except Exception:  # rules that meet what they never wrote may fail in any way
        return []
    return [event for each in effects if isinstance(each, Record) for event in each.events]


def _parts_apart(event: Event, decided: Sequence[Event]) -> str:
    """The parts in which a verdict differs from the one that is decided in its place."""
    again = next((each for each in decided if isinstance(each, VerdictReached)), None)
    if again is None or not isinstance(event, VerdictReached):
        return ""
    was, now = event.verdict, again.verdict
    names = [name for name in Verdict.model_fields if getattr(was, name) != getattr(now, name)]
    return ", ".join(name.replace("_", " ") for name in names)


def _head(bundle: Bundle, expected: str | None) -> Iterator[Finding]:
    if expected is None:
        return
    if expected.strip().lower() == bundle.head:
        yield Finding("head", "good", "it is the one that was expected")
    else:
        yield Finding("head", "wrong", f"expected {expected}: this is another bundle")


def _version(bundle: Bundle, state: State) -> Iterator[Finding]:
    if bundle.program_version != state.start.program_version:
        text = (
            f"the file says {bundle.program_version!r}, the discussion "
            f"{state.start.program_version!r}"
        )
        yield Finding("version", "wrong", text)
    elif bundle.program_version not in KNOWN_VERSIONS:
        text = (
            f"it was held by version {clip(bundle.program_version, 40)!r}, "
            f"whose rules {__version__} does not know"
        )
        yield Finding("version", "unverified", text)


def _decisions(bundle: Bundle, replay: _Replay) -> Iterator[Finding]:
    """Ballots and verdict follow from the speeches by the rules of the procedure."""
    name = replay.state.start.procedure
    if replay.unknown:
        yield Finding("decisions", "unverified", f"not decided again: {replay.unknown}")
        return
    kinds = BallotCast | DecisionsTabled | VerdictReached
    ruled = [r for r in bundle.records if isinstance(r.event, kinds)]
    other = [record for record in ruled if record.seq not in replay.decided]
    if not ruled:
        yield Finding("decisions", "remark", "there is neither a vote nor a verdict yet")
    elif not other:
        made = [
            f"{count} {one if count == 1 else many}"
            for count, one, many in (
                (sum(isinstance(r.event, BallotCast) for r in ruled), "ballot", "ballots"),
                (
                    sum(isinstance(r.event, DecisionsTabled) for r in ruled),
                    "list of options",
                    "lists of options",
                ),
            )
            if count
        ]
        made += ["the verdict"] * any(isinstance(r.event, VerdictReached) for r in ruled)
        text = f"decided again by the rules of {name}, {' and '.join(made)} came out the same"
        yield Finding("decisions", "good", text)
    else:
        first = other[0]
        text = (
            f"by the rules of {name}, event {first.seq} ({first.event.type}) does not follow from "
            "what was said before it"
        )
        if parts := replay.other.get(first.seq):
            text += f": decided again, it has another {parts}"
        yield _disagrees(bundle, "decisions", text)


def _disagrees(bundle: Bundle, check: str, text: str) -> Finding:
    """Wrong, unless there may be another reason for it. The file gives that reason itself, so it
    excuses nothing: it only says why nobody can tell."""
    if _earlier_rules(bundle):
        return Finding(check, "unverified", f"{text}; {_EARLIER}")
    if bundle.program_version != __version__:
        why = f"; version {bundle.program_version} may have had other rules than {__version__}"
        return Finding(check, "unverified", text + why)
    if bundle.redacted:
        return Finding(check, "unverified", f"{text}; what was redacted may be the reason")
    return Finding(check, "wrong", text)


_EARLIER = "it was held under earlier rules, which read positions from prose"


def _earlier_rules(bundle: Bundle) -> bool:
    """Whether positions were not yet declared when it was held."""
    events = [record.event for record in bundle.records]
    read = BallotCast | PointRaised | StanceTaken | ScoresGiven
    if any(isinstance(event, read) for event in events):
        return True
    speeches = [e for e in events if isinstance(e, SpeechGiven) and e.round > 0]
    declared = any(e.declaration is not None or UNDECLARED in e.flags for e in speeches)
    return not declared and not any(isinstance(event, DecisionsTabled) for event in events)


def _declarations(bundle: Bundle, replay: _Replay) -> Iterator[Finding]:
    """What everybody declared stands in what it answered."""
    hearing = replay.hearing
    if hearing.misread:
        text = f"read again, what was answered declares something else: {_few(hearing.misread)}"
        yield _disagrees(bundle, "declarations", text)
    elif hearing.declared:
        text = f"{hearing.declared} read again from what was answered came out the same"
        yield Finding("declarations", "good", text)


def _speeches(bundle: Bundle, replay: _Replay) -> Iterator[Finding]:
    """What everybody said is what it answered when it was called."""
    hearing = replay.hearing
    if hearing.contradictions:
        yield Finding("speeches", "wrong", _few(hearing.contradictions, "; "))
    if hearing.differs:
        text = f"read again, what was answered makes another speech: {_few(hearing.differs)}"
        yield _disagrees(bundle, "speeches", text)
    if hearing.underived:
        text = f"not made again from what was answered: {_few(hearing.underived)}"
        yield Finding("speeches", "unverified", text + _why_not(bundle, replay))
    elif hearing.derived and not (hearing.contradictions or hearing.differs or hearing.misread):
        text = f"{hearing.derived} made again from what was answered came out the same"
        yield Finding("speeches", "good", text)


def _prompts(bundle: Bundle, replay: _Replay) -> Iterator[Finding]:
    """Everybody was asked with what there was: the question, the material, the earlier speeches."""
    hearing = replay.hearing
    if hearing.other_prompts:
        text = (
            "rendered again from the question, the material and the speeches before, they are "
            f"others: {_few(hearing.other_prompts)}"
        )
        yield _disagrees(bundle, "prompts", text)
    if hearing.old_prompts:
        text = f"{len(hearing.old_prompts)} cannot be rendered again here: "
        text += f"{_few(hearing.old_prompts)}; their words are of another time, or were condensed"
        yield Finding("prompts", "unverified", text + _why_not(bundle, replay))
    elif hearing.prompts and not hearing.other_prompts:
        text = f"{hearing.prompts} rendered again came out the same"
        yield Finding("prompts", "good", text)


def _why_not(bundle: Bundle, replay: _Replay) -> str:
    if replay.unknown:
        return f"; {replay.unknown}"
    return f"; {_EARLIER}" if _earlier_rules(bundle) else ""


def _few(found: Sequence[str], between: str = ", ") -> str:
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return between.join(clip(each, 160) for each in found[:3]) + more


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
        yield _disagrees(bundle, "tally", "counted anew, the ballots come to something else")
        return
    votes = sum(len(each["voters"]) for each in again)
    if not votes:
        yield Finding("tally", "remark", "no ballot has options that could be counted")
        return
    last = [each for each in again if each["voters"]][-1]
    rules = f"{votes} votes counted anew by {len(last['outcomes'])} rules"
    if state.ballots:
        winners = " = ".join(clip(each, 60) for each in last["outcomes"]["plurality"]["winners"])
        told = f"the last round: {winners}"
    else:
        told = clip(headline(state), 160)
    disagree = " (the rules disagree)" if last["alarm"] else ""
    yield Finding("tally", "good", f"{rules}; {told}{disagree}")


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
        turns = "the turn" if count == 1 else f"all {count} turns"
        text = f"{turns} that the verdict names {'was' if count == 1 else 'were'} taken"
        yield Finding("citations", "good", text if count else "the verdict names no turn")
    lost = [flaw.excerpt for flaw in _flaws(state, verdict) if flaw.code == "unknown_turn"]
    if lost:
        yield Finding("citations", "remark", f"in its words it cites turns nobody took: {lost}")


def _quotations(state: State) -> Iterator[Finding]:
    verdict = state.verdict
    if verdict is None:
        return
    about = {"unknown_turn", "host_cited", "missing_part", *ABOUT_THE_COUNT}
    found = [flaw for flaw in _flaws(state, verdict) if flaw.code not in about]
    wrong = [flaw for flaw in found if flaw.code != "forged_mark"]
    if forged := [flaw for flaw in found if flaw.code == "forged_mark"]:
        shown = ", ".join(f"“{clip(flaw.excerpt, 80)}”" for flaw in forged[:3])
        yield Finding("marks", "remark", f"its writer put in marks of the program's own: {shown}")
    proven = sum(len(each.quotations) for each in _checked(state, verdict))
    if wrong:
        shown = "; ".join(f"“{clip(flaw.excerpt, 80)}” ({flaw.message})" for flaw in wrong[:3])
        text = f"{len(wrong)} of {len(wrong) + proven} stand in no speech or source as they are: "
        yield Finding("quotations", "remark", text + shown)
    elif proven:
        text = "it stands" if proven == 1 else f"all {proven} stand"
        text += " word for word in the speeches or sources"
        yield Finding("quotations", "good", text)
    else:
        yield Finding("quotations", "good", "the verdict quotes nobody")


def _answer(state: State) -> Iterator[Finding]:
    """The answer against the count: what every surface says of it."""
    verdict = state.verdict
    if verdict is None or standing_of(state).question is None:
        return
    claimed = [f for f in findings_of(state) if f.code in ABOUT_THE_COUNT]
    if contradicts(state):
        yield Finding("answer", "remark", f"it contradicts the count: {_messages(claimed)}")
    elif claimed:
        yield Finding("answer", "remark", _messages(claimed))
    elif not state.ballots:
        yield Finding("answer", "good", "the check found no contradiction to the count")


def _messages(flaws: Sequence[Flaw]) -> str:
    return " ".join(flaw.message for flaw in flaws)


def _checked(state: State, verdict: Verdict) -> list[CheckedText]:
    sources = sources_of(state)
    written = (verdict.answer, verdict.agreement, verdict.gaps, verdict.on_dissent)
    parts = (*written, *verdict.why, *verdict.would_change)
    return [check_text(text, sources) for text in parts if text]


def _flaws(state: State, verdict: Verdict) -> list[Flaw]:
    """What the program found when it was written, and what can be found now."""
    now = [flaw for each in _checked(state, verdict) for flaw in each.findings]
    found = {(flaw.code, flaw.excerpt): flaw for flaw in (*findings_of(state), *now)}
    return list(found.values())


def _redactions(bundle: Bundle) -> Iterator[Finding]:
    if bundle.redacted > bundle.marked or bundle.redacted < 0:
        text = f"it says so of {bundle.redacted} texts, and {bundle.marked} show it"
        yield Finding("redaction", "wrong", text)
    elif bundle.redacted:
        text = (
            f"{bundle.redacted} texts held something that looks like a secret; it was taken out, "
            "so what stood there cannot be checked"
        )
        yield Finding("redaction", "unverified", text)


def _signature(bundle: Bundle, signer: str | None, known: Mapping[str, str]) -> Iterator[Finding]:
    """Whose signature it is, and whether that was expected."""
    signed = bundle.signature
    if signed is None:
        text = (
            "none: whoever has the file could have made it anew, so compare the head with one that "
            "you know from elsewhere"
        )
        yield Finding("signature", "wrong" if signer else "remark", text)
        return
    key = clip(signed.public_key, 80)
    whose = f"{known[key]} ({key})" if key in known else f"the key {key}"
    genuine = is_genuine(signed, bundle.head)
    if genuine is None:
        text = f"it names {whose}, NOT checked: cryptography is missing. {install('sign')}"
        yield Finding("signature", "unverified" if signer else "remark", text)
    elif not genuine:
        yield Finding("signature", "wrong", f"it is not one by {whose} over this head")
    elif signer is not None and _plain(signer) != key:
        text = f"genuine, but by {whose}, not by {known.get(_plain(signer), signer)}, as expected"
        yield Finding("signature", "wrong", text)
    elif signer is not None:
        yield Finding("signature", "good", f"genuine, by {whose}, as expected")
    elif key in known:
        yield Finding("signature", "good", f"genuine, by {whose}, whom you know")
    else:
        text = (
            f"genuine, but by {whose}, which is none that you know: anybody can make one. "
            "Compare it with what its owner tells you, and give it with --signer"
        )
        yield Finding("signature", "remark", text)


def _plain(key: str) -> str:
    return key.strip().lower()
