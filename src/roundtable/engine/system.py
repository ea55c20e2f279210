"""The real clock and the real dice."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SystemIds:
    """The operating system's randomness."""

    def discussion(self) -> str:
        return f"rt_{secrets.token_hex(4)}"

    def nonce(self) -> str:
        return secrets.token_hex(6)

    def seed(self) -> int:
        return secrets.randbelow(2**31)

    def jitter(self) -> float:
        return random.uniform(0.5, 1.5)  # noqa: S311 - spreads retries, protects nothing
