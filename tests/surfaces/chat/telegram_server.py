"""Telegram's bot API on loopback: the part that a chat needs, with its real forms."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from tests.search.server import Answer, Asked, answer

TOKEN = "123456:planted-bot-token"


@dataclass
class TelegramServer:
    """One bot. `fails` are answers that come before it works: status, and seconds to wait."""

    fails: list[tuple[int, int | None]] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    _updates: list[dict[str, Any]] = field(default_factory=list)
    _something: threading.Condition = field(default_factory=threading.Condition)

    def writes(self, chat: int, text: str | None, **more: Any) -> None:
        """Somebody writes in a chat."""
        with self._something:
            number = len(self._updates) + 1
            message = {
                "message_id": number,
                "chat": {"id": chat, "type": "private"},
                "from": {"id": 1, "is_bot": False, "username": "ada"},
                "date": 0,
                "text": text,
                **more,
            }
            self._updates.append({"update_id": 1000 + number, "message": message})
            self._something.notify_all()

    def said(self, chat: int) -> list[str]:
        return [sent["text"] for sent in self.sent if str(sent["chat_id"]) == str(chat)]

    def __call__(self, asked: Asked) -> Answer:
        if not asked.path.startswith(f"/bot{TOKEN}/"):
            return answer({"ok": False, "error_code": 401, "description": "Unauthorized"}, 401)
        if self.fails:
            status, wait = self.fails.pop(0)
            parameters = {"retry_after": wait} if wait is not None else {}
            return answer({"ok": False, "error_code": status, "parameters": parameters}, status)
        match asked.path.rpartition("/")[2]:
            case "getUpdates":
                return answer({"ok": True, "result": self._new(asked.body)})
            case "sendMessage":
                assert 0 < len(asked.body["text"]) <= 4096
                self.sent.append(asked.body)
                return answer({"ok": True, "result": {"message_id": 9000 + len(self.sent)}})
            case _:
                return answer({"ok": False, "error_code": 404}, 404)

    def _new(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Long polling: what is not confirmed yet comes again, and an empty answer waits a little
        for something to happen."""
        with self._something:
            found = [u for u in self._updates if u["update_id"] >= body["offset"]]
            if not found:
                self._something.wait(min(float(body["timeout"]), 0.05))
                found = [u for u in self._updates if u["update_id"] >= body["offset"]]
            return found
