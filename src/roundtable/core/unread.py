"""What a vote says that could not be read: its words are shown, though nobody can count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .declaration_block import BrokenJson, only_object, parse_json, split_blocks
from .state import State
from .text import clip, listed
from .thoughts import without_thoughts

LONGEST = 60


def unread_vote(state: State, turn_id: str) -> str:
    """The words of the vote that was given in a turn and could not be read, from its last answer
    that holds one: ““Mongo””, ““o1” and “o2””. Empty where none was given."""
    turn = state.turns.get(turn_id)
    for attempt in reversed(turn.attempts if turn else ()):
        answer = without_thoughts(attempt.finished.text) if attempt.finished else ""
        blocks = split_blocks(answer)[1]
        if not blocks and (attempt.started.purpose == "declare" or answer.lstrip()[:1] == "{"):
            blocks = [bare] if (bare := only_object(answer)) else []
        said = [told for block in dict.fromkeys(blocks) if (told := _told(block))]
        if said:
            # Nobody knows which of several was meant.
            several = f"{len(said)} declarations, " if len(said) > 1 else ""
            return f"{several}{listed(said)}"
    return ""


def _told(block: str) -> str:
    try:
        fields, _ = parse_json(block)
    except BrokenJson:
        return f"“{clip(' '.join(block.split()), LONGEST)}”"
    said = list(dict.fromkeys(_said(fields)))
    return " and ".join(said)


def _said(fields: Mapping[str, Any]) -> Iterator[str]:
    votes = fields.get("votes")
    for vote in votes if isinstance(votes, list) else [votes]:
        if not isinstance(vote, dict):
            continue
        choice, rejects = vote.get("choice"), vote.get("rejects")
        if isinstance(choice, str | int | float | list) and choice not in ("", "…"):
            yield f"“{clip(' '.join(str(choice).split()), LONGEST)}”"
            if isinstance(rejects, list) and choice in rejects:
                yield "a rejection of it"
    if votes and isinstance(fields.get("abstain"), str) and fields["abstain"].strip():
        yield "an abstention"
