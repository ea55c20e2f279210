"""What must be true of a discussion after any crash, told by its ledger and the provider's log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from roundtable.core.events import StoredEvent
from roundtable.core.state import Attempt, State, fold
from roundtable.ledger import open_ledger
from tests.servers import ProviderServer

STAGES = {
    "briefing": ("0/briefing/captain",),
    "answer": ("1/answer/scholar", "1/answer/engineer", "1/answer/muse"),
    "summary": ("0/summary/captain",),
    "cross-examination": tuple(
        f"2/cross-examination/{name}" for name in ("scholar", "engineer", "muse")
    ),
    "synthesis": ("0/synthesis/captain",),
}
TURNS = {turn for turns in STAGES.values() for turn in turns}


@dataclass(frozen=True)
class Story:
    """A discussion's events, and what they add up to."""

    records: Sequence[StoredEvent]
    state: State
    driver: str | None

    @property
    def attempts(self) -> dict[str, Attempt]:
        """Every attempt by its idempotency key at the provider."""
        return {
            f"{self.state.discussion_id}/{turn.id}/{number}": attempt
            for turn in self.state.turns.values()
            for number, attempt in enumerate(turn.attempts, 1)
        }

    @property
    def in_flight(self) -> set[str]:
        return {key for key, attempt in self.attempts.items() if attempt.in_flight}

    @property
    def answered(self) -> set[str]:
        return {key for key, attempt in self.attempts.items() if attempt.finished}

    def failed(self, cause: str) -> set[str]:
        return {
            key
            for key, attempt in self.attempts.items()
            if attempt.failed and attempt.failed.cause == cause
        }


def read_story(db: str) -> Story | None:
    """The only discussion of a ledger; None if nobody got as far as opening one."""

    async def main() -> Story | None:
        ledger = await open_ledger(db)
        try:
            summaries = await ledger.summaries()
            if not summaries:
                return None
            (headline,) = summaries
            records = await ledger.read(headline.discussion_id)
            assert [record.seq for record in records] == list(range(1, len(records) + 1))
            assert len(records) >= headline.last_seq
            return Story(records, fold(records), headline.driver)
        finally:
            await ledger.close()

    return asyncio.run(main())


def check_concluded(story: Story, server: ProviderServer) -> None:
    """The verdict is there; each turn was answered once, and paid for once."""
    state = story.state
    assert state.status == "concluded"
    assert state.verdict is not None
    assert state.turns.keys() == TURNS
    assert all(turn.speech for turn in state.turns.values())
    assert story.driver is None
    # One journalled answer for each turn, and it is the turn's last attempt: nothing came after.
    last = {f"{state.discussion_id}/{t.id}/{len(t.attempts)}" for t in state.turns.values()}
    assert story.answered == last
    # The provider saw each attempt at most once, and none that the ledger does not know.
    calls = [request.idempotency_key for request in server.requests]
    assert len(calls) == len(set(calls))
    assert set(calls) <= story.attempts.keys()
    # What it answered in full is either in the ledger, or counted there as lost or cancelled.
    finished = {r.idempotency_key for r in server.requests if r.state == "finished"}
    assert story.answered <= finished
    assert finished <= story.answered | story.failed("lost") | story.failed("cancelled")
    assert state.usage.calls == len(story.attempts)


def check_resumed(before: Story, after: Story) -> None:
    """What one process had done stands; only what it left in flight was done again."""
    assert after.records[: len(before.records)] == before.records
    assert before.answered <= after.answered
    assert after.failed("lost") == before.in_flight | before.failed("lost")
    again = {key.rpartition("/")[0] for key in before.answered}
    new = {key.rpartition("/")[0] for key in after.attempts.keys() - before.attempts.keys()}
    assert not again & new
