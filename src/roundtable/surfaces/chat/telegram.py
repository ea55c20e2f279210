"""Telegram as a place: its public bot API over HTTP, messages by long polling.

A message is asked for again until the next poll confirms it, so a crash loses none; one that comes
twice is told apart by its id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import BadSetting, ChannelError
from ...core.text import clip
from .place import Message

if TYPE_CHECKING:
    import httpx2

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
        self._client: httpx2.AsyncClient | None = None

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
        body: dict[str, Any] = {"chat_id": chat_id, "text": clip(text, LIMIT)}
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
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _call(self, method: str, body: dict[str, Any], patience: float = _PATIENCE) -> Any:
        import httpx2

        token = self._env.get(TOKEN, "").strip()
        if not token or not (token.isascii() and token.isprintable() and "/" not in token):
            raise ChannelError("Telegram needs a bot's token.", f"Set {TOKEN}.", permanent=True)
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=_PATIENCE)
        try:
            answer = await self._client.post(
                f"{self._api}/bot{token}/{method}", json=body, timeout=patience
            )
            document = answer.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
            # Without the cause: the address holds the token.
            raise ChannelError(
                "Telegram cannot be reached.", "Check the network and the address."
            ) from None
        if isinstance(document, dict) and document.get("ok"):
            return document.get("result")
        raise _refusal(answer.status_code, document)


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


def _refusal(status: int, document: Any) -> ChannelError:
    said = document if isinstance(document, dict) else {}
    wait = (said.get("parameters") or {}).get("retry_after")
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
        retry_after=float(wait) if isinstance(wait, int | float) else None,
    )
