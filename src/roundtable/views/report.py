"""The report: everything there is to know of a discussion, in the order in which a person asks.

What came out, who sat there, where they stand, what was said, what it cost, where it comes from.
report_md and report_html write it down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from ..core.causes import reason
from ..core.cut_short import OWN_LENGTH, cut_by
from ..core.events import CUT, Purpose, SearchFinished, SpeechGiven, TurnFailed
from ..core.state import State, Turn
from ..core.values import EXAMPLE_NOTE, Participant
from .citing import labels_of, links_of, said_in, words_of
from .cost import Cost, in_words
from .decision import Decision
from .deliverables import fenced, works_of
from .delivery import Delivery
from .emphasis import as_meant
from .influence import influence_parts
from .notes import notes
from .report_costs import PLACES, costs, prompts
from .report_parts import (
    Alert,
    Grid,
    Line,
    Part,
    Prose,
    Report,
    Section,
    Speech,
    Subsection,
    clean,
    line,
)
from .report_positions import changes, points, positions, scores


def report(state: State, delivered: str) -> Report:
    """The report of a discussion that may still be going on. `delivered` is the verdict as its
    procedure words it."""
    found = (
        Section("verdict", "Verdict", tuple(_verdict(state, delivered))),
        Section("deliverables", "Deliverables", tuple(_works(state))),
        Section("positions", "Who holds what", positions(state)),
        Section("participants", "Participants", (_participants(state),)),
        Section("points", "Points and stances", points(state)),
        Section("scores", "Agreement scores", scores(state)),
        Section("changes", "Changes of mind", changes(state)),
        Section("influence", "Influence and bias", influence_parts(state)),
        Section("discussion", "Discussion", tuple(_rounds(state))),
        Section("material", "Material and sources", tuple(_material(state))),
    )
    made = (
        Section("notes", "Notes", tuple(_notes(state))),
        Section("costs", "Calls and costs", costs(state)),
        Section("provenance", "Provenance", (*_provenance(state), *prompts(state))),
    )
    return Report(
        title=line(state.start.topic),
        facts=tuple(_facts(state)),
        sections=tuple(section for section in found if section.parts),
        language=state.start.language,
        links=links_of(state),
        labels=labels_of(state),
        speeches=said_in(state),
        own=_own_words(state),
        decision=Decision.of(state),
        seats={name: place for place, name in enumerate(state.ever_seated)},
        made=tuple(section for section in made if section.parts),
        footer=f"{state.discussion_id} · roundtable {state.start.program_version}".strip(),
    )


def moment(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC") if at else ""


def spoke_as(state: State, seated: Participant) -> tuple[str, ...]:
    """The models that really spoke for a participant; those it was given if none did."""
    return state.said.models(seated.id)


def _works(state: State) -> Iterator[Part]:
    """Each work whole, as it was written."""
    for each in works_of(state).standing:
        yield Line(each.told)
        if not each.left_out:
            yield Prose(fenced(each), work=True)


def _facts(state: State) -> Iterator[tuple[str, str]]:
    yield "Status", state.status
    verdict = state.verdict
    delivery = Delivery.of(state)
    if delivery.question is not None and delivery.question.end is not None:
        yield "End", delivery.question.end
    if verdict is not None:
        if not verdict.meaningful:
            yield "Confidence", "not meaningful"
        elif delivery.confidence.word != "none":
            yield "Confidence", delivery.confidence.word
        if verdict.partial:
            yield "Verdict", "partial"
        elif verdict.method == "extractive":
            yield "Verdict", "extract, no model wrote it"
    if state.outcome is not None:
        note = f" ({line(state.outcome.note)})" if state.outcome.note else ""
        yield "Turned out", f"{state.outcome.outcome}{note}"
    yield "Procedure", state.start.procedure
    yield "Participants", str(len(state.participants))
    if rounds := max((s.round for s in state.speeches), default=0):
        yield "Rounds", str(rounds)
    yield "Calls", f"{state.usage.calls:,}"
    yield "Cost", in_words(Cost.of(state), places=PLACES)
    yield "Date", moment(state.opened_at)


def _verdict(state: State, delivered: str) -> Iterator[Part]:
    # Where a recorded example comes from must be known before it is read.
    yield from (Alert(line(note.text)) for note in state.notes if note.code == EXAMPLE_NOTE)
    verdict = state.verdict
    if verdict is not None and Delivery.of(state).headline not in as_meant(delivered):
        # The words of a procedure's own document say it in their way; the count stands first.
        first, *rest = Delivery.of(state).opening
        yield Alert(first, " ".join(rest))
    if delivered.strip():
        yield Prose(clean(delivered).strip(), verdict=True)
    if state.closed is not None and state.closed.status != "concluded":
        yield Alert(
            line(state.closed.detail or state.closed.stop_reason), line(state.closed.remedy)
        )
    elif verdict is None:
        yield Alert("There is no verdict yet: the discussion is not finished.")
    if verdict is None:
        return
    # A view that the delivery left out or cut short must not be lost.
    words = line(as_meant(delivered))
    lost = [each for each in Delivery.of(state).dissent if each.position not in words]
    if lost:
        yield Grid(
            "Dissent",
            ("Who", "Position", "Reason", "Where"),
            tuple(
                (each.name, each.position, each.reason or "—", each.turn or "—") for each in lost
            ),
        )


def _own_words(state: State) -> dict[str, str]:
    verdict = state.verdict
    if verdict is None:
        return {}
    own = [(each.participant, clean(f"{each.position}\n{each.reason}")) for each in verdict.dissent]
    if verdict.method == "extractive":
        words = words_of(state)
        own += [(speech.participant, words[speech.turn_id]) for speech in state.speeches]
    texts: dict[str, list[str]] = {}
    for participant, text in own:
        texts.setdefault(participant, []).append(text)
    return {participant: "\n".join(said) for participant, said in texts.items()}


def _participants(state: State) -> Part:
    rows = []
    everybody = (*state.ever_seated.values(), state.start.host)
    reasons = any(seated.why for seated in everybody)
    for seated in everybody:
        models = spoke_as(state, seated)
        spoke = sum(1 for s in state.speeches if s.participant == seated.id)
        role = "host" if seated is state.start.host else seated.role
        what = [role if role != seated.name else "", seated.perspective, seated.looks_at]
        if any(ref.demonstration for ref in seated.speakers if ref.model in models):
            what.append("a demonstration model: its votes do not count")
        rows.append(
            (
                line(f"{seated.emoji} {seated.name}"),
                line("; ".join(dict.fromkeys(part for part in what if part.strip()))),
                *((line(seated.why),) if reasons else ()),
                line(", ".join(models)) or f"silent ({line(seated.speaker.model)})",
                str(spoke),
            )
        )
    heads = ("Who", "Role", *(("Why here",) if reasons else ()), "Model", "Speeches")
    return Grid("", heads, tuple(rows), numbers=(len(heads) - 1,))


# What was said


def _rounds(state: State) -> Iterator[Subsection]:
    by_round: dict[int, list[Speech]] = {}
    for place, speech in _in_order(state):
        by_round.setdefault(place, []).append(speech)
    for place in sorted(by_round):
        title, short = (f"Round {place}", str(place)) if place else ("Opening", "Opening")
        if gone := state.advanced.get(place):
            title += f" (ended by {line(gone.by) or 'hand'})"
        yield Subsection(f"round-{place}", title, short, tuple(by_round[place]))


def _in_order(state: State) -> list[tuple[int, Speech]]:
    """Every turn that came to an end, by round, stage, and the order of the stage: participants
    who speak side by side end in an order that means nothing."""
    order = {
        turn: number
        for stage in state.stages.values()
        for number, turn in enumerate(stage.opened.turns)
    }
    at = {s.turn_id: when for s, when in zip(state.speeches, state.spoken_at, strict=True)}
    places = _host_places(state)
    words = words_of(state)
    outcomes: list[tuple[int, SpeechGiven | TurnFailed, Speech]] = [
        (s.round or s.after_round, s, _said(state, s, at[s.turn_id], words[s.turn_id]))
        for s in state.speeches
    ]
    outcomes += [(f.round or places.get(f.stage, 0), f, _failed(state, f)) for f in state.failures]
    stages: dict[tuple[int, str], int] = {}
    found: list[tuple[tuple[int, int, int], Speech]] = []
    for number, (place, event, speech) in enumerate(outcomes):
        stage = stages.setdefault((place, event.stage), number)
        found.append(((place, stage, order.get(event.turn_id, number)), speech))
    return [(key[0], speech) for key, speech in sorted(found, key=lambda each: each[0])]


def _said(state: State, given: SpeechGiven, at: datetime, words: str) -> Speech:
    turn = state.turns[given.turn_id]
    return replace(
        _turn(state, given),
        model=line(given.model),
        at=at,
        marks=tuple(_marks(state, turn, given.flags)),
        text=words,
    )


def _failed(state: State, failure: TurnFailed) -> Speech:
    return replace(
        _turn(state, failure), failure=Alert(line(failure.message), line(failure.remedy))
    )


def _turn(state: State, event: SpeechGiven | TurnFailed) -> Speech:
    who = state.participant(event.participant)
    seats = {name: place for place, name in enumerate(state.ever_seated)}
    turn = state.turns[event.turn_id]
    return Speech(
        turn=event.turn_id,
        name=line(who.name if who else event.participant),
        emoji=line(who.emoji) if who else "",
        seat=None if who is state.start.host else seats.get(event.participant),
        stage=line(event.stage),
        model=line(turn.attempts[-1].started.model) if turn.attempts else "not asked",
        at=None,
        marks=tuple(_marks(state, turn, ())),
        text="",
    )


def _host_places(state: State) -> dict[str, int]:
    """After which round the host's stages were opened."""
    places: dict[str, int] = {}
    latest = 0
    for stage, round_ in state.stages:
        latest = max(latest, round_)
        if round_ == 0:
            places[stage] = latest
    return places


def _marks(state: State, turn: Turn, flags: Sequence[str]) -> Iterator[str]:
    yield from map(line, flags)
    if len(turn.attempts) > 1:
        yield f"{len(turn.attempts)} calls: " + ", ".join(a.started.purpose for a in turn.attempts)
    for each in state.substitutions:
        if each.turn_id == turn.id:
            instead = f"{line(each.to_model)} in place of {line(each.from_model)}"
            yield f"{instead}, which {reason(each.cause, each.trouble)}"
    done = turn.attempts[-1].finished if turn.attempts else None
    if done is not None:
        if done.served_by and done.served_by != turn.attempts[-1].started.model:
            yield f"served by {line(done.served_by)}"
        if by := cut_by(flags):
            yield by
        elif done.finish_reason == CUT:
            # A speech that is not flagged was whole: only what was to mend or complete it was cut.
            yield _CUT_CALLS.get(turn.attempts[-1].started.purpose, OWN_LENGTH)


_CUT_CALLS: dict[Purpose, str] = {
    "repair": "the repair was cut off",
    "declare": "the declaration that was asked for once more was cut off",
}


# What lies around it


def _material(state: State) -> Iterator[Part]:
    if state.context:
        yield Grid(
            "Given with the question",
            ("Source", "Characters"),
            tuple((line(m.source), f"{len(m.text):,}") for m in state.context),
            numbers=(1,),
        )
    for search in state.searches:
        if isinstance(search, SearchFinished) and search.hits:
            yield Grid(
                f"Found by {line(search.provider)} for “{line(search.query)}”, unverified",
                ("Title", "Address"),
                tuple((line(hit.title) or "untitled", line(hit.url)) for hit in search.hits),
            )


def _notes(state: State) -> Iterator[Part]:
    rows = tuple((line(n.code), line(n.text), line(n.remedy) or "—") for n in notes(state))
    if rows:
        yield Grid("", ("Note", "What happened", "What to do"), rows)


def _provenance(state: State) -> Iterator[Part]:
    start = state.start
    rows = [
        ("Discussion", state.discussion_id),
        ("Procedure", line(start.procedure)),
        ("Opened", moment(state.opened_at)),
        ("Last event", f"{state.seq}, {moment(state.updated_at)}"),
        ("Ended by", state.closed.stop_reason if state.closed else "not ended"),
        ("Verdict by", _author(state)),
        ("Language", line(start.language)),
        ("Seed", str(start.seed)),
        ("Opened by", line(start.created_by) or "—"),
        ("Program", line(f"roundtable {start.program_version}")),
    ]
    if state.workflow is not None:
        rows.append(
            ("Workflow", line(f"{state.workflow.workflow}, rounds: {state.workflow.rounds}"))
        )
    rows += [
        ("Choice", line(f"{c.question}: {c.answer} (by {c.by})")) for c in state.choices.values()
    ]
    yield Grid("", ("What", "Value"), tuple(rows))


def _author(state: State) -> str:
    if state.verdict is None:
        return "nobody"
    if state.verdict.method == "extractive":
        return "no model: an extract of what was said"
    return line(state.verdict.author) or "the host"
