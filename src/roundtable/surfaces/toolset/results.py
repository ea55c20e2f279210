"""What the tools answer: typed, always with what to do next, and short: whoever reads an answer
pays for every character."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from ...core.text import clip
from ...core.values import Status, TurnedOut
from ...views.outgoing import outgoing_document


class Result(BaseModel):
    """Base of every answer."""

    model_config = ConfigDict(extra="forbid")

    hint: str = Field(default="", description="What to do next.")

    @model_serializer(mode="wrap")
    def _leaves(self, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """However it leaves, nothing in it can do harm where it is shown. Without a type of its
        own, so that the schema stays the fields'."""
        return outgoing_document(handler(self))

    def wire(self) -> dict[str, Any]:
        """The answer as it is sent by every door: what says nothing is left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def size(self) -> int:
        """Characters of the answer as JSON."""
        return written(self.wire())


Phase = Status | Literal["awaiting_conclusion"]
"""Where a discussion is: also after its last round, while its coordinator is to conclude."""


class Seat(BaseModel):
    """A participant as the tools show it."""

    profile: str = Field(description="Its name in speak, vote and join; matched exactly.")
    display_name: str
    role: str
    perspective: str = ""
    model: str = Field(description="What speaks for it; `outside` is whoever calls speak.")


class Point(BaseModel):
    """A claim, or a condition, on the table, with who stands where."""

    id: str
    text: str
    by: str = ""
    status: str = Field(
        description="agreed by all, held (by how many, how many not heard), disputed, rejected, "
        "withdrawn, open; demand, fact."
    )
    stances: dict[str, str] = Field(
        default_factory=dict, description="By seat; whoever raised it holds it."
    )
    amended_in: int = Field(default=0, description="The round in which it was worded anew.")


class OptionRow(BaseModel):
    """An answer that can be chosen, and who stands how to it."""

    id: str
    text: str
    chosen_by: list[str] = Field(default_factory=list)
    acceptable_to: list[str] = Field(default_factory=list)
    rejected_by: list[str] = Field(default_factory=list)


class ConditionRow(BaseModel):
    """A condition with everybody's answer to it."""

    id: str
    text: str
    by: str
    kind: str
    granted_by: list[str] = Field(default_factory=list)
    partly: dict[str, str] = Field(default_factory=dict, description="By seat, with its reason.")
    refused_by: dict[str, str] = Field(default_factory=dict)
    otherwise: str = Field(default="", description="What its owner holds if it is not met.")


class Declaring(BaseModel):
    """What the next speech of a seat can declare."""

    participant: str
    deadline: str = Field(default="", description="Waited for until then; without it, no limit.")
    recorded: str = Field(default="", description="What is recorded of this seat so far.")
    decisions: dict[str, str] = Field(
        default_factory=dict, description="Decisions and options by id, with who holds them."
    )
    answer: list[str] = Field(
        default_factory=list, description="Points and conditions that need your stance."
    )
    more_to_answer: int = Field(default=0, description="Further ones; status pages to them.")
    fields: dict[str, str] = Field(
        default_factory=dict, description="The fields of `declaration`, and what each takes."
    )
    as_before: list[str] = Field(
        default_factory=list, description="Fields that you know; status has what each takes."
    )


class Standing(Result):
    """An answer about one discussion: where it stands now."""

    discussion_id: str
    state: Phase
    round_complete: bool = Field(description="Whether nobody is to speak any more in the round.")
    next_speaker: str | None = Field(description="The profile whose turn it is, if anybody's.")


class Created(Standing):
    topic: str
    procedure: str
    participants: list[Seat]
    round: int = Field(description="0 is the coordinator's opening, 1 the first round.")
    max_rounds: int | None
    speech_order: str
    created_by: str
    web_url: str | None = Field(description="The page to watch it live, if it is served.")
    notifications: Literal["on", "off"]
    rules: str = Field(description="How it ends, and how long whom is waited for.")
    warnings: list[str] = Field(default_factory=list)


class Spoken(Standing):
    participant: str
    number: int = Field(
        default=0, description="The speech's place in the history, from 1; none without words."
    )
    turn_id: str
    round: int = Field(description="The round of this speech; 0 for the coordinator.")
    current_round: int
    max_rounds: int | None
    flags: list[str] = Field(default_factory=list, description="What the speech does not keep to.")
    recorded: str = Field(description="What is recorded of it, for you to check.")
    problems: list[str] = Field(default_factory=list, description="What its declaration lacks.")
    new_points: list[str] = Field(default_factory=list, description="The ids of its points.")
    new_conditions: list[str] = Field(default_factory=list)
    amended: list[str] = Field(default_factory=list)
    convergence_score: float | None = None


class SpeechRow(BaseModel):
    """One speech of the history."""

    number: int
    participant: str
    round: int
    after_round: int = Field(default=0, description="In which round the coordinator said it.")
    time: str
    text: str
    declares: str = Field(default="", description="Where the text is folded: what it declares.")
    flags: list[str] = Field(default_factory=list)
    characters: int = Field(default=0, description="Of the whole text, where this is part of it.")


class History(Standing):
    """What was said; after a wait in vain, only whose turn it is and the hint."""

    round: int = 0
    max_rounds: int | None = None
    speeches: list[SpeechRow] = Field(default_factory=list, description="The newest first.")
    formatted_history: str = Field(default="", description="In their place, oldest first.")
    total: int = Field(default=0, description="Speeches that the filters match.")
    newest: int = Field(default=0, description="Next time, since=this gives what is new.")
    next_before: int | None = Field(default=None, description="Older ones: before=this.")
    next_offset: int | None = Field(default=None, description="The rest of a clipped text.")
    options: list[OptionRow] = Field(
        default_factory=list, description="For whoever is to conclude."
    )
    conditions: list[ConditionRow] = Field(default_factory=list)
    common_ground: str = ""
    points: list[Point] = Field(default_factory=list)
    further_points: int = Field(default=0, description="Points left out to keep it short.")
    form: Declaring | None = Field(default=None, description="What to declare with your speech.")


class Stood(Standing):
    """The status."""

    topic: str
    procedure: str
    created_by: str
    round: int
    max_rounds: int | None
    spoke: list[str] = Field(description="Who has spoken in this round.")
    waiting_for: list[str] = Field(description="Who must speak from outside, now.")
    convergence_score: float | None
    convergence_reason: str = ""
    consensus_points: list[str] = Field(description="Ids of what all agree on.")
    disagreement_points: list[str]
    points: list[Point] = Field(description="What is on the table, a page of it.")
    further_points: int = Field(default=0, description="Points left out to keep it short.")
    next_offset: int | None = Field(default=None, description="Further points: offset=this.")
    unanswered: dict[str, list[str]] = Field(
        default_factory=dict, description="At the end: what seats have not spoken to."
    )
    votes_to_end: list[str] = Field(default_factory=list)
    speeches: int
    unread: int = Field(default=0, description="Speeches that you have not seen.")
    absent: list[str] = Field(default_factory=list, description="From this round.")
    paused: bool = False
    participants: list[Seat]
    form: Declaring | None = Field(default=None, description="What to declare with your speech.")
    opened_at: str
    updated_at: str
    notifications: Literal["on", "off"]
    warnings: list[str] = Field(default_factory=list)


class RoundSummary(BaseModel):
    round: int
    convergence_score: float | None
    consensus: list[str]
    disagreement: list[str]
    rejected: list[str] = Field(default_factory=list)
    new: list[str]
    absent: list[str] = Field(default_factory=list)


class Holding(BaseModel):
    """What one seat holds, and how it came to it."""

    participant: str
    name: str
    status: str
    opening: str = Field(default="", description="What it held before it heard the others.")
    choice: str = ""
    final: str = Field(default="", description="Its choice, in the words put to the vote.")
    position: str = Field(default="", description="What it said last that it would do.")
    confidence: int | None = None
    moved_by: list[str] = Field(default_factory=list, description="All arguments that moved it.")
    told: str


class Action(BaseModel):
    text: str
    owner: str
    due: str = ""
    by: str = Field(default="", description="Who declared it.")
    said: list[str] = Field(default_factory=list, description="What seats said otherwise.")


class Summarized(Standing):
    """The data for a conclusion. No model is called for it."""

    topic: str
    rounds: int
    max_rounds: int | None
    participants: list[Seat]
    final_convergence_score: float | None
    convergence_reason: str
    consensus_points: list[Point]
    disagreement_points: list[Point]
    other_points: list[Point]
    further_points: int = Field(default=0, description="Points left out to keep it short.")
    vote: str = Field(description="How the vote on the topic stands, if there is one.")
    options: list[OptionRow] = Field(default_factory=list)
    common_ground: str = ""
    conditions: list[ConditionRow] = Field(default_factory=list)
    action_items: list[Action]
    also_declared: list[Action] = Field(
        default_factory=list, description="Actions of seats that the conclusion leaves out."
    )
    votes_to_end: list[str]
    conclusion: str
    headline: str = Field(description="How it ended, counted, with whoever is absent.")
    end: str | None = None
    share: float | None = Field(default=None, description="Holders of the leading answer, of all.")
    seats: list[Holding] = Field(default_factory=list, description="Who holds what.")
    findings: list[str] = Field(default_factory=list, description="Of the check of the verdict.")
    by_round: list[RoundSummary]
    speeches: list[SpeechRow]
    total: int = Field(description="Speeches in all.")
    digest: str = Field(description="The whole of it in a few sentences.")
    complete: bool = Field(description="Whether everything is in this answer.")
    path: str | None = Field(default=None, description="A file with everything, if it is not.")
    sha256: str | None = None
    characters: int | None = Field(default=None, description="Of that file.")
    next_offset: int | None = Field(default=None, description="Page on with offset=this.")


class Ended(Standing):
    conclusion: str
    rounds: int
    speeches: int
    final_convergence_score: float | None
    consensus_points: list[Point]
    disagreement_points: list[Point]
    further_points: int
    document: str | None = Field(description="The conclusion document's place, if one was written.")
    stop_reason: str | None
    detail: str


class Row(BaseModel):
    discussion_id: str
    topic: str
    procedure: str
    state: Status
    driven: bool
    queued: bool = False
    """Whether it waits for a worker."""
    set_aside: bool = Field(
        default=False,
        description="Whether it was set aside after it ended its workers three times: "
        "`resume` continues it by hand.",
    )
    created_by: str
    opened_at: str
    updated_at: str
    outcome: TurnedOut | None = Field(default=None, description="How its decision turned out.")


class Listed(Result):
    discussions: list[Row]
    total: int
    next_offset: int | None


class Advanced(Standing):
    ended_round: int
    absent: list[str]
    round: int
    max_rounds: int | None


class Delivery(BaseModel):
    """Where one message stands."""

    message_id: str
    event: str
    channel: str
    status: str
    attempts: int
    detail: str = ""


class Notified(Result):
    discussion_id: str
    state: Phase
    event: str
    notifications: Literal["on", "off"]
    deliveries: list[Delivery] = Field(description="The messages so far, the newest first.")
    warnings: list[str] = Field(default_factory=list)


class Voted(Standing):
    participant: str
    in_favour: bool
    votes_to_end: list[str]
    needed: int = Field(description="All of them together end it.")


class Outcome(Result):
    discussion_id: str
    state: Status
    outcome: TurnedOut
    note: str


class Joined(Standing):
    seat: Seat
    participants: list[Seat]


class Acted(Standing):
    """What whoever leads did, and where it stands now."""

    told: str
    round: int
    max_rounds: int | None
    paused: bool = False
    participants: list[str]


class Invited(Result):
    discussion_id: str
    state: Phase
    participant: str
    web_url: str | None
    token: str = Field(default="", description="Opens this seat alone, over HTTP too.")
    command: str = Field(description="Gives an agent the tools, restricted to this seat.")
    instructions: str = Field(description="What to tell whoever takes the seat.")


class Asked(Standing):
    topic: str
    procedure: str
    participants: list[Seat]
    estimate: str
    cursor: int
    web_url: str | None
    notifications: Literal["on", "off"]
    warnings: list[str] = Field(default_factory=list)


class Polled(Standing):
    done: bool
    cursor: int = Field(description="Give it to the next poll to hear only what is new.")
    progress: list[str] = Field(description="What happened since the cursor, oldest first.")
    waiting_for: list[str]


class Dissenting(BaseModel):
    participant: str
    position: str
    reason: str = ""


class Compared(Result):
    """Two discussions side by side: both values of each row."""

    discussion_ids: list[str]
    rows: dict[str, list[str]]
    positions: dict[str, list[str]]


class Collected(Standing):
    done: bool
    headline: str = Field(description="How it ended, counted, with whoever is absent.")
    answer: str
    end: str | None = Field(
        description="consensus, majority, hollow, conditional, impasse, drift; null: not counted."
    )
    share: float | None = Field(description="Holders of the leading answer, of all seated.")
    options: list[OptionRow] = Field(default_factory=list)
    common_ground: str = ""
    conditions: list[ConditionRow] = Field(default_factory=list)
    seats: list[Holding]
    findings: list[str] = Field(description="What the check of the verdict found.")
    confidence: str | None
    agreement: str
    dissent: list[Dissenting]
    changed_minds: str
    method: str
    partial: bool
    meaningful: bool = Field(description="False: a demonstration model spoke.")
    stop_reason: str | None
    detail: str
    report: str = Field(description="A page of the report, in Markdown.")
    next_offset: int | None
    notes: list[str]
    calls: int
    tokens: int
    cost_usd: float | None = Field(description="null: it was not told of every call.")
    known_cost_usd: float = Field(
        default=0.0, description="As much of it as was told, or counted by the program."
    )
    counted_cost_usd: float = Field(
        default=0.0, description="Of that, what is the program's own count of the words."
    )
    calls_of_unknown_cost: int = Field(default=0, description="Calls whose cost was not told.")
    left_out: list[str] = Field(
        default_factory=list, description="Fields that are cut; the report has them whole."
    )
    page_only: bool = Field(default=False, exclude=True)

    def wire(self) -> dict[str, Any]:
        """A further page is the report alone."""
        told = super().wire()
        kept = ("hint", "discussion_id", "state", "done", "report", "next_offset")
        return {key: told[key] for key in kept if key in told} if self.page_only else told


class ErrorBody(BaseModel):
    """Why a call was refused, and what to do about it."""

    kind: str
    message: str
    remedy: str


R = TypeVar("R", bound=Result)


def within(result: R, limit: int) -> R:
    """The answer in at most so many characters: perspectives are clipped first, then lists lose
    their last entries, the longest list first. What is left out can be read elsewhere."""
    for perspective in (120, 40, 0):
        if result.size() <= limit:
            return result
        result = result.model_copy(update=dict(_clipped_seats(result, perspective)))
    while result.size() > limit:
        lists = {name: value for name, value in result if isinstance(value, list) and value}
        if not lists:
            return result
        longest = max(lists, key=lambda name: written([_plain(each) for each in lists[name]]))
        update: dict[str, Any] = {longest: lists[longest][:-1]}
        if longest.endswith("points") and hasattr(result, "further_points"):
            update["further_points"] = getattr(result, "further_points", 0) + 1
        result = result.model_copy(update=update)
    return result


def prefix(text: str, room: int) -> str:
    """The longest beginning of a text that takes at most so many characters of JSON."""
    piece = text[: max(0, room)]
    while piece and (size := written(piece) - 2) > room:
        piece = piece[: max(0, min(len(piece) - 1, len(piece) * room // size))]
    return piece


def written(value: object) -> int:
    """Characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _clipped_seats(result: Result, limit: int) -> Iterator[tuple[str, Any]]:
    seats = getattr(result, "participants", None)
    if isinstance(seats, list):
        yield (
            "participants",
            [
                each.model_copy(update={"perspective": clip(each.perspective, limit)})
                for each in seats
            ],
        )


def _plain(value: Any) -> object:
    return (
        value.model_dump(mode="json", exclude_defaults=True)
        if isinstance(value, BaseModel)
        else value
    )
