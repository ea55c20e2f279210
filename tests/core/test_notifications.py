"""News: the messages that follow from a discussion's events, word for word, and their standing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import BadSetting, NotAllowed, SpeakerError
from roundtable.core.events import (
    Event,
    NewsPlanned,
    NewsRequested,
    NewsSettled,
    NewsTried,
    SpeechGiven,
    StoredEvent,
)
from roundtable.core.notifications import (
    CHAT_ROOM,
    CLAIM_SECONDS,
    MAX_ATTEMPTS,
    Outbox,
    again,
    announcement,
    outbox_of,
    requested,
)
from roundtable.core.notifications_plan import (
    CONFIDENTIAL,
    NotificationSettings,
    output_channel,
    spelled,
)
from roundtable.core.notifications_text import parted
from roundtable.core.state import fold
from roundtable.core.text import count_words
from roundtable.core.values import NEWS_KINDS, NewsChannel, NewsKind, NewsPlan
from tests.procedures.adaptive_table import hold as hold_adaptive
from tests.procedures.meeting_table import acting, asked_for, said
from tests.rehearsal import Table, run_in_virtual_time

from .samples import NOON

TEAM = NewsChannel(platform="team")
AT = "2/started/team"


def plan(*names: str, **fields: Any) -> NewsPlan:
    return NewsPlan(channels=tuple(spelled(name) for name in names or ("team",)), **fields)


def records_of(
    table: Table, news: NewsPlan | None, count: int = 2, **request: Any
) -> list[StoredEvent]:
    """The ledger of a whole meeting with this plan, of which nobody was told yet."""

    async def main() -> list[StoredEvent]:
        wanted = asked_for(count, news=news, **request)
        return await table.records(await table.ask("Should the shop move?", **wanted))

    return run_in_virtual_time(main())


def agreeing() -> Table:
    """A meeting of two rounds in which one point is agreed and one disputed."""
    return Table(
        {
            "*": acting(
                {
                    "1/discussion/arch": said("NEW: one database is simpler"),
                    "1/discussion/back": said("DISAGREE p1", "NEW: the move costs a quarter"),
                    "2/discussion/arch": said("DISAGREE p2: it is a month"),
                    "2/discussion/back": said("AGREE p1: on reflection"),
                }
            )
        }
    )


def messages(outbox: Outbox, kind: str = "", channel: str = "team") -> list[str]:
    return [
        entry.message.text
        for entry in outbox.entries.values()
        if entry.message.channel.name == channel and kind in ("", entry.message.kind)
    ]


def kinds(outbox: Outbox, channel: str = "team") -> list[str]:
    found = (each.message for each in outbox.entries.values())
    return [each.kind for each in found if each.channel.name == channel]


def going_on(
    records: Sequence[StoredEvent], *events: Event, seconds: float = 0
) -> list[StoredEvent]:
    """The ledger with more events at its end."""
    last = records[-1]
    at = last.at + timedelta(seconds=seconds)
    new = [StoredEvent(last.discussion_id, last.seq + n, at, e) for n, e in enumerate(events, 1)]
    return [*records, *new]


@pytest.fixture(scope="module")
def held() -> list[StoredEvent]:
    return records_of(agreeing(), plan(), options={"max_rounds": 2})


# What is said


@pytest.mark.requirement("D-53", "A-32")
def test_the_first_message_says_what_it_is_about_and_who_sits_there(
    held: list[StoredEvent],
) -> None:
    assert messages(outbox_of(held), "started") == [
        "🔔 Roundtable rt_00000001 started\n"
        "Should the shop move?\n"
        "Participants: Architect (Ann), Backend (Bob)\n"
        "Panel: test/captain\n"
        "Mode: MEETING · Rounds: 2\n"
        "⏳ In progress …"
    ]


@pytest.mark.requirement("D-49", "D-53")
def test_a_round_is_announced_with_its_first_speech_and_a_summary_of_the_one_before(
    held: list[StoredEvent],
) -> None:
    outbox = outbox_of(held)
    first, second = messages(outbox, "round_start")
    assert first == "🔔 Round 1 begins\nShould the shop move?"
    assert second.startswith("🔔 Round 2 begins\nRound 1: ")
    assert "MARK 0/summary-1" in second  # the host's own summary
    order = kinds(outbox)
    assert order[order.index("round_start") + 1] == "speech"


def test_without_a_summary_by_the_host_the_points_sum_a_round_up() -> None:
    options = {"max_rounds": 2, "summaries": False}
    _, second = messages(outbox_of(records_of(agreeing(), plan(), options=options)), "round_start")
    assert second == (
        "🔔 Round 2 begins\nRound 1: 0 agreed, 1 disputed, 2 new point(s). Convergence: 0.00"
    )


@pytest.mark.requirement("D-50", "D-53")
def test_a_speech_is_told_with_its_round_role_and_name_and_at_most_200_characters_of_it(
    held: list[StoredEvent],
) -> None:
    told = [text for text in messages(outbox_of(held), "speech") if "Architect" in text]
    head, _, content = told[0].partition("\n")
    assert head == "💬 Round 1 | Architect (Ann)"
    assert content.startswith("word0 word1 word2")
    assert content.endswith("…")
    assert len(content) <= 200


def test_an_emoji_of_several_characters_is_never_cut_through(held: list[StoredEvent]) -> None:
    family = "👨‍👩‍👧‍👦"
    speech = SpeechGiven(
        turn_id="9/discussion/arch",
        stage="discussion",
        round=9,
        participant="arch",
        model="m",
        text=f"{'x' * 195}{family}{'y' * 50}",
    )
    text = messages(outbox_of(going_on(held, speech)), "speech")[-1]
    assert text.endswith("x…")


@pytest.mark.requirement("D-51", "D-53")
def test_a_round_is_over_exactly_once_with_its_points_and_its_convergence(
    held: list[StoredEvent],
) -> None:
    assert messages(outbox_of(held), "round_end") == [
        "✅ Round 1 complete\n"
        "- disputed: one database is simpler\n"
        "- new: the move costs a quarter\n"
        "Convergence: 0.00",
        "✅ Round 2 complete\n"
        "- agreed: one database is simpler\n"
        "- disputed: the move costs a quarter\n"
        "Convergence: 0.50",
    ]


@pytest.mark.requirement("D-52", "D-53")
def test_the_end_is_told_with_the_conclusion_and_what_was_agreed_and_disputed(
    held: list[StoredEvent],
) -> None:
    (text,) = messages(outbox_of(held), "concluded")
    assert text.startswith("🏁 Roundtable rt_00000001 concluded\nShould the shop move?\n\n")
    verdict = fold(held).verdict
    assert verdict is not None
    assert verdict.answer in text
    assert "Consensus:\n- one database is simpler\n" in text
    assert "Disagreement:\n- the move costs a quarter" in text


def test_a_discussion_that_fails_says_so_and_what_to_do() -> None:
    dead = acting({"discussion": SpeakerError("auth", "The key was refused.", "Check the key.")})
    outbox = outbox_of(records_of(Table({"*": dead}), plan()))
    assert kinds(outbox).count("degraded") == 2
    assert (
        "⚠️ Roundtable rt_00000001 goes on with less\nAnn has no speech in round 1"
        in (messages(outbox, "degraded")[0])
    )
    (text,) = messages(outbox, "failed")
    assert text.startswith("❌ Roundtable rt_00000001 failed")
    assert "concluded" not in kinds(outbox)


def test_nobody_at_the_table_can_call_a_whole_team_or_show_a_secret(
    held: list[StoredEvent],
) -> None:
    speech = SpeechGiven(
        turn_id="9/discussion/arch",
        stage="discussion",
        round=9,
        participant="arch",
        model="m",
        text="@everyone <!channel> <@U1> <at user_id=all> sk-abcdefghijklmnopqrstuvwx",
    )
    text = messages(outbox_of(going_on(held, speech)), "speech")[-1]
    assert not any(call in text for call in ("@everyone", "<!channel", "<@U", "<at"))
    assert "abcdefghijkl" not in text


# To whom, and of what


@pytest.mark.requirement("D-47")
def test_every_channel_of_the_plan_gets_every_message_once() -> None:
    outbox = outbox_of(records_of(agreeing(), plan("team", "feishu:oc_1", "team")))
    assert kinds(outbox, "team") == kinds(outbox, "feishu:oc_1") != []
    ids = [*outbox.entries]
    assert AT in ids
    assert "2/started/feishu:oc_1" in ids


@pytest.mark.requirement("D-48")
@pytest.mark.parametrize("wanted", [("concluded",), ("round_end", "concluded"), ("speech",)])
def test_only_the_kinds_that_were_asked_for_are_told(wanted: tuple[NewsKind, ...]) -> None:
    outbox = outbox_of(records_of(agreeing(), plan(events=wanted)))
    assert set(kinds(outbox)) == set(wanted)
    assert wanted != ("concluded",) or len(kinds(outbox)) == 1


@pytest.mark.requirement("D-48")
def test_by_default_all_kinds_are_told(held: list[StoredEvent]) -> None:
    assert plan().events == NEWS_KINDS
    assert set(kinds(outbox_of(held))) == {
        "started",
        "round_start",
        "speech",
        "round_end",
        "concluded",
    }


@pytest.mark.requirement("B-58")
def test_a_chat_room_is_off_by_default_and_gets_at_most_1000_characters_of_a_speech() -> None:
    assert NotificationSettings().plan() is None
    assert NotificationSettings(channels=(TEAM,)).plan() == plan()
    room = NotificationSettings(channels=(TEAM,), enable_chat_room=True).plan()
    assert room is not None
    outbox = outbox_of(records_of(agreeing(), room))
    in_room = [len(text) for text in messages(outbox, "speech", CHAT_ROOM)]
    assert max(in_room) == 1000  # the speeches have some 1500
    assert max(len(text.partition("\n")[2]) for text in messages(outbox, "speech")) <= 200


@pytest.mark.requirement("B-63")
@pytest.mark.parametrize("news", [None, CONFIDENTIAL, NewsPlan()])
def test_without_a_plan_and_with_one_that_is_off_there_is_not_a_single_message(
    news: NewsPlan | None,
) -> None:
    assert outbox_of(records_of(agreeing(), news)).entries == {}


def test_a_plan_that_is_turned_off_stops_what_is_still_waiting(held: list[StoredEvent]) -> None:
    assert outbox_of(held).left()
    off = outbox_of(going_on(held, NewsPlanned(plan=CONFIDENTIAL)))
    assert off.left() == []
    assert off.pending("team") is None


@pytest.mark.requirement("A-31")
def test_a_thread_is_named_after_at_most_eight_words_of_the_topic_and_the_mode() -> None:
    topic = " ".join(f"word{n}" for n in range(20))
    table = Table()
    state = hold_adaptive(table, topic, news=plan("discord:1+threads"), options={"debate": True})
    outbox = outbox_of(run_in_virtual_time(table.records(state)))
    first, second, *_ = outbox.entries.values()
    assert (first.message.kind, second.message.kind) == ("thread", "started")
    name = first.message.text
    assert name == "🎯 word0 word1 word2 word3 word4 word5 word6 word7 [DEBATE]"
    assert "Mode: DEBATE · Rounds: " in second.message.text


def test_a_topic_without_spaces_still_fits_into_a_threads_name() -> None:
    records = records_of(agreeing(), plan("discord:1+threads"))
    opened = records[0].event.model_copy(update={"topic": "微服务" * 200})
    outbox = outbox_of([StoredEvent("rt_00000001", 1, NOON, opened), *records[1:2]])
    (thread, _) = outbox.entries.values()
    assert len(thread.message.text) <= 100
    assert thread.message.text.endswith("[MEETING]")


# Where a message stands


def tried(attempt: int, by: str = "a") -> NewsTried:
    return NewsTried(
        message_id=AT, kind="started", channel="team", attempt=attempt, text="t", by=by
    )


def settled(attempt: int, outcome: Any, **fields: Any) -> NewsSettled:
    return NewsSettled(message_id=AT, channel="team", attempt=attempt, outcome=outcome, **fields)


@pytest.mark.requirement("D-73")
def test_a_message_waits_is_under_way_fails_and_is_delivered(held: list[StoredEvent]) -> None:
    first = outbox_of(held).entries[AT]
    assert (first.where, first.due_at) == ("waiting", None)
    claimed = outbox_of(going_on(held, tried(1))).entries[AT]
    assert claimed.where == "under_way"
    assert claimed.due_at == held[-1].at + timedelta(seconds=CLAIM_SECONDS)
    failed = outbox_of(going_on(held, tried(1), settled(1, "failed"))).entries[AT]
    assert (failed.where, failed.due_at) == ("failed", held[-1].at + timedelta(seconds=2))
    events = (tried(1), settled(1, "failed"), tried(2), settled(2, "delivered"))
    assert outbox_of(going_on(held, *events)).entries[AT].where == "delivered"


def test_the_wait_doubles_and_a_platforms_own_wish_goes_before_it(held: list[StoredEvent]) -> None:
    waits = []
    events: list[Event] = []
    for attempt in range(1, MAX_ATTEMPTS):
        events += [tried(attempt), settled(attempt, "failed")]
        entry = outbox_of(going_on(held, *events)).entries[AT]
        assert entry.due_at is not None
        waits.append((entry.due_at - held[-1].at).total_seconds())
    assert waits == [2, 4, 8, 16, 32, 64, 128]
    assert entry.last_attempt
    own = going_on(held, tried(1), settled(1, "failed", retry_after=33.0))
    assert outbox_of(own).entries[AT].due_at == held[-1].at + timedelta(seconds=33)


def test_messages_of_a_channel_wait_for_the_one_before_and_go_on_after_it_was_given_up(
    held: list[StoredEvent],
) -> None:
    failing = outbox_of(going_on(held, tried(1), settled(1, "failed")))
    head = failing.pending("team")
    assert head is not None
    assert head.message.id == AT
    after = outbox_of(going_on(held, tried(1), settled(1, "given_up"))).pending("team")
    assert after is not None
    assert after.message.id != AT


@pytest.mark.requirement("D-73")
def test_what_was_given_up_is_due_again_when_somebody_asks_for_it(held: list[StoredEvent]) -> None:
    given_up = going_on(held, tried(1), settled(1, "given_up"))
    wish = again(outbox_of(given_up), AT, "ann")
    entry = outbox_of(going_on(given_up, wish)).entries[AT]
    assert (entry.where, entry.attempts, entry.last_attempt) == ("waiting", 1, False)
    late = outbox_of(going_on(given_up, wish, settled(1, "given_up"))).entries[AT]
    assert late.where == "waiting"  # an old outcome is not one of the new wish


def test_a_late_success_counts_although_somebody_else_took_over(held: list[StoredEvent]) -> None:
    events = (tried(1), tried(2, "b"), settled(1, "delivered"), settled(2, "failed"))
    assert outbox_of(going_on(held, *events)).entries[AT].where == "delivered"


@pytest.mark.requirement("D-18")
@pytest.mark.parametrize("kind", ["started", "round_start", "speech", "round_end", "concluded"])
def test_news_by_hand_are_one_more_message_as_things_stand(
    held: list[StoredEvent], kind: str
) -> None:
    wish = requested(outbox_of(held), kind, "ann")
    outbox = outbox_of(going_on(held, wish))
    entry = outbox.entries[f"{held[-1].seq + 1}/{kind}/team"]
    assert entry.where == "waiting"
    assert entry.message.text in messages(outbox_of(held), kind)


@pytest.mark.parametrize(
    ("news", "kind"), [(None, "concluded"), (CONFIDENTIAL, "concluded"), (plan(), "failed")]
)
def test_news_by_hand_need_somebody_to_tell_and_something_to_tell(
    news: NewsPlan | None, kind: str
) -> None:
    with pytest.raises(NotAllowed) as refused:
        requested(outbox_of(records_of(agreeing(), news)), kind, "ann")
    assert refused.value.remedy


def test_a_message_that_does_not_exist_cannot_be_sent_again(held: list[StoredEvent]) -> None:
    with pytest.raises(NotAllowed, match="no message"):
        again(outbox_of(held), "1/nothing/team", "ann")
    assert outbox_of(going_on(held, NewsRequested(kind="x", message_id="1/nothing/team"))).left()


@pytest.mark.requirement("D-71", "X-41")
def test_who_is_told_is_said_in_one_line_and_silence_is_said_too(held: list[StoredEvent]) -> None:
    assert announcement(fold(held)).startswith("News: to team; it shows the topic")
    silent = fold(records_of(agreeing(), None))
    assert announcement(silent).startswith("News: off, nobody is told")
    off = fold(records_of(agreeing(), CONFIDENTIAL))
    assert announcement(off) == "News: off for this discussion, as it was asked for."


# Plans as people write them


@pytest.mark.requirement("A-15", "A-16")
def test_an_output_of_panels_json_is_a_channel_with_or_without_threads() -> None:
    output = {"channel": "discord", "target": "123", "useThreads": True}
    assert output_channel(output) == (spelled("discord:123+threads"),)
    assert output_channel({**output, "useThreads": False}) == (spelled("discord:123"),)
    assert output_channel({"useThreads": True}) == ()


@pytest.mark.requirement("A-15")
def test_with_no_destination_news_go_to_where_the_command_came_from() -> None:
    here = spelled("chat:42")
    assert NotificationSettings().plan(here=here) == plan("chat:42")
    assert NotificationSettings(channels=(TEAM,)).plan(here=here) == plan("team")


@pytest.mark.parametrize("text", ["slack://a/b/c", "https://hooks.example/x", "", "a b", "-x"])
def test_an_address_in_place_of_a_name_is_refused_because_plans_are_stored(text: str) -> None:
    with pytest.raises(BadSetting, match="ROUNDTABLE_CHANNEL_NAME") as refused:
        spelled(text)
    assert "a/b/c" not in str(refused.value)


# Parting


@pytest.mark.requirement("I-34")
def test_a_long_message_is_parted_between_sentences() -> None:
    text = "One sentence here. Another one! And a third? The last.\nA line."
    assert parted(text, 40) == [
        "One sentence here. Another one!",
        "And a third? The last.\nA line.",
    ]
    assert parted("短句。" * 30, 50)[0].endswith("。")
    assert parted("short", 50) == ["short"]


@given(st.text(max_size=400), st.integers(50, 120))
def test_no_part_is_too_long_and_no_word_is_lost(text: str, limit: int) -> None:
    parts = parted(text, limit)
    assert all(len(part) <= limit for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert count_words(" ".join(parts)) >= count_words(text) - len(parts)
