"""GitHub issues as a task board, by the public REST API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote

from ..core.errors import BoardError
from ..net import Method
from ..ports import BoardTask
from .base import json_request, read_token

PUBLIC_API = "https://api.github.com"
LABEL = "roundtable"
_PAGE = 100
_MOST_PAGES = 20


class GitHubBoard:
    """Comments on issues and new issues, each with its mark in a comment that nobody sees."""

    def __init__(
        self, name: str, repo: str, env: Mapping[str, str], token_env: str, api: str = PUBLIC_API
    ) -> None:
        self.name = name
        self._repo = "/".join(quote(part, safe="") for part in repo.split("/"))
        self._env = env
        self._token_env = token_env
        self._api = api.rstrip("/")

    async def comment(self, task: str, body: str, *, mark: str) -> BoardTask:
        issue = f"issues/{_number(task)}"
        async for there in self._pages(f"{issue}/comments"):
            if _mark(mark) in str(there.get("body") or ""):
                return _as_task(there)
        written = await self._call("POST", f"{issue}/comments", {"body": _marked(body, mark)})
        return _as_task(written)

    async def create(self, title: str, body: str, *, owner: str, mark: str) -> BoardTask:
        async for there in self._pages(f"issues?state=all&labels={LABEL}"):
            if _mark(mark) in str(there.get("body") or ""):
                return _as_issue(there)
        issue: dict[str, Any] = {"title": title, "body": _marked(body, mark), "labels": [LABEL]}
        if owner:
            issue["assignees"] = [owner]  # who is assigned is subscribed
        return _as_issue(await self._call("POST", "issues", issue))

    async def _pages(self, path: str) -> AsyncIterator[Mapping[str, Any]]:
        joint = "&" if "?" in path else "?"
        for page in range(1, _MOST_PAGES + 1):
            rows = await self._call("GET", f"{path}{joint}per_page={_PAGE}&page={page}")
            if not isinstance(rows, list):
                raise BoardError("GitHub sent no list where one was due.", "Check the address.")
            for row in rows:
                yield row
            if len(rows) < _PAGE:
                return

    async def _call(self, method: Method, path: str, body: Mapping[str, Any] | None = None) -> Any:
        token = read_token(self._env, self._token_env, "GitHub")
        return await json_request(
            "GitHub",
            method,
            f"{self._api}/repos/{self._repo}/{path}",
            body=body,
            headers={
                "authorization": f"Bearer {token}",
                "accept": "application/vnd.github+json",
                "x-github-api-version": "2022-11-28",
            },
            remedies={
                401: f"Check {self._token_env}: GitHub does not know it.",
                403: f"The token in {self._token_env} may not write issues there, or its rate "
                "limit is used up.",
                404: "Check the repository and the issue's number, and that the token may see it.",
                422: "GitHub refused the values: does the assignee have access to the repository?",
            },
        )


def _number(task: str) -> int:
    """The number of `7`, `#7` or `owner/name#7`."""
    digits = task.rpartition("#")[2].strip()
    if not (digits.isascii() and digits.isdigit()):
        raise BoardError(f"{task!r} is no GitHub issue.", "Name it by its number, such as 7.")
    return int(digits)


def _mark(mark: str) -> str:
    return f"<!-- roundtable {mark} -->"


def _marked(body: str, mark: str) -> str:
    return f"{body}\n\n{_mark(mark)}"


def _as_task(row: Any) -> BoardTask:
    return BoardTask(str(row["id"]), str(row.get("html_url") or ""))


def _as_issue(row: Any) -> BoardTask:
    return BoardTask(f"#{row['number']}", str(row.get("html_url") or ""))
