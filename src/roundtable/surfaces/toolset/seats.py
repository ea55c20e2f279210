"""Who sits at the table: taking a seat, leaving it, inviting somebody to it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.errors import UnknownName
from ...core.values import HOST_WIRE_NAME, OUTSIDE, OUTSIDE_SPEAKER, Participant
from ...procedures.meeting.options import parse_place
from .base import Id, Key, Port, ToolsetBase
from .inviting import invitation
from .operations import operation
from .results import Acted, Invited, Joined, within
from .status import acted, seat, what_next, where

Who = Annotated[str, Field(description="A profile of the table.")]


class SeatTools(ToolsetBase):
    """What changes who sits there."""

    @operation("invite", "Invite somebody to a seat", idempotent=True)
    async def invite(
        self,
        discussion_id: Id,
        participant: Who,
        web: bool | None = None,
        web_port: Port = None,
    ) -> Invited:
        """How a person or another agent takes a seat: a page to speak on, a command that gives an
        agent the tools for this seat alone, and words to tell it."""
        state = await self._state(discussion_id)
        seated = next((p for p in state.participants if p.id == participant), None)
        if seated is None:
            raise UnknownName("participant", participant, [p.id for p in state.participants])
        url, warnings = await self._page(discussion_id, web, web_port, seat=participant)
        return invitation(state, seated, url, warnings, self._seat_token(state, seated))

    @operation("join", "Take a seat", idempotent=True)
    async def join(
        self,
        discussion_id: Id,
        profile: Annotated[str, Field(description="The new seat's name.")],
        role: str,
        perspective: str = "",
        display_name: str = "",
        model: Annotated[
            str | None, Field(description="Speaks for it; null: whoever calls speak.")
        ] = None,
        key: Key = None,
    ) -> Joined:
        """Take a seat in a discussion that is under way, as the last one to speak in a round."""
        self.access.check_voice(profile)
        place = parse_place(
            {
                "profile": profile,
                "role": role,
                "perspective": perspective,
                "display_name": display_name,
            }
        )
        newcomer = Participant(
            id=place.profile,
            name=place.display_name,
            role=place.role,
            emoji="👤",
            perspective=place.perspective,
            speakers=(OUTSIDE_SPEAKER,),
        )
        await self._service.join(
            discussion_id,
            newcomer,
            by=profile,
            model=model if model != OUTSIDE else None,
            key=key,
        )
        state = await self._after(discussion_id)
        now = where(state)
        seated = next(each for each in state.participants if each.id == profile)
        result = Joined(
            discussion_id=discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            seat=seat(seated),
            participants=[seat(each) for each in state.participants],
            hint=what_next(state, now, profile),
        )
        return within(result, self.limit)

    @operation("leave", "Leave the table", idempotent=True)
    async def leave(self, discussion_id: Id, participant: Who) -> Acted:
        """Take somebody from the table; two must stay. What it said is kept."""
        self.access.check_voice(participant)
        await self._service.leave(
            discussion_id, participant, by=self.access.profile or HOST_WIRE_NAME
        )
        told = f"{participant} has left the table."
        return acted(await self._after(discussion_id), told, self.access.profile)
