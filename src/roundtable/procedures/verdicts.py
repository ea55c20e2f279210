"""Verdicts: how a host's last word becomes one that can be checked, the same in every procedure.

The count says what is delivered, how sure it is and who dissents. The host writes it up; what it
writes is checked against what was said and against the count, and nothing it claims overrides
either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..core.against_count import answer_against, claim_against, claims_beside
from ..core.assessment import assessment_of
from ..core.assumptions import assumptions_of
from ..core.contracts import UNSTRUCTURED, Contract, Violation, says_nothing
from ..core.declaration import NONE, OWN, Declaration
from ..core.declaration_form import VERDICT, Form, Key, seems_refused
from ..core.effects import OwnTemplate, PromptValue, Task
from ..core.events import NoteAdded, SpeechGiven
from ..core.headline import dropped_out
from ..core.quotes import copied_share
from ..core.standing import DecisionStanding, Standing
from ..core.state import State
from ..core.tally import Vote, tally
from ..core.text import count_words, first_sentences, without_headings
from ..core.track_record import Choice, choose
from ..core.values import AGAINST_THE_COUNT, ActionItem, Confidence, Dissent, Finding, Verdict
from ..core.verdict_check import check_text
from ..core.verdict_sources import sources_of
from ..core.versions import current_versions, versions_of
from ..core.vote_told import VoteTold, vote_told
from ..core.writers_words import told_apart
from .past_record import past_record_of
from .table import Table

PASTED = "[pasted answer]"
PASTED_LIMIT = 0.6
"""Above this share of copied runs of words a synthesis is not the host's own."""
CONTRADICTS = "[contradicts the count]"
UNCITED = "[no citations]"
RULES_DISAGREE = "[voting rules disagree]"
_BESIDE = ("Agreement", "Dissent")
"""Sections in which a writer tells how the table stands."""
MOST_WRONG = 3
"""Of what is said against the count, told to whoever has to write it once more."""
WRITER_SAYS = "The writer says:"
"""Before the words of a writer that stand beside what was counted."""


# --- what the host is told and asked -----------------------------------------------------------


def verdict_form(table: Table) -> Form:
    """What the host declares with its verdict."""
    works = tuple(each.id for each in versions_of(table.state) if not each.work.left_out)
    keys: tuple[Key, ...] = VERDICT
    if works:
        keys = (*keys, "stands")
    if assumptions_of(table.state):
        keys = (*keys, "rests_on")
    left = tuple(each.id for each in current_versions(table.state) if each.id in works)
    # All of them: the count that the host is told names their options by ids alone.
    return Form(
        keys=keys,
        decisions=table.record.decisions,
        works=works,
        unreplaced=left,
        delivered=_delivered(table),
    )


def _delivered(table: Table) -> str:
    """The option that the count delivers, or `none`."""
    question = table.standing.question
    return question.delivered if question and question.delivered else NONE


def verdict_task(
    table: Table,
    template: str | OwnTemplate,
    variables: Mapping[str, PromptValue],
    sections: Sequence[str],
    *,
    max_tokens: int = 4096,
    contract: Contract | None = None,
    repeats: bool = False,
) -> Task:
    """The host's last word: its sections, its declaration, and the count it has to keep to."""
    question = table.standing.question
    kept = VerdictContract(
        sections=tuple(sections) if contract is None else contract.sections,
        min_words=contract.min_words if contract else 0,
        max_words=contract.max_words if contract else None,
        flag=contract.flag if contract else UNSTRUCTURED,
        delivers=_delivered(table) if question else "",
        told=vote_told(table.state),
        form=contract,
    )
    return table.declaring_task(
        template,
        {**variables, "outcome": outcome(table), "conditions": table.conditions_told()},
        verdict_form(table),
        kept,
        max_tokens=max_tokens,
        repeats=repeats,
    )


@dataclass(frozen=True, slots=True)
class VerdictContract(Contract):
    """The sections of a verdict, and that it delivers what was counted."""

    delivers: str = ""
    """The option that the count says, or `none`; empty where nothing was put to the vote."""
    told: VoteTold | None = None
    """What was counted, for whatever the text says of it."""
    form: Contract | None = None
    """What the procedure asks of its verdict beside that."""

    def check(self, text: str) -> tuple[Violation, ...]:
        violations = (self.form or _plain(self)).check(text)
        wrong = (Violation("contradiction", found.message) for found in self.against(text))
        return (*violations, *wrong)

    def check_declared(self, declaration: Declaration | None) -> tuple[Violation, ...]:
        if declaration is None or not self.delivers:
            return ()
        if declaration.delivers == self.delivers:
            wrong = answer_against(declaration.answer, self.told) if self.told else []
            told = "The declared answer contradicts the count. "
            return tuple(Violation("contradiction", told + each.message) for each in wrong[:1])
        told = (
            f"The count delivers {self.delivers}, your verdict {declaration.delivers}: write the "
            "verdict that was counted, and say under dissent what speaks against it."
            if self.delivers != NONE
            else f"The count delivers nothing, your verdict {declaration.delivers}: set the "
            "positions side by side and say what would decide between them."
        )
        return (Violation("contradiction", told),)

    def against(self, text: str) -> tuple[Finding, ...]:
        """What the text says against the count."""
        if self.told is None:
            return ()
        parts = self.parse(text)
        answer = parts.get("Answer") or parts.get("Conclusion") or text
        found = answer_against(answer, self.told)
        for name in _BESIDE:
            found += _claimed(parts.get(name, ""), self.told)
        return tuple(dict.fromkeys(found))[:MOST_WRONG]

    def parse(self, text: str) -> dict[str, str]:
        return (self.form or _plain(self)).parse(text)


def _plain(contract: Contract) -> Contract:
    return Contract(contract.sections, contract.min_words, contract.max_words, contract.flag)


def outcome(table: Table) -> str:
    """The count for the host who has to write it up. Options stand in it by their ids alone,
    because their words are not ours."""
    standing = table.standing
    if standing.question is None:
        return "Nothing was put to the vote, so no agreement can be claimed."
    lines: list[str] = []
    for each in standing.decisions:
        prevails = f" {each.delivered} prevails." if each.delivered else " Nothing prevails."
        end = each.end or "not counted"
        lines.append(f"{each.decision.id}, {end}: {each.reason}{prevails}")
        for option, count in each.counts.items():
            names = [table.name(s.participant) for s in each.seats if s.final == option]
            lines.append(f"- {option}: {count}{' (' + ', '.join(names) + ')' if names else ''}")
        if own := [table.name(seat) for seat in each.own]:
            lines.append(f"- positions of their own: {', '.join(own)}")
    lines += _origin_lines(table, standing.question)
    if standing.demands:
        ids = ", ".join(f"{d.id} of {table.name(d.owner)}" for d in standing.demands)
        lines.append(f"Demands that are not granted: {ids}.")
    for unmet in standing.unmet:
        by = _names(table, standing.question.refused_by(unmet))
        lines.append(f"In dispute: {unmet.id} of {table.name(unmet.owner)}, refused by {by}.")
    for seat in standing.question.seats:
        if seat.fell_back and table.record.as_cast:
            ids = ", ".join(seat.refused_demands)
            lines.append(
                f"{table.name(seat.participant)} voted {seat.cast} and counts for {seat.final}, "
                f"because {ids} was refused by its own side."
            )
    if standing.granted:
        ids = ", ".join(f"{d.id} of {table.name(d.owner)}" for d in standing.granted)
        lines.append(f"Demands that all on its side granted, so the answer holds on them: {ids}.")
    delivered = standing.question.delivered
    leans = _by_record(table)
    if delivered is None and leans is not None and not leans.tied:
        lines.append(f"The track record of the models leans to {leans.winner}; it settles nothing.")
    lines.append(
        f"Deliver {delivered} as the answer." if delivered else "Deliver no option as the answer."
    )
    return "\n".join(lines)


def _origin_lines(table: Table, question: DecisionStanding) -> list[str]:
    lines = []
    if alone := question.independent:
        lines.append(f"Held it before hearing the others: {_names(table, alone)}.")
    for seat in question.seats:
        if seat.moved and seat.final == question.delivered:
            name = table.name(seat.participant)
            why = "by an argument it names" if seat.argument else "without naming an argument"
            lines.append(f"{name} came over {why}.")
    if question.accepting:
        lines.append(f"Could live with it: {_names(table, question.accepting)}.")
    if question.dissenting:
        lines.append(f"Dissents: {_names(table, question.dissenting)}.")
    if table.record.abstained:
        lines.append(f"Abstains: {_names(table, table.record.abstained)}.")
    for each in question.seats:
        if each.participant in table.record.undeclared:
            last = f" (before that {each.last}: it does not agree)" if each.last else ""
            last = last if each.participant in question.uncounted else ""
            lines.append(f"Declared nothing in the end: {table.name(each.participant)}{last}.")
    if table.record.absent:
        lines.append(f"Absent: {_names(table, table.record.absent)}.")
    return lines


def _rests_on(table: Table, declared: Declaration) -> tuple[str, ...]:
    """The assumptions that the writer names, by id or in their own words."""
    named = [each.casefold() for each in declared.rests_on]
    found: list[str] = []
    for own, text in assumptions_of(table.state).items():
        if any(each in (own, text.casefold()) or each.startswith(f"{own}:") for each in named):
            found.append(text)
    return tuple(found)


def _in_short(text: str) -> str:
    return first_sentences(without_headings(text), 2, 400)


def _names(table: Table, seats: Iterable[str]) -> str:
    return ", ".join(table.name(seat) for seat in seats)


# --- what becomes of it ------------------------------------------------------------------------


def written(
    table: Table,
    speech: SpeechGiven,
    *,
    answer: str = "",
    agreement: str = "",
    gaps: str = "",
    changed_minds: str = "",
    on_dissent: str = "",
    beside: str = "",
    actions: tuple[ActionItem, ...] | None = None,
    sources: tuple[str, ...] = (),
    among: Sequence[SpeechGiven] = (),
) -> Verdict:
    """The verdict as its writer wrote it, checked, whoever that is: a host, a Captain, or somebody
    outside. `answer` is the part of its speech that answers the question; without it, all of it.
    `among` are the speeches it must not be pasted from. `beside` is what its writer gave in fields
    of their own, which only the procedure shows: it is checked too. `actions` are its next steps
    where it did not declare them.

    Every part is checked before anything is made of what was found."""
    text = answer or speech.sections.get("Answer") or speech.text
    base = counted(table)
    if table.state.imagined:
        return base.model_copy(update={"answer": text, "method": "written"})
    declared = speech.declaration or Declaration()
    question = table.standing.question
    check = Checking(table.state)
    gaps, changed_minds = ("" if says_nothing(each) else each for each in (gaps, changed_minds))
    parts = {
        "answer": check(text),
        "agreement": check("" if says_nothing(agreement) else agreement),
        "gaps": check(gaps),
        "changed_minds": check(changed_minds),
        "on_dissent": check("" if says_nothing(on_dissent) else on_dissent),
    }
    in_short = declared.answer or _in_short(text)
    brief = check(declared.answer) if declared.answer else _in_short(parts["answer"])
    why = tuple(check(each) for each in declared.why)
    would_change = tuple(check(each) for each in declared.would_change)
    planned = declared.actions if actions is None else actions
    next_steps = tuple(each.model_copy(update={"text": check(each.text)}) for each in planned)
    check(beside)
    wrong: list[Finding] = []
    if question is not None and (counted_so := vote_told(table.state)) is not None:
        another = _delivers_another(question, declared)
        in_answer = [another] if another else answer_against(text, counted_so)
        in_brief = [another] if another else answer_against(in_short, counted_so)
        wrong += in_answer or in_brief
        if in_brief:
            brief = _capital(question.answer) if question.delivered else base.agreement
        for name, claimed in (
            ("agreement", _claimed(agreement, counted_so)),
            ("on_dissent", _claimed(on_dissent, counted_so)),
        ):
            wrong += claimed
            if claimed:
                parts[name] = ""
        wrong += claims_beside(
            counted_so,
            says=(*declared.why, gaps, changed_minds, *beside.splitlines()),
            wants=(*declared.would_change, *(each.text for each in planned)),
        )
        wrong = list({(each.code, each.message): each for each in reversed(wrong)}.values())[::-1]
    findings = tuple(dict.fromkeys((*wrong, *check.findings)))
    flags = dict.fromkeys(speech.flags)
    if any(each.code in AGAINST_THE_COUNT for each in wrong):
        flags[CONTRADICTS] = None
    if any(copied_share(text, each.text) > PASTED_LIMIT for each in among):
        flags[PASTED] = None
    if not check.cites:
        flags[UNCITED] = None
    others = [each for each in findings if each.code not in AGAINST_THE_COUNT]
    flags.update(dict.fromkeys(map(flag_of, others)))
    return base.model_copy(
        update={
            "answer": parts["answer"],
            "brief": brief,
            "delivers": declared.delivers,
            "stands": declared.stands,
            "why": why,
            "would_change": would_change,
            "rests_on": _rests_on(table, declared),
            "next_steps": next_steps,
            "method": "written",
            "author": speech.model,
            # The count comes first: the host's words cannot turn an impasse into an agreement.
            "agreement": _beside(base.agreement, parts["agreement"], " "),
            "changed_minds": _beside(base.changed_minds, parts["changed_minds"], "\n"),
            "on_dissent": parts["on_dissent"],
            "gaps": parts["gaps"],
            "sources": sources,
            "cites": tuple(dict.fromkeys(check.cites)),
            "findings": findings,
            "flags": (*base.flags, *flags),
        }
    )


def _claimed(section: str, counted_so: VoteTold) -> list[Finding]:
    """What a section claims against the count; one that only says that it is empty is left out."""
    return [] if says_nothing(section) else claim_against(section, counted_so)


def _beside(counted_so: str, said: str, between: str) -> str:
    """What was counted, and beside it what the writer says of that: as the writer's words."""
    return between.join([*filter(None, [counted_so]), *([f"{WRITER_SAYS} {said}"] if said else [])])


def extracted(
    table: Table, words: Sequence[SpeechGiven], *, sources: tuple[str, ...] = ()
) -> Verdict:
    """The experts' own last words side by side, for when no model can write the verdict."""
    base = counted(table)
    question = table.standing.question
    lines = []
    if question is not None and question.delivered:
        lines += [f"The vote is for: {question.answer} ({question.reason.rstrip('.')})", ""]
    lines += ["No model wrote this answer; these are the experts' own words.", ""]
    for speech in words:
        held = said(speech)
        if (
            question is not None
            and table.record.vote(question.decision, speech.participant).outvoted
        ):
            voted = table.record.holds(question.decision, speech.participant)
            held = f"{_bare(voted)} (its vote; before it: {_bare(held)})"
        lines.append(f"- **{table.name(speech.participant)}** ({speech.turn_id}): {held}")
    brief = question.answer if question is not None and question.delivered else ""
    return base.model_copy(
        update={
            "answer": "\n".join(lines),
            "brief": brief or base.agreement,
            "delivers": question.delivered or NONE if question else "",
            "method": "extractive",
            "sources": sources,
            "cites": tuple(speech.turn_id for speech in words),
        }
    )


def unusable(
    speech: SpeechGiven | None, sections: Sequence[str], among: Sequence[SpeechGiven]
) -> str:
    """Why an extract says more than what a host answered, as a sentence goes on after its name:
    with nothing, a refusal, garbage or somebody else's words. Empty if it says less."""
    if speech is None:
        return "could not write it"
    text = speech.sections.get("Answer") or speech.text
    if seems_refused(text):
        return "declined to write it"
    if count_words(text) == 0:
        return "wrote nothing"
    shapeless = speech.declaration is None and not any(speech.sections.get(n) for n in sections)
    if sections and shapeless:
        return "wrote something without the parts of a verdict, which was not used"
    if any(copied_share(text, each.text) > PASTED_LIMIT for each in among):
        return "copied most of it from one of the speeches, so its text was not used"
    return ""


def extracted_because(why: str, usual: NoteAdded) -> NoteAdded:
    """The note on an extract, with what the host did in place of a verdict; the `usual` one where
    it did nothing."""
    if why == unusable(None, (), ()):
        return usual
    return NoteAdded(
        code="extracted_verdict",
        text=f"The verdict is an extract of what was said, made without a model: the host {why}.",
        remedy="Ask again, or give the host another model (--host).",
    )


def counted(table: Table) -> Verdict:
    """What the count alone says; the answer is still empty."""
    return Verdict(
        answer="",
        confidence=_level(table.state),
        agreement=f"{agreement_told(table.standing)} {by_past_record(table)}".strip(),
        dissent=dissents(table),
        changed_minds=changes_told(table),
        meaningful=table.standing.end is not None,
        flags=(RULES_DISAGREE,) if _rules_disagree(table) else (),
    )


def ballots(table: Table) -> list[Vote]:
    """The last votes on the question as ballots, for the rules that count rankings."""
    question = table.record.question
    if question is None:
        return []
    votes = [each for each in table.record.votes(question) if each.vote and each.vote.ranking]
    sure = {each.participant: table.record.confidence(each.participant) for each in votes}
    return [
        Vote.of(
            each.participant,
            *each.vote.ranking,
            confidence=None if (known := sure[each.participant]) is None else known / 100,
            round=each.round,
        )
        for each in votes
        if each.vote
    ]


def _rules_disagree(table: Table) -> bool:
    """Whether other ways to count the same votes would name other winners."""
    question = table.record.question
    return question is not None and tally(ballots(table), question.option_ids).alarm


def by_past_record(table: Table) -> str:
    """What the past of the models makes of the vote, in a sentence of its own. It never changes how
    the table ended: positions do that."""
    question = table.standing.question
    choice = _by_record(table)
    if question is None or choice is None or not choice.winners:
        return ""
    told = f"Counted with track record ({choice.reason})"
    if question.delivered is not None:
        return f"{told}: no change."
    if choice.tied:
        return f"{told}."
    won, whole = choice.winners[0], sum(choice.scores.values())
    return (
        f"{told}: “{_bare(question.text_of(won))}” leads with {choice.scores[won]:.1f} of "
        f"{whole:.1f}."
    )


def _by_record(table: Table) -> Choice | None:
    record, question = past_record_of(table.state), table.record.question
    if question is None or not record.learned:
        return None
    return choose(ballots(table), record, question.option_ids)


def _level(state: State) -> Confidence | None:
    word = assessment_of(state).word
    return None if word == "none" else word


def agreement_told(standing: Standing) -> str:
    """How the table ended, with the figures, in a sentence or two."""
    question = standing.question
    if question is None:
        return "Not counted: nothing was put to the vote."
    if question.end is None:
        return f"Not counted: {question.reason}"
    told = f"{question.end.capitalize()}: {question.reason}"
    if question.delivered and question.end != "hollow":
        alone = len(question.independent)
        holders = len(question.holders)
        if alone == holders:
            told += " They held it independently, before hearing each other."
        elif alone:
            told += f" {alone} of them held it before hearing the others."
        else:
            told += " It was reached only after talk."
    return told


def dissents(table: Table) -> tuple[Dissent, ...]:
    """Every seat that does not hold what is delivered and could not live with it, in its own last
    words; and what those held who came over without an argument."""
    question = table.standing.question
    if question is None:
        return ()
    found = []
    for seat in question.dissenting:
        held = question.seat(seat)
        last = _last_words(table, seat)
        found.append(
            Dissent(
                participant=seat,
                position=table.record.holds(question.decision, seat)
                or (said(last) if last else ""),
                reason=_reason(table, seat),
                turn_id=last.turn_id if last else held.turn_id if held else None,
            )
        )
    # Who left the answer for another one dissents already, with what it holds now.
    for seat in (each for each in question.gave_in if each in question.holders):
        first = next(
            (s for s in table.state.said.of_seats if s.participant == seat and s.text), None
        )
        if first is not None and question.delivered:
            found.append(
                Dissent(
                    participant=seat,
                    position=table.record.position(seat, first=True) or said(first),
                    reason=_reason(table, seat, first=True),
                    turn_id=first.turn_id,
                    gave_in=True,
                )
            )
    return tuple(found)


def _reason(table: Table, seat: str, *, first: bool = False) -> str:
    """Its own strongest claim: a point it raised, or the last thing it wants on record."""
    said_by = table.record.of(seat)
    for each in said_by if first else reversed(said_by):
        if each.declaration.for_the_record:
            return each.declaration.for_the_record
        if each.declaration.new_points:
            return each.declaration.new_points[0]
    held = [p.text for p in table.record.points if p.author == seat and not p.withdrawn]
    return held[0] if held else ""


def changes_told(table: Table) -> str:
    """What the vote would have been without talk, if that is known; who changed its mind, and by
    which argument; who held something and has no vote in the end. Empty where there is nobody
    of either."""
    question = table.standing.question
    if question is None:
        return ""
    dropped = _dropped(table, question)
    if not dropped and not any(seat.moved or seat.fell_back for seat in question.seats):
        return ""
    lines = [_without_talk(question)] if question.before.known else []
    for seat in question.seats:
        if not seat.moved:
            continue
        name, now = table.name(seat.participant), question.text_of(seat.final)
        before = table.record.position(seat.participant, first=True)
        if seat.opening in question.decision.option_ids:
            before = question.text_of(seat.opening)
        cause = (
            f"by an argument of {table.name(seat.argument.participant)}: "
            f"{_bare(seat.argument.what)}"
            if seat.argument
            else "without naming an argument: it gave in"
            if seat.gave_in and seat.participant in question.holders
            else "without naming an argument"
        )
        lines.append(f"- {name} went from “{_bare(before)}” to “{_bare(now)}” {cause}.")
    return "\n".join([*lines, *_fallen_back(table, question), *dropped])


def _fallen_back(table: Table, question: DecisionStanding) -> list[str]:
    """Who voted for one thing and counts for another, since its demand was refused unheard."""
    if not table.record.as_cast:
        return []
    lines = []
    for seat in question.seats:
        lost = [c for c in table.record.conditions if c.id in seat.refused_demands]
        if seat.fell_back:
            why = " and ".join(
                f"“{_bare(c.text)}” was refused by {_names(table, question.refused_by(c))}"
                for c in lost
            )
            voted, now = question.text_of(seat.cast), question.text_of(seat.final)
            now = "a position of its own" if seat.final == OWN else f"“{_bare(now)}”"
            lines.append(
                f"- {table.name(seat.participant)} voted “{_bare(voted)}” and counts for {now}, "
                f"because {why}."
            )
    return lines


def _dropped(table: Table, question: DecisionStanding) -> list[str]:
    """Who held something at first and ends without a vote: that is a change, too."""
    lines = []
    for seat in question.seats:
        before = table.record.position(seat.participant, first=True)
        if seat.opening in question.decision.option_ids:
            before = question.text_of(seat.opening)
        if seat.final or not before:
            continue
        name, lost = table.name(seat.participant), dropped_out(table.state, seat.participant)
        end = "abstains in the end" if seat.participant in question.abstained else ""
        end = end or f"has no vote in the end{f' ({lost})' if lost else ''}"
        lines.append(f"- {name} held “{_bare(before)}” and {end}.")
    return lines


def _without_talk(question: DecisionStanding) -> str:
    """The vote before talk is the control group: what talk changed is told against it."""
    before = _leading(question, question.before.leading, question.before.answer)
    after = _leading(question, question.leading, question.delivered)
    if before == after:
        return f"Talk did not change the result: {after}."
    return f"Without talk the vote would have said {before}; after it, it says {after}."


def _leading(question: DecisionStanding, leading: Sequence[str], answer: str | None) -> str:
    named = [f"“{_bare(question.text_of(each))}”" for each in leading]
    if not named:
        return "nothing that was put to the vote"
    if len(named) > 1:
        return f"a tie of {' and '.join(named)}"
    return named[0] if answer else f"nothing that prevails, with most for {named[0]}"


def _bare(text: str) -> str:
    return text.rstrip(" .。")


def said(speech: SpeechGiven) -> str:
    """What a speech stands for in a line or two: its declared position, or its beginning."""
    declared = speech.declaration.position if speech.declaration else ""
    return declared or first_sentences(speech.sections.get("Answer") or speech.text, 3, 500)


def _last_words(table: Table, seat: str) -> SpeechGiven | None:
    spoken = [s for s in table.state.said.in_rounds if s.participant == seat and s.text]
    return spoken[-1] if spoken else None


def _delivers_another(question: DecisionStanding, declared: Declaration) -> Finding | None:
    """That the writer declares another outcome than the one that was counted."""
    if question.delivered is None:
        if declared.delivers in ("", NONE):
            return None
        return Finding(
            code="contradiction",
            message="The writer delivers an answer although the table chose none: "
            f"{question.reason}",
        )
    if declared.delivers in ("", question.delivered):
        return None
    wrote = question.text_of(declared.delivers) if declared.delivers != NONE else "no answer"
    return Finding(
        code="contradiction",
        message=f"The table chose “{question.answer}” ({question.reason.rstrip('.')}), the "
        f"writer delivers “{wrote}”.",
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def flag_of(finding: Finding) -> str:
    return f"[{finding.code.replace('_', ' ')}]"


class Checking:
    """Checks one verdict part by part, and gathers what is found. Every word of a writer comes
    through here before anybody sees it as a verdict."""

    def __init__(self, state: State) -> None:
        self._sources = sources_of(state)
        self.findings: list[Finding] = []
        self.cites: list[str] = []

    def __call__(self, text: str) -> str:
        if not text:
            return ""
        apart, forged = told_apart(text)
        checked = check_text(apart, self._sources)
        self.findings += (*forged, *checked.findings)
        self.cites += checked.cites
        return checked.text


def extracted_note(table: Table, why: str) -> NoteAdded:
    """Why nobody wrote the verdict; of a vote only where there was one."""
    question = table.standing.question
    voted = question is not None and question.end is not None
    usual = NoteAdded(
        code="extracted_verdict",
        text="The host could not write the verdict, so it is an extract of what the experts said, "
        "made without a model.",
        remedy="Ask again to get a written one.",
    )
    note = extracted_because(why, usual)
    counted_too = " The vote is counted all the same." if voted else ""
    return note.model_copy(update={"text": f"{note.text}{counted_too}"})
