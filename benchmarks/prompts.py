"""How long the prompts of each procedure are, and what they consist of.

Every procedure is held in memory with answers of a fixed length: what differs between two runs is
ours. Of each prompt four parts are counted in characters: `material`, all that stands in a fence
(the question, what was said, options, points), and the count; `library`, what is told of experts,
to the host who casts them and to each of itself; `form`, how a declaration or a list is to be
filled in; `rules`, everything else, which is the same in every discussion. Fixed text is form and
rules together. Its goal is what it was when it was last shortened: a template may grow, but not
unnoticed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.declaring import declared, vote
from tests.procedures import deliberation_table, five_round_table
from tests.rehearsal import FENCED, HEADINGS, Table, Voice, run_in_virtual_time

from benchmarks.measured import Measured
from benchmarks.path import chained
from benchmarks.prefix import same_beginning
from roundtable.core.events import AttemptStarted, StoredEvent
from roundtable.experts.chosen import chosen_expert
from roundtable.experts.library_files import read_library
from roundtable.experts.methods import METHODS
from roundtable.ports import CastingRequest, ChosenExperts, Ledger, SpeakRequest

WORDS = 90
"""Of each section that is asked for."""
CLAIM = "a claim that others could deny, of about the length that is usual for one at a table"
_FENCE = re.compile(
    r"---[A-Z -]+ \(untrusted\)---\n\[fence (\S+)\]\n.*?\n\[/fence \1\]\n---END [A-Z -]+---",
    re.DOTALL,
)
_FORM = re.compile(
    r"^(?:(?:Reply|End) with one block of exactly this form|The list is one block)", re.MULTILINE
)
_LIBRARY = re.compile(r"(?<=words of the question:\n).*?(?=\n\nThe form below)", re.DOTALL)
_COUNTED = re.compile(
    r"(?<=counted by the program:\n).*?(?=\n\n)|^Recorded: .*?\.", re.M | re.DOTALL
)
PARTS = ("rules", "form", "library", "material")
GOALS = {"deliberation": 22_000, "council": 24_500, "adaptive": 27_000, "five-round": 58_000}
"""Characters of fixed text."""


@dataclass(frozen=True)
class Asked:
    """One call, by the parts of its prompt."""

    stage: str
    parts: Mapping[str, int]
    repeated: int
    """Characters that repeat the beginning of an earlier prompt."""

    @property
    def length(self) -> int:
        return sum(self.parts.values())


def run() -> list[Measured]:
    rows: list[Measured] = []
    for name, held in _held().items():
        records = run_in_virtual_time(held)
        rows += _told(name, asked_in(records), len(chained(records)))
    return rows


def _told(name: str, calls: Sequence[Asked], path: int) -> list[Measured]:
    by_stage: dict[str, list[Asked]] = defaultdict(list)
    for each in calls:
        by_stage[each.stage].append(each)
    rows = [
        Measured(f"{name}, {stage} ({len(each)} calls)", _sum(each), "chars", detail=_parts(each))
        for stage, each in by_stage.items()
    ]
    fixed = sum(each.parts["rules"] + each.parts["form"] for each in calls)
    repeated = 100 * sum(each.repeated for each in calls) / _sum(calls)
    told = f"{len(calls)} calls, {path} on the path, {repeated:.0f} % repeated; {_parts(calls)}"
    rows.append(Measured(f"{name}, all", _sum(calls), "chars", detail=told))
    rows.append(Measured(f"{name}, fixed text", fixed, "chars", GOALS[name]))
    return rows


def _sum(calls: Sequence[Asked]) -> int:
    return sum(each.length for each in calls)


def _parts(calls: Sequence[Asked]) -> str:
    found: Counter[str] = Counter()
    for each in calls:
        found.update(each.parts)
    return ", ".join(f"{part} {found[part]:,}" for part in PARTS if found[part])


def asked_in(records: Sequence[StoredEvent]) -> list[Asked]:
    """The calls of a discussion in the order in which they began."""
    found: list[Asked] = []
    earlier: list[bytes] = []
    for record in records:
        if not isinstance(record.event, AttemptStarted):
            continue
        prompt = record.event.prompt
        text = f"{prompt.system}\n{prompt.user}"
        raw = text.encode()
        repeated = max((same_beginning(raw, each) for each in earlier), default=0)
        earlier.append(raw)
        found.append(Asked(record.event.stage, parts_of(text), repeated))
    return found


def parts_of(text: str) -> dict[str, int]:
    """The characters of a prompt by its parts."""
    bare = _COUNTED.sub("", _FENCE.sub("", text))
    ours = _LIBRARY.sub("", bare)
    for told in _personas():
        ours = ours.replace(told, "")
    form = _FORM.search(ours)
    of_form = len(ours) - form.start() if form else 0
    return {
        "rules": len(ours) - of_form,
        "form": of_form,
        "library": len(bare) - len(ours),
        "material": len(text) - len(bare),
    }


@cache
def _personas() -> tuple[str, ...]:
    """What seats are told of themselves."""
    everybody = (*map(chosen_expert, read_library().values()), *METHODS)
    return tuple(told for each in everybody for told in (each.perspective, each.guidance) if told)


# --- the tables --------------------------------------------------------------------------------


def _held() -> dict[str, Any]:
    panel = ",".join(f"test/{letter}" for letter in "abc")
    open_question = deliberation_table.OPEN_QUESTION
    return {
        "deliberation": _hold(open_question, procedure="deliberation", host_casts=True),
        "council": _hold(open_question, procedure="council"),
        "adaptive": _hold(
            open_question, procedure="adaptive", options={"panel": panel, "validate": True}
        ),
        "five-round": _five_rounds(),
    }


async def _hold(topic: str, **request: Any) -> list[StoredEvent]:
    def library(_: Ledger) -> Library:
        return Library()

    table = Table({"*": Voice(fixed_length)}, casting=library)
    state = await table.ask(topic, search=False, **request)
    assert state.status == "concluded", state.closed
    return await table.records(state)


async def _five_rounds() -> list[StoredEvent]:
    table = five_round_table.five_rounds()
    state = await table.ask(
        five_round_table.TOPIC,
        procedure="five-round",
        options={"agents": list(five_round_table.AGENTS)},
    )
    return await table.records(state)


class Library:
    """Seats methods, and offers the whole library to the host."""

    async def choose(self, topic: str, casting_request: CastingRequest) -> ChosenExperts:
        assert topic
        everybody = [chosen_expert(each) for each in read_library().values()]
        near = casting_request.shortlist
        await asyncio.sleep(0)
        return ChosenExperts(
            METHODS[: casting_request.count],
            shortlist=tuple(everybody[:near]),
            library=tuple(everybody[near:]),
        )


def fixed_length(request: SpeakRequest) -> str:
    """An answer that keeps to the form, each of its sections of the same length."""
    _, stage, who = request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0].split("/")
    if stage == "casting":
        seats = [{"expert": each, "why": "Knows it."} for each in list(read_library())[:3]]
        asked = [{"ask": "Which country?", "assume": "It is Spain."}]
        return f"```casting\n{json.dumps({'questions': asked, 'seats': seats})}\n```"
    listing = deliberation_table.listing(request.user) if "```decisions" in request.user else ""
    if stage == "clerk":
        return listing
    special = {"Confidence": "high, by the figures.", "Updated Confidence": "high, by the figures."}
    special |= {"Verdict": "ACCURATE", "Correction": "none", "Dissent": "none", "Sources": "none"}
    body = f"{who[:6]:-<6} " * WORDS
    headings = HEADINGS.findall(FENCED.sub("", request.user))
    words = "\n\n".join(f"## {name}\n{special.get(name, body)}" for name in headings) or body
    if listing:
        return f"{words}\n\n{listing}"
    if request.form is None:
        return words
    block = declared(request.form, request.user, **_held_by(request, who))
    return block if request.form.alone else f"{words}\n\n{block}"


def _held_by(request: SpeakRequest, who: str) -> dict[str, Any]:
    """Two hold the same and one another; each makes a condition and raises two points."""
    form = request.form
    assert form is not None
    place = sum(map(ord, who)) % 2
    put = {d.id: [o.id for o in d.options if who in o.holders] for d in form.decisions}
    return {
        "position": f"Position {place}, in one sentence that can be read alone.",
        "conditions": [{"text": f"{who}: {CLAIM}", "kind": "demand", "otherwise": "open"}],
        "new_points": [f"{who}: {CLAIM}, {n}" for n in ("first", "second")],
        "stances": [
            {"id": each.id, "stance": "agree", "text": "It follows."}
            for each in form.listed
            if each.asked
        ],
        "votes": [
            vote((put[d.id] or [d.option_ids[0]])[0], on=d.id) for d in form.decisions if d.options
        ],
    }
