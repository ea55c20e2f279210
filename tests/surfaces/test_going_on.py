"""Going on where a discussion was held: it is not sent to another server, and not ruined by a shell
that cannot call its models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from roundtable.core.errors import HeldElsewhere
from roundtable.surfaces.cli import watching
from roundtable.surfaces.python import Roundtable
from tests.servers import TEST_KEY, Answer, ProviderServer, provider_server, status
from tests.wire import Asked

from .desk import Desk, obedient

HOUSE = ["house-a", "house-b", "house-c"]
MODELS = "openai/house-a,openai/house-b,openai/house-c"


@pytest.fixture(autouse=True)
def _lists_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS")


@pytest.fixture
def house() -> Iterator[ProviderServer]:
    with provider_server(obedient, models=HOUSE) as started:
        yield started


@pytest.fixture
def other() -> Iterator[ProviderServer]:
    with provider_server(obedient, models=HOUSE) as started:
        yield started


def at(monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)


def interrupted(desk: Desk) -> str:
    """A discussion that was opened, and that nobody drives."""

    async def opened() -> str:
        async with Roundtable(home=desk.home) as table:
            state = await table.open(
                "Tea or coffee?", models=MODELS.split(","), host="openai/house-a", quick=True
            )
            return state.discussion_id

    return asyncio.run(opened())


def said(server: ProviderServer) -> int:
    return sum(1 for each in server.requests if each.method == "POST")


def test_who_watches_or_follows_up_what_nobody_drives_is_told_to_resume_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer
) -> None:
    at(monkeypatch, house)
    monkeypatch.setattr(watching, "LOOK_EVERY", 0.01)
    id_ = interrupted(desk)

    watched = desk("show", id_, "--follow")
    assert watched.code == 0
    assert "it was interrupted" in watched.out
    assert f"roundtable resume {id_}" in watched.out
    told = desk("follow-up", id_, "And in winter?", "--no-log")
    assert (told.code, "was interrupted" in told.err) == (2, True), told.err
    assert f"roundtable resume {id_}" in told.err
    assert desk("resume", id_, "--no-log", "-q").code == 0
    assert desk("follow-up", id_, "And in winter?", "--no-log", "-q").code == 0


@pytest.mark.requirement("Z-36")
def test_a_discussion_does_not_go_on_at_another_server_than_it_was_held_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer, other: ProviderServer
) -> None:
    at(monkeypatch, house)
    id_ = interrupted(desk)
    at(monkeypatch, other)
    refused = desk("resume", id_, "--no-log")
    assert refused.code == 2, refused.err
    assert house.openai_url in refused.err
    assert other.openai_url in refused.err
    assert f"set OPENAI_BASE_URL={house.openai_url}" in refused.err
    assert said(other) == 0
    monkeypatch.delenv("OPENAI_BASE_URL")
    refused = desk("resume", id_, "--no-log")
    assert refused.code == 2
    assert "https://api.openai.com/v1" in refused.err
    at(monkeypatch, house)
    assert desk("resume", id_, "--no-log").code == 0, "it waited"
    assert said(house) > 0


@pytest.mark.requirement("Z-36")
def test_whoever_wants_it_goes_on_at_another_server(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer, other: ProviderServer
) -> None:
    at(monkeypatch, house)
    id_ = interrupted(desk)
    at(monkeypatch, other)
    assert desk("resume", id_, "--no-log", "--here").code == 0
    assert said(other) > 0


@pytest.mark.requirement("Z-36")
def test_a_follow_up_and_a_repeated_stage_stay_where_the_discussion_was_held(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer, other: ProviderServer
) -> None:
    at(monkeypatch, house)
    held = desk("Tea or coffee?", "--quick", "--no-log", "--json", "--models", MODELS)
    assert held.code == 0, held.err
    at(monkeypatch, other)
    follow = ("follow-up", "last", "And at night?", "--no-log")
    for line in (follow, (*follow, "--quick"), ("resume", "last", "--again", "synthesis")):
        refused = desk(*line)
        assert refused.code == 2, line
        assert house.openai_url in refused.err, refused.err
        assert other.openai_url in refused.err, refused.err
    assert said(other) == 0
    assert [row["status"] for row in desk("list", "--json").document] == ["concluded"]
    assert desk(*follow, "--models", MODELS, "--quick").code == 0, "who names models means these"
    assert desk("follow-up", "last", "And cold?", "--no-log").code == 0, "it was held here"
    first = str(held.document["discussion_id"])
    assert desk("follow-up", first, "And cold?", "--no-log", "--here").code == 0


@pytest.mark.requirement("Z-36", "I-28")
def test_a_shell_without_the_key_leaves_a_discussion_as_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-0123456789abcdefghij")
    monkeypatch.setenv("ROUNDTABLE_MODEL_LISTS", "false")

    async def opened() -> str:
        async with Roundtable(home=desk.home) as table:
            seats = ["anthropic/claude-haiku-4-5", "anthropic/claude-opus-4-1"]
            state = await table.open("Tea or coffee?", models=seats, host=seats[0], quick=True)
            return state.discussion_id

    id_ = asyncio.run(opened())
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    at(monkeypatch, house)
    refused = desk("resume", id_, "--no-log")
    assert refused.code == 2, refused.err
    assert "ANTHROPIC_API_KEY" in refused.err
    (row,) = desk("list", "--json").document
    assert row["status"] == "interrupted"
    assert desk("stop", id_).code == 0, "what nobody can bring to its end can be ended"


@pytest.mark.requirement("Z-36")
def test_python_says_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer, other: ProviderServer
) -> None:
    at(monkeypatch, house)
    id_ = interrupted(desk)

    async def run() -> None:
        async with Roundtable(home=desk.home) as table:
            await table.run(id_)

    at(monkeypatch, other)
    with pytest.raises(HeldElsewhere):
        asyncio.run(run())
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(HeldElsewhere):
        asyncio.run(run())
    at(monkeypatch, house)
    asyncio.run(run())


@pytest.mark.requirement("Z-36")
def test_an_address_is_kept_without_what_is_secret_in_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, house: ProviderServer
) -> None:
    at(monkeypatch, house)
    monkeypatch.setenv(
        "OPENAI_BASE_URL", house.openai_url.replace("://", "://me:hidden@") + "?token=hidden"
    )
    interrupted(desk)
    assert house.openai_url in desk.stored()
    assert "hidden" not in desk.stored()


@pytest.mark.requirement("Z-09", "I-11")
def test_a_verdict_stands_that_could_not_be_written_again_and_the_exit_code_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = False

    def answer(asked: Asked) -> Answer:
        return status(401) if gone else obedient(asked)

    with provider_server(answer, models=HOUSE) as server:
        at(monkeypatch, server)
        held = desk("Tea or coffee?", "--quick", "--no-log", "--json", "--models", MODELS)
        gone = True
        again = desk("resume", "last", "--again", "synthesis", "--no-log", "--json")
    assert (held.code, again.code) == (0, 1), again.err
    assert again.document["answer"] == held.document["answer"]
    assert again.err.rstrip().endswith(
        "synthesis could not be asked again: what was said before stands."
    )
