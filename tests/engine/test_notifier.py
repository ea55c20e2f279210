"""The notifier: every message once, in order, beside the discussion and never in its way."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from roundtable.core.errors import ChannelError, LedgerBusy
from roundtable.core.events import (
    NewEvent,
    NewsPlanned,
    NewsSettled,
    NewsThreadOpened,
    NewsTried,
    StoredEvent,
)
from roundtable.core.notifications import NEWS, Outbox, outbox_of
from roundtable.core.notifications_plan import CONFIDENTIAL, spelled
from roundtable.core.state import State
from roundtable.core.values import NewsChannel, NewsPlan
from roundtable.engine.notifier import GREETING, Notifier
from roundtable.engine.service import Service
from roundtable.ledger.memory import MemoryLedger
from roundtable.notify.base import ChannelLimits, PlainChannel
from roundtable.notify.function import Function
from roundtable.ports import Ability, Channel, Ledger, Post, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from tests.procedures.meeting_table import among_themselves, said
from tests.rehearsal import Table, dutiful, run_in_virtual_time

Fault = Callable[[Post], None]


class Place(PlainChannel):
    """A channel by function that remembers what it was given. A script may raise, or hang by
    raising Hang."""

    def __init__(self, script: Fault = lambda _: None, **limits: Any) -> None:
        super().__init__(ChannelLimits(**limits))
        self.script = script
        self.calls: list[str] = []
        self.posts: list[Post] = []
        self.at: list[float] = []

    async def post(self, post: Post) -> str:
        self.calls.append("post")
        try:
            self.script(post)
        except Hang:
            await asyncio.Event().wait()
        self.posts.append(post)
        self.at.append(asyncio.get_running_loop().time())
        return f"r{len(self.posts)}"

    @property
    def texts(self) -> list[str]:
        return [post.text for post in self.posts]

    @property
    def kinds(self) -> list[str]:
        return [post.kind for post in self.posts]


class Threads(Place):
    """A channel with threads."""

    abilities: frozenset[Ability] = frozenset({"threads"})
    refuses = False

    async def open_thread(self, place: NewsChannel, name: str) -> str:
        self.calls.append(f"thread {place.chat_id} {name}")
        if self.refuses:
            raise ChannelError("No more threads.", "Tidy up.")
        return "777"


class Checked(Place):
    """A channel that can be asked whether something arrived."""

    abilities: frozenset[Ability] = frozenset({"check"})

    async def arrived(self, post: Post) -> str | None:
        self.calls.append("check")
        return next((f"seen {n}" for n, p in enumerate(self.posts) if p.text == post.text), None)


class Hang(Exception):
    """Never answer."""


def hang(_: Post) -> None:
    raise Hang


class Places:
    """Channels by platform."""

    def __init__(self, places: dict[str, Channel]) -> None:
        self.places = places
        self.closed = False

    def find(self, platform: str) -> Channel | None:
        return self.places.get(platform)

    @property
    def names(self) -> Sequence[str]:
        return tuple(self.places)

    async def close(self) -> None:
        self.closed = True


class Telling:
    """A table with a notifier."""

    def __init__(
        self, places: dict[str, Channel], ledger: Ledger | None = None, **notifier: Any
    ) -> None:
        self.table = Table(ledger=ledger)
        self.places = places
        self.notifier = self.another("notifier 1", **notifier)
        self.service = Service(
            self.table.ledger,
            self.table.service._tools,
            self.table.models,
            owner="test",
            defaults={},
            news=self.notifier,
        )

    def another(self, by: str, **more: Any) -> Notifier:
        """A notifier of another process on the same ledger."""
        return Notifier(self.table.ledger, Places(self.places), self.table.clock, by=by, **more)

    async def open(self, *names: str, **fields: Any) -> State:
        news = NewsPlan(channels=tuple(spelled(name) for name in names), **fields)
        return await self.service.open(OpenRequest(topic="Tea or coffee?", news=news))

    async def hold(self, *names: str, **fields: Any) -> State:
        state = await self.open(*names, **fields)
        return await self.service.run(state.discussion_id)

    async def outbox(self, state: State) -> Outbox:
        return outbox_of(await self.table.records(state))

    async def wheres(self, state: State) -> list[str]:
        return [entry.where for entry in (await self.outbox(state)).entries.values()]


async def duration(telling: Telling, *names: str, **fields: Any) -> tuple[State, float]:
    begun = telling.table.clock.monotonic()
    state = await telling.hold(*names, **fields)
    return state, telling.table.clock.monotonic() - begun


def quiet_seconds() -> float:
    """How long the same discussion takes when nobody is told of it."""

    async def main() -> float:
        telling = Telling({})
        begun = telling.table.clock.monotonic()
        state = await telling.service.open(OpenRequest(topic="Tea or coffee?"))
        await telling.service.run(state.discussion_id)
        return telling.table.clock.monotonic() - begun

    return run_in_virtual_time(main())


# Telling


@pytest.mark.requirement("D-47", "X-29")
def test_three_channels_hear_the_same_in_the_same_order() -> None:
    async def main() -> None:
        places = {"a": Place(), "b": Threads(), "c": Checked()}
        telling = Telling({**places})
        state = await telling.hold("a:1", "b:2", "c:3")
        assert await telling.notifier.close() == []
        assert places["a"].texts == places["b"].texts == places["c"].texts
        assert places["a"].kinds[0] == "started"
        assert places["a"].kinds[-1] == "concluded"
        assert places["a"].kinds.count("round_end") == 2
        assert set(await telling.wheres(state)) == {"delivered"}

    run_in_virtual_time(main())


def test_the_outbox_keeps_what_was_sent_by_whom_and_what_the_channel_calls_it() -> None:
    async def main() -> None:
        place = Place()
        telling = Telling({"a": place})
        state = await telling.hold("a", events=("concluded",))
        await telling.notifier.close()
        news = [r.event for r in await telling.table.records(state) if "News" in r.event.type]
        _, tried, settled = news
        assert isinstance(tried, NewsTried)
        assert isinstance(settled, NewsSettled)
        assert (tried.by, tried.attempt, tried.text) == ("notifier 1", 1, place.texts[0])
        assert (settled.outcome, settled.receipt) == ("delivered", "r1")

    run_in_virtual_time(main())


@pytest.mark.requirement("B-63")
def test_a_confidential_discussion_is_told_to_nobody_even_if_the_settings_want_it() -> None:
    async def main() -> None:
        place = Place()
        usual = NewsPlan(channels=(spelled("a"),))
        telling = Telling({"a": place}, default=lambda _: usual)
        opened = await telling.service.open(OpenRequest(topic="Tea?", news=CONFIDENTIAL))
        state = await telling.service.run(opened.discussion_id)
        assert place.calls == []
        assert [n.text for n in state.notes if n.code == NEWS] == [
            "News are off for this discussion: nobody is told of it, on no channel."
        ]
        told = await telling.service.open(OpenRequest(topic="Tea?"))
        assert told.notification_plan == usual

    run_in_virtual_time(main())


# Off the path


@pytest.mark.requirement("D-55")
@pytest.mark.parametrize("kind", ["raises", "hangs", "refuses"])
def test_a_sender_that_raises_or_hangs_neither_breaks_nor_delays_a_discussion(kind: str) -> None:
    async def send(*_: str) -> object:
        if kind == "hangs":
            await asyncio.Event().wait()
        if kind == "raises":
            raise RuntimeError("sk-abcdefghijklmnopqrstuvwx is broken")
        return False

    async def main() -> None:
        telling = Telling({"a": Function(send)})
        state, seconds = await duration(telling, "a:1")
        assert seconds == quiet
        assert state.status == "concluded"
        assert len(state.speeches) == 9  # as many as ever
        left = await telling.notifier.close()
        assert left
        (entry,) = [e for e in (await telling.outbox(state)).entries.values() if e.attempts]
        assert kind == "hangs" or entry.where == "failed"
        assert "abcdefghijkl" not in str(await telling.table.records(state))

    quiet = quiet_seconds()
    run_in_virtual_time(main())


def test_a_channel_that_hangs_holds_up_no_other_channel() -> None:
    async def main() -> None:
        good = Place()
        telling = Telling({"bad": Place(hang), "good": good})
        state = await telling.hold("bad", "good")
        left = await telling.notifier.close()
        assert {entry.message.channel.name for _, entry in left} == {"bad"}
        assert good.kinds[-1] == "concluded"
        assert state.status == "concluded"

    run_in_virtual_time(main())


@pytest.mark.requirement("D-75")
def test_every_attempt_leaves_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        def refuse(post: Post) -> None:
            if post.place.platform == "b":
                raise ChannelError("token=abcdefghijkl1234567 is wrong", permanent=True)

        telling = Telling({"a": Place(), "b": Place(refuse)})
        await telling.hold("a:42", "b:7", events=("concluded",))
        await telling.notifier.close()

    with caplog.at_level(logging.DEBUG, "roundtable.news"):
        run_in_virtual_time(main())
    lines = [record.getMessage() for record in caplog.records]
    (ok,) = [line for line in lines if "platform=a" in line]
    assert "chat=42 kind=concluded length=" in ok
    assert ok.endswith(" ok")
    (bad,) = [line for line in lines if "platform=b" in line]
    assert "given_up: " in bad
    assert "abcdefghijkl" not in bad


# Again


@pytest.mark.requirement("D-73")
def test_a_message_that_failed_is_tried_again_after_a_growing_wait_until_it_arrives() -> None:
    async def main() -> None:
        failures = [ChannelError("busy"), ChannelError("busy", retry_after=30.0)]
        begun: list[float] = []

        def flaky(_: Post) -> None:
            begun.append(asyncio.get_running_loop().time())
            if failures:
                raise failures.pop(0)

        place = Place(flaky)
        telling = Telling({"a": place})
        state = await telling.hold("a", events=("concluded",))
        left = await telling.notifier.pump([state.discussion_id], patience=100)
        assert left == []
        assert [round(b - a) for a, b in itertools.pairwise(begun)] == [2, 30]
        (entry,) = (await telling.outbox(state)).entries.values()
        assert (entry.where, entry.attempts) == ("delivered", 3)
        await telling.notifier.close()

    run_in_virtual_time(main())


def test_after_eight_attempts_a_message_is_given_up_and_the_next_one_goes_out() -> None:
    async def main() -> None:
        def picky(post: Post) -> None:
            if post.kind == "started":
                raise ChannelError("no")

        place = Place(picky)
        telling = Telling({"a": place})
        state = await telling.hold("a", events=("started", "concluded"))
        assert await telling.notifier.pump([state.discussion_id], patience=600) == []
        assert len(place.calls) == 9
        assert place.kinds == ["concluded"]
        assert await telling.wheres(state) == ["given_up", "delivered"]
        await telling.notifier.close()

    run_in_virtual_time(main())


@pytest.mark.requirement("D-73")
def test_what_was_given_up_can_be_sent_again_by_hand() -> None:
    async def main() -> None:
        wrong = [True]

        def misconfigured(_: Post) -> None:
            if wrong:
                raise ChannelError("401", "Set the token.", permanent=True)

        place = Place(misconfigured)
        telling = Telling({"a": place})
        state = await telling.hold("a", events=("concluded",))
        await telling.notifier.close()
        (entry,) = (await telling.outbox(state)).entries.values()
        assert (entry.where, entry.attempts) == ("given_up", 1)
        assert entry.settled is not None
        assert entry.settled.remedy == "Set the token."
        wrong.clear()
        later = telling.another("notifier 2")
        assert await later.resend(state.discussion_id, by="ann") == [entry.message.id]
        assert await later.pump([state.discussion_id]) == []
        await later.close()
        assert place.kinds == ["concluded"]
        assert await telling.wheres(state) == ["delivered"]

    run_in_virtual_time(main())


@pytest.mark.requirement("D-18")
def test_news_fired_by_hand_arrive_once() -> None:
    async def main() -> None:
        place = Place()
        telling = Telling({"a": place})
        state = await telling.hold("a", events=("failed",))
        assert place.posts == []
        (sent,) = await telling.notifier.fire(state.discussion_id, "concluded", by="ann")
        await telling.notifier.pump([state.discussion_id])
        await telling.notifier.close()
        assert place.kinds == ["concluded"]
        assert (await telling.outbox(state)).entries[sent].where == "delivered"

    run_in_virtual_time(main())


# Several notifiers, and those that are gone


def test_two_couriers_send_every_message_once() -> None:
    async def main() -> None:
        place = Place()
        telling = Telling({"a": place})
        others = [telling.another(f"notifier {n}") for n in range(2, 5)]
        state = await telling.open("a")
        for other in others:
            other.start(state.discussion_id)
        await telling.service.run(state.discussion_id)
        for notifier in (telling.notifier, *others):
            assert await notifier.close() == []
        assert place.kinds.count("started") == place.kinds.count("concluded") == 1
        assert len(place.posts) == len((await telling.outbox(state)).entries)

    run_in_virtual_time(main())


async def _left_by_a_crash(telling: Telling) -> State:
    """A message was claimed, perhaps sent, and its notifier is no more."""
    state = await telling.open("a", events=("started",))
    seq = state.seq
    claim = NewsTried(
        message_id=f"{seq}/started/a",
        kind="started",
        channel="a",
        attempt=1,
        text="t",
        by="dead",
    )
    await telling.service.record(state.discussion_id, claim, key=f"news/{claim.message_id}/1")
    return state


def test_what_a_dead_process_had_claimed_is_taken_over_at_once() -> None:
    async def main() -> None:
        place = Place()
        telling = Telling({"a": place})
        state = await _left_by_a_crash(telling)
        heir = telling.another("heir", is_gone=lambda by: by == "dead")
        assert await heir.pump([state.discussion_id], patience=5) == []
        await heir.close()
        assert place.kinds == ["started"]
        (entry,) = (await telling.outbox(state)).entries.values()
        assert (entry.where, entry.attempts) == ("delivered", 2)

    run_in_virtual_time(main())


def test_a_claim_of_somebody_who_may_be_alive_is_respected_until_it_runs_out() -> None:
    async def main() -> None:
        place = Place()
        telling = Telling({"a": place})
        state = await _left_by_a_crash(telling)
        heir = telling.another("heir")
        assert len(await heir.pump([state.discussion_id], patience=60)) == 1
        assert place.posts == []
        assert await heir.pump([state.discussion_id], patience=600) == []
        assert place.kinds == ["started"]
        await heir.close()

    run_in_virtual_time(main())


@pytest.mark.requirement("D-74")
def test_a_channel_that_can_be_asked_is_asked_before_a_doubtful_message_is_sent_again() -> None:
    async def main() -> None:
        place = Checked()
        telling = Telling({"a": place})
        state = await _left_by_a_crash(telling)
        text = next(iter((await telling.outbox(state)).entries.values())).message.text
        place.posts.append(Post(spelled("a"), text, state.discussion_id, "started", "k"))
        heir = telling.another("heir", is_gone=lambda _: True)
        await heir.pump([state.discussion_id], patience=5)
        await heir.close()
        assert place.calls == ["check"]
        (entry,) = (await telling.outbox(state)).entries.values()
        assert entry.settled is not None
        assert (entry.where, entry.settled.receipt) == ("delivered", "seen 0")

    run_in_virtual_time(main())


def test_the_next_process_takes_up_what_is_left_of_a_closed_discussion() -> None:
    async def main() -> None:
        stuck, place = Place(hang), Place()
        telling = Telling({"a": stuck})
        first = await telling.hold("a")
        left = await telling.notifier.close()
        assert len(left) == len(await telling.wheres(first)) > 5
        telling.places["a"] = place
        heir = telling.another("heir", is_gone=lambda by: by == "notifier 1")
        telling.service._notifications = heir
        second = await telling.hold("a")  # whoever drives next, drives anything
        assert await heir.close() == []
        assert {post.discussion_id for post in place.posts} == {
            first.discussion_id,
            second.discussion_id,
        }
        assert set(await telling.wheres(first)) == {"delivered"}

    run_in_virtual_time(main())


def test_an_outcome_that_cannot_be_recorded_now_is_recorded_later_and_not_sent_twice() -> None:
    class Moody(MemoryLedger):
        refusals = 2

        async def append(
            self, discussion_id: str, events: Sequence[NewEvent], **how: Any
        ) -> list[StoredEvent]:
            if self.refusals and any(isinstance(e.event, NewsSettled) for e in events):
                self.refusals -= 1
                raise LedgerBusy("Somebody else writes.")
            return await super().append(discussion_id, events, **how)

    async def main() -> None:
        place = Place()
        telling = Telling({"a": place}, Moody())
        state = await telling.hold("a", events=("concluded",))
        assert await telling.notifier.pump([state.discussion_id]) == []
        await telling.notifier.close()
        assert place.kinds == ["concluded"]

    run_in_virtual_time(main())


def test_people_who_talk_among_themselves_are_told_of_without_anybody_driving() -> None:
    async def main() -> None:
        place = Place()
        telling = Telling({"a": place})
        telling.table.service = telling.service
        id_ = await among_themselves(telling.table, 2)
        plan = NewsPlan(channels=(spelled("a"),))
        await telling.service.record(id_, NewsPlanned(plan=plan))
        await telling.service.speak(id_, "arch", said("NEW: tea is better"))
        await telling.service.speak(id_, "back", said("AGREE p1"))
        await telling.notifier.pump([id_])
        await telling.notifier.close()
        assert place.kinds[:4] == ["started", "round_start", "speech", "speech"]
        assert "round_end" in place.kinds

    run_in_virtual_time(main())


# Limits


@pytest.mark.requirement("I-34")
def test_fifty_messages_at_once_keep_their_order_and_the_channels_pace() -> None:
    async def main() -> None:
        place = Place(interval=1.5)
        telling = Telling({"a": place})
        states = [await telling.open("a", events=("started",)) for _ in range(50)]
        left = await telling.notifier.pump([s.discussion_id for s in states], patience=200)
        assert left == []
        assert len(place.posts) == 50
        gaps = [b - a for a, b in itertools.pairwise(place.at)]
        assert min(gaps) >= 1.5 - 1e-6
        await telling.notifier.close()

    run_in_virtual_time(main())


@pytest.mark.requirement("I-34")
def test_a_message_beyond_the_channels_limit_arrives_in_parts_and_no_part_twice() -> None:
    async def main() -> None:
        failures = [False, True]

        def flaky(_: Post) -> None:
            if failures and failures.pop(0):
                raise ChannelError("cut off")

        place = Place(flaky, limit=60)
        telling = Telling({"a": place})
        state = await telling.hold("a", events=("started",))
        await telling.notifier.pump([state.discussion_id])
        await telling.notifier.close()
        (entry,) = (await telling.outbox(state)).entries.values()
        assert (entry.where, entry.attempts) == ("delivered", 2)
        assert all(len(text) <= 60 for text in place.texts)
        assert "\n".join(place.texts).split() == entry.message.text.split()
        assert len({post.key for post in place.posts}) == len(place.posts)

    run_in_virtual_time(main())


# Threads


@pytest.mark.requirement("A-30", "A-33", "A-35", "A-16", "X-46")
def test_the_thread_is_made_before_anybody_speaks_and_everything_is_posted_in_it() -> None:
    async def main() -> None:
        place = Threads()
        telling = Telling({"discord": place})
        asked: list[int] = []

        def speak(request: SpeakRequest) -> str:
            asked.append(len(place.calls))
            return dutiful(request)

        telling.table.voices["*"].script = speak
        state = await telling.hold("discord:123+threads")
        await telling.notifier.close()
        assert place.calls[0] == "thread 123 🎯 Tea or coffee? [COUNCIL]"
        assert min(asked) >= 1
        assert {post.thread_id for post in place.posts} == {"777"}
        assert place.kinds.count("round_end") == 2
        assert place.kinds[-1] == "concluded"
        opened = [
            r.event
            for r in await telling.table.records(state)
            if isinstance(r.event, NewsThreadOpened)
        ]
        assert [(e.channel, e.thread_id) for e in opened] == [("discord:123", "777")]

    run_in_virtual_time(main())


@pytest.mark.requirement("A-16")
def test_without_the_wish_for_threads_none_is_made() -> None:
    async def main() -> None:
        place = Threads()
        telling = Telling({"discord": place})
        await telling.hold("discord:123")
        await telling.notifier.close()
        assert set(place.calls) == {"post"}
        assert {post.thread_id for post in place.posts} == {""}

    run_in_virtual_time(main())


@pytest.mark.requirement("A-34")
def test_a_thread_that_cannot_be_made_is_done_without_and_the_reader_is_told() -> None:
    async def main() -> None:
        place = Threads()
        place.refuses = True
        telling = Telling({"discord": place})
        state = await telling.hold("discord:123+threads")
        await telling.notifier.pump([state.discussion_id])
        await telling.notifier.close()
        assert state.status == "concluded"
        assert place.kinds[0] == "started"
        assert {post.thread_id for post in place.posts} == {""}
        after = await telling.service.read(state.discussion_id)
        (note,) = [n for n in after.notes if n.code == NEWS]
        assert note.text == (
            "No thread could be made on discord: No more threads. News goes straight into it."
        )

    run_in_virtual_time(main())


def test_a_discussion_waits_only_a_moment_for_a_thread_that_does_not_come() -> None:
    class Stuck(Threads):
        async def open_thread(self, place: NewsChannel, name: str) -> str:
            await asyncio.Event().wait()
            return f"{place.name} {name}"

    async def main() -> None:
        telling = Telling({"discord": Stuck()})
        state, seconds = await duration(telling, "discord:1+threads")
        assert state.status == "concluded"
        assert seconds == pytest.approx(quiet + GREETING)
        await telling.notifier.close()

    quiet = quiet_seconds()
    run_in_virtual_time(main())


# Said aloud


@pytest.mark.requirement("D-70", "X-41")
def test_news_that_cannot_be_sent_are_noted_at_the_opening_with_what_to_set() -> None:
    class Lacking(Place):
        def problem(self, place: NewsChannel) -> tuple[str, str] | None:
            return f"{place.name} needs a token.", "Set THE_TOKEN."

    async def main() -> None:
        telling = Telling({"half": Lacking(), "plain": Place()})
        state = await telling.open("nowhere:1", "half", "plain+threads")
        notes = [note for note in state.notes if note.code == NEWS]
        assert [note.text for note in notes] == [
            "News cannot be sent: no channel 'nowhere' is set up.",
            "News for half cannot be sent: half needs a token.",
            "plain has no threads, so news go straight into the channel.",
        ]
        assert "ROUNDTABLE_CHANNEL_NOWHERE" in notes[0].remedy
        assert notes[1].remedy == "Set THE_TOKEN."
        await telling.notifier.close()

    run_in_virtual_time(main())


def test_messages_for_a_channel_that_is_not_set_up_wait_until_it_is() -> None:
    async def main() -> None:
        telling = Telling({})
        state = await telling.hold("late", events=("concluded",))
        assert len(await telling.notifier.close()) == 1
        place = Place()
        telling.places["late"] = place
        later = telling.another("later")
        assert await later.pump([state.discussion_id]) == []
        await later.close()
        assert place.kinds == ["concluded"]

    run_in_virtual_time(main())


def test_a_discussion_that_is_deleted_ends_its_news() -> None:
    async def main() -> None:
        telling = Telling({"a": Place(hang)})
        state = await telling.hold("a")
        await telling.service.delete(state.discussion_id)
        assert await telling.notifier.close() == [], "nothing is left to tell of it"

    run_in_virtual_time(main())


def test_a_route_is_forgotten_when_all_is_told() -> None:
    async def main() -> None:
        telling = Telling({"a": Place()})
        state = await telling.hold("a")
        await telling.notifier.pump([state.discussion_id])
        for _ in range(10):
            await asyncio.sleep(0)
        assert telling.notifier._routes == {}
        await telling.notifier.close()

    run_in_virtual_time(main())
