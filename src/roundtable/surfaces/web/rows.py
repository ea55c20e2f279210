"""The rows of the list. Each is derived from its whole discussion, which takes some milliseconds,
and kept until the discussion changes; nothing is stored, so nothing can be out of date."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence

from ...core.errors import RoundtableError
from ...engine.service import Service
from ...ports import DiscussionSummary
from ...views.row import Row

AT_ONCE = 20
"""So many are derived for one request at most; whoever asks comes again for the others."""
MOST_KEPT = 5_000
_Key = tuple[int, bool]


log = logging.getLogger(__name__)


class Rows:
    """Keeps what was derived."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[_Key, Row | None]] = OrderedDict()
        self._deriving = asyncio.Lock()

    async def of(
        self, service: Service, summaries: Sequence[DiscussionSummary]
    ) -> dict[str, Row | None]:
        """The rows that there are by now; None for a discussion that cannot be read."""
        async with self._deriving:  # two pages that open at once do not derive everything twice
            lacking = [each for each in summaries if not self._holds(each)]
            for each in lacking[:AT_ONCE]:
                self._kept[each.discussion_id] = _key(each), await _derived(service, each)
                self._kept.move_to_end(each.discussion_id)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return {
            each.discussion_id: self._kept[each.discussion_id][1]
            for each in summaries
            if self._holds(each)
        }

    def _holds(self, summary: DiscussionSummary) -> bool:
        kept = self._kept.get(summary.discussion_id)
        return kept is not None and kept[0] == _key(summary)


def _key(summary: DiscussionSummary) -> _Key:
    return summary.last_seq, summary.interrupted


async def _derived(service: Service, summary: DiscussionSummary) -> Row | None:
    try:
        state = await service.read(summary.discussion_id)
        return await asyncio.to_thread(Row.of, state, interrupted=summary.interrupted)
    except RoundtableError:
        # Deleted meanwhile, or written by a newer program: the list shows what it knows.
        return None
    except Exception:
        # One that cannot be told must not hide all the others.
        log.exception("the row of %s cannot be derived", summary.discussion_id)
        return None
