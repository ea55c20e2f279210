"""A release plan as a decision document, from a meeting of people.

Run it: python examples/release_planning.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from roundtable import Roundtable

POSITION = "The import ships first, alone."
AGREED = [{"id": "p1", "stance": "agree", "text": "it stands on its own"}]
SPEECHES: dict[str, tuple[str, dict[str, Any]]] = {
    "product": (
        "Two customers wait for the import.",
        {
            "new_points": ["The import can ship without the new search."],
            "actions": [{"what": "Tell the two customers", "owner": "Product"}],
        },
    ),
    "backend": (
        "The import is done, the new search is not.",
        {
            "stances": AGREED,
            "actions": [{"what": "Cut the release branch", "owner": "Backend"}],
        },
    ),
    "test": (
        "I can test the import by Thursday, the search not this month.",
        {
            "stances": AGREED,
            "actions": [{"what": "Test the import on real files", "owner": "Test"}],
        },
    ),
}
"""What each of them says and declares. Only the declaration is counted."""


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
        for name, (words, declared) in SPEECHES.items():
            declaration = {"position": POSITION, **declared}
            await table.speak(state.discussion_id, name, words, declaration)
        # Their positions are on the table now, to be voted on; the chair need not wait for that.
        await table.conclude(state.discussion_id, "The import ships on Friday, alone.")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(hold(folder))
        print(Path(folder, "docs", "release.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
