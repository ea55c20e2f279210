"""The page's read models: what it gets of each event, and what only the whole discussion tells.

The page folds events by itself; what takes more than that (verified quotations, camps, pictures,
whose turn it is) is derived here, once for all who watch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.decide import decide
from ..core.declaration_form import Form
from ..core.effects import TakeTurn
from ..core.position_changes import points_held
from ..core.record import record_of
from ..core.state import State
from ..core.values import OUTSIDE
from ..core.visible import shown
from ..procedures import procedure_spec
from ..procedures.casting import open_questions
from . import decision_json
from .course import course
from .decision import Decision
from .declared import named_in
from .delivery import Delivery
from .delivery_json import document
from .driving import waits_until
from .itinerary import itinerary
from .opinion_map import OpinionMap, opinion_map_of
from .page_events import page_event as page_event
from .report_costs import costs
from .report_parts import Grid, Line, Part, Picture, anchor, clean, line
from .report_positions import changes, positions, scores
from .svg import agreement_matrix_svg, opinion_map_svg


def headline(state: State) -> dict[str, Any]:
    """A discussion in one row."""
    return {
        "discussion_id": state.discussion_id,
        "topic": clean(state.start.topic),
        "procedure": state.start.procedure,
        "status": state.status,
        "paused": state.paused is not None,
        "participants": [line(each.name) for each in state.participants],
        "rounds": state.said.last_round,
        "opened_at": state.opened_at.isoformat() if state.opened_at else None,
        "updated_at": state.updated_at.isoformat() if state.updated_at else None,
        "last_seq": state.seq,
    }


def derived(state: State, *, interrupted: bool = False) -> dict[str, Any]:
    """Everything about a discussion that no single event says; `interrupted` that it is open and
    nobody drives it."""
    spec = procedure_spec(state.start.procedure)
    drawn = opinion_map_of(state)
    record = record_of(state)
    scored = scores(state)
    turns = list(_open_turns(state, interrupted=interrupted))
    return {
        "seq": state.seq,
        "status": state.status,
        "decision": _cleaned(decision_json.document(Decision.of(state, interrupted=interrupted))),
        "delivery": _cleaned(document(Delivery.of(state))),
        "named": named_in(state),
        "held": record.so_far(record.question) if record.question else {},
        "course": course(state),
        "points": list(_points(state, drawn)),
        "pictures": [*_pictures(drawn), *_drawn_in(scored)],
        "camps": [
            {"label": camp.label, "members": list(camp.members)}
            for camp in drawn.camps
            if len(drawn.camps) > 1
        ],
        "bridges": [each.participant for each in drawn.bridges],
        "ballots": _parts(positions(state)),
        "scores": _parts(scored),
        "changes": _parts(changes(state)),
        "costs": _parts(costs(state)),
        "open_turns": turns,
        "questions": [
            {"ask": line(each.ask), "assume": line(each.assume)} for each in open_questions(state)
        ],
        "itinerary": itinerary(state, [(each["stage"], each["round"]) for each in turns]),
        "may": {"extend": spec.extends, "lead": spec.moderation},
        "progress": spec.progress(state) if state.closed is None else "",
    }


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case dict():
            return {key: _cleaned(each) for key, each in value.items()}
        case list():
            return [_cleaned(each) for each in value]
        case _:
            return value


# Points, stances and their movement


def _points(state: State, drawn: OpinionMap) -> Iterator[dict[str, Any]]:
    tracks: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in points_held(state):
        step = {"round": each.round, "position": each.position, "turn_id": each.turn}
        tracks.setdefault((each.participant, each.issue), []).append(step)
    rows = {row.id: row for row in drawn.points}
    for point in record_of(state).points:
        row = rows[point.id]
        yield {
            "id": line(point.id),
            "anchor": anchor("point", point.id),
            "text": line(point.text),
            "raised_by": point.author,
            "turn_id": point.turn_id if point.turn_id in state.turns else None,
            "round": point.round,
            "standing": row.standing,
            "held_by": len(point.holders),
            "bridge": row.bridge,
            "stances": {
                who: {
                    "position": cell.position,
                    "text": line(cell.text),
                    "moved": cell.moved,
                    "track": _steps(tracks.get((who, point.id), [])),
                }
                for who, cell in row.stances.items()
            },
        }


def _steps(track: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Only where a position began or changed: to repeat it is no step."""
    steps: list[dict[str, Any]] = []
    for each in track:
        if not steps or steps[-1]["position"] != each["position"]:
            steps.append(dict(each))
    return steps


# Pictures and tables, as the report has them


def _pictures(drawn: OpinionMap) -> list[dict[str, Any]]:
    if len(drawn.participants) < 2 or not drawn.points:
        return []
    return [
        _picture("opinion-map", opinion_map_svg(drawn), "Who holds what on which point"),
        _picture("agreement", agreement_matrix_svg(drawn), "How often each two hold the same"),
    ]


def _drawn_in(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [_picture("scores", p.draw(), p.caption) for p in parts if isinstance(p, Picture)]


def _picture(kind: str, svg: str, caption: str) -> dict[str, Any]:
    return {"kind": kind, "svg": svg, "caption": caption}


def _parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Tables and remarks; pictures go their own way."""
    found: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Grid):
            found.append(
                {
                    "caption": part.caption,
                    "header": list(part.header),
                    "rows": [list(row) for row in part.rows],
                    "numbers": list(part.numbers),
                    "folded": part.folded,
                }
            )
        elif isinstance(part, Line):
            found.append({"text": part.text})
    return found


# Whose turn it is


def _open_turns(state: State, *, interrupted: bool) -> Iterator[dict[str, Any]]:
    """The turns that may be filled now, and what is asked of whoever fills one from outside."""
    if state.closed is not None:
        return
    for effect in decide(state, procedure_spec(state.start.procedure).procedure):
        if not isinstance(effect, TakeTurn):
            continue
        plan, contract = effect.plan, effect.plan.task.contract
        # Where nobody drives it, nobody counts the time either.
        until = None if interrupted else waits_until(state, plan)
        yield {
            "turn_id": plan.turn_id,
            "participant": plan.participant.id,
            "stage": plan.stage,
            "round": plan.round,
            "outside": plan.participant.speaker.model == OUTSIDE,
            "until": until.isoformat() if until is not None else None,
            "sections": list(contract.sections),
            "min_words": contract.min_words,
            "max_words": contract.max_words,
            "form": _form(state, plan.task.form) if plan.task.form is not None else None,
        }


def _form(state: State, form: Form) -> dict[str, Any]:
    """The fields that a seat fills in, with what can be named in them."""
    return {
        "keys": list(form.schema_keys),
        "decisions": [
            {
                "id": each.id,
                "question": shown(each.question),
                "options": [{"id": o.id, "text": shown(o.text)} for o in each.options],
            }
            for each in form.decisions
        ],
        "points": [
            {"id": each.id, "text": shown(each.told), "own": each.own, "asked": each.asked}
            for each in form.listed
        ],
        "peers": [
            {"letter": letter, "name": line(state.name_of(who))}
            for letter, who in form.peers.items()
        ],
        "scored": list(form.scored),
        "values": {
            name: {"kind": each.kind, "wanted": each.wanted} for name, each in form.values.items()
        },
        "recorded": form.recorded,
        "alone": form.alone,
    }
