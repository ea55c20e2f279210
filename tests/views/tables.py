"""Discussions for reports, told by their events: no speaker, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from roundtable.core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    BallotCast,
    DiscussionClosed,
    DiscussionOpened,
    Event,
    NoteAdded,
    ParticipantSubstituted,
    PointRaised,
    Purpose,
    ScoresGiven,
    SpeechGiven,
    StageOpened,
    StanceTaken,
    StoredEvent,
    TurnFailed,
    VerdictReached,
)
from roundtable.core.state import State, fold
from roundtable.core.values import (
    Dissent,
    Participant,
    Prompt,
    Reservation,
    SpeakerRef,
    Usage,
    Verdict,
)

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)
HOST = Participant(id="host", name="Host", role="Host", speakers=(SpeakerRef(model="m/host"),))
Words = Callable[[int, str], str]
"""What is said in a round, by whom."""


def seat(name: str, emoji: str = "") -> Participant:
    return Participant(
        id="-".join(name.lower().split()),
        name=name,
        role=f"{name}'s role",
        emoji=emoji,
        speakers=(SpeakerRef(model=f"m/{name.lower()}"), SpeakerRef(model="m/spare")),
    )


def told(events: Iterable[Event]) -> State:
    """The state that these events, a second apart, lead to."""
    return fold(
        StoredEvent("rt_0000abcd", seq, NOON + timedelta(seconds=seq), event)
        for seq, event in enumerate(events, 1)
    )


def opened(
    seats: Sequence[Participant], topic: str = "Tea or coffee?", host: Participant = HOST
) -> DiscussionOpened:
    return DiscussionOpened(
        topic=topic,
        procedure="council",
        participants=tuple(seats),
        host=host,
        program_version="9.9",
        seed=7,
    )


def call(
    turn: str,
    who: str,
    model: str,
    text: str,
    attempt: int = 1,
    purpose: Purpose = "answer",
) -> list[Event]:
    """A call that was made and answered."""
    number, stage, _ = turn.split("/", 2)
    return [
        AttemptStarted(
            turn_id=turn,
            attempt=attempt,
            stage=stage,
            round=int(number),
            participant=who,
            model=model,
            purpose=purpose,
            label=f"rt-{stage}",
            prompt=Prompt(
                template=f"test/{stage}", version=2, hash="f00d" * 16, system="", user=""
            ),
            reserved=Reservation(input_tokens=100, output_tokens=100, cost_usd=0.1),
        ),
        AttemptFinished(
            turn_id=turn,
            attempt=attempt,
            text=text,
            usage=Usage(input_tokens=100, output_tokens=50, priced_usd=0.01),
            served_by=model,
            finish_reason="stop",
            seconds=1.5,
        ),
    ]


def speech(
    turn: str, who: str, text: str, model: str = "", flags: tuple[str, ...] = (), after: int = 0
) -> list[Event]:
    number, stage, _ = turn.split("/", 2)
    model = model or f"m/{who}"
    given = SpeechGiven(
        turn_id=turn,
        stage=stage,
        round=int(number),
        participant=who,
        model=model,
        text=text,
        flags=flags,
        after_round=after,
    )
    return [*call(turn, who, model, text), given]


def long_table(
    seats: Sequence[Participant], rounds: int, words: Words, topic: str = "Tea?"
) -> State:
    """A table with points, stances, scores and ballots over many rounds, and a verdict."""
    events: list[Event] = [opened(seats, topic)]
    events += speech("0/opening/host", "host", "Let us begin.")
    for number in range(1, rounds + 1):
        turns = tuple(f"{number}/answer/{p.id}" for p in seats)
        events.append(StageOpened(stage="answer", round=number, turns=turns))
        for place, (turn, who) in enumerate(zip(turns, seats, strict=True)):
            events += speech(turn, who.id, words(number, who.name))
            if number == 1 and place < 8:
                events.append(
                    PointRaised(
                        point_id=f"p{place + 1}",
                        text=f"Point {place + 1} of {who.name} matters most of all things here",
                        turn_id=turn,
                        round=1,
                    )
                )
        for place, (turn, who) in enumerate(zip(turns, seats, strict=True)):
            for point in range(1, min(8, len(seats)) + 1):
                against = (place + point) % 3 == 0 and number < rounds
                events.append(
                    StanceTaken(
                        participant=who.id,
                        point_id=f"p{point}",
                        position="disagree" if against else "agree",
                        turn_id=turn,
                        round=number,
                        because="p1" if number == rounds else "",
                    )
                )
            option = "Tea" if (place + number) % 3 else "Coffee"
            events.append(
                BallotCast(
                    turn_id=turn,
                    participant=who.id,
                    round=number,
                    position=option,
                    ranking=((option,), ("Water",)),
                    certainty=0.8,
                )
            )
            others = [p.id for p in seats if p is not who]
            events.append(
                ScoresGiven(
                    turn_id=turn,
                    participant=who.id,
                    round=number,
                    scores={name: 1 + (place + n + number) % 5 for n, name in enumerate(others)},
                    inferred=tuple(others[:1]),
                )
            )
    last = f"{rounds}/answer/{seats[0].id}"
    answer = f"Drink tea [{last}]; see also [p1]."
    events += speech("0/synthesis/host", "host", answer, after=rounds)
    dissent = Dissent(participant=seats[-1].id, position="Coffee wakes.", turn_id=last)
    verdict = Verdict(answer=answer, confidence="medium", dissent=(dissent,), author="m/host")
    events.append(VerdictReached(verdict=verdict))
    events.append(DiscussionClosed(status="concluded", stop_reason="verdict"))
    return told(events)


def mishaps(text: str = "Tea calms.") -> State:
    """A small table at which a repair, a substitution, a failed turn and a note happen."""
    one, two = seat("Ann", "🔍"), seat("Bob")
    events: list[Event] = [opened([one, two])]
    events.append(StageOpened(stage="answer", round=1, turns=("1/answer/ann", "1/answer/bob")))
    events += call("1/answer/ann", "ann", "m/ann", "x")
    events.append(
        ParticipantSubstituted(
            participant="ann",
            turn_id="1/answer/ann",
            from_model="m/ann",
            to_model="m/spare",
            cause="garbled",
            remedy="Choose another model.",
        )
    )
    events += call("1/answer/ann", "ann", "m/spare", text, 2, "fallback")
    events.append(
        SpeechGiven(
            turn_id="1/answer/ann",
            stage="answer",
            round=1,
            participant="ann",
            model="m/spare",
            text=text,
            flags=("[REPAIRED]",),
        )
    )
    started = call("1/answer/bob", "bob", "m/bob", "")[0]
    events += [
        started,
        AttemptFailed(turn_id="1/answer/bob", attempt=1, cause="timeout", message="No answer."),
        TurnFailed(
            turn_id="1/answer/bob",
            stage="answer",
            round=1,
            participant="bob",
            cause="timeout",
            message="No answer in 90 s.",
            remedy="Give it more time.",
        ),
        NoteAdded(code="degraded", text="Only one of two spoke.", remedy="Ask again."),
        DiscussionClosed(
            status="failed",
            stop_reason="too_few_answers",
            detail="Sorry: 1 of 2 answered.",
            remedy="Check the models.",
        ),
    ]
    return told(events)
