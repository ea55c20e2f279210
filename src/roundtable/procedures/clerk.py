"""The clerk: the host, asked what all share and on what they differ, before the seats vote on it.

What the clerk lists is a proposal. It counts for nothing until the seats confirm it in their next
declarations, so a hasty clerk can cost a round and never a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.contracts import Contract, Violation
from ..core.declaration import OWN, Decision, Option
from ..core.declaration_block import BrokenJson, parse_json, split_blocks
from ..core.effects import (
    Effect,
    PromptPlan,
    PromptValue,
    Record,
    Task,
    TurnPlan,
    TurnPolicy,
    Untrusted,
)
from ..core.events import DecisionsTabled, Event, NoteAdded, SpeechGiven, TurnFailed
from ..core.json_schema import list_of, object_of, text_of
from ..core.record import QUESTION
from ..core.record import Record as DecisionRecord
from ..core.stages import closed_stage, run_stage
from ..core.text import clip, same_words, worded
from ..core.versions import in_short
from .endings import may_open
from .table import Table

CLERK = "clerk"
BLOCK = "decisions"
MAX_DECISIONS, MAX_OPTIONS = 3, 7
MAX_SHARED, MAX_CLASHES, MOST_HOLDERS = 5, 20, 26
LONGEST_OPTION, LONGEST_QUESTION = 300, 300
CLERK_TOKENS = 2048
_OPTION = object_of(text=text_of(LONGEST_OPTION), holders=list_of({"type": "string"}, MOST_HOLDERS))
_SCHEMA = object_of(
    shared=list_of(text_of(LONGEST_OPTION), MAX_SHARED),
    decisions=list_of(
        object_of(question=text_of(LONGEST_QUESTION), options=list_of(_OPTION, MAX_OPTIONS)),
        MAX_DECISIONS,
    ),
    clashes=list_of(list_of({"type": "string"}, 2), MAX_CLASHES),
)
POLICY = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1, dispensable=True)

ROUGH_OPTIONS = NoteAdded(
    code="rough_options",
    text="The host did not list where the answers differ, so each position was put to the vote in "
    "its own words.",
    remedy="Name the options yourself, in the question or beside it.",
)
UNPAID_OPTIONS = NoteAdded(
    code="rough_options",
    text="The limit was too low to ask the host where the answers differ, so each position "
    "was put to the vote in its own words.",
    remedy="Raise the limit, or name the options yourself.",
)


def given_choices(table: Table) -> tuple[str, ...]:
    """The options that the question or its asker named."""
    given = table.option("choices")
    return tuple(str(each) for each in given) if isinstance(given, list) else ()


def tabled_by_asker(table: Table) -> DecisionsTabled | None:
    """The decision on options that were named before anybody spoke; None without such."""
    options = tuple(Option(id=f"o{n}", text=text) for n, text in enumerate(given_choices(table), 1))
    if not options:
        return None
    question = _question(table)
    return DecisionsTabled(decisions=(Decision(id=QUESTION, question=question, options=options),))


def given_options(table: Table) -> tuple[Effect, ...]:
    """Put the options that were named before anybody spoke on the table, once."""
    tabled = None if table.state.tabled else tabled_by_asker(table)
    return (Record((tabled,)),) if tabled else ()


def listed_options(
    table: Table, speeches: Sequence[SpeechGiven], *, name: str = ""
) -> tuple[Effect, ...]:
    """Where nothing is on the table yet, have the clerk list what these speeches share and where
    they differ; without a clerk, everybody's own position is put to the vote."""
    state = table.state
    if state.tabled or not any(speech.declaration for speech in speeches):
        return ()

    def closing(listing: Sequence[SpeechGiven], failed: Sequence[TurnFailed]) -> tuple[Event, ...]:
        tabled = tabled_by_clerk(table, next(iter(listing), None))
        if not table.host_writes or tabled.turn_id:
            return (tabled,)
        unpaid = any(failure.cause == "budget" for failure in failed)
        return (tabled, UNPAID_OPTIONS if unpaid else ROUGH_OPTIONS)

    asked = closed_stage(state, CLERK, 0) is not None
    if not asked and table.host_writes and may_open(state, CLERK, 0):
        return run_stage(state, [clerk_turn(table, speeches, name=name)], closing=closing).effects
    return (Record(closing(state.spoken_in(CLERK, 0), ())),)


def clerk_turn(table: Table, speeches: Sequence[SpeechGiven], *, name: str = "") -> TurnPlan:
    """Ask the host to list what these speeches share and where they differ."""
    task = Task(
        PromptPlan("shared/clerk", {**table.common(), **material(table, speeches)}),
        ClerkContract(),
        max_tokens=CLERK_TOKENS,
        schema=_SCHEMA,
    )
    return table.host_turn(CLERK, task, POLICY, name=name)


def material(
    table: Table, speeches: Sequence[SpeechGiven], *, names: bool = False
) -> dict[str, PromptValue]:
    """What the clerk reads: the speeches under letters, with what each declared; with `names` also
    whose they are, for a host who speaks of them to seats that know other letters."""
    said = {speech.participant: speech for speech in speeches}
    answers = []
    for letter, seat in table.letters(table.host.id).items():
        if (speech := said.get(seat)) is None:
            continue
        declared = speech.declaration
        stated = f"\nPosition: {declared.position}" if declared and declared.position else ""
        source = f"Answer {letter}, {table.name(seat)}" if names else f"Answer {letter}"
        works = in_short(table.state, seat)
        brought = f"\n{works}" if works else ""
        answers.append(Untrusted("speech", f"{speech.text}{stated}{brought}", source))
    conditions = "\n".join(f"{c.id}: {c.text}" for c in table.record.conditions if c.demand)
    return {
        "answers": tuple(answers),
        "demands": Untrusted("points", conditions) if conditions else "",
    }


@dataclass(frozen=True, slots=True)
class ClerkContract(Contract):
    """A block labelled `decisions` with at least one option."""

    flag: str = "[options not listed]"

    def check(self, text: str) -> tuple[Violation, ...]:
        return tuple(Violation(BLOCK, told) for told in _read(text)[1])


def tabled_by_clerk(table: Table, clerk: SpeechGiven | None) -> DecisionsTabled:
    """What the clerk proposes, or, where it proposes nothing of use, everybody's own position as
    worded."""
    found, problems = _read(clerk.text) if clerk is not None else ({}, ["no clerk"])
    if clerk is None or problems:
        return tabled_as_worded(table)
    letters = table.letters(table.host.id)
    number = 0
    decisions: list[Decision] = []
    for place, entry in enumerate(_decisions(found)[:MAX_DECISIONS], 1):
        options: list[Option] = []
        for option in _options(entry)[:MAX_OPTIONS]:
            text = _words(option.get("text"), LONGEST_OPTION)
            named = [_holder(table, letters, str(e)) for e in _list(option.get("holders"))]
            holders = tuple(dict.fromkeys(each for each in named if each))
            same = next((n for n, o in enumerate(options) if same_words(o.text, text)), None)
            if same is not None:  # listed twice, it would part those who hold the same
                both = tuple(dict.fromkeys((*options[same].holders, *holders)))
                options[same] = options[same].model_copy(update={"holders": both})
                continue
            number += 1
            options.append(Option(id=f"o{number}", text=text, origin="clerk", holders=holders))
        asked = _words(entry.get("question"), LONGEST_QUESTION)
        # The first decision is always the question that was asked, whatever the clerk calls it.
        question = _question(table) if place == 1 else asked
        decisions.append(Decision(id=f"d{place}", question=question, options=tuple(options)))
    demands = {c.id for c in table.record.conditions}
    clashes = [
        (str(pair[0]), str(pair[1]))
        for pair in _list(found.get("clashes"))
        if isinstance(pair, list) and len(pair) == 2 and {str(p) for p in pair} <= demands
    ]
    shared = (_words(each, LONGEST_OPTION) for each in _list(found.get("shared")))
    return DecisionsTabled(
        decisions=tuple(decisions),
        shared=tuple(each for each in shared if each)[:MAX_SHARED],
        clashes=tuple(clashes),
        turn_id=clerk.turn_id,
    )


def _holder(table: Table, letters: Mapping[str, str], told: str) -> str | None:
    """Whom the clerk means: by the letter, by “Answer A”, by “Answer A, Ann”, or by the name."""
    called = told.strip().removeprefix("Answer ").partition(",")[0].strip()
    names = {table.name(seat).casefold(): seat for seat in letters.values()}
    return letters.get(called.upper()) or names.get(called.casefold())


def without_listing(text: str) -> str:
    """A summary without the block that lists the options: what is left is for people."""
    return split_blocks(text, BLOCK)[0]


def tabled_as_worded(table: Table) -> DecisionsTabled:
    """Everybody's position as an option in its own words; the same words are one option. Whoever
    holds what another one worded can choose it in the next round."""
    options: dict[str, Option] = {}
    for seat in table.seats:
        position = table.record.position(seat.id)
        if not position:
            continue
        same = options.get(worded(position))
        options[worded(position)] = Option(
            id=same.id if same else f"o{len(options) + 1}",
            text=same.text if same else position,
            origin="own",
            holders=(*(same.holders if same else ()), seat.id),
        )
    question = _question(table)
    held = tuple(options.values())
    return DecisionsTabled(decisions=(Decision(id=QUESTION, question=question, options=held),))


def with_own_positions(table: Table) -> DecisionsTabled | None:
    """The decisions with what seats call their own on each and no option of it says; None if all of
    it is on the table."""
    record = table.record
    number = max((int(o.id[1:]) for d in record.decisions for o in d.options), default=0)
    decisions: list[Decision] = []
    for decision in record.decisions:
        options = list(decision.options)
        for seat, text in _own(record, decision):
            # What is on the table in the same words is no other option.
            if any(same_words(option.text, text) for option in options):
                continue
            number += 1
            options.append(Option(id=f"o{number}", text=text, origin="own", holders=(seat,)))
        decisions.append(decision.model_copy(update={"options": tuple(options)}))
    if tuple(decisions) == record.decisions:
        return None
    return DecisionsTabled(
        decisions=tuple(decisions),
        shared=record.shared,
        clashes=record.clashes,
        after_round=table.last_round,
    )


def _question(table: Table) -> str:
    """The question that was asked, on one line: a line of its own in it would read as an option."""
    return clip(" ".join(table.state.start.topic.split()), LONGEST_QUESTION)


def _own(record: DecisionRecord, decision: Decision) -> Iterator[tuple[str, str]]:
    for vote in record.votes(decision):
        if vote.choice == OWN and vote.own:
            yield vote.participant, vote.own


def _read(text: str) -> tuple[Mapping[str, Any], list[str]]:
    _, blocks = split_blocks(text, BLOCK)
    block = blocks[-1] if blocks else text.strip()
    if not blocks and not block.startswith("{"):
        return {}, [f"The block labelled `{BLOCK}` is missing."]
    try:
        found, _ = parse_json(block)
    except BrokenJson as broken:
        return {}, [f"The block is no JSON: {broken}"]
    decisions = _decisions(found)
    if not decisions or not _options(decisions[0]):
        return found, ["decisions is empty: the question itself comes first, with its options."]
    return found, []


def _decisions(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = [each for each in _list(found.get("decisions")) if isinstance(each, dict)]
    return [each for each in entries if _options(each)]


def _options(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = [
        {"text": each} if isinstance(each, str) else each for each in _list(entry.get("options"))
    ]
    return [e for e in given if isinstance(e, dict) and _words(e.get("text"), LONGEST_OPTION)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: Any, limit: int) -> str:
    """A text on one line; the placeholder of the example is none."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return clip(text, limit) if text.strip("…. ") else ""
