"""The file of `roundtable ask --questions`: a question on each line, or JSON that says more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.declaration_block import BrokenJson, parse_json
from ...core.errors import RoundtableError, UsageError
from ...procedures.opening import checked_topic

MOST = 1_000
"""Questions in one file."""
COMMENT = "#"
_LINE_END = re.compile(r"\r\n?|\n")
KEYS = ("question", "procedure", "options", "context", "language")
"""What a line of JSON may say."""


@dataclass(frozen=True, slots=True)
class Line:
    """One question, as its file has it."""

    number: int
    question: str
    more: Mapping[str, Any]
    """What it says beside the question."""


def read_lines(text: str) -> tuple[list[Line], dict[str, list[int]]]:
    """The questions of a file, and what is wrong with the lines that are none. UsageError if there
    is nothing in it, or too much."""
    found: list[Line] = []
    wrong: dict[str, list[int]] = {}
    # Line ends as an editor counts them: `splitlines` ends one at further characters too.
    for number, line in enumerate(_LINE_END.split(text), 1):
        words = line.strip()
        if not words or words.startswith(COMMENT):
            continue
        try:
            found.append(_line(number, words))
        except RoundtableError as error:
            wrong.setdefault(error.message, []).append(number)
    if not found and not wrong:
        raise UsageError("There is no question in the file.", "Write one on each line.")
    if len(found) > MOST:
        raise UsageError(f"{len(found):,} questions are too many.", f"At most {MOST:,} at once.")
    return found, wrong


def _line(number: int, words: str) -> Line:
    if not words.startswith("{"):
        if _is_json(words):
            raise UsageError("It is JSON and no object in braces.")
        return Line(number, checked_topic(words), {})
    try:
        row, _ = parse_json(words)
    except BrokenJson as error:
        # Of which line is said already, by its number in the file.
        what = str(error).rstrip(".").removesuffix(" in line 1")
        raise UsageError(f"It begins with a brace and is no JSON: {what}.") from None
    if "question" not in row:
        raise UsageError('"question" is missing.')
    if not isinstance(row["question"], str):
        raise UsageError('"question" must be text.')
    if other := next((key for key in row if key not in KEYS), None):
        raise UsageError(f"{other!r} is not known; it may say {', '.join(KEYS)}.")
    options = row.get("options", {})
    texts = [row.get(key, "") for key in ("procedure", "context", "language")]
    if not isinstance(options, dict) or not all(isinstance(each, str) for each in texts):
        raise UsageError('"options" must be an object in braces, and all else text.')
    more = {key: value for key, value in row.items() if key != "question" and value}
    return Line(number, checked_topic(row["question"]), more)


def _is_json(words: str) -> bool:
    """Whether it was meant for a program: a list, or a text in quotation marks."""
    try:
        json.loads(words)
    except (ValueError, RecursionError):
        return False
    return words.startswith(("[", '"'))
