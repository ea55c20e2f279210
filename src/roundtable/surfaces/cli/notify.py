"""`roundtable notify`: what was told of a discussion, and telling it by hand."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from ...bootstrap import App
from ...core.errors import ChannelError, UnknownName, UsageError
from ...core.notifications import Entry, announcement, outbox_of
from ...core.notifications_plan import spelled
from ...core.text import counted, redact
from ...core.values import NEWS_KINDS
from ...ports import Post
from .exits import FAILED
from .terminal import echo, echo_error, print_json
from .with_app import find_here, with_app

PATIENCE = 30.0
"""Seconds that a command waits for messages to arrive."""
COMMANDS = "status ID · resend ID [MESSAGE] · pump [ID] · test CHANNEL · ID KIND"


def notify_command(flags: Mapping[str, Any]) -> int:
    with _traced(flags["trace"]):
        match flags["words"]:
            case ["status", called]:
                id_ = find_here(called)
                return with_app(lambda app: _status(app, id_, flags))
            case ["resend", called, *message] if len(message) < 2:
                id_ = find_here(called)
                return with_app(lambda app: _resend(app, id_, "".join(message)))
            case ["pump", *called]:
                ids = [find_here(each) for each in called]
                return with_app(lambda app: _pump(app, ids, flags["days"]))
            case ["test", channel]:
                return with_app(lambda app: _test(app, channel))
            case [called, kind]:
                id_ = find_here(called)
                return with_app(lambda app: _fire(app, id_, kind))
            case _:
                raise UsageError("That is not how `notify` is used.", f"It takes: {COMMANDS}")


async def _status(app: App, discussion_id: str, flags: Mapping[str, Any]) -> int:
    outbox = outbox_of(await app.service.records(discussion_id))
    warnings = app.notifier.warnings(outbox.state.notification_plan)
    if flags["as_json"]:
        document = {
            "discussion_id": discussion_id,
            "notifications": "on" if outbox.channels else "off",
            "summary": announcement(outbox.state),
            "warnings": [f"{note.text} {note.remedy}".strip() for note in warnings],
            "threads": outbox.threads,
            "messages": [_row(entry) for entry in outbox.entries.values()],
        }
        print_json(document)
        return 0
    echo_error(announcement(outbox.state))
    for note in warnings:
        echo_error(f"⚠️  {note.text} {note.remedy}".rstrip())
    for channel, thread in outbox.threads.items():
        echo_error(f"Thread on {channel}: {thread}")
    _show(outbox.entries.values())
    if any(entry.where == "given_up" for entry in outbox.entries.values()):
        echo_error(f"Send what was given up again: roundtable notify resend {discussion_id}")
    return 0


async def _fire(app: App, discussion_id: str, kind: str) -> int:
    if kind not in NEWS_KINDS:
        raise UnknownName("kind of news", kind, NEWS_KINDS)
    ids = await app.notifier.fire(discussion_id, kind, by="the user")
    return await _sent(app, discussion_id, ids)


async def _resend(app: App, discussion_id: str, message_id: str) -> int:
    ids = await app.notifier.resend(discussion_id, message_id, by="the user")
    if not ids:
        echo_error("Nothing was given up, so nothing is sent again.")
        return 0
    return await _sent(app, discussion_id, ids)


async def _sent(app: App, discussion_id: str, ids: Sequence[str]) -> int:
    """Wait for these messages, and say what became of them."""
    await app.notifier.pump([discussion_id], patience=PATIENCE)
    outbox = outbox_of(await app.service.records(discussion_id))
    found = [outbox.entries[each] for each in ids]
    _show(found)
    for note in app.notifier.warnings(outbox.state.notification_plan):
        echo_error(f"⚠️  {note.text} {note.remedy}".rstrip())
    return 0 if all(entry.where == "delivered" for entry in found) else FAILED


async def _pump(app: App, ids: Sequence[str], days: int) -> int:
    wanted = list(ids) or await _with_leftovers(app, days)
    before = 0
    for each in wanted:
        before += len(outbox_of(await app.service.records(each)).left())
    left = await app.notifier.pump(wanted, patience=PATIENCE)
    echo_error(f"Done with {counted(max(0, before - len(left)), 'message')}, {len(left)} left.")
    _show([entry for _, entry in left])
    for each in dict.fromkeys(discussion_id for discussion_id, _ in left):
        plan = (await app.service.read(each)).notification_plan
        for note in app.notifier.warnings(plan):
            echo_error(f"⚠️  {each}: {note.text} {note.remedy}".rstrip())
    return FAILED if left else 0


async def _with_leftovers(app: App, days: int) -> list[str]:
    since = datetime.now(UTC) - timedelta(days=days)
    rows = [row for row in await app.service.summaries() if row.updated_at >= since]
    return [
        row.discussion_id
        for row in rows
        if outbox_of(await app.service.records(row.discussion_id)).left()
    ]


async def _test(app: App, name: str) -> int:
    place = spelled(name)
    channel = app.notifier.channels.find(place.platform)
    if channel is None:
        raise UnknownName("channel", place.platform, app.notifier.channels.names)
    if found := channel.problem(place):
        echo_error(f"{place.name}: {found[0]} {found[1]}")
        return FAILED
    post = Post(
        place, "🔔 Roundtable: this is a test.", "test", "test", f"test/{datetime.now(UTC)}"
    )
    try:
        async with asyncio.timeout(channel.timeout):
            receipt = await channel.post(post)
    except TimeoutError:
        echo_error(f"{place.name}: no answer within {channel.timeout:g} s.")
        return FAILED
    except ChannelError as error:
        echo_error(f"{place.name}: {redact(str(error))}")
        return FAILED
    echo_error(f"{place.name}: sent{f' as {receipt}' if receipt else ''}.")
    return 0


def _show(entries: Iterable[Entry]) -> None:
    for entry in entries:
        row = _row(entry)
        line = f"{row['id']:<40}  {row['status']:<10}  attempts: {row['attempts']}"
        if row["retry_at"]:
            line += f"  again at {row['retry_at']}"
        echo(line)
        if row["detail"]:
            echo_error(f"   {row['detail']} {row['remedy']}".rstrip())


def _row(entry: Entry) -> dict[str, Any]:
    settled = entry.settled
    failed = entry.where in ("failed", "given_up")
    return {
        "id": entry.message.id,
        "kind": entry.message.kind,
        "channel": entry.message.channel.name,
        "status": entry.where.replace("_", " "),
        "attempts": entry.attempts,
        "retry_at": due.isoformat(timespec="seconds")
        if entry.where == "failed" and (due := entry.due_at)
        else None,
        "detail": settled.detail if settled and failed else "",
        "remedy": settled.remedy if settled and failed else "",
        "receipt": settled.receipt if settled and entry.where == "delivered" else "",
        "text": entry.message.text,
    }


@contextmanager
def _traced(wanted: bool) -> Iterator[None]:
    """Each message that is sent, as a line on stderr."""
    if not wanted:
        yield
        return
    log = logging.getLogger("roundtable.news")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
