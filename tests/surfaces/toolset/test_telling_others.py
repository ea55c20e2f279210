"""News of discussions that are held through the tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.core.errors import NotAllowed, UnknownName
from roundtable.core.values import NewsChannel, NewsPlan

from .tables import TOLD, started, tools

Sent = list[tuple[str, str, str]]


@pytest.mark.requirement("D-18", "D-21")
async def test_a_chosen_event_is_sent_by_hand_exactly_once(tmp_path: Path) -> None:
    sent: Sent = []
    quiet = TOLD.model_copy(update={"events": ("concluded",)})

    def send(platform: str, chat_id: str, message: str) -> None:
        sent.append((platform, chat_id, message))

    async with tools(tmp_path, send_fn=send, notifications=quiet) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", "A first word.")
        told = await toolset.notify(id_, "speech", key="once")
        again = await toolset.notify(id_, "speech", key="once")
        assert [(each.event, each.status) for each in told.deliveries] == [("speech", "delivered")]
        assert again.deliveries == told.deliveries
        assert [(platform, chat) for platform, chat, _ in sent] == [("team", "room")]
        assert "A first word." in sent[0][2]
        resent = await toolset.notify(id_, message_id=told.deliveries[0].message_id)
        assert resent.deliveries[0].attempts == 2
        assert len(sent) == 2
        await toolset.advance(id_)
        with pytest.raises(UnknownName, match="applause"):
            await toolset.notify(id_, "applause")


@pytest.mark.requirement("D-15", "D-66")
async def test_the_end_is_told_and_rounds_are_counted_as_everywhere(tmp_path: Path) -> None:
    sent: Sent = []
    async with tools(
        tmp_path, send_fn=lambda *triple: sent.append(triple), notifications=TOLD
    ) as toolset:
        id_ = await started(toolset, 2)
        for round_ in (1, 2):
            for who in ("arch", "back"):
                await toolset.speak(id_, who, f"{who}-{round_}")
        await toolset.end_discussion(id_, conclusion="We move.")
        await toolset.app.notifier.pump([id_], patience=30)
    speeches = [text for _, _, text in sent if text.startswith("💬") and "Host" not in text]
    for round_, text in zip((1, 1, 2, 2), speeches, strict=True):
        assert f"Round {round_}" in text
    assert any("We move." in text for _, _, text in sent if text.startswith("🏁"))


async def test_news_that_cannot_be_sent_are_a_warning_in_every_answer(tmp_path: Path) -> None:
    plan = NewsPlan(channels=(NewsChannel(platform="nowhere"),))
    async with tools(tmp_path) as toolset:
        opened = await toolset.create_discussion(
            topic="Q?",
            participants=[{"profile": "a", "role": "A"}, {"profile": "b", "role": "B"}],
            notifications=plan,
        )
        assert opened.notifications == "on"
        assert any("nowhere" in each for each in opened.warnings)
        status = await toolset.status(opened.discussion_id)
        assert status.warnings == opened.warnings


async def test_without_a_plan_nothing_can_be_sent_and_the_answer_says_what_to_do(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        with pytest.raises(NotAllowed, match="Nobody is told") as refused:
            await toolset.notify(id_, "started")
        assert refused.value.remedy
