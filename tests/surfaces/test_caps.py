"""No door lets a discussion go on beyond what the user allows now: the variables, `[caps]`, and the
limits of a trusted project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable import Roundtable
from roundtable.core.errors import NotAllowed
from roundtable.procedures.opening import OpenRequest
from tests.trusted import trust_project

from .desk import Desk
from .toolset.tables import ENV, tools
from .web.house import QUICK, house

pytestmark = [pytest.mark.requirement("Z-35")]
TABLE = ("--models=scripted/echo", "--host=scripted/echo", "--quick", "--no-log")
STUCK = (
    *("--models=scripted/echo", "--host=scripted/hang", "--quick", "--no-log"),
    *("--experts", "statistician,macroeconomist"),
)


def calls(desk: Desk) -> int:
    return int(desk("show", "last", "--json").document["usage"]["calls"])


def killed(desk: Desk, *line: str) -> int:
    """How many calls had been made when the process was gone."""
    with desk.start(*line) as running:
        running.wait_until_it_says("Statistician: ")
        running.process.kill()
        running.process.wait(60)
    return calls(desk)


@pytest.mark.parametrize("where", ["ROUNDTABLE_MAX_CALLS", "config.toml", "roundtable.toml"])
def test_the_last_stage_is_not_asked_again_beyond_a_cap(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    assert desk("Should we drink tea?", *TABLE).code == 0
    before = desk("show", "last", "--json").document
    match where:
        case "config.toml":
            (desk.home / where).write_text("[caps]\nmax_calls = 1\n", "utf-8")
        case "roundtable.toml":
            (desk.workspace / where).write_text("[budget]\nmax_calls = 1\n", "utf-8")
            trust_project(desk.home, desk.workspace)
        case _:
            monkeypatch.setenv(where, "1")
    again = desk("resume", "last", "--again", "synthesis", "--no-log")
    assert again.code == 2, again.err
    assert "of 1 calls made, limited by " in again.err
    assert where in again.err
    assert desk("show", "last", "--json").document == before


def test_what_was_interrupted_is_not_resumed_beyond_a_cap_and_goes_on_when_more_is_given(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = killed(desk, "Should we drink tea?", *STUCK)
    monkeypatch.setenv("ROUNDTABLE_MAX_CALLS", "1")
    assert desk("resume").code == 3
    assert calls(desk) == made
    monkeypatch.delenv("ROUNDTABLE_MAX_CALLS")
    assert desk("resume", "last").code == 3, "it keeps to the cap until it is given more"
    assert calls(desk) == made


def test_an_interrupted_discussion_takes_a_limit_that_it_had_not(desk: Desk) -> None:
    made = killed(desk, "Should we drink tea?", *STUCK)
    limited = desk("resume", "last", "--max-calls", "1")
    assert limited.code == 3, limited.err
    assert "limited by --max-calls" in limited.err
    assert calls(desk) == made


@pytest.mark.parametrize("by", ["--max-calls", "ROUNDTABLE_MAX_CALLS"])
def test_a_batch_that_was_killed_goes_on_within_the_limit_of_now(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    path = desk.workspace / "questions.txt"
    path.write_text("Should we drink tea?\n", "utf-8")
    line = ("ask", "--questions", str(path), *STUCK)
    made = killed(desk, *line)
    if by.startswith("ROUNDTABLE"):
        monkeypatch.setenv(by, "1")
    outcome = desk(*line, *([by, "1"] if by.startswith("--") else []), "--json")
    assert outcome.code in (1, 3), outcome.err
    assert len(desk("list", "--json").document) == 1, "it is the same discussion"
    assert calls(desk) == made
    assert by in desk("show", "last").out


@pytest.mark.anyio
async def test_a_server_keeps_to_its_caps_whatever_is_asked_of_it(tmp_path: Path) -> None:
    async with house(tmp_path) as first:
        asked = await first.council()
        begun = await first.service.open(OpenRequest(topic="Tea or coffee?", options=QUICK))
    (tmp_path / "config.toml").write_text("[caps]\nmax_calls = 1\n", "utf-8")
    async with house(tmp_path) as second:
        stage, _ = list(asked.stages)[-1]
        again = await second.act(f"{second.at(asked, 'host')}/again", stage=stage)
        assert again.status_code == 409, again.text
        assert "[caps] in config.toml" in again.text
        resumed = await second.act(f"{second.at(begun, 'host')}/resume")
        assert resumed.status_code == 200, resumed.text
        await second.web.running.over(begun.discussion_id)
        after = await second.service.read(begun.discussion_id)
        assert after.usage.calls == 1
        assert after.closed is not None
        assert "[caps] in config.toml" in after.closed.detail
        stands = await second.service.read(asked.discussion_id)
        assert (stands.seq, stands.closed) == (asked.seq, asked.closed)


@pytest.mark.anyio
async def test_python_and_the_tools_keep_to_the_caps(tmp_path: Path) -> None:
    home, capped = tmp_path / "home", {**ENV, "ROUNDTABLE_MAX_CALLS": "1"}
    options: dict[str, Any] = {"all": "scripted/echo", "quick": True, "procedure": "council"}
    async with Roundtable(home=home, model="scripted/echo", env=ENV) as table:
        one, other = [await table.open("Tea?", **options) for _ in range(2)]
        whole = await table.run(other.discussion_id)
    async with Roundtable(home=home, env=capped) as table:
        with pytest.raises(NotAllowed, match="limited by ROUNDTABLE_MAX_CALLS"):
            await table.ask_again(whole.discussion_id, "synthesis")
        assert (await table.read(whole.discussion_id)).seq == whole.seq
    async with tools(tmp_path, env=capped) as toolset:
        await toolset.resume(one.discussion_id)
        await toolset.collect(one.discussion_id, wait=50)
        state = await toolset.app.service.read(one.discussion_id)
        assert (state.budget.max_calls, state.usage.calls <= 1) == (1, True)
