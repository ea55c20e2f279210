"""A webhook: each message as one JSON document, posted to an address."""

from __future__ import annotations

from hashlib import sha256

from ..ports import Post
from .base import ChannelLimits, PlainChannel, send_json


class Webhook(PlainChannel):
    """Posts `{"text": …, "kind": …, "discussion_id": …}`; `text` is what Slack and its kin read."""

    def __init__(self, url: str, limits: ChannelLimits) -> None:
        super().__init__(limits)
        self._url = url

    async def post(self, post: Post) -> str:
        body = {
            "text": post.text,
            # Slack and its kin would fetch what an address leads to, and so tell its owner what
            # stands in it.
            "unfurl_links": False,
            "unfurl_media": False,
            "kind": post.kind,
            "discussion_id": post.discussion_id,
            "channel": post.place.name,
            "chat_id": post.place.chat_id,
        }
        headers = {"idempotency-key": sha256(post.key.encode()).hexdigest()}
        await send_json(
            "The webhook", "POST", self._url, body=body, headers=headers, timeout=self.timeout
        )
        return ""
