"""Forms: what the sections of a speech say, as data. Contracts check it and reports count it, so
that both mean the same by a risk, a ruling or a week."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal, TypeVar

from ...core.contracts import parse_sections
from ...core.tables import Table, is_filled, tables
from ...core.text import count_words
from .items import (
    LEAST_REASON,
    NOTHING_MORE,
    Item,
    adds_nothing,
    has_figure,
    is_concrete,
    items,
    list_lines,
    part,
)
from .rounds import DEFECTS, RISKS, WEEKS

Kind = Literal["risk", "defect"]
Reply = Literal["accept", "reject", "partly"]
T = TypeVar("T")

_METRIC = re.compile(r"^(?P<name>[^:：=|]{1,120}?)\s*[:：=|]\s*(?P<figure>.+)$")
_REPLIES: tuple[tuple[Reply, tuple[str, ...]], ...] = (
    ("partly", ("partly", "partial", "部分")),
    ("reject", ("reject", "拒绝", "驳回", "不接受", "不采纳")),
    ("accept", ("accept", "采纳", "接受")),
)
_NO_RULING = re.compile(
    r"\b(?:deferred?|undecided|no ruling|postponed?|left open|to be (?:decided|ruled))\b"
    r"|暂不裁决|不予裁决|待定|搁置",
    re.IGNORECASE,
)
_WITHOUT_EFFECT = re.compile(
    r"\b(?:(?:does|do|did|will) not (?:depend|hang|rest|carry|change|affect|decide|matter|need)"
    r"|without (?:any )?effect|no effect|not (?:shown|proved|proven)|unproven"
    r"|hängt nicht|ohne (?:Folgen|Wirkung)|nicht (?:gezeigt|belegt)|no depende|sin efecto)\b"
    r"|不影响|不取决于|未证明",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:the )?(?:whole |entire )?(?:team|group|company)|every(?:one|body)|all(?: of us)?"
    r"|any(?:one|body)|some(?:one|body)|alle|das team|jeder|todos"
    r"|el equipo|大家|所有人|全员|全体|团队",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\d|[一二三四五六日天]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b(20\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})")
_WEEK = re.compile(r"(?:\bW(?:eek)?\s?|第\s?)(?P<number>\d{1,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    figure: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A risk or a defect that a critique names."""

    kind: Kind
    number: int
    text: str
    support: str

    @property
    def named(self) -> bool:
        """Whether it names anything: a number may be left without a finding, if that is said."""
        return NOTHING_MORE.fullmatch(self.text.strip(" .。*")) is None

    @property
    def concrete(self) -> bool:
        return is_concrete(self.support) and not adds_nothing(self.support, self.text)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an expert says to a challenge."""

    challenge: int
    reply: Reply | None
    text: str

    @property
    def substantial(self) -> bool:
        return self.reply is not None and count_words(self.text) >= LEAST_REASON


@dataclass(frozen=True, slots=True)
class Revision:
    """A row of the table of changes."""

    original: str
    revised: str
    reason: str

    @property
    def real(self) -> bool:
        """Whether it says what changed, into what, and why."""
        filled = all(is_filled(cell) for cell in (self.original, self.revised, self.reason))
        return filled and self.original.casefold() != self.revised.casefold()


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the host decides on a dispute."""

    dispute: int
    text: str
    rationale: str

    @property
    def complete(self) -> bool:
        """Whether it decides, or says that nothing hangs on the matter, and why."""
        put_off = _NO_RULING.search(self.text) and not _WITHOUT_EFFECT.search(self.text)
        decided = count_words(self.text) > 0 and not put_off
        reasoned = count_words(self.rationale) >= LEAST_REASON
        return decided and reasoned and not adds_nothing(self.rationale, self.text)


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A row of the plan."""

    week: int
    task: str
    owner: str
    deliverable: str
    effort: str
    due: str

    @property
    def actionable(self) -> bool:
        return self.owned and self.dated and is_filled(self.deliverable)

    @property
    def dated(self) -> bool:
        """Whether it says when: by a figure, a day or a month, not "before Christmas"."""
        return is_filled(self.due) and _WHEN.search(self.due) is not None

    @property
    def owned(self) -> bool:
        """Whether somebody in particular is to do it: what all own, nobody does."""
        return is_filled(self.owner) and _NOBODY.fullmatch(self.owner.strip(" .*")) is None

    @property
    def day(self) -> date | None:
        """The day by which it is due, where a calendar date is given."""
        match = _DAY.search(self.due)
        if match is None:
            return None
        try:
            return date(int(match[1]), int(match[2]), int(match[3]))
        except ValueError:
            return None

    @property
    def estimated(self) -> bool:
        return has_figure(self.effort)


@dataclass(frozen=True, slots=True)
class TopRisk:
    number: int
    text: str
    contingency: str


def metrics(text: str) -> tuple[Metric, ...]:
    """The figures under `## Metrics`: a list entry or table row with a name and a number in it."""
    body = _section(text, "Metrics")
    rows = [" | ".join(row) for table in tables(body) for row in table.rows]
    lines = rows or list_lines(body)
    found: dict[str, Metric] = {}
    for line in lines:
        match = _METRIC.match(line)
        if match and has_figure(match["figure"]):
            name = match["name"].strip("* ")
            found.setdefault(name.casefold(), Metric(name, match["figure"].strip("* ")))
    return tuple(found.values())


def comparison(text: str) -> Table | None:
    """The table under `## Comparison`: at least two columns and two rows."""
    fitting = (
        table
        for table in tables(_section(text, "Comparison"))
        if len(table.header) >= 2 and len(table.rows) >= 2
    )
    return next(fitting, None)


@lru_cache(maxsize=64)
def findings(text: str) -> tuple[Finding, ...]:
    """The risks and then the defects of a critique."""
    # Risks were R1 to R5 once, like the rounds.
    return (*_findings(text, "risk", "Risks", "[KR]"), *_findings(text, "defect", "Defects", "D"))


def _findings(text: str, kind: Kind, heading: str, letter: str) -> tuple[Finding, ...]:
    listed = items(_section(text, heading), letter)
    return tuple(_finding(kind, item) for item in listed or _headed(text, kind))


def _finding(kind: Kind, item: Item) -> Finding:
    body, support = part(item.text, "Support", "Evidence", "依据", "论据")
    return Finding(kind, item.number, body, support)


def _headed(text: str, kind: Kind) -> tuple[Item, ...]:
    """The form of a demonstration model, which writes one section for each item."""
    counts: tuple[tuple[Kind, int], ...] = (("risk", RISKS), ("defect", DEFECTS))
    titles = {
        f"{name.capitalize()} {n}": (name, n) for name, most in counts for n in range(1, most + 1)
    }
    bodies = parse_sections(text, tuple(titles))
    return tuple(
        Item(number, bodies[title])
        for title, (name, number) in titles.items()
        if name == kind and bodies.get(title)
    )


def answers(text: str) -> tuple[Answer, ...]:
    """The answers under `## Answers`, the last one for each challenge."""
    found: dict[int, Answer] = {}
    for item in items(_section(text, "Answers"), "[QC]"):
        word = re.split(r"[\s,，;；.。—–:：(（-]", item.text.lstrip("* "), maxsplit=1)[0]
        found[item.number] = Answer(item.number, _word(word, _REPLIES), item.text)
    return tuple(found.values())


def revisions(text: str) -> tuple[Revision, ...]:
    """The rows of the table original / revised / reason under `## Revisions`."""
    for table in tables(_section(text, "Revisions")):
        original = table.column("original", "before", "原")
        revised = table.column("revised", "修订", "修改", "新方案")
        reason = table.column("reason", "why", "理由", "原因")
        if original is not None and revised is not None and reason is not None:
            return tuple(Revision(row[original], row[revised], row[reason]) for row in table.rows)
    return ()


def rulings(text: str) -> tuple[Ruling, ...]:
    """The rulings under `## Rulings`, the last one for each dispute."""
    found: dict[int, Ruling] = {}
    for item in items(_section(text, "Rulings"), "X"):
        decided, rationale = part(item.text, "Rationale", "Reason", "理由", "依据")
        found[item.number] = Ruling(item.number, decided, rationale)
    return tuple(found.values())


def plan(text: str) -> tuple[PlannedTask, ...]:
    """The tasks of the table under `## Plan`; a row without a week belongs to none (0)."""
    for table in tables(_section(text, "Plan")):
        columns = [
            table.column("week", "周"),
            table.column("task", "任务", "工作内容", "事项"),
            table.column("owner", "负责", "责任"),
            table.column("deliverable", "交付", "产出"),
            table.column("effort", "工作量", "工时", "人天", "person"),
            table.column("due", "date", "deadline", "截止", "日期", "完成时间"),
        ]
        if columns[0] is not None and columns[2] is not None:
            return tuple(_task(row, columns) for row in table.rows)
    return ()


def _task(row: tuple[str, ...], columns: list[int | None]) -> PlannedTask:
    week, *rest = ("" if column is None else row[column] for column in columns)
    match = _WEEK.search(week) or re.search(r"(?P<number>\d{1,2})", week)
    return PlannedTask(int(match["number"]) if match else 0, *rest)


def weeks(tasks: tuple[PlannedTask, ...]) -> tuple[int, ...]:
    """The weeks from W1 to W8 that have a task."""
    return tuple(week for week in range(1, WEEKS + 1) if any(t.week == week for t in tasks))


def actionability(tasks: tuple[PlannedTask, ...]) -> float | None:
    """Percent of the tasks with an owner, a deliverable and a date; None without a plan."""
    if not tasks:
        return None
    return 100 * sum(task.actionable for task in tasks) / len(tasks)


def top_risks(text: str) -> tuple[TopRisk, ...]:
    found = []
    for item in items(_section(text, "Top Risks"), "T"):
        body, contingency = part(item.text, "Contingency", "应急预案", "预案", "应对")
        found.append(TopRisk(item.number, body, contingency))
    return tuple(found)


def _section(text: str, heading: str) -> str:
    return _sections(text).get(heading, "")


@lru_cache(maxsize=64)
def _sections(text: str) -> dict[str, str]:
    return parse_sections(text, _HEADINGS)


def _word(text: str, table: tuple[tuple[T, tuple[str, ...]], ...]) -> T | None:
    """The first entry of the table one of whose words the text begins with."""
    plain = text.casefold().strip("*_`“”\"'")
    return next((value for value, words in table if plain.startswith(words)), None)


_HEADINGS = (
    "Proposal", "Comparison", "Metrics", "Points", "Cross-Reference", "Blind Spots", "Stances",
    "Risks", "Defects", "Answers", "Revisions", "Revised Proposal", "Verdict", "Rulings", "Plan",
    "Milestones", "Contingency", "Top Risks",
)  # fmt: skip
"""All of them part sections, whichever one is read; some are asked for no longer."""
