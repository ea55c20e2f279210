"""News of a discussion through a function of your own, in place of any channel.

Run it: python examples/notifications.py
"""

from __future__ import annotations

import asyncio
import tempfile

from roundtable import Roundtable


def send(platform: str, chat_id: str, message: str) -> None:
    """Whatever this does, slow or failing, holds up no discussion."""
    print(f"[{platform} {chat_id}] {message.splitlines()[0]}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with Roundtable(home=home, model="scripted/echo", send_fn=send) as table:
            await table.ask(
                "Should we rewrite the billing service?",
                all="scripted/stubborn",
                quick=True,
                news={
                    "channels": [{"platform": "team", "chat_id": "#billing"}],
                    "events": ["started", "speech", "concluded"],
                },
            )


if __name__ == "__main__":
    asyncio.run(main())
