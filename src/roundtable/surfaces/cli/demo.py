"""`roundtable demo`: does everything work here? A meeting without a model says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bootstrap import App
from ...core.effects import DELIVERED, KEPT
from ...procedures import procedure_spec
from ...version import __version__
from ..demo import Demo, run_demo
from ..recorded import recorded_examples
from .terminal import echo_error, print_markdown
from .with_app import with_app


def demo_command(flags: Mapping[str, Any]) -> int:
    async def work(app: App) -> Demo:
        return await run_demo(app, web=flags["web"], pace=flags["pace"], tell=echo_error)

    demo = with_app(work)
    state = demo.state
    print_markdown(procedure_spec(state.start.procedure).deliver(state, __version__))
    for note in state.notes:
        if note.code in (DELIVERED, KEPT):
            echo_error(note.text)
    echo_error(f"All of it: roundtable show {state.discussion_id}")
    recorded = recorded_examples()[0]
    echo_error(f"No model spoke here. With a real one, recorded: {recorded.title}")
    echo_error(f"   {recorded.answer}")
    echo_error(f"   Read it: roundtable show --example {recorded.name}")
    echo_error("   All that were recorded: roundtable examples")
    return 0
