"""Which discussions a list shows: chosen from all of them, not from the newest alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...ports import DiscussionSummary
from ...views.row import Group, Row, group_of
from .rows import MOST_KEPT

Order = Literal["newest", "oldest", "dearest"]
MOST_LISTED = MOST_KEPT
"""Whose row is not kept would be derived anew with each look."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Those that fit, in order; the groups and procedures of all."""

    found: Sequence[DiscussionSummary]
    counts: dict[Group, int]
    procedures: list[str]


class Listing:
    """All that were found, with the rows that are known of them by now."""

    def __init__(self, found: Sequence[DiscussionSummary], rows: Mapping[str, Row | None]) -> None:
        self._found = found
        self._rows = rows

    def chosen(self, *, group: Group | None, procedure: str, dissent: bool, sort: Order) -> Listed:
        groups = {each.discussion_id: self._group(each) for each in self._found}
        fitting = [
            each
            for each in self._found
            if (group is None or groups[each.discussion_id] == group)
            and (not procedure or each.procedure == procedure)
            and (not dissent or self._dissents(each))
        ]
        return Listed(
            self._sorted(fitting, sort),
            dict(Counter(groups.values())),
            list(dict.fromkeys(each.procedure for each in self._found)),
        )

    def _group(self, summary: DiscussionSummary) -> Group:
        return group_of(self._rows.get(summary.discussion_id), summary.standing)

    def _dissents(self, summary: DiscussionSummary) -> bool:
        row = self._rows.get(summary.discussion_id)
        return row is not None and row.dissent

    def _sorted(
        self, found: Sequence[DiscussionSummary], sort: Order
    ) -> Sequence[DiscussionSummary]:
        match sort:
            case "newest":
                return found
            case "oldest":
                return found[::-1]
            case "dearest":
                return sorted(found, key=self._cost, reverse=True)

    def _cost(self, summary: DiscussionSummary) -> float:
        row = self._rows.get(summary.discussion_id)
        return row.known_cost_usd if row is not None else 0.0
