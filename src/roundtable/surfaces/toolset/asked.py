"""What is asked of whoever is to speak: the points with their ids and stances, and the form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ...core.declaration_form import Form
from ...core.effects import TurnPlan
from ...core.record import ConditionOnTable, PointStance, Record, record_of
from ...core.record import Point as RecordPoint
from ...core.state import State
from ...core.text import clip, redact
from ...engine.moderation import open_turns
from ...procedures import procedure_spec
from ...views.delivery import Delivery
from ...views.outside_form import outside_form
from .results import Declaring, Point, written
from .status import deadline, may_add, open_ids, record_for, unanswered_at_the_end

LONGEST_POINT, BRIEF_POINT = 200, 90
MAX_KEPT = 10_000
"""Of a text that somebody has to answer: all of it, however long."""
LONGEST_REASON = 80


def points_on_the_table(state: State, asked: Collection[str] = (), caller: str = "") -> list[Point]:
    """Everything that somebody may take a stance on, as it stands now: first what is `asked`, then
    open demands, then what is not settled; what all agree on comes last. What is asked and what
    is demanded stands in full. Of what is agreed nobody has to be named: all who could answer it
    agree."""
    record = record_for(state, caller)
    found = [
        point(each, MAX_KEPT if each.id in asked else LONGEST_POINT)
        for each in record.points
        if not each.withdrawn
    ]
    granted = {each.id for each in Delivery.of(state).conditions if each.granted}
    found += [condition(each) for each in record.conditions]
    amended = _amended(record)
    found = [
        each.model_copy(update={"amended_in": amended[each.id]}) if each.id in amended else each
        for each in found
    ]
    first = {each: place for place, each in enumerate(asked)}
    return sorted(
        found, key=lambda each: (_place(each, asked, granted), first.get(each.id, len(first)))
    )


def _amended(record: Record) -> dict[str, int]:
    """By id, the round in which its author last worded a point or condition anew."""
    return {
        stance.id: each.round
        for each in record.statements
        for stance in each.declaration.stances
        if stance.stance == "amend"
    }


def _place(each: Point, asked: Collection[str], granted: Collection[str]) -> int:
    """How soon it is wanted: what comes last is left out first."""
    if each.id in asked:
        return 0
    if each.status == "demand":
        return 4 if each.id in granted else 1
    return {"agreed": 5, "rejected": 3, "fact": 3}.get(each.status, 2)


def asked_of(state: State, form: Declaring | None, caller: str) -> list[str]:
    """The ids that must be answered: by the seat of this form, if it is the caller's, or, for
    whoever leads, by any seat that has not spoken to them when the rounds are over."""
    if form is not None:
        return form.answer if caller else []
    return [each for ids in unanswered_at_the_end(state).values() for each in ids]


def only_shown(form: Declaring | None, points: Sequence[Point]) -> Declaring | None:
    """The form, asking for nothing whose text the same answer does not show: what has no room is
    counted, and status gives it."""
    if form is None:
        return None
    shown = {each.id for each in points}
    answer = [each for each in form.answer if each in shown]
    more = form.more_to_answer + len(form.answer) - len(answer)
    return form.model_copy(update={"answer": answer, "more_to_answer": more})


def point(each: RecordPoint, limit: int = LONGEST_POINT) -> Point:
    stances = {} if each.status == "agreed" else _stances(each.stances)
    for told, said in _stances(each.opposed_before).items():
        stances[told] = f"first wording: {said}"
    if each.status == "agreed":
        stances.update(dict.fromkeys(each.absent, "absent"))
    status: str = each.status
    if status == "held" and each.unheard:
        status = f"held by {len(each.holders)}, {len(each.unheard)} not heard"
    return Point(
        id=each.id,
        text=redact(clip(each.text, limit)),
        by=each.author,
        status=status,
        stances=stances,
    )


def listed_points(state: State, ids: Iterable[str], limit: int = LONGEST_POINT) -> list[Point]:
    """The points of these ids."""
    known = {each.id: each for each in record_of(state).points}
    return [point(known[each], limit) for each in ids if each in known]


def briefly(found: Sequence[Point], asked: Collection[str]) -> list[Point]:
    """The points, those that nobody has to answer now in few words: they can be read whole. Of a
    demand nothing is cut: half of a condition binds nobody."""
    return [
        each
        if each.id in asked or each.status == "demand"
        else each.model_copy(
            update={
                "text": clip(each.text, BRIEF_POINT),
                "stances": {who: said.split(":")[0] for who, said in each.stances.items()},
            }
        )
        for each in found
    ]


def fitting_points(
    found: Sequence[Point], room: int, asked: Collection[str] = (), room_for_asked: int = 0
) -> tuple[list[Point], int]:
    """As many points as fit into so many characters of JSON, and how many are left out. Those that
    are `asked` come first, and may take more room than the others."""
    shown: list[Point] = []
    taken = 0
    for each in found:
        taken += written(each.model_dump(mode="json", exclude_defaults=True)) + 1
        if taken > (max(room, room_for_asked) if each.id in asked else room):
            break
        shown.append(each)
    return shown, len(found) - len(shown)


TOLD_AT_FIRST = (
    "position",
    "conditions",
    "confidence",
    "new_points",
    "abstain",
    "end",
    "actions",
    "for_the_record",
)
"""Fields of every form from the first on: whoever declared anything was told of them."""


def form_for(
    state: State,
    participant: str,
    waiting_for: Sequence[str],
    room: int,
    *,
    known: bool = False,
) -> Declaring | None:
    """What a seat can declare when it speaks now: this one, or else the first that is waited for.
    None while nothing is asked of it. Texts are clipped where it would take more than `room`
    characters: they stand whole in the history. Of what is `known` to the seat, because it was
    told for an earlier declaration of its own, only the name is given."""
    if state.closed is not None:
        return None
    wanted = participant or next(iter(waiting_for), "")
    plan = _plan(state, wanted)
    form = plan.task.form if plan is not None else None
    if plan is None or form is None:
        return None
    shown = outside_form(form)
    found = Declaring(
        participant=wanted,
        deadline=deadline(state, plan),
        recorded=shown.recorded,
        decisions=_with_holders(state, wanted, form, shown.decisions),
        answer=_owed(state, wanted, form),
        fields=shown.fields,
    )
    if known:
        told = [key for key in shown.fields if key in _known_fields(state, wanted)]
        fields = {key: text for key, text in shown.fields.items() if key not in told}
        found = found.model_copy(update={"fields": fields, "as_before": told})
    for limit in (160, 80, 40, 20):
        if len(found.model_dump_json(exclude_defaults=True)) <= room:
            break
        decisions = {name: clip(text, limit) for name, text in found.decisions.items()}
        found = found.model_copy(update={"decisions": decisions})
    return found


def _owed(state: State, seat: str, form: Form) -> list[str]:
    """What the form asks a seat to answer, in the order of every other list of it."""
    asked = [each.id for each in form.listed if each.asked]
    known = {each: place for place, each in enumerate(open_ids(state, seat))}
    return sorted(asked, key=lambda each: known.get(each, len(known)))


def _known_fields(state: State, seat: str) -> set[str]:
    """The fields that a seat was told of: those of the first form, and those it filled in."""
    said = [each.declaration for each in record_of(state).of(seat)]
    used = {key for each in said for key in each.model_dump(exclude_defaults=True)}
    return {*TOLD_AT_FIRST, *used} if said else set()


def _plan(state: State, seat: str) -> TurnPlan | None:
    """The turn that is open for a seat, or the one in which it may still say what it left out."""
    spec = procedure_spec(state.start.procedure)
    plans = open_turns(state, spec.procedure)
    plan = next((each for each in plans if each.participant.id == seat), None)
    adds = plan is None and may_add(state, seat)
    return spec.declares_later(state, seat) if adds else plan


def _with_holders(state: State, seat: str, form: Form, texts: Mapping[str, str]) -> dict[str, str]:
    """Each option with who votes for it now."""
    told = dict(texts)
    record = record_for(state, seat)
    for decision in form.decisions:
        votes = record.votes(decision)
        for option in decision.option_ids:
            if held := [each.participant for each in votes if each.choice == option]:
                told[option] = f"{texts[option]} ({', '.join(held)})"
    return told


def condition(each: ConditionOnTable) -> Point:
    return Point(
        id=each.id,
        text=redact(each.text),
        by=each.owner,
        status=each.condition.kind,
        stances=_stances(each.answers),
    )


def _stances(said: Mapping[str, PointStance]) -> dict[str, str]:
    """What each said to it, with the reason where it does not simply agree: that is what the next
    speaker has to answer."""
    return {
        seat: each.stance
        if each.stance == "agree" or not each.text
        else f"{each.stance}: {redact(clip(each.text, LONGEST_REASON))}"
        for seat, each in said.items()
    }
