"""Declarations that stand in a work: whoever copies the work has not declared by them.

A work is shown as it is, so that a revision keeps every line of it, blocks labelled as ours
included. What a speech holds of them outside its own deliverables is a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .declaration_block import LABEL, split_blocks
from .effects import PromptPlan, PromptValue, Texts, Untrusted
from .fence import AS_IT_IS, neutralise

SHORTEST = 20
"""Characters of a block that can be a copy: `{}` stands in many a program."""
_NO_NONCE = "\x00"


def without_copied(text: str, prompt: PromptPlan) -> str:
    """The text with each declaration in it that stands in a work of this prompt labelled as a
    quotation."""
    shown: list[str] | None = None
    for block in dict.fromkeys(split_blocks(text)[1]):
        if shown is None:
            shown = [_bare(neutralise(each, _NO_NONCE, labels=False)) for each in _works(prompt)]
        if len(block) >= SHORTEST and any(_bare(block) in each for each in shown):
            lines = r"\s*".join(map(re.escape, block.split()))
            label = rf"^( {{0,3}}(?:`{{3,}}|~{{3,}})[ \t]*){LABEL}(?=[ \t\r]*\n\s*{lines})"
            text = re.sub(label, r"\1quoted", text, flags=re.IGNORECASE | re.MULTILINE)
    return text


def _bare(text: str) -> str:
    return "".join(text.split())


def _works(value: PromptValue) -> Iterator[str]:
    if isinstance(value, Untrusted):
        if value.kind in AS_IT_IS:
            yield value.text
    elif isinstance(value, PromptPlan):
        for each in value.variables.values():
            yield from _works(each)
    elif isinstance(value, tuple | Texts):
        for part in value:
            yield from _works(part)
