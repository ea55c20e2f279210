"""A follow-up: the table of an earlier discussion is set once more, for a further question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.assessment import OUTCOMES
from ..core.errors import NotAllowed, UsageError
from ..core.events import NoteAdded
from ..core.framing import choices_of
from ..core.state import State
from ..core.text import listed
from ..core.values import EXAMPLE, OUTSIDE, Options
from ..core.voter_groups import TWINS
from . import infer_procedure, procedure_spec
from .casting_terms import CASTING, clarified_in, clarifying_terms, terms
from .opening import OpenRequest, Seating
from .options import find
from .past_record import RECORD
from .spec import PREFIX, ProcedureSpec

if TYPE_CHECKING:
    from .custom.spec import UserProcedures

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


def with_its_procedure(
    request: OpenRequest, earlier: State, own: UserProcedures | None
) -> OpenRequest:
    """The request by the procedure of the discussion that it follows, unless a procedure was
    named, or an option that belongs to another one; a note says which option that was. UsageError
    for one that does not fit it."""
    if request.words is None:
        return request
    before = procedure_spec(earlier.start.procedure, own)
    spec = infer_procedure(request.words, before.name, own)
    for word, told in request.words.items():
        if (refusal := misfit(spec, word, told)) is not None:
            raise refusal
    # An older name may stand for an option that has another name there.
    called = {name: find(spec.options, name) for name in request.options}
    options = {
        known.name if (known := called[name]) else name: value
        for name, value in request.options.items()
    }
    notes = (*held_by_words(spec, before, request.words), *request.notes)
    return replace(request, procedure=spec.name, options=options, notes=notes)


def held_by_words(
    spec: ProcedureSpec, usual: ProcedureSpec, words: Mapping[str, str]
) -> tuple[NoteAdded, ...]:
    """What nobody named is said: which procedure it is, and which word chose it, where that is not
    the `usual` one. `words` are those of the options, each as the asker writes it."""
    if spec.name == usual.name:
        return ()
    telling = [told for word, told in words.items() if find(usual.options, word) is None]
    text = f"The procedure is {spec.name}, because of {listed(telling)}."
    return (NoteAdded(code="held_as", text=text),)


def misfit(spec: ProcedureSpec, word: str, told: str) -> UsageError | None:
    """Why an option that others have makes no sense in this procedure, and what to do instead; None
    where there is no such reason. `told` is how the asker writes it."""
    reason = spec.options.cannot.get(word)
    if reason is None:
        return None
    why, _, instead = reason.partition(". ")
    return UsageError(
        f"{told} does not fit the procedure {spec.name.removeprefix(PREFIX)}. {why}.", instead
    )
