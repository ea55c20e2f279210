"""`roundtable demo`: does everything work here? A meeting without a model says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bootstrap import App
from ...core.effects import DELIVERED, KEPT
from ...core.values import NEWS_KINDS, NewsChannel, NewsPlan
from ..demo import Demo, run_demo
from ..recorded import recorded_examples
from ..stored_files import DEMO
from .here import settings_here
from .page import plan_here
from .terminal import echo_error
from .verdict import Verdict, print_verdict
from .with_app import with_app

NEWS = NewsPlan(
    channels=(NewsChannel(platform="stdout"),),
    events=tuple(kind for kind in NEWS_KINDS if kind != "concluded"),
)
"""What it came to stands below the news already, as the verdict."""


def demo_command(flags: Mapping[str, Any]) -> int:
    async def work(app: App) -> Demo:
        web = plan_here(app.settings, flags, confidential=False).serve
        return await run_demo(app, web=web, pace=flags["pace"], news=NEWS, tell=echo_error)

    # Whoever tries it out may stand in any folder: what it writes is no document of that one.
    folder = settings_here(tell=False, reading=True).home / DEMO
    demo = with_app(work, files=folder)
    state = demo.state
    print_verdict(Verdict.of(state))
    for note in state.notes:
        if note.code == DELIVERED:
            echo_error(f"{note.text}, in {folder}")
        elif note.code == KEPT:
            echo_error(note.text)
    if demo.web_url:
        echo_error("The page is still served: roundtable serve --stop ends it.")
    recorded = recorded_examples()[0]
    echo_error(f"No model was used here. A recorded discussion: {recorded.title}")
    echo_error(f"   {recorded.answer}")
    echo_error(f"   Read it: roundtable show --example {recorded.name}")
    echo_error("   All recordings: roundtable examples")
    return 0
