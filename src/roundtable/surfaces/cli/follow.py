"""`roundtable follow-up` and `roundtable compare`: what becomes of discussions that are over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...bootstrap import App
from ...core.errors import UsageError
from ...engine.find import LAST, means_discussion
from ...views.comparison import Comparison
from .ask import ask_command
from .grammar.root import QUESTION_MARKS, is_one_word
from .terminal import print_json, print_markdown
from .with_app import with_app


def follow_up_command(flags: Mapping[str, Any]) -> int:
    words = list(flags["words"])
    named = bool(words) and means_discussion(words[0])
    if words and not named:
        _refuse_guess(words)
    follows = words.pop(0) if named else LAST
    if not words:
        raise UsageError(
            "There is no question.", f'Such as: roundtable follow-up {follows} "And next year?"'
        )
    return ask_command({**flags, "question": tuple(words), "follows": follows})


def _refuse_guess(words: Sequence[str]) -> None:
    """UsageError for words that may be part of a question about something else: `roundtable
    follow-up questions to ask a landlord`. Only one in quotes follows the newest unasked."""
    if len(words) == 1 and (words[0].endswith(QUESTION_MARKS) or not is_one_word(words)):
        return
    said = " ".join(words).replace('"', "'")
    raise UsageError(
        f"{words[0]!r} is not a discussion.",
        f'To follow up on the newest one: roundtable follow-up last "{said}"',
    )


def compare_command(flags: Mapping[str, Any]) -> int:
    async def both(app: App) -> Comparison:
        one, other = flags["discussion_id"], flags["other"]
        return Comparison.of(await app.service.read(one), await app.service.read(other))

    found = with_app(both)
    if flags["as_json"]:
        print_json(found.document())
    else:
        print_markdown(found.markdown())
    return 0
