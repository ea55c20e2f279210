"""What a meeting came to, and its delivery; the document is `meeting_document`.

Its figures and lists come from what was declared; only the conclusion itself is the host's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from ..core.action_items import action_items
from ..core.closing_block import prose
from ..core.contracts import parse_sections
from ..core.declaration_block import split_blocks
from ..core.effects import turn_id
from ..core.events import SpeechGiven
from ..core.quotes import copied_share
from ..core.record import ConditionOnTable, PointStatus, record_of
from ..core.standing import DecisionStanding, standing_of
from ..core.state import State
from ..core.text import clip, count_words, first_sentences
from ..core.values import OUTSIDE, ActionItem
from ..core.verdict_check import check_text
from ..core.verdict_sources import sources_of
from ..core.writers_words import told_apart
from .delivery import Delivery, kept_for_the_record
from .delivery_md import Part, markdown
from .meeting_actions import declared_actions, told_actions
from .meeting_status import (
    CLERK,
    CONCLUSION,
    DISCUSSION,
    MINUTES,
    SUMMARY,
    Issue,
    RoundReport,
    called,
    current_round,
    max_rounds,
    round_report,
    rounds_held,
)

DECISION_SECTIONS = (
    "MVP Scope",
    "Tech Architecture",
    "Acceptance Criteria",
    "Risk Assessment",
    "Design Deliverables",
)
CONCLUSION_SECTIONS = ("Conclusion", "Agreement", "Gaps and Risks")
ACTION_ITEMS = "Action Items"
_HEADINGS = (
    *CONCLUSION_SECTIONS,
    *DECISION_SECTIONS,
    ACTION_ITEMS,
    "Consensus Points",
    "Disagreement Points",
)
"""At which another part begins: any other heading belongs to the part in which it stands."""
RECOMMENDATION = "Recommendation"
CHAIRS_LISTS = ("Consensus", "Disagreements", "Dissent")
"""What a coordinator from outside may give in fields of its own beside its conclusion."""
PASTED_LIMIT, SHORTEST_CONCLUSION = 0.6, 3
"""A share of copied words, and a number of words, past which a conclusion is none."""
DECISIONS_BLOCK = "decisions"
"""The host's list of positions, in a summary: for code."""
TOKENS_IN, TOKENS_OUT = (1_000, 7_000), (350, 900)
"""The usual range of one call: each reads what was said before it."""


# The conclusion, as the host wrote it or as it can be extracted


def closing_speech(state: State) -> SpeechGiven | None:
    """The host's conclusion, if there is one."""
    return state.speech(turn_id(0, CONCLUSION, state.start.host.id))


def written_conclusion(state: State) -> SpeechGiven | None:
    """The host's conclusion, unless it says nothing or is pasted from somebody's speech: then an
    extract says more."""
    return state.derived("written conclusion", _written_conclusion)


def _written_conclusion(state: State) -> SpeechGiven | None:
    speech = closing_speech(state)
    if speech is None or speech.model == OUTSIDE:
        return speech
    pasted = any(copied_share(speech.text, s.text) > PASTED_LIMIT for s in last_words(state))
    return None if pasted or is_empty(speech) else speech


def is_empty(speech: SpeechGiven) -> bool:
    """Whether a conclusion says nothing."""
    return count_words(speech.text) < SHORTEST_CONCLUSION


def written_section(state: State, heading: str) -> str:
    speech = written_conclusion(state)
    return speech.sections.get(heading, "") if speech else ""


def conclusion_told(state: State) -> str:
    """The conclusion in its writer's words, all of them; without a writer, what the vote and the
    points say."""
    speech = written_conclusion(state)
    if speech is not None:
        if speech.model == OUTSIDE:
            return speech.text  # given by hand: it is the conclusion, word for word
        declared = speech.declaration.answer if speech.declaration else ""
        return parse_sections(prose(speech.text), _HEADINGS).get("Conclusion") or (
            declared or prose(speech.text)
        )
    question = standing_of(state).question
    report = final_report(state)
    told = []
    if question is not None and question.delivered:
        told.append(f"The vote is for: {question.answer.rstrip('.')} ({_told(question)}).")
    elif question is not None and question.end is not None:
        told.append(f"The vote chose nothing: {_told(question)}.")
    if report.consensus:
        texts = "; ".join(issue.text.rstrip(".") for issue in report.consensus)
        told.append(f"The meeting agreed on {_count(report.consensus)}: {texts}.")
    if report.disagreement:
        texts = "; ".join(issue.text.rstrip(".") for issue in report.disagreement)
        told.append(f"It disagrees on {_count(report.disagreement)}: {texts}.")
    return " ".join(told) or "No point was agreed or disputed in declared positions."


def final_report(state: State) -> RoundReport:
    """The points as they stand at the end, with the final convergence score."""
    return round_report(state, max(1, current_round(state)))


def consensus_points(state: State) -> list[str]:
    """Every point on which all agree."""
    return [_agreed(state, issue) for issue in final_report(state).consensus]


def held_points(state: State) -> list[str]:
    """What some hold and nobody opposes as it is worded now: no consensus, because not all have
    said so."""
    record = record_of(state)
    lines = []
    for issue in final_report(state).held:
        told = f"held by {len(issue.held_by)} of {len(record.seats)}: "
        told += _names(state, issue.held_by)
        point = record.point(issue.id)
        for what, who in (
            ("against its first wording", point.opposed_before if point else ()),
            ("not heard", point.unheard if point else ()),
        ):
            told += f"; {what}: {_names(state, who)}" if who else ""
        lines.append(f"[{issue.id}] {issue.text} ({told})")
    return lines


def disagreement_points(state: State) -> list[str]:
    """Every disputed point and refused condition, with both sides: no dissent is lost."""
    disputed = [*final_report(state).disagreement, *map(_as_issue, refused_conditions(state))]
    return [_disputed(state, issue) for issue in disputed]


def refused_conditions(state: State) -> tuple[ConditionOnTable, ...]:
    """The demands that somebody refused."""
    return tuple(
        each
        for each in record_of(state).conditions
        if each.demand and any(said.stance == "disagree" for said in each.answers.values())
    )


def _as_issue(held: ConditionOnTable) -> Issue:
    """A condition with its two sides, as a point has them."""
    said = {
        word: tuple(seat for seat, each in held.answers.items() if each.stance == word)
        for word in ("agree", "disagree")
    }
    return Issue(
        held.id,
        held.text,
        "disputed",
        (held.owner, *said["agree"]),
        said["disagree"],
        {seat: each.text for seat, each in held.answers.items() if each.text},
    )


def unsettled_points(state: State) -> list[str]:
    """What nobody but its author holds and nobody is against, with what was said to it."""
    return [f"[{p.id}] {p.told}" for p in Delivery.of(state).points_that_are("open")]


def withdrawn_points(state: State) -> list[str]:
    """What its author gave up."""
    return [f"[{p.id}] {p.told}" for p in Delivery.of(state).points_that_are("withdrawn")]


def rejected_points(state: State) -> list[str]:
    """What all are against, its author too."""
    return [
        f"[{i.id}] {i.text} (rejected by {_names(state, i.rejected_by)})"
        for i in final_report(state).rejected
    ]


def actions(state: State) -> tuple[ActionItem, ...]:
    """The host's action items, as the check left them, or those that participants declared."""
    if state.verdict is not None and state.verdict.next_steps:
        return state.verdict.next_steps
    speech = written_conclusion(state)
    items: tuple[ActionItem, ...] = ()
    if speech is not None:
        items = speech.declaration.actions if speech.declaration else ()
        listed = parse_sections(speech.text, (ACTION_ITEMS,)).get(ACTION_ITEMS, "")
        items = items or action_items(listed)
    if not items:
        items = tuple(each.item for each in declared_actions(state))
    # The same action named twice is one; whoever was named last has it.
    return tuple({item.text.casefold(): item for item in items}.values())


def also_declared(state: State) -> list[str]:
    """The actions that seats declared and the conclusion leaves out."""
    return [
        f"{_names(state, (each.by,))}: {each.item.text}{_by_whom(each.item)}"
        for each in told_actions(state, actions(state))[1]
    ]


def changed_actions(state: State) -> list[str]:
    """The actions whose owner or date is another in the conclusion than their seat declared."""
    return [
        f"{each.item.text}{_by_whom(each.item)}: {'; '.join(each.said)}"
        for each in told_actions(state, actions(state))[0]
        if each.said
    ]


def _by_whom(item: ActionItem) -> str:
    about = ", ".join(part for part in (item.owner, item.due) if part)
    return f" ({about})" if about else ""


def last_positions(state: State) -> list[str]:
    """What each seat said last that it would do, with its choice: an option keeps the words in
    which it was first put to the vote."""
    found = []
    for seat in Delivery.of(state).seats:
        about = [seat.choice] if seat.choice else []
        about += [f"confidence {seat.confidence}"] if seat.confidence is not None else []
        if seat.position:
            told = f" ({', '.join(about)})" if about else ""
            found.append(f"{_names(state, (seat.participant,))}{told}: {seat.position}")
    return found


def for_the_record(state: State) -> list[str]:
    """What participants want to stand in the minutes whatever is decided: the last word of each."""
    return [f"{_names(state, (who,))}: {text}" for who, text in kept_for_the_record(state)]


def chairs_dissent(state: State) -> list[tuple[str, str]]:
    """Who dissents and why, as a coordinator from outside gave it with its conclusion: by the seat
    that an entry names before its colon, or by the host. Where that seat's own words are kept for
    the record, they stand, and not what the coordinator makes of them."""
    speech = closing_speech(state)
    listed = speech.sections.get("Dissent", "") if speech and speech.model == OUTSIDE else ""
    seats = {
        name.casefold(): each.id
        for each in state.participants
        for name in (each.role, each.name, each.id)
    }
    own = {who for who, _ in kept_for_the_record(state)}
    found = []
    for entry in (each.removeprefix("- ") for each in listed.splitlines() if each.strip()):
        head, colon, rest = entry.partition(":")
        who = seats.get(head.strip().casefold(), "") if colon else ""
        if who not in own:
            found.append((who, rest.strip()) if who else (state.start.host.id, entry))
    return found


def chairs_dissent_told(state: State) -> list[str]:
    """The same in lines, each with its name."""
    host = state.start.host.id
    return [
        text if who == host else f"{_names(state, (who,))}: {text}"
        for who, text in chairs_dissent(state)
    ]


def changes_of_mind(state: State) -> list[str]:
    """Who left what it held at first, and by which argument."""
    question = standing_of(state).question
    lines = []
    for seat in question.seats if question else ():
        if not seat.moved or question is None:
            continue
        before = record_of(state).position(seat.participant, first=True)
        if seat.opening in question.decision.option_ids:
            before = question.text_of(seat.opening)
        now = record_of(state).position(seat.participant)
        if seat.final in question.decision.option_ids:
            now = question.text_of(seat.final)
        why = "without naming an argument"
        if seat.argument is not None:
            why = f"by an argument of {_names(state, (seat.argument.participant,))}: "
            why += seat.argument.what
        lines.append(f"{_names(state, (seat.participant,))}: from “{before}” to “{now}”, {why}")
    return lines


def vote_told(state: State) -> str:
    """How the vote on the question stands, in a line; empty if there was none."""
    question = standing_of(state).question
    if question is None:
        return ""
    answer = f"{question.answer.rstrip('.')}: " if question.delivered else ""
    end = f"{question.end}, " if question.end else "not counted, "
    return f"{answer}{end}{_told(question)}"


def _told(question: DecisionStanding) -> str:
    told = question.reason.rstrip(".")
    return told[:1].lower() + told[1:]


def is_heard(speech: SpeechGiven) -> bool:
    """Whether it was said to the table: lists and ballots are for code."""
    for_code = speech.stage in (CLERK, "casting") or speech.stage.startswith(MINUTES)
    return bool(speech.text) and not for_code


def spoken_words(speech: SpeechGiven) -> str:
    """A speech without what it holds for code."""
    if speech.stage.startswith(SUMMARY):
        return split_blocks(speech.text, DECISIONS_BLOCK)[0]
    return prose(speech.text) or speech.text


# The delivery


def delivery(state: State, version: str) -> str:
    """The conclusion as a person reads it; empty if there is no verdict."""
    if state.verdict is None:
        return ""
    votes = sum(state.end_votes.values())
    own = [
        ("Rounds", rounds_told(state)),
        ("Last positions", _as_list(last_positions(state))),
        *chairs_parts(state),
        ("Changed in the next steps", _as_list(changed_actions(state))),
        ("Also declared", _as_list(also_declared(state))),
        ("For the record", _as_list(recorded_apart(state))),
        ("Votes to end", f"{votes} of {len(state.participants)}" if state.end_votes else ""),
    ]
    return markdown(
        Delivery.of(state),
        "🏁 **Conclusion**",
        own=[(title, body) for title, body in own if body],
        footer=_footer(state, version),
    )


def recorded_apart(state: State) -> list[str]:
    """What is kept for the record, unless the part on dissent says it already: it does so where
    nobody was counted against the answer."""
    told = Delivery.of(state)
    apart = told.dissent or (told.question is not None and told.question.accepting)
    return for_the_record(state) if apart or state.verdict is None else []


def chairs_parts(state: State) -> list[Part]:
    """What a coordinator from outside gave beside its conclusion, in the fields of its own. Whom it
    names as dissenting stands with the dissent."""
    speech = closing_speech(state)
    if speech is None or speech.model != OUTSIDE:
        return []
    told = {
        RECOMMENDATION: RECOMMENDATION,
        **{name: f"{name}, as the coordinator has it" for name in CHAIRS_LISTS[:2]},
    }
    return [
        (title, f"\n{body}" if body.startswith("- ") else body)
        for name, title in told.items()
        if (body := checked_words(state, speech.sections.get(name, "")))
    ]


def checked_words(state: State, text: str) -> str:
    """A writer's words outside its verdict, as the check leaves them."""
    return check_text(told_apart(text)[0], sources_of(state)).text if text else ""


def _agreed(state: State, issue: Issue) -> str:
    return f"[{issue.id}] {issue.text} (held by {_names(state, issue.held_by)})"


def _disputed(state: State, issue: Issue) -> str:
    sides = [
        f"{side}: {'; '.join(_with_reason(state, issue, who) for who in names)}"
        for side, names in (("for", issue.held_by), ("against", issue.rejected_by))
        if names
    ]
    return f"[{issue.id}] {issue.text} ({'. '.join(sides)})"


def _with_reason(state: State, issue: Issue, who: str) -> str:
    reason = issue.reasons.get(who)
    return _names(state, (who,)) + (f", because {reason.rstrip('.')}" if reason else "")


def _names(state: State, ids: Iterable[str]) -> str:
    seats = (state.participant(each) for each in ids)
    return ", ".join(called(seat) for seat in seats if seat is not None)


def _count(found: Sequence[Issue]) -> str:
    return "one point" if len(found) == 1 else f"{len(found)} points"


def points_told(state: State) -> str:
    """How many points are what, in a line: counts, and no second figure of agreement."""
    listed = [point.status for point in record_of(state).points]
    if not listed:
        return "none was raised"
    kinds: tuple[PointStatus, ...] = get_args(PointStatus)
    return ", ".join(f"{n} {kind}" for kind in kinds if (n := listed.count(kind)))


def rounds_told(state: State) -> str:
    return f"{rounds_held(state)} of {max_rounds(state)}"


def _as_list(lines: Sequence[str]) -> str:
    return "\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _footer(state: State, version: str) -> str:
    seats = [
        f"{called(seat)}: {state.said.last_model(seat.id) or '—'}"
        for seat in (*state.participants, state.start.host)
    ]
    return " · ".join([*seats, f"roundtable v{version}"])


def last_words(state: State) -> list[SpeechGiven]:
    """Each participant's newest speech."""
    newest = {s.participant: s for s in state.said.of(DISCUSSION)}
    return [newest[p.id] for p in state.participants if p.id in newest]


def first_words(speech: SpeechGiven) -> str:
    """A speech in one sentence of its own."""
    body = clip(spoken_words(speech), 1_000)
    lines = [line for line in body.splitlines() if not line.lstrip().startswith("#")]
    return first_sentences("\n".join(lines), 1, 300)
