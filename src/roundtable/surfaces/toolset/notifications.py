"""Who is told of a discussion, as the tools say it."""

from __future__ import annotations

from typing import Literal

from ...bootstrap import App
from ...core.notifications import Outbox, outbox_of
from ...core.state import State
from .results import Delivery

NEWEST = 12
"""Messages in an answer."""
SILENT = "Nobody is told of it: give notifications, or set [news] in config.toml."


def notifications_of(state: State) -> Literal["on", "off"]:
    plan = state.notification_plan
    return "on" if plan is not None and plan.enabled and plan.channels else "off"


def unsendable(app: App, state: State) -> list[str]:
    """What is wrong with the news of a discussion: configured but silent is said aloud."""
    notes = app.notifier.warnings(state.notification_plan)
    return [f"{note.text} {note.remedy}".strip() for note in notes]


def deliveries(outbox: Outbox) -> list[Delivery]:
    """Where the newest messages stand, the newest first."""
    newest = list(outbox.entries.values())[::-1][:NEWEST]
    return [
        Delivery(
            message_id=each.message.id,
            event=each.message.kind,
            channel=each.message.channel.name,
            status=each.where,
            attempts=each.attempts,
            detail=each.settled.detail[:200] if each.settled else "",
        )
        for each in newest
    ]


async def outbox(app: App, discussion_id: str) -> Outbox:
    return outbox_of(await app.service.records(discussion_id))
