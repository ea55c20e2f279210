"""A release plan as a decision document, from a meeting that people hold among themselves.

Run it: python examples/release_planning.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from roundtable import Roundtable

SPEECHES = {
    "product": "Two customers wait for the import.\n\n## Points\n"
    "- NEW: the import ships first, alone\n- ACTION: Tell the two customers - Owner: Product",
    "backend": "The import is done, the new search is not.\n\n## Points\n"
    "- AGREE p1: it stands on its own\n- ACTION: Cut the release branch - Owner: Backend",
    "test": "I can test the import by Thursday, the search not this month.\n\n## Points\n"
    "- AGREE p1: less to test\n- ACTION: Test the import on real files - Owner: Test",
}


async def hold(folder: str) -> None:
    async with Roundtable(home=folder, workspace=folder) as table:
        seats = [{"profile": name, "role": name.title(), "model": "outside"} for name in SPEECHES]
        state = await table.open(
            "What goes into the release of next week?",
            procedure="meeting",
            participants=seats,
            host="outside",
            max_rounds=2,
            format="decision",
            output_path="docs/release.md",
        )
        for name, words in SPEECHES.items():
            await table.speak(state.discussion_id, name, words)
        # The one point has converged, so the meeting may have ended by itself.
        if (await table.read(state.discussion_id)).closed is None:
            await table.conclude(state.discussion_id, "The import ships on Friday, alone.")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(hold(folder))
        print(Path(folder, "docs", "release.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
