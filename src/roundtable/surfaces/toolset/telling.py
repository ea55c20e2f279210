"""Telling others: news of a discussion by hand, and how its decision turned out."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.confidence import LEAST_OUTCOMES
from ...core.errors import UnknownName
from ...core.notifications import again, requested
from ...core.text import clip, redact
from ...core.values import HOST_WIRE_NAME, NEWS_KINDS
from .base import Id, Key, ToolsetBase
from .operations import operation
from .results import Notified, Outcome, within
from .status import SHORT, deliveries, notifications_of, outbox, unsendable, where


class TellingTools(ToolsetBase):
    """What is said of a discussion, beside it."""

    @operation("notify", "Send news by hand")
    async def notify(
        self,
        discussion_id: Id,
        event: Annotated[
            str,
            Field(description=", ".join(NEWS_KINDS)),
        ] = "",
        message_id: Annotated[str, Field(description="To send once more.")] = "",
        key: Key = None,
    ) -> Notified:
        """Send news of a discussion now, or a message once more."""
        if not message_id and event not in NEWS_KINDS:
            raise UnknownName("event", event, NEWS_KINDS)
        box = await outbox(self.app, discussion_id)
        wish = (
            again(box, message_id, HOST_WIRE_NAME)
            if message_id
            else requested(box, event, HOST_WIRE_NAME)
        )
        await self._service.record(discussion_id, wish, key=f"act/{key}" if key else None)
        await self.app.notifier.pump([discussion_id], patience=10.0)
        state = await self._state(discussion_id)
        box = await outbox(self.app, discussion_id)
        return within(
            Notified(
                discussion_id=discussion_id,
                state=where(state).state,
                event=wish.kind,
                notifications=notifications_of(state),
                deliveries=deliveries(box),
                warnings=unsendable(self.app, state),
                hint="What failed is tried again; send it once more with message_id.",
            ),
            self.limit,
        )

    @operation("outcome", "Say how a decision turned out", idempotent=True)
    async def record_outcome(
        self,
        discussion_id: Id,
        outcome: Annotated[str, Field(description="good, mixed or bad.")],
        note: Annotated[str, Field(description="What came of it, in a sentence or two.")] = "",
    ) -> Outcome:
        """Say how the decision of a discussion that is over turned out. Outcomes make the
        confidence of later verdicts fit."""
        state = await self._service.record_outcome(
            discussion_id, outcome, note=note, by=self.access.profile or HOST_WIRE_NAME
        )
        told = state.outcome
        assert told is not None, "it was recorded, or refused"
        return Outcome(
            discussion_id=discussion_id,
            state=state.status,
            outcome=told.outcome,
            note=redact(clip(told.note, SHORT)),
            hint=f"Recorded. From {LEAST_OUTCOMES} outcomes on they count in the next verdicts.",
        )
