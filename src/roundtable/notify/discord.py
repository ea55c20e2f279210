"""Discord by its bot API, because a webhook cannot make threads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ..core.errors import ChannelError
from ..core.values import NewsChannel
from ..net import fit_for_a_header
from ..ports import Ability, Post
from .base import ChannelLimits, PlainChannel, send_json

BASE_URL = "https://discord.com/api/v10"
TOKEN = "DISCORD_BOT_TOKEN"  # noqa: S105 - the name of a variable
PUBLIC_THREAD = 11
SUPPRESS_EMBEDS = 1 << 2
"""No preview of what an address leads to: fetching it would tell its owner what stands in it."""
ARCHIVE_AFTER = 1440
"""Minutes of silence after which Discord folds a thread away."""


class DiscordBot(PlainChannel):
    """Posts as a bot; the chat is a channel's id."""

    abilities: frozenset[Ability] = frozenset({"threads"})

    def __init__(
        self, token: str, env: Mapping[str, str], base_url: str, limits: ChannelLimits
    ) -> None:
        super().__init__(limits)
        self._token = token
        self._env = env
        self._base_url = (base_url or env.get("DISCORD_BASE_URL") or BASE_URL).rstrip("/")

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        if not self._key:
            return "Discord needs a bot's token.", f"Set {TOKEN}."
        if not place.chat_id:
            return "no Discord channel is named.", "Name it by its id: discord:CHANNEL_ID"
        return None

    async def open_thread(self, place: NewsChannel, name: str) -> str:
        body = {"name": name, "type": PUBLIC_THREAD, "auto_archive_duration": ARCHIVE_AFTER}
        made = await self._call(f"channels/{_id(place.chat_id)}/threads", body)
        if not (isinstance(made, dict) and made.get("id")):
            raise ChannelError("Discord did not say which thread it made.", permanent=True)
        return str(made["id"])

    async def post(self, post: Post) -> str:
        body = {
            "content": post.text,
            # A message that comes twice within minutes is posted once.
            "nonce": hashlib.sha256(post.key.encode()).hexdigest()[:25],
            "enforce_nonce": True,
            "allowed_mentions": {"parse": []},
            "flags": SUPPRESS_EMBEDS,
        }
        target = post.thread_id or post.place.chat_id
        sent = await self._call(f"channels/{_id(target)}/messages", body)
        return str(sent.get("id", "")) if isinstance(sent, dict) else ""

    @property
    def _key(self) -> str:
        return (self._token or self._env.get(TOKEN, "")).strip()

    async def _call(self, path: str, body: object) -> Any:
        key = self._key
        if not fit_for_a_header(key):
            raise ChannelError("Discord needs a bot's token.", f"Set {TOKEN}.", permanent=True)
        return await send_json(
            "Discord",
            "POST",
            f"{self._base_url}/{path}",
            body=body,
            headers={"authorization": f"Bot {key}"},
            timeout=self.timeout,
        )


def _id(chat: str) -> str:
    """An id that can stand in an address: it must not lead anywhere else."""
    if not chat.isdecimal():
        raise ChannelError(
            f"{chat!r} is no id of a Discord channel.",
            "Copy the channel's id (a number) from Discord.",
            permanent=True,
        )
    return chat
