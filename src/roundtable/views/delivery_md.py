"""A delivery as Markdown that a person reads: in a terminal, a chat, a file, as an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core.headline import LONGEST_OPTION
from ..core.state import State
from ..core.text import clip, listed
from ..core.values import ActionItem, Participant
from .delivery import Delivery, findings_told
from .delivery_parts import Decided, demands_told
from .emphasis import as_item, meant
from .outgoing import outgoing
from .report_parts import line

Part = tuple[str, str]
"""A title, and what stands under it: a sentence behind the title, or a list below it."""


def markdown(
    delivery: Delivery, heading: str, *, own: Sequence[Part] = (), footer: str = ""
) -> str:
    """The whole delivery. `own` are the parts that only this procedure has; the footer says which
    models spoke."""
    top = [heading + (" (partial)" if delivery.partial else ""), "", *first_lines(delivery)]
    if says_more(delivery):
        top += ["", delivery.written]
    parts = [*common(delivery), *own, *last(delivery)]
    lines = [*top, "", *written(parts)]
    if footer:
        lines += ["", "---", footer]
    return outgoing("\n".join(lines))


def first_lines(delivery: Delivery) -> list[str]:
    """The answer: how it ended, and in a sentence or two what it is."""
    headline, *rest = delivery.opening
    told = [each for each in rest if not each.startswith(("Confidence:", "Dissent:", "⚠"))]
    lines = [" ".join([f"**{meant(headline)}**", *map(meant, told)])]
    if delivery.findings:
        lines += ["", f"⚠ **{meant(findings_told(delivery.findings))}**"]
    return lines


def says_more(delivery: Delivery) -> bool:
    """Whether the written answer holds more than its own summary."""
    return line(delivery.written) not in ("", line(delivery.brief))


def common(delivery: Delivery) -> list[Part]:
    """The parts that every procedure has, in the order in which a person asks."""
    steps = [step_told(each) for each in delivery.next_steps]
    return _filled(
        ("Deliverables", _listed(map(line, delivery.works.told()))),
        ("Confidence", sureness(delivery)),
        ("Agreement", delivery.agreement or "not stated"),
        ("Vote", vote(delivery)),
        ("Who could live with what", _listed(_options(delivery))),
        ("Common ground", delivery.question.common_ground if delivery.question else ""),
        ("Who holds what", _listed(f"{seat.name}: {seat.told}" for seat in delivery.seats)),
        ("Other questions", _listed(also_decided(d) for d in delivery.decisions[1:])),
        ("Why", _listed(delivery.why)),
        ("Dissent", dissent(delivery)),
        ("Conditions", _listed(demands_told(c for c in delivery.conditions if c.of_the_answer))),
        ("Other conditions", _listed(_of_others(delivery))),
        ("To be found out", _listed(_facts(delivery))),
        ("Assumed", _listed(_assumed(delivery))),
        ("What would change it", _listed(delivery.would_change)),
        ("Next steps", _listed(steps)),
    )


def sureness(delivery: Delivery) -> str:
    """How sure the answer is and why, and what that figure means."""
    meaning = delivery.confidence.meaning if delivery.meaningful else ""
    return f"{delivery.sureness} {meaning}".rstrip()


def _assumed(delivery: Delivery) -> list[str]:
    """What nobody said and the host assumed, with what hangs on it."""
    return [
        f"{each} (the answer rests on it)" if each in delivery.rests_on else each
        for each in delivery.assumptions
    ]


def last(delivery: Delivery) -> list[Part]:
    """What stands behind it: what talk changed, the points, gaps, sources."""
    points = [
        *(f"agreed: {p.told}" for p in delivery.points_that_are("agreed")),
        *(p.told for p in delivery.points_that_are("held")),
        *(f"disputed: {p.told}" for p in delivery.points_that_are("disputed")),
        *(f"open: {p.told}" for p in delivery.points_that_are("open")),
        *(f"rejected: {p.told}" for p in delivery.points_that_are("rejected")),
        *(f"withdrawn: {p.told}" for p in delivery.points_that_are("withdrawn")),
    ]
    return _filled(
        ("What talk changed", delivery.changed),
        ("Points", _listed(points)),
        ("Gaps and risks", delivery.gaps),
        ("Voters", delivery.voters),
        ("Sources", " · ".join(delivery.sources)),
        ("Flags", " ".join(delivery.flags)),
    )


def written(parts: Iterable[Part]) -> list[str]:
    """Titles with their sentences and lists. A list ends with an empty line: Markdown would join
    what follows to its last item."""
    lines: list[str] = []
    for title, told in parts:
        body = meant(told)
        if body.startswith("\n"):
            lines += [f"**{title}:**", *body.strip("\n").splitlines(), ""]
        else:
            lines += [f"**{title}:** {body}", *([""] if "\n" in body else [])]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def vote(delivery: Delivery) -> str:
    """The count on the question: every answer with its votes, the strongest first."""
    options = delivery.question.options if delivery.question else ()
    ranked = sorted(options, key=lambda each: -len(each.names))
    return "; ".join(f"{each.text.rstrip(' .。')}: {len(each.names)}" for each in ranked)


def also_decided(decided: Decided) -> str:
    """A further decision: how it ended, who holds what, and who dissents."""
    held = [f"{o.text.rstrip(' .。')}: {', '.join(o.names)}" for o in decided.options if o.names]
    others = [f"{s.name}: {s.told.rstrip('.')}" for s in decided.seats if s.status != "voted"]
    told = f"{decided.question}: {decided.told}"
    if held or others:
        told += f" {'; '.join([*held, *others])}."
    if decided.dissenting:
        told += f" Dissent: {', '.join(decided.dissenting)}."
    return told


def dissent(delivery: Delivery) -> str:
    """Everybody who does not share the answer, with reason and quotation; who could live with it;
    what the writer says to it."""
    lines = []
    for each in delivery.dissent:
        said = f"{each.turn or each.name}: {each.position}"
        if each.gave_in:
            said += " (gave in at the end without naming an argument)"
        if each.uncounted:
            said = f"{each.name} (not counted: {each.uncounted}), {each.position}"
        if each.reason:
            said += f" Reason: {each.reason}"
        if each.quotation:
            said += f" “{each.quotation}”"
        lines.append(said)
    if delivery.question and delivery.question.accepting:
        lines.append(f"Could live with the answer: {', '.join(delivery.question.accepting)}.")
    if not lines:
        none = "" if delivery.demonstration else "none"
        question = delivery.question
        if question and not question.delivered and (question.end or none):
            came = "prevailed" if question.end else "was counted"
            none = f"no answer {came} that somebody could dissent from"
        elif further := [d for d in delivery.decisions[1:] if d.dissenting]:
            told = [f"{', '.join(d.dissenting)} on “{d.question}”" for d in further]
            none = f"none on the question; {'; '.join(told)}"
        elif question and question.unknown and none:
            known = f"what {listed(question.unknown)} would choose is not known"
            none = f"nobody who is counted; {known}"
        more = [f"the writer says: {line(delivery.on_dissent)}"] if delivery.on_dissent else []
        more += [f"for the record, {each.rstrip(' .。')}" for each in delivery.for_the_record]
        if more and none == "none":
            # Nobody voted otherwise, and somebody has something against it all the same.
            none = "nobody voted otherwise"
        told = [each for each in (none, *more) if each]
        return _listed(told) if len(more) > 1 else "; ".join(told)
    if delivery.on_dissent:
        lines.append(f"The writer says: {line(delivery.on_dissent)}")
    return _listed(lines)


def step_told(step: ActionItem) -> str:
    about = [part for part in (line(step.owner), line(step.due)) if part]
    return line(step.text) + (f" ({', '.join(about)})" if about else "")


def models(state: State, seats: Iterable[Participant], version: str) -> str:
    """The footer: who spoke with which model, and by which version of the program."""
    told = [f"{seat.emoji} {seat.name}: {spoke_as(state, seat)}".strip() for seat in seats]
    return " · ".join([*told, f"roundtable v{version}"])


def spoke_as(state: State, seated: Participant) -> str:
    """The model that really spoke, which a substitution may have changed."""
    if spoken := state.said.last_model(seated.id):
        return spoken
    extracted = state.verdict is not None and state.verdict.method == "extractive"
    return "no model" if extracted and seated == state.start.host else "—"


def _of_others(delivery: Delivery) -> list[str]:
    return demands_told(c for c in delivery.conditions if not c.of_the_answer)


def _options(delivery: Delivery) -> list[str]:
    """Each answer with who could live with it and who rejects it, where anybody said so."""
    options = delivery.question.options if delivery.question else ()
    if not any(each.acceptable or each.rejected for each in options):
        return []
    return [
        f"{each.id}, {clip(each.text.rstrip(' .。'), LONGEST_OPTION)}: {each.standing}"
        for each in options
    ]


def _facts(delivery: Delivery) -> list[str]:
    return [f"{each.text} ({each.name})" for each in delivery.conditions if each.kind == "fact"]


def _listed(items: Iterable[str]) -> str:
    found = [f"- {as_item(' '.join(item.split()))}" for item in items if item.strip()]
    return "\n" + "\n".join(found) if found else ""


def _filled(*parts: Part) -> list[Part]:
    return [(title, body) for title, body in parts if body.strip()]
