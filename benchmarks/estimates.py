"""How far the estimate is from the bill: twenty discussions, with and without a document of 200 KB.

Whoever speaks says as much as somebody said in the recorded examples at the same place, or more, or
less, and is counted by pieces of words, as tokenizers do; the estimate knows neither. Those who are
chatty, terse or careless with forms have held one discussion before, from which it is learned.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from tests.procedures.five_round_table import compliant
from tests.rehearsal import Cast, Table, Voice, run_in_virtual_time

from benchmarks.measured import Measured
from roundtable.core.state import State, fold
from roundtable.core.values import Material, Usage
from roundtable.examples import examples
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.rehearsal.estimate import Estimate
from roundtable.speakers.characters import SPEAKING, answer, hear

GOAL = 1.5
"""How many times too much or too little it may be."""
CPU = 1.0
QUESTION = "How should a team of forty split its work over the next two quarters?"
CHOICE = "Should we move the billing system to another cloud within a year?"
DOCUMENT = 200_000
PER_MILLION = (3.0, 15.0)
_PIECE = re.compile(r" ?[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z\d]+|\n+")
_FIVE = ("proposal", "cross-reference", "critique", "revision", "arbitration")
"""Stages with contracts that only those keep who know them."""
_WORD = re.compile(r"(?<![\w@*_[])[a-z]{2,}(?![\w:\]])")
_FILLER = re.compile(r"\b[a-z]{3}\d+\b")
_DIFFERING = ("stubborn", "echo", "hedger", "slow", "liar")
_TURNING = ("echo", "sycophant", "stubborn", "sycophant", "sycophant")
"""One holds out for a while: most meetings end before their last round."""
_AGREEING = ("echo", "sycophant", "sycophant", "sycophant", "sycophant")


@dataclass(frozen=True)
class Run:
    procedure: str
    question: str = QUESTION
    document: bool = False
    times: float = 1.0
    """How much of the recorded length is said."""
    careless: bool = False
    """Whether every other answer lacks its declaration."""
    agreeing: bool = False
    learned: bool = False

    @property
    def name(self) -> str:
        how = {1.0: ""}.get(self.times, "chatty" if self.times > 1 else "terse")
        told = [
            self.procedure,
            "with 200 KB" if self.document else "",
            how,
            "careless" if self.careless else "",
            "of one mind" if self.agreeing else "",
        ]
        return ", ".join(part for part in told if part)


PROCEDURES = ("deliberation", "council", "five-round", "adaptive", "meeting")
RUNS = (
    *(Run(each) for each in PROCEDURES),
    *(Run(each, document=True) for each in PROCEDURES),
    Run("deliberation", times=2.2, learned=True),
    Run("deliberation", times=0.4, learned=True, document=True),
    Run("council", times=2.2, learned=True, document=True),
    Run("council", times=0.4, learned=True),
    Run("adaptive", times=0.4, learned=True),
    Run("meeting", times=2.2, learned=True),
    Run("deliberation", careless=True, learned=True),
    Run("council", careless=True, learned=True, document=True),
    Run("deliberation", CHOICE, agreeing=True, learned=True),
    Run("council", CHOICE, document=True, agreeing=True, learned=True),
)


def run() -> list[Measured]:
    rows: list[Measured] = []
    slowest = 0.0
    for each in RUNS:
        told, seconds, state = run_in_virtual_time(_held(each))
        slowest = max(slowest, seconds)
        actual, likely = state.usage.priced_usd, told.likely.cost_usd or 0.0
        ends = told.cost_usd or (0.0, 0.0)
        rows.append(
            Measured(
                f"estimate ÷ bill, {each.name}",
                max(likely / actual, actual / likely),
                "×",
                GOAL,
                f"{likely / actual:.2f}: ${likely:.3f} (${ends[0]:.3f}–${ends[1]:.3f}) for "
                f"${actual:.3f}, {told.expected.calls} calls for {state.usage.calls}",
            )
        )
    return [*rows, Measured("CPU of the slowest estimate", slowest, "s", CPU)]


async def _held(each: Run) -> tuple[Estimate, float, State]:
    price = {"usd_per_million_in": PER_MILLION[0], "usd_per_million_out": PER_MILLION[1]}
    table = Table({"*": _Recorded(each)}, cast=Cast(facts=price))
    if each.learned:
        before = "Which of our three offices do we keep?"
        before = "Should we keep all of our three offices?" if each.agreeing else before
        await table.ask(before, procedure=each.procedure)
    context = (Material(source="report.md", text=_document()),) if each.document else ()
    opened = await table.service.open(
        OpenRequest(each.question, procedure=each.procedure, context=context)
    )
    begun = time.process_time()
    told = await table.service.estimate(opened)
    seconds = time.process_time() - begun
    return told, seconds, await table.service.run(opened.discussion_id)


class _Recorded(Voice):
    """Speaks as a scripted character, as long as was recorded."""

    def __init__(self, each: Run) -> None:
        super().__init__()
        self.run = each
        self.calls = 0
        self.seats: dict[str, int] = {}

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.requests.append(request)
        self.calls += 1
        _, _, stage, seat, *_ = request.idempotency_key.split("/")
        place = self.seats.setdefault(seat, len(self.seats))
        cast = _AGREEING if self.run.agreeing else _DIFFERING
        if self.run.procedure == "meeting":
            cast = _TURNING
        name = cast[place % len(cast)]
        words = answer(name, SPEAKING[name], hear(request))
        if self.run.procedure == "five-round" and stage in _FIVE:
            prose = _worded(compliant(request), self.calls).partition("```declaration")[0]
            words = "".join((prose, *words.partition("```declaration")[1:]))
        said, mark, block = words.partition("```")
        if self.run.careless and self.calls % 2 and request.schema is None:
            mark = block = ""
        wanted = round(_length(self.run.procedure, stage) * self.run.times)
        more = wanted - len(said) - len(block)
        filler = _passage(self.calls)[: max(0, more)] if mark or said else ""
        text = f"{said.rstrip()}\n\n{filler}\n\n{mark}{block}" if said.strip() else words
        return self._reply(request, text, on_words)

    def _reply(self, request: SpeakRequest, text: str, on_words: OnWords) -> Reply:
        text = text[: 6 * request.max_tokens]
        on_words(text)
        read, out = _pieces(request.system + request.user), _pieces(text)
        cost = (read * PER_MILLION[0] + out * PER_MILLION[1]) / 1_000_000
        return Reply(
            text,
            Usage(input_tokens=read, output_tokens=out, priced_usd=cost),
            served_by=request.model,
            finish_reason="stop",
        )


def _pieces(text: str) -> int:
    return sum(1 for _ in _PIECE.finditer(text))


def _worded(text: str, call: int) -> str:
    """With words that somebody said, in place of made-up ones: words alone, for marks of another
    speech's form would break this one's."""
    said = iter(_WORD.findall(_passage(call)))
    return _FILLER.sub(lambda _: next(said, "word"), text)


def _passage(call: int) -> str:
    """What somebody said, another passage in every call: whoever repeats itself ends a discussion
    early."""
    prose = _prose()
    start = call * 7919 % len(prose)
    return prose[start:] + prose[:start]


# --- what was recorded -------------------------------------------------------------------------


def _length(procedure: str, stage: str) -> int:
    """Characters that somebody said at this place, in the median."""
    lengths = _lengths()
    for place in ((procedure, stage), ("", stage), (procedure, ""), ("", "")):
        if place in lengths:
            return round(median(lengths[place]))
    raise AssertionError("there are recorded discussions")


@cache
def _lengths() -> Mapping[tuple[str, str], Sequence[int]]:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for example in examples().values():
        state = fold(example.records())
        procedure = state.start.procedure
        answers = [
            (attempt.started.stage, len(attempt.finished.text))
            for turn in state.turns.values()
            for attempt in turn.attempts
            if attempt.finished
        ] or [(speech.stage, len(speech.text)) for speech in state.speeches]
        for stage, length in answers:
            for place in ((procedure, stage), ("", stage), (procedure, ""), ("", "")):
                found[place].append(length)
    return found


@cache
def _prose() -> str:
    spoken = (
        speech.text
        for example in examples().values()
        for speech in fold(example.records()).speeches
    )
    return re.sub(r"[`#>\n]+", " ", " ".join(spoken))


@cache
def _document() -> str:
    prose = _prose()
    return (prose * (DOCUMENT // len(prose) + 1))[:DOCUMENT]
