"""Events: the only thing that is ever stored. One discriminated union, past tense, versioned.

A stored event is for ever. To change one, raise its `v`, add an upcaster in `UPCASTERS`, and keep
a golden ledger of the old form in tests/goldens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from .declaration import Decision, Declaration
from .deliverable import Deliverable
from .errors import FailureCause
from .model_trouble import ModelTrouble
from .values import (
    Budget,
    Confidence,
    Expected,
    Material,
    NewsPlan,
    Options,
    Pace,
    Participant,
    Prompt,
    Reservation,
    SearchHit,
    StopReason,
    ToCome,
    TurnedOut,
    Usage,
    Value,
    Verdict,
    added,
)

Purpose = Literal["answer", "repair", "retry", "fallback", "declare"]
"""Why a call is made; `declare` asks for the declaration of a speech that is there already."""
CUT = "length"
"""The `finish_reason` of an answer that was ended before its end."""


class DiscussionOpened(Value):
    type: Literal["DiscussionOpened"] = "DiscussionOpened"
    v: Literal[1] = 1
    topic: str
    context: tuple[Material, ...] = ()
    procedure: str
    options: Options = Field(default_factory=dict)
    participants: tuple[Participant, ...]
    host: Participant
    language: str = "auto"
    budget: Budget = Budget()
    seed: int = 0
    created_by: str = ""
    program_version: str = ""
    pace: Pace | None = added(None)
    """What its asker said of the time that speakers may take; stronger than what their models need
    as a rule."""
    follows: str = added("")
    """The discussion that this one goes on from."""
    limits_from: dict[str, str] = added({})
    """Where each limit of its budget comes from, in words."""
    files: bool = added(True)
    """Whether it leaves files in the workspace, whoever brings it to its end."""
    account: str = added("")
    """Whose it is where users wait for each other: the id of what its asker was given; empty: the
    owner's, by whatever surface."""


class StageOpened(Value):
    """A step of the procedure began; these turns belong to it."""

    type: Literal["StageOpened"] = "StageOpened"
    v: Literal[1] = 1
    stage: str
    round: int
    turns: tuple[str, ...]


class StageClosed(Value):
    type: Literal["StageClosed"] = "StageClosed"
    v: Literal[1] = 1
    stage: str
    round: int
    spoke: tuple[str, ...]
    missing: tuple[str, ...] = ()


class StageReopened(Value):
    """The last stage of a closed discussion is asked again, alone. What was said in it before stays
    in the ledger and no longer counts; the discussion is open until it has been answered anew."""

    type: Literal["StageReopened"] = "StageReopened"
    v: Literal[1] = 1
    stage: str
    round: int
    turns: tuple[str, ...]
    by: str = ""


class FollowUpOpened(Value):
    """Another discussion goes on from this one; its opening names this one in turn."""

    type: Literal["FollowUpOpened"] = "FollowUpOpened"
    v: Literal[1] = 1
    discussion_id: str
    by: str = ""


class AttemptStarted(Value):
    """Written before a call is made, so that a call in flight at a crash is known and counted."""

    type: Literal["AttemptStarted"] = "AttemptStarted"
    v: Literal[1] = 1
    turn_id: str
    attempt: int
    stage: str
    round: int
    participant: str
    model: str
    purpose: Purpose
    label: str
    prompt: Prompt
    reserved: Reservation


class AttemptFinished(Value):
    """The call's words, before anybody judged them: from here on they are paid and never lost."""

    type: Literal["AttemptFinished"] = "AttemptFinished"
    v: Literal[1] = 1
    turn_id: str
    attempt: int
    text: str
    usage: Usage
    served_by: str = ""
    finish_reason: str = ""
    seconds: float = 0.0


class AttemptFailed(Value):
    type: Literal["AttemptFailed"] = "AttemptFailed"
    v: Literal[1] = 1
    turn_id: str
    attempt: int
    cause: FailureCause
    message: str
    remedy: str = ""
    retry_after: float | None = None
    seconds: float = 0.0
    trouble: ModelTrouble | None = added(None)
    """What is wrong with the model, where it was not found to be usable."""
    usage: Usage | None = added(None)
    """What its provider counted although nothing came of it; None where it did not tell."""
    used_up: Literal["limit", "task"] | None = added(None)
    """Where all its tokens went into thought, before the first word: whether a limit of the
    discussion had left it fewer than its task allows, or it had all of those."""


CORRECTION = "declaration"
"""The stage of what a seat declares after its speech, without words."""


class SpeechGiven(Value):
    """The accepted outcome of a turn. Host speeches sit in round 0, anchored by `after_round`."""

    type: Literal["SpeechGiven"] = "SpeechGiven"
    v: Literal[2] = 2
    turn_id: str
    stage: str
    round: int
    participant: str
    model: str
    text: str
    sections: dict[str, str] = Field(default_factory=dict)
    flags: tuple[str, ...] = ()
    after_round: int = 0
    key: str = ""
    """The idempotency key of the call that brought it from outside the program, if it had one."""
    declaration: Declaration | None = None
    """What it declares; `text` holds the words without it. A turn that asks for a declaration alone
    has no words."""
    independent: bool = False
    """Whether its speaker knew nothing of what the others said."""
    deliverables: tuple[Deliverable, ...] = added(())
    """The works that it brought, as they were written; `text` has a line in the place of each."""

    @property
    def corrects(self) -> bool:
        """Whether it adds to what its seat declared in the same round, or sets that right. It has
        no words, and holds all that the seat then declares."""
        return self.stage == CORRECTION


class TurnFailed(Value):
    type: Literal["TurnFailed"] = "TurnFailed"
    v: Literal[1] = 1
    turn_id: str
    stage: str
    round: int
    participant: str
    cause: FailureCause
    message: str
    remedy: str = ""


class ParticipantSubstituted(Value):
    """Another speaker of the participant's chain took over."""

    type: Literal["ParticipantSubstituted"] = "ParticipantSubstituted"
    v: Literal[1] = 1
    participant: str
    turn_id: str
    from_model: str
    to_model: str
    cause: FailureCause
    remedy: str = ""
    trouble: ModelTrouble | None = added(None)
    """What is wrong with the model that was to speak, if it is the model."""


class BallotCast(Value):
    """A participant's position after a round. Only each participant's last one counts."""

    type: Literal["BallotCast"] = "BallotCast"
    v: Literal[1] = 1
    turn_id: str
    participant: str
    round: int
    position: str
    confidence: Confidence | None = None
    certainty: float | None = None
    """The confidence as a number from 0 to 1, where the ballot asked for one."""
    ranking: tuple[tuple[str, ...], ...] = ()
    """Options in groups, best first, where the ballot had options."""
    approved: tuple[str, ...] | None = None
    meaningful: bool = True


class ParticipantsSeated(Value):
    """The table was set, or set anew, after the opening."""

    type: Literal["ParticipantsSeated"] = "ParticipantsSeated"
    v: Literal[1] = 1
    participants: tuple[Participant, ...]
    reason: str = ""
    guidance: dict[str, str] = added({})
    """How a seat should argue, by its id, where that was not settled at the opening."""
    instead: bool = added(False)
    """They sit in place of those of the opening, who were never heard and never will be."""


class WorkflowChosen(Value):
    """How the discussion goes on was designed by the table itself. `design` is the procedure's."""

    type: Literal["WorkflowChosen"] = "WorkflowChosen"
    v: Literal[1] = 1
    workflow: str
    rounds: int
    design: Options = Field(default_factory=dict)


class ScoresGiven(Value):
    """How much a participant agrees with each of its peers, 1 to 5."""

    type: Literal["ScoresGiven"] = "ScoresGiven"
    v: Literal[1] = 1
    turn_id: str
    participant: str
    round: int
    scores: dict[str, int]
    inferred: tuple[str, ...] = ()
    """The peers whose score was not stated cleanly."""


class PointRaised(Value):
    """A claim joined the discussion's shared list of points."""

    type: Literal["PointRaised"] = "PointRaised"
    v: Literal[1] = 1
    point_id: str
    text: str
    turn_id: str
    round: int


class PointsMerged(Value):
    """Points turned out to be the same claim; the stances on them move to the one that stays."""

    type: Literal["PointsMerged"] = "PointsMerged"
    v: Literal[1] = 1
    into: str
    merged: tuple[str, ...]
    denies: bool = False
    """They say the opposite: whoever agrees with one of them disagrees with the one that stays."""


class StanceTaken(Value):
    """A participant's declared position on a point; a later one replaces it."""

    type: Literal["StanceTaken"] = "StanceTaken"
    v: Literal[1] = 1
    participant: str
    point_id: str
    position: Literal["agree", "disagree", "unsure"]
    confidence: float | None = None
    turn_id: str
    round: int
    source: Literal["declared", "clerk", "extracted"] = "declared"
    quote: str = ""
    because: str = ""
    """The point or turn that it names as what brought it there."""
    meaningful: bool = True


class EndVoted(Value):
    """A participant voted on ending the discussion; its last vote counts."""

    type: Literal["EndVoted"] = "EndVoted"
    v: Literal[1] = 1
    participant: str
    in_favour: bool


class RoundAdvanced(Value):
    """A round was ended by hand; those who had not spoken are absent from it."""

    type: Literal["RoundAdvanced"] = "RoundAdvanced"
    v: Literal[1] = 1
    round: int
    absent: tuple[str, ...] = ()
    by: str = ""


class DecisionsTabled(Value):
    """On what the table decides, and between which options. A later one replaces it; the ids of
    options that stay are kept. All of it is a proposal until seats vote on it."""

    type: Literal["DecisionsTabled"] = "DecisionsTabled"
    v: Literal[1] = 1
    decisions: tuple[Decision, ...]
    shared: tuple[str, ...] = ()
    """What all seem to hold, in the clerk's words."""
    clashes: tuple[tuple[str, str], ...] = ()
    """Conditions that may exclude each other, by id: only their owners decide whether they do."""
    turn_id: str = ""
    """The clerk's turn; empty where the question or its asker named the options."""
    after_round: int = 0
    """The newest round of which anything was said by then."""


class OutcomeRecorded(Value):
    """How the decision turned out in the world, as somebody who knows says later."""

    type: Literal["OutcomeRecorded"] = "OutcomeRecorded"
    v: Literal[1] = 1
    outcome: TurnedOut
    note: str = ""
    by: str = ""


class SearchFinished(Value):
    type: Literal["SearchFinished"] = "SearchFinished"
    v: Literal[1] = 1
    query: str
    provider: str
    hits: tuple[SearchHit, ...]


class SearchFailed(Value):
    type: Literal["SearchFailed"] = "SearchFailed"
    v: Literal[1] = 1
    query: str
    provider: str
    message: str


class ChoiceMade(Value):
    """A person, or the documented default in their place, answered a question of the procedure."""

    type: Literal["ChoiceMade"] = "ChoiceMade"
    v: Literal[1] = 1
    question: str
    answer: str
    by: Literal["person", "default"]


SET_ASIDE = "set_aside"
"""The code of a note: it ended its workers so often that none of them takes it any more."""


class NoteAdded(Value):
    """Something the reader should know: a degradation, a refusal, a limit, and its remedy."""

    type: Literal["NoteAdded"] = "NoteAdded"
    v: Literal[1] = 1
    code: str
    text: str
    remedy: str = ""


class BudgetExhausted(Value):
    type: Literal["BudgetExhausted"] = "BudgetExhausted"
    v: Literal[1] = 1
    limit: Literal["calls", "tokens", "cost", "time"]
    detail: str
    origin: str = added("")
    """Where that limit comes from, in words."""
    to_come: ToCome | None = added(None)
    """What else it would have taken at most."""


class LimitsRaised(Value):
    """The discussion may spend so much from now on: more than before or less, or it had no limit.
    Where a limit that was spent is higher, it goes on from where that ended it: turns that were
    refused, and what was only said because it was to end, are asked for anew."""

    type: Literal["LimitsRaised"] = "LimitsRaised"
    v: Literal[1] = 1
    budget: Budget
    by: str
    limits_from: dict[str, str] = Field(default_factory=dict)
    turns: tuple[str, ...] = ()
    """Those that are asked for anew."""


class CostEstimated(Value):
    """What the discussion was expected to take, as it was told before it began."""

    type: Literal["CostEstimated"] = "CostEstimated"
    v: Literal[1] = 1
    expected: Expected


class DiscussionPaused(Value):
    """Nobody begins a new turn until it is resumed; whoever speaks finishes."""

    type: Literal["DiscussionPaused"] = "DiscussionPaused"
    v: Literal[1] = 1
    by: str
    reason: str = ""


class DiscussionResumed(Value):
    type: Literal["DiscussionResumed"] = "DiscussionResumed"
    v: Literal[1] = 1
    by: str


class MaterialAdded(Value):
    """A document joined the context after the opening: every later prompt carries it."""

    type: Literal["MaterialAdded"] = "MaterialAdded"
    v: Literal[1] = 1
    material: Material
    by: str


class RoundsExtended(Value):
    """The chair gave the table more rounds than it was opened with."""

    type: Literal["RoundsExtended"] = "RoundsExtended"
    v: Literal[1] = 1
    rounds: int
    by: str


class NewsPlanned(Value):
    """Where news of this discussion goes, and of what; a later plan replaces it."""

    type: Literal["NewsPlanned"] = "NewsPlanned"
    v: Literal[1] = 1
    plan: NewsPlan
    by: str = ""


class NewsRequested(Value):
    """Somebody wants a piece of news sent, or sent again, by hand."""

    type: Literal["NewsRequested"] = "NewsRequested"
    v: Literal[1] = 1
    kind: str
    by: str = ""
    message_id: str = ""
    """The message to send again; empty: news of this kind as things stand."""


class NewsThreadOpened(Value):
    """A channel made a thread for this discussion; all further news goes there."""

    type: Literal["NewsThreadOpened"] = "NewsThreadOpened"
    v: Literal[1] = 1
    channel: str
    thread_id: str
    name: str = ""


class NewsTried(Value):
    """Written before a message is handed to its channel. Whose event is stored for an attempt
    sends it: nobody else does while `by` may still be at it."""

    type: Literal["NewsTried"] = "NewsTried"
    v: Literal[1] = 1
    message_id: str
    kind: str
    channel: str
    attempt: int
    text: str
    by: str


class NewsSettled(Value):
    """What came of an attempt to send a message."""

    type: Literal["NewsSettled"] = "NewsSettled"
    v: Literal[1] = 1
    message_id: str
    channel: str
    attempt: int
    outcome: Literal["delivered", "failed", "given_up"]
    detail: str = ""
    remedy: str = ""
    retry_after: float | None = None
    receipt: str = ""
    """What the channel calls the message, where it says so."""
    seconds: float = 0.0


class TaskLinked(Value):
    """The discussion belongs to a task on a board, which hears of its conclusion."""

    type: Literal["TaskLinked"] = "TaskLinked"
    v: Literal[1] = 1
    board: str
    task: str
    by: str = ""


class TaskWritten(Value):
    """A board took a comment, or a task made of action items."""

    type: Literal["TaskWritten"] = "TaskWritten"
    v: Literal[1] = 1
    board: str
    task: str
    kind: Literal["comment", "task"]
    title: str = ""
    owner: str = ""
    items: tuple[str, ...] = ()
    url: str = ""


class StopRequested(Value):
    type: Literal["StopRequested"] = "StopRequested"
    v: Literal[1] = 1
    by: str
    reason: str = ""


class VerdictReached(Value):
    type: Literal["VerdictReached"] = "VerdictReached"
    v: Literal[2] = 2
    verdict: Verdict


class DiscussionClosed(Value):
    type: Literal["DiscussionClosed"] = "DiscussionClosed"
    v: Literal[1] = 1
    status: Literal["concluded", "failed", "stopped"]
    stop_reason: StopReason
    detail: str = ""
    remedy: str = ""


Event = Annotated[
    DiscussionOpened
    | StageOpened
    | StageClosed
    | StageReopened
    | FollowUpOpened
    | AttemptStarted
    | AttemptFinished
    | AttemptFailed
    | SpeechGiven
    | TurnFailed
    | ParticipantSubstituted
    | BallotCast
    | ParticipantsSeated
    | WorkflowChosen
    | ScoresGiven
    | PointRaised
    | PointsMerged
    | StanceTaken
    | EndVoted
    | RoundAdvanced
    | DecisionsTabled
    | OutcomeRecorded
    | SearchFinished
    | SearchFailed
    | ChoiceMade
    | NoteAdded
    | BudgetExhausted
    | LimitsRaised
    | CostEstimated
    | DiscussionPaused
    | DiscussionResumed
    | MaterialAdded
    | RoundsExtended
    | NewsPlanned
    | NewsRequested
    | NewsThreadOpened
    | NewsTried
    | NewsSettled
    | TaskLinked
    | TaskWritten
    | StopRequested
    | VerdictReached
    | DiscussionClosed,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(defer_build=True))

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


def _speech_2(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 knew no declarations, and independence only by the round: the first one was held
    in parallel everywhere but in meetings."""
    first = fields["round"] == 1 and fields["stage"] != "speech"
    return {**fields, "v": 2, "declaration": None, "independent": first}


def _verdict_2(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had no answer in brief: the new fields have defaults."""
    return {**fields, "v": 2}


UPCASTERS: Mapping[tuple[str, int], Upcaster] = {
    ("SpeechGiven", 1): _speech_2,
    ("VerdictReached", 1): _verdict_2,
}
"""(type, version) → what turns that version's fields into those of the next."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event about to be appended. `key` makes the append idempotent within its discussion."""

    event: Event
    at: datetime
    key: str | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in the ledger: `seq` counts from 1 without gaps within its discussion."""

    discussion_id: str
    seq: int
    at: datetime
    event: Event
    key: str | None = None


def dump(event: Event) -> str:
    """The event as the JSON that is stored."""
    return event.model_dump_json()


def load(data: str | bytes) -> Event:
    """An event from stored JSON, brought up to the present version."""
    text = data if isinstance(data, str) else data.decode()
    try:
        return _EVENT.validate_json(text)
    except ValidationError:
        fields: Any = json.loads(text)
        if not isinstance(fields, dict) or (fields.get("type"), fields.get("v")) not in UPCASTERS:
            raise
        while upcast := UPCASTERS.get((fields["type"], fields["v"])):
            fields = upcast(fields)
        return _EVENT.validate_json(json.dumps(fields))
