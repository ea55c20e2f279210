"""Every procedure at once: how each is opened, and a speaker that keeps to the form of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from roundtable.ports import SpeakRequest
from tests.declaring import by_prompt
from tests.rehearsal import dutiful
from tests.wire import Asked, ByLine

from . import adaptive_table, deliberation_table, five_round_table, meeting_table
from .custom_table import turn_of

ESTIMATES = {"builder": (10, 16, 20), "historian": (20, 20, 20), "sceptic": (40, 24, 22)}
"""How a Delphi comes together over three rounds; whoever is not named says 6, 15 and 19."""
MODEL = "openai/gpt-5-mini"


@dataclass(frozen=True)
class Held:
    """A procedure as these tests hold it: who sits there, and how many calls it is designed for."""

    procedure: str
    topic: str
    options: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0
    path: int = 0
    """The most calls that follow one another."""

    @property
    def request(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "procedure": self.procedure,
            "options": dict(self.options),
            "search": False,
        }


DEBATE, QUESTION = adaptive_table.DEBATE, deliberation_table.QUESTION
EXPERTS = {"experts": list(deliberation_table.NAMES.values())}
AGENTS = {"agents": list(five_round_table.AGENTS)}
SEATS = {"participants": meeting_table.seats(3)}
HELD: dict[str, Held] = {
    "adaptive": Held("adaptive", DEBATE, {"debate": True}, 4 + 4 + 4 + 1, 4),
    "adaptive, panel": Held("adaptive", DEBATE, {"panel": ",".join([MODEL] * 4)}, 4 + 4 + 1, 3),
    "adaptive, quick": Held("adaptive", DEBATE, {"quick": True}, 3 + 1, 2),
    "council": Held("council", "Tea or coffee?", {}, 1 + 3 + 1 + 3 + 1, 5),
    "council, quick": Held("council", "Tea or coffee?", {"quick": True}, 1 + 3 + 1, 3),
    "deliberation": Held("deliberation", QUESTION, EXPERTS, 3 + 3 + 1, 3),
    "five-round": Held("five-round", five_round_table.TOPIC, AGENTS, 3 * 4 + 2, 5),
    "meeting": Held("meeting", meeting_table.TOPIC, SEATS, 3 * 3 + 4, 13),
    "delphi": Held("delphi", "How many weeks will it take?", {}, 4 * 3, 3),
}


def obedient(request: SpeakRequest) -> str:
    """An answer that keeps to the form it is asked for, whatever procedure asks."""
    _, stage, who = turn_of(request).split("/")
    asked = request.user.rpartition("---END")[2]
    if "Reply with one block of exactly this form and nothing else:\n" in request.user:
        return by_prompt("", request.user)
    match stage:
        case "proposal" | "cross-reference" | "arbitration":
            return five_round_table.compliant(request)
        case "revision" if "## Revisions" in request.user:
            return five_round_table.compliant(request)
        case "critique" if "## Defects" in asked:
            return five_round_table.compliant(request)
        case "meta-panel" | "second-stage" | "validation":
            return adaptive_table.dutiful_panelist(request)
        case "answer" | "critique" if "SELF-DIGEST" in asked:
            return adaptive_table.dutiful_panelist(request)
        case "clerk":
            return deliberation_table.listing(request.user)
        case "discussion":
            return meeting_table.minded(request)
        case "estimate":
            numbers = ESTIMATES.get(who, (6, 15, 19))
            number = numbers[int(turn_of(request)[0]) - 1]
            words = f"## Reasons\nSo says {who}."
            return by_prompt(words, request.user, values={"estimate": number})
        case "answer" | "critique" | "critique-in-reverse" if who in deliberation_table.EXPERTS:
            return _expert(request, stage, who)
    return dutiful(request)


def _expert(request: SpeakRequest, stage: str, who: str) -> str:
    """What an expert of a deliberation says: two of three hold the same."""
    said = deliberation_table.answer(who) if stage == "answer" else deliberation_table.review(who)
    held, _ = deliberation_table.SPLIT[who]
    return by_prompt(said, request.user, choice=held, position=f"The position {held}.")


def reply(asked: Asked) -> str:
    """The same at the test server, line by line: no model says a thousand words within 200 ms, and
    each piece takes its time."""
    request = SpeakRequest(
        model=asked.model,
        system=asked.system,
        user=asked.user,
        max_tokens=4096,
        timeout=60,
        idempotency_key=asked.headers["idempotency-key"],
    )
    return ByLine(by_prompt(obedient(request), asked.user))
