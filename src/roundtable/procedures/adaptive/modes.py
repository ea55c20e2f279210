"""Task modes: what kind of question it is, read from its words.

The rule for questions that fit several modes: each keyword that occurs is one hit, however often
it does; the mode with the most hits wins, and of equals the one that stands first in the table
(debate, build, redteam, vote). “Should we build X” is a debate.
"""

from __future__ import annotations

import re
from typing import Literal

TaskMode = Literal["debate", "build", "redteam", "vote", "default"]

KIND: dict[TaskMode, str] = {
    "debate": "debate",
    "build": "coding",
    "redteam": "adversarial",
    "vote": "decision",
    "default": "general",
}
"""What each mode is about, in one word."""

KEYWORDS: dict[TaskMode, dict[str, str]] = {
    "debate": {
        "pros/cons": r"pros\s*(?:/|and|&|or|,)\s*cons",
        "tradeoff": r"trade[\s-]?offs?",
        "should we": r"should\s+we",
        "ethics": r"ethics|ethical(?:ly)?",
        "compare": r"compar(?:e|es|ed|ing|ison|isons)",
        "opinion": r"opinions?",
        "better": r"better",
    },
    "build": {
        "implement": r"implement(?:s|ed|ing|ation|ations)?",
        "code": r"cod(?:e|es|ed|ing)",
        "architecture": r"architectures?",
        "build": r"buil(?:d|ds|ding|t)",
        "design": r"design(?:s|ed|ing)?",
        "develop": r"develop(?:s|ed|ing|ment)?",
        "create": r"creat(?:e|es|ed|ing)",
    },
    "redteam": {
        "attack": r"attack(?:s|ed|ing|er|ers)?",
        "vulnerability": r"vulnerabilit(?:y|ies)",
        "failure": r"failures?",
        "risk": r"risk(?:s|y)?",
        "break": r"break(?:s|ing)?",
        "threat": r"threats?",
        "exploit": r"exploit(?:s|ed|ing)?",
    },
    "vote": {
        "choose": r"choos(?:e|es|ing)",
        "decide": r"decid(?:e|es|ing)",
        "which one": r"which\s+one",
        "best option": r"best\s+options?",
        "select": r"select(?:s|ed|ing)?",
        "recommend between": r"recommend\s+between",
    },
}
"""Each keyword and the forms in which it counts. Case does not matter."""

_PATTERNS = {
    mode: [re.compile(rf"(?<!\w)(?:{form})(?!\w)", re.IGNORECASE) for form in words.values()]
    for mode, words in KEYWORDS.items()
}


def detect_mode(topic: str) -> TaskMode:
    """The mode of a question; `default` if no keyword occurs in it."""
    hits = {
        mode: sum(1 for pattern in patterns if pattern.search(topic))
        for mode, patterns in _PATTERNS.items()
    }
    best = max(hits, key=lambda mode: hits[mode])
    return best if hits[best] else "default"
