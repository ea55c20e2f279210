"""What a five-round discussion will cost."""

from __future__ import annotations

from ...core.state import State
from ..estimate import Estimate, estimate_calls
from .rounds import planned

TOKENS_IN = (2_000, 25_000)
TOKENS_OUT = (1_200, 4_000)
"""The first prompts are short, the last ones hold everything that was said."""


def estimate(state: State) -> Estimate:
    """The least number of calls; each requirement that a speech misses may add up to two."""
    host = state.start.host
    rounds = len(planned(state))
    # Where the question names no options, the host lists them beside the second round.
    calls = 1 if state.start.options.get("choices") else 2
    hosts = [host] * calls if rounds and not host.speaker.demonstration else []
    return estimate_calls(
        state.start.participants * rounds,
        hosts,
        "~40-80x" if rounds else "0x",
        TOKENS_IN,
        TOKENS_OUT,
    )
