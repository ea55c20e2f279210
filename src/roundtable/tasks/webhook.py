"""Any board behind an address: one JSON POST for each comment and each task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ports import BoardTask
from .base import json_request, read_token


class WebhookBoard:
    """The mark goes along as Idempotency-Key: the other side writes nothing twice."""

    def __init__(self, name: str, url: str, env: Mapping[str, str], token_env: str = "") -> None:
        self.name = name
        self._url = url
        self._env = env
        self._token_env = token_env

    async def comment(self, task: str, body: str, *, mark: str) -> BoardTask:
        return await self._post({"kind": "comment", "task": task, "body": body}, mark)

    async def create(self, title: str, body: str, *, owner: str, mark: str) -> BoardTask:
        return await self._post(
            {"kind": "task", "title": title, "body": body, "owner": owner}, mark
        )

    async def _post(self, document: dict[str, Any], mark: str) -> BoardTask:
        headers = {"idempotency-key": mark}
        if self._token_env:
            token = read_token(self._env, self._token_env, "The board")
            headers["authorization"] = f"Bearer {token}"
        answer = await json_request(
            "The board", "POST", self._url, headers=headers, body={**document, "mark": mark}
        )
        said = answer if isinstance(answer, dict) else {}
        return BoardTask(str(said.get("task") or mark), str(said.get("url") or ""))
