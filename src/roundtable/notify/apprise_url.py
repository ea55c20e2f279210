"""Everything that Apprise knows by address: Slack, Telegram, e-mail, Feishu, Lark, Teams …"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ..core.errors import ChannelError
from ..core.extras import install
from ..core.text import clip, redact
from ..core.values import NewsChannel
from ..ports import Post
from .base import Aside, ChannelLimits, PlainChannel
from .discord import SUPPRESS_EMBEDS

if TYPE_CHECKING:
    from collections.abc import Iterable

CHAT = "{chat_id}"
LIMITS = {"discord": 2000, "tgram": 4096, "feishu": 4000, "lark": 4000, "slack": 4000}
"""Characters of a post that read well there and are taken."""
INTERVALS = {"tgram": 1.0, "slack": 1.2, "discord": 1.0, "feishu": 0.5, "lark": 0.5}
_STATUS = re.compile(r"error=(\d{3})")
_ADDRESS = re.compile(r"\S+://\S+")


def limits_of(url: str) -> ChannelLimits:
    scheme = url.partition(":")[0].lower()
    name = _named(url) if scheme in ("http", "https") else scheme
    # Some of its senders wait between posts by themselves, for up to 5.5 s.
    return ChannelLimits(LIMITS.get(name, 4000), INTERVALS.get(name, 0.0), timeout=30.0)


def takes(url: str) -> bool:
    """Whether a https address is one that Apprise reads as that of a chat."""
    return bool(_named(url))


def _named(url: str) -> str:
    parts = urlsplit(url)
    match parts.hostname or "":
        case "hooks.slack.com":
            return "slack"
        case "discord.com" | "discordapp.com" if parts.path.startswith("/api/webhooks/"):
            return "discord"
        case "open.larksuite.com":
            return "lark"
        case "open.feishu.cn":
            return "feishu"
        case _:
            return ""


class AppriseUrl(PlainChannel):
    """A channel by its Apprise address; `{chat_id}` in it stands for the chat."""

    def __init__(self, url: str, limits: ChannelLimits) -> None:
        super().__init__(limits)
        self._url = _without_detour(url)
        self._aside = Aside()

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        if place.chat_id and CHAT not in self._url:
            return "its address has no room for a chat.", f"Put {CHAT} into it, or name no chat."
        if not place.chat_id and CHAT in self._url:
            return "its address needs a chat.", f"Name one: {place.platform}:CHAT"
        try:
            installed = _apprise()
        except ChannelError as error:
            return error.message, error.remedy
        if installed.Apprise.instantiate(self._filled(place), suppress_exceptions=True) is None:
            return "its address is none that Apprise can read.", "Check it (docs/notifications.md)."
        return None

    async def post(self, post: Post) -> str:
        await self._aside.run(lambda: self._notify(post))
        return ""

    def _filled(self, place: NewsChannel) -> str:
        return self._url.replace(CHAT, quote(place.chat_id, safe=""))

    def _notify(self, post: Post) -> None:
        apprise = _apprise()
        notifier = apprise.Apprise()
        if not notifier.add(self._filled(post.place)):
            raise ChannelError(
                "Its address is none that Apprise can read.",
                "Check it (docs/notifications.md).",
                permanent=True,
            )
        for sender in notifier:
            if hasattr(sender, "flags"):  # Discord's
                sender.flags = (sender.flags or 0) | SUPPRESS_EMBEDS
        said: list[str] = []
        sent = notifier.notify(
            body=post.text,
            title=_title(post) if self._url.startswith("mailto") else "",
            body_format=apprise.NotifyFormat.TEXT,
            log_callback=lambda entry, _: said.append(_message(entry)),
        )
        if not sent:
            raise _refused(said)


def _apprise() -> Any:
    try:
        import apprise
    except ImportError:
        raise ChannelError(
            "It needs the package apprise.",
            install("notify"),
            permanent=True,
        ) from None
    return apprise


def _title(post: Post) -> str:
    return f"Roundtable {post.discussion_id}: {post.kind.replace('_', ' ')}"


def _message(entry: Any) -> str:
    return str(getattr(entry, "message", entry))


def _refused(said: Iterable[str]) -> ChannelError:
    """Apprise tells why only in its log."""
    lines = [_ADDRESS.sub("[address]", redact(line)) for line in said]
    why = next((line for line in lines if "error=" in line or "rror" in line), "")
    status = int(found[1]) if (found := _STATUS.search(why)) else 0
    message = clip(f"It was not taken: {why or 'Apprise gave no reason.'}", 300)
    permanent = 400 <= status < 500 and status not in (408, 425, 429)
    remedy = "Check its address and token; then send it again." if permanent else ""
    return ChannelError(message, remedy, permanent=permanent)


def _without_detour(url: str) -> str:
    """A Feishu webhook's https address in Apprise's own form, which is all it reads of them."""
    parts = urlsplit(url)
    if parts.hostname == "open.feishu.cn":
        return f"feishu://{parts.path.rstrip('/').rpartition('/')[2]}"
    return url
