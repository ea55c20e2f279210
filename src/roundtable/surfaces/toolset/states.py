"""Discussions as they stand, without reading all of their events for every look."""

from __future__ import annotations

from collections import OrderedDict

from ...core.state import State, fold
from ...engine.service import Service

KEPT = 32


class States:
    """Keeps the last discussions that were looked at, and reads only what is new in them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._kept: OrderedDict[str, State] = OrderedDict()

    async def read(self, discussion_id: str) -> State:
        """The discussion as it stands now. Whoever reads it must not change it."""
        state = self._kept.pop(discussion_id, None)
        if state is not None:
            # The last known event is read again: if it is another one, the discussion was deleted
            # and one of the same id was opened since.
            new = await self._service.records(discussion_id, after=state.seq - 1)
            if not new or new[0].seq != state.seq or new[0].at != state.updated_at:
                state = None
            else:
                for record in new:
                    if record.seq == state.seq + 1:
                        state.apply(record)
        if state is None:
            state = fold(await self._service.records(discussion_id))
        self._kept[discussion_id] = state
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return state
