"""The person at the keyboard, who holds a seat: asked for words when the turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from ...bootstrap import App
from ...core.declaration import ANY, OWN, SILENT, Decision
from ...core.declaration_form import Form
from ...core.errors import NotAllowed
from ...core.state import State
from ...core.values import OUTSIDE
from ...engine.moderation import open_turns
from ...procedures import procedure_spec
from ...views.outside_form import outside_form, recorded_of
from .terminal import TerminalAsker, echo_error


@asynccontextmanager
async def at_the_keyboard(
    app: App, state: State, asker: TerminalAsker | None
) -> AsyncIterator[None]:
    """While a discussion is driven, let the person speak for the seat that joined with `--join`,
    if there is one and somebody sits at the terminal."""
    seat = _own_seat(state)
    if seat is None or asker is None:
        yield
        return
    speaking = asyncio.create_task(_speak(app, state.discussion_id, seat, asker))
    try:
        yield
    finally:
        speaking.cancel()
        with suppress(asyncio.CancelledError):
            await speaking


def _own_seat(state: State) -> str | None:
    """The last seat held from outside: `--join` sits after all others."""
    outside = [seat.id for seat in state.participants if seat.speaker.model == OUTSIDE]
    return outside[-1] if outside else None


async def _speak(app: App, discussion_id: str, seat: str, asker: TerminalAsker) -> None:
    procedure = procedure_spec((await app.service.read(discussion_id)).start.procedure).procedure
    state = State()
    declined: set[str] = set()
    async for record in app.service.events(discussion_id):
        state.apply(record)
        turns = [plan for plan in open_turns(state, procedure) if plan.participant.id == seat]
        if not turns or turns[0].turn_id in declined or await _moved_on(app, state):
            continue
        words = await asker.words(f"Your turn, {seat} (an empty line ends it):")
        if words is None:
            declined.add(turns[0].turn_id)
            echo_error(f"Later: roundtable speak {discussion_id} TEXT --as {seat}")
            continue
        form = turns[0].task.form
        fields = await _declared(form, asker) if form is not None else None
        try:
            said = await app.service.hear(discussion_id, seat, words, fields)
        except NotAllowed as error:
            echo_error(f"{error} {error.remedy}")
            continue
        recorded = recorded_of(await app.service.read(discussion_id), said.speech)
        for told in (recorded, *said.remarks):
            echo_error(told)


async def _declared(form: Form, asker: TerminalAsker) -> dict[str, Any] | None:
    """What the person holds, field by field; None where nothing is filled in. Only what everybody
    must be able to say is asked for here: the rest of the form takes JSON."""
    shown = outside_form(form)
    for title, listed in (("On the table", shown.decisions), ("Points", shown.points)):
        if listed:
            echo_error(f"{title}:")
            for name, text in listed.items():
                echo_error(f"  {name}: {text}")
    if shown.recorded:
        echo_error(shown.recorded)
    fields: dict[str, Any] = {}
    if form.asks_votes:
        votes = [vote for each in form.decisions if (vote := await _vote(each, asker))]
        if votes:
            fields["votes"] = votes
    for key in ("position", "stances", "new_points"):
        if key not in form.schema_keys:
            continue
        answer = await asker.line(f"{key} ({PROMPTS[key]}; empty to leave it out):")
        if answer:
            fields[key] = _parsed(key, answer)
    return fields or None


PROMPTS = {
    "position": "what you would do, in one sentence",
    "stances": "such as p1 agree, p2 disagree",
    "new_points": "claims that others could deny, with ; between them",
}


async def _vote(decision: Decision, asker: TerminalAsker) -> dict[str, Any] | None:
    options = "/".join((*decision.option_ids, OWN, ANY))
    choice = await asker.line(f"votes, {decision.id} ({options}; empty to leave it out):")
    if not choice:
        return None
    before = await asker.line(f"  before: where you stood ({SILENT} if nowhere):")
    return {"on": decision.id, "choice": choice, "before": before or SILENT}


def _parsed(key: str, answer: str) -> Any:
    if key == "position":
        return answer
    if key == "new_points":
        return [each.strip() for each in answer.split(";")]
    pairs = (each.split(maxsplit=2) for each in answer.split(",") if each.strip())
    return [
        {"id": each[0], "stance": each[1] if len(each) > 1 else "", "text": " ".join(each[2:])}
        for each in pairs
    ]


async def _moved_on(app: App, state: State) -> bool:
    """Whether there is more to read before the person is asked."""
    return bool(await app.service.records(state.discussion_id, after=state.seq))
