"""What an earlier discussion hands on to a new one: its verdict, where everybody stood, the
dissent, the sources, as one piece of material that says where it comes from."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.events import SearchFinished
from ..core.state import State
from ..core.text import clip
from ..core.values import Material
from .deliverables import works_of
from .delivery import Delivery

PRIOR = "PRIOR ROUNDTABLE CONTEXT"
"""How the source of such material begins."""
LONGEST_VERDICT = 8_000
LONGEST_POSITION = 1_200
MOST_LINES = 40
"""Of a list; what comes later is of less weight."""


def handed_on(state: State) -> tuple[Material, ...]:
    """All that a later discussion gets of this one: its record, and every work that stands."""
    works = [each for each in works_of(state).standing if each.text]
    return (
        prior_material(state),
        *(
            Material(source=f"{PRIOR}: {state.discussion_id}, its work {each.file}", text=each.text)
            for each in works
        ),
    )


def prior_material(state: State) -> Material:
    """What a later discussion needs to know of this one, bounded whatever was said in it."""
    told = Delivery.of(state)
    verdict = state.verdict
    asked = f" on {state.opened_at.date().isoformat()}" if state.opened_at else ""
    names = ", ".join(seat.name for seat in state.voters) or "nobody"
    partial = " It was ended early: the verdict is partial." if told.partial else ""
    head = (
        f"The discussion {state.discussion_id} was held{asked} as a {state.start.procedure} by "
        f"{names}.{partial}"
    )
    answer = told.written or (verdict.answer if verdict else "")
    parts = [
        head,
        f"The question was:\n{clip(state.start.topic, LONGEST_VERDICT)}",
        f"The verdict was:\n{told.headline}\n{clip(answer, LONGEST_VERDICT)}",
        _listed("Where each stood at the end", _positions(state, told)),
        _listed(
            "Dissent",
            (f"{d.name}: {_joined(d.position, d.reason)}" for d in told.dissent),
        ),
        _listed("Conditions, as they stood at the end", _conditions(told)),
        _listed("Assumed by the host, where nobody answered", told.assumptions),
        _listed("What would change the answer", told.would_change),
        _listed("Next steps", (step.text for step in told.next_steps)),
        _listed("Not settled", [told.gaps] if told.gaps else []),
        _listed("Sources", _sources(state, told)),
    ]
    text = "\n\n".join(part for part in parts if part)
    return Material(source=f"{PRIOR}: {state.discussion_id}", text=text)


def _positions(state: State, told: Delivery) -> Iterable[str]:
    """Each seat with what it declared last; where nobody declares, with its last words."""
    seats = {seat.participant: f"{seat.name}: {seat.told}" for seat in told.seats}
    positions = {seat.participant: seat.position for seat in told.seats}
    last = {speech.participant: speech.text for speech in state.said.in_rounds}
    for each in state.voters:
        stood = seats.get(each.id, f"{each.name}:")
        words = positions.get(each.id) or last.get(each.id, "")
        if words and words not in stood:
            stood = f"{stood} {words}" if stood.endswith(":") else _joined(stood, words)
        yield stood


def _conditions(told: Delivery) -> Iterable[str]:
    for each in told.conditions:
        kind = "demand" if each.kind == "demand" else "fact to be found out"
        status = f" ({each.told})" if each.told else ""
        yield f"{each.name}, {kind}, otherwise {each.otherwise}: {each.text}{status}"


def _joined(*parts: str) -> str:
    """Sentences one after the other, each with its end."""
    ended = (
        part if part[-1] in ".!?…。！？" else f"{part}." for each in parts if (part := each.strip())
    )
    return " ".join(ended)


def _sources(state: State, told: Delivery) -> Iterable[str]:
    yield from told.sources
    for search in state.searches:
        if isinstance(search, SearchFinished):
            yield from (f"{hit.title} {hit.url}" for hit in search.hits)


def _listed(title: str, lines: Iterable[str]) -> str:
    told = list(
        dict.fromkeys(f"- {clip(' '.join(each.split()), LONGEST_POSITION)}" for each in lines)
    )
    return "\n".join([f"{title}:", *told[:MOST_LINES]]) if told else ""
