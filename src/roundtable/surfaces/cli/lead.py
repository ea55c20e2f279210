"""The commands of whoever leads a discussion: pause, skip, add, extend, invite, conclude,
and say later how it turned out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bootstrap import App
from ...core.confidence import LEAST_OUTCOMES
from ...core.state import State
from ...core.text import counted
from ...core.values import OUTSIDE_SPEAKER, Participant
from ...documents.gather import gather
from ...views.meeting_status import awaits_conclusion
from ..opening import checked_for_secrets
from .here import settings_here
from .terminal import echo_error, read_text
from .with_app import with_app

USER = "the user"


def pause_command(flags: Mapping[str, Any]) -> int:
    id_ = flags["discussion_id"]
    with_app(lambda app: app.service.pause(id_, by=USER, reason=flags["reason"]))
    echo_error(f"Paused: whoever speaks finishes. Go on with: roundtable resume {id_}")
    return 0


def skip_command(flags: Mapping[str, Any]) -> int:
    who = flags["participant"]
    state = with_app(lambda app: app.service.skip(flags["discussion_id"], who, by=USER))
    echo_error(f"{who} is skipped.")
    return _say_how_it_goes_on(state)


def answer_command(flags: Mapping[str, Any]) -> int:
    state = with_app(
        lambda app: app.service.answer(
            flags["discussion_id"], list(flags["answers"]), key=flags["key"]
        )
    )
    echo_error("Answered: every prompt carries it.")
    return _say_how_it_goes_on(state)


def add_command(flags: Mapping[str, Any]) -> int:
    read = gather([flags["file"]], lambda: read_text("-"))
    documents = checked_for_secrets(settings_here(tell=False), read.materials, flags["secrets"])

    async def add(app: App) -> State:
        for number, each in enumerate(documents):
            key = f"{flags['key']}/{number}" if number and flags["key"] else flags["key"]
            added = await app.service.add_material(flags["discussion_id"], each, by=USER, key=key)
        return added

    state = with_app(add)
    for line in read.lines:
        echo_error(f"Note: {line}.")
    told = documents[0].source if len(documents) == 1 else f"{len(documents)} documents"
    echo_error(f"On the table: {told}. Every later prompt carries it.")
    return _say_how_it_goes_on(state)


def extend_command(flags: Mapping[str, Any]) -> int:
    rounds = flags["rounds"]
    state = with_app(lambda app: app.service.extend(flags["discussion_id"], rounds, by=USER))
    echo_error(f"{counted(state.extra_rounds, 'round')} more than it was opened with.")
    return _say_how_it_goes_on(state)


def invite_command(flags: Mapping[str, Any]) -> int:
    name = flags["name"] or flags["profile"]
    seat = Participant(
        id=flags["profile"],
        name=name,
        role=flags["role"] or name,
        emoji="👤",
        perspective=flags["perspective"],
        speakers=(OUTSIDE_SPEAKER,),
    )
    state = with_app(
        lambda app: app.service.join(flags["discussion_id"], seat, by=USER, model=flags["model"])
    )
    echo_error(f"At the table: {', '.join(each.id for each in state.participants)}.")
    return _say_how_it_goes_on(state)


def dismiss_command(flags: Mapping[str, Any]) -> int:
    state = with_app(
        lambda app: app.service.leave(flags["discussion_id"], flags["profile"], by=USER)
    )
    echo_error(f"At the table: {', '.join(each.id for each in state.participants)}.")
    return _say_how_it_goes_on(state)


def advance_command(flags: Mapping[str, Any]) -> int:
    state = with_app(lambda app: app.service.advance(flags["discussion_id"], by=USER))
    ended = max(state.advanced, default=None)
    if ended is None:
        echo_error("The next round begins.")
    else:
        absent = ", ".join(state.advanced[ended].absent) or "nobody"
        echo_error(f"Round {ended} is over; absent from it: {absent}.")
    return _say_how_it_goes_on(state)


def vote_command(flags: Mapping[str, Any]) -> int:
    state = with_app(
        lambda app: app.service.vote_to_end(
            flags["discussion_id"], flags["participant"], flags["end"]
        )
    )
    votes = sum(state.end_votes.values())
    echo_error(f"Recorded. To end: {votes} of {len(state.participants)}.")
    return _say_how_it_goes_on(state)


def conclude_command(flags: Mapping[str, Any]) -> int:
    text = read_text("-") if flags["text"] == "-" else flags["text"]
    state = with_app(lambda app: app.service.conclude(flags["discussion_id"], text))
    return _say_how_it_goes_on(state)


def outcome_command(flags: Mapping[str, Any]) -> int:
    state = with_app(
        lambda app: app.service.record_outcome(
            flags["discussion_id"], flags["turned_out"], note=flags["note"], by=USER
        )
    )
    assert state.outcome is not None, "it was recorded, or refused"
    echo_error(
        f"Recorded for {state.discussion_id}: it turned out {state.outcome.outcome}. From "
        f"{LEAST_OUTCOMES} outcomes on they count in how sure the next verdicts are."
    )
    return 0


def _say_how_it_goes_on(state: State) -> int:
    if awaits_conclusion(state):
        id_ = state.discussion_id
        echo_error(f"The rounds are over. Conclude it with: roundtable conclude {id_} TEXT")
    elif state.closed is None:
        echo_error(f"Whoever drives it goes on, or you: roundtable resume {state.discussion_id}")
    else:
        echo_error(f"It is closed. Read it with: roundtable show {state.discussion_id}")
    return 0
