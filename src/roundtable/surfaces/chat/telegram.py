"""Telegram as a place: its public bot API over HTTP, messages by long polling.

A message is asked for again until the next poll confirms it, so a crash loses none; one that comes
twice is told apart by its id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from ...core.errors import BadSetting, ChannelError, NetError
from ...core.text import clip
from ...net import Answer, fit_for_a_header, request, seconds_to_wait
from .place import Message

API = "https://api.telegram.org"
TOKEN = "TELEGRAM_BOT_TOKEN"  # noqa: S105 - the variable's name, not a token
LIMIT = 4096
"""Characters of one message."""
POLL_SECONDS = 25
_PATIENCE = 20.0
_RETRY = 3.0
_log = logging.getLogger("roundtable.chat")


class Telegram:
    """One bot."""

    platform = "telegram"
    limit = LIMIT
    interval = 1.0

    def __init__(
        self, env: Mapping[str, str], api: str = API, *, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self._env = env
        self._api = api.rstrip("/")
        self._poll = poll_seconds
        self._offset = 0

    async def messages(self) -> AsyncGenerator[Message, None]:
        """BadSetting if Telegram does not know the token; any other trouble is waited out."""
        while True:
            try:
                updates = await self._call(
                    "getUpdates",
                    {"offset": self._offset, "timeout": self._poll, "allowed_updates": _HEARD},
                    patience=self._poll + _PATIENCE,
                )
            except ChannelError as error:
                if error.permanent:
                    raise BadSetting("the environment", TOKEN, "a token of Telegram's") from None
                _log.warning("telegram: %s", error)
                await asyncio.sleep(error.retry_after or _RETRY)
                continue
            for update in updates if isinstance(updates, list) else ():
                self._offset = max(self._offset, int(update.get("update_id", 0)) + 1)
                if (message := _message(update)) is not None:
                    yield message

    async def say(self, chat_id: str, text: str, *, buttons: Sequence[str] = ()) -> str:
        body: dict[str, Any] = {
            "chat_id": chat_id,
            "text": clip(text, LIMIT),
            # A preview would fetch what an address leads to, and tell its owner what is in it.
            "link_preview_options": {"is_disabled": True},
        }
        if buttons:
            keys = [{"text": button} for button in buttons]
            body["reply_markup"] = {
                "keyboard": [keys],
                "one_time_keyboard": True,
                "resize_keyboard": True,
            }
        sent = await self._call("sendMessage", body)
        return str(sent.get("message_id", "")) if isinstance(sent, dict) else ""

    async def close(self) -> None:
        """Nothing is kept open between calls."""

    async def _call(self, method: str, body: dict[str, Any], patience: float = _PATIENCE) -> Any:
        token = self._env.get(TOKEN, "").strip()
        if not fit_for_a_header(token) or "/" in token:
            raise ChannelError("Telegram needs a bot's token.", f"Set {TOKEN}.", permanent=True)
        url = f"{self._api}/bot{token}/{method}"
        try:
            answer = await request("Telegram", "POST", url, body=body, timeout=patience)
            document = answer.json(typed=False)
        except NetError:
            raise ChannelError(
                "Telegram cannot be reached.", "Check the network and the address."
            ) from None
        if isinstance(document, dict) and document.get("ok"):
            return document.get("result")
        raise _refusal(answer, document)


_HEARD = ["message"]


def _message(update: Any) -> Message | None:
    """What a person wrote; None for everything else that happens in a chat."""
    heard = update.get("message") if isinstance(update, dict) else None
    if not isinstance(heard, dict) or not isinstance(heard.get("text"), str):
        return None
    if (heard.get("from") or {}).get("is_bot"):
        return None
    return Message(
        chat_id=str((heard.get("chat") or {}).get("id", "")),
        text=heard["text"],
        sender=str((heard.get("from") or {}).get("username") or ""),
        message_id=str(heard.get("message_id", "")),
    )


def _refusal(answer: Answer, document: Any) -> ChannelError:
    status = answer.status
    said = document.get("parameters") if isinstance(document, dict) else None
    wait = seconds_to_wait(said.get("retry_after")) if isinstance(said, dict) else None
    if status in (401, 404):
        return ChannelError("Telegram does not know the bot.", f"Check {TOKEN}.", permanent=True)
    if status in (400, 403):
        return ChannelError(
            f"Telegram does not let the bot write there (status {status}).",
            "Let the bot into the chat, and check the chat's id.",
            permanent=True,
        )
    return ChannelError(
        f"Telegram answered with status {status}.",
        "It is tried again.",
        retry_after=answer.retry_after if wait is None else wait,
    )
