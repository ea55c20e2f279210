"""How a decision was made: procedure, models, calls, checks and notes, for whoever is sceptical."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.causes import reason
from ..core.naming import name_of
from ..core.record import LEGACY
from ..core.state import State
from ..procedures import procedure_spec
from ..version import __version__
from .citing import plain, surroundings_of
from .cost import Cost
from .decision_flags import ONE_FAMILY, finding_told
from .decision_parts import Facts, Ids, Made, ModelsOf, NoteTold, ProcedureTold
from .delivery import Delivery
from .notes import notes
from .report_parts import clean, line
from .safe_markdown import to_html

BELOW = 2
"""The level of the heading under which the procedure's own words stand."""


def made_of(state: State, delivery: Delivery, facts: Facts) -> Made:
    """All of it. A cost that nobody knows is None."""
    spec = procedure_spec(state.start.procedure)
    delivered = spec.deliver(state, __version__).strip() if state.verdict is not None else ""
    cost = Cost.of(state)
    return Made(
        procedure=ProcedureTold(state.start.procedure, line(spec.summary)),
        seconds=facts.seconds,
        calls=state.usage.calls,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        own_tokens=cost.own_tokens,
        cost_usd=cost.usd,
        known_cost_usd=cost.known_usd,
        cost_known=cost.known,
        calls_of_unknown_cost=cost.calls_of_unknown_cost,
        models=tuple(_models(state)),
        talk=plain(delivery.changed) if "\n" not in delivery.changed else delivery.changed.strip(),
        checks=tuple(_checks(state, delivery)),
        notes=tuple(NoteTold(line(n.code), line(n.text), line(n.remedy)) for n in notes(state)),
        sources=delivery.sources,
        ids=Ids(state.discussion_id, line(state.start.program_version)),
        delivered_html=to_html(clean(delivered), below=BELOW, around=surroundings_of(state)),
    )


def _models(state: State) -> Iterator[ModelsOf]:
    for seated in (*state.ever_seated.values(), state.start.host):
        spoken = state.said.models(seated.id)
        replaced = [
            f"in place of {line(each.from_model)}, which {reason(each.cause, each.trouble)}"
            for each in state.substitutions
            if each.participant == seated.id
        ]
        models = tuple(dict.fromkeys(map(line, spoken))) or (line(seated.speaker.model),)
        silent = "" if spoken else "did not speak"
        yield ModelsOf(
            seated.id, name_of(state, seated.id), models, "; ".join([*replaced, silent]).strip("; ")
        )


def _checks(state: State, delivery: Delivery) -> Iterator[str]:
    """What was checked of the answer, and what came of it."""
    verdict = state.verdict
    if verdict is None:
        return
    if delivery.question is not None and delivery.question.id == LEGACY:
        yield "It was counted by an earlier version of the program, from written ballots."
    if verdict.method == "extractive":
        yield "No model wrote the answer."
    elif not delivery.findings:
        yield "Nothing was found wrong with its quotations and citations."
    for code in dict.fromkeys(each.code for each in delivery.findings):
        yield from finding_told(delivery, code)
    if delivery.question is not None and delivery.question.delivered and not delivery.contradicts:
        yield "Nothing was found in the written answer that contradicts the count."
    if delivery.voters and not any(note.code == ONE_FAMILY for note in state.notes):
        yield delivery.voters
