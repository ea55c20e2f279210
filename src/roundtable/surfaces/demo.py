"""The quick verification: a small meeting that exercises everything and calls no model.

The coordinator speaks for everybody, news are sent, the page is served, the conclusion is written:
whoever sees it end knows that the pipeline works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..bootstrap import App
from ..core.errors import UsageError
from ..core.state import State
from ..core.values import NewsChannel, NewsPlan
from ..procedures.follow_up import DEMONSTRATION
from .opening import open_request

TOPIC = "Should the release go out on Friday, or wait for the load test?"
SEATS = (
    {"profile": "product", "role": "Product", "perspective": "customers who were promised a date"},
    {"profile": "backend", "role": "Backend", "perspective": "what breaks under load"},
    {"profile": "ops", "role": "Operations", "perspective": "who is awake when it breaks"},
)
OPENING = (
    "This is a rehearsal: I speak for everybody, and no model is called. We decide on the date of "
    "the release."
)
WAIT = "Wait for the load test, and tell the two customers today."
"""What everybody at this table holds: what they differ on is a detail."""


def _declares(
    *stances: tuple[str, str, str], new: Sequence[str] = (), action: str = "", owner: str = ""
) -> dict[str, Any]:
    return {
        "position": WAIT,
        "votes": [{"on": "d1", "before": "o1", "choice": "o1"}],
        "stances": [{"id": i, "stance": stance, "text": text} for i, stance, text in stances],
        "new_points": list(new),
        "actions": [{"what": action, "owner": owner}] if action else [],
    }


AGREED = (("p1", "agree", ""), ("p2", "agree", ""))
SPEECHES = (
    (
        "product",
        "Friday was promised to two customers. A week later costs us an apology, not a contract.",
        _declares(
            new=(
                "The release waits until the load test has passed.",
                "The two customers are told today.",
            )
        ),
    ),
    (
        "backend",
        "The queue has never seen the traffic of the new import. I will not guess what it does.",
        _declares(
            *AGREED,
            new=("The load test runs on Monday.",),
            action="Run the load test",
            owner="Backend",
        ),
    ),
    (
        "ops",
        "On a Friday evening two people are on call, and neither knows the import.",
        _declares(
            *AGREED,
            ("p3", "disagree", "the staging data is weeks old"),
            action="Refresh the staging data",
            owner="Operations",
        ),
    ),
    (
        "product",
        "A week is fine if the customers hear it from us first.",
        _declares(("p3", "agree", ""), action="Write to the two customers", owner="Product"),
    ),
    ("backend", "Fresh data first, then the test: Tuesday at the latest.", _declares(*AGREED)),
    (
        "ops",
        "Refreshing takes a day, so Monday is too early. Everything else stands.",
        _declares(*AGREED, ("p3", "disagree", "the data is fresh on Tuesday")),
    ),
)
CONCLUSION = (
    "The release waits for the load test, which runs on fresh data by Tuesday; the two customers "
    "are told today."
)


@dataclass(frozen=True, slots=True)
class Demo:
    """What a verification left behind."""

    state: State
    web_url: str | None


async def run_demo(
    app: App,
    *,
    web: bool = True,
    news: NewsPlan | None = None,
    pace: float = 0.0,
    tell: Callable[[str], None] = lambda _: None,
) -> Demo:
    """Hold the meeting through the same doors as any other. `web` serves the page, and its address
    is told before the first speech; `pace` are seconds between two speeches, for whoever watches.
    Without `news` they go to standard output."""
    service = app.service
    plan = news or NewsPlan(channels=(NewsChannel(platform="stdout"),))
    seats = [{**seat, "model": "outside"} for seat in SEATS]
    state = await service.open(
        open_request(
            app.settings,
            TOPIC,
            surface="python",
            procedure="meeting",
            options={"participants": seats, "host": "outside", "max_rounds": 3},
            created_by=DEMONSTRATION,
            search=False,
            news=plan,
        )
    )
    id_ = state.discussion_id
    url = None
    if web:
        try:
            url = await _page(app, id_)
        except UsageError as absent:  # the page is an extra, and everything else works without it
            tell(f"Without the page. {absent}")
    tell(f"Discussion {id_}")
    if url:
        tell(f"Watch it: {url}")
    await service.speak(id_, "coordinator", OPENING)
    for who, words, declaration in SPEECHES:
        await asyncio.sleep(pace)
        await service.speak(id_, who, words, declaration)
    return Demo(await service.conclude(id_, CONCLUSION), url)


async def _page(app: App, discussion_id: str) -> str:
    from .web.found import ensure_server, page_url
    from .web.links import links_of

    found = await ensure_server(app.settings)
    return page_url(found, links_of(app.settings), discussion_id)
