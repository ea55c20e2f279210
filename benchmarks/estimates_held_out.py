"""How far the estimate is from the bill, on twelve discussions that nothing was tuned to.

They were written down, with their lengths, tokens and prices, before anybody looked at what the
estimate assumes. Lengths are those of five discussions that strong models held, one per procedure,
and that are no examples of the program. Providers count differently: some runs are counted in fine
tokens, some in coarse ones. Texts and documents are the pages of the documentation.

Two things count: how far the expected figure is from the bill, and whether the bill lies within
the range that was told.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tests.procedures.five_round_table import compliant
from tests.rehearsal import Cast, Table, Voice, run_in_virtual_time

from benchmarks.measured import Measured
from roundtable.core.state import State
from roundtable.core.values import Material, SpeakerRef, Usage
from roundtable.ports import OnWords, Reply, SpeakerChain, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.rehearsal.estimate import Estimate
from roundtable.speakers.characters import SPEAKING, answer, hear

GOAL = 1.5
"""How many times too much or too little it may be."""
RECORDED: Mapping[str, Mapping[str, Sequence[int]]] = {
    "adaptive": {
        "answer": (4203, 4039, 4414),
        "critique": (3029, 2976, 3480),
        "synthesis": (4190,),
        "validation": (410, 405, 39),
    },
    "council": {
        "briefing": (1130,),
        "answer": (2396, 2495, 2093),
        "summary": (2551,),
        "cross-examination": (2402, 2282, 2202),
        "synthesis": (3600,),
    },
    "deliberation": {
        "answer": (2120, 1994, 2032),
        "clerk": (1008,),
        "critique": (1881, 1847, 1899),
        "synthesis": (2425,),
    },
    "five-round": {
        "proposal": (6565, 6377, 6781),
        "cross-reference": (6665, 6690, 6367),
        "critique": (6093, 6047, 5722),
        "revision": (7414, 7426, 7505),
        "arbitration": (10986,),
    },
    "meeting": {
        "remark": (1232, 575, 1153, 1429),
        "discussion": (1544, 1601, 1811, 1491, 1704, 1767, 1922, 1368, 1925),
    },
}
"""Characters of every answer in the recorded discussions, by procedure and stage."""
PRICES = {"captain": (2.5, 10.0), "dear": (5.0, 25.0), "middle": (1.25, 10.0), "cheap": (0.3, 2.5)}
"""Per million tokens in and out."""
QUESTION = "Which of our four warehouses should be closed, and what happens to the people there?"
BEFORE = "What should the new depot in the north look like, and who should run it?"
CHOICE = "Should the swimming pool be open on Sundays in winter?"
CHOICE_BEFORE = "Should the library be open on Sunday mornings?"
_MOODS: Mapping[str, tuple[str, ...]] = {
    "differing": ("liar", "stubborn", "hedger", "slow"),
    "agreeing": ("slow", "sycophant"),
}
_KEPT_ALONE = ("proposal", "revision", "arbitration")
"""Contracts that can be kept without knowing who else is there; a repair does not say it."""
_MADE_UP = re.compile(r"\b[a-z]{3}\d+\b")
_WORDS = re.compile(r" ?[^\W\d_]+|\d+|\n+|[^\w\s]+|_+")

Manner = Literal["ordinary", "terse", "chatty"]


@dataclass(frozen=True)
class Run:
    procedure: str
    kilobytes: int = 0
    mood: Literal["differing", "agreeing"] = "differing"
    manner: Manner = "ordinary"
    learned: bool = False
    broken: bool = False
    """Whether every third answer breaks off within its form."""
    fine: bool = False
    """Whether a token is about 3.6 characters of speech instead of 4.3."""
    mixed: bool = False
    """Whether three models of different price sit at the table."""

    @property
    def name(self) -> str:
        told = (
            self.procedure,
            f"{self.kilobytes} KB" if self.kilobytes else "",
            self.mood,
            "" if self.manner == "ordinary" else self.manner,
            "broken forms" if self.broken else "",
            "three models" if self.mixed else "",
            "fine tokens" if self.fine else "",
            "learned" if self.learned else "first time",
        )
        return ", ".join(part for part in told if part)


RUNS = (
    Run("deliberation", mixed=True),
    Run("council", kilobytes=60, fine=True),
    Run("five-round", kilobytes=60),
    Run("adaptive", kilobytes=300, fine=True),
    Run("meeting", kilobytes=60),
    Run("meeting", mood="agreeing", learned=True, fine=True),
    Run("deliberation", kilobytes=300, manner="chatty", learned=True),
    Run("council", kilobytes=300, manner="terse", learned=True, fine=True, mixed=True),
    Run("five-round", broken=True, learned=True, fine=True),
    Run("adaptive", kilobytes=60, mood="agreeing", manner="terse", learned=True),
    Run("deliberation", mood="agreeing", fine=True),
    Run("council", kilobytes=60, manner="chatty", broken=True),
)


def run() -> list[Measured]:
    rows: list[Measured] = []
    near = within = 0
    for each in RUNS:
        told, state = run_in_virtual_time(_held(each))
        actual, likely = state.usage.priced_usd, told.likely.cost_usd or 0.0
        low, high = told.cost_usd or (0.0, 0.0)
        ratio = likely / actual
        inside = low <= actual <= high
        near += max(ratio, 1 / ratio) <= GOAL
        within += inside
        rows.append(
            Measured(
                f"estimate ÷ bill, {each.name}",
                ratio,
                "×",
                detail=f"${likely:.3f} (${low:.3f}–${high:.3f}{'' if inside else ', NOT WITHIN'}) "
                f"for ${actual:.3f}, {told.expected.calls} calls for {state.usage.calls}, "
                f"last round {max(s.round for s in state.speeches)}",
            )
        )
    total = len(RUNS)
    return [
        *rows,
        Measured(f"of {total}, farther than {GOAL}× from the bill", total - near, goal=0),
        Measured(f"of {total}, bill outside the told range", total - within, goal=0),
    ]


async def _held(each: Run) -> tuple[Estimate, State]:
    table = Table({"*": _Speaker(each)}, cast=_Priced("test/captain"))
    options = {"models": ("test/dear", "test/middle", "test/cheap")} if each.mixed else {}
    agreeing = each.mood == "agreeing"
    if each.learned:
        before = CHOICE_BEFORE if agreeing else BEFORE
        await table.ask(before, procedure=each.procedure, options=options)
    context: tuple[Material, ...] = ()
    if each.kilobytes:
        context = (Material(source="papers.md", text=_pages()[: 1000 * each.kilobytes]),)
    opened = await table.service.open(
        OpenRequest(
            CHOICE if agreeing else QUESTION,
            procedure=each.procedure,
            context=context,
            options=options,
        )
    )
    told = await table.service.estimate(opened)
    return told, await table.service.run(opened.discussion_id)


class _Priced(Cast):
    """Models that cost what their names say."""

    def seat(self, name: str, seat: str) -> SpeakerChain:
        assert seat
        price_in, price_out = _price(name)
        ref = SpeakerRef(model=name, usd_per_million_in=price_in, usd_per_million_out=price_out)
        return SpeakerChain((ref,))


class _Speaker(Voice):
    """Says what a scripted character says, at the length that somebody had at this stage."""

    def __init__(self, each: Run) -> None:
        super().__init__()
        self.run = each
        self.dice = random.Random(each.name)
        self.seats: dict[str, int] = {}
        self.calls = 0

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.calls += 1
        _, _, stage, seat, *_ = request.idempotency_key.split("/")
        place = self.seats.setdefault(seat, len(self.seats))
        cast = _MOODS[self.run.mood]
        name = cast[min(place, len(cast) - 1)] if len(cast) < 3 else cast[place % len(cast)]
        words = answer(name, SPEAKING[name], hear(request))
        whole = not (request.form and request.form.alone) and "as markers name" in request.user
        if self.run.procedure == "five-round" and (whole or stage in _KEPT_ALONE):
            prose = self._worded(compliant(request).partition("```declaration")[0])
            words = "".join((prose, *words.partition("```declaration")[1:]))
        said, mark, form = words.partition("```")
        if said.strip():
            more = self._length(stage) - len(words)
            begin = self.dice.randrange(100_000)
            filler = _prose()[begin : begin + max(0, more)]
            words = f"{said.rstrip()}\n\n{filler}\n\n{mark}{form}"
        if self.run.broken and self.calls % 3 == 0 and mark:
            words = words[: -len(form) // 2]
        return self._billed(request, words, on_words)

    def _worded(self, text: str) -> str:
        """With words of pages, in place of made-up ones that nobody counts as words."""
        said = iter(_prose()[self.dice.randrange(100_000) :].split())
        return _MADE_UP.sub(lambda _: next(said), text)

    def _length(self, stage: str) -> int:
        stages = RECORDED[self.run.procedure]
        pool = stages.get(stage) or [each for those in stages.values() for each in those]
        match self.run.manner:
            case "terse":
                return min(pool) // 2
            case "chatty":
                return max(pool) * 2
            case _:
                return self.dice.choice(pool)

    def _billed(self, request: SpeakRequest, text: str, on_words: OnWords) -> Reply:
        out = min(self._tokens(text), request.max_tokens)
        on_words(text)
        read = self._tokens(request.system + request.user)
        price_in, price_out = _price(request.model)
        return Reply(
            text,
            Usage(
                input_tokens=read,
                output_tokens=out,
                priced_usd=(read * price_in + out * price_out) / 1_000_000,
            ),
            served_by=request.model,
            finish_reason="stop",
        )

    def _tokens(self, text: str) -> int:
        """Words as byte-pair tokenizers cut them: the long ones in parts, digits in threes."""
        letters = 5 if self.run.fine else 10
        return sum(_parts(piece, letters) for piece in _WORDS.findall(text))


def _parts(piece: str, letters: int) -> int:
    bare = piece.strip(" ")
    if bare.isdigit():
        return -(-len(bare) // 3)
    if bare.isalpha():
        return -(-len(bare.encode()) // letters)
    return -(-len(bare) // 3)


@cache
def _pages() -> str:
    docs = Path(__file__).parent.parent / "docs"
    return "\n\n".join(page.read_text("utf-8") for page in sorted(docs.glob("*.md")))


@cache
def _prose() -> str:
    return re.sub(r"[`#>|\n]+", " ", _pages())


def _price(model: str) -> tuple[float, float]:
    return PRICES.get(model.rpartition("/")[2], PRICES["captain"])
