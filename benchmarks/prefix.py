"""How much of each prompt of a five-round discussion repeats the beginning of an earlier one.

Providers keep what they have read: the part of a prompt that repeats an earlier prompt byte for
byte from its first character on costs a fraction. Measured over the whole text, system and user
together, on a discussion of three experts whose speeches are as long as the rounds ask for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tests.procedures.five_round_table import five_rounds, hold

from benchmarks.measured import Measured
from roundtable.core.state import State
from roundtable.procedures.clerk import CLERK

GOAL = 70.0
FROM_ROUND = 3


def run() -> list[Measured]:
    shares = round_shares(hold(five_rounds()))
    late = [share for number, each in shares.items() if number >= FROM_ROUND for share in each]
    rows = [
        Measured(
            f"five-round, prompt repeated from earlier ones, R{number}",
            _percent(each),
            "%",
            detail=" ".join(f"{100 * repeated / length:.0f}" for repeated, length in each),
        )
        for number, each in sorted(shares.items())
    ]
    new = 100 - _percent(late)
    # A goal is the most that a number may be, so what is new is measured.
    told = f"{_percent(late):.1f} % repeated, at least {GOAL:.0f} wanted"
    return [*rows, Measured("five-round, new in prompts from R3 on", new, "%", 100 - GOAL, told)]


def round_shares(state: State) -> dict[int, list[tuple[int, int]]]:
    """For each round its prompts in the order of their calls: bytes repeated, and bytes in all.
    The host's summary is round 5; the clerk reads beside the second round."""
    started = sorted(
        (attempt for turn in state.turns.values() for attempt in turn.attempts),
        key=lambda attempt: (attempt.at, attempt.started.round or 9),
    )
    shares: dict[int, list[tuple[int, int]]] = defaultdict(list)
    earlier: list[bytes] = []
    for attempt in started:
        prompt = attempt.started.prompt
        text = f"{prompt.system}\n{prompt.user}".encode()
        repeated = max((same_beginning(text, each) for each in earlier), default=0)
        if attempt.started.stage == CLERK:
            continue
        shares[attempt.started.round or 5].append((repeated, len(text)))
        earlier.append(text)
    return dict(shares)


def same_beginning(one: bytes, two: bytes) -> int:
    """How many bytes two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == two[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _percent(shares: Sequence[tuple[int, int]]) -> float:
    return 100 * sum(repeated for repeated, _ in shares) / sum(length for _, length in shares)
