"""Feishu and Lark by their app API: messages to chats, and a look whether they arrived."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from ..core.errors import ChannelError
from ..core.values import NewsChannel
from ..net import Method
from ..ports import Ability, Post
from .base import ChannelLimits, PlainChannel, send_json

BASE_URLS = {"feishu": "https://open.feishu.cn", "lark": "https://open.larksuite.com"}
NEWEST = 20
"""Messages of a chat that a look goes through."""
SPARE = 60.0
"""Seconds before its end at which a token is renewed."""
TOO_FAST = frozenset([11232, 11233, 230020, 99991400])
"""Codes with which Feishu asks for fewer messages."""


class FeishuApp(PlainChannel):
    """Posts as an app; the chat is a chat's id (`oc_…`)."""

    abilities: frozenset[Ability] = frozenset({"check"})

    def __init__(
        self, brand: str, env: Mapping[str, str], base_url: str, limits: ChannelLimits
    ) -> None:
        """`brand` is feishu or lark: the same API in two places, with variables of its name."""
        super().__init__(limits)
        self._brand = brand
        self._label = brand.capitalize()
        self._env = env
        own = env.get(f"{brand.upper()}_BASE_URL", "")
        self._base_url = (base_url or own or BASE_URLS[brand]).rstrip("/")
        self._token = ""
        self._token_until = 0.0

    @property
    def _variables(self) -> tuple[str, str]:
        return f"{self._brand.upper()}_APP_ID", f"{self._brand.upper()}_APP_SECRET"

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        if not all(self._env.get(name, "").strip() for name in self._variables):
            return f"{self._label} needs an app.", f"Set {' and '.join(self._variables)}."
        if not place.chat_id:
            return "no chat is named.", f"Name it by its id: {self._brand}:oc_…"
        return None

    async def post(self, post: Post) -> str:
        body = {
            "receive_id": post.place.chat_id,
            "msg_type": "text",
            "content": json.dumps({"text": post.text}, ensure_ascii=False),
            # A message that comes twice within an hour is posted once.
            "uuid": hashlib.sha256(post.key.encode()).hexdigest()[:32],
        }
        sent = await self._call(
            "POST", "im/v1/messages", body=body, params={"receive_id_type": "chat_id"}
        )
        return str((sent.get("data") or {}).get("message_id", ""))

    async def arrived(self, post: Post) -> str | None:
        found = await self._call(
            "GET",
            "im/v1/messages",
            params={
                "container_id_type": "chat",
                "container_id": post.place.chat_id,
                # Without it the oldest come first, and what is new is never seen.
                "sort_type": "ByCreateTimeDesc",
                "page_size": str(NEWEST),
            },
        )
        for item in (found.get("data") or {}).get("items") or ():
            if isinstance(item, dict) and _text_of(item) == post.text:
                return str(item.get("message_id", ""))
        return None

    async def _call(
        self,
        method: Method,
        path: str,
        *,
        params: Mapping[str, str],
        body: object = None,
    ) -> dict[str, Any]:
        answer = await send_json(
            self._label,
            method,
            f"{self._base_url}/open-apis/{path}",
            body=body,
            params=params,
            headers={"authorization": f"Bearer {await self._tenant_token()}"},
            timeout=self.timeout,
        )
        return self._checked(answer)

    async def _tenant_token(self) -> str:
        if self._token and time.monotonic() < self._token_until:
            return self._token
        app_id, secret = (self._env.get(name, "").strip() for name in self._variables)
        if not app_id or not secret:
            raise ChannelError(
                f"{self._label} needs an app.",
                f"Set {' and '.join(self._variables)}.",
                permanent=True,
            )
        answer = self._checked(
            await send_json(
                self._label,
                "POST",
                f"{self._base_url}/open-apis/auth/v3/tenant_access_token/internal",
                body={"app_id": app_id, "app_secret": secret},
                timeout=self.timeout,
            )
        )
        self._token = str(answer.get("tenant_access_token", ""))
        lasts = answer.get("expire")
        seconds = float(lasts) if isinstance(lasts, int | float) else 0.0
        self._token_until = time.monotonic() + max(0.0, seconds - SPARE)
        return self._token

    def _checked(self, answer: Any) -> dict[str, Any]:
        """Feishu says no in answers that HTTP calls a success."""
        if not isinstance(answer, dict):
            raise ChannelError(f"{self._label} sent an answer that is not valid JSON.")
        code = answer.get("code", 0)
        if code == 0:
            return answer
        if code in (99991661, 99991663, 99991664, 99991668):
            self._token = ""  # it ran out: the next attempt gets a new one
            raise ChannelError(f"{self._label} no longer takes the token (code {code}).")
        if code in TOO_FAST:
            raise ChannelError(f"{self._label} wants fewer messages (code {code}).")
        raise ChannelError(
            f"{self._label} refused it (code {code}).",
            "Check that the app may write to this chat; then send it again.",
            permanent=True,
        )


def _text_of(item: Mapping[str, Any]) -> str | None:
    try:
        text = json.loads(item["body"]["content"])["text"]
    except (KeyError, TypeError, ValueError):
        return None
    return text if isinstance(text, str) else None
