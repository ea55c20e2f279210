"""The toolset from Python, wired up: storage, news, speakers, the page. There is no other way to
one that lacks any of it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from ...bootstrap import start
from ...core.values import NewsPlan
from ...notify.function import SendFn
from ...ports import Ledger, Speaker
from ...programs import workspace_of
from ...settings import read_settings
from ..files import WorkspaceFiles
from .access import access
from .base import REPLY_LIMIT
from .toolset import Toolset


@asynccontextmanager
async def open_toolset(
    *,
    home: str | Path | None = None,
    db: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    workspace: str | Path | None = None,
    send_fn: SendFn | None = None,
    notifications: NewsPlan | None = None,
    profile: str = "",
    speakers: Mapping[str, Speaker] | None = None,
    ledger: Ledger | None = None,
    web: bool = True,
    created_by: str = "python",
    reply_limit: int = REPLY_LIMIT,
) -> AsyncIterator[Toolset]:
    """The tools for a program of your own.

    ::

        async with open_toolset() as tools:
            opened = await tools.create_discussion(topic="…", participants=[…])
            await tools.speak(opened.discussion_id, "architect", "…")

    Without arguments it uses what the user configured. `send_fn(platform, chat_id, message)` sends
    all news in place of the configured channels; `notifications` is the plan for discussions that
    bring none. `speakers` are the caller's own, seated as `scripted/NAME`. `workspace` is where
    conclusion documents go. What it drives is interrupted at the end, and can be taken up again.
    """
    surroundings = _surroundings(env, home, db)
    folder = workspace_of(surroundings) if workspace is None else Path(workspace)
    settings = read_settings(surroundings, folder)
    async with start(
        settings,
        env=surroundings,
        ledger=ledger,
        scripts=speakers,
        delivery=WorkspaceFiles(folder),
        send_fn=send_fn,
    ) as app:
        toolset = Toolset(
            app,
            access=access(settings.choices, profile),
            notifications=notifications,
            web=web,
            created_by=created_by,
            reply_limit=reply_limit,
        )
        try:
            yield toolset
        finally:
            await toolset.close()


def _surroundings(
    env: Mapping[str, str] | None, home: str | Path | None, db: str | Path | None
) -> dict[str, str]:
    found = dict(os.environ if env is None else env)
    if home is not None:
        found["ROUNDTABLE_HOME"] = str(Path(home).expanduser().absolute())
    if db is not None:
        is_path = isinstance(db, Path) or "://" not in db
        found["ROUNDTABLE_DB"] = str(Path(db).expanduser()) if is_path else str(db)
    return found
