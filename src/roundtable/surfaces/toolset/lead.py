"""Leading by hand: pause, resume, skip, material, more rounds. Each says where it stands then."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.numbers import NUMBER
from ...core.values import HOST_WIRE_NAME, Material
from ..opening import checked_for_secrets
from ..tokens.opening import raise_as
from .base import Id, Key, ToolsetBase
from .operations import operation
from .results import Acted
from .seats import Who
from .status import acted

BY = HOST_WIRE_NAME


class LeadTools(ToolsetBase):
    """What whoever leads may do beside speaking and ending."""

    @operation("pause", "Pause a discussion", idempotent=True)
    async def pause(self, discussion_id: Id, reason: str = "") -> Acted:
        """Let nobody begin a new turn until resume."""
        await self._service.pause(discussion_id, by=BY, reason=reason)
        return await self._acted(discussion_id, "Paused: whoever speaks finishes.")

    @operation("resume", "Let it go on", idempotent=True)
    async def resume(
        self,
        discussion_id: Id,
        max_cost: Annotated[float | None, Field(ge=0), NUMBER] = None,
        max_calls: Annotated[int | None, Field(ge=1), NUMBER] = None,
        max_tokens: Annotated[int | None, Field(ge=1), NUMBER] = None,
        max_time: Annotated[float | None, Field(gt=0), NUMBER] = None,
    ) -> Acted:
        """Let a paused discussion go on, or with higher limits one that ended for want of them."""
        given = {
            "max_cost": max_cost,
            "max_calls": max_calls,
            "max_tokens": max_tokens,
            "max_time": max_time,
        }
        if await self._service.by_workers():
            await self._service.check_room(discussion_id)
        await raise_as(self.app, self.access.held, discussion_id, given, surface="tools", by=BY)
        await self._service.resume(discussion_id, by=BY)
        return await self._acted(discussion_id, "It goes on.")

    @operation("skip", "Skip a turn")
    async def skip(self, discussion_id: Id, participant: Who) -> Acted:
        """Do without a participant's open turn."""
        await self._service.skip(discussion_id, participant, by=BY)
        return await self._acted(discussion_id, f"{participant} is skipped.")

    @operation("material", "Put material on the table")
    async def material(
        self,
        discussion_id: Id,
        text: str,
        source: Annotated[str, Field(description="What it is.")] = "material",
        key: Key = None,
    ) -> Acted:
        """Put a document on the table for everybody."""
        (document,) = checked_for_secrets(self.app.settings, [Material(source=source, text=text)])
        await self._service.add_material(discussion_id, document, by=BY, key=key)
        return await self._acted(discussion_id, f"On the table: {source}.")

    @operation("extend", "Give it more rounds")
    async def extend(self, discussion_id: Id, rounds: Annotated[int, Field(ge=1)] = 1) -> Acted:
        """Give the table more rounds, also after the last one, before you end it."""
        await self._service.extend(discussion_id, rounds, by=BY)
        return await self._acted(discussion_id, f"{rounds} more.")

    async def _acted(self, discussion_id: str, told: str) -> Acted:
        return acted(await self._after(discussion_id), told, self.access.profile)
