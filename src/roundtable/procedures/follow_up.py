"""A follow-up: the table of an earlier discussion is set once more, for a further question."""

from __future__ import annotations

from ..core.assessment import OUTCOMES
from ..core.errors import NotAllowed
from ..core.framing import choices_of
from ..core.state import State
from ..core.values import EXAMPLE, OUTSIDE, Options
from ..core.voter_groups import TWINS
from .casting_terms import CASTING, clarified_in, clarifying_terms, terms
from .opening import OpenRequest, Seating
from .past_record import RECORD

_OF_THEN = (RECORD, TWINS, OUTCOMES, CASTING, "output_path", "session", "default_notes")
"""Options that belong to the earlier question, or to what was known when it was asked."""


DEMONSTRATION = "demo"
"""Who opens the quick verification, in which one voice speaks for everybody."""


def may_follow(state: State, *, interrupted: bool = False) -> State:
    """The discussion, if there is something to go on from; NotAllowed says why not. `interrupted`:
    nobody drives it, so that there is no end to wait for."""
    if interrupted:
        raise NotAllowed(
            f"{state.discussion_id} was interrupted: there is no verdict to go on from.",
            f"Let it go on first: roundtable resume {state.discussion_id}",
        )
    if state.closed is None:
        raise NotAllowed(
            f"{state.discussion_id} is not over yet: there is no verdict to go on from.",
            f"Wait for its end (roundtable show {state.discussion_id} --follow), or stop it.",
        )
    if state.verdict is None:
        raise NotAllowed(
            f"{state.discussion_id} came to no verdict: there is nothing to go on from.",
            f"Ask the question again, or see what failed: roundtable show {state.discussion_id}",
        )
    return state


def may_be_continued(state: State) -> State:
    """The discussion, if its table can be asked further; NotAllowed for a recorded example, whose
    table is not here."""
    if state.discussion_id.startswith(EXAMPLE):
        raise NotAllowed(
            f"{state.discussion_id} is a recorded example: its table cannot be asked further.",
            f"Ask a table of your own that knows it: --context-from {state.discussion_id}",
        )
    return state


def is_demonstration(state: State) -> bool:
    """Whether it is the quick verification, of which nothing goes on by itself."""
    seats = (*state.participants, state.start.host)
    return state.start.created_by == DEMONSTRATION and all(
        seat.speaker.model == OUTSIDE for seat in seats
    )


def same_table(earlier: State, request: OpenRequest) -> Seating:
    """The same seats on the same models, by the same rules, for another question. Where the table
    designed its own workflow, that design stands. Whom the host seated stays seated, as it was
    described then: the host is only asked what this question leaves open, where it was before.
    NotAllowed for the demonstration, at whose table nobody sits who could answer."""
    if is_demonstration(earlier):
        raise NotAllowed(
            f"{earlier.discussion_id} is the scripted demonstration, which cannot answer.",
            "To put the question to models, name a procedure, such as --procedure council.",
        )
    start = earlier.start
    options: Options = {key: each for key, each in start.options.items() if key not in _OF_THEN}
    if "choices" in options:
        options["choices"] = list(choices_of(request.topic))
    if "search" in options:
        options["search"] = request.search
    if earlier.workflow is not None:
        options |= {"meta": False, "default": earlier.workflow.design}
    if terms(earlier) is not None:
        within = clarified_in(earlier)
        own_call = within == CASTING
        options |= clarifying_terms(ask=request.clarify, within="" if own_call else within)
    if earlier.seated is not None and earlier.seated.guidance:
        options["guidance"] = dict(earlier.seated.guidance)
    return Seating(
        participants=earlier.participants,
        host=start.host,
        options=options,
        language=request.language or start.language,
    )
