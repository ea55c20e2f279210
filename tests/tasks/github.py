"""GitHub's issues on loopback: the part of its REST API that a board needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.search.server import Answer, Asked, answer


@dataclass
class GitHub:
    """One repository. `fails` are the statuses of the next answers, before it works again."""

    comments: dict[int, list[dict[str, Any]]] = field(default_factory=lambda: {7: []})
    issues: list[dict[str, Any]] = field(default_factory=list)
    fails: list[int] = field(default_factory=list)
    forgets: bool = False
    """It writes, and the answer is lost on the way."""

    def __call__(self, asked: Asked) -> Answer:
        if asked.headers.get("authorization") != "Bearer t0ken":
            return answer({"message": "Bad credentials"}, 401)
        if self.fails:
            return answer({"message": "t0ken is not welcome"}, self.fails.pop(0))
        parts = asked.path.removeprefix("/repos/shop/site/").split("/")
        match asked.method, parts:
            case "GET", ["issues"]:
                assert asked.params["state"] == "all"
                return answer(self._page(asked, self.issues))
            case "POST", ["issues"]:
                issue = {**asked.body, "number": 100 + len(self.issues)}
                issue["html_url"] = f"http://127.0.0.1/{issue['number']}"
                self.issues.append(issue)
                return self._written(issue)
            case "GET", ["issues", number, "comments"] if int(number) in self.comments:
                return answer(self._page(asked, self.comments[int(number)]))
            case "POST", ["issues", number, "comments"] if int(number) in self.comments:
                there = self.comments[int(number)]
                comment = {**asked.body, "id": 1 + len(there), "html_url": "http://127.0.0.1/c"}
                there.append(comment)
                return self._written(comment)
        return answer({"message": "Not Found"}, 404)

    def _written(self, row: dict[str, Any]) -> Answer:
        if self.forgets:
            self.forgets = False
            return answer({}, 502)
        return answer(row, 201)

    def _page(self, asked: Asked, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        size, page = int(asked.params["per_page"]), int(asked.params["page"])
        return rows[(page - 1) * size : page * size]
