"""Checking the host's words: quotations must stand in the transcript, citations must exist."""

from __future__ import annotations

import re

from ...core.quotes import find_quote
from ...core.text import count_words
from .sitting import Sitting

FABRICATED = "[quotation not found]"
UNKNOWN_TURN = "[turn not found]"
UNCITED = "[no citations]"
SHORTEST_QUOTATION = 4
"""Words. Shorter ones are names and terms, not quotations."""

_INSIDE = r"((?:[^{}\n]|\n(?!\n))*)"
_QUOTATION = re.compile(
    "|".join(
        opening + _INSIDE.replace("{}", inside) + closing
        for opening, inside, closing in (
            (r'(?<!\w)"', '"', '"'),  # not the inches of a 7" pipe
            ("“", "”", "”"),
            ("„", "“”", "[“”]"),
            ("«", "»", "»"),
            ("»", "«", "«"),
            ("「", "」", "」"),
            ("『", "』", "』"),
        )
    )
)
_BLOCK = re.compile(r"^[ \t]{0,3}>[ \t]?(.*(?:\n[ \t]{0,3}>.*)*)$", re.MULTILINE)
_TURN = re.compile(r"(?<![\w/.])\d{1,2}/[a-z-]+/[\w-]+(?![\w/])")


def check_quotations(sitting: Sitting, text: str) -> tuple[str, tuple[str, ...]]:
    """The text without quotations that stand in no speech, and a flag if there were any."""
    start = sitting.state.start
    # The host's own speeches are no source: every quotation would be found in its own verdict.
    sources = {s.turn_id: s.text for s in sitting.state.speeches if s.participant != start.host.id}
    sources |= {"question": start.topic, "options": "\n".join(sitting.options.values())}
    sources |= {f"context {n}": material.text for n, material in enumerate(sitting.state.context)}
    sources |= {s.turn_id: s.text for s in sitting.state.speeches if s.stage == "remark"}
    flags: list[str] = []

    def verify(match: re.Match[str]) -> str:
        words = next((group for group in match.groups() if group is not None), "")
        quoted = re.sub(r"(?m)^[ \t]*>", "", words)
        if count_words(quoted) < SHORTEST_QUOTATION or find_quote(quoted, sources):
            return match[0]
        flags[:] = [FABRICATED]
        return FABRICATED

    return _QUOTATION.sub(verify, _BLOCK.sub(verify, text)), tuple(flags)


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
