"""Channels of this machine: a file, the terminal, and one that only rehearses."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ..core.errors import ChannelError
from ..core.values import NewsChannel
from ..core.visible import shown
from ..ports import Post
from ..private import opener_at
from .base import Aside, ChannelLimits, PlainChannel

log = logging.getLogger("roundtable.news")
UNLIMITED = ChannelLimits(limit=100_000)


class File(PlainChannel):
    """Appends to a file: JSON lines if its name ends in .jsonl, else text."""

    def __init__(self, path: str, limits: ChannelLimits = UNLIMITED) -> None:
        super().__init__(limits)
        self._path = Path(path).expanduser()
        self._aside = Aside()

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        del place
        if not self._path.name or self._path.is_dir():
            return "its address names no file.", "Name one: file:/path/to/news.log"
        # Folders that are missing are made with the first message.
        there = self._path
        while not there.exists() and there != there.parent:
            there = there.parent
        if not os.access(there, os.W_OK) or (there != self._path and not there.is_dir()):
            return f"{there} cannot be written.", "Name a file that you may write."
        return None

    async def post(self, post: Post) -> str:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        if self._path.suffix == ".jsonl":
            row = {
                "at": at,
                "discussion_id": post.discussion_id,
                "kind": post.kind,
                "channel": post.place.name,
                "text": post.text,
            }
            line = json.dumps(row, ensure_ascii=False)
        else:
            line = f"[{at}] {post.text}\n"
        try:
            await self._aside.run(lambda: self._write(line))
        except OSError as error:
            raise ChannelError(
                f"{self._path} cannot be written: {error.strerror}.", "Check the path."
            ) from None
        return ""

    def _write(self, line: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        opener = opener_at(self._path)
        with open(self._path, "a", encoding="utf-8", errors="replace", opener=opener) as file:
            file.write(f"{line}\n")


class Terminal(PlainChannel):
    """Prints to standard output or standard error."""

    def __init__(
        self, stream: Literal["stdout", "stderr"], limits: ChannelLimits = UNLIMITED
    ) -> None:
        super().__init__(limits)
        self._stream = stream
        self._aside = Aside()

    async def post(self, post: Post) -> str:
        try:
            await self._aside.run(lambda: self._print(post.text))
        except (OSError, ValueError):
            raise ChannelError(f"Nobody reads {self._stream}.", permanent=True) from None
        return ""

    def _print(self, text: str) -> None:
        stream = sys.stdout if self._stream == "stdout" else sys.stderr
        if stream is None:
            raise ValueError("closed")
        stream.write(f"{shown(text)}\n\n")
        stream.flush()


class DryRun(PlainChannel):
    """Sends nothing: it shows in the log, and to whoever asks, what would have been sent."""

    def __init__(self, limits: ChannelLimits = UNLIMITED) -> None:
        super().__init__(limits)
        self.posts: list[Post] = []

    async def post(self, post: Post) -> str:
        self.posts.append(post)
        log.info("dry run for %s: %d characters, not sent", post.place.name, len(post.text))
        return "dry-run"
