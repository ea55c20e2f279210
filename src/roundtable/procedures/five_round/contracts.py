"""The hard requirements of each round, checked by code.

A message never repeats words of the speech: it goes into the instructions of a second asking.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ...core.contracts import Contract, Violation, parse_sections
from ...core.quotes import copied_share
from ...core.tables import is_filled
from ...core.text import count_words
from ...views.five_round import forms
from ...views.five_round.items import LEAST_REASON, LEAST_SUPPORT, repeated
from ...views.five_round.references import Reference, Statements, normal_name, references
from ...views.five_round.rounds import (
    ACTIONABLE,
    ARBITRATION,
    CRITIQUE,
    CROSS_REFERENCE,
    DEFECTS,
    LEAST_CITATIONS,
    LEAST_METRICS,
    PROPOSAL,
    REVISION,
    RISKS,
    ROUNDS,
    TOP_RISKS,
    WEEKS,
)

UNMET = "[requirements not met]"
RISK, DEFECT = "K", "D"
"""What their numbers begin with. R1 to R5 are rounds."""
NONE = "none worth naming"
MILESTONES = "Milestones"
"""The section for what lies after the weeks of the plan; nobody has to write it."""
WORDS_PER_FINDING = 40
"""The least of a critique for each item that it names: to ask for more is to ask for padding."""
NOTHING_SAID = Statements({})
RESTATED_LIMIT = 0.6
"""Above this share of copied runs of words a revision restates the proposal."""


TOLERANCE = 0.1
"""A speech that is a little too short or too long is not asked for again."""
BESIDE_WORK = 0.12
"""How much a proposal may be too short: the work that it brings is no part of its words."""


@dataclass(frozen=True, slots=True)
class RoundContract(Contract):
    """The sections and the length of a round. Each round adds its own requirements."""

    flag: str = UNMET
    slack: float = TOLERANCE
    """By how much of its least length it may be shorter."""

    def check(self, text: str) -> tuple[Violation, ...]:
        sections = Contract(self.sections).check(text)
        return (*sections, *self._length(text), *self.demands(text))

    def _length(self, text: str) -> Iterator[Violation]:
        words = count_words(text)
        if words < self.min_words * (1 - self.slack):
            yield Violation("short", f"{words} words; at least {self.min_words} are needed.")
        if self.max_words is not None and words > self.max_words * (1 + TOLERANCE):
            yield Violation("long", f"{words} words; at most {self.max_words} are allowed.")

    def demands(self, _text: str) -> Iterator[Violation]:
        """What this round asks for beside sections and length."""
        yield from ()


@dataclass(frozen=True, slots=True)
class Proposal(RoundContract):
    """R1: a comparison table and figures."""

    def demands(self, text: str) -> Iterator[Violation]:
        if forms.comparison(text) is None:
            yield Violation(
                "table",
                "No comparison table: put a Markdown table with at least 2 columns and 2 rows "
                "under “## Comparison”.",
                "Comparison",
            )
        count = len(forms.metrics(text))
        if count < LEAST_METRICS:
            yield Violation(
                "metrics",
                f"{count} quantitative metrics; at least {LEAST_METRICS} are needed under "
                "“## Metrics”, each on a line of its own: “- name: figure and unit”.",
                "Metrics",
            )


@dataclass(frozen=True, slots=True)
class CrossReference(RoundContract):
    """R2: citations of others, each with a stance."""

    statements: Statements = NOTHING_SAID
    own: str = ""

    def demands(self, text: str) -> Iterator[Violation]:
        found = references(text)
        others = [r for r in found if self.statements.who(r) not in (None, self.own)]
        counted = {
            (r.line, r.name, r.round, r.stance)
            for r in others
            if r.stance is not None and self.statements.resolves(r)
        }
        if len(counted) < LEAST_CITATIONS:
            yield Violation(
                "citations",
                f"{len(counted)} citations of other experts count; at least {LEAST_CITATIONS} are "
                "needed, in the form [@NAME R1: agree] or [@NAME R1: disagree].",
            )
        if without := sum(r.stance is None for r in others):
            yield Violation(
                "stance",
                f"{without} citations have no stance: write agree, disagree or partly in each.",
            )
        yield from _unresolved(found, self.statements)


@dataclass(frozen=True, slots=True)
class Critique(RoundContract):
    """R3: exactly so many risks and defects, each with support, each against a real statement."""

    statements: Statements = NOTHING_SAID
    own: str = ""

    def _length(self, text: str) -> Iterator[Violation]:
        """What its items need, and no more: neither they nor a gap must be padded."""
        named = sum(finding.named for finding in forms.findings(text))
        least = min(self.min_words, named * WORDS_PER_FINDING) if named else self.min_words
        yield from RoundContract._length(replace(self, min_words=least), text)

    def demands(self, text: str) -> Iterator[Violation]:
        found = forms.findings(text)
        for kind, heading, letter, wanted in (
            ("risk", "Risks", RISK, RISKS),
            ("defect", "Defects", DEFECT, DEFECTS),
        ):
            listed = [f for f in found if f.kind == kind]
            named = {f.text.casefold() for f in listed if f.named}
            count = len(named) + sum(not f.named for f in listed)
            if count != wanted:
                yield Violation(
                    f"{kind}s",
                    f"{count} {kind}s under “## {heading}”; exactly {wanted} different ones are "
                    f"needed, {letter}1 to {letter}{wanted}, each on a line that begins with its "
                    f"number. Where you have no more, write “{NONE}” after it.",
                    heading,
                )
            elif not named:
                yield Violation(f"{kind}s", f"No {kind} at all: name at least one.", heading)
            if same := repeated({f.number: f.support for f in listed if f.named and f.support}):
                yield Violation(
                    "support",
                    f"{_ids(letter, same)}: the same support as another {kind}'s. Each needs its "
                    "own.",
                    heading,
                )
        for finding in found:
            if not finding.named:
                continue
            risk = finding.kind == "risk"
            name = f"{RISK if risk else DEFECT}{finding.number}"
            where = "Risks" if risk else "Defects"
            if not finding.concrete:
                yield Violation(
                    "support",
                    f"{name} has no concrete support: after “Support:” give at least "
                    f"{LEAST_SUPPORT} words with a figure, a quotation or a reason that the item "
                    "itself does not state already.",
                    where,
                )
            aimed = references(f"{finding.text}\n{finding.support}")
            if not any(self._hits(reference) for reference in aimed):
                yield Violation(
                    "target",
                    f"{name} does not say whose statement it is about: name it as [@NAME R1], and "
                    "name another expert than yourself.",
                    where,
                )
        yield from _unresolved(references(text), self.statements)

    def _hits(self, reference: Reference) -> bool:
        known = self.statements
        return known.resolves(reference) and known.who(reference) != self.own


@dataclass(frozen=True, slots=True)
class Revised(RoundContract):
    """R4: an answer to each challenge, a table of changes, and no second edition of R1."""

    statements: Statements = NOTHING_SAID
    challenges: tuple[int, ...] = ()
    first: str = ""
    """The expert's own proposal."""

    def demands(self, text: str) -> Iterator[Violation]:
        answered = {answer.challenge: answer for answer in forms.answers(text)}
        if missing := [n for n in self.challenges if n not in answered]:
            yield Violation(
                "unanswered",
                f"Challenges without an answer under “## Answers”: {_ids('Q', missing)}.",
                "Answers",
            )
        thin = [n for n in self.challenges if n in answered and not answered[n].substantial]
        if thin:
            yield Violation(
                "answer",
                f"These answers say too little: {_ids('Q', thin)}. Begin each with accept, reject "
                f"or partly and give the reason, at least {LEAST_REASON} words.",
                "Answers",
            )
        if same := repeated({n: answered[n].text for n in self.challenges if n in answered}):
            yield Violation(
                "answer",
                f"{_ids('Q', same)}: word for word the answer to another challenge. Answer what "
                "each of them says.",
                "Answers",
            )
        changes = forms.revisions(text)
        if not any(change.real for change in changes):
            yield Violation(
                "revisions",
                "No table under “## Revisions” with the columns Original, Revised and Reason and "
                "at least one row that changes something.",
                "Revisions",
            )
        elif not all(change.real for change in changes):
            yield Violation(
                "revision",
                "A row of the table under “## Revisions” is incomplete or changes nothing.",
                "Revisions",
            )
        if self.first and copied_share(text, self.first) > RESTATED_LIMIT:
            yield Violation(
                "restated",
                "This restates your proposal of round 1: write what has changed and why.",
            )
        yield from _unresolved(references(text), self.statements)


@dataclass(frozen=True, slots=True)
class Arbitration(RoundContract):
    """R5: a ruling on every dispute, eight weeks of tasks, three top risks."""

    statements: Statements = NOTHING_SAID
    disputes: tuple[int, ...] = ()
    today: date | None = None

    def demands(self, text: str) -> Iterator[Violation]:
        ruled = {ruling.dispute: ruling for ruling in forms.rulings(text)}
        missing = [n for n in self.disputes if n not in ruled or not ruled[n].complete]
        if missing:
            yield Violation(
                "rulings",
                f"Disputes without a ruling and its rationale: {_ids('X', missing)}. Write “- X1: "
                "your ruling. Rationale: why.” for each under “## Rulings”, and defer none. Where "
                "nothing hangs on it, rule “not shown; the plan does not depend on it” and say "
                "why. A rationale that repeats the ruling is none.",
                "Rulings",
            )
        if same := repeated({n: ruled[n].rationale for n in ruled if ruled[n].rationale}):
            yield Violation(
                "rationale",
                f"{_ids('X', same)}: the same rationale as another ruling. Each needs its own.",
                "Rulings",
            )
        for wrong in _plan(text, self.today, self.statements.names):
            yield replace(wrong, section="Plan")
        risks = forms.top_risks(text)
        if len(risks) != TOP_RISKS or not all(risk.contingency and risk.text for risk in risks):
            yield Violation(
                "top risks",
                f"Exactly {TOP_RISKS} top risks are needed under “## Top Risks”, T1 to "
                f"T{TOP_RISKS}, each with “Contingency: …”.",
                "Top Risks",
            )
        yield from _unresolved(references(text), self.statements)

    def parse(self, text: str) -> dict[str, str]:
        """The sections; the verdict among them is the answer that is held against the count."""
        found = parse_sections(text, (*self.sections, MILESTONES))
        return {**found, "Answer": found["Verdict"]} if "Verdict" in found else found


def _plan(text: str, today: date | None, seated: Collection[str]) -> Iterator[Violation]:
    tasks = forms.plan(text)
    missing = [week for week in range(1, WEEKS + 1) if week not in forms.weeks(tasks)]
    if missing:
        yield Violation(
            "weeks",
            f"The table under “## Plan” has no task in {_ids('W', missing)}. Its columns are Week, "
            "Task, Owner, Deliverable, Effort and Due.",
        )
    for code, told, wrong in (
        ("plan", "no deliverable", [t for t in tasks if not is_filled(t.deliverable)]),
        ("plan", "no owner: a role or a name, not everybody", [t for t in tasks if not t.owned]),
        (
            "plan",
            "an expert of this table as owner: name those who will carry it out",
            [t for t in tasks if normal_name(t.owner) in seated],
        ),
        ("effort", "no effort in days", [t for t in tasks if not t.estimated]),
        ("due", "no date", [t for t in tasks if is_filled(t.due) and not t.dated]),
    ):
        if weeks := sorted({task.week for task in wrong}):
            yield Violation(code, f"Tasks of the plan with {told}: {_ids('W', weeks)}.")
    dated = [(task.week, task.day) for task in tasks if task.day is not None and task.week]
    if past := [week for week, day in dated if today is not None and day < today]:
        yield Violation(
            "due",
            f"Dates that lie before today ({today}): {_ids('W', sorted(set(past)))}.",
        )
    first = {week: min(day for w, day in dated if w == week) for week, _ in dated}
    latest = {week: max(day for w, day in dated if w == week) for week, _ in dated}
    if early := [w for w in first if any(latest[w] < first[v] for v in first if v < w)]:
        yield Violation(
            "due",
            f"{_ids('W', sorted(early))}: due before everything of an earlier week is.",
        )
    share = forms.actionability(tasks)
    if share is not None and share < ACTIONABLE:
        yield Violation(
            "actionability",
            f"{share:.0f} % of the tasks have an owner, a deliverable and a date; at least "
            f"{ACTIONABLE} % should.",
        )


def _unresolved(found: Sequence[Reference], statements: Statements) -> Iterator[Violation]:
    """Markers that lead nowhere, and quotations that are none."""
    lost = sum(not statements.resolves(reference) for reference in found)
    if lost:
        yield Violation(
            "reference",
            f"{lost} markers name nobody at the table, or a round in which that expert did not "
            "speak.",
        )
    false = sum(statements.resolves(r) and statements.misquotes(r) for r in found)
    if false:
        yield Violation(
            "quotation",
            f"{false} quotations after a marker do not stand in the statement that it names.",
        )


def _ids(letter: str, numbers: Sequence[int]) -> str:
    return ", ".join(f"{letter}{number}" for number in numbers)


def proposal() -> Proposal:
    return Proposal(*_frame(PROPOSAL), slack=BESIDE_WORK)


def cross_reference(statements: Statements, own: str) -> CrossReference:
    return CrossReference(*_frame(CROSS_REFERENCE), statements=statements, own=own)


def critique(statements: Statements, own: str) -> Critique:
    return Critique(*_frame(CRITIQUE), statements=statements, own=own)


def revised(statements: Statements, challenges: tuple[int, ...], first: str) -> Revised:
    return Revised(*_frame(REVISION), statements=statements, challenges=challenges, first=first)


def arbitration(
    statements: Statements, disputes: tuple[int, ...], today: date | None
) -> Arbitration:
    return Arbitration(*_frame(ARBITRATION), statements=statements, disputes=disputes, today=today)


def _frame(stage: str) -> tuple[tuple[str, ...], int, int]:
    round_ = ROUNDS[stage]
    return round_.sections, *round_.words
