"""Checking the host's words: quotations must stand in the transcript, citations must exist."""

from __future__ import annotations

import re

from ...core.quotes import FABRICATED as FABRICATED
from ...core.quotes import check_quotations as checked
from .sitting import Sitting

UNKNOWN_TURN = "[turn not found]"
UNCITED = "[no citations]"
_TURN = re.compile(r"(?<![\w/.])\d{1,2}/[a-z-]+/[\w-]+(?![\w/])")


def check_quotations(sitting: Sitting, text: str) -> tuple[str, tuple[str, ...]]:
    """The text without quotations that stand in no speech, and a flag if there were any."""
    start = sitting.state.start
    # The host's own speeches are no source: every quotation would be found in its own verdict.
    sources = {s.turn_id: s.text for s in sitting.state.speeches if s.participant != start.host.id}
    sources |= {"question": start.topic, "options": "\n".join(sitting.options.values())}
    sources |= {f"context {n}": material.text for n, material in enumerate(sitting.state.context)}
    sources |= {s.turn_id: s.text for s in sitting.state.speeches if s.stage == "remark"}
    text, invented = checked(text, sources)
    return text, (FABRICATED,) if invented else ()


def check_citations(sitting: Sitting, text: str) -> tuple[str, tuple[str, ...]]:
    """The text without citations of turns that nobody took, and a flag if there were any."""
    known = {speech.turn_id for speech in sitting.state.speeches}
    flags: list[str] = []

    def verify(match: re.Match[str]) -> str:
        if match[0] in known:
            return match[0]
        flags[:] = [UNKNOWN_TURN]
        return UNKNOWN_TURN

    return _TURN.sub(verify, text), tuple(flags)


def cited(sitting: Sitting, text: str) -> tuple[str, ...]:
    """The experts' turns that the text cites."""
    named = set(_TURN.findall(text))
    return tuple(s.turn_id for s in sitting.state.speeches if s.round > 0 and s.turn_id in named)
