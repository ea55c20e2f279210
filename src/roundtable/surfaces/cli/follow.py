"""`roundtable follow-up` and `roundtable compare`: what becomes of discussions that are over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bootstrap import App
from ...core.errors import UsageError
from ...engine.find import LAST, means_discussion
from ...views.comparison import Comparison
from .ask import ask_command
from .terminal import print_json, print_markdown
from .with_app import with_app


def follow_up_command(flags: Mapping[str, Any]) -> int:
    words = list(flags["words"])
    named = bool(words) and means_discussion(words[0])
    follows = words.pop(0) if named else LAST
    if not words:
        raise UsageError(
            "There is no question.", f'Such as: roundtable follow-up {follows} "And next year?"'
        )
    return ask_command({**flags, "question": tuple(words), "follows": follows})


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
