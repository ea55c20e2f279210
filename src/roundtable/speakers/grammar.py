"""The grammar that keeps a very small model to a few plain English sentences.

Left alone, such a model invents figures, names and addresses, and does not know when to stop. So
its sentences are made of lower-case words, begin with an ordinary word, and end after a bounded
number of words; the only names are those it was given. The notation is GBNF, llama.cpp's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_NAMES = 40
FEWEST_WORDS = 5
MOST_WORDS = 36
LONGEST_WORD = 16

# Without a list the model may begin with any letter, and then spells out something un-English.
# fmt: off
_FIRST_WORDS = (
    "The", "This", "That", "These", "It", "A", "An", "For", "With",
    "When", "If", "Because", "However", "While", "In", "One", "Both", "Using",
    "Most", "Some", "There", "They", "We", "You", "Another",
)
# fmt: on

# A capital after a lower-case word: a name, not the beginning of a sentence or of a marker.
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z]*\b(?!\d)")


def names_in(text: str) -> tuple[str, ...]:
    """The names that stand inside the sentences of a text, each once, in order."""
    return tuple(dict.fromkeys(_NAME.findall(text)))[:MOST_NAMES]


def sentences(count: int, names: Iterable[str] = (), *, begun: bool = False) -> str:
    """A grammar for exactly `count` sentences on one line; with `begun`, the first goes on.

    No digit, address, quotation, list or line break fits into it, and no capitalised word other
    than `names` (letters only) and "I" inside a sentence.
    """
    if count < 1:
        raise ValueError("a section has at least one sentence")
    known = [_literal(name) for name in names]
    return "\n".join(
        (
            f"root ::= {_joined('rest' if begun else 'sentence', count)}",
            "sentence ::= first rest",
            f'rest ::= (","? " " word){{{FEWEST_WORDS},{MOST_WORDS}}} "."',
            f"first ::= {' | '.join((*map(_literal, _FIRST_WORDS), *known))}",
            f'word ::= ({" | ".join(("plain", *known))}) ending? | "I"',
            'plain ::= letters ("-" letters)?',
            f"letters ::= [a-z]{{1,{LONGEST_WORD}}}",
            """ending ::= "'" ("s" | "t" | "re" | "ve" | "ll" | "d")?""",
        )
    )


def _joined(first: str, count: int) -> str:
    return ' " " '.join([first, *["sentence"] * (count - 1)])


def _literal(text: str) -> str:
    return f'"{text}"'
