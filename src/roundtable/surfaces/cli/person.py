"""The person at the keyboard, who holds a seat: asked for words when the turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ...bootstrap import App
from ...core.errors import NotAllowed
from ...core.state import State
from ...core.text import listed
from ...core.values import OUTSIDE
from ...engine.external import how_to_speak
from ...engine.moderation import open_turns
from ...procedures import procedure_spec
from .terminal import TerminalAsker, echo_error


class Awaited:
    """Says whom a discussion waits for, and how they speak: of each turn once. The person at the
    keyboard is asked instead."""

    def __init__(
        self, state: State, asker: TerminalAsker | None, say: Callable[[str], None]
    ) -> None:
        seats = (*state.participants, state.start.host)
        self._outside = any(seat.speaker.model == OUTSIDE for seat in seats)
        self._asked = _own_seat(state) if asker is not None else None
        self._say = say
        self._told: set[str] = set()

    def look(self, state: State) -> None:
        if not self._outside:
            return
        procedure = procedure_spec(state.start.procedure).procedure
        waited_for = {
            plan.turn_id: plan
            for plan in open_turns(state, procedure)
            if plan.participant.speaker.model == OUTSIDE and plan.participant.id != self._asked
        }
        if state.paused is not None or waited_for.keys() <= self._told:
            return
        self._told |= waited_for.keys()
        plans = list(waited_for.values())
        names = listed([plan.participant.name for plan in plans])
        self._say(f"Waiting for {names} to speak: {how_to_speak(state.discussion_id, plans[0])}")


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
    from ...views.outside_form import recorded_of
    from .declaring import ask_declaration

    procedure = procedure_spec((await app.service.read(discussion_id)).start.procedure).procedure
    state = State()
    declined: set[str] = set()
    async for record in app.service.events(discussion_id):
        state.apply(record)
        turns = [plan for plan in open_turns(state, procedure) if plan.participant.id == seat]
        if not turns or turns[0].turn_id in declined or await _moved_on(app, state):
            continue
        form = turns[0].task.form
        alone = form is not None and form.alone
        if alone:
            echo_error(f"Your vote, {seat}:")
        words = "" if alone else await asker.words(f"Your turn, {seat} (an empty line ends it):")
        fields = None
        if words is not None and form is not None:
            names = {letter: state.name_of(who) for letter, who in form.peers.items()}
            fields = await ask_declaration(form, asker, names)
        if alone and fields is None:
            # Nobody is kept waiting for a vote that will not come: what was declared stands.
            with suppress(NotAllowed):
                await app.service.skip(discussion_id, seat, by=seat)
            continue
        if words is None:
            declined.add(turns[0].turn_id)
            echo_error(f"Later: roundtable speak {discussion_id} TEXT --as {seat}")
            continue
        try:
            said = await app.service.hear(discussion_id, seat, words, fields)
        except NotAllowed as error:
            # The turn is over, or was taken by somebody else: the words are not lost.
            echo_error(f"{error} {error.remedy}")
            if words:
                echo_error(f"You said:\n{words}")
            continue
        now = await app.service.read(discussion_id)
        for told in (recorded_of(now, said.speech), *said.remarks):
            echo_error(told)


async def _moved_on(app: App, state: State) -> bool:
    """Whether there is more to read before the person is asked."""
    return bool(await app.service.records(state.discussion_id, after=state.seq))
