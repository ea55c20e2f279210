"""What an adaptive run will cost: by the prices of its models, and by the table of those who pay
for Opus and Codex by subscription."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.state import State
from ..core.values import Participant
from .adaptive import SYNTHESISER
from .estimate import Estimate, estimate_calls

QUICK_SHARE = 0.5
TOKENS_IN = (800, 6_000)
TOKENS_OUT = (400, 1_500)


def adaptive_estimate(state: State) -> Estimate:
    """The calls of a run that was just opened, in its normal shape. A meta-panel may design a
    shorter one or a longer one."""
    options = state.start.options
    seats = [who for who in state.start.participants if who.id != SYNTHESISER]
    writer = next((who for who in state.start.participants if who.id == SYNTHESISER), None)
    default = options.get("default")
    rounds = default.get("rounds", 1) if isinstance(default, dict) else 1
    held = rounds if isinstance(rounds, int) and len(seats) > 1 else 1
    calls = [*_analysts(options.get("analysts")), *seats * held]
    if options.get("check_synthesis"):
        calls += seats
    hosts = [writer] if writer is not None and not writer.speaker.demonstration else []
    if held > 1 and not options.get("choices") and not state.start.host.speaker.demonstration:
        hosts.append(state.start.host)  # the clerk
    total = len(calls) + len(hosts)
    alone = estimate_calls(calls, hosts, f"~{total}-{2 * total}x", TOKENS_IN, TOKENS_OUT)
    writes = writer is not None and not writer.speaker.demonstration
    return replace(alone, writer=writer.speaker.model) if writer is not None and writes else alone


def subscription_cost(
    families: Sequence[str], costs: Mapping[str, tuple[float, float]], *, quick: bool = False
) -> tuple[float, float] | None:
    """US dollars for a run with seats of these families, at least and at most, by the table of
    panels.json; None if a family is not in it."""
    if any(family not in costs for family in families):
        return None
    share = QUICK_SHARE if quick else 1.0
    low = sum(costs[family][0] for family in families) * share
    high = sum(costs[family][1] for family in families) * share
    return round(low, 4), round(high, 4)


def _analysts(stored: object) -> list[Participant]:
    found = stored if isinstance(stored, list) else []
    return [Participant.model_validate(each) for each in found]
