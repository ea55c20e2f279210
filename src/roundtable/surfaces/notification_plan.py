"""Who is to be told of a discussion, from what a caller says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import UsageError
from ..core.notifications_plan import CONFIDENTIAL, NotificationSettings, spelled
from ..core.values import NewsPlan
from ..procedures.checking import checked
from ..settings import Settings

NotificationRequest = NewsPlan | Mapping[str, Any] | Sequence[str] | None
"""A plan, its values (`enabled`, `channels`, `events`, `speech_limit`), or names of channels."""


def notification_plan(
    settings: Settings,
    procedure: str,
    wanted: NotificationRequest = None,
    *,
    confidential: bool = False,
    chat_room: bool | None = None,
) -> NewsPlan | None:
    """The plan that a caller wants; None leaves it to the settings. BadSetting or UnknownName
    says what is wrong with it."""
    if confidential:
        if wanted or chat_room:
            raise UsageError(
                "A confidential discussion is told to nobody.", "Leave out one of the two."
            )
        return CONFIDENTIAL
    configured = settings.choices.news
    if isinstance(wanted, NewsPlan):
        return wanted
    if isinstance(wanted, Mapping):
        own = checked(NotificationSettings, wanted, "notifications")
        return own.plan(chat_room=chat_room) if own.enabled else CONFIDENTIAL
    if wanted:
        return configured.plan([spelled(each) for each in wanted], chat_room=chat_room)
    if chat_room is None:
        return None
    usual = settings.notifications_for(procedure)
    return configured.plan(usual.channels if usual else (), chat_room=chat_room)
